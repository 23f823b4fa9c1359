/* Completion queues. */
#include "shim.h"

#include <errno.h>

#include <rdma/mlx5-abi.h>

enum { MAX_CQE = (1 << 22) - 1 };

/* The event file that a queue names: of this context and of this sort. An absent attribute leaves
 * *out NULL. */
int attr_channel(const struct command *command, uint16_t id, bool async, struct channel **out) {
    int fd = attr_fd(command, id);
    struct channel *channel;

    *out = NULL;
    if (!attr_has(command, id)) return 0;
    channel = fd >= 0 ? channel_find(fd) : NULL;
    if (!channel || channel->async != async || channel->object.context != command->file->context)
        return EBADF;
    *out = channel;
    return 0;
}

static uint32_t power_of_two(uint32_t least) {
    uint32_t size = 1;

    while (size < least) size <<= 1;
    return size;
}

int create_cq(struct command *command) {
    struct mlx5_ib_create_cq driver;
    struct mlx5_ib_create_cq_resp response = {0};
    struct cq_attr attr = {0};
    struct cq *cq;
    uint64_t entries, vector, flags = 0;
    int error = attr_in(command, UVERBS_ATTR_UHW_IN, &driver, 22, sizeof(driver));

    if (!error) error = attr_number(command, UVERBS_ATTR_CREATE_CQ_CQE, &entries);
    if (!error) error = attr_number(command, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, &vector);
    if (!error) error = attr_number(command, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, &attr.user_handle);
    if (!error && attr_has(command, UVERBS_ATTR_CREATE_CQ_FLAGS))
        error = attr_number(command, UVERBS_ATTR_CREATE_CQ_FLAGS, &flags);
    if (!error)
        error = attr_channel(command, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, false, &attr.channel);
    if (!error) error = attr_channel(command, UVERBS_ATTR_CREATE_CQ_EVENT_FD, true, &attr.async);
    if (error) return error;
    if (!entries || entries > MAX_CQE || vector >= COMP_VECTORS ||
        (driver.cqe_size != 64 && driver.cqe_size != 128))
        return EINVAL;
    if (flags & ~(uint64_t)(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION |
                            IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN) ||
        driver.cqe_comp_en || driver.flags & ~MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX)
        return EOPNOTSUPP;
    attr.entries = power_of_two((uint32_t)entries + 1);
    attr.cqe_size = driver.cqe_size;
    attr.buf = driver.buf_addr;
    attr.db = driver.db_addr;
    attr.ignore_overrun = flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
    /* A kernel pins these pages; a ring or record that is not there is found now and not at the
     * first completion. */
    if (attr.db % 8 || !user_is_mapped(attr.db, 8) ||
        !user_is_mapped(attr.buf, (uint64_t)attr.entries * attr.cqe_size))
        return EFAULT;
    error = cq_create(command->file->context, &attr, &cq);
    if (error) return error;
    response.cqn = cq->number;
    error = handle_add(command->file, cq);
    if (!error) {
        error = attr_out(command, UVERBS_ATTR_UHW_OUT, &response, sizeof(response));
        if (!error)
            error = attr_out_number(command, UVERBS_ATTR_CREATE_CQ_RESP_CQE, attr.entries - 1,
                                    sizeof(uint32_t));
        if (error) handle_drop(command->file, cq->object.handle);
    }
    if (error) {
        uint32_t unused;

        cq_destroy(cq, &unused, &unused);
        return error;
    }
    attr_out_handle(command, UVERBS_ATTR_CREATE_CQ_HANDLE, cq->object.handle);
    return 0;
}

int destroy_cq(struct command *command) {
    struct ib_uverbs_destroy_cq_resp response = {0};
    struct cq *cq;
    uint32_t handle;
    int error = attr_object(command, UVERBS_ATTR_DESTROY_CQ_HANDLE, KIND_CQ, &cq);

    if (error) return error;
    handle = cq->object.handle;
    error = cq_destroy(cq, &response.comp_events_reported, &response.async_events_reported);
    if (error) return error;
    handle_drop(command->file, handle);
    return attr_out(command, UVERBS_ATTR_DESTROY_CQ_RESP, &response, sizeof(response));
}

int resize_cq(struct command *command) {
    struct ib_uverbs_resize_cq request;
    struct ib_uverbs_resize_cq_resp response = {0};
    struct mlx5_ib_resize_cq driver;
    struct cq *cq;
    uint32_t entries;
    int error = attr_in(command, UVERBS_ATTR_CORE_IN, &request, sizeof(request), sizeof(request));

    if (!error) error = attr_in(command, UVERBS_ATTR_UHW_IN, &driver, 10, sizeof(driver));
    if (error) return error;
    if (attr_room(command, UVERBS_ATTR_CORE_OUT) < sizeof(response.cqe)) return ENOSPC;
    cq = handle_get(command->file, request.cq_handle, KIND_CQ);
    if (!cq) return ENOENT;
    if (!request.cqe || request.cqe > MAX_CQE || driver.cqe_size != cq->attr.cqe_size)
        return EINVAL;
    entries = power_of_two(request.cqe + 1);
    if (!user_is_allowed(driver.buf_addr, (uint64_t)entries * cq->attr.cqe_size, true))
        return EFAULT;
    error = cq_resize(cq, entries, driver.buf_addr);
    if (error) return error;
    response.cqe = entries - 1;
    return attr_out(command, UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
}

/* Moderation: how long events may be held back. None is, which is within what was asked for. */
int modify_cq(struct command *command) {
    enum { MODERATE = 1 };
    struct ib_uverbs_ex_modify_cq request;
    int error = attr_in(command, UVERBS_ATTR_CORE_IN, &request, sizeof(request), sizeof(request));

    if (error) return error;
    if (!handle_get(command->file, request.cq_handle, KIND_CQ)) return ENOENT;
    if (request.attr_mask & ~(uint32_t)MODERATE) return EOPNOTSUPP;
    return request.attr.cq_period > CQ_MAX_PERIOD ? EINVAL : 0;
}
