/* UMR and SET_PSV: a key is changed by a work request. All of it is checked first; a UMR that fails changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "pure/defect.h"


enum { OCTOWORD = 16, NO_SIZE = -1 };

static void change_free(struct change *change) {
    free(change->klm);
    free(change->stride);
    free(change->sig);
    free(change->crypto);
}

/* Non-inline: the entries and the BSF lie in memory, one after the other, under a key of this QP's PD. */
static uint8_t *fetch_list(struct qp *qp, const struct umr *umr, size_t length) {
    static struct transfer list;
    transfer_begin(&list, qp->attr.pd, qp->number, NULL);
    if (transfer_add(&list, umr->pointer_key, umr->pointer_addr, length, RIGHT_LOCAL_READ, false)) return NULL;
    uint8_t *bytes = malloc(length ? length : 1);
    if (bytes && transfer_emit(&list, bytes)) free(bytes), bytes = NULL;
    return bytes;
}

/* What this device can't do, it doesn't. */
static bool kind_offered(enum signature_kind kind) {
    static const uint32_t needs[] = {
        [SIGNATURE_NONE] = 0, [SIGNATURE_DIF_CRC] = SIG_T10DIF, [SIGNATURE_DIF_CSUM] = SIG_T10DIF, [SIGNATURE_CRC32] = SIG_CRC32,
        [SIGNATURE_CRC32C] = SIG_CRC32C, [SIGNATURE_CRC64_XP10] = SIG_CRC64_XP10,
    };
    return (personality()->signatures & needs[kind]) == needs[kind];
}

static bool kind_known(const struct signature_domain *domain) {
    if (domain->kind == SIGNATURE_NONE) return true;
    return kind_offered(domain->kind) && (personality()->block_sizes >> domain->block_selector & 1);
}

/* A transaction signature goes with no block signature and no encryption here: nobody has said which comes first. */
static bool transactions_known(const struct key *key, const struct bsf *sig, const struct crypto_bsf *crypto) {
    if (!sig->transactional) return true;
    if (sig->domain[0].kind != SIGNATURE_NONE || sig->domain[1].kind != SIGNATURE_NONE || crypto->present || key->crypto_able) return false;
    for (int which = 0; which < 2; which++) {
        const struct transaction *transaction = &sig->transaction[which];
        const struct psv *psv = psv_find(transaction->psv);
        if (transaction->kind == SIGNATURE_NONE) continue;
        if (!kind_offered(transaction->kind) || !psv || psv->pd != key->pd) return false;
        if (transaction->field_follows && sig->raw_size == (uint32_t)NO_SIZE) return false;
    }
    return true;
}

