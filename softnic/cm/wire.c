/* Between two ids: a unix socket, on which each CM message is one packet. One thread of the process
 * waits for all of them. */
#include "cm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"

/* enum rdma_cm_event_type of <rdma/rdma_cma.h>, which is not ours to include */
enum {
    EVENT_CONNECT_RESPONSE = 5, EVENT_UNREACHABLE = 7, EVENT_REJECTED = 8, EVENT_ESTABLISHED = 9,
    EVENT_DISCONNECTED = 10,
};
enum { MAGIC = 0x4d4b4331, BACKLOG = 1024, TICK_MS = 10, PART_MS = 50, REQ_SECONDS = 60 };

struct packet {                         /* both ends are this code on this machine: host order */
    uint32_t magic, size, kind, reason;
    union cm_address source, destination;       /* REQ */
    uint8_t qp_type, length;
    struct cm_end end;                  /* REQ, REP */
    uint8_t data[RDMA_MAX_PRIVATE_DATA];
};

static int wake_fd = -1, epoll_fd = -1;
static pid_t thread_of;

static int64_t now_ms(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Both sockets of an id are told apart from those that had its number before: by the fd. epoll, unlike
 * poll(), holds no socket that is closed, and with it the name of its port. */
static bool watch(int fd, uint32_t number) {
    struct epoll_event event = { .events = EPOLLIN, .data.u64 = (uint64_t)number << 32 | (uint32_t)fd };

    return fd >= 0 && !epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

/* ---- out -------------------------------------------------------------------------------------- */

void cm_wire_close(struct cm_id *id) {
    if (id->wire >= 0) close(id->wire);
    id->wire = -1;
    id->parting_at = 0;
    id->dreq_came = id->wire_ended = false;
}

/* A packet that finds no room belongs to a peer that reads none of a handful: it is lost. */
void cm_wire_send(struct cm_id *id, enum cm_kind kind, uint32_t reason, const uint8_t *data,
                  uint8_t length) {
    struct packet packet = {
        .magic = MAGIC, .size = sizeof packet, .kind = kind, .reason = reason,
        .source = id->source, .destination = id->destination, .qp_type = id->qp_type,
        .length = length, .end = id->own,
    };

    if (id->wire < 0) return;
    if (length) memcpy(packet.data, data, length);
    while (send(id->wire, &packet, sizeof packet, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EINTR)
        continue;
}

/* Nobody answered at all. */
static void unanswered(struct cm_id *id, uint32_t event, int status) {
    struct rdma_ucm_event_resp more = { 0 };

    if (!cm_is_datagram(id)) more.param.conn.private_data_len = CM_REJ_BYTES;
    id->state = CM_CLOSED;
    cm_wire_close(id);
    cm_event(id, event, status, &more);
}

static void refused(struct cm_id *id, uint32_t reason) {
    unanswered(id, cm_is_datagram(id) ? EVENT_UNREACHABLE : EVENT_REJECTED, (int)reason);
}

static void try_connect(struct cm_id *id) {
    struct sockaddr_un name;
    socklen_t length = cm_port_address(id->port_space, cm_address_port(&id->destination), &name);

    if (!connect(id->wire, (struct sockaddr *)&name, length)) {
        id->retry_until = 0;
        if (!watch(id->wire, id->number)) {
            unanswered(id, EVENT_UNREACHABLE, -ENOMEM);
            return;
        }
        cm_wire_send(id, CM_REQ, 0, id->private_data, id->private_length);
    } else if (errno != EAGAIN) {
        refused(id, CM_REASON_NO_SERVICE);
    } else if (!id->retry_until) {
        id->retry_until = now_ms() + REQ_SECONDS * 1000;
    } else if (now_ms() > id->retry_until) {
        unanswered(id, EVENT_UNREACHABLE, -ETIMEDOUT);
    }
}

/* ---- in --------------------------------------------------------------------------------------- */

static bool same_user(int fd) {
    struct ucred who;
    socklen_t length = sizeof who;

    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) && who.uid == geteuid();
}

/* What the other side wrote, as an event tells it: its responder resources are our initiator depth. */
static void describe(struct cm_id *id, const struct packet *packet, uint8_t room,
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

static void arrived(struct cm_id *id, const struct packet *packet) {
    struct cm_id *listener = cm_id_any(id->listener);
    struct rdma_ucm_event_resp more;

    if (!listener || packet->qp_type != id->qp_type || !hears(listener, &packet->destination)) {
        turn_away(id, CM_REASON_NO_SERVICE);
        return;
    }
    if (listener->waiting > listener->backlog) {        /* which counts this one */
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

static void replied(struct cm_id *id, const struct packet *packet) {
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

static void rejected(struct cm_id *id, const struct packet *packet) {
    struct rdma_ucm_event_resp more;

    describe(id, packet, cm_is_datagram(id) ? CM_SIDR_REP_BYTES : CM_REJ_BYTES, &more);
    id->state = CM_CLOSED;
    cm_wire_close(id);
    cm_event(id, cm_is_datagram(id) ? EVENT_UNREACHABLE : EVENT_REJECTED, (int)packet->reason, &more);
}

static void disconnected(struct cm_id *id, enum cm_state state) {
    bool told = id->state == CM_DREQ_RECEIVED;

    id->state = state;
    if (state == CM_CLOSED) cm_wire_close(id);
    if (!told) cm_event(id, EVENT_DISCONNECTED, 0, NULL);
}

/* The other side closed its socket: its process ended, or its id was destroyed. */
static void ended(struct cm_id *id) {
    switch (id->state) {
    case CM_ARRIVING: cm_id_free(id); break;
    case CM_REQ_SENT: case CM_REP_SENT: case CM_REP_RECEIVED:
        refused(id, CM_REASON_CONSUMER);
        break;
    case CM_REQ_RECEIVED: refused(id, CM_REASON_TIMEOUT); break;
    case CM_ESTABLISHED: case CM_DREQ_SENT: case CM_DREQ_RECEIVED:
        disconnected(id, CM_CLOSED);
        break;
    default: cm_wire_close(id);
    }
}

static bool is_open(const struct cm_id *id) {
    return id->state == CM_ESTABLISHED || id->state == CM_DREQ_SENT;
}

static void take(struct cm_id *id, const struct packet *packet) {
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
        if (is_open(id)) disconnected(id, CM_DREQ_RECEIVED);
        else if (id->state == CM_REP_SENT || id->state == CM_REP_RECEIVED)
            refused(id, CM_REASON_CONSUMER);
        break;
    case CM_DREP:
        if (id->state == CM_DREQ_SENT) disconnected(id, CM_CLOSED);
        break;
    }
}

/* The end of a connection is told a little later. A MAD takes its time through the software of two
 * hosts; here it would overtake an application that has not polled yet for the completions of what it
 * sent, and flush them. */
static void part_later(struct cm_id *id) {
    if (!id->parting_at) id->parting_at = now_ms() + PART_MS;
}

static void part(struct cm_id *id) {
    bool dreq = id->dreq_came, end = id->wire_ended;

    id->parting_at = 0;
    id->dreq_came = id->wire_ended = false;
    if (dreq) take(id, &(struct packet){ .kind = CM_DREQ });
    if (end) ended(id);
}

/* One packet, so that no id keeps the others waiting. */
static void hear(struct cm_id *id) {
    struct packet packet;
    ssize_t length = recv(id->wire, &packet, sizeof packet, MSG_DONTWAIT);

    /* ECONNRESET: the other side closed before it read all of ours; what it sent is still there. */
    if (length < 0 && errno == ECONNRESET)
        length = recv(id->wire, &packet, sizeof packet, MSG_DONTWAIT);
    if (length < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (length != sizeof packet || packet.magic != MAGIC || packet.size != sizeof packet) {
        if (!is_open(id) && id->state != CM_DREQ_RECEIVED) {
            ended(id);
            return;
        }
        epoll_ctl(epoll_fd, EPOLL_CTL_DEL, id->wire, NULL);
        id->wire_ended = true;
        part_later(id);
    } else if (packet.kind == CM_DREQ && is_open(id)) {
        id->dreq_came = true;
        part_later(id);
    } else {
        take(id, &packet);
    }
}

/* False: no descriptor for it now. */
static bool greet(struct cm_id *listener) {
    int fd = accept4(listener->port, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct cm_id *id;

    if (fd < 0) return errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS;
    id = same_user(fd) ? cm_id_new(listener->channel, listener->port_space, listener->qp_type) : NULL;
    if (!id) {
        close(fd);
        return true;
    }
    id->wire = fd_high(fd);
    if (!watch(id->wire, id->number)) {
        cm_id_free(id);
        return false;
    }
    id->state = CM_ARRIVING;
    id->listener = listener->number;
    listener->waiting++;
    return true;
}

/* ---- the thread -------------------------------------------------------------------------------- */

static void earlier(int *timeout, int64_t ms) {
    if (*timeout < 0 || ms < *timeout) *timeout = ms > 0 ? (int)ms : 0;
}

/* REQs that found the listener's backlog full, and connections that end; how long to wait. */
static int due(void) {
    int timeout = -1;

    for (struct cm_id *id = cm_first(), *next; id; id = next) {
        next = id->next;
        if (id->retry_until) try_connect(id);
        if (id->retry_until) earlier(&timeout, TICK_MS);
        if (id->parting_at && now_ms() >= id->parting_at) part(id);
        if (id->parting_at) earlier(&timeout, id->parting_at - now_ms());
    }
    return timeout;
}

/* False: wait a little, for descriptors. */
static bool look(uint64_t data) {
    struct cm_id *id = cm_id_any((uint32_t)(data >> 32));
    int fd = (int)(uint32_t)data;
    uint64_t count;

    if (fd == wake_fd) (void)!read(wake_fd, &count, sizeof count);
    else if (id && id->state == CM_LISTEN && id->port == fd) return greet(id);
    else if (id && id->wire == fd) hear(id);
    return true;
}

/* A peer acknowledges what it got before it says that it leaves. */
static void acknowledgments_first(void) {
    nic_lock();
    fabric_hear();
    nic_unlock();
}

static void *run(void *unused) {
    struct epoll_event events[64];
    int count = 0;

    (void)unused;
    for (;;) {
        bool room = true;
        int timeout;

        cm_lock();
        for (int i = 0; i < count; i++) room &= look(events[i].data.u64);
        timeout = due();
        cm_unlock();
        if (!room) poll(NULL, 0, TICK_MS);
        count = epoll_wait(epoll_fd, events, sizeof events / sizeof *events, timeout);
        if (count > 0) acknowledgments_first();
    }
    return NULL;
}

static int not_started(int error) {
    if (wake_fd >= 0) close(wake_fd);
    if (epoll_fd >= 0) close(epoll_fd);
    return error ? error : ENOMEM;
}

static int start(void) {
    sigset_t all, before;
    pthread_t thread;
    int error;

    if (thread_of == getpid()) return 0;
    wake_fd = fd_high(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    epoll_fd = fd_high(epoll_create1(EPOLL_CLOEXEC));
    if (wake_fd < 0 || epoll_fd < 0 || !watch(wake_fd, 0)) return not_started(errno);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) return not_started(error);
    pthread_detach(thread);
    thread_of = getpid();
    return 0;
}

void cm_wire_wake(void) {
    if (thread_of == getpid()) (void)!write(wake_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

void cm_wire_forked(void) {
    if (thread_of) {
        close(wake_fd);
        close(epoll_fd);
    }
    thread_of = 0;
}

int cm_wire_listen(struct cm_id *id) {
    int error = start();

    if (!error && listen(id->port, BACKLOG)) error = errno;
    return !error && !watch(id->port, id->number) ? errno : error;
}

int cm_wire_connect(struct cm_id *id) {
    int error = start();

    if (error) return error;
    id->wire = fd_high(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (id->wire < 0) return errno;
    id->state = CM_REQ_SENT;
    try_connect(id);
    cm_wire_wake();
    return 0;
}
