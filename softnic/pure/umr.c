#include "pure/umr.h"

#include "pure/bits.h"

enum { UMR_CTRL = 16, MKEY_CONTEXT = 64, TRANSLATION = 128, ENTRY = 16, REPEAT_BLOCK = 0x400 };
enum { FLAG_INLINE = 0x80, FLAG_CHECK_FREE = 0x20, FLAG_OFFSET = 0x10, FLAG_CHECK_QPN = 0x08 };
enum { CONTEXT_FREE = 0x40 };
#define FLAGS_BSF_ENABLE (1u << 30)
#define FLAGS_SIGERR (1u << 26)
#define FLAGS_EN_RINVAL (1u << 24)

const char *umr_mask_name(unsigned bit) {
    static const char *const names[64] = {
        [0] = "len",           [1] = "page_size",
        [6] = "start_addr",    [7] = "pd",
        [8] = "en_rinval",     [9] = "sigerr_count",
        [12] = "bsf_enable",   [13] = "mkey_7_0",
        [14] = "qpn",          [17] = "local_read",
        [18] = "local_write",  [19] = "remote_read",
        [20] = "remote_write", [21] = "atomic",
        [23] = "small_fence",  [25] = "relaxed_ordering_write",
        [29] = "free",         [47] = "relaxed_ordering_read",
    };
    return bit < 64 ? names[bit] : NULL;
}

static void ctrl_decode(const uint8_t *p, struct umr *out) {
    out->flags = p[0];
    out->inline_ = p[0] & FLAG_INLINE;
    out->check_free = p[0] & FLAG_CHECK_FREE;
    out->has_offset = p[0] & FLAG_OFFSET;
    out->check_qpn = p[0] & FLAG_CHECK_QPN;
    out->klm_octowords = load_be16(p + 4);
    if (out->has_offset) out->offset = (uint64_t)load_be32(p + 16) << 16 | load_be16(p + 6);
    else out->bsf_octowords = load_be16(p + 6);
    out->mask = load_be64(p + 8);
}

static void context_decode(const uint8_t *p, struct umr *out) {
    uint32_t qpn_tag = load_be32(p + 4);
    out->free = p[0] & CONTEXT_FREE;
    out->access = p[2];
    out->qpn = qpn_tag >> 8;
    out->tag = (uint8_t)qpn_tag;
    out->flags_pd = load_be32(p + 12);
    out->pd = out->flags_pd & 0xffffff;
    out->bsf_enable = out->flags_pd & FLAGS_BSF_ENABLE;
    out->sigerr = out->flags_pd & FLAGS_SIGERR;
    out->en_rinval = out->flags_pd & FLAGS_EN_RINVAL;
    out->log_entity_size = p[59] & 0x1f;
    out->start = load_be64(p + 16);
    out->length = load_be64(p + 24);
}

static bool decode(const uint8_t *wqe, size_t len, struct umr *out) {
    struct wqe ctrl;
    if (!wqe_decode(wqe, len, false, &ctrl) || ctrl.opcode != OPCODE_UMR ||
        ctrl.ds * WQE_UNIT < TRANSLATION)
        return false;
    size_t rest = (size_t)ctrl.ds * WQE_UNIT - TRANSLATION, klm, bsf;
    out->mkey = ctrl.imm;
    ctrl_decode(wqe + UMR_CTRL, out);
    context_decode(wqe + MKEY_CONTEXT, out);
    klm = (size_t)out->klm_octowords * ENTRY;
    bsf = (size_t)out->bsf_octowords * ENTRY;
    if (out->inline_) {
        if (klm + bsf > rest) return false;
        out->translation = klm ? wqe + TRANSLATION : NULL;
        out->bsf = bsf ? wqe + TRANSLATION + klm : NULL;
        return true;
    }
    /* The UMR pointer segment: reserved word, key, address. How much lies there follows from the
     * two counts. */
    if (!(klm + bsf)) return true;
    if (rest < ENTRY) return false;
    out->has_pointer = true;
    out->pointer_key = load_be32(wqe + TRANSLATION + 4);
    out->pointer_addr = load_be64(wqe + TRANSLATION + 8);
    return true;
}

bool umr_decode(const uint8_t *wqe, size_t len, struct umr *out) {
    memset(out, 0, sizeof *out);
    if (decode(wqe, len, out)) return true;
    memset(out, 0, sizeof *out);
    return false;
}

bool translation_decode(const uint8_t *bytes, size_t len, struct translation *out) {
    memset(out, 0, sizeof *out);
    if (len % ENTRY) return false;
    out->entries = (unsigned)(len / ENTRY);
    out->first = bytes;
    if (out->entries && load_be32(bytes + 4) == REPEAT_BLOCK) {
        unsigned used = load_be16(bytes + 14);
        if (used > out->entries - 1) {
            memset(out, 0, sizeof *out);
            return false;
        }
        out->strided = true;
        out->bytes_per_repeat = load_be32(bytes);
        out->repeat = load_be32(bytes + 8);
        out->entries = used;
        out->first = bytes + ENTRY;
        return true;
    }
    for (; out->entries; out->entries--) {
        struct translation_entry last = translation_at(out, out->entries - 1);
        if (last.length || last.key || last.addr) break;
    }
    return true;
}

struct translation_entry translation_at(const struct translation *translation, unsigned i) {
    const uint8_t *p = translation->first + (size_t)ENTRY * i;
    struct translation_entry entry = {.key = load_be32(p + 4), .addr = load_be64(p + 8)};
    if (translation->strided) {
        entry.stride = load_be16(p);
        entry.length = load_be16(p + 2);
    } else {
        entry.length = load_be32(p);
    }
    return entry;
}

void translation_encode_klm(uint32_t length, uint32_t key, uint64_t addr, uint8_t *to) {
    store_be32(to, length);
    store_be32(to + 4, key);
    store_be64(to + 8, addr);
}

void translation_encode_repeat(uint32_t bytes_per_repeat, uint32_t repeat, uint16_t entries,
                               uint8_t *to) {
    store_be32(to, bytes_per_repeat);
    store_be32(to + 4, REPEAT_BLOCK);
    store_be32(to + 8, repeat);
    store_be16(to + 12, 0);
    store_be16(to + 14, entries);
}

void translation_encode_stride(uint16_t stride, uint16_t length, uint32_t key, uint64_t addr,
                               uint8_t *to) {
    store_be16(to, stride);
    store_be16(to + 2, length);
    store_be32(to + 4, key);
    store_be64(to + 8, addr);
}
