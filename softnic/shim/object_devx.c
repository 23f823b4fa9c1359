/* DEVX: commands in the firmware's own words. A mailbox goes in, a mailbox comes out; a command that the firmware refuses fails with
 * EREMOTEIO, and the first byte of the answer says why. All numbers are big endian; bits are counted from the most significant one. */
#include "shim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/mlx5_user_ioctl_cmds.h>

#include "pure/bits.h"

enum {
    QUERY_HCA_CAP = 0x100, CREATE_MKEY = 0x200, RTS2RTS_QP = 0x505, QUERY_QP = 0x50b, INIT2INIT_QP = 0x50e, CREATE_PSV = 0x600,
    CREATE_GENERAL_OBJECT = 0xa00, QUERY_GENERAL_OBJECT = 0xa02,
};
enum {
    STATUS_OK = 0, STATUS_BAD_PARAM = 3, STATUS_BAD_RES = 5, STATUS_RES_BUSY = 6, STATUS_LIM = 8, STATUS_BAD_RES_STATE = 9,
    STATUS_BAD_QP_STATE = 0x10,
};
enum { OBJECT_DEK = 0x0c, OBJECT_LOGIN = 0x1f, OBJECT_AV_QP_MAPPING = 0x3a };
enum { IN_BYTES = 512, OUT_BYTES = 16 + 4096, HEADER_BYTES = 16, CAP_BYTES = 4096 };

static bool bit(const uint8_t *from, unsigned number) {
    return from[number / 8] & 0x80 >> number % 8;
}

static int mailbox_in(const struct command *command, uint16_t id, uint8_t in[IN_BYTES]) {
    return attr_in(command, id, in, HEADER_BYTES, IN_BYTES);
}

/* Answers with a status; the rest of the mailbox is the caller's. */
static int mailbox_out(struct command *command, uint16_t id, uint8_t *out, size_t size, uint8_t status) {
    int error;

    out[0] = status;
    error = attr_out(command, id, out, size);
    return error ? error : status ? EREMOTEIO : 0;
}

static uint8_t status_of(int error) {
    switch (error) {
    case 0: return STATUS_OK;
    case ENOMEM: return STATUS_LIM;
    case EBUSY: return STATUS_RES_BUSY;
    case ENOENT: return STATUS_BAD_RES;
    case EEXIST: return STATUS_BAD_RES_STATE;
    default: return STATUS_BAD_PARAM;
    }
}

int devx_other(struct command *command) {
    uint8_t in[IN_BYTES], out[OUT_BYTES] = { 0 };
    int error = mailbox_in(command, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in);

    if (error)
        return error;
    if (load_be16(in) != QUERY_HCA_CAP)
        return EOPNOTSUPP;
    if (!capability_page(load_be16(in + 6), out + HEADER_BYTES, CAP_BYTES))
        return mailbox_out(command, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out, HEADER_BYTES, STATUS_BAD_PARAM);
    return mailbox_out(command, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out, sizeof(out), STATUS_OK);
}

/* ---- objects ------------------------------------------------------------------------------------------------------------------------ */

