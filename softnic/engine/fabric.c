/* The wire between processes: every process that opens the NIC under one fabric name has a number there (rendezvous.c), and that number
 * is the top of its QPNs.
 *
 * A requester connects to the process that a QPN names and sends whole messages; the answers come back on the same connection. A QP has
 * one message under way at a time, which bounds what is in flight. Only processes of the same user are talked to. A connection that
 * breaks is silence for what was under way on it: the retry timer decides then, as with a cable that was pulled.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine.h"

enum { SLOTS = 1 << (24 - QPN_BITS), LINKS_MOST = 512, ACCEPTS = 16 };   /* the last: in a round */
enum { MAGIC = 0x4d4b5331, REQUEST = 1, ANSWER = 2, QUESTION = 3 };
#define PAYLOAD_MOST (1ull << 31)

struct frame {                          /* both ends are this code on this machine: host order, magic and size tell if not */
    uint32_t magic, size, kind, qpn;    /* qpn: the requester's */
    uint64_t serial, length;            /* of the call; bytes that follow */
    struct message message;             /* REQUEST, but its pointer; QUESTION: whether the peer is ready for it */
    struct answer answer;               /* ANSWER, but its pointer */
};

struct chunk {                          /* on its way out */
    struct frame frame;
    const uint8_t *payload;
    struct message *request;            /* whose payload it is; or */
    uint8_t *owned;
    size_t done;
    struct chunk *next;
};

struct link {
    int fd;
    uint32_t slot;                      /* outgoing: the process at the other end */
    bool outgoing, broken;
    struct chunk *first, **last;
    struct frame in;
    uint8_t *payload;
    size_t got;                         /* bytes of the frame and its payload so far */
};

static uint32_t own_slot;
static uint64_t serials;
static struct link *links[LINKS_MOST];
static size_t link_count;

bool fabric_is_up(void) { return rendezvous_is_open(); }
uint32_t fabric_slot(void) { return own_slot; }

int fabric_start(void) {
    fabric_fork_child();
    return rendezvous_start(SLOTS, &own_slot);
}

/* A child must not keep its parent's ends open: the peers would not see it die. */
void fabric_fork_child(void) {
    rendezvous_end();
    for (size_t i = 0; i < link_count; i++) close(links[i]->fd);
    link_count = 0;
}

/* ---- links --------------------------------------------------------------------------------------------------------------------------- */

static struct link *link_add(int fd, bool outgoing, uint32_t slot) {
    struct link *link = link_count < LINKS_MOST ? calloc(1, sizeof *link) : NULL;
    if (!link) {
        close(fd);
        return NULL;
    }
    link->fd = fd, link->outgoing = outgoing, link->slot = slot;
    link->last = &link->first;
    links[link_count++] = link;
    return link;
}

/* errno EAGAIN: the process is there, but has not taken as many connections as it was offered. */
static struct link *link_to(uint32_t slot) {
    for (size_t i = 0; i < link_count; i++)
        if (links[i]->outgoing && !links[i]->broken && links[i]->slot == slot) return links[i];
    int fd = rendezvous_connect(slot);
    if (fd < 0) return NULL;
    errno = 0;
    return link_add(fd, true, slot);
}

static void chunk_free(struct chunk *chunk) {
    if (chunk->request) message_release(chunk->request);
    bytes_free(chunk->owned);
    free(chunk);
}

static void link_free(struct link *link) {
    for (struct chunk *chunk = link->first, *next; chunk; chunk = next) {
        next = chunk->next;
        chunk_free(chunk);
    }
    bytes_free(link->payload);
    close(link->fd);
    free(link);
}

/* Everything that was under way on it hears nothing any more. */
static void link_end(size_t i) {
    struct link *link = links[i];
    links[i] = links[--link_count];
    bool outgoing = link->outgoing;
    uint32_t slot = link->slot;
    link_free(link);
    if (!outgoing) return;
    for (uint32_t number = nic.qps.first; number < nic.qps.used; number++) {
        struct qp *qp = table_get(&nic.qps, number);
        if (!qp || !qp->call || !qp->call->sent || qp->call->message->destination >> QPN_BITS != slot) continue;
        struct answer silence = {.verdict = VERDICT_SILENCE};
        request_answered(qp, &silence);
    }
}

static void chunk_queue(struct link *link, struct chunk *chunk) {
    *link->last = chunk;
    link->last = &chunk->next;
}

/* ---- out ------------------------------------------------------------------------------------------------------------------------------ */

static bool link_write(struct link *link) {
    bool any = false;
    while (link->first && !link->broken) {
        struct chunk *chunk = link->first;
        struct iovec part[2] = {{(uint8_t *)&chunk->frame + chunk->done, 0}, {(uint8_t *)(uintptr_t)chunk->payload, chunk->frame.length}};
        struct msghdr message = {.msg_iov = part, .msg_iovlen = 2};
        if (chunk->done < sizeof chunk->frame) {
            part[0].iov_len = sizeof chunk->frame - chunk->done;
        } else {
            size_t into = chunk->done - sizeof chunk->frame;
            part[1].iov_base = (uint8_t *)part[1].iov_base + into;
            part[1].iov_len -= into;
            message.msg_iov = part + 1, message.msg_iovlen = 1;
        }
        ssize_t done = sendmsg(link->fd, &message, MSG_NOSIGNAL);
        if (done < 0) {
            if (errno == EINTR) continue;
            if (errno != EAGAIN) link->broken = true;
            return any;
        }
        any = true;
        chunk->done += (size_t)done;
        if (chunk->done == sizeof chunk->frame + chunk->frame.length) {
            link->first = chunk->next;
            if (!link->first) link->last = &link->first;
            chunk_free(chunk);
        }
        if (round_is_over()) return any;
    }
    return any;
}

