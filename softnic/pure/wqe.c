#include "pure/wqe.h"

#include "pure/bits.h"

enum {
    CTRL = 16,
    DATAGRAM = 48,
    RADDR = 16,
    ATOMIC = 16,
    DATA_SEG = 16,
    PSV_SEG = 16,
    MMO_META = 16,
    WAIT_SEG = 32,
    TRANSPOSE_SEG = 16
};
#define INLINE_DATA 0x80000000u

/* What is left of a WQE; every segment is taken from its front, or the WQE is cut off. */
struct rest {
    const uint8_t *p;
    size_t len;
};

static const uint8_t *take(struct rest *rest, size_t size) {
    const uint8_t *p = rest->p;
    if (size > rest->len) return NULL;
    rest->p += size;
    rest->len -= size;
    return p;
}

static bool seg_take(struct rest *rest, struct wqe_seg *out) {
    const uint8_t *p = take(rest, DATA_SEG);
    if (!p) return false;
    uint32_t count = load_be32(p);
    memset(out, 0, sizeof *out);
    if (!(count & INLINE_DATA)) {
        out->length = count;
        out->key = load_be32(p + 4);
        out->addr = load_be64(p + 8);
        return true;
    }
    out->length = count & 0x3ff;
    out->data = p + 4;
    /* 12 bytes of data are in the first unit */
    size_t after = out->length > 12 ? (out->length - 12 + 15) / 16 * 16 : 0;
    return take(rest, after) != NULL;
}

static bool segs_take(struct rest *rest, struct wqe *out) {
    while (rest->len) {
        if (out->segs == WQE_MAX_SEGS || !seg_take(rest, &out->seg[out->segs])) return false;
        out->segs++;
    }
    return true;
}

static bool datagram_take(struct rest *rest, struct wqe *out) {
    const uint8_t *p = take(rest, DATAGRAM);
    if (!p) return false;
    uint32_t dqpn = load_be32(p + 8), grh = load_be32(p + 28);
    out->av.present = true;
    out->av.dc_key = load_be64(p);
    out->av.qkey = load_be32(p);
    out->av.dqpn = dqpn & 0xffffff;
    out->av.extended = dqpn >> 31;
    out->av.sl = p[12] & 0x0f;
    out->av.mlid = p[13] & 0x7f;
    out->av.rlid = load_be16(p + 14);
    memcpy(out->av.rmac, p + 20, sizeof out->av.rmac);
    out->av.tclass = p[26];
    out->av.hop_limit = p[27];
    out->av.grh = grh >> 30 & 1;
    out->av.sgid_index = (uint8_t)(grh >> 20);
    out->av.flow_label = grh & 0xfffff;
    memcpy(out->av.rgid, p + 32, sizeof out->av.rgid);
    return true;
}

static bool raddr_take(struct rest *rest, struct wqe *out) {
    const uint8_t *p = take(rest, RADDR);
    if (!p) return false;
    out->has_raddr = true;
    out->raddr = load_be64(p);
    out->rkey = load_be32(p + 8);
    return true;
}

static bool atomic_take(struct rest *rest, struct wqe *out) {
    const uint8_t *p = take(rest, ATOMIC);
    if (!p) return false;
    out->swap_add = load_be64(p);
    out->compare = load_be64(p + 8);
    return true;
}

static bool psv_take(struct rest *rest, struct wqe *out) {
    const uint8_t *p = take(rest, PSV_SEG);
    if (!p) return false;
    out->psv = load_be32(p) & 0xffffff;
    out->psv_syndrome = load_be16(p + 4);
    out->psv_transient = load_be64(p + 8);
    return true;
}

static bool mmo_take(struct rest *rest, struct wqe *out) {
    const uint8_t *p = take(rest, MMO_META);
    if (!p) return false;
    out->mmo_control = load_be32(p);
    out->opaque_key = load_be32(p + 4);
    out->opaque_addr = load_be64(p + 8);
    for (out->segs = 0; out->segs < 2; out->segs++) {
        struct wqe_seg *seg = &out->seg[out->segs];
        if (!seg_take(rest, seg) || seg->data) return false;
        if (!seg->length) seg->length = 1u << 31;
    }
    return rest->len == 0;
}

static bool wait_take(struct rest *rest, struct wqe *out) {
    const uint8_t *p = out->opmod == WAIT_ON_DATA ? take(rest, WAIT_SEG) : NULL;
    if (!p) return false;
    out->wait_operation = p[3] & 0x0f;
    out->wait_inverted = p[3] & 0x10;
    out->wait_key = load_be32(p + 4);
    out->wait_addr = load_be64(p + 8) & ~7ull;
    out->wait_else = p[15] & 7;
    out->wait_value = load_be64(p + 16);
    out->wait_mask = load_be64(p + 24);
    return rest->len == 0;
}