/* The mkey context at byte 16 of CREATE_MKEY. */
static int create_mkey(struct context *context, const uint8_t *in, struct key **out) {
    const uint8_t *mkc = in + 0x10;
    enum { MODE_KLM = 2, MODE_KSM = 3 };
    unsigned mode = (mkc[0] >> 2 & 7) << 2 | (mkc[2] & 3);
    struct mkey_attr attr = {
        .pdn = load_be24(mkc + 0x0d), .qpn = load_be24(mkc + 4), .tag = mkc[7], .free = bit(mkc, 0x01), .umr_enabled = bit(mkc, 0x10),
        .remote_invalidate = bit(mkc, 0x67), .bsf_enabled = bit(mkc, 0x61), .crypto_enabled = bit(mkc, 0x1e3) || bit(mkc, 0x1e4),
        .start = load_be64(mkc + 0x10), .length = load_be64(mkc + 0x18), .max_entries = load_be32(mkc + 0x34), .bsf_room = load_be32(mkc + 0x20),
        .rights = (bit(mkc, 0x11) ? RIGHT_ATOMIC : 0u) | (bit(mkc, 0x12) ? RIGHT_REMOTE_WRITE : 0u) | (bit(mkc, 0x13) ? RIGHT_REMOTE_READ : 0u) |
                  (bit(mkc, 0x14) ? RIGHT_LOCAL_WRITE : 0u) | (bit(mkc, 0x15) ? RIGHT_LOCAL_READ : 0u),
    };

    /* access_mode is split: bits 4:2 of it at 3, bits 1:0 at 0x16. Keys that are tables of pages need memory which only a kernel pins. */
    if (mode != MODE_KLM && mode != MODE_KSM)
        return EINVAL;
    if (mode == MODE_KSM) {
        attr.log_entity_size = mkc[0x3b] & 0x1f;
        if (!attr.log_entity_size)
            return EINVAL;
    }
    /* translations_octword_actual_size: entries that come along with the command; drivers configure by UMR instead. */
    if (load_be32(in + 0x60))
        return EOPNOTSUPP;
    return mkey_create(context, &attr, out);
}

/* The object at byte 16 of CREATE_GENERAL_OBJECT for an encryption key. */
static int create_dek(struct context *context, const uint8_t *in, struct dek **out) {
    const uint8_t *body = in + HEADER_BYTES;
    enum { SIZE_256 = 1 };
    struct dek_attr attr = {
        .pdn = load_be24(body + 0x0d), .size256 = (body[0x0a] & 15) == SIZE_256, .has_keytag = body[0x0b] >> 7, .purpose = body[0x0b] & 15,
    };

    if ((body[0x0a] & 15) > SIZE_256)
        return EINVAL;
    memcpy(attr.opaque, body + 0x30, sizeof(attr.opaque));
    memcpy(attr.key, body + 0x40, sizeof(attr.key));
    return dek_create(context, &attr, out);
}

static int create_av_mapping(struct context *context, struct other **out) {
    static uint32_t last;
    struct other *mapping;

    if (!personality()->dc)
        return EOPNOTSUPP;
    mapping = calloc(1, sizeof(*mapping));
    if (!mapping)
        return ENOMEM;
    mapping->what = OTHER_AV_MAPPING;
    mapping->number = ++last;
    object_link(&mapping->object, KIND_OTHER, context);
    *out = mapping;
    return 0;
}

static int create_general(struct context *context, const uint8_t *in, struct object **object, uint32_t *number) {
    struct dek *dek;
    struct login *login;
    struct other *mapping;
    int error;

    switch (load_be16(in + 6)) {
    case OBJECT_DEK:
        error = create_dek(context, in, &dek);
        if (!error)
            *object = &dek->object, *number = dek->number;
        return error;
    case OBJECT_LOGIN:
        error = login_create(context, &login);
        if (!error)
            *object = &login->object, *number = login->number;
        return error;
    case OBJECT_AV_QP_MAPPING:
        error = create_av_mapping(context, &mapping);
        if (!error)
            *object = &mapping->object, *number = mapping->number;
        return error;
    }
    return EOPNOTSUPP;
}

/* ENOENT: not an object that DEVX made. */
static int destroy(struct object *object) {
    switch (object->kind) {
    case KIND_KEY:
        return ((struct key *)object)->type == KEY_MKEY ? key_destroy((struct key *)object) : ENOENT;
    case KIND_PSV:
        return psv_destroy((struct psv *)object);
    case KIND_DEK:
        return dek_destroy((struct dek *)object);
    case KIND_LOGIN:
        return login_destroy((struct login *)object);
    case KIND_OTHER:
        if (((struct other *)object)->what != OTHER_AV_MAPPING)
            return ENOENT;
        object_unlink(object);
        free(object);
        return 0;
    default:
        return ENOENT;
    }
}

