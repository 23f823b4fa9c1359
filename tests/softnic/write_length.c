/* byte_len of completions in memory that the program has written before: prints JSON. */
#include "ends.h"

enum { BEFORE = 0x5a5a5a5a, LENGTH = 33, SENT = 48 };

static uint32_t byte_len(struct ibv_cq *cq, enum ibv_wc_opcode opcode) {
    struct ibv_wc wc = {.byte_len = BEFORE};
    int n;
    while (!(n = ibv_poll_cq(cq, 1, &wc))) {}
    MUST(n == 1 && wc.status == IBV_WC_SUCCESS && wc.opcode == opcode);
    return wc.byte_len;
}

/* Posts, and what byte_len is then. */
static uint32_t done(struct end *end, struct end *other, enum ibv_wr_opcode opcode,
                     enum ibv_wc_opcode told, uint32_t length) {
    struct ibv_sge sge = {(uintptr_t)end->memory, length, end->mr->lkey};
    struct ibv_send_wr *bad, wr = {
                                 .sg_list = &sge,
                                 .num_sge = 1,
                                 .opcode = opcode,
                                 .send_flags = IBV_SEND_SIGNALED,
                                 .wr.rdma = {(uintptr_t)other->memory + SIZE / 2, other->mr->rkey},
                             };
    MUST(!ibv_post_send(end->qp, &wr, &bad));
    return byte_len(end->cq, told);
}

int main(void) {
    context = device_open();
    struct end *one = end_new(), *two = end_new();
    state(one->qp, 0, IBV_QPS_INIT);
    state(two->qp, 0, IBV_QPS_INIT);
    state(one->qp, two->qp->qp_num, IBV_QPS_RTR);
    state(two->qp, one->qp->qp_num, IBV_QPS_RTR);
    state(one->qp, two->qp->qp_num, IBV_QPS_RTS);
    state(two->qp, one->qp->qp_num, IBV_QPS_RTS);
    struct ibv_sge sge = {(uintptr_t)two->memory, SIZE, two->mr->lkey};
    struct ibv_recv_wr *bad, wr = {.sg_list = &sge, .num_sge = 1};
    MUST(!ibv_post_recv(two->qp, &wr, &bad));
    printf("{\"write\": %u, ", done(one, two, IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, LENGTH));
    printf("\"read\": %u, ", done(one, two, IBV_WR_RDMA_READ, IBV_WC_RDMA_READ, LENGTH));
    printf("\"send\": %u, ", done(one, two, IBV_WR_SEND, IBV_WC_SEND, SENT));
    printf("\"receive\": %u}\n", byte_len(two->cq, IBV_WC_RECV));
    end_free(one);
    end_free(two);
    MUST(!ibv_close_device(context));
    return 0;
}
