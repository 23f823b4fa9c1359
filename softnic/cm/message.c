/* What each message does to an id (IBTA volume 1, chapter 12): its state, and the event that tells
 * of it. */
#include "wire.h"

#include <errno.h>
#include <string.h>

/* Nobody answered at all. */
void cm_message_unanswered(struct cm_id *id, uint32_t event, int status) {
    struct rdma_ucm_event_resp more = {0};

    if (!cm_is_datagram(id)) more.param.conn.private_data_len = CM_REJ_BYTES;
    id->state = CM_CLOSED;
    cm_wire_close(id);
    cm_event(id, event, status, &more);
}

void cm_message_refused(struct cm_id *id, uint32_t reason) {
    cm_message_unanswered(id, cm_is_datagram(id) ? EVENT_UNREACHABLE : EVENT_REJECTED, (int)reason);
}

/* What the other side wrote, as an event tells it: its responder resources are our initiator depth.
 */
static void describe(struct cm_id *id, const struct cm_packet *packet, uint8_t room,
                     struct rdma_ucm_event_resp *out) {
    memset(out, 0, sizeof *out);
    out->ece = packet->end.ece;
    if (cm_is_datagram(id)) {
        out->param.ud.qp_num = packet->end.qpn;
        out->param.ud.qkey = packet->end.qkey;
        cm_address_vector(&out->param.ud.ah_attr);
        out->param.ud.private_data_len = room;
        memcpy(out->param.ud.private_data, packet->data, room);
        return;
    }
    out->param.conn.qp_num = packet->end.qpn;
    out->param.conn.srq = packet->end.srq;
    out->param.conn.responder_resources = packet->end.initiator_depth;
    out->param.conn.initiator_depth = packet->end.responder_resources;
    out->param.conn.flow_control = packet->end.flow_control;
    out->param.conn.retry_count = packet->end.retry_count;
    out->param.conn.rnr_retry_count = packet->end.rnr_retry_count;
    out->param.conn.private_data_len = room;
    memcpy(out->param.conn.private_data, packet->data, room);
}

static void turn_away(struct cm_id *id, uint32_t reason) {
    cm_wire_send(id, CM_REJ, reason, NULL, 0);
    cm_id_free(id);
}

/* IPv6 takes IPv4's connections too, unless it is told not to. */
static bool hears(const struct cm_id *listener, const union cm_address *called) {
    sa_family_t family = called->any.sa_family;

    if (!cm_address_is_any(&listener->source)) return cm_address_same(&listener->source, called);
    if (family == listener->source.any.sa_family) return true;
    return family == AF_INET && !listener->only_family;
}

static void arrived(struct cm_id *id, const struct cm_packet *packet) {
    struct cm_id *listener = cm_id_any(id->listener);
    struct rdma_ucm_event_resp more;

    if (!listener || packet->qp_type != id->qp_type || !hears(listener, &packet->destination)) {
        turn_away(id, CM_REASON_NO_SERVICE);
        return;
    }
    if (listener->waiting > listener->backlog) { /* which counts this one */
        turn_away(id, CM_REASON_CONSUMER);
        return;
    }
    id->source = packet->destination;
    id->destination = packet->source;
    id->has_device = true;
    id->state = CM_REQ_RECEIVED;
    id->other = packet->end;
    id->own.responder_resources = packet->end.initiator_depth;
    id->own.initiator_depth = packet->end.responder_resources;
    id->own.retry_count = packet->end.retry_count;
    describe(id, packet, cm_is_datagram(id) ? CM_SIDR_REQ_BYTES : CM_REQ_BYTES, &more);
    cm_event_request(listener, id, &more);
}

static void replied(struct cm_id *id, const struct cm_packet *packet) {
    struct rdma_ucm_event_resp more;

    id->other = packet->end;
    if (cm_is_datagram(id)) {
        describe(id, packet, CM_SIDR_REP_BYTES, &more);
        id->state = CM_CLOSED;
        cm_wire_close(id);
        cm_event(id, EVENT_ESTABLISHED, 0, &more);
        return;
    }
    id->own.responder_resources = packet->end.initiator_depth;
    id->own.initiator_depth = packet->end.responder_resources;
    describe(id, packet, CM_REP_BYTES, &more);
    id->state = CM_REP_RECEIVED;
    cm_event(id, EVENT_CONNECT_RESPONSE, 0, &more);
}

static void rejected(struct cm_id *id, const struct cm_packet *packet) {
    struct rdma_ucm_event_resp more;

    describe(id, packet, cm_is_datagram(id) ? CM_SIDR_REP_BYTES : CM_REJ_BYTES, &more);
    id->state = CM_CLOSED;
    cm_wire_close(id);
    cm_event(id, cm_is_datagram(id) ? EVENT_UNREACHABLE : EVENT_REJECTED, (int)packet->reason,
             &more);
}

static void disconnected(struct cm_id *id, enum cm_state state) {
    bool told = id->state == CM_DREQ_RECEIVED;

    id->state = state;
    if (state == CM_CLOSED) cm_wire_close(id);
    if (!told) cm_event(id, EVENT_DISCONNECTED, 0, NULL);
}

/* The other side closed its socket: its process ended, or its id was destroyed. */
void cm_message_ended(struct cm_id *id) {
    switch (id->state) {
    case CM_ARRIVING: cm_id_free(id); break;
    case CM_REQ_SENT:
    case CM_REP_SENT:
    case CM_REP_RECEIVED: cm_message_refused(id, CM_REASON_CONSUMER); break;
    case CM_REQ_RECEIVED: cm_message_refused(id, CM_REASON_TIMEOUT); break;
    case CM_ESTABLISHED:
    case CM_DREQ_SENT:
    case CM_DREQ_RECEIVED: disconnected(id, CM_CLOSED); break;
    default: cm_wire_close(id);
    }
}

bool cm_is_open(const struct cm_id *id) {
    return id->state == CM_ESTABLISHED || id->state == CM_DREQ_SENT;
}

void cm_message_take(struct cm_id *id, const struct cm_packet *packet) {
    switch (packet->kind) {
    case CM_REQ:
        if (id->state == CM_ARRIVING) arrived(id, packet);
        break;
    case CM_REP:
        if (id->state == CM_REQ_SENT) replied(id, packet);
        break;
    case CM_RTU:
        if (id->state != CM_REP_SENT) break;
        id->state = CM_ESTABLISHED;
        cm_event(id, EVENT_ESTABLISHED, 0, NULL);
        break;
    case CM_REJ:
        if (id->state >= CM_REQ_SENT && id->state <= CM_REP_RECEIVED) rejected(id, packet);
        break;
    case CM_DREQ:
        if (cm_is_open(id)) disconnected(id, CM_DREQ_RECEIVED);
        else if (id->state == CM_REP_SENT || id->state == CM_REP_RECEIVED)
            cm_message_refused(id, CM_REASON_CONSUMER);
        break;
    case CM_DREP:
        if (id->state == CM_DREQ_SENT) disconnected(id, CM_CLOSED);
        break;
    }
}
