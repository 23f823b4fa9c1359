/* What the commands do to an id. */
#include "cm.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* enum rdma_cm_event_type of <rdma/rdma_cma.h>, which is not ours to include */
enum {
    EVENT_ADDR_RESOLVED = 0,
    EVENT_ADDR_ERROR = 1,
    EVENT_ROUTE_RESOLVED = 2,
    EVENT_ESTABLISHED = 9,
};
enum { BACKLOG_MOST = 1024, RETRY_MOST = 7, COMM_EST = 4 }; /* COMM_EST: enum ibv_event_type */

/* ---- addresses --------------------------------------------------------------------------- */

int cm_bind(struct cm_id *id, const union cm_address *address) {
    union cm_address wanted = *address;
    int error = 0;

    if (id->state != CM_IDLE) return EINVAL;
    if (!cm_address_size(address)) return EAFNOSUPPORT;
    if (!cm_address_is_any(address) && !cm_address_is_local(address)) return EADDRNOTAVAIL;
    if (!id->reuse || !cm_address_port(address))
        error = cm_port_take(id->port_space, &wanted, &id->port);
    if (error) return error;
    id->source = wanted;
    id->has_device = !cm_address_is_any(address);
    id->state = CM_BOUND;
    return 0;
}

int cm_listen(struct cm_id *id, uint32_t backlog) {
    int error = 0;

    if (id->state == CM_IDLE) error = cm_bind(id, &(union cm_address){.v4.sin_family = AF_INET});
    if (!error && id->state != CM_BOUND) error = EINVAL;
    if (!error && id->port < 0) error = cm_port_take(id->port_space, &id->source, &id->port);
    if (!error) error = cm_wire_listen(id);
    if (error) return error;
    id->backlog = backlog && backlog < BACKLOG_MOST ? backlog : BACKLOG_MOST;
    id->state = CM_LISTEN;
    return 0;
}

/* An address of another machine is one that no RDMA device here leads to. */
int cm_resolve_address(struct cm_id *id, const union cm_address *from, const union cm_address *to) {
    union cm_address source = {.any.sa_family = to->any.sa_family};
    bool local;
    int error = 0;

    if (id->state != CM_IDLE && id->state != CM_BOUND) return EINVAL;
    if (!cm_address_size(to)) return EINVAL;
    if (from->any.sa_family && from->any.sa_family != to->any.sa_family) return EINVAL;
    if (id->state == CM_IDLE) error = cm_bind(id, from->any.sa_family ? from : &source);
    if (error) return error;
    if (id->source.any.sa_family != to->any.sa_family) return EINVAL;
    id->destination = *to;
    local = cm_address_is_any(to) || cm_address_is_local(to);
    if (local && cm_address_is_any(&id->source) && !cm_address_is_any(to)) {
        uint16_t port = cm_address_port(&id->source);

        local = cm_address_source(to, &id->source);
        cm_address_set_port(&id->source, port);
    }
    id->has_device = local;
    if (local) id->state = CM_ADDR_RESOLVED;
    cm_event(id, local ? EVENT_ADDR_RESOLVED : EVENT_ADDR_ERROR, local ? 0 : -ENODEV, NULL);
    return 0;
}

int cm_resolve_route(struct cm_id *id) {
    if (id->state != CM_ADDR_RESOLVED) return EINVAL;
    id->state = CM_ROUTE_RESOLVED;
    cm_event(id, EVENT_ROUTE_RESOLVED, 0, NULL);
    return 0;
}

/* ---- connecting -------------------------------------------------------------------------- */

static uint8_t retries(uint8_t wanted) { return wanted < RETRY_MOST ? wanted : RETRY_MOST; }

static void own_end(struct cm_id *id, const struct rdma_ucm_conn_param *param,
                    const struct rdma_ucm_ece *ece) {
    id->own = (struct cm_end){
        .qpn = param->qp_num,
        .qkey = param->qkey ? param->qkey : RDMA_UDP_QKEY,
        .psn = id->own.psn,
        .srq = param->srq,
        .flow_control = param->flow_control,
        .responder_resources = param->responder_resources,
        .initiator_depth = param->initiator_depth,
        .retry_count = retries(param->retry_count),
        .rnr_retry_count = retries(param->rnr_retry_count),
        .ece = *ece,
    };
}

int cm_connect(struct cm_id *id, const struct rdma_ucm_conn_param *param,
               const struct rdma_ucm_ece *ece) {
    uint8_t room = cm_is_datagram(id) ? CM_SIDR_REQ_BYTES : CM_REQ_BYTES;
    int error;

    if (!param->valid || id->state != CM_ROUTE_RESOLVED) return EINVAL;
    if (param->private_data_len > room) return EINVAL;
    own_end(id, param, ece);
    memcpy(id->private_data, param->private_data, param->private_data_len);
    id->private_length = param->private_data_len;
    error = cm_wire_connect(id);
    if (error) cm_wire_close(id);
    return error;
}

