/* Connections between two processes of a fabric, and what goes over them: for link.c, frame.c and
 * fabric.c alone. */
#ifndef SOFTNIC_LINK_H
#define SOFTNIC_LINK_H

#include "engine.h"

/* OFFER comes with the descriptor of the memory that both are to have; TAKEN tells that the other
 * end has it. */
enum { MAGIC = 0x4d4b5332, REQUEST = 1, ANSWER = 2, QUESTION = 3, OFFER = 4, TAKEN = 5 };
#define PAYLOAD_MOST (1ull << 31)

struct frame { /* both ends are this code on this machine: host order, magic and size tell if not */
    uint32_t magic, size, kind, qpn; /* qpn: the requester's */
    uint64_t serial, length;         /* of the call; bytes of payload */
    /* REQUEST, but its pointers; QUESTION: whether the peer is ready for it */
    struct message message;
    struct answer answer; /* ANSWER, but its pointers */
    /* REQUEST: 1 + where in the memory of both the payload is, or the answer's is wanted;
     * ANSWER: 1: it is there; 0: the payload follows on the socket */
    uint64_t shared;
    /* REQUEST: of the same QP, without an answer when this was sent; 0: there is none */
    uint64_t after;
};

struct chunk { /* on its way out, or waiting for the answer */
    struct frame frame;
    const uint8_t *payload;
    struct message *request; /* whose payload it is; or */
    uint8_t *owned;
    struct region region; /* for a payload that is not in the message's own, or for an answer */
    int fd;               /* goes with the first byte; -1 */
    size_t done;
    struct chunk *next;
};

struct refusal {
    uint32_t qpn;
    uint64_t serial;
};

struct link {
    int fd;
    uint64_t number;              /* of no other link */
    uint32_t slot;                /* outgoing: the process at the other end */
    bool outgoing, broken, begun; /* begun: a whole frame came */
    struct area *area;
    bool shares; /* outgoing: the other end has it too */
    struct chunk *first, **last;
    /* written; the other end looks into the memory of both until it answers */
    struct chunk *waiting;
    struct frame in;
    uint8_t *payload;
    size_t got;              /* bytes of the frame and its payload so far */
    uint64_t room;           /* of `payload`: it grows as bytes come */
    int in_fd;               /* came with the first frame; -1 */
    struct refusal *refusal; /* incoming: QPs whose last request was not taken */
    size_t refusals, refusal_room;
};

/* Bytes that follow the frame on the socket. */
static inline uint64_t following(const struct frame *frame) {
    return frame->shared ? 0 : frame->length;
}

/* ---- link.c ------------------------------------------------------------------------------ */

enum { LINKS_MOST = 512 };
extern struct link *links[LINKS_MOST];
extern size_t link_count;

/* NULL: too many; the socket is closed then */
struct link *link_add(int fd, bool outgoing, uint32_t slot);
/* The connection to a process, made if it has to be. NULL, errno EAGAIN: the process is there, but
 * has not taken as many connections as it was offered. */
struct link *link_to(uint32_t slot);
void link_end(size_t i); /* everything that was under way on it hears nothing any more */
void links_fork_child(void);
bool link_write(struct link *link); /* true: something went out */

struct chunk *chunk_new(uint32_t kind, uint32_t qpn, uint64_t serial, const uint8_t *payload,
                        uint64_t length);
void chunk_free(struct chunk *chunk);
void chunk_queue(struct link *link, struct chunk *chunk);

/* ---- frame.c ----------------------------------------------------------------------------- */

bool link_read(struct link *link); /* true: something came in */

/* ---- fabric.c ---------------------------------------------------------------------------- */

void fabric_take(struct link *link); /* a whole frame that may be */

#endif
