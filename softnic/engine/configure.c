/* UMR and SET_PSV: a key is changed by a work request. All of it is checked first; a UMR that fails changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "pure/defect.h"


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

/* Entries that are not what they were given as. */
static void list_bend(struct change *change) {
    struct klm *klm = change->klm, swap;
    uint32_t n = change->klms;
    if (n < 2) return;
    if (defect(list_last_entry_dropped)) klm[n - 2].length += klm[n - 1].length, change->klms--;
    if (defect(list_first_entries_swapped)) swap = klm[0], klm[0] = klm[1], klm[1] = swap;
    if (defect(list_reversed))
        for (uint32_t i = 0; i < n / 2; i++) swap = klm[i], klm[i] = klm[n - 1 - i], klm[n - 1 - i] = swap;
    for (uint32_t i = 1; i < n; i++) {
        if (defect(list_first_entry_only)) klm[0].length += klm[i].length, change->klms = 1;
        if (defect(list_entry_byte_late)) klm[i].addr++;
        if (defect(list_four_entries) && i > 3) klm[i].addr = klm[3].addr, klm[i].key = klm[3].key;
        if (defect(list_lkey_of_first)) klm[i].key = klm[0].key;
    }
}

static void strided_bend(struct change *change) {
    struct stride *all = change->stride, first, *last = all + change->strides - 1;
    if (!change->strides) return;
    for (struct stride *it = all; it <= last; it++) {
        uint16_t skip = it->stride - it->length;
        if (defect(interleaved_skip_first)) it->addr += skip;
        if (defect(interleaved_skip_ignored)) it->stride = it->length;
        if (defect(interleaved_skip_is_stride)) it->stride = skip;
        if (defect(interleaved_stride_long)) it->stride++;
        if (defect(interleaved_stride_shared)) it->stride = all->stride;
        if (defect(interleaved_count_shared)) it->length = all->length;
        if (defect(interleaved_lkey_of_first)) it->key = all->key;
    }
    if (last == all) return;
    first = *all;
    if (defect(interleaved_swapped)) all[0] = all[1], all[1] = first;
    if (defect(interleaved_last_dropped)) last->addr = first.addr, last->key = first.key, last->stride = first.stride;
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
    if (key->type == KEY_MKEY) list_bend(change);
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
    }
    strided_bend(change);
    for (unsigned i = 0; i < translation->entries; i++) sum += change->stride[i].length;
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
        struct signature_domain wire = sig.domain[DOMAIN_WIRE];
        bool both = wire.kind != SIGNATURE_NONE && sig.domain[DOMAIN_MEMORY].kind != SIGNATURE_NONE;
        if (both && defect(domains_swapped)) sig.domain[DOMAIN_WIRE] = sig.domain[DOMAIN_MEMORY], sig.domain[DOMAIN_MEMORY] = wire;
        if (both && defect(wire_is_memory)) sig.domain[DOMAIN_WIRE] = sig.domain[DOMAIN_MEMORY];
        if (!(change->sig = malloc(sizeof sig))) return false;
        *change->sig = sig;
    }
    if (crypto.present) {
        if (!key->crypto_able || crypto.standard || crypto.order > CRYPTO_MEMORY_RAW) return false;
        if (defect(field_over_ciphertext) && crypto.order == CRYPTO_WIRE_OUTSIDE) crypto.order = CRYPTO_WIRE_RAW;
        else if (defect(field_over_ciphertext) && crypto.order == CRYPTO_MEMORY_RAW) crypto.order = CRYPTO_MEMORY_OUTSIDE;
        else if (defect(field_encrypted) && crypto.order == CRYPTO_WIRE_RAW) crypto.order = CRYPTO_WIRE_OUTSIDE;
        else if (defect(field_encrypted) && crypto.order == CRYPTO_MEMORY_OUTSIDE) crypto.order = CRYPTO_MEMORY_RAW;
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

#define ACCESS_MASKS (UMR_MASK_LOCAL_WRITE | UMR_MASK_REMOTE_READ | UMR_MASK_REMOTE_WRITE | UMR_MASK_ATOMIC)

/* What a UMR leaves, or takes away, that it should not: of mkeys. */
static void umr_bend(struct key *key, const struct umr *umr, struct change *change) {
    bool had = key->bsf_enabled && key->sig, access = umr->mask & ACCESS_MASKS;
    bool reset = had && (change->new_bsf ? !change->sig : umr->mask & UMR_MASK_BSF_ENABLE && !umr->bsf_enable);
    bool nothing = !access && !change->new_layout && !change->new_bsf;
    if ((defect(signature_lost) && !change->new_bsf) || (defect(no_setters_clears) && nothing)) free(key->sig), key->sig = NULL;
    if (defect(crypto_lost) && !change->new_bsf) free(key->crypto), key->crypto = NULL;
    if ((reset && defect(reset_clears_layout)) || (defect(layout_lost) && !change->new_layout) || (defect(no_setters_clears) && nothing))
        key->layout = LAYOUT_NONE;
    if ((reset && defect(reset_clears_access)) || (defect(access_lost) && !access)) key->rights = RIGHT_LOCAL_READ;
    if (defect(crypto_kept) && key->crypto && change->crypto) *change->crypto = *key->crypto;
    if (!had || !change->new_bsf) return;
    if (defect(reset_ignored) && !change->sig && (change->sig = malloc(sizeof *change->sig))) *change->sig = *key->sig;
    if (!change->sig) return;
    if (defect(signature_kept)) *change->sig = *key->sig;
    if (defect(check_mask_kept)) change->sig->check_mask = key->sig->check_mask;
    if (defect(memory_domain_kept) && change->sig->domain[DOMAIN_MEMORY].kind == SIGNATURE_NONE)
        change->sig->domain[DOMAIN_MEMORY] = key->sig->domain[DOMAIN_MEMORY];
}

static void rights_bend(struct key *key, uint32_t old) {
    uint32_t given = key->rights;
    if (defect(access_ored)) key->rights |= old;
    if (defect(access_kept) && key->bent.rights_set) key->rights = old;
    if (defect(access_late)) key->rights = key->bent.late_rights ? key->bent.late_rights : RIGHT_LOCAL_READ, key->bent.late_rights = given;
    key->bent.rights_set = true;
}

static void apply_masked(struct key *key, const struct umr *umr) {
    uint32_t old = key->rights;
    static const struct { uint64_t mask; uint8_t access; uint32_t right; } rights[] = {
        {UMR_MASK_LOCAL_WRITE, UMR_LOCAL_WRITE, RIGHT_LOCAL_WRITE}, {UMR_MASK_REMOTE_READ, UMR_REMOTE_READ, RIGHT_REMOTE_READ},
        {UMR_MASK_REMOTE_WRITE, UMR_REMOTE_WRITE, RIGHT_REMOTE_WRITE}, {UMR_MASK_ATOMIC, UMR_ATOMIC, RIGHT_ATOMIC},
    };
    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++)
        if (umr->mask & rights[i].mask) key->rights = umr->access & rights[i].access ? key->rights | rights[i].right : key->rights & ~rights[i].right;
    if (umr->mask & ACCESS_MASKS && key->type == KEY_MKEY) rights_bend(key, old);
    else if (defect(access_late) && key->bent.late_rights) key->rights = key->bent.late_rights;
    if (umr->mask & UMR_MASK_FREE) key->free = umr->free;
    if (umr->mask & UMR_MASK_KEY && !defect(tag_kept)) key->tag = umr->tag;
    if (umr->mask & UMR_MASK_QPN) key->qpn = umr->qpn;
    if (umr->mask & UMR_MASK_START_ADDR) key->start = umr->start;
    if (umr->mask & UMR_MASK_LEN) key->length = umr->length;
    if (umr->mask & UMR_MASK_BSF_ENABLE && (umr->bsf_enable || !defect(reset_ignored))) key->bsf_enabled = umr->bsf_enable;
    /* The next error is told again (hardware.md 6). */
    if (umr->mask & UMR_MASK_SIGERR) key->armed = !(defect(error_not_armed_again) && key->bent.reported);
    key->bent.erring = false;
}

