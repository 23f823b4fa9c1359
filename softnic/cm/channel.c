/* Open files of /dev/infiniband/rdma_cm. The fd is an eventfd, which can be read while events wait:
 * so poll(), O_NONBLOCK, signals and cancellation are the kernel's own. */
#include "cm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shim/shim.h"

enum { EVENT_CONNECT_REQUEST = 4 }; /* enum rdma_cm_event_type */

struct waiting {
    struct rdma_ucm_event_resp event;
    struct cm_id *id, *request; /* whose it is; a CONNECT_REQUEST's new id */
    struct waiting *next;
};

struct cm_channel {
    int fd; /* any of them: one that is open */
    unsigned fds;
    struct waiting *first, **last;
};

enum { FDS = 1 << 16 };
static struct cm_channel *channels[FDS];
static struct cm_id *ids;
static uint32_t last_number;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void cm_lock(void) { pthread_mutex_lock(&mutex); }
void cm_unlock(void) { pthread_mutex_unlock(&mutex); }
struct cm_id *cm_first(void) { return ids; }

/* ---- files ------------------------------------------------------------------------------- */

int cm_open(int flags) {
    struct cm_channel *channel = calloc(1, sizeof *channel);
    int fd = channel ? eventfd(0, flags & (EFD_CLOEXEC | EFD_NONBLOCK)) : -1; /* which are O_… */
    struct section section;

    if (fd < 0 || fd >= FDS) {
        if (fd >= 0) libc_real()->close(fd);
        errno = !channel ? ENOMEM : fd < 0 ? errno : EMFILE;
        free(channel);
        return -1;
    }
    channel->fd = fd, channel->fds = 1, channel->last = &channel->first;
    section_enter(&section);
    cm_lock();
    channels[fd] = channel;
    fd_is_cm(fd);
    cm_unlock();
    section_leave(&section);
    return fd;
}

struct cm_channel *cm_channel_find(int fd) { return fd_kind(fd) == FD_CM ? channels[fd] : NULL; }

int cm_dup(int fd, int copy) {
    struct cm_channel *channel;
    struct section section;

    if (copy < 0 || copy >= FDS) return EMFILE;
    section_enter(&section);
    cm_lock();
    channel = cm_channel_find(fd);
    if (channel) {
        channel->fds++;
        channels[copy] = channel;
        fd_is_cm(copy);
    }
    cm_unlock();
    section_leave(&section);
    return channel ? 0 : EBADF;
}

void cm_closing(int fd) {
    struct cm_channel *channel;

    cm_lock();
    channel = cm_channel_find(fd);
    fd_forget(fd);
    if (channel && --channel->fds) {
        for (int other = 0; channel->fd == fd && other < FDS; other++)
            if (cm_channel_find(other) == channel) channel->fd = other;
    } else if (channel) {
        for (struct cm_id *id = ids, *next; id; id = next) {
            next = id->next;
            if (id->channel != channel) continue;
            cm_leave(id);
            cm_id_free(id);
            next = ids; /* a listener takes others along */
        }
        free(channel);
    }
    channels[fd] = NULL;
    cm_unlock();
    cm_wire_wake();
}

/* ---- ids --------------------------------------------------------------------------------- */

struct cm_id *cm_id_any(uint32_t number) {
    struct cm_id *id = ids;

    while (id && id->number != number) id = id->next;
    return id;
}

struct cm_id *cm_id_find(const struct cm_channel *channel, uint32_t number) {
    struct cm_id *id = cm_id_any(number);

    return id && id->channel == channel ? id : NULL;
}

struct cm_id *cm_id_new(struct cm_channel *channel, uint16_t port_space, uint8_t qp_type) {
    struct cm_id *id = calloc(1, sizeof *id);

    if (!id) return NULL;
    do last_number = (last_number + 1) & 0x7fffffff;
    while (!last_number || cm_id_any(last_number));
    id->number = last_number;
    id->channel = channel, id->port_space = port_space, id->qp_type = qp_type;
    id->port = id->wire = -1;
    if (getrandom(&id->own.psn, sizeof id->own.psn, GRND_NONBLOCK) < 0)
        id->own.psn = id->number * 2654435761u;
    id->own.psn &= 0xffffff;
    id->next = ids;
    ids = id;
    return id;
}

/* Clears what poll() sees once nothing waits. Another thread may be in read(): this never blocks.
 */
