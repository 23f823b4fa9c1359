/* A context: its limits, its event files and its UARs. */
#include "shim.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

static struct mlx5_ib_alloc_ucontext_resp limits(void) {
    /* libmlx5 makes a QP for signature pipelining if the kernel has SQD2RTS, and asks the device
     * only when the QP is set up (mlx5dv_create_qp(3)). */
    const uint64_t pipelining =
        personality()->signature_pipelining ? MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_SQD2RTS : 0;

    return (struct mlx5_ib_alloc_ucontext_resp){
        .qp_tab_size = 1 << 17,
        .bf_reg_size = 512,
        .tot_bfregs = 0, /* no UARs but those allocated one by one */
        .cache_line_size = 64,
        .max_sq_desc_sz = 1024,
        .max_rq_desc_sz = 512,
        .max_send_wqebb = personality()->max_qp_wr,
        .max_recv_wr = personality()->max_qp_wr,
        .max_srq_recv_wr = (1 << 15) - 1,
        .num_ports = personality()->ports,
        /* Without a core clock, clocks are read through the clock page. */
        .comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY | pipelining |
                     MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_MKEY_UPDATE_TAG,
        .response_length = sizeof(struct mlx5_ib_alloc_ucontext_resp),
        .cqe_version = 1, /* completions name a QP by its user index */
        .cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH,
        .eth_min_inline = MLX5_USER_INLINE_MODE_NONE,
        .clock_info_versions = personality()->clock_page ? 1 << MLX5_IB_CLOCK_INFO_V1 : 0,
        .log_uar_size = 12,
        .num_uars_per_page = 1,
        .num_dyn_bfregs = 512,
        .dump_fill_mkey = NULL_KEY,
    };
}

static int answer_context(struct command *command, uint16_t vectors, uint16_t support,
                          uint16_t driver) {
    struct mlx5_ib_alloc_ucontext_resp response = limits();
    int error = attr_out_number(command, vectors, COMP_VECTORS, sizeof(uint32_t));

    if (!error)
        error = attr_out_number(command, support, IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS,
                                sizeof(uint64_t));
    return error ? error : attr_out(command, driver, &response, sizeof(response));
}

/* The context of a file that was opened elsewhere in the process and came along as a duplicate of
 * its fd. */
int query_context(struct command *command) {
    return answer_context(command, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS,
                          UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT,
                          MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX);
}

/* The one command that comes without the mutex: the first context starts the device thread. */
int get_context(struct command *command) {
    struct mlx5_ib_alloc_ucontext_req_v2 request;
    struct context *context;
    struct file *file;
    int error = attr_in(command, UVERBS_ATTR_UHW_IN, &request,
                        sizeof(struct mlx5_ib_alloc_ucontext_req), sizeof(request));

    if (error) return error;
    if (request.flags & ~MLX5_IB_ALLOC_UCTX_DEVX) return EINVAL;
    /* Older libraries would read CQEs without a user index, or expect UARs of their own kernel's
     * time. */
    if (request.max_cqe_version < 1 || !(request.lib_caps & MLX5_LIB_CAP_4K_UAR)) return EOPNOTSUPP;
    error = nic_context_create(&context);
    if (error) return error;
    nic_lock();
    file = file_find(command->fd);
    if (!file) error = EBADF;
    else if (file->context) error = EINVAL;
    if (!error)
        error = answer_context(command, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS,
                               UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, UVERBS_ATTR_UHW_OUT);
    if (error) nic_context_destroy(context);
    else file->context = context;
    nic_unlock();
    return error;
}

static int new_channel(struct command *command, bool async, int *fd) {
    struct channel *channel;
    int error = channel_create(command->file->context, async, &channel);

    if (error) return error;
    *fd = channel->read_fd;
    fd_is_channel(*fd);
    return 0;
}

int alloc_async_fd(struct command *command) {
    int fd, error;

    if (!attr_has(command, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE)) return EINVAL;
    error = new_channel(command, true, &fd);
    if (!error) attr_out_fd(command, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, fd);
    return error;
}

int create_comp_channel(struct command *command) {
    struct ib_uverbs_create_comp_channel_resp response;
    int fd, error;

    if (attr_room(command, UVERBS_ATTR_CORE_OUT) < sizeof(response)) return ENOSPC;
    error = new_channel(command, false, &fd);
    if (error) return error;
    response.fd = (uint32_t)fd;
    error = attr_out(command, UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
    if (error) {
        channel_destroy(channel_find(fd));
        fd_forget(fd);
        libc_real()->close(fd);
    }
    return error;
}

int alloc_uar(struct command *command) {
    static uint32_t last_page;
    struct other *uar;
    uint64_t type;
    int error = attr_number(command, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, &type);

    if (error) return error;
    if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
        return EOPNOTSUPP;
    uar = calloc(1, sizeof(*uar));
    if (!uar) return ENOMEM;
    uar->what = OTHER_UAR;
    /* A QP names its UAR's page in 24 bits; nothing but the page's own offset depends on it here.
     */
    uar->number = last_page = (last_page + 1) & 0xffffff;
    error = handle_add(command->file, uar);
    if (error) {
        free(uar);
        return error;
    }
    object_link(&uar->object, KIND_OTHER, command->file->context);
    error = attr_out_number(command, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET,
                            page_uar_offset(uar->number), sizeof(uint64_t));
    if (!error)
        error = attr_out_number(command, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, PAGE_BYTES,
                                sizeof(uint32_t));
    if (!error)
        error = attr_out_number(command, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, uar->number,
                                sizeof(uint32_t));
    if (error) {
        handle_drop(command->file, uar->object.handle);
        object_unlink(&uar->object);
        free(uar);
        return error;
    }
    attr_out_handle(command, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, uar->object.handle);
    return 0;
}

int destroy_uar(struct command *command) {
    struct other *uar;
    int error = attr_object(command, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, KIND_OTHER, &uar);

    if (error) return error;
    if (uar->what != OTHER_UAR) return EINVAL;
    handle_drop(command->file, uar->object.handle);
    object_unlink(&uar->object);
    free(uar);
    return 0;
}
