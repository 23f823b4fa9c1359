/* The engine at work on WQEs that nobody would post: real keys and addresses in them, and then some
 * of everything wrong.
 *
 *   execute SEED ROUNDS     each round fills the send queues of all QPs, with receives after them,
 * and works them off
 *
 * Nothing is expected but that it ends, within its memory. The same seed does the same.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "pure/bits.h"

enum { BLOCKS = 64, QPS = 5, KEYS = 24, MEMORY = 1 << 16, STRIDE = 64 };
static uint64_t state;
static uint32_t dice(uint32_t sides) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % sides;
}

static struct {
    struct qp *qp;
    uint8_t *buf, *db;
    uint16_t posted, received;
} end[QPS];
static uint32_t keys[KEYS], key_count;
static uint8_t *memory;
static struct psv *psv;
static struct dek *dek;
static struct srq *srq;
static uint8_t *srq_db;

static uint32_t some_key(void) { return dice(40) ? keys[dice(key_count)] : dice(0x4000); }
static uint64_t some_address(void) {
    static const uint64_t odd[] = {0, 1, 4096, UINT64_MAX, UINT64_MAX - 7, 1ull << 63};
    if (!dice(12)) return odd[dice(6)];
    return dice(2) ? dice(2048) : (uintptr_t)memory + dice(MEMORY + 64);
}
static uint32_t some_length(void) {
    static const uint32_t usual[] = {0,   1,    4,    8,    16,   40,   512,   516,
                                     520, 1024, 1040, 4096, 4160, 4168, 65536, 0x7fffffff};
    return dice(3) ? usual[dice(16)] : dice(9000);
}

/* Two in three lie where they should: a region's address, an mkey's offset. */
static void seg(uint8_t *at) {
    uint32_t which = dice(key_count);
    bool good = dice(3);
    store_be32(at, (good ? 512 * dice(9) + 8 * dice(9) : some_length()) & 0x7fffffff);
    store_be32(at + 4, good ? keys[which] : some_key());
    store_be64(at + 8, !good                     ? some_address()
                       : which < 4 && which != 1 ? (uintptr_t)memory + dice(MEMORY / 2)
                       : dice(4)                 ? 0
                                                 : 520 * dice(4));
}

static void entry(uint8_t *at) {
    seg(at);
    if (!dice(4)) return;
    store_be32(at, 520 * (1 + dice(8)));
    store_be32(at + 4, keys[0]);
    store_be64(at + 8, (uintptr_t)memory + dice(MEMORY / 2));
}

static unsigned segs(uint8_t *at, unsigned n) {
    for (unsigned i = 0; i < n; i++) seg(at + 16 * i);
    return n;
}

static void bsf(uint8_t *at) {
    static const uint8_t selectors[] = {0, 1, 1, 1, 1, 2, 3, 4, 6},
                         formats[] = {0, 0x22, 0x23, 0x42, 0x52, 0x53};
    bool sbs = dice(2);
    memset(at, 0, 64);
    at[0] = (uint8_t)(0x80 | (sbs ? 0x10 : 0));
    at[1] = (uint8_t)dice(256);
    at[3] = selectors[dice(9)];
    at[2] = sbs ? (uint8_t)dice(256) : selectors[dice(9)];
    store_be32(at + 4, UINT32_MAX);
    store_be32(at + 8, (uint32_t)formats[dice(6)] << 24 | psv->number);
    store_be32(at + 12, (uint32_t)formats[dice(6)] << 24 | psv->number);
    for (int side = 32; side < 64; side += 16) {
        store_be16(at + side, 0xc000);
        at[side + 8] = (uint8_t)(1 + dice(2));
        at[side + 9] = (uint8_t)(0x80 | dice(2) << 3);
        at[side + 13] = (uint8_t)dice(256);
        store_be16(at + side + 14, 0xffff);
    }
}

static void crypto_part(uint8_t *at) {
    memset(at, 0, 64);
    at[0] = 0xc1, at[1] = (uint8_t)dice(5), at[8] = (uint8_t)(1 + dice(4));
    store_be32(at + 4, UINT32_MAX);
    store_be32(at + 32, dek->number);
}

