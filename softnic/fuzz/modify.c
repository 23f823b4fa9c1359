/* Any changes of a QP, with work posted in between: only states that follow one another are reached
 * (IBTA 10.3.1, and the Linux RDMA core's table, which allows more), and what is refused changes
 * nothing.
 *
 * An input is a byte for the type of QP, then changes of 16 bytes: what to do, the state, the
 * current state, the mask, the rest for the other members in turn.
 */
#include <errno.h>

#include "fuzz/world.h"

enum { CHANGE = 16 };
static struct world *world;

/* Whether a change of state exists at all, whatever must come with it. */
static bool exists(enum qp_state from, enum qp_state to) {
    static const uint8_t next[] = {
        [STATE_RESET] = 1 << STATE_RESET | 1 << STATE_INIT,
        [STATE_INIT] = 1 << STATE_INIT | 1 << STATE_RTR,
        [STATE_RTR] = 1 << STATE_RTS,
        [STATE_RTS] = 1 << STATE_RTS | 1 << STATE_SQD,
        [STATE_SQD] = 1 << STATE_SQD | 1 << STATE_RTS,
        [STATE_SQE] = 1 << STATE_RTS,
        [STATE_ERR] = 0,
    };
    return to == STATE_RESET || (to == STATE_ERR && from != STATE_RESET) || (next[from] >> to & 1);
}

static struct qp_change change_of(const uint8_t *in) {
    struct qp_change change = {
        .state = in[1] % 16,
        .current_state = in[2] % 16,
        .mask = load_be32(in + 3) & 0x3fffff,
        .path_mtu = in[7],
        .path_mig_state = in[8],
        .en_sqd_async_notify = in[9],
        .max_rd_atomic = in[10],
        .max_dest_rd_atomic = in[11],
        .min_rnr_timer = in[12],
        .port = in[13] % 4,
        .timeout = in[14],
        .retry_count = in[15],
        .rnr_retry = in[7],
        .pkey_index = in[8],
        .qkey = in[9],
        .rq_psn = load_be32(in + 8),
        .sq_psn = load_be32(in + 8),
        .dest_qpn = load_be32(in + 12),
        .access = in[10],
    };
    change.path.dlid = change.alt_path.dlid = in[11],
    change.path.port = change.alt_port = in[13] % 4;
    change.path.is_global = in[12] & 1, change.path.sgid_index = in[14];
    if (in[0] & 1) { /* good values, and itself for a peer */
        change.path_mtu = 3, change.port = change.path.port = 1, change.path.dlid = 1,
        change.path.is_global = 0, change.pkey_index = 0;
        change.max_rd_atomic = change.max_dest_rd_atomic = 1, change.rnr_retry &= 7,
        change.retry_count &= 7, change.timeout = 1;
        change.access = 15, change.min_rnr_timer = 1, change.path_mig_state = 0,
        change.rq_psn = change.sq_psn = 0;
    }
    return change;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t opcodes[] = {0x0a, 0x08, 0x10, 0x11, 0x00, 0xff, 0x20, OPCODE_WAIT};
    if (!world) world = world_make();
    if (!size) return 0;
    enum qp_type type = (enum qp_type)(data[0] % TYPES);
    uint16_t posted = 0;
    uint64_t next;
    world_qp(world, type);
    struct qp *qp = world->end[type].qp;
    for (size_t at = 1; at + CHANGE <= size; at += CHANGE) {
        struct qp_change change = change_of(data + at);
        if (data[at] & 1) change.dest_qpn = qp->number;
        if (data[at] & 2 && posted < BLOCKS - 1)
            world_post(world, type, posted++, opcodes[data[at] >> 2 & 7], data[at] & 0x20 ? 8 : 64);
        if (data[at] & 0x40) world_receives(world, type, 8);
        enum qp_state from = qp->state;
        int error = qp_modify(qp, &change);
        MUST(qp->state <= STATE_ERR);
        MUST(!error || error == EINVAL);
        if (error) MUST(qp->state == from);
        else if (change.mask & 1) {
            /* What ran before, or after, may have ended in an error. */
            MUST(change.state <= STATE_ERR && exists(from, (enum qp_state)change.state));
            MUST(qp->state == change.state || qp->state == STATE_ERR || qp->state == STATE_SQE ||
                 qp->ending);
        }
        if (qp->state == STATE_RESET) posted = 0;
        if (data[at] & 0x80) nic_round(&next);
    }
    for (int n = 0; n < 4 && nic_round(&next); n++) {}
    return 0;
}
