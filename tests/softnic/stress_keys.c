/* Keys with a signature over blocks or over all, and keys that encrypt: made, used, looked at,
 * destroyed. */
#include <arpa/inet.h>
#include <endian.h>

#include <infiniband/mlx5dv.h>

#include "stress.h"

enum {
    BLOCK = 512,
    UMR = 0x25,
    CREATE_MKEY = 0x200,
    CREATE_PSV = 0x600,
    TAG = 0x42,
    CRC32C = 0x40
};
/* PRM: BSF word 20; mkc.flags_pd */
enum { WIRE_INIT = 1 << 29, WIRE_GENERATE = 1 << 28, SIGNATURE_ERRORS = 1 << 26 };
static const uint64_t MASK = 1 << 0 | 1 << 9 | 1 << 29; /* PRM: len, sigerr count, free */

/* A QP that is its own peer and configures keys. */
struct configurer {
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_qp_ex *qpx;
    struct mlx5dv_qp_ex *mqp;
};

static struct configurer *configurer_new(struct ibv_pd *pd) {
    struct configurer *by = calloc(1, sizeof *by);
    MUST(by && (by->cq = ibv_create_cq(pd->context, 8, NULL, NULL, 0)));
    struct ibv_qp_init_attr_ex attr = {
        .send_cq = by->cq,
        .recv_cq = by->cq,
        .qp_type = IBV_QPT_RC,
        .pd = pd,
        .cap = {.max_send_wr = 8, .max_send_sge = 1, .max_inline_data = 512},
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE,
    };
    struct mlx5dv_qp_init_attr dv = {
        .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
        .send_ops_flags = MLX5DV_QP_EX_WITH_MKEY_CONFIGURE | MLX5DV_QP_EX_WITH_RAW_WQE,
    };
    MUST(by->qp = mlx5dv_create_qp(pd->context, &attr, &dv));
    by->qpx = ibv_qp_to_qp_ex(by->qp);
    by->mqp = mlx5dv_qp_ex_from_ibv_qp_ex(by->qpx);
    state(by->qp, 0, IBV_QPS_INIT);
    state(by->qp, by->qp->qp_num, IBV_QPS_RTR);
    state(by->qp, by->qp->qp_num, IBV_QPS_RTS);
    return by;
}

static void configured(struct configurer *by) {
    struct ibv_wc wc;
    int n;
    MUST(!ibv_wr_complete(by->qpx));
    while (!(n = ibv_poll_cq(by->cq, 1, &wc))) {}
    MUST(n == 1 && wc.status == IBV_WC_SUCCESS);
}

static void configurer_free(struct configurer *by) {
    MUST(!ibv_destroy_qp(by->qp));
    MUST(!ibv_destroy_cq(by->cq));
    free(by);
}

/* ---- by the driver's own calls ----------------------------------------------------------- */

static void configure(struct key *key, struct ibv_mr *mr, uint64_t tweak) {
    struct mlx5dv_mkey_conf_attr conf = {0};
    struct mlx5dv_sig_crc crc = {.type = MLX5DV_SIG_CRC_TYPE_CRC32C, .seed = UINT32_MAX};
    struct mlx5dv_sig_block_domain wire = {
        .sig_type = MLX5DV_SIG_TYPE_CRC,
        .block_size = MLX5DV_BLOCK_SIZE_512,
        .sig.crc = &crc,
    };
    struct mlx5dv_sig_block_attr signature = {.wire = &wire, .check_mask = 0xff};
    struct mlx5dv_crypto_attr crypto = {
        .crypto_standard = MLX5DV_CRYPTO_STANDARD_AES_XTS,
        .encrypt_on_tx = true,
        .data_unit_size = MLX5DV_BLOCK_SIZE_512,
        .dek = key->dek,
    };
    struct ibv_sge sge = {(uintptr_t)mr->addr, key->memory_length, mr->lkey};
    memcpy(crypto.initial_tweak, &tweak, sizeof tweak);
    ibv_wr_start(key->by->qpx);
    key->by->qpx->wr_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
    mlx5dv_wr_mkey_configure(key->by->mqp, key->mkey, 3, &conf);
    mlx5dv_wr_set_mkey_access_flags(key->by->mqp, ALL);
    mlx5dv_wr_set_mkey_layout_list(key->by->mqp, 1, &sge);
    if (key->kind == SIGNATURE) mlx5dv_wr_set_mkey_sig_block(key->by->mqp, &signature);
    else mlx5dv_wr_set_mkey_crypto(key->by->mqp, &crypto);
    configured(key->by);
}

