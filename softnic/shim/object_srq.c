/* Shared receive queues. */
#include "shim.h"

#include <errno.h>

#include <rdma/mlx5-abi.h>

enum { MAX_SRQ_WR = 1 << 15, MAX_SRQ_SGE = 63, SRQ_MAX_WR = 1, SRQ_LIMIT = 2 };

/* A WQE: 16 bytes of link and 16 for each entry, rounded up to a power of two of at least 32. */
static uint32_t stride(uint32_t max_sge) {
    uint32_t bytes = 32;

    while (bytes < 16 + 16 * max_sge) bytes <<= 1;
    return bytes;
}

int create_srq(struct command *command) {
    struct mlx5_ib_create_srq driver;
    struct mlx5_ib_create_srq_resp response = {0};
    struct srq_attr attr = {0};
    struct srq *srq;
    uint64_t type, max_wr, max_sge, limit;
    int error = attr_in(command, UVERBS_ATTR_UHW_IN, &driver, 24, sizeof(driver));

    if (!error) error = attr_number(command, UVERBS_ATTR_CREATE_SRQ_TYPE, &type);
    if (!error) error = attr_number(command, UVERBS_ATTR_CREATE_SRQ_MAX_WR, &max_wr);
    if (!error) error = attr_number(command, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, &max_sge);
    if (!error) error = attr_number(command, UVERBS_ATTR_CREATE_SRQ_LIMIT, &limit);
    if (!error) error = attr_number(command, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, &attr.user_handle);
    if (error) return error;
    if (type != IB_UVERBS_SRQT_BASIC || driver.flags) return EOPNOTSUPP;
    if (max_wr >= MAX_SRQ_WR || max_sge > MAX_SRQ_SGE || limit > max_wr) return EINVAL;
    error = attr_object(command, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, KIND_PD, &attr.pd);
    if (!error) error = attr_channel(command, UVERBS_ATTR_CREATE_SRQ_EVENT_FD, true, &attr.async);
    if (error) return error;
    attr.buf = driver.buf_addr;
    attr.db = driver.db_addr;
    attr.uidx = driver.uidx;
    attr.limit = (uint32_t)limit;
    attr.max_sge = (uint32_t)max_sge;
    attr.stride = stride(attr.max_sge);
    for (attr.entries = 1; attr.entries < max_wr + 1;) attr.entries <<= 1;
    if (attr.db % 4 || !user_is_mapped(attr.db, 4) ||
        !user_is_mapped(attr.buf, (uint64_t)attr.entries * attr.stride))
        return EFAULT;
    error = srq_create(command->file->context, &attr, &srq);
    if (error) return error;
    response.srqn = srq->number;
    error = handle_add(command->file, srq);
    if (!error) {
        error = attr_out(command, UVERBS_ATTR_UHW_OUT, &response, sizeof(response));
        if (!error)
            error = attr_out_number(command, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, attr.entries - 1,
                                    sizeof(uint32_t));
        if (!error)
            error = attr_out_number(command, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, max_sge,
                                    sizeof(uint32_t));
        if (!error)
            error = attr_out_number(command, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, srq->number,
                                    sizeof(uint32_t));
        if (error) handle_drop(command->file, srq->object.handle);
    }
    if (error) {
        uint32_t unused;

        srq_destroy(srq, &unused);
        return error;
    }
    attr_out_handle(command, UVERBS_ATTR_CREATE_SRQ_HANDLE, srq->object.handle);
    return 0;
}

int modify_srq(struct command *command) {
    struct ib_uverbs_modify_srq request;
    struct srq *srq;
    int error = attr_in(command, UVERBS_ATTR_CORE_IN, &request, sizeof(request), sizeof(request));

    if (error) return error;
    srq = handle_get(command->file, request.srq_handle, KIND_SRQ);
    if (!srq) return ENOENT;
    /* An mlx5 SRQ is never resized. */
    if (request.attr_mask & SRQ_MAX_WR) return EINVAL;
    if (!(request.attr_mask & SRQ_LIMIT)) return 0;
    return request.srq_limit < srq->attr.entries ? srq_modify(srq, request.srq_limit) : EINVAL;
}

int query_srq(struct command *command) {
    struct ib_uverbs_query_srq request;
    struct ib_uverbs_query_srq_resp response = {0};
    struct srq *srq;
    int error = attr_in(command, UVERBS_ATTR_CORE_IN, &request, sizeof(request), sizeof(request));

    if (error) return error;
    srq = handle_get(command->file, request.srq_handle, KIND_SRQ);
    if (!srq) return ENOENT;
    response.max_wr = srq->attr.entries - 1;
    response.max_sge = srq->attr.max_sge;
    response.srq_limit = srq->attr.limit;
    return attr_out(command, UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
}

int destroy_srq(struct command *command) {
    struct srq *srq;
    uint32_t handle, events = 0;
    int error = attr_object(command, UVERBS_ATTR_DESTROY_SRQ_HANDLE, KIND_SRQ, &srq);

    if (error) return error;
    handle = srq->object.handle;
    error = srq_destroy(srq, &events);
    if (error) return error;
    handle_drop(command->file, handle);
    return attr_out_number(command, UVERBS_ATTR_DESTROY_SRQ_RESP, events, sizeof(uint32_t));
}