static void settle(const struct cm_channel *channel) {
    uint64_t count;

    if (channel->first) return;
    (void)!preadv2(channel->fd, &(struct iovec){&count, sizeof count}, 1, -1, RWF_NOWAIT);
}

static void announce(const struct cm_channel *channel) {
    (void)!libc_real()->write(channel->fd, &(uint64_t){1}, sizeof(uint64_t));
}

void cm_id_free(struct cm_id *id) {
    struct cm_channel *channel = id->channel;
    struct cm_id *listener = id->listener ? cm_id_any(id->listener) : NULL;

    if (listener) listener->waiting--;
    for (struct cm_id **link = &ids; *link; link = &(*link)->next)
        if (*link == id) {
            *link = id->next;
            break;
        }
    for (struct waiting **link = &channel->first, *event; (event = *link);) {
        if (event->id != id && event->request != id) {
            link = &event->next;
            continue;
        }
        *link = event->next;
        if (event->request && event->request != id) { /* a request that no listener gets */
            event->request->listener = 0;
            cm_leave(event->request);
            cm_id_free(event->request);
            link = &channel->first; /* that may have taken others */
        }
        free(event);
    }
    channel->last = &channel->first;
    while (*channel->last) channel->last = &(*channel->last)->next;
    settle(channel);
    cm_port_give(id);
    cm_wire_close(id);
    free(id);
}

void cm_id_move(struct cm_id *id, struct cm_channel *to) {
    struct cm_channel *from = id->channel;
    bool any = false;

    if (from == to) return;
    for (struct waiting **link = &from->first, *event; (event = *link);) {
        if (event->id != id) {
            link = &event->next;
            continue;
        }
        *link = event->next;
        event->next = NULL;
        if (event->request) event->request->channel = to;
        *to->last = event;
        to->last = &event->next;
        any = true;
    }
    from->last = &from->first;
    while (*from->last) from->last = &(*from->last)->next;
    id->channel = to;
    settle(from);
    if (any) announce(to);
}

/* ---- events ------------------------------------------------------------------------------ */

static void queue(struct cm_id *id, struct cm_id *request, uint32_t kind, int status,
                  const struct rdma_ucm_event_resp *more) {
    struct cm_channel *channel = id->channel;
    struct waiting *event;

    if (!id->uid) return;
    event = calloc(1, sizeof *event);
    if (!event) return;
    if (more) event->event = *more;
    event->event.uid = id->uid;
    event->event.id = request ? request->number : id->number;
    event->event.event = kind;
    event->event.status = (uint32_t)status;
    event->id = id, event->request = request;
    *channel->last = event;
    channel->last = &event->next;
    announce(channel);
}

void cm_event(struct cm_id *id, uint32_t event, int status,
              const struct rdma_ucm_event_resp *more) {
    queue(id, NULL, event, status, more);
}

void cm_event_request(struct cm_id *listener, struct cm_id *id,
                      const struct rdma_ucm_event_resp *more) {
    queue(listener, id, EVENT_CONNECT_REQUEST, 0, more);
}

int cm_event_take(int fd, struct rdma_ucm_event_resp *out) {
    for (;;) {
        struct cm_channel *channel;
        struct waiting *event;
        struct section section;
        uint64_t count;

        if (read(fd, &count, sizeof count) != sizeof count) return errno;
        section_enter(&section);
        cm_lock();
        channel = cm_channel_find(fd);
        event = channel ? channel->first : NULL;
        if (event) {
            channel->first = event->next;
            if (channel->first) announce(channel);
            else channel->last = &channel->first;
            event->id->events_reported++;
            *out = event->event;
            free(event);
        }
        cm_unlock();
        section_leave(&section);
        if (!channel) return EBADF;
        if (event) return 0;
    }
}

/* ---- fork -------------------------------------------------------------------------------- */

/* A child has no ids: its files are orphans (file.c), and its copies of our sockets are closed, so
 * that the other side sees us end. */
static void forked(void) {
    cm_wire_forked();
    for (struct cm_id *id = ids; id; id = id->next) {
        if (id->port >= 0) close(id->port);
        if (id->wire >= 0) close(id->wire);
    }
    ids = NULL;
    memset(channels, 0, sizeof channels);
    cm_unlock(); /* this thread took it before the fork */
}

__attribute__((constructor)) static void follow_forks(void) {
    pthread_atfork(cm_lock, cm_unlock, forked);
}
