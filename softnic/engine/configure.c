/* UMR and SET_PSV: a key is changed by a work request. All of it is checked first; a UMR that fails
 * changes nothing. */
#include <stdlib.h>
#include <string.h>

#include "pure/rule.h"
#include "rules.h"

enum { OCTOWORD = 16, NO_SIZE = -1 };

static void change_free(struct change *change) {
    free(change->klm);
    free(change->stride);
    free(change->sig);
    free(change->crypto);
}

/* Non-inline: the entries and the BSF lie in memory, one after the other, under a key of this QP's
 * PD. */
static uint8_t *fetch_list(struct qp *qp, const struct umr *umr, size_t length) {
    static struct transfer list;
    transfer_begin(&list, qp->attr.pd, qp->number, NULL);
    if (transfer_add(&list, umr->pointer_key, umr->pointer_addr, length, RIGHT_LOCAL_READ, false))
        return NULL;
    uint8_t *bytes = malloc(length ? length : 1);
    if (bytes && transfer_emit(&list, bytes)) free(bytes), bytes = NULL;
    return bytes;
}

/* What this device can't do, it doesn't. */
static bool kind_offered(enum signature_kind kind) {
    static const uint32_t needs[] = {
        [SIGNATURE_NONE] = 0,
        [SIGNATURE_DIF_CRC] = SIG_T10DIF,
        [SIGNATURE_DIF_CSUM] = SIG_T10DIF,
        [SIGNATURE_CRC32] = SIG_CRC32,
        [SIGNATURE_CRC32C] = SIG_CRC32C,
        [SIGNATURE_CRC64_XP10] = SIG_CRC64_XP10,
    };
    return (personality()->signatures & needs[kind]) == needs[kind];
}

static bool kind_known(const struct signature_domain *domain) {
    if (domain->kind == SIGNATURE_NONE) return true;
    return kind_offered(domain->kind) && (personality()->block_sizes >> domain->block_selector & 1);
}

/* A transaction signature goes with no block signature and no encryption here: nobody has said
 * which comes first. */
static bool transactions_known(const struct key *key, const struct bsf *sig,
                               const struct crypto_bsf *crypto) {
    if (!sig->transactional) return true;
    if (sig->domain[0].kind != SIGNATURE_NONE || sig->domain[1].kind != SIGNATURE_NONE ||
        crypto->present || key->crypto_able)
        return false;
    for (int which = 0; which < 2; which++) {
        const struct transaction *transaction = &sig->transaction[which];
        const struct psv *psv = psv_find(transaction->psv);
        if (transaction->kind == SIGNATURE_NONE) continue;
        if (!kind_offered(transaction->kind) || !psv || psv->pd != key->pd) return false;
        if (transaction->field_follows && sig->raw_size == (uint32_t)NO_SIZE) return false;
    }
    return true;
}

