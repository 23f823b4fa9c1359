/* Protection domains and address handles. */
#include "shim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

int alloc_pd(struct command *command) {
    struct ib_uverbs_alloc_pd_resp response;
    struct mlx5_ib_alloc_pd_resp extra;
    struct pd *pd;
    int error;

    if (attr_room(command, UVERBS_ATTR_CORE_OUT) < sizeof(response)) return ENOSPC;
    error = pd_create(command->file->context, &pd);
    if (error) return error;
    error = handle_add(command->file, pd);
    if (error) {
        pd_destroy(pd);
        return error;
    }
    response.pd_handle = pd->object.handle;
    extra.pdn = pd->pdn;
    error = attr_out(command, UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
    if (!error) error = attr_out(command, UVERBS_ATTR_UHW_OUT, &extra, sizeof(extra));
    if (error) {
        handle_drop(command->file, pd->object.handle);
        pd_destroy(pd);
    }
    return error;
}

int destroy_pd(struct command *command) {
    struct pd *pd;
    uint32_t handle;
    int error = attr_object(command, UVERBS_ATTR_DESTROY_PD_HANDLE, KIND_PD, &pd);

    if (error) return error;
    handle = pd->object.handle;
    error = pd_destroy(pd);
    if (!error) handle_drop(command->file, handle);
    return error;
}

int query_pd(struct command *command) {
    struct pd *pd;
    int error = attr_object(command, MLX5_IB_ATTR_QUERY_PD_HANDLE, KIND_PD, &pd);

    return error ? error
                 : attr_out_number(command, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, pd->pdn,
                                   sizeof(uint32_t));
}

/* The MAC address of a GID: inside a link-local one; for another it is our own, since every
 * peer is a software NIC. */
static void gid_mac(const uint8_t gid[16], uint8_t mac[6]) {
    if (gid[0] == 0xfe && gid[1] == 0x80 && gid[11] == 0xff && gid[12] == 0xfe) {
        const uint8_t local[6] = {gid[8] ^ 2, gid[9], gid[10], gid[13], gid[14], gid[15]};

        memcpy(mac, local, 6);
    } else {
        memcpy(mac, NODE_MAC, 6);
    }
}

/* Only RoCE comes here: an InfiniBand address is no business of a kernel. */
int create_ah(struct command *command) {
    struct ib_uverbs_create_ah request;
    struct ib_uverbs_create_ah_resp response;
    struct mlx5_ib_create_ah_resp extra = {.response_length = sizeof(extra)};
    struct ib_uverbs_gid_entry entry;
    struct pd *pd;
    struct ah *ah;
    int error = attr_in(command, UVERBS_ATTR_CORE_IN, &request, sizeof(request), sizeof(request));

    if (error) return error;
    if (attr_room(command, UVERBS_ATTR_CORE_OUT) < sizeof(response)) return ENOSPC;
    pd = handle_get(command->file, request.pd_handle, KIND_PD);
    if (!pd) return ENOENT;
    if (!personality_port(request.attr.port_num)) return EINVAL;
    if (personality()->roce && !request.attr.is_global) return EINVAL;
    if (request.attr.is_global && !gid_entry(request.attr.grh.sgid_index, &entry)) return EINVAL;
    ah = calloc(1, sizeof(*ah));
    if (!ah) return ENOMEM;
    error = handle_add(command->file, ah);
    if (error) {
        free(ah);
        return error;
    }
    object_link(&ah->object, KIND_AH, command->file->context);
    ah->pd = pd;
    pd->object.users++;
    response.ah_handle = ah->object.handle;
    gid_mac(request.attr.grh.dgid, extra.dmac);
    error = attr_out(command, UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
    if (!error) error = attr_out(command, UVERBS_ATTR_UHW_OUT, &extra, sizeof(extra));
    if (error) {
        handle_drop(command->file, ah->object.handle);
        object_unlink(&ah->object);
        pd->object.users--;
        free(ah);
    }
    return error;
}

int destroy_ah(struct command *command) {
    struct ah *ah;
    int error = attr_object(command, UVERBS_ATTR_DESTROY_AH_HANDLE, KIND_AH, &ah);

    if (error) return error;
    handle_drop(command->file, ah->object.handle);
    object_unlink(&ah->object);
    ah->pd->object.users--;
    free(ah);
    return 0;
}
