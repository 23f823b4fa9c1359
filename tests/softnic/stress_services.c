/* Services but RC with its own queues: datagrams, shared receive queues, dynamically connected
 * ends. */
#include <infiniband/mlx5dv.h>

#include "stress.h"

enum { RECEIVES = 64, PIECE = 4096, GRH = 40, KEY = 0x1ee7 };

struct service {
    struct ibv_pd *pd;
    struct ibv_cq *cq, *received;
    struct ibv_mr *mr;
    struct ibv_srq *srq;
    struct ibv_ah *ah;
    uint8_t *memory;
};

static void open_service(struct service *at, struct ibv_context *context) {
    struct ibv_srq_init_attr shared = {.attr = {.max_wr = RECEIVES, .max_sge = 1}};
    struct ibv_ah_attr address = {.dlid = 1, .port_num = 1};
    MUST(at->memory = aligned_alloc(4096, SIZE));
    memset(at->memory, 0x33, SIZE);
    MUST(at->pd = ibv_alloc_pd(context));
    MUST(at->cq = ibv_create_cq(context, 2 * RECEIVES, NULL, NULL, 0));
    MUST(at->received = ibv_create_cq(context, 2 * RECEIVES, NULL, NULL, 0));
    MUST(at->mr = ibv_reg_mr(at->pd, at->memory, SIZE, ALL));
    MUST(at->srq = ibv_create_srq(at->pd, &shared));
    MUST(at->ah = ibv_create_ah(at->pd, &address));
}

static void close_service(struct service *at) {
    MUST(!ibv_destroy_ah(at->ah));
    MUST(!ibv_destroy_srq(at->srq));
    MUST(!ibv_dereg_mr(at->mr));
    MUST(!ibv_destroy_cq(at->received));
    MUST(!ibv_destroy_cq(at->cq));
    MUST(!ibv_dealloc_pd(at->pd));
    free(at->memory);
}

static void receive(struct service *at, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        struct ibv_sge sge = {(uintptr_t)at->memory + HALF + i * PIECE, PIECE, at->mr->lkey};
        struct ibv_recv_wr *bad, wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};
        MUST(!ibv_post_srq_recv(at->srq, &wr, &bad));
    }
}

static void take(struct ibv_cq *cq, uint32_t count) {
    struct ibv_wc wc[16];
    while (count) {
        int n = ibv_poll_cq(cq, count < 16 ? (int)count : 16, wc);
        MUST(n >= 0);
        for (int i = 0; i < n; i++) {
            if (wc[i].status) fprintf(stderr, "status %s\n", ibv_wc_status_str(wc[i].status));
            MUST(wc[i].status == IBV_WC_SUCCESS);
        }
        count -= (uint32_t)n;
    }
}

static struct ibv_qp *queue_pair(struct service *at, enum ibv_qp_type type) {
    struct ibv_qp_init_attr attr = {
        .send_cq = at->cq,
        .recv_cq = at->received,
        .qp_type = type,
        .srq = at->srq,
        .cap = {.max_send_wr = RECEIVES, .max_send_sge = 1},
    };
    struct ibv_qp *qp = ibv_create_qp(at->pd, &attr);
    struct ibv_qp_attr to = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = KEY};
    MUST(qp);
    if (type == IBV_QPT_RC) {
        state(qp, 0, IBV_QPS_INIT);
        state(qp, qp->qp_num, IBV_QPS_RTR);
        state(qp, qp->qp_num, IBV_QPS_RTS);
        return qp;
    }
    MUST(!ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
    to.qp_state = IBV_QPS_RTR;
    MUST(!ibv_modify_qp(qp, &to, IBV_QP_STATE));
    to.qp_state = IBV_QPS_RTS;
    MUST(!ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_SQ_PSN));
    return qp;
}

/* Datagrams and messages of a connection come out of one shared receive queue. */
void play_datagrams(struct dice *dice, struct ibv_context *context) {
    struct service at;
    open_service(&at, context);
    struct ibv_qp *one = queue_pair(&at, IBV_QPT_UD), *two = queue_pair(&at, IBV_QPT_UD),
                  *rc = queue_pair(&at, IBV_QPT_RC);
    if (!roll(dice, 3)) {
        struct ibv_srq_attr limit = {.srq_limit = 1 + roll(dice, RECEIVES - 1)};
        MUST(!ibv_modify_srq(at.srq, &limit, IBV_SRQ_LIMIT));
    }
    for (uint32_t round = roll(dice, 4); round && !stop; round--) {
        uint32_t count = 1 + roll(dice, RECEIVES - 1), by_rc = 0, length = 1 + roll(dice, 1024);
        receive(&at, count);
        for (uint32_t i = 0; i < count; i++) {
            struct ibv_sge sge = {(uintptr_t)at.memory, length, at.mr->lkey};
            struct ibv_send_wr *bad,
                wr = {
                    .sg_list = &sge,
                    .num_sge = 1,
                    .opcode = IBV_WR_SEND,
                    .send_flags = IBV_SEND_SIGNALED,
                    .wr.ud = {.ah = at.ah, .remote_qpn = two->qp_num, .remote_qkey = KEY},
                };
            bool connected = roll(dice, 2);
            MUST(!ibv_post_send(connected ? rc : one, &wr, &bad));
            by_rc += connected;
        }
        take(at.cq, count);
        take(at.received, count);
        MUST(!memcmp(at.memory + HALF + GRH, at.memory, 1));
        datagrams += count - by_rc;
        shared_receives += count;
    }
    if (roll(dice, 2)) receive(&at, roll(dice, RECEIVES)); /* not polled */
    MUST(!ibv_destroy_qp(one) && !ibv_destroy_qp(rc) && !ibv_destroy_qp(two));
    close_service(&at);
}

