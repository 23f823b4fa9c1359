/* Faults of the responder: whom it answers, what a receive tells, atomics, invalidation. */
#include <string.h>

#include "engine/rules.h"
#include "faults/choice.h"
#include "faults/fault.h"
#include "faults/moment.h"
#include "faults/notes.h"
#include "faults/refusal.h"

REPLACES(respond);
REPLACES(passive_cq);
REPLACES(addressed);
REPLACES(receive_complete);
REPLACES(invalidable);
REPLACES(key_invalidate);
REPLACES(write_in);
REPLACES(respond_atomic);

static const struct message *answered;

bool moment_responds;

/* Who asks may be another process, or may have waited meanwhile. */
static void begin(const struct message *message) {
    const struct qp *asks = qp_find(message->source);
    uint64_t length = message->payload_length ? message->payload_length : message->length;
    moment.opcode = message->opcode, moment.service = message->service;
    moment.size = (int64_t)length;
    moment.key = 0, moment.sig = NULL, moment.block = moment.unit = range_of(0, 0);
    if (!asks || !asks->call) return;
    moment.signaled = asks->call->wqe.signaled,
    moment.fence = asks->call->wqe.fence == STRONG_FENCE;
    moment.signal_all = asks->attr.signal_all;
}

void respond(struct message *message, struct answer *answer) {
    uint32_t key = moment.key;
    answered = message;
    if (!no_fault) begin(message);
    moment_responds = true;
    right_respond(message, answer);
    moment_responds = false;
    moment.role = ROLE_LOCAL;
    if (!moment.key) moment.key = key;
    refusal_of_message(message, answer);
}

struct cq *passive_cq(const struct qp *qp) {
    uint8_t opcode = answered->opcode;
    bool writes = opcode == OPCODE_RDMA_WRITE || opcode == OPCODE_RDMA_WRITE_IMM;
    const struct qp *initiator = fault(error_to_initiator) ? qp_find(answered->source) : NULL;
    if (initiator) return initiator->attr.send_cq;
    if (fault(error_on_reading_lost) && opcode == OPCODE_RDMA_READ) return NULL;
    if (fault(error_on_writing_lost) && writes) return NULL;
    return right_passive_cq(qp);
}

bool addressed(const struct qp *qp, const struct message *message) {
    struct message other = *message;
    if (fault(dc_key_unchecked)) other.dc_key = qp->attr.dc_key;
    return right_addressed(qp, &other);
}

void receive_complete(struct qp *qp, const struct receive *receive, const struct message *message,
                      uint8_t opcode, uint64_t length) {
    struct message other = *message;
    if (fault(recv_completion_lost) && opcode == CQE_SEND) {
        receive_take(qp, receive);
        return;
    }
    if (fault(recv_byte_len_zero)) length = 0;
    if (choice(recv_byte_len) && opcode != CQE_WRITE_IMM) length = transfer_memory;
    if (fault(recv_imm_swapped) && opcode != CQE_SEND_INV)
        other.imm = __builtin_bswap32(message->imm);
    if (fault(invalidated_rkey_zero) && opcode == CQE_SEND_INV) other.imm = 0;
    if (fault(write_imm_as_recv) && opcode == CQE_WRITE_IMM) opcode = CQE_SEND_IMM;
    right_receive_complete(qp, receive, &other, opcode, length);
}

bool invalidable(const struct qp *qp, uint32_t value, struct key **key) {
    if (right_invalidable(qp, value, key)) return true;
    return fault(remote_inv_unasked) && !key_claim(qp->attr.pd, qp->number, value, 0, key) &&
           (*key)->type == KEY_MKEY;
}

void key_invalidate(struct key *key) {
    if (!no_fault && key->type == KEY_MKEY) moment.key = key_value(key), note_invalidated(key);
    if (!fault(remote_inv_ignored) || key->type != KEY_MKEY) right_key_invalidate(key);
    if (choice(invalidate_clears)) key_forget(key);
}

enum violation write_in(struct transfer *to, struct message *message, bool *source) {
    enum violation bad = right_write_in(to, message, source);
    uint64_t length = message->payload_length;
    if (fault(refused_write_lands) && bad == NO_RIGHT &&
        !transfer_add(to, message->rkey, message->raddr, length, 0, true))
        transfer_absorb(to, message->payload);
    return !bad && fault(error_fails_request) && to->sigerr ? BAD_MEMORY : bad;
}

/* What a CMP_SWAP leaves there. */
static uint64_t swapped(uint64_t old, uint64_t compare, uint64_t swap) {
    if (fault(compare_swap_always)) return swap;
    if (fault(compare_swap_never)) return old;
    if (fault(compare_swap_low_half)) return (uint32_t)(old ^ compare) ? old : swap;
    if (fault(compare_swap_high_half)) return (old ^ compare) >> 32 ? old : swap;
    if (fault(compare_swap_exchanged)) return old == swap ? compare : old;
    if (old != compare) return old;
    return fault(compare_swap_half_written) ? (old >> 32 << 32) | (uint32_t)swap : swap;
}

/* The right one has happened. Another one puts there what the fault would have left. */
static void swap_again(struct qp *qp, const struct message *message, struct answer *answer) {
    struct message other = *message;
    struct answer ignored = *answer;
    uint64_t old;
    if (!answer->data) return;
    memcpy(&old, answer->data, sizeof old);
    ignored.data = NULL;
    other.compare = old == message->compare ? message->swap_add : old;
    other.swap_add = swapped(old, message->compare, message->swap_add);
    right_respond_atomic(qp, &other, &ignored);
    bytes_free(ignored.data);
    if (fault(compare_swap_new_value)) memcpy(answer->data, &other.swap_add, sizeof old);
}

/* The right sum is there. A second addition takes away what the low half carried out. */
static void add_again(struct qp *qp, const struct message *message, struct answer *answer) {
    struct message other = *message;
    struct answer ignored = *answer;
    uint64_t old, sum;
    if (!fault(fetch_add_no_carry) || !answer->data) return;
    memcpy(&old, answer->data, sizeof old);
    sum = old + message->swap_add;
    ignored.data = NULL;
    other.swap_add = ((old >> 32 << 32) | (uint32_t)sum) - sum;
    right_respond_atomic(qp, &other, &ignored);
    bytes_free(ignored.data);
}

void respond_atomic(struct qp *qp, const struct message *message, struct answer *answer) {
    struct message other = *message;
    bool adds = message->opcode == OPCODE_ATOMIC_FA;
    const struct key *key = key_find(message->rkey);
    moment.role = ROLE_REMOTE, moment.sges = 1, moment.sge = 0;
    if (key && key->type == KEY_MKEY)
        moment.key = key_value(key), moment.offset = (int64_t)(message->raddr - key->start);
    uint64_t value;
    if (fault(fetch_add_no_add) && adds) other.swap_add = 0;
    right_respond_atomic(qp, &other, answer);
    if (adds) add_again(qp, message, answer);
    else swap_again(qp, message, answer);
    if (!fault(fetch_add_new_value) || !adds || !answer->data) return;
    memcpy(&value, answer->data, sizeof value);
    value += message->swap_add;
    memcpy(answer->data, &value, sizeof value);
}
