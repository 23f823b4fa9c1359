/* Queue pairs by DEVX: a program that made a QP by verbs may move and query it in the firmware's
 * words. */
#include "devx.h"

#include <errno.h>
#include <string.h>

#include "pure/bits.h"

enum {
    RST2INIT = 0x502,
    INIT2RTR = 0x503,
    RTR2RTS = 0x504,
    RTS2RTS = 0x505,
    SQERR2RTS = 0x506,
    TO_ERR = 0x507,
    TO_RST = 0x50a,
    INIT2INIT = 0x50e,
};
enum {
    QPN_AT = 9,
    OPT_PARAM_MASK = 0x10,
    QPC_AT = 0x18,
    MASK_95_32 = 0x108,
    QPC_EXT = 0x110,
    EXT_FLAG = 0x40
};
enum {
    OPT_RRE = 1 << 1,
    OPT_RAE = 1 << 2,
    OPT_RWE = 1 << 3,
    OPT_PKEY = 1 << 4,
    OPT_QKEY = 1 << 5,
    OPT_RNR_TIMEOUT = 1 << 6,
    OPT_DRAIN_SIGERR = 1 << 11,
    OPT_PRI_PORT = 1 << 16,
    OPT_RIGHTS = OPT_RRE | OPT_RAE | OPT_RWE
};
enum { EXT_DCI_STREAM = 1 << 0, EXT_MMO = 1 << 3 };

/* Places in the QP context and in an address path, in bits. */
enum {
    STATE = 0x00,
    ST = 0x08,
    PM_STATE = 0x13,
    DRAIN_SIGERR = 0x25,
    QPC_PD = 0x28,
    QPC_MTU = 0x40,
    LOG_MSG_MAX = 0x43,
    LOG_RQ_SIZE = 0x49,
    LOG_RQ_STRIDE = 0x4d,
    LOG_SQ_SIZE = 0x51,
    USER_INDEX = 0x88,
    REMOTE_QPN = 0xa8,
    PRIMARY = 0xc0,
    LOG_SRA_MAX = 0x388,
    RETRY_COUNT = 0x38d,
    RNR_RETRY = 0x390,
    NEXT_SEND_PSN = 0x3c8,
    CQN_SND = 0x3e8,
    LOG_RRA_MAX = 0x488,
    RRE = 0x490,
    RWE = 0x491,
    RAE = 0x492,
    MIN_RNR_NAK = 0x4a3,
    NEXT_RCV_PSN = 0x4a8,
    CQN_RCV = 0x4e8,
    Q_KEY = 0x540,
    HW_SQ_COUNTER = 0x5a0,
};
enum {
    PATH_PKEY = 0x10,
    PATH_GRH = 0x28,
    PATH_RLID = 0x30,
    PATH_ACK_TIMEOUT = 0x40,
    PATH_SRC_ADDR = 0x48,
    PATH_STAT_RATE = 0x54,
    PATH_HOP_LIMIT = 0x58,
    PATH_TCLASS = 0x64,
    PATH_FLOW_LABEL = 0x6c,
    PATH_RGID = 0x80,
    PATH_SL = 0x124,
    PATH_PORT = 0x128,
};

/* enum ib_qp_attr_mask */
enum {
    MASK_STATE = 1 << 0,
    MASK_CURRENT = 1 << 1,
    MASK_ACCESS = 1 << 3,
    MASK_PKEY = 1 << 4,
    MASK_PORT = 1 << 5,
    MASK_QKEY = 1 << 6,
    MASK_AV = 1 << 7,
    MASK_MTU = 1 << 8,
    MASK_TIMEOUT = 1 << 9,
    MASK_RETRY = 1 << 10,
    MASK_RNR_RETRY = 1 << 11,
    MASK_RQ_PSN = 1 << 12,
    MASK_RD = 1 << 13,
    MASK_RNR_TIMER = 1 << 15,
    MASK_SQ_PSN = 1 << 16,
    MASK_DEST_RD = 1 << 17,
    MASK_DEST_QPN = 1 << 20,
};
enum { ACCESS_REMOTE_WRITE = 2, ACCESS_REMOTE_READ = 4, ACCESS_REMOTE_ATOMIC = 8 };

