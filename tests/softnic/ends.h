/* Ends of connections over plain verbs, for programs that try the software NIC: threads.c,
 * stress.c. */
#ifndef ENDS_H
#define ENDS_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#define MUST(condition) \
    do { \
        if (!(condition)) fail(#condition, __LINE__); \
    } while (0)
enum { ALL = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };
enum { SIZE = 1 << 20, DEPTH = 64 };

static inline void fail(const char *what, int line) {
    fprintf(stderr, "line %d: not so: %s (errno %s)\n", line, what, strerror(errno));
    _exit(1);
}

static inline void hung(int number) {
    (void)number;
    static const char text[] = "hung\n";
    if (write(2, text, sizeof text - 1) < 0) _exit(3);
    _exit(2);
}

static struct ibv_context *context;

static inline struct ibv_context *device_open(void) {
    int devices;
    struct ibv_device **list = ibv_get_device_list(&devices);
    struct ibv_context *opened;
    MUST(list && devices == 1 && (opened = ibv_open_device(list[0])));
    ibv_free_device_list(list);
    return opened;
}

struct end {
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    uint8_t *memory;
};

static inline void state(struct ibv_qp *qp, uint32_t peer, enum ibv_qp_state to) {
    struct ibv_qp_attr attr = {
        .qp_state = to,
        .port_num = 1,
        .qp_access_flags = ALL,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = peer,
        .max_dest_rd_atomic = 1,
        .max_rd_atomic = 1,
        .min_rnr_timer = 12,
        .timeout = 14,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .ah_attr = {.dlid = 1, .port_num = 1},
    };
    int mask = IBV_QP_STATE;
    if (to == IBV_QPS_INIT) mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    if (to == IBV_QPS_RTR)
        mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    if (to == IBV_QPS_RTS)
        mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                IBV_QP_MAX_QP_RD_ATOMIC;
    MUST(!ibv_modify_qp(qp, &attr, mask));
}

static inline struct end *end_new_in(struct ibv_context *context) {
    struct end *end = calloc(1, sizeof *end);
    MUST(end && (end->memory = aligned_alloc(4096, SIZE)));
    memset(end->memory, 0x5a, SIZE);
    MUST(end->pd = ibv_alloc_pd(context));
    MUST(end->cq = ibv_create_cq(context, 2 * DEPTH, NULL, NULL, 0));
    MUST(end->mr = ibv_reg_mr(end->pd, end->memory, SIZE, ALL));
    struct ibv_qp_init_attr attr = {
        .send_cq = end->cq,
        .recv_cq = end->cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1},
    };
    MUST(end->qp = ibv_create_qp(end->pd, &attr));
    return end;
}

static inline struct end *end_new(void) { return end_new_in(context); }

/* An end whose QP is connected with itself: what it writes lands in its own memory. */
static inline struct end *end_alone_in(struct ibv_context *context) {
    struct end *end = end_new_in(context);
    state(end->qp, 0, IBV_QPS_INIT);
    state(end->qp, end->qp->qp_num, IBV_QPS_RTR);
    state(end->qp, end->qp->qp_num, IBV_QPS_RTS);
    return end;
}

static inline struct end *end_alone(void) { return end_alone_in(context); }

static inline void end_free(struct end *end) {
    MUST(!ibv_destroy_qp(end->qp));
    MUST(!ibv_dereg_mr(end->mr));
    MUST(!ibv_destroy_cq(end->cq));
    MUST(!ibv_dealloc_pd(end->pd));
    free(end->memory);
    free(end);
}

static inline int post_write(struct end *end, uint32_t length) {
    struct ibv_sge sge = {(uintptr_t)end->memory, length, end->mr->lkey};
    struct ibv_send_wr *bad, wr = {
                                 .sg_list = &sge,
                                 .num_sge = 1,
                                 .opcode = IBV_WR_RDMA_WRITE,
                                 .send_flags = IBV_SEND_SIGNALED,
                                 .wr.rdma = {(uintptr_t)end->memory + SIZE / 2, end->mr->rkey},
                             };
    return ibv_post_send(end->qp, &wr, &bad);
}

static inline void wait_one(struct end *end) {
    struct ibv_wc wc;
    int n;
    while (!(n = ibv_poll_cq(end->cq, 1, &wc))) {}
    MUST(n == 1 && wc.status == IBV_WC_SUCCESS);
}

static inline double processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

#endif
