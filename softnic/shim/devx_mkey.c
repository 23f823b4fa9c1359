/* Memory keys by DEVX: CREATE_MKEY with its translation, QUERY_MKEY, and the memory that a key may
 * map (DEVX umem). */
#include "devx.h"

#include <errno.h>
#include <string.h>

#include <rdma/mlx5_user_ioctl_cmds.h>

#include "pure/bits.h"
#include "pure/umr.h"

enum { MODE_MTT = 1, MODE_KLM = 2, MODE_KSM = 3 };
enum {
    MKC = 0x10,
    ACTUAL_SIZE = 0x60,
    UMEM_ID = 0x64,
    UMEM_OFFSET = 0x68,
    TRANSLATION = 0x110,
    OCTOWORD = 16
};

/* Places in the mkey context, in bits, and those of its members of whole bytes. */
enum {
    FREE = 0x01,
    ACCESS_MODE_4_2 = 0x03,
    UMR_EN = 0x10,
    A = 0x11,
    RW = 0x12,
    RR = 0x13,
    LW = 0x14,
    LR = 0x15,
    ACCESS_MODE_1_0 = 0x16,
    QPN = 0x20,
    MKEY_7_0 = 0x38,
    LENGTH64 = 0x60,
    BSF_EN = 0x61,
    EXPECTED_SIGERR_COUNT = 0x65,
    EN_RINVAL = 0x67,
    PD = 0x68,
    START_ADDR = 0x80,
    LEN = 0xc0,
    BSF_OCTWORD_SIZE = 0x100,
    TRANSLATIONS_OCTWORD_SIZE = 0x1a0,
    LOG_ENTITY_SIZE = 0x1db,
    CRYPTO_EN = 0x1e3,
};

static const struct {
    uint16_t bit;
    uint32_t right;
} rights[] = {
    {A, RIGHT_ATOMIC},       {RW, RIGHT_REMOTE_WRITE}, {RR, RIGHT_REMOTE_READ},
    {LW, RIGHT_LOCAL_WRITE}, {LR, RIGHT_LOCAL_READ},
};

static void decode(const uint8_t *mkc, struct mkey_attr *attr) {
    *attr = (struct mkey_attr){
        .pdn = (uint32_t)devx_get(mkc, PD, 24),
        .qpn = (uint32_t)devx_get(mkc, QPN, 24),
        .tag = (uint8_t)devx_get(mkc, MKEY_7_0, 8),
        .free = devx_get(mkc, FREE, 1),
        .umr_enabled = devx_get(mkc, UMR_EN, 1),
        .remote_invalidate = devx_get(mkc, EN_RINVAL, 1),
        .bsf_enabled = devx_get(mkc, BSF_EN, 1),
        .crypto_enabled = devx_get(mkc, CRYPTO_EN, 2),
        .start = devx_get(mkc, START_ADDR, 64),
        .length = devx_get(mkc, LENGTH64, 1) ? UINT64_MAX : devx_get(mkc, LEN, 64),
        .bsf_room = (uint32_t)devx_get(mkc, BSF_OCTWORD_SIZE, 32),
        .max_entries = (uint32_t)devx_get(mkc, TRANSLATIONS_OCTWORD_SIZE, 32),
    };
    for (size_t i = 0; i < sizeof(rights) / sizeof(*rights); i++)
        attr->rights |= devx_get(mkc, rights[i].bit, 1) ? rights[i].right : 0;
}

/* Tables of page addresses: a program has no physical ones, so the kernel lets them come from
 * registered memory only. */
static int from_umem(const struct command *command, const struct mailbox *box,
                     struct mkey_attr *attr) {
    struct umem *umem = umem_find(load_be32(box->in + UMEM_ID));

    if (!umem || umem->object.context != command->file->context || attr->bsf_room ||
        attr->crypto_enabled)
        return EINVAL;
    attr->umem = umem;
    attr->umem_offset = load_be64(box->in + UMEM_OFFSET);
    attr->max_entries = 0; /* of pages, which nothing here counts */
    return 0;
}

static int with_entries(const struct mailbox *box, struct mkey_attr *attr) {
    attr->entries = load_be32(box->in + ACTUAL_SIZE);
    if (attr->entries > attr->max_entries) return EINVAL;
    if (box->length < TRANSLATION + (size_t)attr->entries * OCTOWORD) return EMSGSIZE;
    attr->translation = box->in + TRANSLATION;
    return 0;
}

int devx_create_mkey(const struct command *command, const struct mailbox *box,
                     struct object **object) {
    const uint8_t *mkc = box->in + MKC;
    struct mkey_attr attr;
    struct key *key;
    int error = EINVAL;

    decode(mkc, &attr);
    switch (devx_get(mkc, ACCESS_MODE_4_2, 3) << 2 | devx_get(mkc, ACCESS_MODE_1_0, 2)) {
    case MODE_MTT: error = from_umem(command, box, &attr); break;
    case MODE_KSM:
        attr.log_entity_size = (uint8_t)devx_get(mkc, LOG_ENTITY_SIZE, 5);
        if (!attr.log_entity_size) return EINVAL;
        error = with_entries(box, &attr);
        break;
    case MODE_KLM: error = with_entries(box, &attr); break;
    }
    if (!error) error = mkey_create(command->file->context, &attr, &key);
    if (error) return error;
    devx_set(box->out, 0x48, 24, key->index);
    *object = &key->object;
    return 0;
}

