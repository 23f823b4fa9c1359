/* What this NIC can do: read once from MKEYSPEC_SOFTNIC_PERSONALITY, a list `key=value;…` whose
 * `name=` (first) picks the defaults; a list without `=` is a name alone; nothing at all is
 * connectx7. The capability bits that the shim answers and what the engine executes both follow
 * from this one struct. Keys: its members' names; sets are joined with `+`. */
#ifndef SOFTNIC_PERSONALITY_H
#define SOFTNIC_PERSONALITY_H

#include <stdbool.h>
#include <stdint.h>

enum crypto_mode { CRYPTO_NONE, CRYPTO_PLAINTEXT, CRYPTO_WRAPPED };
/* BSF block selectors; bit 1 << selector below */
enum { BLOCK_512 = 1, BLOCK_520 = 2, BLOCK_4096 = 3, BLOCK_4160 = 4, BLOCK_4048 = 6 };
enum { SIG_T10DIF = 1, SIG_CRC32 = 2, SIG_CRC32C = 4, SIG_CRC64_XP10 = 8 };

struct personality {
    char name[32];
    uint16_t vendor_part_id; /* PCI device id, also in modalias */
    char fw_ver[32], board_id[32];
    uint32_t signatures;  /* SIG_* bits (t10dif+crc32+crc32c+crc64_xp10); 0: no signature offload */
    uint32_t block_sizes; /* 1 << BLOCK_* (512+520+4048+4096+4160) */
    bool signature_pipelining;                    /* drain_sigerr */
    enum crypto_mode crypto;                      /* none, plaintext, wrapped */
    bool crypto_single_block, crypto_multi_block; /* LE tweak cap, BE tweak cap */
    uint8_t log_max_deks;
    /* wrapped: the import key, in hex. Known to everybody, as nothing here is secret */
    uint8_t kek[32], kek_length;
    uint32_t kek_id;
    /* of the crypto officer who logs in */
    uint8_t credential[40];
    uint32_t credential_id;
    bool wait_on_data, transpose; /* WAIT on data, LOCAL_MMO */
    uint64_t memcpy_max;          /* bytes of one DMA WQE, a power of two; 0: no MMO */
    bool dc;
    uint8_t dc_log_streams, dc_log_errored; /* 0, 0: DC without streams; at most 6 */
    bool roce;                              /* Ethernet link layer with GIDs; else InfiniBand */
    bool clock_page;
    uint32_t max_mkey_entries;
    bool atomics, umr_atomic; /* there are some; a UMR may set that access right */
    uint8_t ports, down;      /* 1 or 2; the one of them that is down, or 0 */
    uint8_t mtu;              /* enum ibv_mtu, in its list by bytes: 256 … 4096 */
    uint32_t max_qp_wr, max_sge, max_msg_sz;
    uint32_t late_us; /* CQEs are up to so late */
    bool recycle;     /* a freed number is given again at once */
    bool trap;        /* false: poll although userfaultfd would work (tests) */
};

/* NULL, and once a line on stderr, if the environment names an unknown personality or key; creating
 * a context fails with EINVAL then. */
const struct personality *personality(void);
bool personality_port(unsigned number); /* there is such a port */
/* The port's GID of this index; false and zeros if there is none. InfiniBand has one, from the
 * node's GUID. RoCE has v1 (even) and v2 (odd indexes) of the link-local address and of 192.0.2.1.
 */
bool personality_gid(unsigned index, uint8_t gid[16]);

#endif