/* The units that follow the ctrl. */
static unsigned umr(uint8_t *at) {
    unsigned entries = dice(4) ? 4 : 8, parts = dice(3), units = 3 + 4;
    uint8_t *ctrl = at, *context = at + 48, *list = at + 112;
    memset(at, 0, 112);
    ctrl[0] = dice(8) ? 0x80 : (uint8_t)dice(256);
    store_be16(ctrl + 4, (uint16_t)(dice(6) ? entries : dice(64)));
    store_be16(ctrl + 6, (uint16_t)(4 * parts));
    store_be64(ctrl + 8, dice(4) ? 0x203c3201 : (uint64_t)dice(1u << 30));
    context[0] = dice(8) ? 0 : 0x40;
    context[2] = (uint8_t)(dice(4) ? 0x7c : dice(256));
    store_be32(context + 4, 0xffffff00);
    store_be32(context + 12, dice(2) ? 0x44000000 : 0);
    store_be64(context + 24, dice(4) ? 8 * 520 : some_length());
    for (unsigned i = 0; i < entries; i++) entry(list + 16 * i);
    units += entries;
    if (!dice(5)) {
        uint16_t n = (uint16_t)(1 + dice(entries));
        memset(list, 0, 16);
        store_be32(list, dice(1024));
        store_be32(list + 4, 0x400);
        store_be32(list + 8, dice(4) ? dice(5) : UINT32_MAX);
        store_be16(list + 14, n);
        for (unsigned i = 1; i < entries; i++) {
            store_be16(list + 16 * i, (uint16_t)dice(700));
            store_be16(list + 16 * i + 2, (uint16_t)dice(600));
        }
    }
    if (parts) bsf(list + 16 * entries);
    if (parts > 1) crypto_part(list + 16 * entries + 64);
    return units + 4 * parts;
}

static void post(unsigned i) {
    static const uint8_t opcodes[] = {0x0a, 0x0b, 0x01, 0x08, 0x09, 0x10, 0x11, 0x12,
                                      0x20, 0x25, 0x25, 0x25, 0x2f, 0x0f, 0x32, 0xff};
    uint8_t wqe[1024 + 64] = {0}, *at = wqe + 16;
    struct qp *qp = end[i].qp;
    uint8_t opcode = opcodes[dice(16)];
    bool datagram = qp->attr.type == QP_UD || qp->attr.type == QP_DCI;
    store_be32(wqe, (uint32_t)(opcode == 0x2f || opcode == 0x0f) << 24 |
                        (uint32_t)end[i].posted << 8 | opcode);
    wqe[11] = (uint8_t)(dice(2) ? 8 : dice(256));
    store_be32(wqe + 12, opcode == 0x25 && dice(8) ? keys[4 + dice(key_count - 4)] : some_key());
    if (datagram && opcode < 0x20) {
        store_be64(at, dice(4) ? 1 : dice(99));
        store_be32(at + 8, end[dice(QPS)].qp->number | 0x80000000u);
        at += 48;
    }
    if (opcode == 0x08 || opcode == 0x09 || (opcode >= 0x10 && opcode <= 0x12)) {
        uint8_t remote[16];
        seg(remote);
        memcpy(at, remote + 8, 8), memcpy(at + 8, remote + 4, 4);
        at += 16;
    }
    if (opcode == 0x11 || opcode == 0x12) at += 16;
    if (opcode == 0x25) at += 16 * umr(at);
    else if (opcode == 0x20) store_be32(at, dice(4) ? psv->number : dice(99)), at += 16;
    else if (opcode == 0x0f)
        store_be32(at, dice(32)), store_be32(at + 4, some_key()),
            store_be64(at + 8, dice(4096) & ~7u), store_be64(at + 24, dice(2)), at += 32;
    else if (opcode == 0x32)
        at[3] = (uint8_t)dice(16), at[5] = (uint8_t)dice(8), at[7] = (uint8_t)dice(8), at += 16,
        at += 16 * segs(at, 2);
    else if (opcode == 0x2f) at += 16, at += 16 * segs(at, 2);
    else at += 16 * segs(at, dice(4));
    unsigned ds = (unsigned)(at - wqe) / 16;
    store_be32(wqe + 4, qp->number << 8 | (dice(40) ? ds : dice(64)));
    for (unsigned n = dice(3) ? 0 : dice(6); n; n--)
        wqe[dice((uint32_t)(at - wqe))] ^= (uint8_t)(1u << dice(8));
    unsigned blocks = (ds + 3) / 4;
    for (unsigned b = 0; b < blocks; b++)
        memcpy(end[i].buf + STRIDE * BLOCKS + 64 * ((end[i].posted + b) % BLOCKS), wqe + 64 * b,
               64);
    end[i].posted = (uint16_t)(end[i].posted + blocks);
}

static void receives(unsigned i) {
    while ((uint16_t)(end[i].received - end[i].qp->rq_head) < 8) {
        uint8_t *at = end[i].buf + STRIDE * (end[i].received++ % BLOCKS);
        unsigned n = segs(at, dice(4));
        store_be32(at + 16 * n, 0), store_be32(at + 16 * n + 4, SCATTER_END_KEY);
    }
    store_be32(end[i].db, end[i].received);
}

