/* CRCs by carry-less multiplication: a long piece of data folded into 16 bytes that give the same
 * register. */
#ifndef SOFTNIC_PURE_CRC_FOLD_H
#define SOFTNIC_PURE_CRC_FOLD_H

#include "pure/crc.h"

enum { CRC_FOLD_LEAST = 128 }; /* bytes from which it is worth it; not less than 64 */
bool crc_folds(void);          /* this processor has the instructions */
/* All of the data but its last length % 16 bytes, with the register `state` in front of it: `out`,
 * taken in by a register of zeros, leaves what the data would. What is folded is written to `to` as
 * well (NULL: nowhere). Length: at least 64. `slim`: not by the widest registers there are. Returns
 * the bytes that were folded. */
size_t crc_fold(enum crc_kind kind, uint64_t state, const uint8_t *data, uint8_t *to, size_t length,
                bool slim, uint8_t out[16]);

#endif
