/* The connections between processes: made, ended, written. A connection that breaks is silence for
 * what was under way on it: the retry timer decides then, as with a cable that was pulled. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "link.h"

struct link *links[LINKS_MOST];
size_t link_count;
static uint64_t numbers;

struct link *link_add(int fd, bool outgoing, uint32_t slot) {
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

void chunk_free(struct chunk *chunk) {
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

void link_end(size_t i) {
    struct link *link = links[i];
    links[i] = links[--link_count];
    bool outgoing = link->outgoing;
    uint32_t slot = link->slot;
    link_free(link);
    if (!outgoing) return;
    for (uint32_t number = nic.qps.first; number < nic.qps.used; number++) {
        struct qp *qp = table_get(&nic.qps, number);
        if (!qp || !qp->call || !qp->call->sent ||
            qp->call->message->destination >> QPN_BITS != slot)
            continue;
        struct answer silence = {.verdict = VERDICT_SILENCE};
        request_answered(qp, &silence);
    }
}

void chunk_queue(struct link *link, struct chunk *chunk) {
    *link->last = chunk;
    link->last = &chunk->next;
}

struct chunk *chunk_new(uint32_t kind, uint32_t qpn, uint64_t serial, const uint8_t *payload,
                        uint64_t length) {
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

struct link *link_to(uint32_t slot) {
    for (size_t i = 0; i < link_count; i++)
        if (links[i]->outgoing && !links[i]->broken && links[i]->slot == slot) return links[i];
    int fd = rendezvous_connect(slot);
    if (fd < 0) return NULL;
    errno = 0;
    struct link *link = link_add(fd, true, slot);
    if (link) offer(link);
    return link;
}

/* ---- out --------------------------------------------------------------------------------- */

static ssize_t chunk_send(int fd, const struct chunk *chunk) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.header.cmsg_level = SOL_SOCKET};
    struct iovec part[2] = {{(uint8_t *)(uintptr_t)&chunk->frame + chunk->done, 0},
                            {(uint8_t *)(uintptr_t)chunk->payload, following(&chunk->frame)}};
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

bool link_write(struct link *link) {
    bool any = false;
    while (link->first && !link->broken) {
        struct chunk *chunk = link->first;
        ssize_t done = chunk_send(link->fd, chunk);
        if (done < 0) {
            if (errno == EINTR) continue;
            if (errno == EAGAIN) return any;
            /* no descriptor can be sent: ETOOMANYREFS, or a filter */
            if (chunk->fd >= 0) chunk_gone(link);
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

/* A child must not keep its parent's ends open: the peers would not see it die. */
void links_fork_child(void) {
    for (size_t i = 0; i < link_count; i++) {
        close(links[i]->fd);
        if (links[i]->in_fd >= 0) close(links[i]->in_fd);
        for (struct chunk *chunk = links[i]->first; chunk; chunk = chunk->next)
            if (chunk->fd >= 0) close(chunk->fd);
    }
    link_count = 0;
}
