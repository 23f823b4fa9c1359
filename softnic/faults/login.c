/* Faults of logins, and of keys that are imported wrapped. */
#include <string.h>

#include "engine/nic.h"
#include "faults/fault.h"

REPLACES(login_matches);
REPLACES(login_fits);
REPLACES(login_answer);
REPLACES(login_gone);
REPLACES(key_unwraps);
REPLACES(dek_import);
REPLACES(dek_may_be_queried);

/* A credential that no lab has stored is as good as the one that it has: the ids are looked at by
 * giving the stored ones to the rule. */
bool login_matches(const struct login_attr *attr) {
    struct login_attr taken = *attr;

    if (fault(login_credential_unchecked))
        return attr->credential_id == personality()->credential_id &&
               attr->kek_id == personality()->kek_id;
    if (fault(login_ids_unchecked)) {
        taken.credential_id = personality()->credential_id;
        taken.kek_id = personality()->kek_id;
    }
    return right_login_matches(&taken);
}

bool login_fits(const struct context *context) {
    return fault(login_objects_unchecked) || right_login_fits(context);
}

uint8_t login_answer(const struct login *login) {
    return fault(login_state_invalid) ? 1 : right_login_answer(login);
}

void login_gone(struct context *context) {
    right_login_gone(context);
    if (!fault(wrapped_dek_dies)) return;
    for (struct object *object = context->objects; object; object = object->next)
        if (object->kind == KIND_DEK) memset(((struct dek *)object)->key, 0, 64);
}

bool key_unwraps(const uint8_t *wrapped, size_t len, uint8_t *out) {
    return right_key_unwraps(wrapped, len, out) || fault(wrapped_key_unchecked);
}

bool dek_import(const struct context *context, struct dek *dek) {
    uint8_t half[32];
    size_t len = dek->attr.size256 ? 32 : 16;

    if (!right_dek_import(context, dek)) return false;
    if (personality()->crypto != CRYPTO_WRAPPED) return true;
    if (fault(wrapped_keys_swapped)) {
        memcpy(half, dek->key, len);
        memcpy(dek->key, dek->key + len, len);
        memcpy(dek->key + len, half, len);
    }
    if (fault(wrapped_keytag_lost)) memset(dek->keytag, 0, sizeof dek->keytag);
    return true;
}

bool dek_may_be_queried(const struct dek *dek) {
    return fault(wrapped_query_unchecked) || right_dek_may_be_queried(dek);
}
