#include "pure/bsf.h"

#include "pure/bits.h"
#include "pure/rule.h"

/* Where things are in the 64 bytes of a signature part, and in those of a crypto part. */
enum {
    SIZE_TYPE = 0,
    CHECK_MASK = 1,
    WIRE_SELECTOR = 2,
    MEMORY_SELECTOR = 3,
    RAW_SIZE = 4,
    BFS_PSV = 8,
    TRANSACTION = 16,
    INLINE = 32
};
enum { ORDER = 1, STANDARD = 3, CRYPTO_SELECTOR = 8, TWEAK = 16, DEK = 32, KEYTAG = 40 };
enum {
    PART = 64,
    TYPE_SIGNATURE = 0,
    TYPE_CRYPTO = 1,
    SIZE_WITH_TRANSACTION = 1,
    SIZE_WITH_INLINE = 2
};

uint16_t RULE(bsf_block_bytes)(uint8_t selector) {
    static const uint16_t bytes[] = {[1] = 512, [2] = 520, [3] = 4096, [4] = 4160, [6] = 4048};
    return selector < sizeof bytes / sizeof *bytes ? bytes[selector] : 0;
}

enum signature_kind RULE(bsf_guard_kind)(uint8_t type) {
    switch (type) {
    case 1: return SIGNATURE_DIF_CRC;
    case 2: return SIGNATURE_DIF_CSUM;
    default: return SIGNATURE_NONE;
    }
}

static bool inline_decode(const uint8_t *p, struct signature_domain *out) {
    uint16_t valid = load_be16(p);
    if (!(valid & 0x8000)) return false;
    out->refresh = valid & 0x4000;
    out->app_tag = load_be16(p + 2);
    out->ref_tag = load_be32(p + 4);
    out->ones = p[9] & 0x08;
    out->repeat = p[9] & 0x80;
    out->dif_flags = p[13];
    out->app_mask = load_be16(p + 14);
    out->field = 8;
    out->kind = bsf_guard_kind(p[8]);
    return out->kind != SIGNATURE_NONE;
}

static bool domain_decode(const uint8_t *part, unsigned domain, uint8_t selector,
                          struct signature_domain *out) {
    uint32_t word = load_be32(part + BFS_PSV + 4 * domain);
    out->bfs = (uint8_t)(word >> 24);
    out->psv = word & 0xffffff;
    out->block_selector = selector;
    if (!selector) return true;
    out->block = bsf_block_bytes(selector);
    if (!out->block) return false;
    switch (out->bfs & 0xfc) {
    case 0x00:
        return !out->bfs && part[SIZE_TYPE] >> 6 >= SIZE_WITH_INLINE &&
               inline_decode(part + INLINE + 16 * domain, out);
    case 0x20: out->kind = SIGNATURE_CRC32; break;
    case 0x40: out->kind = SIGNATURE_CRC32C; break;
    case 0x50: out->kind = SIGNATURE_CRC64_XP10; break;
    default: return false;
    }
    out->field = out->kind == SIGNATURE_CRC64_XP10 ? 8 : 4;
    out->ones = !(out->bfs & 1); /* the bit says that the seed is 0 */
    out->repeat = out->bfs & 2;
    return true;
}

static bool transaction_decode(const uint8_t *part, unsigned domain, uint32_t bits,
                               struct transaction *out) {
    uint32_t word = load_be32(part + TRANSACTION + 8 + 4 * domain);
    uint8_t selector = (uint8_t)(word >> 24);
    out->field_follows = bits & 1;
    out->init = bits & 2;
    out->psv = word & 0xffffff;
    switch (selector & 0xfe) {
    case 0x00: return !selector && !bits;
    case 0x20: out->kind = SIGNATURE_CRC32; break;
    case 0x40: out->kind = SIGNATURE_CRC32C; break;
    case 0x50: out->kind = SIGNATURE_CRC64_XP10; break;
    default: return false;
    }
    out->field = out->kind == SIGNATURE_CRC64_XP10 ? 8 : 4;
    out->ones = !(selector & 1);
    return true;
}

/* The first word: init and check/generate of memory in bits 25 and 24, of the wire in 29 and 28;
 * below, the size of a prologue. The second: the size of an epilogue. Neither is done. */
static bool transactions_decode(const uint8_t *part, struct bsf *out) {
    uint32_t word = load_be32(part + TRANSACTION);
    if (out->size < SIZE_WITH_TRANSACTION) return true;
    if (word & 0xccffffff || load_be32(part + TRANSACTION + 4)) return false;
    if (!transaction_decode(part, 0, word >> 28 & 3, &out->transaction[0]) ||
        !transaction_decode(part, 1, word >> 24 & 3, &out->transaction[1]))
        return false;
    out->transactional =
        out->transaction[0].kind != SIGNATURE_NONE || out->transaction[1].kind != SIGNATURE_NONE;
    return true;
}

static bool signature_decode(const uint8_t *p, struct bsf *out) {
    out->present = true;
    out->size = p[SIZE_TYPE] >> 6;
    out->sbs = p[SIZE_TYPE] & 0x10;
    out->check_mask = p[CHECK_MASK];
    /* one byte for both: with sbs the wire's block size is the memory's */
    out->copy_mask = out->sbs ? p[WIRE_SELECTOR] : 0;
    out->raw_size = load_be32(p + RAW_SIZE);
    return transactions_decode(p, out) &&
           domain_decode(p, 0, p[out->sbs ? MEMORY_SELECTOR : WIRE_SELECTOR], &out->domain[0]) &&
           domain_decode(p, 1, p[MEMORY_SELECTOR], &out->domain[1]);
}

static bool crypto_decode(const uint8_t *p, struct crypto_bsf *out) {
    out->present = true;
    out->size = p[SIZE_TYPE] >> 6;
    out->order = p[ORDER];
    out->standard = p[STANDARD];
    out->raw_size = load_be32(p + RAW_SIZE);
    out->block_selector = p[CRYPTO_SELECTOR];
    out->block = bsf_block_bytes(out->block_selector);
    memcpy(out->tweak, p + TWEAK, sizeof out->tweak);
    out->dek = load_be32(p + DEK) & 0xffffff;
    memcpy(out->keytag, p + KEYTAG, sizeof out->keytag);
    return out->order <= CRYPTO_MEMORY_RAW && out->standard == 0 &&
           (out->block || !out->block_selector);
}

static bool parts_decode(const uint8_t *bsf, size_t len, struct bsf *signature,
                         struct crypto_bsf *crypto) {
    if (len != PART && len != 2 * PART) return false;
    for (const uint8_t *p = bsf; p < bsf + len; p += PART) {
        switch (p[SIZE_TYPE] & 0x0f) {
        case TYPE_SIGNATURE:
            if (signature->present || !signature_decode(p, signature)) return false;
            break;
        case TYPE_CRYPTO:
            if (crypto->present || !crypto_decode(p, crypto)) return false;
            break;
        default: return false;
        }
    }
    return true;
}

bool bsf_decode(const uint8_t *bsf, size_t len, struct bsf *signature, struct crypto_bsf *crypto) {
    memset(signature, 0, sizeof *signature);
    memset(crypto, 0, sizeof *crypto);
    if (parts_decode(bsf, len, signature, crypto)) return true;
    memset(signature, 0, sizeof *signature);
    memset(crypto, 0, sizeof *crypto);
    return false;
}
