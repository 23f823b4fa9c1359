/* The responder: what a message does to the QP it is for. The same code answers the own process and
 * others. */
#include <stdlib.h>
#include <string.h>

#include "pure/bits.h"
#include "pure/rule.h"
#include "rules.h"

/* enum ibv_access_flags */
enum { ACCESS_WRITE = 2, ACCESS_READ = 4, ACCESS_ATOMIC = 8, GRH_BYTES = 40 };
static struct transfer theirs;

static bool reliable(const struct qp *qp) {
    return qp->attr.type == QP_RC || qp->attr.type == QP_DCT;
}

/* The CQ that learns of signature errors on the passive side (hardware rule 4). */
struct cq *RULE(passive_cq)(const struct qp *qp) { return qp->attr.recv_cq; }

/* Whether a packet with this address comes to our port: by its LID, which RoCE has none of; a GRH
 * must name one of our GIDs. */
static bool reaches(const struct message *message) {
    enum { LID = 1 };
    bool roce = personality()->roce;
    uint8_t gid[16];
    if (!roce && message->dlid != LID) return false;
    if (!roce && !message->grh) return true;
    for (unsigned i = 0; personality_gid(i, gid); i++)
        if (!memcmp(gid, message->dgid, sizeof gid)) return true;
    return false;
}

/* Whether the QP takes this message at all; one that isn't meant for it is dropped in silence. */
bool RULE(addressed)(const struct qp *qp, const struct message *message) {
    if (qp->state < STATE_RTR || qp->state > STATE_SQE || qp->ending || !reaches(message))
        return false;
    switch (qp->attr.type) {
    case QP_RC:
        return message->service == QP_RC && qp->set.dest_qpn == message->source &&
               qp->set.rq_psn == message->psn;
    case QP_UC: return message->service == QP_UC && qp->set.dest_qpn == message->source;
    case QP_UD: return message->service == QP_UD && qp->set.qkey == message->qkey;
    case QP_DCT: return message->service == QP_DCI && qp->attr.dc_key == message->dc_key;
    default: return false;
    }
}

/* Without resources for them a QP takes no READs and atomics: so the mlx5 driver sets its QP
 * context. */
static uint32_t access_of(const struct qp *qp) {
    return qp->attr.type == QP_RC && !qp->set.max_dest_rd_atomic ? qp->set.access & ACCESS_WRITE
                                                                 : qp->set.access;
}

static void refuse(struct answer *answer, uint8_t syndrome) {
    answer->verdict = VERDICT_NAK;
    answer->syndrome = syndrome;
}

/* A remote key or right refuses: the connection breaks on both sides; an unreliable one drops the
 * message (IBTA 9.9.3). */
static void deny(struct qp *qp, struct answer *answer, uint8_t syndrome) {
    refuse(answer, syndrome);
    if (qp->attr.type != QP_RC) return;
    event_qp(qp, syndrome == CQE_REMOTE_ACCESS ? EVENT_QP_ACCESS_ERR : EVENT_QP_REQ_ERR);
    qp_fail(qp);
}

void RULE(receive_fail)(struct qp *qp, const struct receive *receive, uint8_t here, uint8_t there,
                        struct answer *answer) {
    struct cqe cqe = {.opcode = CQE_RESPONDER_ERROR,
                      .syndrome = here,
                      .qpn = qp->number,
                      .uidx = qp->attr.uidx,
                      .wqe_counter = receive->index};
    receive_take(qp, receive);
    if (qp->attr.recv_cq) cq_post(qp->attr.recv_cq, &cqe, false);
    refuse(answer, there);
    qp_fail(qp);
}

void RULE(receive_complete)(struct qp *qp, const struct receive *receive,
                            const struct message *message, uint8_t opcode, uint64_t length) {
    struct cqe cqe = {
        .opcode = opcode,
        .solicited = message->solicited,
        .qpn = qp->number,
        .uidx = qp->attr.uidx,
        .wqe_counter = receive->index,
        .byte_count = (uint32_t)length,
        .imm = opcode == CQE_SEND ? 0 : message->imm,
        .src_qpn = message->source,
        .sl = message->sl,
        .slid = message->slid,
        .grh = message->grh && qp->attr.type == QP_UD,
    };
    receive_take(qp, receive);
    if (qp->attr.recv_cq) cq_post(qp->attr.recv_cq, &cqe, message->solicited);
}

/* false: no receive is posted, or none can be read */
static bool receive_wanted(struct qp *qp, struct receive *receive, struct answer *answer) {
    switch (receive_peek(qp, receive)) {
    case FETCH_FINE: return true;
    case FETCH_NONE:
        answer->verdict = VERDICT_RNR;
        answer->rnr_timer = qp->set.min_rnr_timer;
        return false;
    default:
        refuse(answer, CQE_REMOTE_OPERATION);
        event_qp(qp, EVENT_QP_FATAL);
        qp_fail(qp);
        return false;
    }
}

