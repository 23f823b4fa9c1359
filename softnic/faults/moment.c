/* What is known when a rule begins. */
#include "faults/moment.h"

#include "faults/fault.h"

REPLACES(transfer_add_segs);

#define NOTHING \
    { \
        .opcode = NONE, .service = NONE, .signaled = NONE, .fence = NONE, .signal_all = NONE, \
        .role = ROLE_LOCAL, .direction = NONE, .size = NONE, .offset = NONE, .message = NONE, \
        .sge = NONE, .sges = NONE, .depth = NONE, .entry = {0, NONE}, .which = NONE, \
        .block = {0, NONE}, .unit = {0, NONE} \
    }

struct moment moment = NOTHING;

void moment_new(void) { moment = (struct moment)NOTHING; }

void moment_blocks(const struct bsf *sig, enum domain which, uint64_t before, uint64_t raw) {
    uint64_t size = sig->domain[which].block;
    moment_finds_place(sig, NULL, before);
    moment.sig = sig, moment.which = which;
    moment.first = (int64_t)(before / size);
    moment.block = range_of(moment.first, (int64_t)(raw / size));
    moment.blocks = moment.first + (int64_t)(raw / size);
    moment.tail = raw % size != 0;
}

enum violation transfer_add_segs(struct transfer *transfer, const struct wqe_seg *seg,
                                 unsigned segs, uint64_t limit, bool write) {
    moment.sges = segs, moment.sge = NONE;
    return right_transfer_add_segs(transfer, seg, segs, limit, write);
}
