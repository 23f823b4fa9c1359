/* A completion queue element: 64 bytes, big endian. */
#ifndef SOFTNIC_PURE_CQE_H
#define SOFTNIC_PURE_CQE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CQE_REQUESTER = 0,
    CQE_WRITE_IMM = 1,
    CQE_SEND = 2,
    CQE_SEND_IMM = 3,
    CQE_SEND_INV = 4,
    CQE_RESIZE = 5,
    CQE_SIGNATURE_ERROR = 12,
    CQE_REQUESTER_ERROR = 13,
    CQE_RESPONDER_ERROR = 14,
    CQE_INVALID = 15,
};
enum { /* syndromes of error CQEs */
       CQE_LOCAL_LENGTH = 0x01,
       CQE_LOCAL_QP_OP = 0x02,
       CQE_LOCAL_PROTECTION = 0x04,
       CQE_FLUSHED = 0x05,
       CQE_MW_BIND = 0x06,
       CQE_BAD_RESPONSE = 0x10,
       CQE_LOCAL_ACCESS = 0x11,
       CQE_REMOTE_INVALID_REQUEST = 0x12,
       CQE_REMOTE_ACCESS = 0x13,
       CQE_REMOTE_OPERATION = 0x14,
       CQE_TRANSPORT_RETRY = 0x15,
       CQE_RNR_RETRY = 0x16,
};

struct cqe {
    uint8_t opcode; /* CQE_* */
    bool owner, solicited;
    uint8_t send_opcode; /* requester: the WQE's */
    uint32_t qpn, uidx;  /* uidx: the QP's or SRQ's user index (or srqn) */
    uint16_t wqe_counter;
    uint32_t byte_count, imm; /* imm: immediate, or the invalidated rkey */
    uint64_t timestamp;
    uint32_t src_qpn; /* UD, DC */
    uint8_t sl;
    bool grh;
    uint16_t slid;
    uint8_t src_path;               /* the low bits of the receiver's lid */
    uint8_t vendor_error, syndrome; /* errors: CQE_LOCAL_LENGTH … */
    struct {                        /* CQE_SIGNATURE_ERROR */
        uint64_t expected, actual, offset;
        uint16_t syndrome;    /* SYNDROME_* of field.h */
        uint8_t type, domain; /* type 0: block signature; domain 0 wire, 1 memory */
        uint32_t mkey;
    } signature;
};

/* all 64 bytes; the caller stores byte 63 last, with release */
void cqe_encode(const struct cqe *in, uint8_t out[64]);
void cqe_decode(const uint8_t in[64], struct cqe *out); /* for the trace */
const char *cqe_opcode_name(uint8_t opcode);
const char *cqe_syndrome_name(uint8_t syndrome); /* NULL if it has none */

#endif
