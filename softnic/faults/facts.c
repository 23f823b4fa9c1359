/* The dimensions that a NIC knows, and what each is at a moment. */
#include <string.h>

#include "engine/engine.h"
#include "faults/condition.h"
#include "faults/notes.h"
#include "pure/field.h"

static struct range none(void) { return range_of(0, 0); }
static struct range one(int64_t value) { return range_of(value, value == NONE ? 0 : 1); }

static const struct key *key(void) { return moment.key ? key_find(moment.key) : NULL; }
static const struct notes *notes(void) { return key() ? notes_of(key()) : NULL; }

static const struct bsf *sig(void) {
    if (moment.sig) return moment.sig;
    return key() && key()->sig && !key()->sig->transactional ? key()->sig : NULL;
}

static bool has(const struct bsf *bsf, enum domain which) {
    return bsf->domain[which].kind != SIGNATURE_NONE;
}

/* The domain at work; before one is, the only one that there is. */
static int side(void) {
    if (!sig()) return NONE;
    if (moment.sig && moment.which != NONE) return moment.which;
    if (has(sig(), DOMAIN_WIRE) == has(sig(), DOMAIN_MEMORY)) return NONE;
    return has(sig(), DOMAIN_WIRE) ? DOMAIN_WIRE : DOMAIN_MEMORY;
}

static const struct signature_domain *domain(void) {
    return side() == NONE ? NULL : &sig()->domain[side()];
}

static bool is_dif(void) { return domain() && signature_is_dif(domain()->kind); }

static const struct crypto_bsf *crypto(void) {
    return moment.crypto ? moment.crypto : key() ? key()->crypto : NULL;
}

static const struct key *layout(void) {
    const struct key *found = moment.walked ? moment.walked : key();
    return found && (found->layout == LAYOUT_LIST || found->layout == LAYOUT_STRIDED) ? found
                                                                                      : NULL;
}

/* ---- the message ------------------------------------------------------------------------- */

static struct range operation(void) {
    switch (moment.opcode) {
    case OPCODE_SEND: return one(0);
    case OPCODE_SEND_IMM: return one(1);
    case OPCODE_SEND_INVAL: return one(2);
    case OPCODE_RDMA_WRITE: return one(3);
    case OPCODE_RDMA_WRITE_IMM: return one(4);
    case OPCODE_RDMA_READ: return one(5);
    case OPCODE_MMO: return one(6);
    case OPCODE_ATOMIC_FA: return one(7);
    case OPCODE_ATOMIC_CS: return one(8);
    default: return none();
    }
}

static struct range role(void) { return moment.key ? one(moment.role) : none(); }
static struct range direction(void) { return one(moment.direction); }

static struct range service(void) {
    switch (moment.service) {
    case QP_RC: return one(0);
    case QP_UC: return one(1);
    case QP_DCI: return one(2);
    default: return none();
    }
}

static struct range size(void) { return one(moment.size); }
static struct range of_key(int64_t value) { return moment.key ? one(value) : none(); }
static struct range offset(void) { return of_key(moment.offset); }
static struct range sges(void) { return of_key(moment.sges); }
static struct range sge(void) { return of_key(moment.sge); }
static struct range message(void) { return of_key(moment.message); }
static struct range signaled(void) { return one(moment.signaled); }
static struct range fence(void) { return one(moment.fence); }
static struct range sq_sig_all(void) { return one(moment.signal_all); }

/* ---- the key, and what happened to it ---------------------------------------------------- */

static struct range create_flags(void) {
    enum { PART = 4 }; /* 64 bytes, of a signature or of crypto attributes */
    if (!key()) return none();
    bool encrypts = key()->crypto_able, signs = key()->bsf_room >= PART * (1u + encrypts);
    return one(signs + 2 * encrypts);
}

static struct range max_entries(void) { return key() ? one(key()->max_entries) : none(); }

static struct range configuration(void) {
    return notes() && notes()->configurations ? one(notes()->configurations) : none();
}

static struct range setters(void) {
    return notes() && notes()->configurations ? one(notes()->setters) : none();
}

static struct range signature_before(void) {
    return notes() && notes()->configurations ? one(notes()->signature_before) : none();
}

static struct range layout_before(void) {
    return notes() && notes()->configurations ? one(notes()->layout_before) : none();
}

static struct range life(void) {
    return notes() && notes()->configurations ? one(notes()->life) : none();
}

static struct range keys(void) {
    int64_t count = 0;
    if (!key()) return none();
    for (uint32_t i = nic.keys.first; i < nic.keys.used; i++) {
        const struct key *other = table_get(&nic.keys, i);
        if (other && other != key() && other->type == KEY_MKEY && other->pd == key()->pd &&
            !other->free && other->layout != LAYOUT_NONE)
            count++;
    }
    return one(count);
}