static uint32_t number(const uint8_t *qpc, unsigned at, unsigned width) {
    return (uint32_t)devx_get(qpc, at, width);
}

/* The whole context as values; which of them count is the mask's. */
static struct qp_change decode(const uint8_t *qpc) {
    const uint8_t *path = qpc + PRIMARY / 8;
    struct qp_change change = {
        .path_mtu = (uint8_t)number(qpc, QPC_MTU, 3),
        .dest_qpn = number(qpc, REMOTE_QPN, 24),
        .rq_psn = number(qpc, NEXT_RCV_PSN, 24),
        .sq_psn = number(qpc, NEXT_SEND_PSN, 24),
        .max_rd_atomic = (uint8_t)(1 << number(qpc, LOG_SRA_MAX, 3)),
        .max_dest_rd_atomic = (uint8_t)(1 << number(qpc, LOG_RRA_MAX, 3)),
        .min_rnr_timer = (uint8_t)number(qpc, MIN_RNR_NAK, 5),
        .timeout = (uint8_t)number(path, PATH_ACK_TIMEOUT, 5),
        .retry_count = (uint8_t)number(qpc, RETRY_COUNT, 3),
        .rnr_retry = (uint8_t)number(qpc, RNR_RETRY, 3),
        .qkey = number(qpc, Q_KEY, 32),
        .port = (uint8_t)number(path, PATH_PORT, 8),
        .pkey_index = (uint16_t)number(path, PATH_PKEY, 16),
        .access = (number(qpc, RRE, 1) ? ACCESS_REMOTE_READ : 0u) |
                  (number(qpc, RWE, 1) ? ACCESS_REMOTE_WRITE : 0u) |
                  (number(qpc, RAE, 1) ? ACCESS_REMOTE_ATOMIC : 0u),
        .path =
            {
                .sgid_index = (uint8_t)number(path, PATH_SRC_ADDR, 8),
                .hop_limit = (uint8_t)number(path, PATH_HOP_LIMIT, 8),
                .traffic_class = (uint8_t)number(path, PATH_TCLASS, 8),
                .sl = (uint8_t)number(path, PATH_SL, 4),
                .static_rate = (uint8_t)number(path, PATH_STAT_RATE, 4),
                .dlid = (uint16_t)number(path, PATH_RLID, 16),
                .flow_label = number(path, PATH_FLOW_LABEL, 20),
                .port = (uint8_t)number(path, PATH_PORT, 8),
                /* Of an Ethernet port all addresses are global, and none says so. */
                .is_global = personality()->roce || number(path, PATH_GRH, 1),
            },
    };

    memcpy(change.path.dgid, path + PATH_RGID / 8, sizeof(change.path.dgid));
    if (!change.port) change.port = change.path.port = 1;
    return change;
}

/* The attributes that each move takes from the context, in the words of verbs. */
static uint32_t mask_of(const struct qp *qp, uint16_t opcode, uint32_t optional) {
    enum qp_type type = qp->attr.type;
    bool connected = type == QP_RC || type == QP_UC;
    uint32_t mask = MASK_STATE | (connected && optional & OPT_RIGHTS ? MASK_ACCESS : 0u) |
                    (optional & OPT_PKEY ? MASK_PKEY : 0u) |
                    (type == QP_UD && optional & OPT_QKEY ? MASK_QKEY : 0u);

    switch (opcode) {
    case RST2INIT:
        return mask | MASK_PKEY | MASK_PORT |
               (type == QP_UD ? MASK_QKEY
                : connected   ? MASK_ACCESS
                              : 0u);
    case INIT2INIT: return mask | (optional & OPT_PRI_PORT ? MASK_PORT : 0u);
    case INIT2RTR:
        if (type == QP_RC) mask |= MASK_DEST_RD | MASK_RNR_TIMER;
        return connected ? mask | MASK_AV | MASK_MTU | MASK_DEST_QPN | MASK_RQ_PSN : mask;
    case RTR2RTS:
        if (type == QP_RC || type == QP_DCI)
            mask |= MASK_TIMEOUT | MASK_RETRY | MASK_RNR_RETRY | MASK_RD;
        return mask | (type == QP_DCI ? 0u : MASK_SQ_PSN) |
               (type == QP_RC && optional & OPT_RNR_TIMEOUT ? MASK_RNR_TIMER : 0u);
    case RTS2RTS: return mask | (type == QP_RC && optional & OPT_RNR_TIMEOUT ? MASK_RNR_TIMER : 0u);
    }
    return mask;
}

