/* Faults of a UMR: what it leaves, or takes away, that it should not. They are of mkeys; a memory
 * window is bound as it should be. */
#include <stdlib.h>
#include <string.h>

#include "engine/rules.h"
#include "faults/choice.h"
#include "faults/fault.h"
#include "faults/moment.h"
#include "faults/notes.h"

REPLACES(configure_bsf);
REPLACES(configure_refused);
REPLACES(configure_apply);

/* The order of crypto and signature that works in the place of the right one. */
static uint8_t order(uint8_t right) {
    if (fault(field_over_ciphertext) && right == CRYPTO_WIRE_OUTSIDE) return CRYPTO_WIRE_RAW;
    if (fault(field_over_ciphertext) && right == CRYPTO_MEMORY_RAW) return CRYPTO_MEMORY_OUTSIDE;
    if (fault(field_encrypted) && right == CRYPTO_WIRE_RAW) return CRYPTO_WIRE_OUTSIDE;
    if (fault(field_encrypted) && right == CRYPTO_MEMORY_OUTSIDE) return CRYPTO_MEMORY_RAW;
    return right;
}

bool configure_bsf(const struct key *key, const uint8_t *bytes, size_t len, struct change *change) {
    if (!no_fault) moment.key = key_value(key);
    if (!right_configure_bsf(key, bytes, len, change)) return false;
    if (change->sig && change->sig->domain[DOMAIN_WIRE].kind != SIGNATURE_NONE &&
        change->sig->domain[DOMAIN_MEMORY].kind != SIGNATURE_NONE) {
        struct signature_domain *domain = change->sig->domain, wire = domain[DOMAIN_WIRE];
        moment.sig = change->sig, moment.which = NONE;
        if (fault(domains_swapped) || fault(wire_is_memory))
            domain[DOMAIN_WIRE] = domain[DOMAIN_MEMORY];
        if (fault(domains_swapped)) domain[DOMAIN_MEMORY] = wire;
    }
    moment.crypto = change->crypto;
    if (change->crypto) change->crypto->order = order(change->crypto->order);
    moment.sig = NULL, moment.crypto = NULL;
    return true;
}

uint8_t configure_refused(const struct qp *qp, const struct umr *umr, const struct key *key) {
    uint8_t right = right_configure_refused(qp, umr, key);
    if (!no_fault && key) moment.key = key_value(key);
    return !right && fault(local_inv_for_good) && notes_of(key)->dead ? CQE_MW_BIND : right;
}

static bool without_effect(const struct key *key, const struct umr *umr) {
    if (fault(local_inv_ignored)) return umr->free;
    return fault(configuration_ignored) && !umr->free && !key->free && key->layout != LAYOUT_NONE;
}

static void signature_keep(const struct bsf *old, struct bsf *new) {
    if (fault(signature_kept)) *new = *old;
    if (fault(check_mask_kept)) new->check_mask = old->check_mask;
    if (fault(memory_domain_kept) && new->domain[DOMAIN_MEMORY].kind == SIGNATURE_NONE)
        new->domain[DOMAIN_MEMORY] = old->domain[DOMAIN_MEMORY];
}

/* Of the key, what the UMR doesn't name; of the change, what the key has already. */
static void mix_up(struct key *key, const struct umr *umr, struct change *change) {
    bool had = key->bsf_enabled && key->sig, access = umr->mask & UMR_MASK_ACCESS;
    bool disables = umr->mask & UMR_MASK_BSF_ENABLE && !umr->bsf_enable;
    bool reset = had && (change->new_bsf ? !change->sig : disables);
    bool clears = fault(no_setters_clears) && !access && !change->new_layout && !change->new_bsf;
    if ((fault(signature_lost) && !change->new_bsf) || clears) free(key->sig), key->sig = NULL;
    if (fault(crypto_lost) && !change->new_bsf) free(key->crypto), key->crypto = NULL;
    if ((fault(reset_clears_layout) && reset) || (fault(layout_lost) && !change->new_layout) ||
        clears)
        key->layout = LAYOUT_NONE;
    if ((fault(reset_clears_access) && reset) || (fault(access_lost) && !access))
        key->rights = RIGHT_LOCAL_READ;
    if (fault(crypto_kept) && key->crypto && change->crypto) *change->crypto = *key->crypto;
    if (!had || !change->new_bsf) return;
    if (fault(reset_ignored) && !change->sig && (change->sig = malloc(sizeof *change->sig)))
        *change->sig = *key->sig;
    else if (change->sig) signature_keep(key->sig, change->sig);
}

