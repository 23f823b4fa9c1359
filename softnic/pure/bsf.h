/* The byte stream format of an mkey: how its signature and its encryption are done. */
#ifndef SOFTNIC_PURE_BSF_H
#define SOFTNIC_PURE_BSF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum signature_kind {
    SIGNATURE_NONE,
    SIGNATURE_DIF_CRC,
    SIGNATURE_DIF_CSUM,
    SIGNATURE_CRC32,
    SIGNATURE_CRC32C,
    SIGNATURE_CRC64_XP10
};

struct signature_domain {
    enum signature_kind kind; /* SIGNATURE_NONE: no signature in this domain */
    uint8_t block_selector;   /* 1 512, 2 520, 3 4096, 4 4160, 6 4048; 0 none */
    uint16_t block;           /* bytes of data in a block; 0 none */
    uint8_t field;            /* bytes of signature after it: 8 or 4; 0 none */
    uint8_t bfs;              /* block format selector as written */
    bool ones;                /* the seed (of the checksum: where the sum starts) is all ones */
    bool repeat;
    uint32_t psv; /* 24 bits */
    /* T10-DIF */
    bool refresh;
    uint16_t app_tag, app_mask;
    uint32_t ref_tag;
    uint8_t dif_flags; /* DIF_* of dif.h */
};

/* One signature over all of a domain's data, in a field after it. Its value goes on in a PSV from
 * one key to the next. */
struct transaction {
    enum signature_kind kind; /* SIGNATURE_NONE: none in this domain */
    uint8_t field;            /* bytes of the field */
    bool ones;                /* where the sum begins: all ones, else 0 */
    bool init;                /* it begins at the first byte of the key; else where the PSV is */
    bool field_follows;       /* checked, or generated; else the sum only goes on */
    uint32_t psv;             /* 24 bits */
};

struct bsf {
    bool present;
    uint8_t size;                  /* as written: 2, or 3 with a crypto part after */
    bool sbs;                      /* both domains have one structure: copy_mask counts */
    uint8_t check_mask, copy_mask; /* bit 7: the first byte of a field. copy_mask is 0 unless sbs */
    uint32_t raw_size;
    struct signature_domain domain[2]; /* 0 wire, 1 memory: as in the error CQE */
    struct transaction transaction[2]; /* the same domains; bsf_size 1 and more */
    bool transactional;                /* any of both */
};

enum { CRYPTO_WIRE_OUTSIDE, CRYPTO_MEMORY_OUTSIDE, CRYPTO_WIRE_RAW, CRYPTO_MEMORY_RAW };
struct crypto_bsf {
    bool present;
    /* CRYPTO_*: encrypted on the wire including its signature, in memory including it, raw data
     * … */
    uint8_t size, order;
    uint8_t standard; /* 0: AES-XTS */
    uint32_t raw_size;
    uint8_t block_selector;
    uint16_t block;    /* bytes of a data unit; 0: the selector is 0 */
    uint8_t tweak[16]; /* as written; xts.h: which of both ends counts up */
    uint32_t dek;      /* 24 bits */
    uint8_t keytag[8];
};

/* 64 or 128 bytes: a signature part, a crypto part, or both in any order; either may come back with
 * present == false. False if the length, a selector or a type has no meaning, or a part is there
 * twice; then neither is present. */
bool bsf_decode(const uint8_t *bsf, size_t len, struct bsf *signature, struct crypto_bsf *crypto);
/* Data bytes of a block for a BSF block selector; 0 if the selector has none. */
uint16_t bsf_block_bytes(uint8_t selector);
/* What guards a T10-DIF block: the inline part's type, 1 CRC, 2 checksum; SIGNATURE_NONE for any
 * other. */
enum signature_kind bsf_guard_kind(uint8_t type);

#endif
