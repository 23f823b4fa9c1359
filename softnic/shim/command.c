/* One RDMA_VERBS_IOCTL: a header and a list of attributes, each a small value in place, a handle,
 * an fd or a pointer. Everything is copied in before it is looked at, and every length is checked
 * against what the answer wants. */
#include "shim.h"

#include <errno.h>
#include <string.h>

#include <rdma/mlx5_user_ioctl_cmds.h>

/* bare: before there is a context, and without the mutex */
struct method {
    uint16_t object, method;
    bool bare;
    answer *run;
};

static answer invoke_write;

static const struct method methods[] = {
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, false, invoke_write},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, true, get_context},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, false, query_context},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, false, query_port},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, false, query_gid_table},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, false, query_gid_entry},
    {UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, false, alloc_async_fd},
    {UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, false, destroy_pd},
    {UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, false, query_pd},
    {UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, false, destroy_ah},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, false, destroy_mr},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, false, query_mr},
    {UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, false, destroy_mw},
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, false, create_cq},
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, false, destroy_cq},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, false, create_qp},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, false, destroy_qp},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, false, create_srq},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, false, destroy_srq},
    {MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, false, devx_other},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, false, devx_create},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, false, devx_destroy},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, false, devx_modify},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, false, devx_query},
    {MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG, false, register_umem},
    {MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, false, deregister_umem},
    {MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, false, alloc_uar},
    {MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, false, destroy_uar},
};

/* Commands that once were written to the file and now come as INVOKE_WRITE. */
static const struct {
    uint32_t number;
    answer *run;
} writes[] = {
    {IB_USER_VERBS_CMD_QUERY_DEVICE, query_device},
    {IB_USER_VERBS_CMD_ALLOC_PD, alloc_pd},
    {IB_USER_VERBS_CMD_CREATE_AH, create_ah},
    {IB_USER_VERBS_CMD_REG_MR, reg_mr},
    {IB_USER_VERBS_CMD_REREG_MR, rereg_mr},
    {IB_USER_VERBS_CMD_ALLOC_MW, alloc_mw},
    {IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, create_comp_channel},
    {IB_USER_VERBS_CMD_RESIZE_CQ, resize_cq},
    {IB_USER_VERBS_CMD_QUERY_QP, query_qp},
    {IB_USER_VERBS_CMD_MODIFY_QP, modify_qp},
    {IB_USER_VERBS_CMD_MODIFY_SRQ, modify_srq},
    {IB_USER_VERBS_CMD_QUERY_SRQ, query_srq},
    {IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE, query_device_ex},
    {IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP, modify_qp_ex},
    {IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_CQ, modify_cq},
};

static int invoke_write(struct command *command) {
    uint64_t number;
    int error = attr_number(command, UVERBS_ATTR_WRITE_CMD, &number);

    if (error) return error;
    /* The probe of libibverbs, by which it learns that it need never write: a QUERY_DEVICE with no
     * room for its answer. It comes before the context exists. */
    if (number == IB_USER_VERBS_CMD_QUERY_DEVICE && !attr_has(command, UVERBS_ATTR_CORE_OUT))
        return ENOSPC;
    if (!command->file->context) return EINVAL;
    for (size_t i = 0; i < sizeof(writes) / sizeof(*writes); i++)
        if (writes[i].number == number) return writes[i].run(command);
    return EOPNOTSUPP;
}

static int run(const struct method *method, struct command *command) {
    int error = EBADF;

    if (method->bare) return method->run(command);
    nic_lock();
    command->file = file_find(command->fd);
    if (command->file)
        error =
            command->file->context || method->run == invoke_write ? method->run(command) : EINVAL;
    nic_unlock();
    return error;
}

