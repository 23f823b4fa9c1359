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
/* OFFER comes with the descriptor of the memory that both are to have; TAKEN tells that the other end has it. */
enum { MAGIC = 0x4d4b5332, REQUEST = 1, ANSWER = 2, QUESTION = 3, OFFER = 4, TAKEN = 5 };
#define PAYLOAD_MOST (1ull << 31)

struct frame {                          /* both ends are this code on this machine: host order, magic and size tell if not */
    uint32_t magic, size, kind, qpn;    /* qpn: the requester's */
    uint64_t serial, length;            /* of the call; bytes of payload */
    struct message message;             /* REQUEST, but its pointers; QUESTION: whether the peer is ready for it */
    struct answer answer;               /* ANSWER, but its pointers */
    uint64_t shared;                    /* REQUEST: 1 + where in the memory of both the payload is, or the answer's is wanted;
                                         * ANSWER: 1: it is there; 0: the payload follows on the socket */
    uint64_t after;                     /* REQUEST: of the same QP, without an answer when this was sent; 0: there is none */
};

struct chunk {                          /* on its way out, or waiting for the answer */
    struct frame frame;
    const uint8_t *payload;
    struct message *request;            /* whose payload it is; or */
    uint8_t *owned;
    struct region region;               /* for a payload that is not in the message's own, or for an answer */
    int fd;                             /* goes with the first byte; -1 */
    size_t done;
    struct chunk *next;
};

struct refusal { uint32_t qpn; uint64_t serial; };

struct link {
    int fd;
    uint64_t number;                    /* of no other link */
    uint32_t slot;                      /* outgoing: the process at the other end */
    bool outgoing, broken, begun;       /* begun: a whole frame came */
    struct area *area;
    bool shares;                        /* outgoing: the other end has it too */
    struct chunk *first, **last;
    struct chunk *waiting;              /* written; the other end looks into the memory of both until it answers */
    struct frame in;
    uint8_t *payload;
    size_t got;                         /* bytes of the frame and its payload so far */
    int in_fd;                          /* came with the first frame; -1 */
    struct refusal *refusal;            /* incoming: QPs whose last request was not taken */
    size_t refusals, refusal_room;
};

static uint32_t own_slot;
static uint64_t serials, numbers;
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
    for (size_t i = 0; i < link_count; i++) {
        close(links[i]->fd);
        if (links[i]->in_fd >= 0) close(links[i]->in_fd);
        for (struct chunk *chunk = links[i]->first; chunk; chunk = chunk->next)
            if (chunk->fd >= 0) close(chunk->fd);
    }
    link_count = 0;
}

/* ---- links --------------------------------------------------------------------------------------------------------------------------- */

static struct link *link_add(int fd, bool outgoing, uint32_t slot) {
    struct link *link = link_count < LINKS_MOST ? calloc(1, sizeof *link) : NULL;
    if (!link) {
        close(fd);
        return NULL;
    }
    link->fd = fd, link->outgoing = outgoing, link->slot = slot, link->in_fd = -1;
    link->number = ++numbers;
    link->last = &link->first;
    links[link_count++] = link;
    return link;
}

static void chunk_free(struct chunk *chunk) {
    if (chunk->request) message_release(chunk->request);
    bytes_free(chunk->owned);
    region_free(&chunk->region);
    if (chunk->fd >= 0) close(chunk->fd);
    free(chunk);
}

static void chunks_free(struct chunk *chunk) {
    for (struct chunk *next; chunk; chunk = next) {
        next = chunk->next;
        chunk_free(chunk);
    }
}

static void link_free(struct link *link) {
    chunks_free(link->first);
    chunks_free(link->waiting);
    bytes_free(link->payload);
    area_release(link->area);
    free(link->refusal);
    if (link->in_fd >= 0) close(link->in_fd);
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

static struct chunk *chunk_new(uint32_t kind, uint32_t qpn, uint64_t serial, const uint8_t *payload, uint64_t length) {
    struct chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk) return NULL;
    chunk->frame.magic = MAGIC, chunk->frame.size = sizeof chunk->frame, chunk->frame.kind = kind;
    chunk->frame.qpn = qpn, chunk->frame.serial = serial, chunk->frame.length = length;
    chunk->payload = payload, chunk->fd = -1;
    return chunk;
}

