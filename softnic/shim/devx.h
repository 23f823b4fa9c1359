/* DEVX: commands in the firmware's own words. A mailbox goes in, a mailbox comes out; all numbers
 * are big endian, bits are counted from the most significant one of byte 0, as the PRM does.
 * Layouts: the public mlx5_ifc.h of Linux, rdma-core, UCX and SPDK. */
#ifndef SOFTNIC_SHIM_DEVX_H
#define SOFTNIC_SHIM_DEVX_H

#include "shim.h"

enum devx_status {
    STATUS_OK = 0,
    STATUS_BAD_OP = 2,
    STATUS_BAD_PARAM = 3,
    STATUS_BAD_RES = 5,
    STATUS_RES_BUSY = 6,
    STATUS_LIM = 8,
    STATUS_BAD_RES_STATE = 9,
    STATUS_BAD_QP_STATE = 0x10,
    STATUS_BAD_LENGTH = 0x50,
};

enum { DEVX_HEADER = 16, DEVX_LEAST = 512, DEVX_MOST = 65536, DEVX_OUT = 16 + 4096 };

/* `in` has at least DEVX_LEAST bytes, those that did not come are zeros; `length` came. `out` has
 * DEVX_OUT bytes, all zeros. */
struct mailbox {
    uint8_t *in;
    size_t length;
    uint8_t *out;
};

uint64_t devx_get(const uint8_t *from, unsigned bit, unsigned width);
void devx_set(uint8_t *to, unsigned bit, unsigned width, uint64_t value);

/* Each answers with 0 and what it wrote to `out`, or with an errno value that devx.c turns into a
 * status. */

/* devx_mkey.c */
int devx_create_mkey(const struct command *command, const struct mailbox *box,
                     struct object **object);
int devx_query_mkey(const struct key *key, const struct mailbox *box);
/* devx_qp.c: EOPNOTSUPP: no move of a QP; *status tells what became of it */
int devx_modify_qp(struct qp *qp, const struct mailbox *box, uint8_t *status);
int devx_query_qp(struct qp *qp, const struct mailbox *box);
/* devx_query.c: what belongs to no object. EOPNOTSUPP: not done */
int devx_general(const struct mailbox *box, uint8_t *status);

#endif
