/* The requester: a WQE becomes a message, the answer becomes a completion. While the peer is silent
 * or not ready the call waits under its timers: rnr_retry times the responder's RNR timer,
 * retry_count + 1 times the QP's timeout (IBTA 9.7.5). */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

/* ns between two looks at a peer that isn't ready */
static const uint64_t SHORTEST_WAIT = 50000, LONGEST_WAIT = 1000000;
static struct transfer mine;

static void call_free(struct call *call) {
    if (call->message) message_release(call->message);
    free(call);
}

/* What was sent after the call at the head is not known any more: it is sent again from the queue,
 * or flushed there. */
static void drop_after(struct qp *qp) {
    struct call *call = qp->call ? qp->call->next : NULL;
    if (call) qp->call->next = NULL;
    for (struct call *next; call; call = next) {
        next = call->next;
        call_free(call);
    }
}

void request_drop(struct qp *qp) {
    if (!qp->call) return;
    drop_after(qp);
    if (qp->call->sent) fabric_forget(qp);
    call_free(qp->call);
    qp->call = NULL;
}

/* The call leaves the QP before its completion is reported, so that the completion may change the
 * QP's state. */
static struct call *detach(struct qp *qp) {
    struct call *call = qp->call;
    if (call->sent) fabric_forget(qp);
    qp->call = call->next;
    qp->sq_head += call->blocks;
    if (qp->call) trace_wqe(qp, qp->call->bytes, qp->call->len);
    return call;
}

static void fail(struct qp *qp, uint8_t syndrome) {
    drop_after(qp);
    struct call *call = detach(qp);
    wqe_fail(qp, &call->wqe, syndrome);
    call_free(call);
}

static void succeed(struct qp *qp, uint32_t length) {
    struct call *call = detach(qp);
    wqe_complete(qp, &call->wqe, length, call->sigerr);
    call_free(call);
}

void request_flush(struct qp *qp) {
    if (!qp->call) return;
    drop_after(qp);
    struct call *call = detach(qp);
    wqe_fail(qp, &call->wqe, CQE_FLUSHED);
    call_free(call);
}

bool request_leave(struct qp *qp, uint64_t *bytes) {
    if (!qp->call->sent) return false;
    *bytes += qp->call->message->payload_length + sizeof *qp->call;
    call_free(detach(qp));
    return true;
}

static bool reads(uint8_t opcode) {
    return opcode == OPCODE_RDMA_READ || opcode == OPCODE_ATOMIC_CS || opcode == OPCODE_ATOMIC_FA;
}
static bool atomic(uint8_t opcode) {
    return opcode == OPCODE_ATOMIC_CS || opcode == OPCODE_ATOMIC_FA;
}
static bool reliable(const struct qp *qp) {
    return qp->attr.type == QP_RC || qp->attr.type == QP_DCI;
}

/* Where the requester's data is: the source of a send or write, the target of a read or atomic. */
static enum violation local_places(struct qp *qp, const struct wqe *wqe) {
    transfer_begin(&mine, qp->attr.pd, qp->number, qp->attr.send_cq);
    return transfer_add_segs(&mine, wqe->seg, wqe->segs, UINT64_MAX, reads(wqe->opcode));
}

static void address(const struct qp *qp, const struct wqe *wqe, struct message *message) {
    message->source = qp->number;
    message->service = (uint8_t)qp->attr.type;
    message->slid = 1;
    if (!wqe->av.present) {
        message->destination = qp->set.dest_qpn;
        message->sl = qp->set.path.sl;
        message->psn = qp->set.sq_psn;
        message->dlid = qp->set.path.dlid;
        message->grh = qp->set.path.is_global;
        memcpy(message->dgid, qp->set.path.dgid, sizeof message->dgid);
        return;
    }
    message->dlid = wqe->av.rlid;
    message->destination = wqe->av.dqpn;
    message->sl = wqe->av.sl;
    message->dc_key = wqe->av.dc_key;
    /* A Q_Key with the top bit set means the QP's own (IBTA 10.2.5). */
    message->qkey = wqe->av.qkey & 0x80000000u ? qp->set.qkey : wqe->av.qkey;
    message->grh = wqe->av.grh || personality()->roce;
    message->traffic_class = wqe->av.tclass;
    message->hop_limit = wqe->av.hop_limit;
    message->flow_label = wqe->av.flow_label;
    memcpy(message->dgid, wqe->av.rgid, sizeof message->dgid);
    personality_gid(wqe->av.sgid_index, message->sgid);
}

/* How many bytes a scatter list takes; whether it may be written is seen when the response comes.
 */
static uint64_t scatter_length(const struct wqe *wqe) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < wqe->segs; i++) sum += wqe->seg[i].length;
    return sum;
}