/* Memory for both ends; without it the socket carries everything. */
static void offer(struct link *link) {
    struct chunk *chunk = chunk_new(OFFER, 0, 0, NULL, 0);
    if (chunk && (link->area = area_new(&chunk->fd))) chunk_queue(link, chunk);
    else free(chunk);
}

/* errno EAGAIN: the process is there, but has not taken as many connections as it was offered. */
static struct link *link_to(uint32_t slot) {
    for (size_t i = 0; i < link_count; i++)
        if (links[i]->outgoing && !links[i]->broken && links[i]->slot == slot) return links[i];
    int fd = rendezvous_connect(slot);
    if (fd < 0) return NULL;
    errno = 0;
    struct link *link = link_add(fd, true, slot);
    if (link) offer(link);
    return link;
}

/* ---- out ------------------------------------------------------------------------------------------------------------------------------ */

/* Bytes that follow the frame on the socket. */
static uint64_t following(const struct frame *frame) { return frame->shared ? 0 : frame->length; }

static ssize_t chunk_send(int fd, const struct chunk *chunk) {
    union { struct cmsghdr header; char room[CMSG_SPACE(sizeof(int))]; } control = {.header.cmsg_level = SOL_SOCKET};
    struct iovec part[2] = {{(uint8_t *)(uintptr_t)&chunk->frame + chunk->done, 0}, {(uint8_t *)(uintptr_t)chunk->payload, following(&chunk->frame)}};
    struct msghdr message = {.msg_iov = part, .msg_iovlen = 2};
    if (chunk->done < sizeof chunk->frame) {
        part[0].iov_len = sizeof chunk->frame - chunk->done;
    } else {
        size_t into = chunk->done - sizeof chunk->frame;
        part[1].iov_base = (uint8_t *)part[1].iov_base + into;
        part[1].iov_len -= into;
        message.msg_iov = part + 1, message.msg_iovlen = 1;
    }
    if (chunk->fd >= 0 && !chunk->done) {
        control.header.cmsg_type = SCM_RIGHTS, control.header.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.header), &chunk->fd, sizeof(int));
        message.msg_control = control.room, message.msg_controllen = sizeof control.room;
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL);
}

/* Goes, or waits for the other end. */
static void chunk_gone(struct link *link) {
    struct chunk *chunk = link->first;
    link->first = chunk->next;
    if (!link->first) link->last = &link->first;
    if (!link->outgoing || !chunk->frame.shared) {
        chunk_free(chunk);
        return;
    }
    struct chunk **end = &link->waiting;
    while (*end) end = &(*end)->next;
    chunk->next = NULL;
    *end = chunk;
}

static bool link_write(struct link *link) {
    bool any = false;
    while (link->first && !link->broken) {
        struct chunk *chunk = link->first;
        ssize_t done = chunk_send(link->fd, chunk);
        if (done < 0) {
            if (errno == EINTR) continue;
            if (errno == EAGAIN) return any;
            if (chunk->fd >= 0) chunk_gone(link);       /* no descriptor can be sent: ETOOMANYREFS, or a filter */
            else link->broken = true;
            continue;
        }
        any = true;
        chunk->done += (size_t)done;
        if (chunk->done == sizeof chunk->frame + following(&chunk->frame)) chunk_gone(link);
        if (round_is_over()) return any;
    }
    return any;
}

enum { WORTH = 4096 };                  /* bytes from which the memory of both is faster */

bool fabric_region(uint32_t destination, uint64_t length, struct region *out) {
    struct link *link = length >= WORTH ? link_to(destination >> QPN_BITS) : NULL;
    return link && link->shares && region_new(link->area, length, out);
}

/* Where the payload is, or where the answer is wanted. */
static void share(struct link *link, struct chunk *chunk) {
    struct message *message = chunk->request;
    bool reads = message->opcode == OPCODE_RDMA_READ;
    uint64_t length = reads ? message->length : message->payload_length;
    if (length < WORTH || !link->shares) return;
    if (message->region.area == link->area) {
        chunk->frame.shared = 1 + message->region.offset;
    } else if (region_new(link->area, length, &chunk->region)) {
        if (!reads) memcpy(region_bytes(&chunk->region), message->payload, length);
        chunk->frame.shared = 1 + chunk->region.offset;
    }
}

