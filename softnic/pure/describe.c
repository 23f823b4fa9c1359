#include "pure/describe.h"

#include "pure/bsf.h"
#include "pure/cqe.h"
#include "pure/dif.h"
#include "pure/field.h"
#include "pure/umr.h"

static const char *fence_word(uint8_t fence) {
    switch (fence) {
    case 0: return "none";
    case 1: return "initiator_small";
    case 2: return "fence";
    case 3: return "strong_ordering";
    case 4: return "small_and_fence";
    default: return "?";
    }
}

static const char *access_word(unsigned bit) {
    static const char *const words[] = {[2] = "local_read",
                                        [3] = "local_write",
                                        [4] = "remote_read",
                                        [5] = "remote_write",
                                        [6] = "remote_atomic"};
    return bit < sizeof words / sizeof *words ? words[bit] : NULL;
}

static const char *dif_flag_word(unsigned bit) {
    static const char *const words[] = {
        [0] = "APP_ESCAPE", [1] = "APP_REF_ESCAPE", [6] = "REF_REMAP"};
    return bit < sizeof words / sizeof *words ? words[bit] : NULL;
}

static const char *syndrome_word(unsigned bit) {
    static const char *const words[] = {
        [11] = "BAD_REFTAG", [12] = "BAD_APPTAG", [13] = "BAD_GUARD"};
    return bit < sizeof words / sizeof *words ? words[bit] : NULL;
}

static const char *order_word(uint8_t order) {
    static const char *const words[] = {"ENCRYPTED_WIRE_SIGNATURE", "ENCRYPTED_MEMORY_SIGNATURE",
                                        "ENCRYPTED_RAW_WIRE", "ENCRYPTED_RAW_MEMORY"};
    return order < 4 ? words[order] : "?";
}

static const char *wait_word(uint8_t operation) {
    static const char *const words[] = {"always",  "equal",         "bigger",
                                        "smaller", "cyclic_bigger", "cyclic_smaller"};
    return operation < sizeof words / sizeof *words ? words[operation] : "?";
}

void describe_segs(struct sheet *sheet, const struct wqe_seg *seg, unsigned segs) {
    if (!segs) return;
    sheet_list(sheet, "data");
    for (unsigned i = 0; i < segs; i++) {
        sheet_item(sheet);
        sheet_number(sheet, "length", seg[i].length);
        if (seg[i].data) {
            sheet_bytes(sheet, "inline", seg[i].data, seg[i].length);
        } else {
            sheet_hex(sheet, "lkey", seg[i].key, 8);
            sheet_hex(sheet, "addr", seg[i].addr, 1);
        }
    }
}

void describe_translation(struct sheet *sheet, const uint8_t *bytes, size_t len) {
    struct translation translation;
    if (!translation_decode(bytes, len, &translation)) {
        sheet_group(sheet, "translation");
        sheet_bytes(sheet, "malformed", bytes, len);
        return;
    }
    if (translation.strided) {
        sheet_group(sheet, "repeat_block");
        sheet_number(sheet, "bytes_count", translation.bytes_per_repeat);
        sheet_number(sheet, "repeat_count", translation.repeat);
        sheet_number(sheet, "num_entries", translation.entries);
    }
    sheet_list(sheet, translation.strided ? "strided" : "klm");
    for (unsigned i = 0; i < translation.entries; i++) {
        struct translation_entry entry = translation_at(&translation, i);
        sheet_item(sheet);
        sheet_number(sheet, "length", entry.length);
        if (translation.strided) sheet_number(sheet, "stride", entry.stride);
        sheet_hex(sheet, "mkey", entry.key, 8);
        sheet_hex(sheet, "addr", entry.addr, 1);
    }
}

static const char *const signature_names[] = {"NONE",  "T10DIF", "T10DIF",
                                              "CRC32", "CRC32C", "CRC64_XP10"};

static void describe_domain(struct sheet *sheet, const char *name,
                            const struct signature_domain *domain) {
    sheet_group(sheet, name);
    sheet_text(sheet, "sig", signature_names[domain->kind]);
    if (domain->kind == SIGNATURE_NONE) return;
    sheet_number(sheet, "block_size", domain->block);
    if (domain->kind == SIGNATURE_DIF_CRC || domain->kind == SIGNATURE_DIF_CSUM) {
        sheet_text(sheet, "bg_type", domain->kind == SIGNATURE_DIF_CRC ? "CRC" : "CSUM");
        sheet_hex(sheet, "bg", domain->ones ? 0xffff : 0, 4);
        sheet_hex(sheet, "app_tag", domain->app_tag, 4);
        sheet_hex(sheet, "ref_tag", domain->ref_tag, 8);
        sheet_bits(sheet, "flags", domain->dif_flags, dif_flag_word);
        sheet_flag(sheet, "refresh", domain->refresh);
    } else {
        unsigned digits = domain->field * 2u;
        sheet_hex(sheet, "seed", domain->ones ? ~0ull >> (64 - 4 * digits) : 0, digits);
        sheet_hex(sheet, "bfs", domain->bfs, 2);
    }
    sheet_flag(sheet, "repeat", domain->repeat);
    sheet_hex(sheet, "psv", domain->psv, 6);
}