static int answered(int fd, void *header) {
    struct command command = {.fd = fd, .address = (uintptr_t)header};
    struct ib_uverbs_ioctl_hdr head;
    int error = user_read(&head, command.address, sizeof(head));

    if (error) return error;
    if (head.length != sizeof(head) + (size_t)head.num_attrs * sizeof(command.attr[0]) ||
        head.num_attrs > COMMAND_MAX_ATTRS)
        return EINVAL;
    command.count = head.num_attrs;
    error = user_read(command.attr, command.address + sizeof(head),
                      command.count * sizeof(command.attr[0]));
    if (error) return error;
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
        if (methods[i].object == head.object_id && methods[i].method == head.method_id) {
            error = run(&methods[i], &command);
            if (!error)
                error = user_write(command.address + sizeof(head), command.attr,
                                   command.count * sizeof(command.attr[0]));
            return error;
        }
    return EOPNOTSUPP;
}

int command_run(int fd, void *header) {
    struct section section;
    int error;

    section_enter(&section);
    error = answered(fd, header);
    section_leave(&section);
    return error;
}

/* ---- attributes -------------------------------------------------------------------------- */

static struct ib_uverbs_attr *find(const struct command *command, uint16_t id) {
    for (unsigned i = 0; i < command->count; i++)
        if (command->attr[i].attr_id == id) return (struct ib_uverbs_attr *)&command->attr[i];
    return NULL;
}

bool attr_has(const struct command *command, uint16_t id) { return find(command, id) != NULL; }

int attr_in(const struct command *command, uint16_t id, void *to, size_t least, size_t size) {
    const struct ib_uverbs_attr *attr = find(command, id);
    size_t length = attr ? attr->len : 0;

    memset(to, 0, size);
    if (length < least) return EINVAL;
    if (length > size) length = size;
    if (!length) return 0;
    /* Up to eight bytes travel in the attribute itself. */
    if (attr->len <= sizeof(attr->data)) {
        memcpy(to, &attr->data, length);
        return 0;
    }
    return user_read(to, attr->data, length);
}

int attr_number(const struct command *command, uint16_t id, uint64_t *value) {
    return attr_in(command, id, value, 1, sizeof(*value));
}

int attr_fd(const struct command *command, uint16_t id) {
    const struct ib_uverbs_attr *attr = find(command, id);

    return attr && attr->data_s64 >= 0 && attr->data_s64 <= INT32_MAX ? (int)attr->data_s64 : -1;
}

int attr_object(const struct command *command, uint16_t id, enum kind kind, void *object) {
    const struct ib_uverbs_attr *attr = find(command, id);
    void *found;

    if (!attr) return EINVAL;
    found = attr->data <= UINT32_MAX ? handle_get(command->file, (uint32_t)attr->data, kind) : NULL;
    memcpy(object, &found, sizeof(found));
    return found ? 0 : ENOENT;
}

size_t attr_room(const struct command *command, uint16_t id) {
    const struct ib_uverbs_attr *attr = find(command, id);

    return attr ? attr->len : 0;
}

int attr_out(struct command *command, uint16_t id, const void *from, size_t size) {
    struct ib_uverbs_attr *attr = find(command, id);
    int error;

    if (!attr) return 0;
    if (size > attr->len) size = attr->len;
    error = user_write(attr->data, from, size);
    if (!error) error = user_zero(attr->data + size, attr->len - size);
    attr->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
    return error;
}

int attr_out_number(struct command *command, uint16_t id, uint64_t value, size_t size) {
    return attr_out(command, id, &value, size);
}

void attr_out_handle(struct command *command, uint16_t id, uint32_t handle) {
    struct ib_uverbs_attr *attr = find(command, id);

    if (!attr) return;
    attr->data = handle;
    attr->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
}

void attr_out_fd(struct command *command, uint16_t id, int fd) {
    attr_out_handle(command, id, (uint32_t)fd);
}

/* ---- handles ----------------------------------------------------------------------------- */

int handle_add(struct file *file, void *object) {
    return table_add(&file->handles, object, &((struct object *)object)->handle);
}

void *handle_get_any(const struct file *file, uint32_t handle) {
    return table_get(&file->handles, handle);
}

void *handle_get(const struct file *file, uint32_t handle, enum kind kind) {
    struct object *object = table_get(&file->handles, handle);

    return object && object->kind == kind ? object : NULL;
}

void handle_drop(struct file *file, uint32_t handle) { table_remove(&file->handles, handle); }
