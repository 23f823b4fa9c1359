/* MMO: the device copies memory, or transposes a matrix, from one key to another of the same PD. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "pure/rule.h"

enum { CHUNK = 8 << 20 };
static struct transfer source, target;

static enum violation aim(struct qp *qp, const struct wqe *wqe, uint64_t offset, uint64_t length) {
    transfer_begin(&source, qp->attr.pd, qp->number, qp->attr.send_cq);
    transfer_begin(&target, qp->attr.pd, qp->number, qp->attr.send_cq);
    const struct wqe_seg *from = &wqe->seg[0], *to = &wqe->seg[1];
    enum violation bad =
        transfer_add(&source, from->key, from->addr + offset, length, RIGHT_LOCAL_READ, false);
    return bad ? bad
               : transfer_add(&target, to->key, to->addr + offset, length, RIGHT_LOCAL_WRITE, true);
}

uint8_t RULE(copy_mmo)(struct qp *qp, const struct wqe *wqe, bool *sigerr) {
    uint64_t length = wqe->seg[0].length;
    if (wqe->opmod != MMO_DMA || wqe->segs != 2 || wqe->seg[0].data || wqe->seg[1].data ||
        wqe->seg[1].length != length)
        return CQE_LOCAL_QP_OP;
    if (length > personality()->memcpy_max) return CQE_LOCAL_LENGTH;
    /* The whole of it is checked before a byte moves. */
    if (aim(qp, wqe, 0, length)) return CQE_LOCAL_PROTECTION;
    bool plain = !source.place[0].key && !target.place[0].key;
    uint64_t chunk = plain && length > CHUNK ? CHUNK : length;
    uint8_t *bytes = malloc(chunk ? chunk : 1), syndrome = 0;
    if (!bytes) return CQE_LOCAL_QP_OP;
    for (uint64_t at = 0; at < length && !syndrome; at += chunk) {
        uint64_t now_length = length - at < chunk ? length - at : chunk;
        if (aim(qp, wqe, at, now_length)) syndrome = CQE_LOCAL_PROTECTION;
        if (!syndrome && (transfer_emit(&source, bytes) || transfer_absorb(&target, bytes)))
            syndrome = CQE_LOCAL_PROTECTION;
    }
    free(bytes);
    *sigerr = source.sigerr || target.sigerr;
    return syndrome;
}

static unsigned power_of_two(unsigned least) {
    unsigned power = 1;
    while (power < least) power *= 2;
    return power;
}

/* What a ConnectX-7's unit has room for, by UCC's tests of it (test_tl_mlx5_wqe.cc): a row takes
 * 128 bytes at least. */
static bool matrix_fits(const struct wqe *wqe) {
    enum { LEAST_ROW = 128, LEAST_ELEMENT = 8 };
    unsigned element = wqe->element_size < LEAST_ELEMENT ? LEAST_ELEMENT : wqe->element_size,
             row = power_of_two(wqe->columns) * power_of_two(element);
    if (wqe->element_size > MOST_ELEMENT || wqe->columns > MOST_COLUMNS || wqe->rows > MOST_ROWS)
        return false;
    return wqe->rows * (row < LEAST_ROW ? LEAST_ROW : row) <= MOST_MATRIX;
}

uint8_t copy_transposed(struct qp *qp, const struct wqe *wqe) {
    static uint8_t in[MOST_MATRIX], out[MOST_MATRIX];
    size_t size = wqe->element_size, columns = wqe->columns, rows = wqe->rows,
           length = rows * columns * size;
    if (!length || wqe->segs != 2) return CQE_LOCAL_QP_OP;
    if (!matrix_fits(wqe) || wqe->seg[0].length != length || wqe->seg[1].length != length)
        return CQE_LOCAL_LENGTH;
    if (aim(qp, wqe, 0, length) || source.place[0].key || target.place[0].key)
        return CQE_LOCAL_PROTECTION;
    if (transfer_emit(&source, in)) return CQE_LOCAL_PROTECTION;
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++)
            memcpy(out + (column * rows + row) * size, in + (row * columns + column) * size, size);
    return transfer_absorb(&target, out) ? CQE_LOCAL_PROTECTION : 0;
}
