/* DEVX: commands in the firmware's own words. A command that the firmware refuses fails with
 * EREMOTEIO, and the first byte of the answer says why. One that is not done here fails with
 * EOPNOTSUPP. */
#include "devx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/mlx5_user_ioctl_cmds.h>

#include "pure/bits.h"

enum {
    CREATE_MKEY = 0x200,
    QUERY_MKEY = 0x201,
    QUERY_QP = 0x50b,
    CREATE_PSV = 0x600,
    CREATE_GENERAL_OBJECT = 0xa00,
    QUERY_GENERAL_OBJECT = 0xa02
};
enum { OBJECT_DEK = 0x0c, OBJECT_LOGIN = 0x1f, OBJECT_AV_QP_MAPPING = 0x3a };

uint64_t devx_get(const uint8_t *from, unsigned bit, unsigned width) {
    uint64_t value = 0;

    for (; width--; bit++) value = value << 1 | (from[bit / 8] >> (7 - bit % 8) & 1);
    return value;
}

void devx_set(uint8_t *to, unsigned bit, unsigned width, uint64_t value) {
    while (width--) {
        uint8_t one = (uint8_t)(0x80 >> (bit + width) % 8), *byte = &to[(bit + width) / 8];

        *byte = value & 1 ? *byte | one : *byte & (uint8_t)~one;
        value >>= 1;
    }
}

/* One command at a time has the mailboxes: all of them come under the mutex. */
static uint8_t inbox[DEVX_MOST], outbox[DEVX_OUT];

static int mailbox_in(const struct command *command, uint16_t id, struct mailbox *box) {
    size_t length = attr_room(command, id);

    *box = (struct mailbox){.in = inbox, .length = length, .out = outbox};
    memset(outbox, 0, sizeof(outbox));
    return attr_in(command, id, inbox, DEVX_HEADER, length > DEVX_LEAST ? length : DEVX_LEAST);
}

/* Answers with a status; of a command that was refused nothing else. */
static int mailbox_out(struct command *command, uint16_t id, const struct mailbox *box,
                       uint8_t status) {
    int error;

    box->out[0] = status;
    error = attr_out(command, id, box->out, status ? DEVX_HEADER : DEVX_OUT);
    return error ? error : status ? EREMOTEIO : 0;
}

static uint8_t status_of(int error) {
    switch (error) {
    case 0: return STATUS_OK;
    case ENOMEM: return STATUS_LIM;
    case EBUSY: return STATUS_RES_BUSY;
    case ENOENT: return STATUS_BAD_RES;
    case EEXIST: return STATUS_BAD_RES_STATE;
    case EMSGSIZE: return STATUS_BAD_LENGTH;
    default: return STATUS_BAD_PARAM;
    }
}

int devx_other(struct command *command) {
    struct mailbox box;
    uint8_t status = STATUS_BAD_OP;
    int error = mailbox_in(command, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, &box);

    if (!error) error = devx_general(&box, &status);
    return error ? error : mailbox_out(command, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, &box, status);
}

/* ---- objects ----------------------------------------------------------------------------- */

/* The object at byte 16 of CREATE_GENERAL_OBJECT for an encryption key. */
static int create_dek(struct context *context, const uint8_t *in, struct dek **out) {
    const uint8_t *body = in + DEVX_HEADER;
    enum { SIZE_256 = 1 };
    struct dek_attr attr = {
        .pdn = load_be24(body + 0x0d),
        .size256 = (body[0x0a] & 15) == SIZE_256,
        .has_keytag = body[0x0b] >> 7,
        .purpose = body[0x0b] & 15,
    };

    if ((body[0x0a] & 15) > SIZE_256) return EINVAL;
    memcpy(attr.opaque, body + 0x30, sizeof(attr.opaque));
    memcpy(attr.key, body + 0x40, sizeof(attr.key));
    return dek_create(context, &attr, out);
}

/* The same for a login. */
static int create_login(struct context *context, const uint8_t *in, struct login **out) {
    const uint8_t *body = in + DEVX_HEADER;
    struct login_attr attr = {.credential_id = load_be24(body + 0x11),
                              .kek_id = load_be24(body + 0x15)};

    memcpy(attr.credential, body + 0x40, sizeof(attr.credential));
    return login_create(context, &attr, out);
}

static int create_av_mapping(struct context *context, struct other **out) {
    static uint32_t last;
    struct other *mapping;

    if (!personality()->dc) return EOPNOTSUPP;
    mapping = calloc(1, sizeof(*mapping));
    if (!mapping) return ENOMEM;
    mapping->what = OTHER_AV_MAPPING;
    mapping->number = ++last;
    object_link(&mapping->object, KIND_OTHER, context);
    *out = mapping;
    return 0;
}

