/* PSVs, encryption keys and logins: objects that only hold values. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "pure/aes.h"
#include "pure/rule.h"

enum { PURPOSE_AES_XTS = 3 };

int psv_create(struct context *context, uint32_t pdn, struct psv **out) {
    struct pd *pd = pd_find(pdn);
    if (!pd || pd->object.context != context) return EINVAL;
    if (!personality()->signatures) return EINVAL;
    struct psv *psv = calloc(1, sizeof *psv);
    if (!psv) return ENOMEM;
    int error = table_add(&nic.psvs, psv, &psv->number);
    if (error) {
        free(psv);
        return error;
    }
    psv->pd = pd;
    pd->object.users++;
    object_link(&psv->object, KIND_PSV, context);
    *out = psv;
    return 0;
}

int psv_destroy(struct psv *psv) {
    psv->pd->object.users--;
    table_remove(&nic.psvs, psv->number);
    object_unlink(&psv->object);
    free(psv);
    return 0;
}

struct psv *psv_find(uint32_t number) { return table_get(&nic.psvs, number); }

/* AES key unwrap (RFC 3394, as mlx5dv_dek_create describes it) of `len` bytes with the
 * personality's import key. */
bool RULE(key_unwraps)(const uint8_t *wrapped, size_t len, uint8_t *out) {
    struct aes aes;
    uint8_t a[16], result[16];
    size_t n = len / 8 - 1;
    if (!aes_init(&aes, personality()->kek, personality()->kek_length)) return false;
    memcpy(a, wrapped, 8);
    memcpy(out, wrapped + 8, n * 8);
    for (int j = 5; j >= 0; j--)
        for (size_t i = n; i >= 1; i--) {
            uint64_t t = (uint64_t)n * (unsigned)j + i;
            for (int b = 0; b < 8; b++) a[7 - b] ^= (uint8_t)(t >> (8 * b));
            memcpy(a + 8, out + (i - 1) * 8, 8);
            aes_decrypt(&aes, a, result);
            memcpy(a, result, 8);
            memcpy(out + (i - 1) * 8, result + 8, 8);
        }
    for (int b = 0; b < 8; b++)
        if (a[b] != 0xa6) return false;
    return true;
}

bool RULE(dek_import)(const struct context *context, struct dek *dek) {
    const struct dek_attr *attr = &dek->attr;
    size_t pair = attr->size256 ? 64 : 32, len = pair + (attr->has_keytag ? 8 : 0);
    uint8_t plain[80];
    if (personality()->crypto == CRYPTO_PLAINTEXT) memcpy(plain, attr->key, len);
    else if (!context->logins || !key_unwraps(attr->key, len + 8, plain)) return false;
    memcpy(dek->key, plain, pair);
    if (attr->has_keytag) memcpy(dek->keytag, plain + pair, 8);
    return true;
}

int dek_create(struct context *context, const struct dek_attr *attr, struct dek **out) {
    struct pd *pd = pd_find(attr->pdn);
    if (personality()->crypto == CRYPTO_NONE) return EOPNOTSUPP;
    if (!pd || pd->object.context != context || attr->purpose != PURPOSE_AES_XTS) return EINVAL;
    if (nic.deks.live >= 1u << personality()->log_max_deks) return ENOMEM;
    struct dek *dek = calloc(1, sizeof *dek);
    if (!dek) return ENOMEM;
    dek->attr = *attr;
    int error = dek_import(context, dek) ? table_add(&nic.deks, dek, &dek->number) : EINVAL;
    if (error) {
        free(dek);
        return error;
    }
    dek->pd = pd;
    pd->object.users++;
    object_link(&dek->object, KIND_DEK, context);
    *out = dek;
    return 0;
}

int dek_destroy(struct dek *dek) {
    dek->pd->object.users--;
    table_remove(&nic.deks, dek->number);
    object_unlink(&dek->object);
    free(dek);
    return 0;
}

void RULE(dek_answer)(const struct dek *dek, uint8_t *state, uint8_t opaque[8]) {
    *state = dek->state;
    memcpy(opaque, dek->attr.opaque, sizeof dek->attr.opaque);
}

struct dek *dek_find(uint32_t number) { return table_get(&nic.deks, number); }

/* "A valid crypto login object or session must be present" to query a wrapped key. */
bool RULE(dek_may_be_queried)(const struct dek *dek) {
    return personality()->crypto != CRYPTO_WRAPPED || dek->object.context->logins;
}

/* The stored credential of this id is what the given one unwraps to, by the import key of its id.
 */
bool RULE(login_matches)(const struct login_attr *attr) {
    const struct personality *own = personality();
    uint8_t plain[sizeof own->credential];
    return attr->credential_id == own->credential_id && attr->kek_id == own->kek_id &&
           key_unwraps(attr->credential, sizeof attr->credential, plain) &&
           !memcmp(plain, own->credential, sizeof plain);
}

/* "Only one crypto login object can be created per device context." */
bool RULE(login_fits)(const struct context *context) { return !context->logins; }

uint8_t RULE(login_answer)(const struct login *login) { return login->state; }

int login_create(struct context *context, const struct login_attr *attr, struct login **out) {
    if (personality()->crypto != CRYPTO_WRAPPED) return EOPNOTSUPP;
    if (!login_matches(attr)) return EINVAL;
    if (!login_fits(context)) return EEXIST;
    struct login *login = calloc(1, sizeof *login);
    if (!login) return ENOMEM;
    int error = table_add(&nic.logins, login, &login->number);
    if (error) {
        free(login);
        return error;
    }
    context->logins++;
    object_link(&login->object, KIND_LOGIN, context);
    *out = login;
    return 0;
}

/* Keys that were imported meanwhile stay usable (mlx5dv_crypto_login). */
void RULE(login_gone)(struct context *context) { context->logins--; }

int login_destroy(struct login *login) {
    login_gone(login->object.context);
    table_remove(&nic.logins, login->number);
    object_unlink(&login->object);
    free(login);
    return 0;
}

struct login *login_find(uint32_t number) { return table_get(&nic.logins, number); }