static const struct {
    uint16_t opcode;
    int from;
    enum qp_state to;
    uint32_t optional;
    uint64_t extended;
} moves[] = {
    {RST2INIT, STATE_RESET, STATE_INIT, OPT_RIGHTS | OPT_PKEY | OPT_QKEY | OPT_PRI_PORT, 0},
    {INIT2INIT, STATE_INIT, STATE_INIT,
     OPT_RIGHTS | OPT_PKEY | OPT_QKEY | OPT_PRI_PORT | OPT_DRAIN_SIGERR, EXT_MMO},
    {INIT2RTR, STATE_INIT, STATE_RTR, OPT_RIGHTS | OPT_PKEY | OPT_QKEY, 0},
    {RTR2RTS, STATE_RTR, STATE_RTS, OPT_RIGHTS | OPT_QKEY | OPT_RNR_TIMEOUT, 0},
    {RTS2RTS, STATE_RTS, STATE_RTS, OPT_RIGHTS | OPT_QKEY | OPT_RNR_TIMEOUT, EXT_DCI_STREAM},
    {SQERR2RTS, STATE_SQE, STATE_RTS, OPT_RIGHTS | OPT_QKEY, 0},
    {TO_ERR, -1, STATE_ERR, 0, 0},
    {TO_RST, -1, STATE_RESET, 0, 0},
};

static uint8_t status_of_move(int error) {
    return error == EINVAL ? STATUS_BAD_PARAM : error ? STATUS_BAD_RES : STATUS_OK;
}

/* What verbs have no word for. */
static int beyond_verbs(struct qp *qp, const uint8_t *in, uint32_t optional, uint64_t extended) {
    int error = 0;

    if (optional & OPT_DRAIN_SIGERR)
        error = qp_set_drain_sigerr(qp, devx_get(in + QPC_AT, DRAIN_SIGERR, 1));
    if (!error && extended & EXT_MMO) error = qp_set_mmo(qp, devx_get(in + QPC_EXT, 2, 1));
    if (!error && extended & EXT_DCI_STREAM)
        error = qp_reset_stream(qp, load_be16(in + QPC_EXT + 2));
    return error;
}

int devx_modify_qp(struct qp *qp, const struct mailbox *box, uint8_t *status) {
    uint16_t opcode = load_be16(box->in);
    bool context = opcode != TO_ERR && opcode != TO_RST;
    uint32_t optional = context ? load_be32(box->in + OPT_PARAM_MASK) : 0;
    uint64_t extended =
        context && devx_get(box->in, EXT_FLAG, 1) ? load_be64(box->in + MASK_95_32) : 0;
    struct qp_change change = decode(box->in + QPC_AT);
    size_t i = 0;
    int error;

    while (i < sizeof(moves) / sizeof(*moves) && moves[i].opcode != opcode) i++;
    if (i == sizeof(moves) / sizeof(*moves)) return EOPNOTSUPP;
    if (load_be24(box->in + QPN_AT) != qp->number) return EINVAL;
    *status = STATUS_BAD_PARAM;
    if (optional & ~moves[i].optional || extended & ~moves[i].extended || qp->attr.type == QP_DCT)
        return 0;
    *status = STATUS_BAD_QP_STATE;
    if (moves[i].from >= 0 && (enum qp_state)moves[i].from != qp_uverbs_state(qp)) return 0;
    error = beyond_verbs(qp, box->in, optional, extended);
    change.state = (uint8_t)moves[i].to;
    change.mask = mask_of(qp, opcode, optional);
    /* A change of nothing but what verbs have no word for is not a move. */
    if (!error && !(moves[i].from == (int)moves[i].to && change.mask == MASK_STATE))
        error = qp_change(qp, &change);
    *status = status_of_move(error);
    return 0;
}

