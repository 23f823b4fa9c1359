/* Queue pairs: made and destroyed. */
#include "shim.h"

#include <errno.h>
#include <string.h>

#include <rdma/mlx5-abi.h>

enum { BLOCK_BYTES = 64, MIN_RQ_SHIFT = 4, MAX_RQ_SHIFT = 9 };

static int type_of(uint64_t uverbs, uint32_t flags, enum qp_type *type) {
    switch (uverbs) {
    case IB_UVERBS_QPT_RC: *type = QP_RC; return 0;
    case IB_UVERBS_QPT_UC: *type = QP_UC; return 0;
    case IB_UVERBS_QPT_UD: *type = QP_UD; return 0;
    case IB_UVERBS_QPT_DRIVER:
        if (!personality()->dc) return EOPNOTSUPP;
        if (!(flags & MLX5_QP_FLAG_TYPE_DCI) == !(flags & MLX5_QP_FLAG_TYPE_DCT)) return EINVAL;
        *type = flags & MLX5_QP_FLAG_TYPE_DCI ? QP_DCI : QP_DCT;
        return 0;
    }
    return EOPNOTSUPP; /* XRC, raw packets and RSS need what is not there */
}

/* The rings as the driver laid them out; all of it must be mapped, as a kernel that pins the pages
 * would find. */
static int rings(const struct mlx5_ib_create_qp *driver, struct qp_attr *attr) {
    uint64_t rq_bytes, sq_bytes;

    if (driver->sq_wqe_count > personality()->max_qp_wr ||
        driver->sq_wqe_count & (driver->sq_wqe_count - 1))
        return EINVAL;
    if (driver->rq_wqe_count > personality()->max_qp_wr ||
        driver->rq_wqe_count & (driver->rq_wqe_count - 1))
        return EINVAL;
    if (driver->rq_wqe_count &&
        (driver->rq_wqe_shift < MIN_RQ_SHIFT || driver->rq_wqe_shift > MAX_RQ_SHIFT))
        return EINVAL;
    attr->rq_entries = driver->rq_wqe_count;
    attr->rq_shift = driver->rq_wqe_count ? driver->rq_wqe_shift : 0;
    attr->sq_blocks = driver->sq_wqe_count;
    attr->buf = driver->buf_addr;
    attr->db = driver->db_addr;
    rq_bytes = (uint64_t)attr->rq_entries << attr->rq_shift;
    sq_bytes = (uint64_t)attr->sq_blocks * BLOCK_BYTES;
    attr->sq_buf = driver->sq_buf_addr ? driver->sq_buf_addr : attr->buf + rq_bytes;
    if (attr->db % 8 || !user_is_mapped(attr->db, 8)) return EFAULT;
    if (!user_is_mapped(attr->buf, rq_bytes) || !user_is_mapped(attr->sq_buf, sq_bytes))
        return EFAULT;
    return 0;
}

static int optional_object(const struct command *command, uint16_t id, enum kind kind,
                           void *object) {
    return attr_has(command, id) ? attr_object(command, id, kind, object) : 0;
}

static int objects(const struct command *command, struct qp_attr *attr) {
    int error = attr_object(command, UVERBS_ATTR_CREATE_QP_PD_HANDLE, KIND_PD, &attr->pd);

    if (!error)
        error =
            optional_object(command, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, KIND_CQ, &attr->send_cq);
    if (!error)
        error =
            optional_object(command, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, KIND_CQ, &attr->recv_cq);
    if (!error)
        error = optional_object(command, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, KIND_SRQ, &attr->srq);
    if (!error) error = attr_channel(command, UVERBS_ATTR_CREATE_QP_EVENT_FD, true, &attr->async);
    if (error) return error;
    if (!attr->recv_cq || (attr->type != QP_DCT && !attr->send_cq) ||
        (attr->type == QP_DCT && !attr->srq))
        return EINVAL;
    return attr_has(command, UVERBS_ATTR_CREATE_QP_XRCD_HANDLE) ||
                   attr_has(command, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE) ||
                   attr_has(command, UVERBS_ATTR_CREATE_QP_SOURCE_QPN)
               ? EOPNOTSUPP
               : 0;
}

