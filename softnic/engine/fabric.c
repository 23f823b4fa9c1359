/* The wire between processes: every process that opens the NIC under one fabric name has a number
 * there (rendezvous.c), and that number is the top of its QPNs.
 *
 * A requester connects to the process that a QPN names and sends whole messages; the answers come
 * back on the same connection (link.c, frame.c). Only processes of the same user are talked to.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link.h"

enum { SLOTS = 1 << (24 - QPN_BITS), ACCEPTS = 16 }; /* the last: in a round */

static uint32_t own_slot;
static uint64_t serials;

bool fabric_is_up(void) { return rendezvous_is_open(); }
uint32_t fabric_slot(void) { return own_slot; }

int fabric_start(void) {
    fabric_fork_child();
    return rendezvous_start(SLOTS, &own_slot);
}

void fabric_fork_child(void) {
    rendezvous_end();
    links_fork_child();
}

/* ---- out --------------------------------------------------------------------------------- */

enum { WORTH = 4096 }; /* bytes from which the memory of both is faster */

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

static bool send_call(struct link *link, const struct qp *qp, struct call *call, bool ask,
                      uint64_t after) {
    struct message *message = call->message;
    struct chunk *chunk = chunk_new(ask ? QUESTION : REQUEST, qp->number, ++serials,
                                    message->payload, ask ? 0 : message->payload_length);
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

bool fabric_send_after(const struct qp *qp, struct call *call, const struct call *front) {
    for (size_t i = 0; i < link_count; i++)
        if (links[i]->number == front->link && !links[i]->broken)
            return send_call(links[i], qp, call, false, front->serial);
    return false;
}

/* What is half out goes out whole; its answer is dropped. */
void fabric_forget(struct qp *qp) { qp->call->serial = 0; }

/* ---- in ---------------------------------------------------------------------------------- */

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

/* A request that is after one which was not taken is not taken either: the QP sends both again, in
 * order. */
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
        struct refusal *more =
            room > 1u << QPN_BITS ? NULL : realloc(link->refusal, room * sizeof *more);
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
    /* A process acknowledges what it got before it replies to it: the acknowledgment, on another
     * connection, is reported first. */
    for (size_t i = 0; i < link_count; i++)
        if (links[i]->outgoing) link_read(links[i]);
    struct message *message = &link->in.message;
    uint8_t *shared =
        link->in.shared ? area_at(link->area, link->in.shared - 1, link->in.length) : NULL;
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
    struct chunk *chunk =
        chunk_new(ANSWER, link->in.qpn, link->in.serial, answer.data, answer.length);
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
    bool wanted = qp && qp->call && qp->call->sent && qp->call->serial == link->in.serial &&
                  answer.length == link->in.length;
    answer.data = answer.room = NULL;
    if (link->in.shared) {
        wanted &= chunk && chunk->region.area && answer.length <= chunk->region.length;
        if (wanted) answer.data = answer.room = region_bytes(&chunk->region);
    } else if (wanted) {
        answer.data = link->payload; /* the callee's now */
        link->payload = NULL;
    }
    if (chunk && !answer.room) chunk_free(chunk), chunk = NULL;
    if (wanted) request_answered(qp, &answer);
    if (chunk) chunk_free(chunk);
}

void fabric_take(struct link *link) {
    switch (link->in.kind) {
    case OFFER: take_offer(link); break;
    case TAKEN: link->shares = true; break;
    case ANSWER: take_answer(link); break;
    default: take_request(link); break;
    }
    if (link->in_fd >= 0) close(link->in_fd), link->in_fd = -1;
    link->begun = true;
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
        fds[n++] = (struct pollfd){.fd = links[i]->fd,
                                   .events = (short)(POLLIN | (links[i]->first ? POLLOUT : 0))};
    return n;
}