/* The first two entries, as the device holds them. */
static void first_entries(const struct key *key, uint8_t *to) {
    for (uint32_t i = 0; i < 2; i++, to += OCTOWORD) {
        if (key->layout == LAYOUT_LIST && i < key->klms)
            translation_encode_klm(key->klm[i].length, key->klm[i].key, key->klm[i].addr, to);
        else if (key->layout == LAYOUT_STRIDED && !i)
            translation_encode_repeat(key->bytes_per_repeat, key->repeat, (uint16_t)key->strides,
                                      to);
        else if (key->layout == LAYOUT_STRIDED && key->strides)
            translation_encode_stride(key->stride->stride, key->stride->length, key->stride->key,
                                      key->stride->addr, to);
    }
}

int devx_query_mkey(const struct key *key, const struct mailbox *box) {
    uint8_t *mkc = box->out + MKC;

    if (devx_get(box->in, 0x48, 24) != key->index) return EINVAL;
    devx_set(mkc, FREE, 1, key->free);
    devx_set(mkc, UMR_EN, 1, key->umr_enabled);
    for (size_t i = 0; i < sizeof(rights) / sizeof(*rights); i++)
        devx_set(mkc, rights[i].bit, 1, !!(key->rights & rights[i].right));
    devx_set(mkc, ACCESS_MODE_1_0, 2,
             key->umem              ? MODE_MTT
             : key->log_entity_size ? MODE_KSM
                                    : MODE_KLM);
    devx_set(mkc, QPN, 24, key->qpn);
    devx_set(mkc, MKEY_7_0, 8, key->tag);
    devx_set(mkc, LENGTH64, 1, key->length == UINT64_MAX);
    devx_set(mkc, BSF_EN, 1, key->bsf_enabled);
    devx_set(mkc, EXPECTED_SIGERR_COUNT, 1, key->armed);
    devx_set(mkc, EN_RINVAL, 1, key->remote_invalidate);
    devx_set(mkc, PD, 24, key->pd->pdn);
    devx_set(mkc, START_ADDR, 64, key->start);
    devx_set(mkc, LEN, 64, key->length == UINT64_MAX ? 0 : key->length);
    devx_set(mkc, BSF_OCTWORD_SIZE, 32, key->bsf_room);
    devx_set(mkc, TRANSLATIONS_OCTWORD_SIZE, 32, key->max_entries);
    devx_set(mkc, LOG_ENTITY_SIZE, 5, key->log_entity_size);
    devx_set(mkc, CRYPTO_EN, 2, key->crypto_able);
    first_entries(key, box->out + TRANSLATION);
    return 0;
}

/* ---- DEVX umem --------------------------------------------------------------------------- */

int register_umem(struct command *command) {
    enum {
        KNOWN = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |
        IB_UVERBS_ACCESS_REMOTE_READ
    };
    uint64_t start, length, access = 0, sizes = PAGE_BYTES;
    struct umem *umem;
    int error = attr_number(command, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, &start);

    if (!error) error = attr_number(command, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, &length);
    if (!error && attr_has(command, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS))
        error = attr_number(command, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, &access);
    if (!error && attr_has(command, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP))
        error = attr_number(command, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, &sizes);
    if (error) return error;
    if (attr_has(command, MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD)) return EOPNOTSUPP;
    if (access & ~(uint64_t)KNOWN ||
        (access & IB_UVERBS_ACCESS_REMOTE_WRITE && !(access & IB_UVERBS_ACCESS_LOCAL_WRITE)))
        return EINVAL;
    if (!length || start + length < start || !(sizes & ~(uint64_t)(PAGE_BYTES - 1))) return EINVAL;
    if (!user_is_allowed(start, length, access & IB_UVERBS_ACCESS_LOCAL_WRITE)) return EFAULT;
    error = umem_create(command->file->context, start, length, (uint32_t)access, &umem);
    if (error) return error;
    error = handle_add(command->file, umem);
    if (!error) {
        error = attr_out_number(command, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, umem->number,
                                sizeof(uint32_t));
        if (error) handle_drop(command->file, umem->object.handle);
    }
    if (error) {
        umem_destroy(umem);
        return error;
    }
    attr_out_handle(command, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, umem->object.handle);
    return 0;
}

int deregister_umem(struct command *command) {
    struct umem *umem;
    uint32_t handle;
    int error = attr_object(command, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, KIND_UMEM, &umem);

    if (error) return error;
    handle = umem->object.handle;
    error = umem_destroy(umem);
    if (!error) handle_drop(command->file, handle);
    return error;
}
