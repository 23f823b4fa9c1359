/* UMR and SET_PSV: a key is changed by a work request. All of it is checked first; a UMR that fails changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"


struct change {                         /* what a UMR brings beside masked members */
    struct klm *klm;
    uint32_t klms;
    struct stride *stride;
    uint32_t strides, repeat, bytes_per_repeat;
    enum layout layout;
    struct bsf *sig;
    struct crypto_bsf *crypto;
    bool new_layout, new_bsf;
};

static void change_free(struct change *change) {
    free(change->klm);
    free(change->stride);
    free(change->sig);
    free(change->crypto);
}

/* Non-inline: the entries and the BSF lie in memory, one behind the other, under keys of this QP's PD. */
static uint8_t *fetch_list(struct qp *qp, const struct umr *umr, size_t length) {
    static struct transfer list;
    transfer_begin(&list, qp->attr.pd, qp->number, NULL);
    if (transfer_add_segs(&list, umr->seg, umr->segs, length, false) || list.length < length) return NULL;
    uint8_t *bytes = malloc(length ? length : 1);
    if (bytes && transfer_emit(&list, bytes)) free(bytes), bytes = NULL;
    return bytes;
}

static bool take_list(const struct key *key, const struct translation *translation, struct change *change) {
    if (translation->entries > key->max_entries) return false;
    change->layout = LAYOUT_LIST;
    change->klms = translation->entries;
    if (!(change->klm = malloc((translation->entries + 1) * sizeof *change->klm))) return false;
    for (unsigned i = 0; i < translation->entries; i++) {
        struct translation_entry entry = translation_at(translation, i);
        change->klm[i] = (struct klm){entry.length, entry.key, entry.addr};
    }
    return true;
}

/* The repeat block's header takes the room of one entry. */
static bool take_strided(const struct key *key, const struct translation *translation, struct change *change) {
    uint32_t sum = 0;
    if (translation->entries + 1 > key->max_entries) return false;
    change->layout = LAYOUT_STRIDED;
    change->strides = translation->entries, change->repeat = translation->repeat;
    if (!(change->stride = malloc((translation->entries + 1) * sizeof *change->stride))) return false;
    for (unsigned i = 0; i < translation->entries; i++) {
        struct translation_entry entry = translation_at(translation, i);
        change->stride[i] = (struct stride){entry.stride, (uint16_t)entry.length, entry.key, entry.addr};
        sum += (uint16_t)entry.length;
    }
    /* The driver cuts counts to 16 bits but not their sum (catalogue X-DIFF): what the entries hold is what there is. */
    change->bytes_per_repeat = sum;
    return true;
}

static bool take_translation(const struct key *key, const uint8_t *bytes, size_t len, struct change *change) {
    struct translation translation;
    if (!translation_decode(bytes, len, &translation)) return false;
    change->new_layout = true;
    return translation.strided ? take_strided(key, &translation, change) : take_list(key, &translation, change);
}

/* What this device can't do, it doesn't. */
static bool kind_known(const struct signature_domain *domain) {
    static const uint32_t needs[] = {
        [SIGNATURE_NONE] = 0, [SIGNATURE_DIF_CRC] = SIG_T10DIF, [SIGNATURE_DIF_CSUM] = SIG_T10DIF, [SIGNATURE_CRC32] = SIG_CRC32,
        [SIGNATURE_CRC32C] = SIG_CRC32C, [SIGNATURE_CRC64_XP10] = SIG_CRC64_XP10,
    };
    const struct personality *can = personality();
    if (domain->kind == SIGNATURE_NONE) return true;
    return (can->signatures & needs[domain->kind]) == needs[domain->kind] && (can->block_sizes >> domain->block_selector & 1);
}

static bool take_bsf(const struct key *key, const uint8_t *bytes, size_t len, struct change *change) {
    struct bsf sig;
    struct crypto_bsf crypto;
    if (!key->bsf_able || !bsf_decode(bytes, len, &sig, &crypto)) return false;
    change->new_bsf = true;
    if (sig.present && (sig.domain[0].kind != SIGNATURE_NONE || sig.domain[1].kind != SIGNATURE_NONE)) {
        if (!kind_known(&sig.domain[0]) || !kind_known(&sig.domain[1])) return false;
        if (!(change->sig = malloc(sizeof sig))) return false;
        *change->sig = sig;
    }
    if (crypto.present) {
        if (!key->crypto_able || crypto.standard || crypto.order > CRYPTO_MEMORY_RAW) return false;
        if (!(change->crypto = malloc(sizeof crypto))) return false;
        *change->crypto = crypto;
    }
    return true;
}

/* A window is bound to memory that it may use (IBTA 10.6.7.2.4): the region's rights and range hold for it. */
static bool window_fits(const struct key *window, const struct umr *umr, const struct change *change) {
    struct key *region;
    struct reach none = {0};
    bool writes = umr->access & (UMR_REMOTE_WRITE | UMR_ATOMIC | UMR_LOCAL_WRITE);
    if (change->klms != 1) return false;
    if (key_claim(window->pd, ANY_QPN, change->klm[0].key, writes ? RIGHT_LOCAL_WRITE : 0, &region)) return false;
    bool fits = !key_reach(region, change->klm[0].addr, change->klm[0].length, writes, &none);
    free(none.piece);
    return fits;
}

