/* Completion queues: a ring in the application's memory which only we write, and a doorbell record
 * which only the application writes.
 *
 * The application arms a CQ by storing a word; we take it back to UNARMED when the event is sent.
 * The word of the very first arming is 0, as the memory was before: so creation stores UNARMED. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "pure/bits.h"

enum { UNARMED = 0xffffffff, ONLY_SOLICITED = 1 << 24, INDEX = 0xffffff };

int cq_create(struct context *context, const struct cq_attr *attr, struct cq **out) {
    struct cq *cq = calloc(1, sizeof *cq);
    static const uint8_t unarmed[4] = {0xff, 0xff, 0xff, 0xff};
    if (!cq) return ENOMEM;
    int error = table_add(&nic.cqs, cq, &cq->number);
    if (error) {
        free(cq);
        return error;
    }
    cq->attr = *attr;
    memory_write(attr->db + 4, unarmed, sizeof unarmed);
    object_link(&cq->object, KIND_CQ, context);
    *out = cq;
    return 0;
}

int cq_destroy(struct cq *cq, uint32_t *comp_events, uint32_t *async_events) {
    if (cq->object.users) return EBUSY;
    *comp_events = cq->comp_events - event_retract(cq->attr.channel, cq->attr.user_handle);
    *async_events = cq->async_events -
                    event_retract(cq->attr.async ? cq->attr.async : cq->object.context->async,
                                  cq->attr.user_handle);
    late_drop(cq);
    table_remove(&nic.cqs, cq->number);
    object_unlink(&cq->object);
    free(cq);
    return 0;
}

static void break_down(struct cq *cq) {
    cq->error = true;
    if (event_async(cq->object.context, cq->attr.async, cq->attr.user_handle, EVENT_CQ_ERR))
        cq->async_events++;
}

static bool ring_full(struct cq *cq) {
    uint8_t word[4];
    if (cq->attr.ignore_overrun || ((cq->producer - cq->consumer) & INDEX) < cq->attr.entries)
        return false;
    if (!memory_read(cq->attr.db, word, sizeof word)) return true;
    cq->consumer = load_be32(word);
    return ((cq->producer - cq->consumer) & INDEX) >= cq->attr.entries;
}

/* Fires if the word `armed` asks for it and there is something to tell: a CQE that the application
 * had not consumed when it armed, and that came after the last event. (One per CQE is what perftest
 * -e counts on, which arms before it polls.) */
static void fire(struct cq *cq, uint32_t armed) {
    static const uint8_t unarmed[4] = {0xff, 0xff, 0xff, 0xff};
    if (armed == UNARMED) return;
    uint32_t untold = (cq->producer - armed) & INDEX, since = cq->producer - cq->told;
    if (since < untold) untold = since;
    if (!untold || ((armed & ONLY_SOLICITED) && cq->producer - cq->solicited >= untold)) return;
    if (!memory_write(cq->attr.db + 4, unarmed, sizeof unarmed)) return;
    cq->told = cq->producer;
    event_completion(cq);
}

void cq_post(struct cq *cq, struct cqe *cqe, bool solicited) {
    if (late_hold(cq, cqe, solicited)) return;
    late_unload(NULL);
    cq_write(cq, cqe, solicited);
}

void cq_write(struct cq *cq, struct cqe *cqe, bool solicited) {
    uint8_t bytes[64], word[4];
    if (cq->error) return;
    if (ring_full(cq)) {
        break_down(cq);
        return;
    }
    cqe->owner = (cq->producer & cq->attr.entries) != 0;
    cqe->timestamp = now();
    cqe_encode(cqe, bytes);
    trace_cqe(cq, bytes);
    uint64_t at = cq->attr.buf +
                  (uint64_t)(cq->producer & (cq->attr.entries - 1)) * cq->attr.cqe_size +
                  (cq->attr.cqe_size - 64);
    if (!memory_write_then(at, bytes, sizeof bytes, 63)) {
        break_down(cq);
        return;
    }
    cq->producer++;
    if (solicited || cqe->opcode >= CQE_SIGNATURE_ERROR) cq->solicited = cq->producer;
    if (cq->attr.channel && memory_read(cq->attr.db + 4, word, sizeof word))
        fire(cq, load_be32(word));
}

int cq_resize(struct cq *cq, uint32_t entries, uint64_t buf) {
    struct cqe last = {.opcode = CQE_RESIZE};
    uint8_t word[4];
    if (!memory_read(cq->attr.db, word, sizeof word)) return EFAULT;
    cq->consumer = load_be32(word);
    late_settle(cq);
    uint32_t unread = (cq->producer - cq->consumer) & INDEX;
    if (cq->error || unread >= cq->attr.entries || unread + 1 > entries) return EINVAL;
    cq_write(cq, &last, false);
    if (cq->error) return EFAULT;
    cq->attr.entries = entries, cq->attr.buf = buf;
    return 0;
}

void cq_sigerr(struct cq *cq, uint32_t key, const struct sigerr *error) {
    struct cqe cqe = {.opcode = CQE_SIGNATURE_ERROR};
    cqe.signature.expected = error->expected;
    cqe.signature.actual = error->actual;
    cqe.signature.offset = error->offset;
    cqe.signature.syndrome = error->syndrome;
    cqe.signature.type = error->type;
    cqe.signature.domain = error->domain;
    cqe.signature.mkey = key;
    cq_post(cq, &cqe, false);
}

void cq_arm_words(void) {
    enum { ROUND = 256 };
    struct cq *cqs[ROUND];
    uint64_t addr[ROUND], word[ROUND];
    bool fine[ROUND];
    for (uint32_t number = nic.cqs.first; number < nic.cqs.used;) {
        size_t n = 0;
        for (; number < nic.cqs.used && n < ROUND; number++) {
            struct cq *cq = table_get(&nic.cqs, number);
            if (!cq || !cq->attr.channel || cq->error) continue;
            cqs[n] = cq, addr[n++] = cq->attr.db;
        }
        memory_read_each(addr, n, word, fine);
        for (size_t i = 0; i < n; i++)
            if (fine[i]) fire(cqs[i], load_be32((const uint8_t *)&word[i] + 4));
    }
}
