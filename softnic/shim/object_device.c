/* What the device and its ports say of themselves. */
#include "shim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/mlx5-abi.h>

/* Values of <infiniband/verbs.h>, which is not ours to include. */
enum {
    PORT_DOWN = 1,
    PORT_ACTIVE = 4,
    PHYS_DISABLED = 3,
    PHYS_LINK_UP = 5,
    MTU_4096 = 5,
    WIDTH_4X = 2,
    SPEED_NDR = 128,
    LINK_INFINIBAND = 1,
    LINK_ETHERNET = 2,
    ATOMIC_NONE = 0,
    ATOMIC_HCA = 1,
    DEVICE_CURR_QP_STATE_MOD = 1 << 7,
    DEVICE_RC_RNR_NAK_GEN = 1 << 12,
    DEVICE_PORT_ACTIVE_EVENT = 1 << 10,
    DEVICE_MEM_WINDOW = 1 << 17,
    DEVICE_MEM_MGT_EXTENSIONS = 1 << 21,
    DEVICE_MEM_WINDOW_TYPE_2B = 1 << 24,
};

/* "28.40.1000" as the kernel packs it: 16 bits for each part. */
static uint64_t firmware(const char *text) {
    unsigned major = 0, minor = 0, sub = 0;

    sscanf(text, "%u.%u.%u", &major, &minor, &sub);
    return (uint64_t)major << 32 | (uint64_t)(minor & 0xffff) << 16 | (sub & 0xffff);
}

static struct ib_uverbs_query_device_resp device(void) {
    struct ib_uverbs_query_device_resp response = {
        .fw_ver = firmware(personality()->fw_ver),
        .max_mr_size = UINT64_MAX,
        .page_size_cap = 0xfffffffffffff000,
        .vendor_id = 0x02c9,
        .vendor_part_id = personality()->vendor_part_id,
        .max_qp = nic_max_qp(),
        .max_qp_wr = personality()->max_qp_wr,
        .device_cap_flags = DEVICE_CURR_QP_STATE_MOD | DEVICE_PORT_ACTIVE_EVENT |
                            DEVICE_RC_RNR_NAK_GEN | DEVICE_MEM_WINDOW | DEVICE_MEM_MGT_EXTENSIONS |
                            DEVICE_MEM_WINDOW_TYPE_2B,
        .max_sge = personality()->max_sge,
        .max_sge_rd = personality()->max_sge,
        .max_cq = 1 << 24,
        .max_cqe = (1 << 22) - 1,
        .max_mr = 1 << 24,
        .max_pd = 1 << 24,
        .max_qp_rd_atom = 16,
        .max_res_rd_atom = 16 * nic_max_qp(),
        .max_qp_init_rd_atom = 16,
        .atomic_cap = personality()->atomics ? ATOMIC_HCA : ATOMIC_NONE,
        .max_mw = 1 << 24,
        .max_ah = INT32_MAX,
        .max_srq = 1 << 23,
        .max_srq_wr = (1 << 15) - 1,
        .max_srq_sge = 31,
        .max_pkeys = 1,
        .local_ca_ack_delay = 16,
        .phys_port_cnt = personality()->ports,
    };

    memcpy(&response.node_guid, NODE_GUID, 8);
    memcpy(&response.sys_image_guid, NODE_GUID, 8);
    return response;
}

int query_device(struct command *command) {
    struct ib_uverbs_query_device_resp response = device();

    return attr_out(command, UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
}

int query_device_ex(struct command *command) {
    struct ib_uverbs_ex_query_device request;
    struct ib_uverbs_ex_query_device_resp response = {
        .base = device(),
        .response_length = sizeof(response),
        .timestamp_mask = UINT64_MAX,
        .hca_core_clock = 1000000, /* kHz: time stamps are nanoseconds */
        .device_cap_flags_ex = device().device_cap_flags,
        .cq_moderation_caps = {.max_cq_moderation_count = CQ_MAX_COUNT,
                               .max_cq_moderation_period = CQ_MAX_PERIOD},
    };
    struct mlx5_ib_query_device_resp extra = {
        .response_length = sizeof(extra),
        .dci_streams_caps = {personality()->dc_log_streams, personality()->dc_log_errored},
    };
    int error = attr_in(command, UVERBS_ATTR_CORE_IN, &request, sizeof(request), sizeof(request));

    if (error) return error;
    if (request.comp_mask || request.reserved) return EINVAL;
    error = attr_out(command, UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
    return error ? error : attr_out(command, UVERBS_ATTR_UHW_OUT, &extra, sizeof(extra));
}

int query_port(struct command *command) {
    bool roce = personality()->roce;
    struct ib_uverbs_query_port_resp_ex response = {
        .legacy_resp =
            {
                .port_cap_flags = IB_UVERBS_PCF_SYS_IMAGE_GUID_SUP | IB_UVERBS_PCF_CM_SUP |
                                  (roce ? IB_UVERBS_PCF_IP_BASED_GIDS : 0u),
                .max_msg_sz = personality()->max_msg_sz,
                .gid_tbl_len = GID_TABLE_SIZE,
                .pkey_tbl_len = 1,
                .lid = roce ? 0 : 1,
                .sm_lid = roce ? 0 : 1,
                .state = PORT_ACTIVE,
                .max_mtu = MTU_4096,
                .active_mtu = personality()->mtu,
                .max_vl_num = 1,
                .active_width = WIDTH_4X,
                .active_speed = SPEED_NDR,
                .phys_state = PHYS_LINK_UP,
                .link_layer = roce ? LINK_ETHERNET : LINK_INFINIBAND,
                .flags = roce ? IB_UVERBS_QPF_GRH_REQUIRED : 0,
            },
    };
    uint64_t port;
    int error = attr_number(command, UVERBS_ATTR_QUERY_PORT_PORT_NUM, &port);

    if (error) return error;
    if (!personality_port((unsigned)port)) return EINVAL;
    if (port == personality()->down) {
        response.legacy_resp.state = PORT_DOWN;
        response.legacy_resp.phys_state = PHYS_DISABLED;
    }
    return attr_out(command, UVERBS_ATTR_QUERY_PORT_RESP, &response, sizeof(response));
}

int query_gid_entry(struct command *command) {
    struct ib_uverbs_gid_entry entry;
    uint64_t port, index, flags;
    int error = attr_number(command, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, &port);

    if (!error) error = attr_number(command, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, &index);
    if (!error) error = attr_number(command, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, &flags);
    if (error) return error;
    if (flags || !personality_port((unsigned)port) || index >= GID_TABLE_SIZE) return EINVAL;
    if (!gid_entry((unsigned)index, &entry)) return ENODATA;
    return attr_out(command, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &entry, sizeof(entry));
}

/* Entries may be longer in a newer library: each is written at the size that the caller named. */
int query_gid_table(struct command *command) {
    size_t room = attr_room(command, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES), found = 0;
    uint8_t entries[GID_TABLE_SIZE * 64] = {0};
    struct ib_uverbs_gid_entry entry;
    uint64_t size, flags;
    int error = attr_number(command, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, &size);

    if (!error) error = attr_number(command, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, &flags);
    if (error) return error;
    if (flags || size < sizeof(entry) || size > 64) return EINVAL;
    for (unsigned index = 0; index < GID_TABLE_SIZE; index++)
        if (gid_entry(index, &entry)) memcpy(entries + found++ * size, &entry, sizeof(entry));
    if (room < found * size) return EINVAL;
    error = attr_out(command, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, entries, found * size);
    return error ? error
                 : attr_out_number(command, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, found,
                                   sizeof(uint64_t));
}
