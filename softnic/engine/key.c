/* Keys as objects: memory regions, mkeys and memory windows. What they reach is reach.c's, what a
 * UMR changes is configure.c's. */
#include <errno.h>
#include <stdlib.h>

#include "engine.h"
#include "pure/rule.h"

enum {
    ACCESS_LOCAL_WRITE = 1,
    ACCESS_REMOTE_WRITE = 2,
    ACCESS_REMOTE_READ = 4,
    ACCESS_REMOTE_ATOMIC = 8,
    ACCESS_MW_BIND = 16,
    ACCESS_ZERO_BASED = 32,
    ACCESS_ON_DEMAND = 64
};

static uint32_t rights_of(uint32_t access) {
    return RIGHT_LOCAL_READ | (access & ACCESS_LOCAL_WRITE ? RIGHT_LOCAL_WRITE : 0) |
           (access & ACCESS_REMOTE_READ ? RIGHT_REMOTE_READ : 0) |
           (access & ACCESS_REMOTE_WRITE ? RIGHT_REMOTE_WRITE : 0) |
           (access & ACCESS_REMOTE_ATOMIC ? RIGHT_ATOMIC : 0) |
           (access & ACCESS_MW_BIND ? RIGHT_BIND : 0);
}

uint32_t mr_access(const struct key *mr) {
    return (mr->rights & RIGHT_LOCAL_WRITE ? ACCESS_LOCAL_WRITE : 0) |
           (mr->rights & RIGHT_REMOTE_READ ? ACCESS_REMOTE_READ : 0) |
           (mr->rights & RIGHT_REMOTE_WRITE ? ACCESS_REMOTE_WRITE : 0) |
           (mr->rights & RIGHT_ATOMIC ? ACCESS_REMOTE_ATOMIC : 0) |
           (mr->rights & RIGHT_BIND ? ACCESS_MW_BIND : 0);
}

static int key_create(struct context *context, struct pd *pd, enum key_type type,
                      struct key **out) {
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

int mr_create(struct pd *pd, uint64_t addr, uint64_t length, uint64_t iova, uint32_t access,
              struct key **out) {
    static uint8_t turn; /* a key that was freed is not soon the same again */
    int error = key_create(pd->object.context, pd, KEY_MR, out);
    if (error) return error;
    struct key *mr = *out;
    mr->tag = personality()->recycle ? 0 : ++turn;
    mr->base = addr, mr->length = length;
    mr->start = iova;
    mr->rights = rights_of(access);
    return 0;
}

int mr_modify(struct key *mr, uint32_t what, struct pd *pd, uint64_t addr, uint64_t length,
              uint64_t iova, uint32_t access) {
    if (mr->type != KEY_MR) return EINVAL;
    if (what & MR_TRANSLATION) mr->base = addr, mr->length = length, mr->start = iova;
    if (what & MR_ACCESS) mr->rights = rights_of(access);
    if (what & MR_PD) key_set_pd(mr, pd);
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

void key_set_pd(struct key *key, struct pd *pd) {
    key->pd->object.users--;
    key->pd = pd;
    pd->object.users++;
}

static int mkey_translate(struct key *key, const struct mkey_attr *attr) {
    struct change change = {0};
    if (attr->umem) {
        if (attr->umem_offset > attr->umem->length ||
            attr->length > attr->umem->length - attr->umem_offset)
            return EINVAL;
        if (rights_of(attr->umem->access) !=
            (rights_of(attr->umem->access) |
             (attr->rights & (RIGHT_LOCAL_WRITE | RIGHT_REMOTE_WRITE))))
            return EINVAL;
        key->layout = LAYOUT_MEMORY;
        key->umem = attr->umem, key->base = attr->umem->addr + attr->umem_offset;
        attr->umem->object.users++;
    } else if (attr->entries) {
        if (!layout_change(key, false, 0, attr->translation, attr->entries * 16u, &change))
            return EINVAL;
        layout_apply(key, &change);
    }
    return 0;
}

int RULE(mkey_create)(struct context *context, const struct mkey_attr *attr, struct key **out) {
    struct pd *pd = pd_find(attr->pdn);
    bool bsf = attr->bsf_enabled || attr->bsf_room;
    if (!pd || pd->object.context != context) return EINVAL;
    if (attr->max_entries > personality()->max_mkey_entries) return EINVAL;
    if (bsf && !personality()->signatures && personality()->crypto == CRYPTO_NONE) return EINVAL;
    if (attr->crypto_enabled && personality()->crypto == CRYPTO_NONE) return EINVAL;
    int error = key_create(context, pd, KEY_MKEY, out);
    if (error) return error;
    struct key *key = *out;
    key->tag = attr->tag;
    key->free = attr->free;
    key->umr_enabled = attr->umr_enabled;
    key->remote_invalidate = attr->remote_invalidate;
    key->bsf_enabled = attr->bsf_enabled; /* in force at once; a UMR may change it */
    key->bsf_room = attr->bsf_room;
    key->crypto_able = attr->crypto_enabled;
    key->qpn = attr->qpn;
    key->rights = attr->rights;
    key->start = attr->start, key->length = attr->length;
    key->max_entries = attr->max_entries;
    key->log_entity_size = attr->log_entity_size;
    error = mkey_translate(key, attr);
    if (error) key_destroy(key);
    return error;
}

int umem_create(struct context *context, uint64_t addr, uint64_t length, uint32_t access,
                struct umem **out) {
    struct umem *umem = calloc(1, sizeof *umem);
    if (!umem) return ENOMEM;
    int error = table_add(&nic.umems, umem, &umem->number);
    if (error) {
        free(umem);
        return error;
    }
    umem->addr = addr, umem->length = length, umem->access = access;
    object_link(&umem->object, KIND_UMEM, context);
    *out = umem;
    return 0;
}

int umem_destroy(struct umem *umem) {
    if (umem->object.users) return EBUSY;
    table_remove(&nic.umems, umem->number);
    object_unlink(&umem->object);
    free(umem);
    return 0;
}

struct umem *umem_find(uint32_t number) { return table_get(&nic.umems, number); }

int key_destroy(struct key *key) {
    if (key->object.users) return EBUSY;
    late_unload(NULL); /* what was let in is put down before its memory is given back */
    key->pd->object.users--;
    if (key->umem) key->umem->object.users--;
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

/* Free again. What was configured stays in the key (X-DIFF-27), out of reach until a UMR takes it
 * into use. */
void RULE(key_invalidate)(struct key *key) {
    key->free = true;
    key->qpn = ANY_QPN;
}