static void store_be24(uint8_t *to, uint32_t value) {
    to[0] = (uint8_t)(value >> 16);
    store_be16(to + 1, (uint16_t)value);
}

int devx_create(struct command *command) {
    struct context *context = command->file->context;
    uint8_t in[IN_BYTES], out[32] = { 0 };
    struct object *object = NULL;
    struct key *key;
    struct psv *psv;
    uint32_t number;
    int error = mailbox_in(command, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, in);

    if (error)
        return error;
    switch (load_be16(in)) {
    case CREATE_MKEY:
        error = create_mkey(context, in, &key);
        if (!error)
            object = &key->object, store_be24(out + 9, key->index);
        break;
    case CREATE_PSV:
        /* One at a time: an object is all that a handle stands for. */
        error = in[8] >> 4 == 1 ? psv_create(context, load_be24(in + 9), &psv) : EINVAL;
        if (!error)
            object = &psv->object, store_be24(out + 0x11, psv->number);
        break;
    case CREATE_GENERAL_OBJECT:
        error = create_general(context, in, &object, &number);
        if (!error)
            store_be32(out + 8, number);
        break;
    default:
        return EOPNOTSUPP;
    }
    if (!error) {
        error = handle_add(command->file, object);
        if (error)
            destroy(object);
    }
    if (error)
        return mailbox_out(command, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out, sizeof(out), status_of(error));
    error = mailbox_out(command, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out, sizeof(out), STATUS_OK);
    if (error) {
        handle_drop(command->file, object->handle);
        destroy(object);
        return error;
    }
    attr_out_handle(command, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, object->handle);
    return 0;
}

static void *attr_any(const struct command *command, uint16_t id) {
    for (unsigned i = 0; i < command->count; i++)
        if (command->attr[i].attr_id == id && command->attr[i].data <= UINT32_MAX)
            return handle_get_any(command->file, (uint32_t)command->attr[i].data);
    return NULL;
}

int devx_destroy(struct command *command) {
    struct object *object = attr_any(command, MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE);
    uint32_t handle = object ? object->handle : 0;
    int error = object ? destroy(object) : ENOENT;

    if (!error)
        handle_drop(command->file, handle);
    return error;
}

/* ---- QPs through DEVX ------------------------------------------------------------------------------------------------------------------ */

enum { QPN = 9, OPT_PARAM_MASK = 0x10, QPC = 0x18, QPC_BYTES = 0xe8, MASK_95_32 = 0x108, QPC_EXT = 0x110 };

static uint8_t init2init(struct qp *qp, const uint8_t *in) {
    enum { DRAIN_SIGERR = 1 << 11, MMO = 1 << 3 };
    uint32_t mask = load_be32(in + OPT_PARAM_MASK);
    uint64_t extended = bit(in, 0x40) ? load_be64(in + MASK_95_32) : 0;
    int error = 0;

    if (mask & ~(uint32_t)DRAIN_SIGERR || extended & ~(uint64_t)MMO)
        return STATUS_BAD_PARAM;
    if (qp_uverbs_state(qp) != STATE_INIT)
        return STATUS_BAD_QP_STATE;
    if (mask & DRAIN_SIGERR)
        error = qp_set_drain_sigerr(qp, bit(in + QPC, 0x25));
    if (!error && extended & MMO)
        error = qp_set_mmo(qp, bit(in + QPC_EXT, 2));
    return status_of(error);
}

