/* The allowed changes of state and their attributes: the table that the Linux RDMA core applies to
 * every driver (ib_modify_qp_is_ok), and the shorter ones of mlx5 for DC QPs. A mask
 * must name all of `needed` and nothing beyond `needed` and `allowed`. */
#include "engine.h"

enum {
    RC = 1 << QP_RC,
    UC = 1 << QP_UC,
    UD = 1 << QP_UD,
    DCI = 1 << QP_DCI,
    DCT = 1 << QP_DCT,
    VERBS = RC | UC | UD
};
enum {
    PATH = ATTR_AV | ATTR_MTU,
    CONNECTED = PATH | ATTR_DEST_QPN | ATTR_RQ_PSN,
    BORN = ATTR_PKEY | ATTR_PORT
};
enum {
    RETRIES = ATTR_TIMEOUT | ATTR_RETRY | ATTR_RNR_RETRY,
    LIVE = ATTR_CUR_STATE | ATTR_ALT_PATH | ATTR_ACCESS | ATTR_MIG
};

static const struct row {
    uint8_t types, from, to;
    uint32_t needed, allowed;
} rows[] = {
    {VERBS, STATE_RESET, STATE_RESET, 0, 0},
    {UD, STATE_RESET, STATE_INIT, BORN | ATTR_QKEY, 0},
    {RC | UC, STATE_RESET, STATE_INIT, BORN | ATTR_ACCESS, 0},
    {DCI, STATE_RESET, STATE_INIT, ATTR_STATE | BORN, 0},
    {DCT, STATE_RESET, STATE_INIT, ATTR_STATE | BORN | ATTR_ACCESS, 0},
    {UD, STATE_INIT, STATE_INIT, 0, BORN | ATTR_QKEY},
    {RC | UC, STATE_INIT, STATE_INIT, 0, BORN | ATTR_ACCESS},
    {DCI, STATE_INIT, STATE_INIT, ATTR_STATE, BORN},
    {UD, STATE_INIT, STATE_RTR, 0, ATTR_PKEY | ATTR_QKEY},
    {UC, STATE_INIT, STATE_RTR, CONNECTED, ATTR_ALT_PATH | ATTR_ACCESS | ATTR_PKEY},
    {RC, STATE_INIT, STATE_RTR, CONNECTED | ATTR_DEST_RD_ATOMIC | ATTR_RNR_TIMER,
     ATTR_ALT_PATH | ATTR_ACCESS | ATTR_PKEY},
    {DCI, STATE_INIT, STATE_RTR, ATTR_STATE | ATTR_MTU, ATTR_PKEY | ATTR_AV},
    {DCT, STATE_INIT, STATE_RTR, ATTR_STATE | PATH | ATTR_RNR_TIMER, 0},
    {UD, STATE_RTR, STATE_RTS, ATTR_SQ_PSN, ATTR_CUR_STATE | ATTR_QKEY},
    {UC, STATE_RTR, STATE_RTS, ATTR_SQ_PSN, LIVE},
    {RC, STATE_RTR, STATE_RTS, RETRIES | ATTR_SQ_PSN | ATTR_RD_ATOMIC, LIVE | ATTR_RNR_TIMER},
    {DCI, STATE_RTR, STATE_RTS, ATTR_STATE | RETRIES | ATTR_SQ_PSN | ATTR_RD_ATOMIC,
     ATTR_RNR_TIMER},
    {UD, STATE_RTS, STATE_RTS, 0, ATTR_CUR_STATE | ATTR_QKEY},
    {UC, STATE_RTS, STATE_RTS, 0, LIVE},
    {RC, STATE_RTS, STATE_RTS, 0, LIVE | ATTR_RNR_TIMER},
    {DCI, STATE_RTS, STATE_RTS, ATTR_STATE, ATTR_RNR_TIMER},
    {VERBS, STATE_RTS, STATE_SQD, 0, ATTR_SQD_NOTIFY},
    {UD, STATE_SQD, STATE_RTS, 0, ATTR_CUR_STATE | ATTR_QKEY},
    {UC, STATE_SQD, STATE_RTS, 0, LIVE},
    {RC, STATE_SQD, STATE_RTS, 0, LIVE | ATTR_RNR_TIMER},
    {UD, STATE_SQD, STATE_SQD, 0, ATTR_PKEY | ATTR_QKEY},
    {UC, STATE_SQD, STATE_SQD, 0, ATTR_AV | ATTR_ALT_PATH | ATTR_ACCESS | ATTR_PKEY | ATTR_MIG},
    {RC, STATE_SQD, STATE_SQD, 0,
     ATTR_PORT | ATTR_AV | RETRIES | ATTR_RD_ATOMIC | ATTR_DEST_RD_ATOMIC | ATTR_ALT_PATH |
         ATTR_ACCESS | ATTR_PKEY | ATTR_RNR_TIMER | ATTR_MIG},
    {UD, STATE_SQE, STATE_RTS, 0, ATTR_CUR_STATE | ATTR_QKEY},
    {UC, STATE_SQE, STATE_RTS, 0, ATTR_CUR_STATE | ATTR_ACCESS},
};

static bool named(uint32_t mask, uint32_t needed, uint32_t allowed) {
    return (mask & needed) == needed && !(mask & ~(needed | allowed | ATTR_STATE));
}

bool transition_allowed(enum qp_type type, enum qp_state from, enum qp_state to, uint32_t mask) {
    if (mask & ATTR_CUR_STATE && (from < STATE_RTR || from > STATE_SQE)) return false;
    /* Back to the beginning and into error from almost everywhere, with nothing else said; a DCT
     * knows neither. */
    if (type != QP_DCT && to == STATE_RESET) return named(mask, type == QP_DCI ? ATTR_STATE : 0, 0);
    if (type != QP_DCT && to == STATE_ERR)
        return from != STATE_RESET && named(mask, type == QP_DCI ? ATTR_STATE : 0, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].types >> type & 1 && rows[i].from == from && rows[i].to == to)
            return named(mask, rows[i].needed, rows[i].allowed);
    return false;
}