/* Plain memory that stays in this process is copied once, by the responder. */
static bool at_once(const struct qp *qp, const struct message *message) {
    enum { WORTH = 4096 };
    return mine.length >= WORTH && qp->attr.type != QP_UD && transport_is_local(message) &&
           transfer_is_plain(&mine);
}

/* 0 or the syndrome with which the WQE fails before anything is sent. A READ and an atomic go out
 * before their scatter list is looked at, so that the responder's refusal comes first
 * (IBTA 9.7.5.1). */
static uint8_t build(struct qp *qp, struct call *call, bool after) {
    const struct wqe *wqe = &call->wqe;
    if (reads(wqe->opcode)) {
        transfer_begin(&mine, qp->attr.pd, qp->number, qp->attr.send_cq);
        mine.length = scatter_length(wqe);
    } else if (local_places(qp, wqe)) {
        return CQE_LOCAL_PROTECTION;
    }
    if (mine.length >
        (qp->attr.type == QP_UD ? 128u << personality()->mtu : personality()->max_msg_sz))
        return CQE_LOCAL_LENGTH;
    if (atomic(wqe->opcode) && mine.length < 8) return CQE_LOCAL_LENGTH;
    struct message *message = call->message = calloc(1, sizeof *message);
    if (!message) return CQE_LOCAL_QP_OP;
    message->references = 1;
    address(qp, wqe, message);
    message->opcode = wqe->opcode;
    message->solicited = wqe->solicited;
    message->imm = wqe->imm;
    message->raddr = wqe->raddr, message->rkey = wqe->rkey;
    message->swap_add = wqe->swap_add, message->compare = wqe->compare;
    message->length = atomic(wqe->opcode) ? 8 : mine.length;
    if (reads(wqe->opcode) || !mine.length) return 0;
    message->payload_length = mine.length;
    if (after && !transfer_is_quiet(&mine)) return CQE_LOCAL_QP_OP;
    if (at_once(qp, message)) {
        message->unread = &mine;
        return 0;
    }
    /* What is worked on in place (ciphers) is not shown to another process before it is done. */
    if (transfer_is_plain(&mine) && !transport_is_local(message) &&
        fabric_region(message->destination, mine.length, &message->region))
        message->payload = region_bytes(&message->region);
    else if (!(message->payload = bytes_new(mine.length))) return CQE_LOCAL_QP_OP;
    if (transfer_emit(&mine, message->payload)) return CQE_LOCAL_PROTECTION;
    call->sigerr = mine.sigerr;
    return 0;
}

/* 0 or the syndrome: what was read goes where the WQE says. */
static uint8_t place(struct qp *qp, struct call *call, const struct answer *answer) {
    if (answer->length != call->message->length) return CQE_BAD_RESPONSE;
    if (!answer->length) return 0;
    enum violation bad = local_places(qp, &call->wqe);
    if (bad) return CQE_LOCAL_PROTECTION;
    if (atomic(call->wqe.opcode) && mine.length != answer->length) {
        /* Only 8 bytes come, however long the list is. */
        transfer_begin(&mine, qp->attr.pd, qp->number, qp->attr.send_cq);
        if (transfer_add_segs(&mine, call->wqe.seg, call->wqe.segs, answer->length, true))
            return CQE_LOCAL_PROTECTION;
    }
    if (transfer_absorb(&mine, answer->data)) return CQE_LOCAL_PROTECTION;
    call->sigerr = mine.sigerr;
    return 0;
}

/* IBTA table 45: the responder's RNR NAK timer field, in ns. */
static uint64_t rnr_time(uint8_t code) {
    static const uint32_t us10[32] = {
        65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
        48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
        2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
    };
    return us10[code & 31] * 10000ull;
}

/* Counts from the last answer: while a message is under way to a process that lives, no timer runs.
 */
static uint64_t retry_time(const struct qp *qp) {
    return (4096ull << (qp->set.timeout & 31)) * (qp->set.retry_count + 1u);
}

/* The peer gave no proper answer for `reason`: wait, unless the time for that is up. */
static void hold(struct qp *qp, uint8_t reason, uint64_t patience, bool forever) {
    struct call *call = qp->call;
    uint64_t time = now();
    if (qp->ending) { /* it is not tried again */
        qp_fail(qp);
        return;
    }
    if (!message_gather(call->message)) { /* what waits is sent as it was when it was posted */
        fail(qp, CQE_LOCAL_PROTECTION);
        return;
    }
    if (call->reason != reason) {
        call->reason = reason;
        call->started = time;
        call->interval = SHORTEST_WAIT;
    }
    if (!forever && time - call->started >= patience) {
        fail(qp, reason);
        return;
    }
    call->due = time + call->interval;
    if (!forever && call->due > call->started + patience) call->due = call->started + patience;
    if (call->interval < LONGEST_WAIT) call->interval *= 2;
}

static void deliver(struct qp *qp, bool ask);

static void answer_free(const struct answer *answer) {
    if (answer->data != answer->room) bytes_free(answer->data);
}

