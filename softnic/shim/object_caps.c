/* Capabilities as firmware states them: the pages of QUERY_HCA_CAP. Everything follows from the
 * personality. */
#include "shim.h"

#include <string.h>

/* Bits are counted from the most significant one of byte 0, as the PRM does. */
static void set(uint8_t *page, unsigned bit, unsigned width, uint64_t value) {
    while (width--) {
        if (value & 1) page[(bit + width) / 8] |= (uint8_t)(0x80 >> (bit + width) % 8);
        value >>= 1;
    }
}

/* Places in cmd_hca_cap. */
enum {
    TRANSPOSE_MAX_ELEMENT_SIZE = 0x28,
    TRANSPOSE_MAX_COLS = 0x40,
    TRANSPOSE_MAX_ROWS = 0x48,
    TRANSPOSE_MAX_SIZE = 0x50,
    WAIT_ON_DATA_CAP = 0x68b,
    LOG_DMA_MMO_MAX_SIZE = 0x6b,
    LOG_MAX_SRQ_SZ = 0x80,
    LOG_MAX_QP_SZ = 0x88,
    LOG_MAX_QP = 0x9b,
    LOG_MAX_SRQ = 0xab,
    LOG_MAX_CQ_SZ = 0xc8,
    LOG_MAX_CQ = 0xdb,
    LOG_MAX_MKEY = 0xea,
    TERMINATE_SCATTER_LIST = 0xf6,
    REPEATED_MKEY = 0xf7,
    DUMP_FILL_MKEY = 0xf8,
    LOG_MAX_BSF_LIST_SIZE = 0x112,
    UMR_EXTENDED_OFFSET = 0x118,
    LOG_MAX_KLM_LIST_SIZE = 0x11a,
    QPC_EXTENSION = 0x122,
    CAP_CRC64_XP10 = 0x147,
    CAP_CRC32C = 0x148,
    LOG_MAX_RA_REQ_QP = 0x14a,
    LOG_MAX_RA_RES_QP = 0x15a,
    NUM_PORTS = 0x1b8,
    PORT_TYPE = 0x1b6,
    LOG_MAX_MSG = 0x1c3,
    CAP_BLOCK_4048 = 0x1f0,
    CQE_VERSION = 0x1fc,
    DC_CONNECT_QP = 0x20d,
    DRAIN_SIGERR = 0x20f,
    SIGERR_CQE = 0x212,
    SHO = 0x217,
    DCT = 0x21a,
    ROCE = 0x21d,
    ATOMIC = 0x21e,
    CQ_OI = 0x220,
    UD = 0x23d,
    UC = 0x23e,
    RC = 0x23f,
    UAR_4K = 0x240,
    LOG_PG_SZ = 0x258,
    BF = 0x260,
    LOG_BF_REG_SIZE = 0x26b,
    MAX_WQE_SZ_SQ = 0x290,
    MAX_WQE_SZ_RQ = 0x2b0,
    MAX_WQE_SZ_SQ_DC = 0x2d0,
    LOG_MAX_PD = 0x32b,
    AES_XTS_SINGLE_LE = 0x3f1,
    AES_XTS_MULTI_BE = 0x3f2,
    GENERAL_OBJ_TYPES = 0x400,
    CRYPTO = 0x469,
    SIGERR_DOMAIN_AND_TYPE = 0x480,
    DEVICE_FREQUENCY_KHZ = 0x4e0,
    DMA_MMO_QP = 0x748,
};
enum { OBJECT_DEK = 0x0c, OBJECT_LOGIN = 0x1f, OBJECT_AV_QP_MAPPING = 0x3a };

static unsigned log_two(uint64_t value) {
    unsigned log = 0;

    while (value >>= 1) log++;
    return log;
}

static void signature(const struct personality *p, uint8_t *page) {
    if (!p->signatures) return;
    set(page, SHO, 1, 1);
    set(page, SIGERR_CQE, 1, 1);
    set(page, SIGERR_DOMAIN_AND_TYPE, 1, 1);
    set(page, DRAIN_SIGERR, 1, p->signature_pipelining);
    set(page, CAP_CRC32C, 1, !!(p->signatures & SIG_CRC32C));
    set(page, CAP_CRC64_XP10, 1, !!(p->signatures & SIG_CRC64_XP10));
    set(page, CAP_BLOCK_4048, 1, !!(p->block_sizes & 1u << BLOCK_4048));
}

static void crypto(const struct personality *p, uint8_t *page, uint64_t *objects) {
    if (p->crypto == CRYPTO_NONE) return;
    set(page, CRYPTO, 1, 1);
    set(page, AES_XTS_SINGLE_LE, 1, p->crypto_single_block);
    set(page, AES_XTS_MULTI_BE, 1, p->crypto_multi_block);
    *objects |= (uint64_t)1 << OBJECT_DEK;
    if (p->crypto == CRYPTO_WRAPPED) *objects |= (uint64_t)1 << OBJECT_LOGIN;
}