/* The rights that the key has after a UMR, from those before and those now. */
static void mix_rights(struct key *key, const struct umr *umr, uint32_t before) {
    struct notes *notes = notes_of(key);
    uint32_t given = key->rights;
    if (!(umr->mask & UMR_MASK_ACCESS)) {
        if (fault(access_late) && notes->late_rights) key->rights = notes->late_rights;
        return;
    }
    if (fault(access_ored)) key->rights |= before;
    if (fault(access_kept) && notes->rights_set) key->rights = before;
    if (fault(access_late)) {
        key->rights = notes->late_rights ? notes->late_rights : RIGHT_LOCAL_READ;
        notes->late_rights = given;
    }
    notes->rights_set = true;
}

/* The values of facts.c: what last happened to a key, and what a signature is to the one before. */
enum { CREATED, CONFIGURED, LOCAL_INV, REMOTE_INV, FAILURE, RETAG };
enum { NO_SIGNATURE, EQUAL, SAME_TYPE, OTHER_TYPE };

static bool alike(const struct signature_domain *one, const struct signature_domain *other) {
    return one->kind == other->kind && one->block == other->block;
}

static int relation(const struct bsf *old, const struct bsf *new) {
    const struct signature_domain *was = old->domain, *is = new->domain;
    if (old->check_mask == new->check_mask && old->copy_mask == new->copy_mask &&
        !memcmp(was, is, sizeof old->domain))
        return EQUAL;
    return alike(&was[0], &is[0]) && alike(&was[1], &is[1]) ? SAME_TYPE : OTHER_TYPE;
}

/* What happens to a key is noted before it does. */
static void note(const struct key *key, const struct umr *umr, const struct change *change) {
    enum { ACCESS = 1, LAYOUT = 2, SIGNATURE = 4, CRYPTO = 8 };
    struct notes *notes = notes_of(key);
    moment.key = key_value(key);
    if (umr->free) {
        notes->event = LOCAL_INV;
        return;
    }
    notes->configurations++;
    notes->life = umr->mask & UMR_MASK_KEY && umr->tag != key->tag ? RETAG : notes->event;
    notes->event = CONFIGURED;
    notes->messages = 0;
    notes->setters = (umr->mask & UMR_MASK_ACCESS ? ACCESS : 0) |
                     (change->new_layout ? LAYOUT : 0) | (change->sig ? SIGNATURE : 0) |
                     (change->crypto ? CRYPTO : 0);
    if (change->sig)
        notes->signature_before = key->sig ? relation(key->sig, change->sig) : NO_SIGNATURE;
    if (change->new_layout)
        notes->layout_before = key->layout == LAYOUT_LIST      ? 1
                               : key->layout == LAYOUT_STRIDED ? 2
                                                               : 0;
}

void note_invalidated(const struct key *key) { notes_of(key)->event = REMOTE_INV; }

void configure_apply(struct key *key, const struct umr *umr, struct change *change) {
    struct umr named = *umr;
    uint32_t before = key->rights;
    if (no_fault || key->type != KEY_MKEY) {
        right_configure_apply(key, umr, change);
        return;
    }
    note(key, umr, change);
    if (without_effect(key, umr)) return;
    notes_of(key)->dead = umr->free;
    if (choice(ref_tag_restart) && !umr->free) notes_of(key)->passed = 0;
    if (!umr->free) mix_up(key, umr, change);
    if (fault(tag_kept)) named.mask &= ~UMR_MASK_KEY;
    if (fault(reset_ignored) && !umr->bsf_enable) named.mask &= ~UMR_MASK_BSF_ENABLE;
    if (fault(error_not_armed_again) && notes_of(key)->reported) named.mask &= ~UMR_MASK_SIGERR;
    right_configure_apply(key, &named, change);
    mix_rights(key, umr, before);
    notes_of(key)->error.syndrome = 0;
    if (choice(invalidate_clears) && umr->free) key_forget(key);
}