/* IBTA 8.3: what is in front of a datagram. Without a GRH on the way its place stays as it is;
 * here it is zeros. */
static void grh_encode(const struct message *message, uint8_t out[GRH_BYTES]) {
    memset(out, 0, GRH_BYTES);
    if (!message->grh) return;
    store_be32(out,
               6u << 28 | (uint32_t)message->traffic_class << 20 | (message->flow_label & 0xfffff));
    store_be16(out + 4, (uint16_t)(message->payload_length + 24)); /* BTH, DETH and ICRC with it */
    out[6] = 0x1b;
    out[7] = message->hop_limit;
    memcpy(out + 8, message->sgid, 16);
    memcpy(out + 24, message->dgid, 16);
}

/* A type 1 window is unbound by its owner alone (IBTA 10.6.7.2.2). */
bool RULE(invalidable)(const struct qp *qp, uint32_t value, struct key **key) {
    return !key_claim(qp->attr.pd, qp->number, value, 0, key) &&
           ((*key)->remote_invalidate || ((*key)->type == KEY_MW && (*key)->mw_type == 2));
}

/* Puts what was sent where it belongs. *source: it could not be read, which is the requester's own
 * error. */
static enum violation take_in(struct transfer *to, struct message *message, bool *source) {
    *source = false;
    if (message->unread && transfer_joins(message->unread, to))
        return transfer_join(message->unread, to, source);
    *source = !message_gather(message);
    return *source ? BAD_MEMORY : transfer_absorb(to, message->payload);
}

/* Of RC alone: there a message of no bytes can follow, so that a program can know. */
static void come_late(struct qp *qp) {
    if (personality()->late_us && qp->attr.type == QP_RC) theirs.late = qp;
}

static void respond_send(struct qp *qp, struct message *message, struct answer *answer) {
    static struct receive receive;
    bool datagram = qp->attr.type == QP_UD;
    uint64_t length = message->payload_length + (datagram ? GRH_BYTES : 0);
    uint8_t with_grh[GRH_BYTES + 4096];
    struct key *invalid = NULL;
    bool source = false;
    if (!receive_wanted(qp, &receive, answer)) return;
    if (length > receive.length || (datagram && length > sizeof with_grh)) {
        receive_fail(qp, &receive, CQE_LOCAL_LENGTH, CQE_REMOTE_INVALID_REQUEST, answer);
        return;
    }
    transfer_begin(&theirs, qp->attr.pd, qp->number, passive_cq(qp));
    come_late(qp);
    if (transfer_add_segs(&theirs, receive.seg, receive.segs, length, true)) {
        receive_fail(qp, &receive, CQE_LOCAL_PROTECTION, CQE_REMOTE_OPERATION, answer);
        return;
    }
    if (message->opcode == OPCODE_SEND_INVAL && !invalidable(qp, message->imm, &invalid)) {
        receive_fail(qp, &receive, CQE_LOCAL_PROTECTION, CQE_REMOTE_INVALID_REQUEST, answer);
        return;
    }
    if (datagram) {
        grh_encode(message, with_grh);
        if (message->payload_length)
            memcpy(with_grh + GRH_BYTES, message->payload, message->payload_length);
    }
    if (datagram ? transfer_absorb(&theirs, with_grh) : take_in(&theirs, message, &source)) {
        if (source) refuse(answer, CQE_LOCAL_PROTECTION);
        else receive_fail(qp, &receive, CQE_LOCAL_PROTECTION, CQE_REMOTE_OPERATION, answer);
        return;
    }
    if (invalid) key_invalidate(invalid);
    uint8_t opcode = message->opcode == OPCODE_SEND_IMM     ? CQE_SEND_IMM
                     : message->opcode == OPCODE_SEND_INVAL ? CQE_SEND_INV
                                                            : CQE_SEND;
    receive_complete(qp, &receive, message, opcode, length);
}

enum violation RULE(write_in)(struct transfer *to, struct message *message, bool *source) {
    enum violation bad = transfer_add(to, message->rkey, message->raddr, message->payload_length,
                                      RIGHT_REMOTE_WRITE, true);
    return bad ? bad : take_in(to, message, source);
}