static void general(const struct personality *p, uint8_t *page) {
    static const struct {
        uint16_t bit, width;
        uint32_t value;
    } fixed[] = {
        {LOG_MAX_SRQ_SZ, 8, 15},
        {LOG_MAX_QP_SZ, 8, 15},
        {LOG_MAX_SRQ, 5, 23},
        {LOG_MAX_CQ_SZ, 8, 22},
        {LOG_MAX_CQ, 5, 24},
        {LOG_MAX_MKEY, 6, 24},
        {TERMINATE_SCATTER_LIST, 1, 1},
        {DUMP_FILL_MKEY, 1, 1},
        {UMR_EXTENDED_OFFSET, 1, 1},
        {LOG_MAX_BSF_LIST_SIZE, 6, 6},
        {LOG_MAX_RA_REQ_QP, 6, 4},
        {LOG_MAX_RA_RES_QP, 6, 4},
        {NUM_PORTS, 8, 1},
        {LOG_MAX_MSG, 5, 30},
        {CQE_VERSION, 4, 1},
        {ATOMIC, 1, 1},
        {CQ_OI, 1, 1},
        {UD, 1, 1},
        {UC, 1, 1},
        {RC, 1, 1},
        {UAR_4K, 1, 1},
        {LOG_PG_SZ, 8, 12},
        {BF, 1, 1},
        {LOG_BF_REG_SIZE, 5, 9},
        {MAX_WQE_SZ_SQ, 16, 1024},
        {MAX_WQE_SZ_RQ, 16, 512},
        {MAX_WQE_SZ_SQ_DC, 16, 1024},
        {LOG_MAX_PD, 5, 24},
        {DEVICE_FREQUENCY_KHZ, 32, 1000000},
    };
    uint64_t objects = 0;

    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
        set(page, fixed[i].bit, fixed[i].width, fixed[i].value);
    set(page, LOG_MAX_QP, 5, log_two(nic_max_qp()));
    set(page, LOG_MAX_KLM_LIST_SIZE, 6, log_two(p->max_mkey_entries));
    set(page, PORT_TYPE, 2, p->roce);
    set(page, ROCE, 1, p->roce);
    /* The extended QP context carries both DC streams and the right to copy memory. */
    set(page, QPC_EXTENSION, 1, p->memcpy_max || p->dc_log_streams);
    if (p->memcpy_max) {
        set(page, DMA_MMO_QP, 1, 1);
        set(page, LOG_DMA_MMO_MAX_SIZE, 5, log_two(p->memcpy_max));
    }
    set(page, WAIT_ON_DATA_CAP, 1, p->wait_on_data);
    if (p->transpose) {
        set(page, TRANSPOSE_MAX_ELEMENT_SIZE, 8, MOST_ELEMENT);
        set(page, TRANSPOSE_MAX_COLS, 8, MOST_COLUMNS);
        set(page, TRANSPOSE_MAX_ROWS, 8, MOST_ROWS);
        set(page, TRANSPOSE_MAX_SIZE, 16, MOST_MATRIX);
    }
    if (p->dc) {
        set(page, DCT, 1, 1);
        set(page, DC_CONNECT_QP, 1, 1);
        objects |= (uint64_t)1 << OBJECT_AV_QP_MAPPING;
    }
    signature(p, page);
    crypto(p, page, &objects);
    set(page, GENERAL_OBJ_TYPES, 64, objects);
}

/* Places in atomic_caps. */
static void atomics(uint8_t *page) {
    enum {
        OPERATIONS = 0x90,
        SIZE_QP = 0xb0,
        SIZE_DC = 0xd0,
        COMPARE_SWAP = 1,
        FETCH_ADD = 2,
        EIGHT_BYTES = 8
    };

    if (!personality()->atomics) return;
    set(page, OPERATIONS, 16, COMPARE_SWAP | FETCH_ADD);
    set(page, SIZE_QP, 16, EIGHT_BYTES);
    set(page, SIZE_DC, 16, EIGHT_BYTES);
}

/* Places in crypto_caps. */
static bool crypto_page(const struct personality *p, uint8_t *page) {
    enum {
        WRAPPED_OPERATIONAL = 0x00,
        WRAPPED_IMPORT_METHOD = 0x18,
        LOG_MAX_NUM_DEKS = 0x2b,
        IMPORT_AES_XTS = 4
    };

    if (p->crypto == CRYPTO_NONE) return false;
    if (p->crypto == CRYPTO_WRAPPED) {
        set(page, WRAPPED_OPERATIONAL, 1, 1);
        set(page, WRAPPED_IMPORT_METHOD, 8, IMPORT_AES_XTS);
    }
    set(page, LOG_MAX_NUM_DEKS, 5, p->log_max_deks);
    return true;
}

bool capability_page(uint16_t op_mod, uint8_t *page, size_t size) {
    enum { GENERAL = 0x00, ATOMICS = 0x03, CRYPTO_CAPS = 0x1a };
    /* Pages that devices of the time have and that tell of nothing which is here: Ethernet offloads
     * 1, ODP 2, RoCE 4, IPoIB 5 and 6, flow tables 7 and 8, e-switch 9, vectors 0xa, QoS 0xc, debug
     * 0xd, device memory 0xf, TLS 0x11, virtio 0x13, device events 0x14, MACsec 0x1f, general
     * device 2 0x20, port selection 0x21, virtualization 0x26. */
    static const uint64_t nothing = 0x1f6ull << 0 | 1 << 0x9 | 1 << 0xa | 1 << 0xc | 1 << 0xd |
                                    1 << 0xf | 1 << 0x11 | 1 << 0x13 | 1 << 0x14 | 1ull << 0x1f |
                                    1ull << 0x20 | 1ull << 0x21 | 1ull << 0x26;

    memset(page, 0, size);
    /* Bit 0 asks for what is in force rather than for what could be; there is no difference here.
     */
    switch (op_mod >> 1) {
    case GENERAL: general(personality(), page); return true;
    case ATOMICS: atomics(page); return true;
    case CRYPTO_CAPS: return crypto_page(personality(), page);
    }
    return op_mod >> 1 < 64 && (nothing >> (op_mod >> 1) & 1);
}