/* The listener has room for another one. */
static void answered(struct cm_id *id) {
    struct cm_id *listener = id->listener ? cm_id_any(id->listener) : NULL;

    if (listener) listener->waiting--;
    id->listener = 0;
}

int cm_accept(struct cm_id *id, const struct rdma_ucm_accept *request) {
    const struct rdma_ucm_conn_param *param = &request->conn_param;
    uint8_t room = cm_is_datagram(id) ? CM_SIDR_REP_BYTES : CM_REP_BYTES;
    uint8_t retry_count = id->other.retry_count; /* the REQ's is for both */

    if (!param->valid) { /* of the side that connected: its QP is ready */
        if (id->state != CM_REP_RECEIVED) return EINVAL;
        id->state = CM_ESTABLISHED;
        cm_wire_send(id, CM_RTU, 0, NULL, 0);
        return 0;
    }
    if (id->state != CM_REQ_RECEIVED || param->private_data_len > room) return EINVAL;
    id->uid = request->uid;
    own_end(id, param, &request->ece);
    id->own.retry_count = retry_count;
    answered(id);
    cm_wire_send(id, CM_REP, 0, param->private_data, param->private_data_len);
    id->state = cm_is_datagram(id) ? CM_CLOSED : CM_REP_SENT;
    return 0;
}

int cm_reject(struct cm_id *id, const struct rdma_ucm_reject *request) {
    uint32_t reason = request->reason ? request->reason : CM_REASON_CONSUMER;
    uint8_t room = cm_is_datagram(id) ? CM_SIDR_REP_BYTES : CM_REJ_BYTES;

    if (id->state != CM_REQ_RECEIVED && id->state != CM_REP_RECEIVED) return EINVAL;
    if (request->private_data_len > room) return EINVAL;
    answered(id);
    cm_wire_send(id, CM_REJ, reason, request->private_data, request->private_data_len);
    cm_wire_close(id);
    id->state = CM_CLOSED;
    return 0;
}

int cm_disconnect(struct cm_id *id) {
    switch (id->state) {
    case CM_ESTABLISHED:
        id->state = CM_DREQ_SENT;
        cm_wire_send(id, CM_DREQ, 0, NULL, 0);
        return 0;
    case CM_DREQ_RECEIVED:
        id->state = CM_CLOSED;
        cm_wire_send(id, CM_DREP, 0, NULL, 0);
        cm_wire_close(id);
        return 0;
    case CM_REP_SENT:
    case CM_REP_RECEIVED:
    case CM_DREQ_SENT:
    case CM_CLOSED: return 0;
    default: return EINVAL;
    }
}

/* Data can arrive before the RTU does; the application may say so. */
int cm_notify(struct cm_id *id, uint32_t event) {
    if (event != COMM_EST) return EINVAL;
    if (id->state == CM_ESTABLISHED) return EISCONN;
    if (id->state != CM_REP_SENT) return EINVAL;
    id->state = CM_ESTABLISHED;
    cm_event(id, EVENT_ESTABLISHED, 0, NULL);
    return 0;
}

void cm_leave(struct cm_id *id) {
    switch (id->state) {
    case CM_LISTEN:
        for (struct cm_id *other = cm_first(), *next; other; other = next) {
            next = other->next;
            if (other->state == CM_ARRIVING && other->listener == id->number) cm_id_free(other);
        }
        break;
    case CM_REQ_SENT: cm_wire_send(id, CM_REJ, CM_REASON_TIMEOUT, NULL, 0); break;
    case CM_REQ_RECEIVED:
    case CM_REP_SENT:
    case CM_REP_RECEIVED: cm_wire_send(id, CM_REJ, CM_REASON_CONSUMER, NULL, 0); break;
    case CM_ESTABLISHED: cm_wire_send(id, CM_DREQ, 0, NULL, 0); break;
    case CM_DREQ_RECEIVED: cm_wire_send(id, CM_DREP, 0, NULL, 0); break;
    default: break;
    }
}

/* ---- options ----------------------------------------------------------------------------- */

int cm_set_option(struct cm_id *id, uint32_t level, uint32_t name, const uint8_t *value,
                  size_t length) {
    bool of_id = level == RDMA_OPTION_ID;
    int number;

    if (of_id && (name == RDMA_OPTION_ID_TOS || name == RDMA_OPTION_ID_ACK_TIMEOUT)) {
        if (length != 1 || (name == RDMA_OPTION_ID_ACK_TIMEOUT && *value > 31)) return EINVAL;
        *(name == RDMA_OPTION_ID_TOS ? &id->service : &id->ack_timeout) = *value;
        return 0;
    }
    if (of_id && (name == RDMA_OPTION_ID_REUSEADDR || name == RDMA_OPTION_ID_AFONLY)) {
        if (length != sizeof number) return EINVAL;
        if (id->state != CM_IDLE && id->state != CM_BOUND) return EINVAL;
        memcpy(&number, value, sizeof number);
        *(name == RDMA_OPTION_ID_REUSEADDR ? &id->reuse : &id->only_family) = number;
        return 0;
    }
    return ENOSYS; /* paths of its own: for subnets that have several */
}