static struct chunk *chunk_new(uint32_t kind, uint32_t qpn, uint64_t serial, const uint8_t *payload, uint64_t length) {
    struct chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk) return NULL;
    chunk->frame.magic = MAGIC, chunk->frame.size = sizeof chunk->frame, chunk->frame.kind = kind;
    chunk->frame.qpn = qpn, chunk->frame.serial = serial, chunk->frame.length = length;
    chunk->payload = payload;
    return chunk;
}

enum verdict fabric_send(struct qp *qp, struct message *message, bool ask) {
    struct link *link = link_to(message->destination >> QPN_BITS);
    if (!link) return errno == EAGAIN ? VERDICT_BUSY : VERDICT_SILENCE;
    struct chunk *chunk = chunk_new(ask ? QUESTION : REQUEST, qp->number, ++serials, message->payload, ask ? 0 : message->payload_length);
    if (!chunk) return VERDICT_BUSY;
    chunk->frame.message = *message;
    chunk->frame.message.payload = NULL;
    chunk->request = message;
    message->references++;
    qp->call->serial = chunk->frame.serial;
    chunk_queue(link, chunk);
    link_write(link);
    return VERDICT_LATER;
}

/* What is half out goes out whole; its answer finds nobody. */
void fabric_forget(struct qp *qp) { qp->call->serial = 0; }

/* ---- in ------------------------------------------------------------------------------------------------------------------------------- */

static bool frame_fine(const struct link *link) {
    const struct frame *in = &link->in;
    if (in->magic != MAGIC || in->size != sizeof *in || in->length > PAYLOAD_MOST) return false;
    if (link->outgoing) return in->kind == ANSWER && in->answer.verdict <= VERDICT_READY;
    if (in->kind == QUESTION ? in->length : in->kind != REQUEST || in->message.payload_length != in->length) return false;
    if (in->message.solicited > 1 || in->message.grh > 1) return false;
    return in->message.length <= PAYLOAD_MOST && in->message.service <= QP_DCT;
}

static bool link_read(struct link *link);

static void take_request(struct link *link) {
    struct answer answer = {0};
    /* A process acknowledges what it got before it replies to it: the acknowledgment, on another connection, is told first. */
    for (size_t i = 0; i < link_count; i++)
        if (links[i]->outgoing) link_read(links[i]);
    link->in.message.payload = link->payload;
    link->in.message.unread = NULL;
    if (link->in.kind == QUESTION) respond_ask(&link->in.message, &answer);
    else respond(&link->in.message, &answer);
    struct chunk *chunk = chunk_new(ANSWER, link->in.qpn, link->in.serial, answer.data, answer.length);
    if (!chunk) {
        bytes_free(answer.data);
        link->broken = true;
        return;
    }
    chunk->frame.answer = answer;
    chunk->frame.answer.data = NULL;
    chunk->owned = answer.data;
    chunk_queue(link, chunk);
    link_write(link);
}

static void take_answer(struct link *link) {
    struct qp *qp = qp_find(link->in.qpn);
    struct answer answer = link->in.answer;
    answer.data = NULL;
    if (!qp || !qp->call || !qp->call->sent || qp->call->serial != link->in.serial || answer.length != link->in.length) return;
    answer.data = link->payload;        /* the callee's now */
    link->payload = NULL;
    request_answered(qp, &answer);
}

static bool link_read(struct link *link) {
    bool any = false;
    while (!link->broken) {
        uint8_t *to = (uint8_t *)&link->in + link->got;
        size_t want = sizeof link->in - link->got;
        if (link->got >= sizeof link->in) {
            to = link->payload + (link->got - sizeof link->in);
            want = sizeof link->in + link->in.length - link->got;
        }
        ssize_t done = recv(link->fd, to, want, 0);
        if (done <= 0) {
            if (done < 0 && errno == EINTR) continue;
            if (!done || errno != EAGAIN) link->broken = true;
            return any;
        }
        any = true;
        link->got += (size_t)done;
        if (link->got == sizeof link->in) {
            if (!frame_fine(link) || (link->in.length && !(link->payload = bytes_new(link->in.length)))) {
                link->broken = true;
                return any;
            }
        }
        if (link->got >= sizeof link->in && link->got == sizeof link->in + link->in.length) {
            link->got = 0;
            if (link->outgoing) take_answer(link);
            else take_request(link);
            bytes_free(link->payload);
            link->payload = NULL;
        }
        if (round_is_over()) return any;
    }
    return any;
}

static bool accept_some(void) {
    int fd, some = 0;
    for (; some < ACCEPTS && rendezvous_accept(&fd); some++)
        if (fd >= 0) link_add(fd, false, 0);
    return some > 0;
}

bool fabric_work(void) {
    if (!fabric_is_up()) return false;
    bool any = accept_some();
    for (size_t i = 0; i < link_count;) {
        struct link *link = links[i];
        any |= link_read(link);
        any |= link_write(link);
        if (link->broken) {
            link_end(i);
            any = true;
        } else {
            i++;
        }
    }
    return any;
}

size_t fabric_poll_fds(struct pollfd *fds, size_t room) {
    size_t n = 0;
    if (!fabric_is_up() || !room) return 0;
    fds[n++] = (struct pollfd){.fd = rendezvous_poll_fd(), .events = POLLIN};
    for (size_t i = 0; i < link_count && n < room; i++)
        fds[n++] = (struct pollfd){.fd = links[i]->fd, .events = (short)(POLLIN | (links[i]->first ? POLLOUT : 0))};
    return n;
}