static void apply_masked(struct key *key, const struct umr *umr) {
    static const struct { uint64_t mask; uint8_t access; uint32_t right; } rights[] = {
        {UMR_MASK_LOCAL_WRITE, UMR_LOCAL_WRITE, RIGHT_LOCAL_WRITE}, {UMR_MASK_REMOTE_READ, UMR_REMOTE_READ, RIGHT_REMOTE_READ},
        {UMR_MASK_REMOTE_WRITE, UMR_REMOTE_WRITE, RIGHT_REMOTE_WRITE}, {UMR_MASK_ATOMIC, UMR_ATOMIC, RIGHT_ATOMIC},
    };
    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++)
        if (umr->mask & rights[i].mask) key->rights = umr->access & rights[i].access ? key->rights | rights[i].right : key->rights & ~rights[i].right;
    if (umr->mask & UMR_MASK_FREE) key->free = umr->free;
    if (umr->mask & UMR_MASK_KEY) key->tag = umr->tag;
    if (umr->mask & UMR_MASK_QPN) key->qpn = umr->qpn;
    if (umr->mask & UMR_MASK_START_ADDR) key->start = umr->start;
    if (umr->mask & UMR_MASK_LEN) key->length = umr->length;
    if (umr->mask & UMR_MASK_BSF_ENABLE) key->bsf_enabled = umr->bsf_enable;
    /* The next error is told again (hardware.md 6). */
    if (umr->mask & UMR_MASK_SIGERR) key->armed = true;
}

static void apply_change(struct key *key, struct change *change) {
    if (change->new_layout) {
        free(key->klm);
        free(key->stride);
        key->layout = change->layout;
        key->klm = change->klm, key->klms = change->klms;
        key->stride = change->stride, key->strides = change->strides;
        key->repeat = change->repeat, key->bytes_per_repeat = change->bytes_per_repeat;
        change->klm = NULL, change->stride = NULL;
    }
    if (change->new_bsf) {
        free(key->sig);
        free(key->crypto);
        key->sig = change->sig, key->crypto = change->crypto;
        change->sig = NULL, change->crypto = NULL;
    }
}

/* The syndrome of a UMR that may not be. Only the index of the named key counts: the tag is among what is changed. */
static uint8_t refused(const struct qp *qp, const struct umr *umr, const struct key *key) {
    if (!key || !key->umr_enabled) return CQE_LOCAL_QP_OP;
    if (key->pd != qp->attr.pd) return CQE_LOCAL_PROTECTION;
    if (umr->check_free && !key->free) return CQE_MW_BIND;
    if (umr->check_qpn && key->qpn != ANY_QPN && key->qpn != qp->number) return CQE_MW_BIND;
    return 0;
}

uint8_t configure_umr(struct qp *qp, const uint8_t *bytes, size_t len, const struct wqe *wqe) {
    struct umr umr;
    if (!umr_decode(bytes, len, &umr)) return CQE_LOCAL_QP_OP;
    struct key *key = key_find(wqe->imm);
    uint8_t syndrome = refused(qp, &umr, key);
    if (syndrome) return syndrome;

    struct change change = {0};
    size_t translation_len = umr.klm_octowords * 16u, bsf_len = umr.has_offset ? 0 : umr.bsf_octowords * 16u;
    uint8_t *fetched = NULL;
    const uint8_t *translation = umr.translation, *bsf = umr.bsf;
    if (!umr.inline_ && translation_len + bsf_len) {
        if (!(fetched = fetch_list(qp, &umr, translation_len + bsf_len))) return CQE_LOCAL_PROTECTION;
        translation = fetched, bsf = bsf_len ? fetched + translation_len : NULL;
        trace_umr_list(qp, translation, translation_len, bsf, bsf_len);
    }
    bool fine = (!translation_len || take_translation(key, translation, translation_len, &change)) && (!bsf_len || take_bsf(key, bsf, bsf_len, &change));
    free(fetched);
    if (!fine) syndrome = CQE_LOCAL_QP_OP;
    else if (key->type == KEY_MW && !umr.free && (!change.new_layout || !window_fits(key, &umr, &change))) syndrome = CQE_MW_BIND;
    if (!syndrome) {
        apply_masked(key, &umr);
        apply_change(key, &change);
    }
    change_free(&change);
    return syndrome;
}

uint8_t configure_psv(struct qp *qp, const struct wqe *wqe) {
    struct psv *psv = psv_find(wqe->psv);
    if (!psv) return CQE_LOCAL_QP_OP;
    if (psv->pd != qp->attr.pd) return CQE_LOCAL_PROTECTION;
    psv->syndrome = wqe->psv_syndrome;
    psv->transient = wqe->psv_transient;
    return 0;
}