static bool transpose_take(struct rest *rest, struct wqe *out) {
    const uint8_t *p = out->opmod == LOCAL_MMO_TRANSPOSE ? take(rest, TRANSPOSE_SEG) : NULL;
    if (!p) return false;
    out->element_size = p[3];
    out->columns = p[5] & 0x7f;
    out->rows = p[7] & 0x7f;
    for (out->segs = 0; out->segs < 2; out->segs++)
        if (!seg_take(rest, &out->seg[out->segs]) || out->seg[out->segs].data) return false;
    return rest->len == 0;
}

static void ctrl_decode(const uint8_t *p, struct wqe *out) {
    uint32_t word = load_be32(p);
    out->opcode = (uint8_t)word;
    out->index = (uint16_t)(word >> 8);
    out->opmod = (uint8_t)(word >> 24);
    word = load_be32(p + 4);
    out->qpn = word >> 8;
    out->ds = word & 0x3f;
    out->signature = p[8];
    out->stream = load_be16(p + 9);
    out->fm_ce_se = p[11];
    out->ce = p[11] >> 2 & 3;
    out->signaled = out->ce >= CE_ALWAYS;
    out->solicited = p[11] & 0x02;
    out->fence = p[11] >> 5;
    out->imm = load_be32(p + 12);
}

static bool body_decode(struct rest rest, bool datagram, struct wqe *out) {
    switch (out->opcode) {
    case OPCODE_NOP: /* a cancelled work request keeps its segments: they are not looked at */
    case OPCODE_UMR: return true;
    case OPCODE_SET_PSV: return psv_take(&rest, out);
    case OPCODE_MMO: return mmo_take(&rest, out);
    case OPCODE_WAIT: return wait_take(&rest, out);
    case OPCODE_LOCAL_MMO: return transpose_take(&rest, out);
    case OPCODE_SEND:
    case OPCODE_SEND_IMM:
    case OPCODE_SEND_INVAL:
        return (!datagram || datagram_take(&rest, out)) && segs_take(&rest, out);
    case OPCODE_RDMA_WRITE:
    case OPCODE_RDMA_WRITE_IMM:
    case OPCODE_RDMA_READ:
        return (!datagram || datagram_take(&rest, out)) && raddr_take(&rest, out) &&
               segs_take(&rest, out);
    case OPCODE_ATOMIC_CS:
    case OPCODE_ATOMIC_FA:
        return (!datagram || datagram_take(&rest, out)) && raddr_take(&rest, out) &&
               atomic_take(&rest, out) && segs_take(&rest, out);
    default: return false;
    }
}

bool wqe_decode(const uint8_t *wqe, size_t len, bool datagram, struct wqe *out) {
    memset(out, 0, sizeof *out);
    if (len < CTRL) return false;
    ctrl_decode(wqe, out);
    size_t size = (size_t)out->ds * WQE_UNIT;
    if (size < CTRL || size > len) return false;
    if (body_decode((struct rest){wqe + CTRL, size - CTRL}, datagram, out)) return true;
    memset(out, 0, sizeof *out);
    ctrl_decode(wqe, out);
    return false;
}

unsigned segs_decode(const uint8_t *bytes, size_t len, struct wqe_seg *out, unsigned room) {
    struct rest rest = {bytes, len};
    unsigned n = 0;
    while (n < room && seg_take(&rest, &out[n])) {
        if (!out[n].data && !out[n].length && out[n].key == SCATTER_END_KEY) break;
        n++;
    }
    return n;
}

const char *opcode_name(uint8_t opcode) {
    switch (opcode) {
    case OPCODE_NOP: return "NOP";
    case OPCODE_SEND_INVAL: return "SEND_INVAL";
    case OPCODE_RDMA_WRITE: return "RDMA_WRITE";
    case OPCODE_RDMA_WRITE_IMM: return "RDMA_WRITE_IMM";
    case OPCODE_SEND: return "SEND";
    case OPCODE_SEND_IMM: return "SEND_IMM";
    case OPCODE_RDMA_READ: return "RDMA_READ";
    case OPCODE_ATOMIC_CS: return "ATOMIC_CS";
    case OPCODE_ATOMIC_FA: return "ATOMIC_FA";
    case OPCODE_SET_PSV: return "SET_PSV";
    case OPCODE_UMR: return "UMR";
    case OPCODE_MMO: return "MMO";
    case OPCODE_WAIT: return "WAIT";
    case OPCODE_LOCAL_MMO: return "LOCAL_MMO";
    default: return NULL;
    }
}
