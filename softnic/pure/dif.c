#include "pure/dif.h"

#include "pure/bits.h"
#include "pure/rule.h"

struct dif_tuple dif_decode(const uint8_t field[8]) {
    return (struct dif_tuple){load_be16(field), load_be16(field + 2), load_be32(field + 4)};
}

void dif_encode(const struct dif_tuple *tuple, uint8_t field[8]) {
    store_be16(field, tuple->guard);
    store_be16(field + 2, tuple->app);
    store_be32(field + 4, tuple->ref);
}

/* With both flags the stronger condition counts: the driver writes only APP_REF_ESCAPE then, but a
 * raw BSF may hold both. */
bool RULE(dif_escaped)(const struct dif_tuple *received, uint8_t flags) {
    if (flags & DIF_APP_REF_ESCAPE) return received->app == 0xffff && received->ref == 0xffffffff;
    return flags & DIF_APP_ESCAPE && received->app == 0xffff;
}

struct checksum checksum_start(bool ones) { return (struct checksum){ones ? 0xffff : 0, false}; }

void RULE(checksum_update)(struct checksum *state, const void *data, size_t length) {
    const uint8_t *p = data;
    uint64_t sum = state->sum;
    /* the lower half of a word whose upper half the last piece ended with */
    if (length && state->odd) {
        sum += *p++;
        length--;
        state->odd = false;
    }
    /* 2^16 is 1 modulo 0xffff, so words may be added two at a time and folded in the end; 2^32 such
     * steps can't overflow. */
    while (length >= 4) {
        size_t steps = length / 4 < 1u << 30 ? length / 4 : 1u << 30;
        for (size_t i = 0; i < steps; i++) sum += load_be32(p + 4 * i);
        p += 4 * steps;
        length -= 4 * steps;
        sum = (sum & 0xffffffff) + (sum >> 32);
    }
    for (; length >= 2; p += 2, length -= 2) sum += load_be16(p);
    if (length) {
        sum += (uint32_t)*p << 8;
        state->odd = true;
    }
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    state->sum = (uint32_t)sum;
}

uint16_t RULE(checksum_value)(const struct checksum *state) { return (uint16_t)~state->sum; }