/* ---- the layout -------------------------------------------------------------------------- */

static struct range layout_kind(void) {
    return layout() ? one(layout()->layout == LAYOUT_STRIDED) : none();
}

static uint32_t count(void) {
    return layout()->layout == LAYOUT_STRIDED ? layout()->strides : layout()->klms;
}

static struct range entries(void) { return layout() ? one(count()) : none(); }

/* The entry at work, else all of them. */
static struct range entry(void) {
    if (!layout()) return none();
    return moment.entry.last < moment.entry.first ? range_of(0, count()) : moment.entry;
}

static int64_t size_of(uint32_t i) {
    return layout()->layout == LAYOUT_STRIDED ? layout()->stride[i].length
                                              : layout()->klm[i].length;
}

static int64_t skip_of(uint32_t i) {
    const struct key *strided = layout();
    if (strided->layout != LAYOUT_STRIDED) return 0;
    return (int64_t)strided->stride[i].stride - strided->stride[i].length;
}

/* From the least to the largest of the entries at work. */
static struct range spread(int64_t (*value)(uint32_t)) {
    struct range some = entry(), found = {INT64_MAX, INT64_MIN};
    for (int64_t i = some.first; i <= some.last && i < (int64_t)count(); i++) {
        int64_t now_is = value((uint32_t)i);
        if (now_is < found.first) found.first = now_is;
        if (now_is > found.last) found.last = now_is;
    }
    return found;
}

static struct range entry_size(void) { return layout() ? spread(size_of) : none(); }
static struct range skip(void) { return layout() ? spread(skip_of) : none(); }

static struct range repeat(void) {
    return layout() ? one(layout()->layout == LAYOUT_STRIDED ? layout()->repeat : 1) : none();
}

static struct range nesting(void) { return one(moment.depth); }

static uint32_t key_of(uint32_t i) {
    return layout()->layout == LAYOUT_STRIDED ? layout()->stride[i].key : layout()->klm[i].key;
}

static struct range regions(void) {
    int64_t different = 0;
    if (!layout()) return none();
    for (uint32_t i = 0; i < count(); i++) {
        uint32_t before = 0;
        while (before < i && key_of(before) != key_of(i)) before++;
        different += before == i;
    }
    return one(different);
}

/* ---- signatures -------------------------------------------------------------------------- */

static struct range kind(void) {
    if (!domain()) return none();
    switch (domain()->kind) {
    case SIGNATURE_CRC32: return one(0);
    case SIGNATURE_CRC32C: return one(1);
    case SIGNATURE_CRC64_XP10: return one(2);
    case SIGNATURE_DIF_CRC: return one(3);
    default: return one(4);
    }
}

static struct range seed(void) { return domain() ? one(domain()->ones) : none(); }

/* A block selector as the dimension counts its values: 512 520 4048 4096 4160. */
static int64_t selector(uint8_t written) {
    static const int8_t place[] = {NONE, 0, 1, 3, 4, NONE, 2};
    return written < sizeof place ? place[written] : NONE;
}

static struct range block_size(void) {
    return domain() ? one(selector(domain()->block_selector)) : none();
}

static struct range side_is(void) { return side() == NONE ? none() : one(side() == DOMAIN_WIRE); }

static struct range domains(void) {
    if (!sig() || (!has(sig(), 0) && !has(sig(), 1))) return none();
    if (has(sig(), 0) && has(sig(), 1)) return one(2);
    return one(has(sig(), DOMAIN_WIRE));
}

static struct range structure(void) {
    if (!sig() || (!has(sig(), 0) && !has(sig(), 1))) return none();
    if (!has(sig(), 0) || !has(sig(), 1)) return one(0);
    return one(sig()->sbs ? 1 : 2);
}

static struct range check_mask(void) {
    if (!domain()) return none();
    uint8_t all = domain()->field == 8 ? 0xff : 0xf0, mask = sig()->check_mask & all;
    return one(mask == all ? 3 : !mask ? 0 : mask & (mask - 1) ? 2 : 1);
}

static struct range blocks(void) { return moment.sig ? one(moment.blocks) : none(); }
static struct range block(void) { return moment.block; }
static struct range tail(void) { return moment.sig ? one(moment.tail) : none(); }

static struct range remap(void) {
    return is_dif() ? one(!!(domain()->dif_flags & DIF_INC_REF)) : none();
}

static struct range escape(void) {
    if (!is_dif()) return none();
    uint8_t flags = domain()->dif_flags;
    return one(flags & DIF_APP_REF_ESCAPE ? 2 : flags & DIF_APP_ESCAPE ? 1 : 0);
}

static struct range part(void) {
    switch (moment.syndrome) {
    case SYNDROME_GUARD: return one(0);
    case SYNDROME_APP: return one(1);
    case SYNDROME_REF: return one(2);
    default: return none();
    }
}