static int dci_streams(const struct mlx5_ib_create_qp *driver, struct qp_attr *attr) {
    if (!(driver->flags & MLX5_QP_FLAG_DCI_STREAM)) return 0;
    if (attr->type != QP_DCI ||
        driver->dci_streams.log_num_concurent > personality()->dc_log_streams ||
        driver->dci_streams.log_num_errored > personality()->dc_log_errored)
        return EINVAL;
    attr->dci_streams = true;
    attr->log_streams = driver->dci_streams.log_num_concurent;
    attr->log_errored = driver->dci_streams.log_num_errored;
    return 0;
}

static int decode(const struct command *command, struct qp_attr *attr,
                  struct ib_uverbs_qp_cap *cap) {
    struct mlx5_ib_create_qp driver;
    uint64_t type, flags = 0;
    int error = attr_in(command, UVERBS_ATTR_UHW_IN, &driver,
                        offsetof(struct mlx5_ib_create_qp, ece_options), sizeof(driver));

    if (!error) error = attr_number(command, UVERBS_ATTR_CREATE_QP_TYPE, &type);
    if (!error) error = attr_number(command, UVERBS_ATTR_CREATE_QP_USER_HANDLE, &attr->user_handle);
    if (!error)
        error = attr_in(command, UVERBS_ATTR_CREATE_QP_CAP, cap, sizeof(*cap), sizeof(*cap));
    if (!error && attr_has(command, UVERBS_ATTR_CREATE_QP_FLAGS))
        error = attr_number(command, UVERBS_ATTR_CREATE_QP_FLAGS, &flags);
    if (!error) error = type_of(type, driver.flags, &attr->type);
    /* There is no multicast here, so none of it comes back. */
    if (!error && flags & ~(uint64_t)(IB_UVERBS_QP_CREATE_SQ_SIG_ALL |
                                      IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK))
        error = EOPNOTSUPP;
    if (!error) error = objects(command, attr);
    if (error) return error;
    attr->uidx = driver.uidx;
    attr->signal_all = flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
    if (attr->type == QP_DCT) {
        /* shares its place with sq_buf_addr: a DCT has no rings */
        attr->dc_key = driver.access_key;
        return 0;
    }
    error = rings(&driver, attr);
    if (!error) error = dci_streams(&driver, attr);
    if (error) return error;
    attr->max_send_wr = cap->max_send_wr;
    attr->max_send_sge = cap->max_send_sge;
    attr->max_recv_sge = cap->max_recv_sge;
    attr->max_inline = cap->max_inline_data;
    return 0;
}

int create_qp(struct command *command) {
    struct mlx5_ib_create_qp_resp response = {0};
    struct ib_uverbs_qp_cap cap;
    struct qp_attr attr = {0};
    struct qp *qp;
    int error = decode(command, &attr, &cap);

    if (!error) error = qp_create(command->file->context, &attr, &qp);
    if (error) return error;
    error = handle_add(command->file, qp);
    if (!error) {
        error = attr_out(command, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap, sizeof(cap));
        if (!error)
            error = attr_out_number(command, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM,
                                    attr.type == QP_DCT ? 0 : qp->number, sizeof(uint32_t));
        if (!error) error = attr_out(command, UVERBS_ATTR_UHW_OUT, &response, sizeof(response));
        if (error) handle_drop(command->file, qp->object.handle);
    }
    if (error) {
        uint32_t unused;

        qp_destroy(qp, &unused);
        return error;
    }
    attr_out_handle(command, UVERBS_ATTR_CREATE_QP_HANDLE, qp->object.handle);
    return 0;
}

int destroy_qp(struct command *command) {
    struct qp *qp;
    uint32_t handle, events = 0;
    int error = attr_object(command, UVERBS_ATTR_DESTROY_QP_HANDLE, KIND_QP, &qp);

    if (error) return error;
    handle = qp->object.handle;
    error = qp_destroy(qp, &events);
    if (error) return error;
    handle_drop(command->file, handle);
    return attr_out_number(command, UVERBS_ATTR_DESTROY_QP_RESP, events, sizeof(uint32_t));
}
