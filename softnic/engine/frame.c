/* What comes in over a connection, frame by frame. Any process of this user may write to it:
 * nothing is taken that could not be. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link.h"

static bool frame_fine(const struct link *link) {
    const struct frame *in = &link->in;
    if (in->magic != MAGIC || in->size != sizeof *in || in->length > PAYLOAD_MOST) return false;
    if (link->outgoing && in->kind == TAKEN) return link->area && !in->length && !in->shared;
    if (link->outgoing)
        return in->kind == ANSWER && in->answer.verdict <= VERDICT_DROPPED && in->shared <= 1;
    if (in->kind == OFFER) return !link->begun && !in->length && !in->shared;
    if (in->kind == QUESTION ? in->length || in->shared
                             : in->kind != REQUEST || in->message.payload_length != in->length)
        return false;
    if (in->message.solicited > 1 || in->message.grh > 1) return false;
    if (in->message.length > PAYLOAD_MOST || in->message.service > QP_DCT) return false;
    return !in->shared ||
           area_at(link->area, in->shared - 1, in->length ? in->length : in->message.length);
}

/* The first frame may come with a descriptor; those of later ones the kernel throws away. */
static ssize_t receive(struct link *link, void *to, size_t want) {
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {to, want};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    if (link->outgoing || link->begun) return recv(link->fd, to, want, 0);
    ssize_t done = recvmsg(link->fd, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = done > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
        header->cmsg_len < CMSG_LEN(sizeof(int)))
        return done;
    if (link->in_fd >= 0) close(link->in_fd);
    memcpy(&link->in_fd, CMSG_DATA(header), sizeof(int));
    link->in_fd = fd_high(link->in_fd);
    return done;
}

/* Room for more of what follows the frame. A peer that announces much and sends little must not
 * make this process set much aside. */
static bool payload_grows(struct link *link) {
    static const uint64_t STEP = 1 << 20;
    uint64_t room = link->room ? link->room * 2 : STEP;
    if (room > following(&link->in)) room = following(&link->in);
    uint8_t *more = bytes_more(link->payload, room);
    if (!more) return false;
    link->payload = more, link->room = room;
    return true;
}

/* Bytes of the frame and its payload that there is room for. */
static uint64_t room_of(const struct link *link) {
    return sizeof link->in + (link->got < sizeof link->in ? 0 : link->room);
}

static bool is_whole(const struct link *link) {
    return link->got >= sizeof link->in && link->got == sizeof link->in + following(&link->in);
}

bool link_read(struct link *link) {
    bool any = false;
    while (!link->broken) {
        uint8_t *to = link->got < sizeof link->in ? (uint8_t *)&link->in + link->got
                                                  : link->payload + (link->got - sizeof link->in);
        ssize_t done = receive(link, to, room_of(link) - link->got);
        if (done <= 0) {
            /* ECONNRESET: the peer closed before it read all of ours; what it sent is still there.
             */
            if (done < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
            if (!done || errno != EAGAIN) link->broken = true;
            return any;
        }
        any = true;
        link->got += (size_t)done;
        if (link->got == sizeof link->in) {
            link->room = 0;
            link->broken = !frame_fine(link);
        }
        if (link->broken) return any;
        if (is_whole(link)) {
            link->got = 0;
            fabric_take(link);
            bytes_free(link->payload);
            link->payload = NULL;
        } else if (link->got == room_of(link) && !payload_grows(link)) {
            link->broken = true;
        }
        if (round_is_over()) return any;
    }
    return any;
}