static void dek_new(struct key *key, struct dice *dice, struct ibv_pd *pd) {
    struct mlx5dv_dek_init_attr attr = {
        .key_size = MLX5DV_CRYPTO_KEY_SIZE_128,
        .key_purpose = MLX5DV_CRYPTO_KEY_PURPOSE_AES_XTS,
        .pd = pd,
        .comp_mask = MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN, /* and no login: the key is plaintext */
    };
    for (int i = 0; i < 32; i++) attr.key[i] = (char)roll(dice, 256);
    MUST(key->dek = mlx5dv_dek_create(pd->context, &attr));
}

/* ---- by hand: the driver has no call for signatures over all ----------------------------- */

static void put32(uint8_t *at, uint32_t value) {
    value = htonl(value);
    memcpy(at, &value, 4);
}
static void put64(uint8_t *at, uint64_t value) {
    value = htobe64(value);
    memcpy(at, &value, 8);
}
static uint32_t get24(const uint8_t *at) {
    return (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
}

static uint32_t number_of(struct ibv_pd *pd) {
    struct mlx5dv_pd numbered = {0};
    struct mlx5dv_obj object = {.pd = {.in = pd, .out = &numbered}};
    MUST(!mlx5dv_init_obj(&object, MLX5DV_OBJ_PD));
    return numbered.pdn;
}

static void transaction_new(struct key *key, struct ibv_pd *pd, struct ibv_mr *mr,
                            uint8_t check_mask) {
    uint8_t make[272] = {0}, made[16] = {0}, psv[16] = {0}, psv_made[32] = {0}, wqe[256] = {0};
    uint32_t pdn = number_of(pd);
    make[0] = CREATE_MKEY >> 8;
    put32(make + 0x10, 0x4000fe00); /* free until a UMR; by UMR; all rights; a list of entries */
    put32(make + 0x14, 0xffffff00 | TAG);
    put32(make + 0x1c, 1u << 30 | pdn); /* bsf_en */
    put32(make + 0x30, 4);              /* room of the BSF, in 16 bytes */
    put32(make + 0x44, 16);             /* and of the list */
    MUST(key->object = mlx5dv_devx_obj_create(pd->context, make, sizeof make, made, sizeof made));
    key->lkey = get24(made + 9) << 8 | TAG;
    psv[0] = CREATE_PSV >> 8;
    put32(psv + 8, 1u << 28 | pdn);
    MUST(key->psv =
             mlx5dv_devx_obj_create(pd->context, psv, sizeof psv, psv_made, sizeof psv_made));

    put32(wqe, UMR);
    put32(wqe + 4, key->by->qp->qp_num << 8 | sizeof wqe / 16);
    wqe[11] = 8; /* a completion */
    put32(wqe + 12, key->lkey);
    wqe[16] = 0x80;           /* inline */
    wqe[21] = 4, wqe[23] = 4; /* of the list and the BSF, in 16 bytes */
    put64(wqe + 24, MASK);
    put32(wqe + 64 + 4, 0xffffff00 | TAG);
    put32(wqe + 64 + 12, SIGNATURE_ERRORS);
    put64(wqe + 64 + 24, key->memory_length);
    put32(wqe + 128, key->memory_length);
    put32(wqe + 132, mr->lkey);
    put64(wqe + 136, (uintptr_t)mr->addr);
    wqe[192] = 1 << 6, wqe[193] = check_mask; /* bsf_size 1 */
    put32(wqe + 196, key->memory_length);
    put32(wqe + 208, WIRE_INIT | WIRE_GENERATE);
    put32(wqe + 216, (uint32_t)CRC32C << 24 | get24(psv_made + 0x11));
    ibv_wr_start(key->by->qpx);
    key->by->qpx->wr_flags = IBV_SEND_SIGNALED;
    mlx5dv_wr_raw_wqe(key->by->mqp, wqe);
    configured(key->by);
}

/* ---- a key ------------------------------------------------------------------------------- */

struct key *key_new(enum kind kind, struct dice *dice, struct ibv_pd *pd, struct ibv_mr *mr,
                    uint8_t check_mask) {
    uint32_t blocks = 1 + roll(dice, roll(dice, 4) ? 16 : 200), length = blocks * BLOCK;
    struct key *key = calloc(1, sizeof *key);
    MUST(key);
    *key = (struct key){
        .kind = kind, .lkey = mr->lkey, .memory_length = length, .wire_length = length};
    if (kind == PLAIN) return key;
    key->by = configurer_new(pd);
    if (kind == TRANSACTION) {
        key->memory_length = length - roll(dice, BLOCK);
        key->wire_length = key->memory_length + 4;
        transaction_new(key, pd, mr, check_mask);
        return key;
    }
    struct mlx5dv_mkey_init_attr init = {
        .pd = pd,
        .max_entries = 4,
        .create_flags = MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT |
                        (kind == CRYPTO ? MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO
                                        : MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE),
    };
    if (kind == SIGNATURE) key->wire_length += blocks * 4;
    else dek_new(key, dice, pd);
    MUST(key->mkey = mlx5dv_create_mkey(&init));
    key->lkey = key->mkey->lkey;
    configure(key, mr, roll(dice, 1000));
    return key;
}

void key_free(struct key *key) {
    if (key->mkey) MUST(!mlx5dv_destroy_mkey(key->mkey));
    if (key->dek) MUST(!mlx5dv_dek_destroy(key->dek));
    if (key->object) MUST(!mlx5dv_devx_obj_destroy(key->object));
    if (key->psv) MUST(!mlx5dv_devx_obj_destroy(key->psv));
    if (key->by) configurer_free(key->by);
    free(key);
}

/* RFC 3720, 12.1, bit by bit. */
static uint32_t crc32c(const uint8_t *data, size_t length) {
    uint32_t sum = UINT32_MAX;
    for (; length; length--, data++) {
        sum ^= *data;
        for (int i = 0; i < 8; i++) sum = sum >> 1 ^ (sum & 1 ? 0x82f63b78 : 0);
    }
    return htole32(~sum);
}

static void judge(const struct key *key, const uint8_t *memory, const uint8_t *wire) {
    uint32_t step = key->kind == SIGNATURE ? BLOCK : key->memory_length, sum;
    if (key->kind == PLAIN) MUST(!memcmp(memory, wire, step));
    if (key->kind == CRYPTO) MUST(memcmp(memory, wire, step));
    if (key->kind != SIGNATURE && key->kind != TRANSACTION) return;
    for (uint32_t left = key->memory_length; left; left -= step, memory += step, wire += step + 4) {
        MUST(!memcmp(memory, wire, step));
        sum = crc32c(memory, step);
        MUST(!memcmp(wire + step, &sum, 4));
    }
}

static void move(struct end *end, const struct key *key, enum ibv_wr_opcode opcode, bool wait) {
    struct ibv_sge sge = {key->kind == PLAIN ? (uintptr_t)end->memory : 0, key->wire_length,
                          key->lkey};
    struct ibv_send_wr *bad, wr = {
                                 .sg_list = &sge,
                                 .num_sge = 1,
                                 .opcode = opcode,
                                 .send_flags = IBV_SEND_SIGNALED,
                                 .wr.rdma = {(uintptr_t)end->memory + HALF, end->mr->rkey},
                             };
    MUST(!ibv_post_send(end->qp, &wr, &bad));
    if (wait) wait_one(end);
}

/* Out through the key and back; or only out, and away while it is under way. */
void play_key(struct dice *dice, struct ibv_context *context) {
    struct end *end = end_alone_in(context);
    struct key *key = key_new(roll(dice, KINDS), dice, end->pd, end->mr, 0xff);
    for (uint32_t i = 0; i < key->memory_length; i += 8) {
        uint64_t word = (uint64_t)roll(dice, UINT32_MAX) << 32 | i;
        memcpy(end->memory + i, &word, 8);
    }
    uint8_t *copy = malloc(key->memory_length);
    MUST(copy);
    memcpy(copy, end->memory, key->memory_length);
    move(end, key, IBV_WR_RDMA_WRITE, true);
    judge(key, copy, end->memory + HALF);
    memset(end->memory, 0, key->memory_length);
    move(end, key, IBV_WR_RDMA_READ, true);
    MUST(!memcmp(copy, end->memory, key->memory_length));
    free(copy);
    keyed++;
    if (roll(dice, 2)) {
        uint32_t left = 1 + roll(dice, DEPTH - 1);
        while (left--) move(end, key, roll(dice, 2) ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, false);
    }
    if (roll(dice, 2)) key_free(key), end_free(end);
    else { /* its QP goes first */ MUST(!ibv_destroy_qp(end->qp));
        key_free(key);
        MUST(!ibv_dereg_mr(end->mr));
        MUST(!ibv_destroy_cq(end->cq));
        MUST(!ibv_dealloc_pd(end->pd));
        free(end->memory);
        free(end);
    }
}