static bool take_bsf(const struct key *key, const uint8_t *bytes, size_t len, struct change *change) {
    struct bsf sig;
    struct crypto_bsf crypto;
    if (len > (size_t)key->bsf_room * OCTOWORD || !bsf_decode(bytes, len, &sig, &crypto)) return false;
    if (!transactions_known(key, &sig, &crypto)) return false;
    change->new_bsf = true;
    if (sig.present && (sig.transactional || sig.domain[0].kind != SIGNATURE_NONE || sig.domain[1].kind != SIGNATURE_NONE)) {
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

/* A window is bound to memory that it may use (IBTA 10.6.7.2.4): the region's rights and range hold for it, and it must
 * have been registered for binding. */
static bool window_fits(const struct key *window, const struct umr *umr, const struct change *change) {
    struct key *region;
    struct reach none = {0};
    bool writes = umr->access & (UMR_REMOTE_WRITE | UMR_ATOMIC | UMR_LOCAL_WRITE);
    if (change->klms != 1) return false;
    if (key_claim(window->pd, ANY_QPN, change->klm[0].key, RIGHT_BIND | (writes ? RIGHT_LOCAL_WRITE : 0), &region)) return false;
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
        {UMR_MASK_LOCAL_READ, UMR_LOCAL_READ, RIGHT_LOCAL_READ}, {UMR_MASK_LOCAL_WRITE, UMR_LOCAL_WRITE, RIGHT_LOCAL_WRITE},
        {UMR_MASK_REMOTE_READ, UMR_REMOTE_READ, RIGHT_REMOTE_READ},
        {UMR_MASK_REMOTE_WRITE, UMR_REMOTE_WRITE, RIGHT_REMOTE_WRITE}, {UMR_MASK_ATOMIC, UMR_ATOMIC, RIGHT_ATOMIC},
    };
    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++)
        if (umr->mask & rights[i].mask) key->rights = umr->access & rights[i].access ? key->rights | rights[i].right : key->rights & ~rights[i].right;
    if (umr->mask & ACCESS_MASKS && key->type == KEY_MKEY) rights_bend(key, old);
    else if (defect(access_late) && key->bent.late_rights) key->rights = key->bent.late_rights;
    if (umr->mask & UMR_MASK_FREE) key->free = umr->free;
    if (umr->mask & UMR_MASK_KEY && !defect(tag_kept)) key->tag = umr->tag;
    if (umr->mask & UMR_MASK_QPN) key->qpn = umr->qpn;
    if (umr->mask & UMR_MASK_PAGE_SIZE) key->log_entity_size = umr->log_entity_size;
    if (umr->mask & UMR_MASK_EN_RINVAL) key->remote_invalidate = umr->en_rinval;
    if (umr->mask & UMR_MASK_PD) key_set_pd(key, pd_find(umr->pd));
    if (umr->mask & UMR_MASK_START_ADDR) key->start = umr->start;
    if (umr->mask & UMR_MASK_LEN) key->length = umr->length;
    if (umr->mask & UMR_MASK_BSF_ENABLE && (umr->bsf_enable || !defect(reset_ignored))) key->bsf_enabled = umr->bsf_enable;
    /* The next error is told again (hardware.md 6). */
    if (umr->mask & UMR_MASK_SIGERR) key->armed = !(defect(error_not_armed_again) && key->bent.reported);
    key->bent.erring = false;
}

static void apply_change(struct key *key, struct change *change) {
    if (change->new_layout) layout_apply(key, change);
    if (change->new_bsf) {
        free(key->sig);
        free(key->crypto);
        key->sig = change->sig, key->crypto = change->crypto;
        change->sig = NULL, change->crypto = NULL;
    }
}

#define KNOWN_MASKS (UMR_MASK_LEN | UMR_MASK_START_ADDR | UMR_MASK_PD | UMR_MASK_EN_RINVAL | UMR_MASK_SIGERR | UMR_MASK_BSF_ENABLE | UMR_MASK_KEY | \
                     UMR_MASK_QPN | UMR_MASK_LOCAL_READ | ACCESS_MASKS | UMR_MASK_FREE | ORDER_MASKS)
/* Nothing is reordered here, so these ask for nothing. */
#define ORDER_MASKS (UMR_MASK_SMALL_FENCE | UMR_MASK_RO_WRITE | UMR_MASK_RO_READ)

/* What a mask names must be something that this key has. */
static bool mask_known(const struct umr *umr, const struct key *key) {
    bool sized = key->log_entity_size && umr->log_entity_size;
    if (umr->mask & ~(KNOWN_MASKS | (sized ? UMR_MASK_PAGE_SIZE : 0))) return false;
    if (umr->mask & UMR_MASK_BSF_ENABLE && umr->bsf_enable && !key->bsf_room) return false;
    if (umr->mask & UMR_MASK_PD) {
        const struct pd *pd = pd_find(umr->pd);
        if (key->type != KEY_MKEY || !pd || pd->object.context != key->object.context) return false;
    }
    return true;
}

/* The syndrome of a UMR that may not be. Only the index of the named key counts: the tag is among what is changed. */
static uint8_t refused(const struct qp *qp, const struct umr *umr, const struct key *key) {
    if (!key || !key->umr_enabled) return CQE_LOCAL_QP_OP;
    if (key->pd != qp->attr.pd) return CQE_LOCAL_PROTECTION;
    if (!mask_known(umr, key)) return CQE_LOCAL_QP_OP;
    if (umr->klm_octowords && key->layout == LAYOUT_MEMORY) return CQE_LOCAL_QP_OP;
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
    bool fine = (!translation_len || layout_change(key, umr.has_offset, umr.offset, translation, translation_len, &change)) && (!bsf_len || take_bsf(key, bsf, bsf_len, &change));
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
