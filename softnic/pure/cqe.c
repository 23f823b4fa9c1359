#include "pure/cqe.h"

#include "pure/bits.h"

static bool is_error(uint8_t opcode) {
    return opcode == CQE_REQUESTER_ERROR || opcode == CQE_RESPONDER_ERROR;
}

static void signature_encode(const struct cqe *in, uint8_t *p) {
    store_be32(p + 16, (uint32_t)(in->signature.expected >> 32)); /* the transient signatures … */
    store_be32(p + 20, (uint32_t)(in->signature.actual >> 32));
    store_be32(p + 24, (uint32_t)in->signature.expected); /* … and the ref tags */
    store_be32(p + 28, (uint32_t)in->signature.actual);
    store_be16(p + 32, in->signature.syndrome);
    p[34] = in->signature.type;
    p[35] = in->signature.domain;
    store_be32(p + 36, in->signature.mkey);
    store_be64(p + 40, in->signature.offset);
}

void cqe_encode(const struct cqe *in, uint8_t out[64]) {
    memset(out, 0, 64);
    out[63] = (uint8_t)(in->opcode << 4 | (in->solicited ? 2 : 0) | (in->owner ? 1 : 0));
    if (in->opcode == CQE_SIGNATURE_ERROR) {
        signature_encode(in, out);
        return;
    }
    store_be32(out + 32, in->uidx & 0xffffff);
    store_be32(out + 56, (uint32_t)in->send_opcode << 24 | (in->qpn & 0xffffff));
    store_be16(out + 60, in->wqe_counter);
    if (is_error(in->opcode)) {
        out[54] = in->vendor_error;
        out[55] = in->syndrome;
        return;
    }
    out[17] = in->src_path & 0x7f;
    store_be16(out + 22, in->slid);
    store_be32(out + 24,
               (in->grh ? 1u << 28 : 0) | (in->sl & 15u) << 24 | (in->src_qpn & 0xffffff));
    store_be32(out + 36, in->imm);
    store_be32(out + 44, in->byte_count);
    store_be64(out + 48, in->timestamp);
}

void cqe_decode(const uint8_t in[64], struct cqe *out) {
    memset(out, 0, sizeof *out);
    out->opcode = in[63] >> 4;
    out->solicited = in[63] & 2;
    out->owner = in[63] & 1;
    if (out->opcode == CQE_SIGNATURE_ERROR) {
        out->signature.expected = (uint64_t)load_be32(in + 16) << 32 | load_be32(in + 24);
        out->signature.actual = (uint64_t)load_be32(in + 20) << 32 | load_be32(in + 28);
        out->signature.syndrome = load_be16(in + 32);
        out->signature.type = in[34];
        out->signature.domain = in[35];
        out->signature.mkey = load_be32(in + 36);
        out->signature.offset = load_be64(in + 40);
        return;
    }
    out->uidx = load_be32(in + 32) & 0xffffff;
    out->send_opcode = in[56];
    out->qpn = load_be32(in + 56) & 0xffffff;
    out->wqe_counter = load_be16(in + 60);
    if (is_error(out->opcode)) {
        out->vendor_error = in[54];
        out->syndrome = in[55];
        return;
    }
    uint32_t flags_rqpn = load_be32(in + 24);
    out->src_path = in[17] & 0x7f;
    out->slid = load_be16(in + 22);
    out->grh = flags_rqpn >> 28 & 3;
    out->sl = flags_rqpn >> 24 & 15;
    out->src_qpn = flags_rqpn & 0xffffff;
    out->imm = load_be32(in + 36);
    out->byte_count = load_be32(in + 44);
    out->timestamp = load_be64(in + 48);
}

const char *cqe_opcode_name(uint8_t opcode) {
    static const char *const names[16] = {
        [CQE_REQUESTER] = "REQUESTER",
        [CQE_WRITE_IMM] = "RESPONDER_RDMA_WRITE_IMM",
        [CQE_SEND] = "RESPONDER_SEND",
        [CQE_SEND_IMM] = "RESPONDER_SEND_IMM",
        [CQE_SEND_INV] = "RESPONDER_SEND_INV",
        [CQE_RESIZE] = "RESIZE",
        [CQE_SIGNATURE_ERROR] = "SIGNATURE_ERROR",
        [CQE_REQUESTER_ERROR] = "REQUESTER_ERROR",
        [CQE_RESPONDER_ERROR] = "RESPONDER_ERROR",
        [CQE_INVALID] = "INVALID",
    };
    return opcode < 16 && names[opcode] ? names[opcode] : "?";
}

const char *cqe_syndrome_name(uint8_t syndrome) {
    switch (syndrome) {
    case CQE_LOCAL_LENGTH: return "local length";
    case CQE_LOCAL_QP_OP: return "local QP operation";
    case CQE_LOCAL_PROTECTION: return "local protection";
    case CQE_FLUSHED: return "flushed";
    case CQE_MW_BIND: return "memory window bind";
    case CQE_BAD_RESPONSE: return "bad response";
    case CQE_LOCAL_ACCESS: return "local access";
    case CQE_REMOTE_INVALID_REQUEST: return "remote invalid request";
    case CQE_REMOTE_ACCESS: return "remote access";
    case CQE_REMOTE_OPERATION: return "remote operation";
    case CQE_TRANSPORT_RETRY: return "transport retry exceeded";
    case CQE_RNR_RETRY: return "RNR retry exceeded";
    default: return NULL;
    }
}