static bool send_call(struct link *link, const struct qp *qp, struct call *call, bool ask, uint64_t after) {
    struct message *message = call->message;
    struct chunk *chunk = chunk_new(ask ? QUESTION : REQUEST, qp->number, ++serials, message->payload, ask ? 0 : message->payload_length);
    if (!chunk) return false;
    chunk->frame.after = after;
    chunk->frame.message = *message;
    chunk->frame.message.payload = NULL, chunk->frame.message.region.area = NULL;
    chunk->request = message;
    message->references++;
    if (!ask) share(link, chunk);
    call->serial = chunk->frame.serial, call->link = ask ? 0 : link->number;
    chunk_queue(link, chunk);
    link_write(link);
    return true;
}

enum verdict fabric_send(struct qp *qp, bool ask) {
    struct link *link = link_to(qp->call->message->destination >> QPN_BITS);
    if (!link) return errno == EAGAIN ? VERDICT_BUSY : VERDICT_SILENCE;
    return send_call(link, qp, qp->call, ask, 0) ? VERDICT_LATER : VERDICT_BUSY;
}

bool fabric_send_behind(const struct qp *qp, struct call *call, const struct call *front) {
    for (size_t i = 0; i < link_count; i++)
        if (links[i]->number == front->link && !links[i]->broken) return send_call(links[i], qp, call, false, front->serial);
    return false;
}

/* What is half out goes out whole; its answer finds nobody. */
void fabric_forget(struct qp *qp) { qp->call->serial = 0; }

/* ---- in ------------------------------------------------------------------------------------------------------------------------------- */

static bool frame_fine(const struct link *link) {
    const struct frame *in = &link->in;
    if (in->magic != MAGIC || in->size != sizeof *in || in->length > PAYLOAD_MOST) return false;
    if (link->outgoing && in->kind == TAKEN) return link->area && !in->length && !in->shared;
    if (link->outgoing) return in->kind == ANSWER && in->answer.verdict <= VERDICT_DROPPED && in->shared <= 1;
    if (in->kind == OFFER) return !link->begun && !in->length && !in->shared;
    if (in->kind == QUESTION ? in->length || in->shared : in->kind != REQUEST || in->message.payload_length != in->length) return false;
    if (in->message.solicited > 1 || in->message.grh > 1) return false;
    if (in->message.length > PAYLOAD_MOST || in->message.service > QP_DCT) return false;
    return !in->shared || area_at(link->area, in->shared - 1, in->length ? in->length : in->message.length);
}

static bool link_read(struct link *link);

static void reply(struct link *link, struct chunk *chunk) {
    if (!chunk) {
        link->broken = true;
        return;
    }
    chunk_queue(link, chunk);
    link_write(link);
}

static void take_offer(struct link *link) {
    if (link->in_fd >= 0) link->area = area_of_peer(link->in_fd);
    if (link->area) reply(link, chunk_new(TAKEN, 0, 0, NULL, 0));
}

/* A request that is behind one which was not taken is not taken either: the QP sends both again, in order. */
static bool is_dropped(struct link *link) {
    for (size_t i = 0; i < link->refusals; i++) {
        struct refusal *refusal = &link->refusal[i];
        if (refusal->qpn != link->in.qpn) continue;
        if (link->in.after && link->in.after == refusal->serial) {
            refusal->serial = link->in.serial;
            return true;
        }
        *refusal = link->refusal[--link->refusals];
        return false;
    }
    return false;
}

static void not_taken(struct link *link) {
    if (link->refusals == link->refusal_room) {
        size_t room = link->refusal_room ? link->refusal_room * 2 : 8;
        struct refusal *more = room > 1u << QPN_BITS ? NULL : realloc(link->refusal, room * sizeof *more);
        if (!more) {
            link->broken = true;
            return;
        }
        link->refusal = more, link->refusal_room = room;
    }
    link->refusal[link->refusals++] = (struct refusal){link->in.qpn, link->in.serial};
}