static void describe_transaction(struct sheet *sheet, const char *name,
                                 const struct transaction *transaction) {
    unsigned digits = transaction->field * 2u;
    if (transaction->kind == SIGNATURE_NONE) return;
    sheet_group(sheet, name);
    sheet_text(sheet, "sig", signature_names[transaction->kind]);
    sheet_hex(sheet, "seed", transaction->ones ? ~0ull >> (64 - 4 * digits) : 0, digits);
    sheet_flag(sheet, "init", transaction->init);
    sheet_flag(sheet, "check_gen", transaction->field_follows);
    sheet_hex(sheet, "psv", transaction->psv, 6);
}

void describe_bsf(struct sheet *sheet, const uint8_t *bytes, size_t len) {
    struct bsf sig;
    struct crypto_bsf crypto;
    if (!bsf_decode(bytes, len, &sig, &crypto)) {
        sheet_group(sheet, "bsf");
        sheet_bytes(sheet, "malformed", bytes, len);
        return;
    }
    if (sig.present) {
        sheet_group(sheet, "signature");
        sheet_number(sheet, "bsf_size", sig.size);
        sheet_hex(sheet, "check_mask", sig.check_mask, 2);
        sheet_flag(sheet, "same_block_structure", sig.sbs);
        if (sig.sbs) sheet_hex(sheet, "copy_mask", sig.copy_mask, 2);
        sheet_hex(sheet, "raw_data_size", sig.raw_size, 8);
        describe_domain(sheet, "signature_wire", &sig.domain[0]);
        describe_domain(sheet, "signature_mem", &sig.domain[1]);
        describe_transaction(sheet, "transaction_wire", &sig.transaction[0]);
        describe_transaction(sheet, "transaction_mem", &sig.transaction[1]);
    }
    if (crypto.present) {
        sheet_group(sheet, "crypto");
        sheet_text(sheet, "standard", "AES_XTS");
        sheet_text(sheet, "order", order_word(crypto.order));
        sheet_number(sheet, "data_unit_size", crypto.block);
        sheet_bytes(sheet, "tweak", crypto.tweak, sizeof crypto.tweak);
        sheet_hex(sheet, "dek", crypto.dek, 6);
        sheet_bytes(sheet, "keytag", crypto.keytag, sizeof crypto.keytag);
        sheet_hex(sheet, "raw_data_size", crypto.raw_size, 8);
    }
}

static void describe_umr(struct sheet *sheet, const uint8_t *wqe, size_t len) {
    struct umr umr;
    if (!umr_decode(wqe, len, &umr)) {
        sheet_group(sheet, "umr");
        sheet_bytes(sheet, "malformed", wqe, len);
        return;
    }
    sheet_group(sheet, "umr");
    sheet_hex(sheet, "mkey", umr.mkey, 8);
    sheet_flag(sheet, "inline", umr.inline_);
    sheet_flag(sheet, "check_free", umr.check_free);
    sheet_flag(sheet, "check_qpn", umr.check_qpn);
    sheet_number(sheet, "klm_octowords", umr.klm_octowords);
    if (umr.has_offset) sheet_number(sheet, "translation_offset", umr.offset);
    else sheet_number(sheet, "bsf_octowords", umr.bsf_octowords);
    sheet_bits(sheet, "mkey_mask", umr.mask, umr_mask_name);
    sheet_group(sheet, "mkey_context");
    sheet_flag(sheet, "free", umr.free);
    sheet_bits(sheet, "access", umr.access, access_word);
    sheet_hex(sheet, "qpn", umr.qpn, 6);
    sheet_hex(sheet, "tag", umr.tag, 2);
    sheet_flag(sheet, "bsf_enable", umr.bsf_enable);
    sheet_number(sheet, "sigerr_count", umr.sigerr);
    if (umr.mask & UMR_MASK_EN_RINVAL) sheet_flag(sheet, "en_rinval", umr.en_rinval);
    if (umr.mask & UMR_MASK_PD) sheet_hex(sheet, "pd", umr.pd, 6);
    sheet_hex(sheet, "start_addr", umr.start, 1);
    sheet_number(sheet, "len", umr.length);
    if (umr.translation)
        describe_translation(sheet, umr.translation, (size_t)umr.klm_octowords * WQE_UNIT);
    if (umr.bsf) describe_bsf(sheet, umr.bsf, (size_t)umr.bsf_octowords * WQE_UNIT);
    if (umr.has_pointer) {
        sheet_group(sheet, "pointer");
        sheet_hex(sheet, "mkey", umr.pointer_key, 8);
        sheet_hex(sheet, "addr", umr.pointer_addr, 1);
    }
}

