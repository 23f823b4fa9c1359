/* Between two ids: a unix socket, on which each CM message is one packet. One thread of the process
 * waits for all of them. What a message does to an id is message.c's. */
#include "wire.h"

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

enum { BACKLOG = 1024, TICK_MS = 10, PART_MS = 50, REQ_SECONDS = 60 };

static int wake_fd = -1, epoll_fd = -1;
static pid_t thread_of;

static int64_t now_ms(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Both sockets of an id are told apart from those that had its number before: by the fd. epoll,
 * unlike poll(), holds no socket that is closed, and with it the name of its port. */
static bool watch(int fd, uint32_t number) {
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u64 = (uint64_t)number << 32 | (uint32_t)fd};

    return fd >= 0 && !epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

/* ---- out --------------------------------------------------------------------------------- */

void cm_wire_close(struct cm_id *id) {
    if (id->wire >= 0) close(id->wire);
    id->wire = -1;
    id->parting_at = 0;
    id->dreq_came = id->wire_ended = false;
}

/* A packet that finds no room belongs to a peer that reads none of a handful: it is lost. */
void cm_wire_send(struct cm_id *id, enum cm_kind kind, uint32_t reason, const uint8_t *data,
                  uint8_t length) {
    struct cm_packet packet = {
        .magic = CM_MAGIC,
        .size = sizeof packet,
        .kind = kind,
        .reason = reason,
        .source = id->source,
        .destination = id->destination,
        .qp_type = id->qp_type,
        .length = length,
        .end = id->own,
    };

    if (id->wire < 0) return;
    if (length) memcpy(packet.data, data, length);
    while (send(id->wire, &packet, sizeof packet, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
           errno == EINTR)
        continue;
}

static void try_connect(struct cm_id *id) {
    struct sockaddr_un name;
    socklen_t length = cm_port_address(id->port_space, cm_address_port(&id->destination), &name);

    if (!connect(id->wire, (struct sockaddr *)&name, length)) {
        id->retry_until = 0;
        if (!watch(id->wire, id->number)) {
            cm_message_unanswered(id, EVENT_UNREACHABLE, -ENOMEM);
            return;
        }
        cm_wire_send(id, CM_REQ, 0, id->private_data, id->private_length);
    } else if (errno != EAGAIN) {
        cm_message_refused(id, CM_REASON_NO_SERVICE);
    } else if (!id->retry_until) {
        id->retry_until = now_ms() + REQ_SECONDS * 1000;
    } else if (now_ms() > id->retry_until) {
        cm_message_unanswered(id, EVENT_UNREACHABLE, -ETIMEDOUT);
    }
}

/* ---- in ---------------------------------------------------------------------------------- */

static bool same_user(int fd) {
    struct ucred who;
    socklen_t length = sizeof who;

    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) && who.uid == geteuid();
}

/* The end of a connection is told a little later. A MAD takes its time through the software of two
 * hosts; here it would overtake an application that has not polled yet for the completions of what
 * it sent, and flush them. */
static void part_later(struct cm_id *id) {
    if (!id->parting_at) id->parting_at = now_ms() + PART_MS;
}

static void part(struct cm_id *id) {
    bool dreq = id->dreq_came, end = id->wire_ended;

    id->parting_at = 0;
    id->dreq_came = id->wire_ended = false;
    if (dreq) cm_message_take(id, &(struct cm_packet){.kind = CM_DREQ});
    if (end) cm_message_ended(id);
}

/* One packet, so that no id keeps the others waiting. */
static void hear(struct cm_id *id) {
    struct cm_packet packet;
    ssize_t length = recv(id->wire, &packet, sizeof packet, MSG_DONTWAIT);

    /* ECONNRESET: the other side closed before it read all of ours; what it sent is still there. */
    if (length < 0 && errno == ECONNRESET)
        length = recv(id->wire, &packet, sizeof packet, MSG_DONTWAIT);
    if (length < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (length != sizeof packet || packet.magic != CM_MAGIC || packet.size != sizeof packet) {
        if (!cm_is_open(id) && id->state != CM_DREQ_RECEIVED) {
            cm_message_ended(id);
            return;
        }
        epoll_ctl(epoll_fd, EPOLL_CTL_DEL, id->wire, NULL);
        id->wire_ended = true;
        part_later(id);
    } else if (packet.kind == CM_DREQ && cm_is_open(id)) {
        id->dreq_came = true;
        part_later(id);
    } else {
        cm_message_take(id, &packet);
    }
}

/* False: no descriptor for it now. */
static bool greet(struct cm_id *listener) {
    int fd = accept4(listener->port, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct cm_id *id;

    if (fd < 0) return errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS;
    id = same_user(fd) ? cm_id_new(listener->channel, listener->port_space, listener->qp_type)
                       : NULL;
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

/* ---- the thread -------------------------------------------------------------------------- */

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
    if (thread_of == getpid()) (void)!write(wake_fd, &(uint64_t){1}, sizeof(uint64_t));
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
