/* A work queue element's bytes as values. Nothing outside the given bytes is read; data pointers
 * point into them. */
#ifndef SOFTNIC_PURE_WQE_H
#define SOFTNIC_PURE_WQE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    OPCODE_NOP = 0x00,
    OPCODE_SEND_INVAL = 0x01,
    OPCODE_RDMA_WRITE = 0x08,
    OPCODE_RDMA_WRITE_IMM = 0x09,
    OPCODE_SEND = 0x0a,
    OPCODE_SEND_IMM = 0x0b,
    OPCODE_RDMA_READ = 0x10,
    OPCODE_ATOMIC_CS = 0x11,
    OPCODE_ATOMIC_FA = 0x12,
    OPCODE_SET_PSV = 0x20,
    OPCODE_UMR = 0x25,
    OPCODE_MMO = 0x2f,
    OPCODE_WAIT = 0x0f,
    OPCODE_LOCAL_MMO = 0x32,
};
enum {
    WQE_UNIT = 16,
    WQE_BLOCK = 64,
    WQE_MAX_UNITS = 63,
    WQE_MAX_SEGS = 62,
    WQE_MAX_BYTES = WQE_MAX_UNITS * WQE_UNIT,
    MMO_DMA = 1
};
enum { WAIT_ON_DATA = 1, LOCAL_MMO_TRANSPOSE = 0 }; /* opmod */
/* WAIT: how the value in the WQE must relate to the one in memory, and what else the segment may
 * ask for. */
enum {
    WAIT_ALWAYS,
    WAIT_EQUAL,
    WAIT_BIGGER,
    WAIT_SMALLER,
    WAIT_CYCLIC_BIGGER,
    WAIT_CYCLIC_SMALLER
};
enum { SCATTER_END_KEY = 0x100 }; /* ends an RQ WQE's list */

enum { CE_ERROR, CE_FIRST_ERROR, CE_ALWAYS, CE_ALWAYS_EVENT }; /* ctrl segment, PRM */

struct wqe_seg {
    const uint8_t *data;  /* inline: `length` bytes; else NULL */
    uint32_t length, key; /* length as written: 0 is 0, but for MMO, where it is 2 GiB */
    uint64_t addr;
};

struct wqe {
    /* ctrl */
    uint8_t opcode, opmod, ds, signature; /* ds: 16-byte units of the whole WQE */
    uint8_t fence;                        /* 0 none, 1 small, 4 strong */
    uint16_t index, stream;               /* the block's number in the SQ; DCI stream */
    uint32_t qpn, imm;                    /* imm: immediate, key to invalidate, or mkey */
    uint8_t fm_ce_se, ce;                 /* ce: CE_*, when a completion is written */
    bool signaled, solicited;             /* signaled: a completion also if it goes well */
    /* datagram: UD and DCI */
    struct {
        bool present, grh, extended; /* extended: the qpn's top bit */
        uint64_t dc_key;
        uint32_t qkey, dqpn;
        uint16_t rlid;
        uint8_t sl, mlid, rmac[6], tclass, hop_limit, sgid_index, rgid[16];
        uint32_t flow_label;
    } av;
    /* RDMA and atomics */
    bool has_raddr;
    uint64_t raddr;
    uint32_t rkey;
    uint64_t swap_add, compare;
    /* data */
    unsigned segs;
    struct wqe_seg seg[WQE_MAX_SEGS]; /* MMO: source, destination */
    /* SET_PSV */
    uint32_t psv;
    uint16_t psv_syndrome;
    uint64_t psv_transient;
    /* MMO */
    uint32_t mmo_control, opaque_key;
    uint64_t opaque_addr;
    /* WAIT on data: until `wait_value` relates so to the 8 bytes at wait_addr, as far as the mask
     * goes. All are big-endian */
    /* WAIT_*; wait_else: what to do when it doesn't: 0 is to look again */
    uint8_t wait_operation, wait_else;
    bool wait_inverted;
    uint32_t wait_key;
    uint64_t wait_addr, wait_value, wait_mask;
    /* LOCAL_MMO: transpose; `seg` has source and destination */
    uint8_t element_size, columns, rows;
};

/* One whole WQE in a linear buffer; len may exceed ds * 16, later bytes are not read.
 * `datagram`: a 48-byte address segment follows the ctrl. UMRs: only the ctrl here, the rest is
 * umr_decode's. False: ds is 0 or more than len, a segment is cut off, or the opcode is none of the
 * above; the ctrl's members are valid then if len is at least 16, all else is 0. */
bool wqe_decode(const uint8_t *wqe, size_t len, bool datagram, struct wqe *out);

/* The scatter list of an RQ WQE (of an SRQ WQE: after its first 16 bytes). Stops at the ending
 * entry, at `len` or at `room`; the number. */
unsigned segs_decode(const uint8_t *bytes, size_t len, struct wqe_seg *out, unsigned room);

const char *opcode_name(uint8_t opcode); /* "SEND_IMM"…; NULL if it is none of the above */

#endif