static void describe_av(struct sheet *sheet, const struct wqe *wqe) {
    sheet_group(sheet, "datagram");
    sheet_hex(sheet, "dqpn", wqe->av.dqpn, 6);
    sheet_hex(sheet, "key", wqe->av.dc_key, 16);
    sheet_number(sheet, "rlid", wqe->av.rlid);
    sheet_number(sheet, "sl", wqe->av.sl);
    sheet_number(sheet, "mlid", wqe->av.mlid);
    sheet_flag(sheet, "grh", wqe->av.grh);
    if (!wqe->av.grh) return;
    sheet_bytes(sheet, "rgid", wqe->av.rgid, sizeof wqe->av.rgid);
    sheet_bytes(sheet, "rmac", wqe->av.rmac, sizeof wqe->av.rmac);
    sheet_number(sheet, "sgid_index", wqe->av.sgid_index);
    sheet_number(sheet, "tclass", wqe->av.tclass);
    sheet_number(sheet, "hop_limit", wqe->av.hop_limit);
    sheet_hex(sheet, "flow_label", wqe->av.flow_label, 5);
}

static void describe_body(struct sheet *sheet, const struct wqe *wqe) {
    if (wqe->av.present) describe_av(sheet, wqe);
    if (wqe->has_raddr) {
        sheet_group(sheet, "raddr");
        sheet_hex(sheet, "rkey", wqe->rkey, 8);
        sheet_hex(sheet, "addr", wqe->raddr, 1);
    }
    if (wqe->opcode == OPCODE_ATOMIC_CS || wqe->opcode == OPCODE_ATOMIC_FA) {
        sheet_group(sheet, "atomic");
        sheet_hex(sheet, wqe->opcode == OPCODE_ATOMIC_CS ? "swap" : "add", wqe->swap_add, 16);
        if (wqe->opcode == OPCODE_ATOMIC_CS) sheet_hex(sheet, "compare", wqe->compare, 16);
    }
    if (wqe->opcode == OPCODE_SET_PSV) {
        sheet_group(sheet, "set_psv");
        sheet_hex(sheet, "psv", wqe->psv, 6);
        sheet_hex(sheet, "syndrome", wqe->psv_syndrome, 4);
        sheet_hex(sheet, "transient_signature", wqe->psv_transient, 16);
    }
    if (wqe->opcode == OPCODE_MMO) {
        sheet_group(sheet, "mmo");
        sheet_text(sheet, "operation", wqe->opmod == MMO_DMA ? "DMA" : "?");
        sheet_hex(sheet, "control", wqe->mmo_control, 8);
        sheet_hex(sheet, "opaque_lkey", wqe->opaque_key, 8);
        sheet_hex(sheet, "opaque_addr", wqe->opaque_addr, 1);
    }
    if (wqe->opcode == OPCODE_WAIT && wqe->opmod == WAIT_ON_DATA) {
        sheet_group(sheet, "wait");
        sheet_text(sheet, "operation", wait_word(wqe->wait_operation));
        sheet_flag(sheet, "invert", wqe->wait_inverted);
        sheet_number(sheet, "action_on_fail", wqe->wait_else);
        sheet_hex(sheet, "lkey", wqe->wait_key, 8);
        sheet_hex(sheet, "addr", wqe->wait_addr, 1);
        sheet_hex(sheet, "value", wqe->wait_value, 16);
        sheet_hex(sheet, "mask", wqe->wait_mask, 16);
    }
    if (wqe->opcode == OPCODE_LOCAL_MMO && wqe->opmod == LOCAL_MMO_TRANSPOSE) {
        sheet_group(sheet, "transpose");
        sheet_number(sheet, "element_size", wqe->element_size);
        sheet_number(sheet, "columns", wqe->columns);
        sheet_number(sheet, "rows", wqe->rows);
    }
    describe_segs(sheet, wqe->seg, wqe->segs);
}