/* ---- AES-XTS ----------------------------------------------------------------------------- */

static bool encrypts(void) {
    return crypto()->order == CRYPTO_WIRE_OUTSIDE || crypto()->order == CRYPTO_WIRE_RAW;
}

static struct range encrypt(void) { return crypto() ? one(!encrypts()) : none(); }

static struct range crypto_order(void) {
    if (!crypto()) return none();
    return one(crypto()->order == CRYPTO_WIRE_RAW || crypto()->order == CRYPTO_MEMORY_OUTSIDE);
}

static struct range unit_size(void) {
    return crypto() ? one(selector(crypto()->block_selector)) : none();
}

static struct range units(void) {
    return moment.crypto && moment.unit.last >= moment.unit.first ? one(moment.unit.last + 1)
                                                                  : none();
}
static struct range unit(void) { return moment.unit; }

static struct range key_bits(void) {
    const struct dek *dek = crypto() ? dek_find(crypto()->dek) : NULL;
    return dek ? one(dek->attr.size256) : none();
}

static struct range with_signature(void) {
    struct range signed_in = domains();
    if (!crypto()) return none();
    return one(signed_in.last < signed_in.first ? 0 : signed_in.first + 1);
}

/* ------------------------------------------------------------------------------------------ */

#define YES_NO "no yes"
#define BLOCK_SIZES "512 520 4048 4096 4160"
static const struct {
    const char *name, *values; /* values: by their numbers; NULL: numbers themselves */
    struct range (*fact)(void);
} dimensions[] = {
    {"operation", "send send_imm send_inv write write_imm read memcpy fetch_add compare_swap",
     operation},
    {"role", "local remote receive", role},
    {"direction", "tx rx", direction},
    {"service", "rc uc dci", service},
    {"size", NULL, size},
    {"offset", NULL, offset},
    {"sges", NULL, sges},
    {"sge", NULL, sge},
    {"message", NULL, message},
    {"signaled", YES_NO, signaled},
    {"fence", YES_NO, fence},
    {"sq_sig_all", YES_NO, sq_sig_all},
    {"create_flags", "plain signature crypto signature+crypto", create_flags},
    {"max_entries", NULL, max_entries},
    {"configuration", NULL, configuration},
    {"setters",
     "none access layout access+layout signature access+signature layout+signature "
     "access+layout+signature crypto access+crypto crypto+layout access+crypto+layout "
     "crypto+signature access+crypto+signature crypto+layout+signature "
     "access+crypto+layout+signature",
     setters},
    {"signature_before", "none equal same_type other_type", signature_before},
    {"layout_before", "none list interleaved", layout_before},
    {"life", "created configured local_inv remote_inv failure retag", life},
    {"keys", NULL, keys},
    {"layout", "list interleaved", layout_kind},
    {"entries", NULL, entries},
    {"entry", NULL, entry},
    {"entry_size", NULL, entry_size},
    {"repeat", NULL, repeat},
    {"skip", NULL, skip},
    {"nesting", NULL, nesting},
    {"regions", NULL, regions},
    {"kind", "crc32 crc32c crc64_xp10 t10dif_crc t10dif_csum", kind},
    {"seed", "zeros ones", seed},
    {"block_size", BLOCK_SIZES, block_size},
    {"side", "mem wire", side_is},
    {"domains", "mem wire both", domains},
    {"structure", "one same other", structure},
    {"check_mask", "none one some all", check_mask},
    {"blocks", NULL, blocks},
    {"block", NULL, block},
    {"tail", "whole part", tail},
    {"remap", YES_NO, remap},
    {"escape", "none app app_ref", escape},
    {"part", "guard app ref", part},
    {"encrypt", "yes no", encrypt},
    {"crypto_order", "before after", crypto_order},
    {"unit_size", BLOCK_SIZES, unit_size},
    {"units", NULL, units},
    {"unit", NULL, unit},
    {"key_bits", "128 256", key_bits},
    {"with_signature", "none mem wire both", with_signature},
};

int dimension_named(const char *name, size_t length) {
    for (int i = 0; i < (int)(sizeof dimensions / sizeof *dimensions); i++)
        if (strlen(dimensions[i].name) == length && !strncmp(dimensions[i].name, name, length))
            return i;
    return NONE;
}

bool dimension_value(int dimension, const char *text, size_t length, int64_t *value) {
    const char *at = dimensions[dimension].values;
    *value = 0;
    if (!at) {
        for (; length && *text >= '0' && *text <= '9'; text++, length--)
            *value = *value * 10 + *text - '0';
        return !length;
    }
    for (size_t size; *at; at += size + (at[size] == ' '), ++*value) {
        size = strcspn(at, " ");
        if (size == length && !strncmp(at, text, size)) return true;
    }
    return false;
}

struct range dimension_fact(int dimension) { return dimensions[dimension].fact(); }