static int create_general(struct context *context, const uint8_t *in, struct object **object,
                          uint32_t *number) {
    struct dek *dek;
    struct login *login;
    struct other *mapping;
    int error;

    switch (load_be16(in + 6)) {
    case OBJECT_DEK:
        error = create_dek(context, in, &dek);
        if (!error) *object = &dek->object, *number = dek->number;
        return error;
    case OBJECT_LOGIN:
        error = create_login(context, in, &login);
        if (!error) *object = &login->object, *number = login->number;
        return error;
    case OBJECT_AV_QP_MAPPING:
        error = create_av_mapping(context, &mapping);
        if (!error) *object = &mapping->object, *number = mapping->number;
        return error;
    }
    return EOPNOTSUPP;
}

/* ENOENT: not an object that DEVX made. */
static int destroy(struct object *object) {
    switch (object->kind) {
    case KIND_KEY:
        return ((struct key *)object)->type == KEY_MKEY ? key_destroy((struct key *)object)
                                                        : ENOENT;
    case KIND_PSV: return psv_destroy((struct psv *)object);
    case KIND_DEK: return dek_destroy((struct dek *)object);
    case KIND_LOGIN: return login_destroy((struct login *)object);
    case KIND_OTHER:
        if (((struct other *)object)->what != OTHER_AV_MAPPING) return ENOENT;
        object_unlink(object);
        free(object);
        return 0;
    default: return ENOENT;
    }
}

int devx_create(struct command *command) {
    struct context *context = command->file->context;
    struct mailbox box;
    struct object *object = NULL;
    struct psv *psv;
    uint32_t number;
    int error = mailbox_in(command, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, &box);

    if (error) return error;
    switch (load_be16(box.in)) {
    case CREATE_MKEY: error = devx_create_mkey(command, &box, &object); break;
    case CREATE_PSV:
        /* One at a time: an object is all that a handle stands for. */
        error = box.in[8] >> 4 == 1 ? psv_create(context, load_be24(box.in + 9), &psv) : EINVAL;
        if (!error) object = &psv->object, devx_set(box.out, 0x88, 24, psv->number);
        break;
    case CREATE_GENERAL_OBJECT:
        error = create_general(context, box.in, &object, &number);
        if (!error) store_be32(box.out + 8, number);
        break;
    default: return EOPNOTSUPP;
    }
    if (!error) {
        error = handle_add(command->file, object);
        if (error) destroy(object);
    }
    if (error)
        return mailbox_out(command, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, &box, status_of(error));
    error = mailbox_out(command, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, &box, STATUS_OK);
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

    if (!error) handle_drop(command->file, handle);
    return error;
}

int devx_modify(struct command *command) {
    struct object *object = attr_any(command, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE);
    struct mailbox box;
    uint8_t status;
    int error = mailbox_in(command, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, &box);

    if (error) return error;
    if (!object) return ENOENT;
    error =
        object->kind == KIND_QP ? devx_modify_qp((struct qp *)object, &box, &status) : EOPNOTSUPP;
    return error ? error : mailbox_out(command, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, &box, status);
}

static int query_general(const struct object *object, const uint8_t *in, uint8_t *out) {
    uint8_t *body = out + DEVX_HEADER;
    uint16_t type;
    uint32_t number;

    switch (object->kind) {
    case KIND_DEK: {
        const struct dek *dek = (const struct dek *)object;

        type = OBJECT_DEK;
        number = dek->number;
        if (!dek_may_be_queried(dek)) return EINVAL;
        /* the key itself never comes back */
        dek_answer(dek, body + 8, body + 0x30);
        body[0x0a] = dek->attr.size256;
        body[0x0b] = (uint8_t)(dek->attr.has_keytag << 7 | (dek->attr.purpose & 15));
        devx_set(body, 0x68, 24, dek->attr.pdn);
        break;
    }
    case KIND_LOGIN:
        type = OBJECT_LOGIN;
        number = ((const struct login *)object)->number;
        body[0x10] = login_answer((const struct login *)object) & 15;
        break;
    case KIND_OTHER:
        if (((const struct other *)object)->what != OTHER_AV_MAPPING) return EINVAL;
        type = OBJECT_AV_QP_MAPPING;
        number = ((const struct other *)object)->number;
        break;
    default: return EINVAL;
    }
    store_be32(out + 8, number);
    return load_be16(in + 6) == type && load_be32(in + 8) == number ? 0 : EINVAL;
}

int devx_query(struct command *command) {
    struct object *object = attr_any(command, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE);
    struct mailbox box;
    int error = mailbox_in(command, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, &box);

    if (error) return error;
    if (!object) return ENOENT;
    switch (load_be16(box.in)) {
    case QUERY_QP:
        error = object->kind == KIND_QP ? devx_query_qp((struct qp *)object, &box) : EINVAL;
        break;
    case QUERY_MKEY:
        error = object->kind == KIND_KEY && ((struct key *)object)->type == KEY_MKEY
                    ? devx_query_mkey((struct key *)object, &box)
                    : EINVAL;
        break;
    case QUERY_GENERAL_OBJECT: error = query_general(object, box.in, box.out); break;
    default: return EOPNOTSUPP;
    }
    return error ? error
                 : mailbox_out(command, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, &box, STATUS_OK);
}
