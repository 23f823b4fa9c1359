/* One write() to /dev/infiniband/rdma_cm: a header, and the request of one command after it. */
#include "cm.h"

#include <errno.h>
#include <string.h>

#include "shim/shim.h"

enum { OPTION_MOST = 512 };

union request {
    struct rdma_ucm_create_id create;
    struct rdma_ucm_destroy_id destroy;
    struct rdma_ucm_bind_ip bind_ip;
    struct rdma_ucm_bind bind;
    struct rdma_ucm_resolve_ip resolve_ip;
    struct rdma_ucm_resolve_addr resolve_addr;
    struct rdma_ucm_resolve_route resolve_route;
    struct rdma_ucm_query query;
    struct rdma_ucm_connect connect;
    struct rdma_ucm_listen listen;
    struct rdma_ucm_accept accept;
    struct rdma_ucm_reject reject;
    struct rdma_ucm_disconnect disconnect;
    struct rdma_ucm_init_qp_attr init_qp_attr;
    struct rdma_ucm_get_event get_event;
    struct rdma_ucm_set_option set_option;
    struct rdma_ucm_notify notify;
    struct rdma_ucm_migrate_id migrate;
};

/* What a command needs: the least bytes of its request (fields at the end came later), where the id
 * is in it, and the bytes of its answer. */
