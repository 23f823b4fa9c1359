/* Faults of encryption keys: what a query says of one. */
#include <string.h>

#include "engine/nic.h"
#include "faults/fault.h"

REPLACES(dek_answer);

void dek_answer(const struct dek *dek, uint8_t *state, uint8_t opaque[8]) {
    const struct dek *other = dek;
    if (fault(dek_opaque_shared))
        for (const struct dek *next; (next = dek_find(other->number + 1));) other = next;
    right_dek_answer(other, state, opaque);
    if (fault(dek_state_error)) *state = 1;
    if (fault(dek_opaque_lost)) memset(opaque, 0, 8);
    if (fault(dek_opaque_reversed))
        for (int i = 0; i < 4; i++) {
            uint8_t byte = opaque[i];
            opaque[i] = opaque[7 - i];
            opaque[7 - i] = byte;
        }
}
