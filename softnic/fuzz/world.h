/* A NIC in this process for the targets that need one: memory, a key, a CQ, and QPs of each type.
 */
#ifndef SOFTNIC_FUZZ_WORLD_H
#define SOFTNIC_FUZZ_WORLD_H

#include <string.h>

#include "engine/engine.h"
#include "fuzz/fuzz.h"
#include "pure/bits.h"

enum { BLOCKS = 64, STRIDE = 64, MEMORY = 1 << 16, TYPES = 5 };

struct world {
    struct context *context;
    struct pd *pd;
    struct key *key;
    struct cq *cq;
    struct srq *srq;
    uint8_t *memory, *srq_db;
    struct {
        struct qp *qp;
        uint8_t *buf, *db;
    } end[TYPES]; /* by enum qp_type */
};

/* A queue of another connection each time: states and numbers of before are gone. */
static inline void world_qp(struct world *world, enum qp_type type) {
    uint32_t ignored;
    struct qp_attr attr = {
        .type = type,
        .pd = world->pd,
        .send_cq = world->cq,
        .recv_cq = world->cq,
        .srq = type == QP_DCT ? world->srq : NULL,
        .sq_blocks = BLOCKS,
        .rq_entries = BLOCKS,
        .rq_shift = 6,
        .dc_key = 1,
        .dci_streams = true,
        .log_streams = 2,
        .log_errored = 2,
    };
    if (world->end[type].qp) qp_destroy(world->end[type].qp, &ignored);
    memset(world->end[type].buf, 0, BLOCKS * (STRIDE + 64));
    memset(world->end[type].db, 0, 8);
    attr.buf = (uintptr_t)world->end[type].buf, attr.db = (uintptr_t)world->end[type].db;
    MUST(!qp_create(world->context, &attr, &world->end[type].qp));
}

static inline struct world *world_make(void) {
    struct world *world = calloc(1, sizeof *world);
    MUST(world && (world->memory = calloc(1, MEMORY)) && !nic_context_create(&world->context));
    nic_lock(); /* for good: the device thread only waits */
    MUST(!pd_create(world->context, &world->pd));
    MUST(!mr_create(world->pd, (uintptr_t)world->memory, MEMORY, (uintptr_t)world->memory, 15,
                    &world->key));
    struct cq_attr cq = {.entries = 1024, .cqe_size = 64, .ignore_overrun = true};
    cq.buf = (uintptr_t)calloc(1024, 64), cq.db = (uintptr_t)calloc(1, 8);
    MUST(!cq_create(world->context, &cq, &world->cq));
    world->srq_db = calloc(1, 8);
    struct srq_attr srq = {.pd = world->pd,
                           .buf = (uintptr_t)calloc(BLOCKS, STRIDE),
                           .db = (uintptr_t)world->srq_db,
                           .entries = BLOCKS,
                           .stride = STRIDE};
    MUST(!srq_create(world->context, &srq, &world->srq));
    for (unsigned type = 0; type < TYPES; type++) {
        world->end[type].buf = calloc(BLOCKS, STRIDE + 64), world->end[type].db = calloc(1, 8);
        world_qp(world, (enum qp_type)type);
    }
    return world;
}

/* A WQE of one data segment and, where the opcode has it, a remote address. A WAIT is one for
 * `length` in the first word. */
static inline void world_post(struct world *world, enum qp_type type, uint16_t index,
                              uint8_t opcode, uint32_t length) {
    uint8_t *wqe = world->end[type].buf + STRIDE * BLOCKS + 64 * (index % BLOCKS), *at = wqe + 16;
    uint64_t address = (uintptr_t)world->memory;
    memset(wqe, 0, 64);
    if (opcode == 0x08 || opcode == 0x09 || (opcode >= 0x10 && opcode <= 0x12)) {
        store_be64(at, address + MEMORY / 2), store_be32(at + 8, key_value(world->key));
        at += 16;
    }
    if (opcode == 0x11 || opcode == 0x12) at += 16;
    store_be32(at, opcode == OPCODE_WAIT ? WAIT_EQUAL : length),
        store_be32(at + 4, key_value(world->key)), store_be64(at + 8, address);
    if (opcode == OPCODE_WAIT)
        store_be64(at + 16, length), store_be64(at + 24, UINT64_MAX), at += 16;
    store_be32(wqe, (uint32_t)(opcode == OPCODE_WAIT) << 24 | (uint32_t)index << 8 | opcode);
    store_be32(wqe + 4, world->end[type].qp->number << 8 | (uint32_t)(at + 16 - wqe) / 16);
    wqe[11] = 8;
    store_be32(world->end[type].db + 4, index + 1u);
}

static inline void world_receives(struct world *world, enum qp_type type, uint16_t count) {
    for (uint16_t i = 0; i < count; i++) {
        uint8_t *at = world->end[type].buf + STRIDE * i;
        store_be32(at, 4096), store_be32(at + 4, key_value(world->key)),
            store_be64(at + 8, (uintptr_t)world->memory);
        store_be32(at + 16, 0), store_be32(at + 20, SCATTER_END_KEY);
    }
    store_be32(world->end[type].db, count);
}

#endif