static struct ibv_qp *dynamic_end(struct service *at, enum mlx5dv_dc_type type) {
    bool target = type == MLX5DV_DCTYPE_DCT;
    struct ibv_qp_init_attr_ex attr = {
        .send_cq = at->cq,
        .recv_cq = at->received,
        .qp_type = IBV_QPT_DRIVER,
        .pd = at->pd,
        .srq = target ? at->srq : NULL,
        .comp_mask = IBV_QP_INIT_ATTR_PD,
    };
    struct mlx5dv_qp_init_attr dv = {.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
                                     .dc_init_attr = {.dc_type = type}};
    struct ibv_qp_attr to = {
        .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .qp_access_flags = ALL,
        .path_mtu = IBV_MTU_1024,
        .min_rnr_timer = 12,
        .ah_attr = {.dlid = 1, .port_num = 1},
        .timeout = 14,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .max_rd_atomic = 1,
    };
    if (target) dv.dc_init_attr.dct_access_key = KEY;
    else {
        attr.cap.max_send_wr = RECEIVES, attr.cap.max_send_sge = 1;
        attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        attr.send_ops_flags =
            IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ;
    }
    struct ibv_qp *qp = mlx5dv_create_qp(at->pd->context, &attr, &dv);
    MUST(qp);
    MUST(!ibv_modify_qp(qp, &to,
                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                            (target ? IBV_QP_ACCESS_FLAGS : 0)));
    to.qp_state = IBV_QPS_RTR;
    MUST(!ibv_modify_qp(
        qp, &to, IBV_QP_STATE | IBV_QP_PATH_MTU | (target ? IBV_QP_AV | IBV_QP_MIN_RNR_TIMER : 0)));
    if (target) return qp;
    to.qp_state = IBV_QPS_RTS;
    MUST(!ibv_modify_qp(qp, &to,
                        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                            IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
    return qp;
}

/* One initiator, two targets that share a receive queue; each request goes to one of them. */
void play_dynamic(struct dice *dice, struct ibv_context *context) {
    struct service at;
    open_service(&at, context);
    struct ibv_qp *from = dynamic_end(&at, MLX5DV_DCTYPE_DCI);
    struct ibv_qp *to[] = {dynamic_end(&at, MLX5DV_DCTYPE_DCT),
                           dynamic_end(&at, MLX5DV_DCTYPE_DCT)};
    struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(from);
    struct mlx5dv_qp_ex *mqp = mlx5dv_qp_ex_from_ibv_qp_ex(qpx);
    for (uint32_t round = roll(dice, 4); round && !stop; round--) {
        uint32_t count = 1 + roll(dice, RECEIVES / 2), sends = 0;
        uint64_t there = (uintptr_t)at.memory + HALF;
        receive(&at, RECEIVES / 2);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t what = roll(dice, 3);
            ibv_wr_start(qpx);
            qpx->wr_flags = IBV_SEND_SIGNALED;
            if (what == 0) ibv_wr_send(qpx);
            else if (what == 1) ibv_wr_rdma_write(qpx, at.mr->rkey, there);
            else ibv_wr_rdma_read(qpx, at.mr->rkey, there);
            mlx5dv_wr_set_dc_addr(mqp, at.ah, to[roll(dice, 2)]->qp_num, KEY);
            ibv_wr_set_sge(qpx, at.mr->lkey, (uintptr_t)at.memory + PIECE, 1 + roll(dice, PIECE));
            MUST(!ibv_wr_complete(qpx));
            sends += what == 0;
        }
        take(at.cq, count);
        take(at.received, sends);
        dynamic += count;
        /* so that the queue is empty again */
        for (uint32_t left = RECEIVES / 2 - sends; left; left--) {
            ibv_wr_start(qpx);
            qpx->wr_flags = IBV_SEND_SIGNALED;
            ibv_wr_send(qpx);
            mlx5dv_wr_set_dc_addr(mqp, at.ah, to[0]->qp_num, KEY);
            ibv_wr_set_sge(qpx, at.mr->lkey, (uintptr_t)at.memory, 8);
            MUST(!ibv_wr_complete(qpx));
        }
        take(at.cq, RECEIVES / 2 - sends);
        take(at.received, RECEIVES / 2 - sends);
    }
    bool initiator_first = roll(dice, 2);
    if (initiator_first) MUST(!ibv_destroy_qp(from));
    MUST(!ibv_destroy_qp(to[0]) && !ibv_destroy_qp(to[1]));
    if (!initiator_first) MUST(!ibv_destroy_qp(from));
    close_service(&at);
}