static const struct shape {
    uint16_t least, id, answer;
    bool has_id;
} shapes[] = {
#define END(type, field) \
    offsetof(struct rdma_ucm_##type, field) + sizeof(((struct rdma_ucm_##type *)0)->field)
#define PLAIN(type, last) {END(type, last), offsetof(struct rdma_ucm_##type, id), 0, true}
#define ANSWERED(type, last, size) \
    {END(type, last), offsetof(struct rdma_ucm_##type, id), size, true}
    [RDMA_USER_CM_CMD_CREATE_ID] = {END(create_id, ps), 0, END(create_id_resp, id), false},
    [RDMA_USER_CM_CMD_DESTROY_ID] = ANSWERED(destroy_id, id, END(destroy_id_resp, events_reported)),
    [RDMA_USER_CM_CMD_BIND_IP] = PLAIN(bind_ip, id),
    [RDMA_USER_CM_CMD_BIND] = PLAIN(bind, addr),
    [RDMA_USER_CM_CMD_RESOLVE_IP] = PLAIN(resolve_ip, timeout_ms),
    [RDMA_USER_CM_CMD_RESOLVE_ADDR] = PLAIN(resolve_addr, dst_addr),
    [RDMA_USER_CM_CMD_RESOLVE_ROUTE] = PLAIN(resolve_route, timeout_ms),
    [RDMA_USER_CM_CMD_QUERY_ROUTE] = ANSWERED(query, id, END(query_route_resp, reserved)),
    [RDMA_USER_CM_CMD_CONNECT] = PLAIN(connect, id),
    [RDMA_USER_CM_CMD_LISTEN] = PLAIN(listen, backlog),
    [RDMA_USER_CM_CMD_ACCEPT] = PLAIN(accept, id),
    [RDMA_USER_CM_CMD_REJECT] = PLAIN(reject, private_data),
    [RDMA_USER_CM_CMD_DISCONNECT] = PLAIN(disconnect, id),
    [RDMA_USER_CM_CMD_INIT_QP_ATTR] =
        ANSWERED(init_qp_attr, qp_state, sizeof(struct ib_uverbs_qp_attr)),
    [RDMA_USER_CM_CMD_GET_EVENT] = {END(get_event, response), 0, END(event_resp, param), false},
    [RDMA_USER_CM_CMD_SET_OPTION] = PLAIN(set_option, optlen),
    [RDMA_USER_CM_CMD_NOTIFY] = PLAIN(notify, event),
    [RDMA_USER_CM_CMD_MIGRATE_ID] = ANSWERED(migrate_id, fd, END(migrate_resp, events_reported)),
};

/* As much of the answer as the library has room for: what follows came with a later kernel. */
static int respond_with(uint64_t to, uint16_t room, const void *from, size_t size) {
    return user_write(to, from, size < room ? size : room);
}

static int create(struct cm_channel *channel, const struct rdma_ucm_create_id *request,
                  uint16_t room) {
    enum { TYPE_RC = 2, TYPE_UC = 3, TYPE_UD = 4 };
    uint8_t qp_type;
    struct cm_id *id;
    int error;

    switch (request->ps) {
    case RDMA_PS_TCP: qp_type = TYPE_RC; break;
    case RDMA_PS_UDP:
    case RDMA_PS_IPOIB: qp_type = TYPE_UD; break;
    case RDMA_PS_IB: qp_type = request->qp_type; break;
    default: return EINVAL;
    }
    if (qp_type < TYPE_RC || qp_type > TYPE_UD) return EINVAL;
    id = cm_id_new(channel, request->ps, qp_type);
    if (!id) return ENOMEM;
    id->uid = request->uid;
    error = respond_with(request->response, room, &id->number, sizeof id->number);
    if (error) cm_id_free(id);
    return error;
}

static int destroy(struct cm_id *id, const struct rdma_ucm_destroy_id *request, uint16_t room) {
    struct rdma_ucm_destroy_id_resp response;

    cm_leave(id);
    response.events_reported = id->events_reported;
    cm_id_free(id);
    cm_wire_wake();
    return respond_with(request->response, room, &response, sizeof response);
}

static union cm_address ip_address(const struct sockaddr_in6 *from) {
    union cm_address address = {.v6 = *from};

    if (address.any.sa_family == AF_INET)
        memset(&address.v4.sin_zero, 0, sizeof address.v4.sin_zero);
    return address;
}

/* Of a size that its family has; else of no family. */
static union cm_address sized_address(const struct __kernel_sockaddr_storage *from, uint16_t size) {
    union cm_address address = {0};

    memcpy(&address, from, sizeof address);
    if (!cm_address_size(&address) || cm_address_size(&address) != size)
        address.any.sa_family = AF_UNSPEC;
    return address;
}

static int migrate(struct cm_channel *to, const struct rdma_ucm_migrate_id *request,
                   uint16_t room) {
    struct cm_channel *from = cm_channel_find((int)request->fd);
    struct cm_id *id = from ? cm_id_find(from, request->id) : NULL;
    struct rdma_ucm_migrate_resp response;

    if (!id) return from ? ENOENT : EINVAL;
    cm_id_move(id, to);
    response.events_reported = id->events_reported;
    return respond_with(request->response, room, &response, sizeof response);
}

static int query(struct cm_id *id, const struct rdma_ucm_query *request, uint16_t room) {
    struct rdma_ucm_query_route_resp response;
    int error = cm_query_route(id, &response);

    return error ? error : respond_with(request->response, room, &response, sizeof response);
}

static int qp_attr(struct cm_id *id, const struct rdma_ucm_init_qp_attr *request, uint16_t room) {
    struct ib_uverbs_qp_attr response;
    int error = cm_qp_attr(id, request->qp_state, &response);

    return error ? error : respond_with(request->response, room, &response, sizeof response);
}

static int set_option(struct cm_id *id, const struct rdma_ucm_set_option *request) {
    uint8_t value[OPTION_MOST];

    if (!request->optlen || request->optlen > sizeof value) return EINVAL;
    if (user_read(value, request->optval, request->optlen)) return EFAULT;
    return cm_set_option(id, request->level, request->optname, value, request->optlen);
}

static int on_id(struct cm_id *id, uint32_t command, const union request *in, uint16_t room) {
    union cm_address from, to;

    switch (command) {
    case RDMA_USER_CM_CMD_DESTROY_ID: return destroy(id, &in->destroy, room);
    case RDMA_USER_CM_CMD_BIND_IP: to = ip_address(&in->bind_ip.addr); return cm_bind(id, &to);
    case RDMA_USER_CM_CMD_BIND:
        to = sized_address(&in->bind.addr, in->bind.addr_size);
        return cm_bind(id, &to);
    case RDMA_USER_CM_CMD_RESOLVE_IP:
        from = ip_address(&in->resolve_ip.src_addr), to = ip_address(&in->resolve_ip.dst_addr);
        return cm_resolve_address(id, &from, &to);
    case RDMA_USER_CM_CMD_RESOLVE_ADDR:
        from = sized_address(&in->resolve_addr.src_addr, in->resolve_addr.src_size);
        to = sized_address(&in->resolve_addr.dst_addr, in->resolve_addr.dst_size);
        return cm_resolve_address(id, &from, &to);
    case RDMA_USER_CM_CMD_RESOLVE_ROUTE: return cm_resolve_route(id);
    case RDMA_USER_CM_CMD_QUERY_ROUTE: return query(id, &in->query, room);
    case RDMA_USER_CM_CMD_CONNECT: return cm_connect(id, &in->connect.conn_param, &in->connect.ece);
    case RDMA_USER_CM_CMD_LISTEN: return cm_listen(id, in->listen.backlog);
    case RDMA_USER_CM_CMD_ACCEPT: return cm_accept(id, &in->accept);
    case RDMA_USER_CM_CMD_REJECT: return cm_reject(id, &in->reject);
    case RDMA_USER_CM_CMD_DISCONNECT: return cm_disconnect(id);
    case RDMA_USER_CM_CMD_INIT_QP_ATTR: return qp_attr(id, &in->init_qp_attr, room);
    case RDMA_USER_CM_CMD_SET_OPTION: return set_option(id, &in->set_option);
    case RDMA_USER_CM_CMD_NOTIFY: return cm_notify(id, in->notify.event);
    default: return ENOSYS;
    }
}

static int get_event(int fd, const struct rdma_ucm_get_event *request, uint16_t room) {
    struct rdma_ucm_event_resp response;
    int error = cm_event_take(fd, &response);

    return error ? error : respond_with(request->response, room, &response, sizeof response);
}

static int dispatch(int fd, uint32_t command, const union request *in, uint16_t room) {
    const struct shape *shape = &shapes[command];
    struct cm_channel *channel = cm_channel_find(fd);
    struct cm_id *id = NULL;
    uint32_t number;

    if (!channel) return EBADF;
    if (command == RDMA_USER_CM_CMD_CREATE_ID) return create(channel, &in->create, room);
    if (command == RDMA_USER_CM_CMD_MIGRATE_ID) return migrate(channel, &in->migrate, room);
    if (shape->has_id) {
        memcpy(&number, (const uint8_t *)in + shape->id, sizeof number);
        id = cm_id_find(channel, number);
    }
    return id && id->state != CM_ARRIVING ? on_id(id, command, in, room) : ENOENT;
}

static int run(int fd, const void *command, size_t length) {
    struct rdma_ucm_cmd_hdr header;
    union request in;
    const struct shape *shape;
    struct section section;
    size_t size;
    int error;

    if (length < sizeof header) return EINVAL;
    if (user_read(&header, (uintptr_t)command, sizeof header)) return EFAULT;
    if (header.in + sizeof header > length) return EINVAL;
    /* Multicast, AF_IB's queries, and what later kernels have. */
    if (header.cmd >= sizeof shapes / sizeof *shapes || !shapes[header.cmd].least) return ENOSYS;
    shape = &shapes[header.cmd];
    if (header.in < shape->least) return EINVAL;
    if (header.out < shape->answer) return ENOSPC;
    memset(&in, 0, sizeof in);
    size = header.in < sizeof in ? header.in : sizeof in;
    if (user_read(&in, (uintptr_t)command + sizeof header, size)) return EFAULT;
    if (header.cmd == RDMA_USER_CM_CMD_GET_EVENT) return get_event(fd, &in.get_event, header.out);
    section_enter(&section);
    cm_lock();
    error = dispatch(fd, header.cmd, &in, header.out);
    cm_unlock();
    section_leave(&section);
    return error;
}

ssize_t cm_write(int fd, const void *command, size_t length) {
    int error = run(fd, command, length);

    if (!error) return (ssize_t)length;
    errno = error;
    return -1;
}