bool RULE(configure_bsf)(const struct key *key, const uint8_t *bytes, size_t len,
                         struct change *change) {
    struct bsf sig;
    struct crypto_bsf crypto;
    if (len > (size_t)key->bsf_room * OCTOWORD || !bsf_decode(bytes, len, &sig, &crypto))
        return false;
    if (!transactions_known(key, &sig, &crypto)) return false;
    change->new_bsf = true;
    bool signs = sig.transactional || sig.domain[0].kind != SIGNATURE_NONE ||
                 sig.domain[1].kind != SIGNATURE_NONE;
    /* A type in neither domain is not supported. On a key that is made for encryption the driver
     * writes so what it has reset, whether the crypto attributes were set or not. */
    if (sig.present && !signs && !key->crypto_able) return false;
    if (signs) {
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

/* A window is bound to memory that it may use (IBTA 10.6.7.2.4): the region's rights and range hold
 * for it, and it must have been registered for binding. */
static bool window_fits(const struct key *window, const struct umr *umr,
                        const struct change *change) {
    struct key *region;
    struct reach none = {0};
    bool writes = umr->access & (UMR_REMOTE_WRITE | UMR_ATOMIC | UMR_LOCAL_WRITE);
    if (change->klms != 1) return false;
    if (key_claim(window->pd, ANY_QPN, change->klm[0].key,
                  RIGHT_BIND | (writes ? RIGHT_LOCAL_WRITE : 0), &region))
        return false;
    bool fits = !key_reach(region, change->klm[0].addr, change->klm[0].length, writes, &none);
    free(none.piece);
    return fits;
}

/* PRM, umr_modify_atomic_disabled: a device may take that right at creation only. */
static bool sets_atomic(const struct umr *umr) {
    return umr->mask & UMR_MASK_ATOMIC && umr->access & UMR_ATOMIC;
}

static void apply_masked(struct key *key, const struct umr *umr) {
    static const struct {
        uint64_t mask;
        uint8_t access;
        uint32_t right;
    } rights[] = {
        {UMR_MASK_LOCAL_READ, UMR_LOCAL_READ, RIGHT_LOCAL_READ},
        {UMR_MASK_LOCAL_WRITE, UMR_LOCAL_WRITE, RIGHT_LOCAL_WRITE},
        {UMR_MASK_REMOTE_READ, UMR_REMOTE_READ, RIGHT_REMOTE_READ},
        {UMR_MASK_REMOTE_WRITE, UMR_REMOTE_WRITE, RIGHT_REMOTE_WRITE},
        {UMR_MASK_ATOMIC, UMR_ATOMIC, RIGHT_ATOMIC},
    };
    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++)
        if (umr->mask & rights[i].mask)
            key->rights = umr->access & rights[i].access ? key->rights | rights[i].right
                                                         : key->rights & ~rights[i].right;
    if (umr->mask & UMR_MASK_FREE) key->free = umr->free;
    if (umr->mask & UMR_MASK_KEY) key->tag = umr->tag;
    if (umr->mask & UMR_MASK_QPN) key->qpn = umr->qpn;
    if (umr->mask & UMR_MASK_PAGE_SIZE) key->log_entity_size = umr->log_entity_size;
    if (umr->mask & UMR_MASK_EN_RINVAL) key->remote_invalidate = umr->en_rinval;
    if (umr->mask & UMR_MASK_PD) key_set_pd(key, pd_find(umr->pd));
    if (umr->mask & UMR_MASK_START_ADDR) key->start = umr->start;
    if (umr->mask & UMR_MASK_LEN) key->length = umr->length;
    if (umr->mask & UMR_MASK_BSF_ENABLE) key->bsf_enabled = umr->bsf_enable;
    /* the next error is reported again (hardware rule 6) */
    if (umr->mask & UMR_MASK_SIGERR) key->armed = true;
}

void RULE(configure_apply)(struct key *key, const struct umr *umr, struct change *change) {
    apply_masked(key, umr);
    if (change->new_layout) layout_apply(key, change);
    if (change->new_bsf) {
        free(key->sig);
        free(key->crypto);
        key->sig = change->sig, key->crypto = change->crypto;
        change->sig = NULL, change->crypto = NULL;
    }
}

#define KNOWN_MASKS \
    (UMR_MASK_LEN | UMR_MASK_START_ADDR | UMR_MASK_PD | UMR_MASK_EN_RINVAL | UMR_MASK_SIGERR | \
     UMR_MASK_BSF_ENABLE | UMR_MASK_KEY | UMR_MASK_QPN | UMR_MASK_LOCAL_READ | UMR_MASK_ACCESS | \
     UMR_MASK_FREE | ORDER_MASKS)
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

/* The syndrome of a UMR that may not be. Only the index of the named key counts: the tag is among
 * what is changed. */
uint8_t RULE(configure_refused)(const struct qp *qp, const struct umr *umr, const struct key *key) {
    if (!key || !key->umr_enabled) return CQE_LOCAL_QP_OP;
    if (key->pd != qp->attr.pd) return CQE_LOCAL_PROTECTION;
    if (!mask_known(umr, key)) return CQE_LOCAL_QP_OP;
    if (sets_atomic(umr) && !personality()->umr_atomic) return CQE_LOCAL_QP_OP;
    if (umr->klm_octowords && key->layout == LAYOUT_MEMORY) return CQE_LOCAL_QP_OP;
    if (umr->check_free && !key->free) return CQE_MW_BIND;
    if (umr->check_qpn && key->qpn != ANY_QPN && key->qpn != qp->number) return CQE_MW_BIND;
    return 0;
}

uint8_t RULE(configure_umr)(struct qp *qp, const uint8_t *bytes, size_t len,
                            const struct wqe *wqe) {
    struct umr umr;
    if (!umr_decode(bytes, len, &umr)) return CQE_LOCAL_QP_OP;
    struct key *key = key_find(wqe->imm);
    uint8_t syndrome = configure_refused(qp, &umr, key);
    if (syndrome) return syndrome;
    struct change change = {0};
    size_t translation_len = umr.klm_octowords * 16u,
           bsf_len = umr.has_offset ? 0 : umr.bsf_octowords * 16u;
    uint8_t *fetched = NULL;
    const uint8_t *translation = umr.translation, *bsf = umr.bsf;
    if (!umr.inline_ && translation_len + bsf_len) {
        if (!(fetched = fetch_list(qp, &umr, translation_len + bsf_len)))
            return CQE_LOCAL_PROTECTION;
        translation = fetched, bsf = bsf_len ? fetched + translation_len : NULL;
        trace_umr_list(qp, translation, translation_len, bsf, bsf_len);
    }
    bool fine = (!translation_len || layout_change(key, umr.has_offset, umr.offset, translation,
                                                   translation_len, &change)) &&
                (!bsf_len || configure_bsf(key, bsf, bsf_len, &change));
    free(fetched);
    if (!fine) syndrome = CQE_LOCAL_QP_OP;
    else if (key->type == KEY_MW && !umr.free &&
             (!change.new_layout || !window_fits(key, &umr, &change)))
        syndrome = CQE_MW_BIND;
    if (!syndrome) configure_apply(key, &umr, &change);
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