static void take_request(struct link *link) {
    struct answer answer = {0};
    /* A process acknowledges what it got before it replies to it: the acknowledgment, on another connection, is told first. */
    for (size_t i = 0; i < link_count; i++)
        if (links[i]->outgoing) link_read(links[i]);
    struct message *message = &link->in.message;
    uint8_t *shared = link->in.shared ? area_at(link->area, link->in.shared - 1, link->in.length) : NULL;
    message->unread = NULL, message->region.area = NULL;
    message->payload = shared && link->in.length ? shared : link->payload;
    if (shared && !link->in.length) answer.room = shared;
    if (link->in.kind == QUESTION) respond_ask(message, &answer);
    else if (is_dropped(link)) answer.verdict = VERDICT_DROPPED;
    else {
        respond(message, &answer);
        if (answer.verdict != VERDICT_ACK) not_taken(link);
    }
    bool there = answer.room && answer.length && answer.length <= message->length;
    if (there && answer.data != answer.room) memcpy(answer.room, answer.data, answer.length);
    if (answer.data == answer.room) answer.data = NULL;
    struct chunk *chunk = chunk_new(ANSWER, link->in.qpn, link->in.serial, answer.data, answer.length);
    if (chunk) {
        chunk->frame.answer = answer, chunk->frame.shared = there;
        chunk->frame.answer.data = chunk->frame.answer.room = NULL;
        chunk->owned = answer.data;
    } else {
        bytes_free(answer.data);
    }
    reply(link, chunk);
}

/* The request that this answers, if it was one through the memory of both. */
static struct chunk *waited(struct link *link, uint64_t serial) {
    for (struct chunk **at = &link->waiting; *at; at = &(*at)->next) {
        struct chunk *found = *at;
        if (found->frame.serial != serial) continue;
        *at = found->next;
        return found;
    }
    return NULL;
}

static void take_answer(struct link *link) {
    struct qp *qp = qp_find(link->in.qpn);
    struct answer answer = link->in.answer;
    struct chunk *chunk = waited(link, link->in.serial);
    bool wanted = qp && qp->call && qp->call->sent && qp->call->serial == link->in.serial && answer.length == link->in.length;
    answer.data = answer.room = NULL;
    if (link->in.shared) {
        wanted &= chunk && chunk->region.area && answer.length <= chunk->region.length;
        if (wanted) answer.data = answer.room = region_bytes(&chunk->region);
    } else if (wanted) {
        answer.data = link->payload;    /* the callee's now */
        link->payload = NULL;
    }
    if (chunk && !answer.room) chunk_free(chunk), chunk = NULL;
    if (wanted) request_answered(qp, &answer);
    if (chunk) chunk_free(chunk);
}

static void take(struct link *link) {
    switch (link->in.kind) {
    case OFFER: take_offer(link); break;
    case TAKEN: link->shares = true; break;
    case ANSWER: take_answer(link); break;
    default: take_request(link); break;
    }
    if (link->in_fd >= 0) close(link->in_fd), link->in_fd = -1;
    link->begun = true;
}

/* The first frame may come with a descriptor; those of later ones the kernel throws away. */
static ssize_t receive(struct link *link, void *to, size_t want) {
    union { struct cmsghdr header; char room[CMSG_SPACE(sizeof(int))]; } control;
    struct iovec part = {to, want};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    if (link->outgoing || link->begun) return recv(link->fd, to, want, 0);
    ssize_t done = recvmsg(link->fd, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = done > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS || header->cmsg_len < CMSG_LEN(sizeof(int))) return done;
    if (link->in_fd >= 0) close(link->in_fd);
    memcpy(&link->in_fd, CMSG_DATA(header), sizeof(int));
    link->in_fd = fd_high(link->in_fd);
    return done;
}

static bool link_read(struct link *link) {
    bool any = false;
    while (!link->broken) {
        uint8_t *to = (uint8_t *)&link->in + link->got;
        size_t want = sizeof link->in - link->got;
        if (link->got >= sizeof link->in) {
            to = link->payload + (link->got - sizeof link->in);
            want = sizeof link->in + following(&link->in) - link->got;
        }
        ssize_t done = receive(link, to, want);
        if (done <= 0) {
            /* ECONNRESET: the peer closed before it read all of ours; what it sent is still there. */
            if (done < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
            if (!done || errno != EAGAIN) link->broken = true;
            return any;
        }
        any = true;
        link->got += (size_t)done;
        if (link->got == sizeof link->in) {
            if (!frame_fine(link) || (following(&link->in) && !(link->payload = bytes_new(link->in.length)))) {
                link->broken = true;
                return any;
            }
        }
        if (link->got >= sizeof link->in && link->got == sizeof link->in + following(&link->in)) {
            link->got = 0;
            take(link);
            bytes_free(link->payload);
            link->payload = NULL;
        }
        if (round_is_over()) return any;
    }
    return any;
}

bool fabric_hear(void) {
    bool any = false;
    for (size_t i = 0; fabric_is_up() && i < link_count; i++)
        while (links[i]->outgoing && link_read(links[i])) any = true;
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
