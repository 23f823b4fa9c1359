/* Faults of T10-DIF: escapes and the checksum guard. */
#include "pure/dif.h"

#include "faults/fault.h"
#include "pure/bits.h"

REPLACES(dif_escaped);
REPLACES(checksum_update);
REPLACES(checksum_value);

static bool app_is_escape(uint16_t app) {
    if (fault(app_escape_high_byte)) return app >> 8 == 0xff;
    if (fault(app_escape_low_byte)) return (app & 0xff) == 0xff;
    if (fault(app_escape_off_by_one)) return app == 0xfffe;
    return app == 0xffff;
}

bool dif_escaped(const struct dif_tuple *received, uint8_t flags) {
    bool app_is = received->app == 0xffff, ref_is = received->ref == 0xffffffff;
    if (fault(escape_flags_swapped) && (flags & 3) % 3)
        flags ^= DIF_APP_ESCAPE | DIF_APP_REF_ESCAPE;
    if (fault(app_escape_ignored)) flags &= (uint8_t)~DIF_APP_ESCAPE;
    if (fault(escape_without_flag) && app_is) return true;
    if (flags & DIF_APP_REF_ESCAPE) {
        if (fault(app_ref_escape_ignored)) return false;
        if (fault(app_ref_escape_app_only)) return app_is;
        if (fault(app_ref_escape_ref_only)) return ref_is;
        if (fault(app_ref_escape_half_ref)) return app_is && (uint16_t)received->ref == 0xffff;
        return right_dif_escaped(received, flags);
    }
    return flags & DIF_APP_ESCAPE && app_is_escape(received->app);
}

/* The sum of the words, where a carry is lost. */
static void sum_without_carry(struct checksum *state, const uint8_t *p, size_t length) {
    for (; length; p++, length--, state->odd = !state->odd)
        state->sum = (state->sum + (state->odd ? *p : (uint32_t)*p << 8)) & 0xffff;
}

void checksum_update(struct checksum *state, const void *data, size_t length) {
    if (fault(csum_without_carry)) sum_without_carry(state, data, length);
    else right_checksum_update(state, data, length);
}

uint16_t checksum_value(const struct checksum *state) {
    if (fault(csum_not_inverted)) return (uint16_t)state->sum;
    return right_checksum_value(state);
}
