/* T10-DIF: the tuple after a block, its escapes, and the checksum that may stand for the CRC guard
 * (T10 SBC, RFC 1071). */
#ifndef SOFTNIC_PURE_DIF_H
#define SOFTNIC_PURE_DIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dif_tuple {
    uint16_t guard, app;
    uint32_t ref;
};

/* as in the BSF's inline part */
enum { DIF_INC_REF = 0x40, DIF_APP_ESCAPE = 1, DIF_APP_REF_ESCAPE = 2 };

struct dif_tuple dif_decode(const uint8_t field[8]);
void dif_encode(const struct dif_tuple *tuple, uint8_t field[8]);
/* Whether a received tuple tells that its block is not to be checked at all: guard, app tag and ref
 * tag. */
bool dif_escaped(const struct dif_tuple *received, uint8_t flags);

/* Ones' complement sum of big-endian words, over data in any number of pieces, of odd length too.
 */
struct checksum {
    uint32_t sum;
    bool odd;
};
struct checksum checksum_start(bool ones); /* the sum starts from 0xffff, else 0 */
void checksum_update(struct checksum *state, const void *data, size_t length);
uint16_t checksum_value(const struct checksum *state); /* folded and inverted: what a guard holds */

#endif
