/* The UMR work request: what is to be changed of an mkey. Nothing outside the given bytes is read.
 */
#ifndef SOFTNIC_PURE_UMR_H
#define SOFTNIC_PURE_UMR_H

#include "pure/wqe.h"

/* mkey_mask: which members are to be changed. */
#define UMR_MASK_LEN (1ull << 0)
#define UMR_MASK_PAGE_SIZE (1ull << 1)
#define UMR_MASK_START_ADDR (1ull << 6)
#define UMR_MASK_PD (1ull << 7)
#define UMR_MASK_EN_RINVAL (1ull << 8)
#define UMR_MASK_SIGERR (1ull << 9)
#define UMR_MASK_BSF_ENABLE (1ull << 12)
#define UMR_MASK_KEY (1ull << 13) /* the tag, mkey[7:0] */
#define UMR_MASK_QPN (1ull << 14)
#define UMR_MASK_LOCAL_READ (1ull << 17)
#define UMR_MASK_LOCAL_WRITE (1ull << 18)
#define UMR_MASK_REMOTE_READ (1ull << 19)
#define UMR_MASK_REMOTE_WRITE (1ull << 20)
#define UMR_MASK_ATOMIC (1ull << 21)
/* What an access setter of mlx5dv names. */
#define UMR_MASK_ACCESS \
    (UMR_MASK_LOCAL_WRITE | UMR_MASK_REMOTE_READ | UMR_MASK_REMOTE_WRITE | UMR_MASK_ATOMIC)
#define UMR_MASK_SMALL_FENCE (1ull << 23)
#define UMR_MASK_RO_WRITE (1ull << 25) /* relaxed ordering */
#define UMR_MASK_FREE (1ull << 29)
#define UMR_MASK_RO_READ (1ull << 47)
const char *umr_mask_name(unsigned bit); /* NULL if the bit has no name */

/* access */
enum {
    UMR_LOCAL_READ = 0x04,
    UMR_LOCAL_WRITE = 0x08,
    UMR_REMOTE_READ = 0x10,
    UMR_REMOTE_WRITE = 0x20,
    UMR_ATOMIC = 0x40
};

struct umr {
    uint32_t mkey; /* the ctrl's immediate */
    /* UMR ctrl */
    uint8_t flags;
    /* check_free: the mkey must be free; check_qpn: it must be this QP's */
    bool inline_, check_free, check_qpn, has_offset;
    uint16_t klm_octowords, bsf_octowords; /* in 16 bytes; with has_offset there is no BSF */
    uint64_t offset; /* in 16 bytes, 48 bits: where in the mkey's translation the entries go */
    uint64_t mask;
    /* mkey context; only what the mask names may be applied */
    bool free, bsf_enable, sigerr, en_rinval; /* sigerr: the low bit of the signature error count */
    uint8_t access, tag, log_entity_size;
    uint32_t qpn, pd, flags_pd;
    uint64_t start, length;
    /* what follows */
    /* inline: klm_octowords * 16 and bsf_octowords * 16 bytes; NULL: none, or not inline */
    const uint8_t *translation, *bsf;
    bool has_pointer; /* not inline: where both lie in memory, the BSF after the translation */
    uint32_t pointer_key;
    uint64_t pointer_addr;
};
/* The whole WQE, ctrl included. False if it is cut off, or no UMR. */
bool umr_decode(const uint8_t *wqe, size_t len, struct umr *out);

/* The translation: a list, or a repeat block with strided entries. */
struct translation {
    bool strided;
    unsigned entries;                  /* a list: with its padding of zeros at the end left off */
    uint32_t bytes_per_repeat, repeat; /* strided */
    const uint8_t *first;
};
/* stride: 0 in lists */
struct translation_entry {
    uint16_t stride;
    uint32_t length, key;
    uint64_t addr;
};
/* False if a repeat block counts more entries than there are, or len is not a multiple of 16. */
bool translation_decode(const uint8_t *bytes, size_t len, struct translation *out);
struct translation_entry translation_at(const struct translation *translation, unsigned i);
/* One entry of 16 bytes each: of a list, a repeat block's header, of a repeat block. */
void translation_encode_klm(uint32_t length, uint32_t key, uint64_t addr, uint8_t *to);
void translation_encode_repeat(uint32_t bytes_per_repeat, uint32_t repeat, uint16_t entries,
                               uint8_t *to);
void translation_encode_stride(uint16_t stride, uint16_t length, uint32_t key, uint64_t addr,
                               uint8_t *to);

#endif