static void reset(unsigned i) {
    struct qp_change change = {.mask = 1, .state = STATE_RESET};
    qp_modify(end[i].qp, &change);
    memset(end[i].db, 0, 8);
    end[i].posted = end[i].received = 0;
    end[i].qp->state = STATE_RTS;
    end[i].qp->set = (struct qp_change){.access = 15,
                                        .dest_qpn = end[i < 2 ? 1 - i : i].qp->number,
                                        .timeout = 1,
                                        .rnr_retry = 1,
                                        .min_rnr_timer = 1};
}

static struct cq *cq_make(struct context *context) {
    struct cq_attr attr = {.entries = 1024, .cqe_size = 64, .ignore_overrun = true};
    struct cq *cq;
    attr.buf = (uintptr_t)calloc(1024, 64), attr.db = (uintptr_t)calloc(1, 8);
    if (cq_create(context, &attr, &cq)) abort();
    return cq;
}

static void world(void) {
    static const enum qp_type types[QPS] = {QP_RC, QP_RC, QP_UD, QP_DCI, QP_DCT};
    struct context *context;
    struct pd *pd, *other;
    struct key *key;
    memory = malloc(MEMORY);
    memset(memory, 0xa5, MEMORY);
    if (nic_context_create(&context)) abort();
    nic_lock();
    pd_create(context, &pd), pd_create(context, &other);
    for (unsigned i = 0; i < KEYS; i++) {
        struct mkey_attr attr = {.pdn = pd->pdn,
                                 .qpn = 0xffffff,
                                 .rights = 1,
                                 .max_entries = 16,
                                 .umr_enabled = true,
                                 .remote_invalidate = i & 1,
                                 .bsf_enabled = i % 3,
                                 .bsf_room = i % 3 * 4,
                                 .crypto_enabled = i % 3 == 2};
        if (i < 4)
            mr_create(i == 3 ? other : pd, (uintptr_t)memory, MEMORY,
                      i == 1 ? 0 : (uintptr_t)memory, i == 2 ? 0 : 15, &key);
        else if (i < 6) mw_create(pd, 2, &key);
        else mkey_create(context, &attr, &key);
        keys[key_count++] = key_value(key);
    }
    if (psv_create(context, pd->pdn, &psv)) abort();
    struct dek_attr secret = {.pdn = pd->pdn, .purpose = 3};
    if (dek_create(context, &secret, &dek)) abort();
    struct cq *cq = cq_make(context);
    srq_db = calloc(1, 8);
    struct srq_attr shared = {.pd = pd,
                              .buf = (uintptr_t)calloc(BLOCKS, STRIDE),
                              .db = (uintptr_t)srq_db,
                              .entries = BLOCKS,
                              .stride = STRIDE};
    if (srq_create(context, &shared, &srq)) abort();
    for (unsigned i = 0; i < QPS; i++) {
        end[i].buf = calloc(BLOCKS, STRIDE + 64), end[i].db = calloc(1, 8);
        struct qp_attr attr = {.type = types[i],
                               .pd = pd,
                               .send_cq = cq,
                               .recv_cq = cq,
                               .srq = types[i] == QP_DCT ? srq : NULL,
                               .buf = (uintptr_t)end[i].buf,
                               .db = (uintptr_t)end[i].db,
                               .sq_blocks = BLOCKS,
                               .rq_entries = BLOCKS,
                               .rq_shift = 6,
                               .dc_key = 1,
                               .dci_streams = true,
                               .log_streams = 2,
                               .log_errored = 2};
        if (qp_create(context, &attr, &end[i].qp)) abort();
        end[i].qp->mmo = end[i].qp->drain_sigerr = true;
    }
}

static void hung(int number) {
    (void)number;
    static const char text[] = "execute: a round did not end\n";
    if (write(2, text, sizeof text - 1) < 0) abort();
    abort();
}

int main(int count, char **words) {
    if (count != 3) return 2;
    state = strtoull(words[1], NULL, 0);
    unsigned long rounds = strtoul(words[2], NULL, 0);
    signal(SIGALRM, hung);
    world();
    for (unsigned long round = 0; round < rounds; round++) {
        alarm(20);
        uint64_t next;
        for (unsigned i = 0; i < QPS; i++) {
            reset(i);
            receives(i);
        }
        store_be32(srq_db, srq->consumed + 4u);
        for (int n = 0; n < 4; n++) {
            unsigned i = dice(QPS - 1);
            if (end[i].posted < BLOCKS - 16) post(i);
        }
        for (unsigned i = 0; i < QPS; i++) store_be32(end[i].db + 4, end[i].posted);
        for (int n = 0; n < 4 && nic_round(&next); n++) {}
    }
    printf("%lu rounds\n", rounds);
    return 0;
}
