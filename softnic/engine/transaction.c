/* Transaction signatures: one field after all the data of a key. The sum goes on in a PSV, so that
 * a signature may run over several keys: the first begins it, the last has the field. The field is
 * in the wire's stream, in the memory's, or in both.
 *
 *   wire     data (raw_data_size bytes), field          the stream that lengths and offsets of the
 * key count memory   data, field                                in the order of the key's layout
 */
#include <string.h>

#include "engine.h"
#include "pure/crc.h"
#include "pure/field.h"

static unsigned field_size(const struct bsf *sig, enum domain which) {
    return sig->transaction[which].field_follows ? sig->transaction[which].field : 0;
}

bool transaction_span(const struct bsf *sig, uint64_t start, uint64_t length, struct span *out) {
    uint64_t size = sig->raw_size, end = start + length, wire = field_size(sig, DOMAIN_WIRE);
    if (end < start || start > size || end > size + wire || (end > size && end != size + wire))
        return false;
    out->memory_start = start;
    out->memory = out->raw = (end < size ? end : size) - start;
    if (end == size + wire) out->memory += field_size(sig, DOMAIN_MEMORY);
    return true;
}

/* A field of 4 bytes is the upper half of a PSV's value. */
static uint64_t psv_value(const struct transaction *transaction, uint64_t state) {
    return transaction->field == 8 ? state : state << 32;
}
static uint64_t psv_state(const struct transaction *transaction, uint64_t value) {
    return transaction->field == 8 ? value : value >> 32;
}

bool transaction_ready(const struct key *key) {
    for (int which = 0; which < 2; which++) {
        const struct transaction *transaction = &key->sig->transaction[which];
        if (transaction->kind == SIGNATURE_NONE) continue;
        const struct psv *psv = psv_find(transaction->psv);
        if (!psv || psv->pd != key->pd) return false;
    }
    return true;
}

static struct signature_domain as_domain(const struct transaction *transaction) {
    return (struct signature_domain){
        .kind = transaction->kind, .field = transaction->field, .ones = transaction->ones};
}

/* The sum with these bytes, which are the key's from `start` on; kept in the PSV. */
static struct field_sum sum_on(const struct transaction *transaction, uint64_t start,
                               const uint8_t *raw, uint64_t length) {
    struct signature_domain domain = as_domain(transaction);
    struct psv *psv = psv_find(transaction->psv);
    struct field_sum sum;
    field_start(&sum, &domain);
    if (psv && !(transaction->init && !start)) sum.crc = psv_state(transaction, psv->transient);
    field_update(&sum, raw, length);
    if (psv) psv->transient = psv_value(transaction, sum.crc);
    return sum;
}

/* The incoming stream of a domain: its sum goes on, and the field at its end, if it is there, is
 * compared. */
static void take(const struct bsf *sig, enum domain which, uint64_t start, const uint8_t *stream,
                 uint64_t raw, bool field, struct sigerr *error) {
    const struct transaction *transaction = &sig->transaction[which];
    struct signature_domain domain = as_domain(transaction);
    if (transaction->kind == SIGNATURE_NONE) return;
    struct field_sum sum = sum_on(transaction, start, stream, raw);
    if (!field) return;
    error->syndrome = field_check(&sum, &domain, 0, sig->check_mask, stream + raw, &error->expected,
                                  &error->actual);
    error->type = SIGNATURE_OF_TRANSACTION, error->domain = (uint8_t)which;
    error->offset = (uint64_t)sig->raw_size + transaction->field - 1;
}

static void make(const struct bsf *sig, enum domain which, uint64_t start, const uint8_t *raw,
                 uint64_t length, bool field, uint8_t *stream) {
    const struct transaction *transaction = &sig->transaction[which];
    struct signature_domain domain = as_domain(transaction);
    memmove(stream, raw, length);
    if (transaction->kind == SIGNATURE_NONE) return;
    struct field_sum sum = sum_on(transaction, start, raw, length);
    if (field) field_generate(&sum, &domain, 0, stream + length);
}

void transaction_transmit(const struct bsf *sig, const struct place *place, const uint8_t *memory,
                          uint8_t *wire, struct sigerr *error) {
    take(sig, DOMAIN_MEMORY, place->start, memory, place->raw, place->memory > place->raw, error);
    make(sig, DOMAIN_WIRE, place->start, memory, place->raw, place->wire > place->raw, wire);
}

void transaction_receive(const struct bsf *sig, const struct place *place, const uint8_t *wire,
                         uint8_t *memory, struct sigerr *error) {
    take(sig, DOMAIN_WIRE, place->start, wire, place->raw, place->wire > place->raw, error);
    make(sig, DOMAIN_MEMORY, place->start, wire, place->raw, place->memory > place->raw, memory);
}
