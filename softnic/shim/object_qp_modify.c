/* Queue pairs: modified and queried. */
#include "shim.h"

#include <errno.h>
#include <string.h>

#include <rdma/mlx5-abi.h>

enum { MASK_RATE_LIMIT = 1 << 25, MASK_AV = 1 << 7, MASK_ALT_PATH = 1 << 14 };

static struct qp_path path_in(const struct ib_uverbs_qp_dest *dest) {
    struct qp_path path = {
        .sgid_index = dest->sgid_index,
        .hop_limit = dest->hop_limit,
        .traffic_class = dest->traffic_class,
        .sl = dest->sl,
        .src_path_bits = dest->src_path_bits,
        .static_rate = dest->static_rate,
        .is_global = dest->is_global,
        .port = dest->port_num,
        .dlid = dest->dlid,
        .flow_label = dest->flow_label,
    };

    memcpy(path.dgid, dest->dgid, sizeof(path.dgid));
    return path;
}

static struct ib_uverbs_qp_dest path_out(const struct qp_path *path) {
    struct ib_uverbs_qp_dest dest = {
        .sgid_index = path->sgid_index,
        .hop_limit = path->hop_limit,
        .traffic_class = path->traffic_class,
        .sl = path->sl,
        .src_path_bits = path->src_path_bits,
        .static_rate = path->static_rate,
        .is_global = path->is_global,
        .port_num = path->port,
        .dlid = path->dlid,
        .flow_label = path->flow_label,
    };

    memcpy(dest.dgid, path->dgid, sizeof(dest.dgid));
    return dest;
}

static struct qp_change change_in(const struct ib_uverbs_modify_qp *request) {
    return (struct qp_change){
        .mask = request->attr_mask,
        .state = request->qp_state,
        .current_state = request->cur_qp_state,
        .path_mtu = request->path_mtu,
        .path_mig_state = request->path_mig_state,
        .en_sqd_async_notify = request->en_sqd_async_notify,
        .max_rd_atomic = request->max_rd_atomic,
        .max_dest_rd_atomic = request->max_dest_rd_atomic,
        .min_rnr_timer = request->min_rnr_timer,
        .port = request->port_num,
        .timeout = request->timeout,
        .retry_count = request->retry_cnt,
        .rnr_retry = request->rnr_retry,
        .alt_port = request->alt_port_num,
        .alt_timeout = request->alt_timeout,
        .pkey_index = request->pkey_index,
        .alt_pkey_index = request->alt_pkey_index,
        .qkey = request->qkey,
        .rq_psn = request->rq_psn,
        .sq_psn = request->sq_psn,
        .dest_qpn = request->dest_qp_num,
        .access = request->qp_access_flags,
        .path = path_in(&request->dest),
        .alt_path = path_in(&request->alt_dest),
    };
}

/* An address must start at a GID that is there; RoCE has no addresses but global ones. */
static int check_path(const struct qp_path *path) {
    struct ib_uverbs_gid_entry entry;

    if (!personality_port(path->port) || (personality()->roce && !path->is_global)) return EINVAL;
    return path->is_global && !gid_entry(path->sgid_index, &entry) ? EINVAL : 0;
}

int qp_change(struct qp *qp, const struct qp_change *change) {
    int error = 0;

    if (change->mask & MASK_AV) error = check_path(&change->path);
    if (!error && change->mask & MASK_ALT_PATH) error = check_path(&change->alt_path);
    return error ? error : qp_modify(qp, change);
}

static int modify(struct command *command, const struct ib_uverbs_modify_qp *request,
                  struct qp **out) {
    struct qp_change change = change_in(request);

    *out = handle_get(command->file, request->qp_handle, KIND_QP);
    return *out ? qp_change(*out, &change) : ENOENT;
}

int modify_qp(struct command *command) {
    struct ib_uverbs_modify_qp request;
    struct qp *qp;
    int error = attr_in(command, UVERBS_ATTR_CORE_IN, &request, sizeof(request), sizeof(request));

    if (error) return error;
    return request.attr_mask & MASK_RATE_LIMIT ? EOPNOTSUPP : modify(command, &request, &qp);
}

/* The form that has an answer: a DCT gets its number when it goes to RTR. */
int modify_qp_ex(struct command *command) {
    struct ib_uverbs_ex_modify_qp request;
    struct ib_uverbs_ex_modify_qp_resp response = {.response_length = sizeof(response)};
    struct mlx5_ib_modify_qp_resp extra = {.response_length = sizeof(extra)};
    struct qp *qp;
    int error =
        attr_in(command, UVERBS_ATTR_CORE_IN, &request, sizeof(request.base), sizeof(request));

    if (error) return error;
    if (request.base.attr_mask & MASK_RATE_LIMIT) return EOPNOTSUPP;
    error = modify(command, &request.base, &qp);
    if (error) return error;
    if (qp->attr.type == QP_DCT) extra.dctn = qp->number;
    error = attr_out(command, UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
    return error ? error : attr_out(command, UVERBS_ATTR_UHW_OUT, &extra, sizeof(extra));
}

int query_qp(struct command *command) {
    struct ib_uverbs_query_qp request;
    struct ib_uverbs_query_qp_resp response;
    const struct qp_change *set;
    struct qp *qp;
    int error = attr_in(command, UVERBS_ATTR_CORE_IN, &request, sizeof(request), sizeof(request));

    if (error) return error;
    qp = handle_get(command->file, request.qp_handle, KIND_QP);
    if (!qp) return ENOENT;
    set = &qp->set;
    response = (struct ib_uverbs_query_qp_resp){
        .dest = path_out(&set->path),
        .alt_dest = path_out(&set->alt_path),
        .max_send_wr = qp->attr.max_send_wr,
        .max_recv_wr = qp->attr.rq_entries,
        .max_send_sge = qp->attr.max_send_sge,
        .max_recv_sge = qp->attr.max_recv_sge,
        .max_inline_data = qp->attr.max_inline,
        .qkey = set->qkey,
        .rq_psn = set->rq_psn,
        .sq_psn = set->sq_psn,
        .dest_qp_num = set->dest_qpn,
        .qp_access_flags = set->access,
        .pkey_index = set->pkey_index,
        .alt_pkey_index = set->alt_pkey_index,
        .qp_state = qp_uverbs_state(qp),
        .cur_qp_state = qp_uverbs_state(qp),
        .path_mtu = set->path_mtu,
        .path_mig_state = set->path_mig_state,
        .sq_draining = qp->draining,
        .max_rd_atomic = set->max_rd_atomic,
        .max_dest_rd_atomic = set->max_dest_rd_atomic,
        .min_rnr_timer = set->min_rnr_timer,
        .port_num = set->port ? set->port : 1,
        .timeout = set->timeout,
        .retry_cnt = set->retry_count,
        .rnr_retry = set->rnr_retry,
        .alt_port_num = set->alt_port,
        .alt_timeout = set->alt_timeout,
        .sq_sig_all = qp->attr.signal_all,
    };
    return attr_out(command, UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
}
