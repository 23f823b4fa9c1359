/* What a NIC with a fault knows while a rule is at work: the request, the message, the key, the
 * blocks. The replacements of the rules keep it; facts.c reads the dimensions in it. Members of no
 * meaning at a moment are unset: NULL, NONE, or an empty range. */
#ifndef SOFTNIC_FAULTS_MOMENT_H
#define SOFTNIC_FAULTS_MOMENT_H

#include "engine/engine.h"

enum { NONE = -1 };
enum { STRONG_FENCE = 4 }; /* IBV_SEND_FENCE; the driver asks for small ones itself */
enum role { ROLE_LOCAL, ROLE_REMOTE, ROLE_RECEIVE };

/* Numbers from first to last; last < first: none. */
struct range {
    int64_t first, last;
};
static inline struct range range_of(int64_t first, int64_t count) {
    return (struct range){first, first + count - 1};
}

struct moment {
    int opcode, service; /* of the request: OPCODE_* and enum qp_type, or NONE */
    int signaled, fence, signal_all;
    int role;      /* enum role */
    int direction; /* 0 to the wire, 1 from it */
    int64_t size, offset, message;
    int64_t sge, sges;
    uint32_t key; /* value of the mkey that is used or configured; 0: none */
    /* The layout that is walked, and how many mkeys are above its entries. */
    const struct key *walked;
    int64_t depth;
    struct range entry;
    const struct bsf *sig;
    int which;     /* enum domain */
    int64_t first; /* the number in the message of the first block of the stream at work */
    struct range block;
    int64_t blocks;
    int tail; /* a part of a block is left */
    uint16_t syndrome;
    const struct crypto_bsf *crypto;
    struct range unit;
};
extern struct moment moment;

/* transfer.c: the place at work is the one with this signature, or these crypto attributes, and so
 * many data bytes in front of it. */
void moment_finds_place(const struct bsf *sig, const struct crypto_bsf *crypto, uint64_t before);
extern bool moment_responds; /* respond.c: a message is being answered */
void moment_new(void);       /* a request begins: nothing is known yet */
/* A stream of a place: `raw` data bytes behind `before`. */
void moment_blocks(const struct bsf *sig, enum domain which, uint64_t before, uint64_t raw);
static inline void moment_block(int64_t block) { moment.block = range_of(block, 1); }

#endif
