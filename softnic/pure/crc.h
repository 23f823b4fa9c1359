/* The four CRCs of block signatures, over data in any number of pieces.
 *
 *   register = crc_start(kind, ones); register = crc_update(kind, register, data, length); …;
 * crc_store(kind, register, field);
 *
 * The register is private to this file: T10's is in the upper half of 32 bits. A field holds
 * the register after the final inversion (none for T10), in the byte order that makes data and
 * field one codeword.
 */
#ifndef SOFTNIC_PURE_CRC_H
#define SOFTNIC_PURE_CRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum crc_kind {
    CRC_T10,   /* 0x8bb7, not reflected, big endian */
    CRC_FC_PH, /* mlx5's "CRC32": 0x04c11db7, not reflected, inverted, big endian. Not zlib's. */
    CRC_CASTAGNOLI, /* CRC32C: 0x1edc6f41, reflected, inverted, little endian */
    CRC_XP10,       /* CRC64_XP10: 0xad93d23594c93659, reflected, inverted, little endian */
};

uint64_t crc_start(enum crc_kind kind, bool ones); /* the seed: all ones, else 0 */
uint64_t crc_update(enum crc_kind kind, uint64_t state, const void *data, size_t length);
/* by tables, on any processor */
uint64_t crc_update_portable(enum crc_kind kind, uint64_t state, const void *data, size_t length);
/* The same while the data is copied: each byte is read once, so what is written is what was summed.
 * They do not overlap. */
uint64_t crc_copy(enum crc_kind kind, uint64_t state, void *to, const void *data, size_t length);
uint64_t crc_value(enum crc_kind kind, uint64_t state); /* the finished number */
unsigned crc_size(enum crc_kind kind);                  /* bytes in memory: 2, 4, 4, 8 */
void crc_store(enum crc_kind kind, uint64_t state, uint8_t *field);

#endif