void request_answered(struct qp *qp, struct answer *answer) {
    struct call *call = qp->call;
    uint8_t syndrome = 0;
    if (!call) { /* a QP that talks to itself broke as its own responder */
        answer_free(answer);
        return;
    }
    call->sent = false;
    qp->progress = now();
    if (answer->verdict != VERDICT_ACK && answer->verdict != VERDICT_LATER) drop_after(qp);
    switch (answer->verdict) {
    case VERDICT_ACK:
        if (reads(call->wqe.opcode)) syndrome = place(qp, call, answer);
        if (syndrome) fail(qp, syndrome);
        else succeed(qp, (uint32_t)call->message->length);
        break;
    case VERDICT_NAK:
        if (reliable(qp)) fail(qp, answer->syndrome);
        else succeed(qp, (uint32_t)call->message->length);
        break;
    case VERDICT_RNR:
        if (reliable(qp))
            hold(qp, CQE_RNR_RETRY, rnr_time(answer->rnr_timer) * qp->set.rnr_retry,
                 qp->set.rnr_retry == 7);
        else succeed(qp, (uint32_t)call->message->length);
        break;
    case VERDICT_SILENCE:
    case VERDICT_DROPPED:
        if (reliable(qp)) hold(qp, CQE_TRANSPORT_RETRY, retry_time(qp), qp->set.timeout == 0);
        else succeed(qp, (uint32_t)call->message->length);
        break;
    case VERDICT_READY: deliver(qp, false); break;
    case VERDICT_BUSY:
        call->reason = 0;
        hold(qp, CQE_TRANSPORT_RETRY, 0, true);
        break;
    /* a live peer answers, however long it takes: the end of its link tells otherwise */
    case VERDICT_LATER:
        call->sent = call->remote = true;
        call->due = 0;
        break;
    }
    answer_free(answer);
}

/* A peer that wasn't ready is asked whether it is, before the payload goes its way again. */
static void deliver(struct qp *qp, bool ask) {
    struct answer answer = {0};
    transport_send(qp, qp->call->message, ask && qp->call->message->payload_length, &answer);
    request_answered(qp, &answer);
}

void request_again(struct qp *qp) {
    if (!qp->call->sent) deliver(qp, qp->call->reason == CQE_RNR_RETRY);
}

static struct call *call_new(const struct qp *qp, const uint8_t *bytes, size_t len,
                             uint16_t blocks) {
    struct call *call = calloc(1, sizeof *call);
    if (!call) return NULL;
    memcpy(call->bytes, bytes, len);
    call->len = len, call->blocks = blocks;
    wqe_decode(call->bytes, len, qp->attr.type == QP_UD || qp->attr.type == QP_DCI, &call->wqe);
    return call;
}

void request_start(struct qp *qp, const uint8_t *bytes, size_t len, uint16_t blocks) {
    struct call *call = call_new(qp, bytes, len, blocks);
    if (!call) return; /* tried again with the next round */
    qp->call = call;
    uint8_t syndrome = build(qp, call, false);
    if (syndrome) fail(qp, syndrome);
    else deliver(qp, false);
}

/* ---- one after the other ---------------------------------------------------------------- */

uint16_t request_blocks(const struct qp *qp) {
    uint16_t sum = 0;
    for (const struct call *call = qp->call; call; call = call->next) sum += call->blocks;
    return sum;
}

static bool sends(uint8_t opcode) {
    return opcode == OPCODE_SEND || opcode == OPCODE_SEND_IMM || opcode == OPCODE_RDMA_WRITE ||
           opcode == OPCODE_RDMA_WRITE_IMM;
}

/* Sends and writes to another process need not wait for one another's answers: if one is not taken,
 * its responder takes none of those after it (fabric.c). Nor do they change what the next one
 * reads, nor tell an error at this end. */
bool request_after(struct qp *qp, const uint8_t *bytes, size_t len, uint16_t blocks) {
    enum { MOST = 16, BYTES = 4 << 20, STRONG_FENCE = 2 };
    struct call *front = qp->call;
    unsigned n = 1;
    uint64_t under_way = front->message->payload_length;
    if (qp->attr.type != QP_RC || !sends(front->wqe.opcode)) return false;
    for (; front->next; front = front->next, n++) under_way += front->next->message->payload_length;
    if (n >= MOST || under_way >= BYTES || !front->link || front->sigerr) return false;
    struct call *call = call_new(qp, bytes, len, blocks);
    if (!call) return false;
    bool fine = sends(call->wqe.opcode) && call->wqe.qpn == qp->number &&
                call->wqe.fence < STRONG_FENCE && !build(qp, call, true);
    if (!fine || !fabric_send_after(qp, call, front)) {
        call_free(call);
        return false;
    }
    call->sent = call->remote = true;
    front->next = call;
    return true;
}
