/* Keys as objects: memory regions, mkeys and memory windows. What they reach is reach.c's, what a UMR changes is configure.c's. */
#include <errno.h>
#include <stdlib.h>

#include "engine.h"

enum { ACCESS_LOCAL_WRITE = 1, ACCESS_REMOTE_WRITE = 2, ACCESS_REMOTE_READ = 4, ACCESS_REMOTE_ATOMIC = 8, ACCESS_ZERO_BASED = 32, ACCESS_ON_DEMAND = 64 };

static uint32_t rights_of(uint32_t access) {
    return RIGHT_LOCAL_READ | (access & ACCESS_LOCAL_WRITE ? RIGHT_LOCAL_WRITE : 0) | (access & ACCESS_REMOTE_READ ? RIGHT_REMOTE_READ : 0)
           | (access & ACCESS_REMOTE_WRITE ? RIGHT_REMOTE_WRITE : 0) | (access & ACCESS_REMOTE_ATOMIC ? RIGHT_ATOMIC : 0);
}

static int key_create(struct context *context, struct pd *pd, enum key_type type, struct key **out) {
    struct key *key = calloc(1, sizeof *key);
    if (!key) return ENOMEM;
    int error = table_add(&nic.keys, key, &key->index);
    if (error) {
        free(key);
        return error;
    }
    key->type = type;
    key->pd = pd;
    key->qpn = ANY_QPN;
    pd->object.users++;
    object_link(&key->object, KIND_KEY, context);
    *out = key;
    return 0;
}

int mr_create(struct pd *pd, uint64_t addr, uint64_t length, uint64_t iova, uint32_t access, struct key **out) {
    static uint8_t turn;                /* a key that was freed is not soon the same again */
    int error = key_create(pd->object.context, pd, KEY_MR, out);
    if (error) return error;
    struct key *mr = *out;
    mr->tag = ++turn;
    mr->base = addr, mr->length = length;
    mr->start = iova;
    mr->rights = rights_of(access);
    return 0;
}

int mr_modify(struct key *mr, uint32_t what, struct pd *pd, uint64_t addr, uint64_t length, uint64_t iova, uint32_t access) {
    if (mr->type != KEY_MR) return EINVAL;
    if (what & MR_TRANSLATION) mr->base = addr, mr->length = length, mr->start = iova;
    if (what & MR_ACCESS) mr->rights = rights_of(access);
    if (what & MR_PD) {
        mr->pd->object.users--;
        mr->pd = pd;
        pd->object.users++;
    }
    return 0;
}

int mw_create(struct pd *pd, uint8_t type, struct key **out) {
    int error = key_create(pd->object.context, pd, KEY_MW, out);
    if (error) return error;
    (*out)->mw_type = type;
    (*out)->free = true;
    (*out)->umr_enabled = true;
    (*out)->max_entries = 4;
    (*out)->rights = RIGHT_LOCAL_READ;
    return 0;
}

int mkey_create(struct context *context, const struct mkey_attr *attr, struct key **out) {
    struct pd *pd = pd_find(attr->pdn);
    if (!pd || pd->object.context != context) return EINVAL;
    if (attr->max_entries > personality()->max_mkey_entries) return EINVAL;
    if (attr->bsf_enabled && !personality()->signatures && personality()->crypto == CRYPTO_NONE) return EINVAL;
    if (attr->crypto_enabled && personality()->crypto == CRYPTO_NONE) return EINVAL;
    int error = key_create(context, pd, KEY_MKEY, out);
    if (error) return error;
    struct key *key = *out;
    key->tag = attr->tag;
    key->free = attr->free;
    key->umr_enabled = attr->umr_enabled;
    key->remote_invalidate = attr->remote_invalidate;
    key->bsf_able = attr->bsf_enabled || attr->crypto_enabled;
    key->crypto_able = attr->crypto_enabled;
    key->qpn = attr->qpn;
    key->rights = attr->rights;
    key->start = attr->start, key->length = attr->length;
    key->max_entries = attr->max_entries;
    return 0;
}

int key_destroy(struct key *key) {
    if (key->object.users) return EBUSY;
    key->pd->object.users--;
    table_remove(&nic.keys, key->index);
    object_unlink(&key->object);
    free(key->klm);
    free(key->stride);
    free(key->sig);
    free(key->crypto);
    free(key);
    return 0;
}

struct key *key_find(uint32_t value) { return table_get(&nic.keys, value >> 8); }

/* Free again. What was configured stays in the key (catalogue X-DIFF-27), out of reach until a UMR takes it into use. */
void key_invalidate(struct key *key) {
    key->free = true;
    key->qpn = ANY_QPN;
}