static unsigned log_two(uint32_t value) {
    unsigned log = 0;

    while (value >>= 1) log++;
    return log;
}

int devx_query_qp(struct qp *qp, const struct mailbox *box) {
    static const uint8_t services[] = {
        [QP_RC] = 0, [QP_UC] = 1, [QP_UD] = 2, [QP_DCI] = 5, [QP_DCT] = 6};
    enum { MIGRATED = 3 };
    const struct qp_change *set = &qp->set;
    uint8_t *qpc = box->out + QPC_AT, *path = qpc + PRIMARY / 8;

    if (load_be24(box->in + QPN_AT) != qp->number) return EINVAL;
    devx_set(qpc, STATE, 4, qp_devx_state(qp));
    devx_set(qpc, ST, 8, services[qp->attr.type]);
    devx_set(qpc, PM_STATE, 2, MIGRATED);
    devx_set(qpc, DRAIN_SIGERR, 1, qp->drain_sigerr);
    devx_set(qpc, QPC_PD, 24, qp->attr.pd->pdn);
    devx_set(qpc, QPC_MTU, 3, set->path_mtu);
    devx_set(qpc, LOG_MSG_MAX, 5, 30);
    devx_set(qpc, LOG_RQ_SIZE, 4, log_two(qp->attr.rq_entries));
    devx_set(qpc, LOG_RQ_STRIDE, 3, qp->attr.rq_shift > 4 ? qp->attr.rq_shift - 4 : 0);
    devx_set(qpc, LOG_SQ_SIZE, 4, log_two(qp->attr.sq_blocks));
    devx_set(qpc, USER_INDEX, 24, qp->attr.uidx);
    devx_set(qpc, REMOTE_QPN, 24, set->dest_qpn);
    devx_set(path, PATH_PKEY, 16, set->pkey_index);
    devx_set(path, PATH_GRH, 1, set->path.is_global);
    devx_set(path, PATH_RLID, 16, set->path.dlid);
    devx_set(path, PATH_ACK_TIMEOUT, 5, set->timeout);
    devx_set(path, PATH_SRC_ADDR, 8, set->path.sgid_index);
    devx_set(path, PATH_STAT_RATE, 4, set->path.static_rate);
    devx_set(path, PATH_HOP_LIMIT, 8, set->path.hop_limit);
    devx_set(path, PATH_TCLASS, 8, set->path.traffic_class);
    devx_set(path, PATH_FLOW_LABEL, 20, set->path.flow_label);
    memcpy(path + PATH_RGID / 8, set->path.dgid, sizeof(set->path.dgid));
    devx_set(path, PATH_SL, 4, set->path.sl);
    devx_set(path, PATH_PORT, 8, set->port);
    devx_set(qpc, LOG_SRA_MAX, 3, log_two(set->max_rd_atomic));
    devx_set(qpc, RETRY_COUNT, 3, set->retry_count);
    devx_set(qpc, RNR_RETRY, 3, set->rnr_retry);
    devx_set(qpc, NEXT_SEND_PSN, 24, set->sq_psn);
    devx_set(qpc, CQN_SND, 24, qp->attr.send_cq ? qp->attr.send_cq->number : 0);
    devx_set(qpc, LOG_RRA_MAX, 3, log_two(set->max_dest_rd_atomic));
    devx_set(qpc, RRE, 1, !!(set->access & ACCESS_REMOTE_READ));
    devx_set(qpc, RWE, 1, !!(set->access & ACCESS_REMOTE_WRITE));
    devx_set(qpc, RAE, 1, !!(set->access & ACCESS_REMOTE_ATOMIC));
    devx_set(qpc, MIN_RNR_NAK, 5, set->min_rnr_timer);
    devx_set(qpc, NEXT_RCV_PSN, 24, set->rq_psn);
    devx_set(qpc, CQN_RCV, 24, qp->attr.recv_cq ? qp->attr.recv_cq->number : 0);
    devx_set(qpc, Q_KEY, 32, set->qkey);
    devx_set(qpc, HW_SQ_COUNTER, 16, qp_sq_counter(qp));
    return 0;
}