static void respond_write(struct qp *qp, struct message *message, struct answer *answer) {
    static struct receive receive;
    bool immediate = message->opcode == OPCODE_RDMA_WRITE_IMM, source = false;
    if (!(access_of(qp) & ACCESS_WRITE)) {
        deny(qp, answer, CQE_REMOTE_ACCESS);
        return;
    }
    if (immediate && !receive_wanted(qp, &receive, answer)) return;
    transfer_begin(&theirs, qp->attr.pd, qp->number, passive_cq(qp));
    come_late(qp);
    /* A write of no bytes needs no key (IBTA 9.7.4.1.5). */
    if (message->payload_length && write_in(&theirs, message, &source)) {
        if (source) refuse(answer, CQE_LOCAL_PROTECTION);
        else deny(qp, answer, CQE_REMOTE_ACCESS);
        return;
    }
    if (immediate) receive_complete(qp, &receive, message, CQE_WRITE_IMM, message->payload_length);
}

static void respond_read(struct qp *qp, const struct message *message, struct answer *answer) {
    if (!(access_of(qp) & ACCESS_READ)) {
        deny(qp, answer, CQE_REMOTE_ACCESS);
        return;
    }
    if (!message->length) return;
    transfer_begin(&theirs, qp->attr.pd, qp->number, passive_cq(qp));
    enum violation bad = transfer_add(&theirs, message->rkey, message->raddr, message->length,
                                      RIGHT_REMOTE_READ, false);
    if (!bad && answer->room && transfer_is_plain(&theirs)) answer->data = answer->room;
    else if (!bad && !(answer->data = bytes_new(message->length))) {
        deny(qp, answer, CQE_REMOTE_OPERATION);
        return;
    }
    if (bad || transfer_emit(&theirs, answer->data)) {
        deny(qp, answer, CQE_REMOTE_ACCESS);
        return;
    }
    answer->length = message->length;
}

/* 8 bytes of host order, aligned; signatures have no part in it. */
void RULE(respond_atomic)(struct qp *qp, const struct message *message, struct answer *answer) {
    struct key *key;
    uint64_t old, new;
    if (!(access_of(qp) & ACCESS_ATOMIC)) {
        deny(qp, answer, CQE_REMOTE_ACCESS);
        return;
    }
    if (message->raddr & 7) {
        deny(qp, answer, CQE_REMOTE_INVALID_REQUEST);
        return;
    }
    transfer_begin(&theirs, qp->attr.pd, qp->number, NULL);
    if (key_claim(qp->attr.pd, qp->number, message->rkey, RIGHT_ATOMIC, &key) ||
        key_reach(key, message->raddr, 8, true, &theirs.reach) ||
        !memory_gather(theirs.reach.piece, theirs.reach.pieces, (uint8_t *)&old)) {
        deny(qp, answer, CQE_REMOTE_ACCESS);
        return;
    }
    if (message->opcode == OPCODE_ATOMIC_FA) new = old + message->swap_add;
    else new = old == message->compare ? message->swap_add : old;
    if (!memory_scatter(theirs.reach.piece, theirs.reach.pieces, (uint8_t *)&new)) {
        deny(qp, answer, CQE_REMOTE_ACCESS);
        return;
    }
    if (!(answer->data = bytes_new(8))) {
        deny(qp, answer, CQE_REMOTE_OPERATION);
        return;
    }
    memcpy(answer->data, &old, 8);
    answer->length = 8;
}

void respond_ask(const struct message *message, struct answer *answer) {
    static struct receive receive;
    struct qp *qp = qp_find(message->destination);
    if (!qp || !addressed(qp, message)) answer->verdict = VERDICT_SILENCE;
    else if (receive_peek(qp, &receive) == FETCH_NONE)
        answer->verdict = VERDICT_RNR, answer->rnr_timer = qp->set.min_rnr_timer;
    else answer->verdict = VERDICT_READY;
}

void RULE(respond)(struct message *message, struct answer *answer) {
    struct qp *qp = qp_find(message->destination);
    if (!qp || !addressed(qp, message)) {
        answer->verdict = VERDICT_SILENCE;
        return;
    }
    answer->verdict = VERDICT_ACK;
    if (message->opcode == OPCODE_RDMA_READ || message->opcode == OPCODE_ATOMIC_CS ||
        message->opcode == OPCODE_ATOMIC_FA)
        late_unload(qp);
    switch (message->opcode) {
    case OPCODE_SEND:
    case OPCODE_SEND_IMM:
    case OPCODE_SEND_INVAL: respond_send(qp, message, answer); break;
    case OPCODE_RDMA_WRITE:
    case OPCODE_RDMA_WRITE_IMM: respond_write(qp, message, answer); break;
    case OPCODE_RDMA_READ:
        if (reliable(qp)) respond_read(qp, message, answer);
        break;
    case OPCODE_ATOMIC_CS:
    case OPCODE_ATOMIC_FA:
        if (reliable(qp)) respond_atomic(qp, message, answer);
        break;
    default: refuse(answer, CQE_REMOTE_INVALID_REQUEST); break;
    }
}