void describe_wqe(struct sheet *sheet, const uint8_t *bytes, size_t len, bool datagram) {
    struct wqe wqe;
    bool fine = wqe_decode(bytes, len, datagram, &wqe);
    const char *name = opcode_name(wqe.opcode);
    if (len >= WQE_UNIT) {
        sheet_text(sheet, "opcode", name ? name : "?");
        sheet_hex(sheet, "qpn", wqe.qpn, 6);
        sheet_number(sheet, "index", wqe.index);
        sheet_flag(sheet, "signaled", wqe.signaled);
        sheet_flag(sheet, "solicited", wqe.solicited);
        sheet_group(sheet, "ctrl");
        sheet_hex(sheet, "opcode", wqe.opcode, 2);
        sheet_hex(sheet, "opmod", wqe.opmod, 2);
        sheet_number(sheet, "ds", wqe.ds);
        sheet_text(sheet, "fence", fence_word(wqe.fence));
        sheet_hex(sheet, "fm_ce_se", wqe.fm_ce_se, 2);
        sheet_number(sheet, "dci_stream", wqe.stream);
        sheet_hex(sheet, "imm", wqe.imm, 8);
    }
    if (!fine) {
        sheet_group(sheet, "malformed");
        sheet_bytes(sheet, "bytes", bytes, len);
    } else if (wqe.opcode == OPCODE_UMR) {
        describe_umr(sheet, bytes, len);
    } else {
        describe_body(sheet, &wqe);
    }
}

void describe_cqe(struct sheet *sheet, const uint8_t bytes[64]) {
    struct cqe cqe;
    cqe_decode(bytes, &cqe);
    sheet_text(sheet, "opcode", cqe_opcode_name(cqe.opcode));
    sheet_number(sheet, "owner", cqe.owner);
    if (cqe.opcode == CQE_SIGNATURE_ERROR) {
        sheet_group(sheet, "signature_error");
        sheet_bits(sheet, "syndrome", cqe.signature.syndrome, syndrome_word);
        sheet_hex(sheet, "mkey", cqe.signature.mkey, 8);
        sheet_text(sheet, "domain",
                   cqe.signature.domain == 0   ? "wire"
                   : cqe.signature.domain == 1 ? "mem"
                                               : "?");
        sheet_number(sheet, "sig_type", cqe.signature.type);
        sheet_hex(sheet, "expected", cqe.signature.expected, 16);
        sheet_hex(sheet, "actual", cqe.signature.actual, 16);
        sheet_number(sheet, "offset", cqe.signature.offset);
        return;
    }
    sheet_hex(sheet, "qpn", cqe.qpn, 6);
    sheet_hex(sheet, "uidx", cqe.uidx, 6);
    sheet_number(sheet, "wqe_counter", cqe.wqe_counter);
    sheet_flag(sheet, "solicited", cqe.solicited);
    if (cqe.opcode == CQE_REQUESTER || cqe.opcode == CQE_REQUESTER_ERROR) {
        const char *name = opcode_name(cqe.send_opcode);
        sheet_text(sheet, "wqe_opcode", name ? name : "?");
    }
    if (cqe.opcode == CQE_REQUESTER_ERROR || cqe.opcode == CQE_RESPONDER_ERROR) {
        const char *word = cqe_syndrome_name(cqe.syndrome);
        sheet_group(sheet, "error");
        sheet_hex(sheet, "syndrome", cqe.syndrome, 2);
        sheet_text(sheet, "means", word ? word : "?");
        sheet_hex(sheet, "vendor_error", cqe.vendor_error, 2);
        return;
    }
    sheet_number(sheet, "byte_count", cqe.byte_count);
    sheet_number(sheet, "timestamp", cqe.timestamp);
    if (cqe.opcode != CQE_REQUESTER) sheet_hex(sheet, "imm", cqe.imm, 8);
    if (cqe.src_qpn) {
        sheet_group(sheet, "source");
        sheet_hex(sheet, "qpn", cqe.src_qpn, 6);
        sheet_number(sheet, "slid", cqe.slid);
        sheet_number(sheet, "sl", cqe.sl);
        sheet_flag(sheet, "grh", cqe.grh);
    }
}

size_t describe(int what, const uint8_t *bytes, size_t len, bool json, char *out, size_t room) {
    struct sheet sheet;
    sheet_begin(&sheet, out, room, json);
    switch (what) {
    case DESCRIBE_WQE:
    case DESCRIBE_DATAGRAM_WQE:
        sheet_head(&sheet, "wqe");
        describe_wqe(&sheet, bytes, len, what == DESCRIBE_DATAGRAM_WQE);
        break;
    case DESCRIBE_RECEIVE: {
        struct wqe_seg seg[WQE_MAX_SEGS];
        sheet_head(&sheet, "receive");
        describe_segs(&sheet, seg, segs_decode(bytes, len, seg, WQE_MAX_SEGS));
        break;
    }
    case DESCRIBE_CQE:
        if (len < 64) return 0;
        sheet_head(&sheet, "cqe");
        describe_cqe(&sheet, bytes);
        break;
    default: return 0;
    }
    return sheet_end(&sheet);
}