static bool layout_stays(const struct key *key, const struct change *change) {
    if (key->type != KEY_MKEY || key->layout == LAYOUT_NONE) return false;
    if (defect(list_after_interleaved_kept)) return key->layout == LAYOUT_STRIDED && change->layout == LAYOUT_LIST;
    if (defect(interleaved_after_list_kept)) return key->layout == LAYOUT_LIST && change->layout == LAYOUT_STRIDED;
    return defect(layout_kept);
}

static void apply_change(struct key *key, struct change *change) {
    if (change->new_layout && !layout_stays(key, change)) {
        free(key->klm);
        free(key->stride);
        key->layout = change->layout;
        key->klm = change->klm, key->klms = change->klms;
        key->stride = change->stride, key->strides = change->strides;
        key->repeat = change->repeat, key->bytes_per_repeat = change->bytes_per_repeat;
        change->klm = NULL, change->stride = NULL;
        if (defect(not_zero_based) && key->type == KEY_MKEY) key->start = key->klms ? key->klm->addr : key->strides ? key->stride->addr : 0;
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
    if (key->bent.dead) return CQE_MW_BIND;
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
    if (key->type == KEY_MKEY) {
        if (defect(local_inv_ignored) && umr.free) return 0;
        if (defect(configuration_ignored) && !umr.free && !key->free && key->layout != LAYOUT_NONE) return 0;
        key->bent.dead = defect(local_inv_for_good) && umr.free;
    }

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
        if (key->type == KEY_MKEY && !umr.free) umr_bend(key, &umr, &change);
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