static uint8_t rts2rts(struct qp *qp, const uint8_t *in) {
    enum { DCI_STREAM_CHANNEL_ID = 1 << 0 };
    uint64_t extended = bit(in, 0x40) ? load_be64(in + MASK_95_32) : 0;

    if (load_be32(in + OPT_PARAM_MASK) || extended != DCI_STREAM_CHANNEL_ID)
        return STATUS_BAD_PARAM;
    if (qp_uverbs_state(qp) != STATE_RTS)
        return STATUS_BAD_QP_STATE;
    return status_of(qp_reset_stream(qp, load_be16(in + QPC_EXT + 2)));
}

int devx_modify(struct command *command) {
    struct object *object = attr_any(command, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE);
    uint8_t in[IN_BYTES], out[HEADER_BYTES] = { 0 }, status;
    struct qp *qp;
    int error = mailbox_in(command, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, in);

    if (error)
        return error;
    if (!object)
        return ENOENT;
    if (object->kind != KIND_QP)
        return EOPNOTSUPP;
    qp = (struct qp *)object;
    if (load_be24(in + QPN) != qp->number)
        return EINVAL;
    switch (load_be16(in)) {
    case INIT2INIT_QP: status = init2init(qp, in); break;
    case RTS2RTS_QP: status = rts2rts(qp, in); break;
    default: return EOPNOTSUPP;
    }
    return mailbox_out(command, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, out, sizeof(out), status);
}

/* The QP context, as far as anybody asks: the state and how far the send queue got. */
static int query_qp_context(struct qp *qp, const uint8_t *in, uint8_t *out) {
    uint8_t *qpc = out + QPC;

    if (load_be24(in + QPN) != qp->number)
        return EINVAL;
    qpc[0] = (uint8_t)(qp_devx_state(qp) << 4);
    qpc[4] = qp->drain_sigerr ? 0x04 : 0;
    store_be24(qpc + 0x05, qp->attr.pd->pdn);
    store_be24(qpc + 0x15, qp->set.dest_qpn);
    store_be16(qpc + 0xb4, qp_sq_counter(qp));
    return 0;
}

static int query_general(const struct object *object, const uint8_t *in, uint8_t *out) {
    uint8_t *body = out + HEADER_BYTES;
    uint16_t type;
    uint32_t number;

    switch (object->kind) {
    case KIND_DEK: {
        const struct dek *dek = (const struct dek *)object;

        type = OBJECT_DEK;
        number = dek->number;
        body[8] = dek->state;
        body[0x0a] = dek->attr.size256;
        body[0x0b] = (uint8_t)(dek->attr.has_keytag << 7 | (dek->attr.purpose & 15));
        store_be24(body + 0x0d, dek->attr.pdn);
        memcpy(body + 0x30, dek->attr.opaque, sizeof(dek->attr.opaque));       /* the key itself never comes back */
        break;
    }
    case KIND_LOGIN:
        type = OBJECT_LOGIN;
        number = ((const struct login *)object)->number;
        body[0x10] = ((const struct login *)object)->state & 15;
        break;
    case KIND_OTHER:
        if (((const struct other *)object)->what != OTHER_AV_MAPPING)
            return EINVAL;
        type = OBJECT_AV_QP_MAPPING;
        number = ((const struct other *)object)->number;
        break;
    default:
        return EINVAL;
    }
    store_be32(out + 8, number);
    return load_be16(in + 6) == type && load_be32(in + 8) == number ? 0 : EINVAL;
}

int devx_query(struct command *command) {
    struct object *object = attr_any(command, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE);
    uint8_t in[IN_BYTES], out[QPC_EXT] = { 0 };
    int error = mailbox_in(command, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, in);

    if (error)
        return error;
    if (!object)
        return ENOENT;
    switch (load_be16(in)) {
    case QUERY_QP:
        error = object->kind == KIND_QP ? query_qp_context((struct qp *)object, in, out) : EINVAL;
        break;
    case QUERY_GENERAL_OBJECT:
        error = query_general(object, in, out);
        break;
    default:
        return EOPNOTSUPP;
    }
    return error ? error : mailbox_out(command, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, out, sizeof(out), STATUS_OK);
}
