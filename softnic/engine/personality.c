#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "personality.h"

enum {
    ALL_BLOCKS = 1 << BLOCK_512 | 1 << BLOCK_520 | 1 << BLOCK_4096 | 1 << BLOCK_4160 |
        1 << BLOCK_4048,
    ALL_SIGNATURES = SIG_T10DIF | SIG_CRC32 | SIG_CRC32C | SIG_CRC64_XP10,
};

/* The import key of the wrapped ones is RFC 3394's 128-bit example. */
#define KEK \
    {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f}
#define CREDENTIAL \
    {0xc0, 0xc7, 0xce, 0xd5, 0xdc, 0xe3, 0xea, 0xf1, 0xf8, 0xff, 0x06, 0x0d, 0x14, 0x1b, \
     0x22, 0x29, 0x30, 0x37, 0x3e, 0x45, 0x4c, 0x53, 0x5a, 0x61, 0x68, 0x6f, 0x76, 0x7d, \
     0x84, 0x8b, 0x92, 0x99, 0xa0, 0xa7, 0xae, 0xb5, 0xbc, 0xc3, 0xca, 0xd1}
#define COMMON \
    .signature_pipelining = true, .dc = true, .clock_page = true, .trap = true, .kek = KEK, \
    .kek_length = 16, .kek_id = 0x0e, .credential = CREDENTIAL, .credential_id = 0x0a57
#define USUAL \
    COMMON, .max_mkey_entries = 1 << 16, .log_max_deks = 10, .atomics = true, .umr_atomic = true, \
        .ports = 1, .mtu = 5, .max_qp_wr = 1 << 15, .max_sge = 30, .max_msg_sz = 1 << 30
/* What ConnectX-7 brought for queues that work with one another (UCC's tl/mlx5 asks for it by the
 * part number). */
#define LINKED .wait_on_data = true, .transpose = true
#define LATEST USUAL, .block_sizes = ALL_BLOCKS, .signatures = ALL_SIGNATURES

static const struct personality known[] = {
    {.name = "connectx7",
     .vendor_part_id = 0x1021,
     .fw_ver = "28.40.1000",
     .board_id = "MKS_SOFT_CX7",
     LATEST,
     .crypto = CRYPTO_PLAINTEXT,
     .crypto_single_block = true,
     .crypto_multi_block = true,
     .memcpy_max = 1 << 24,
     LINKED,
     .dc_log_streams = 4,
     .dc_log_errored = 4},
    {.name = "connectx6dx",
     .vendor_part_id = 0x101d,
     .fw_ver = "22.40.1000",
     .board_id = "MKS_SOFT_CX6DX",
     LATEST,
     .crypto = CRYPTO_WRAPPED,
     .crypto_single_block = true,
     .dc_log_streams = 4,
     .dc_log_errored = 4},
    /* No CRC32C, no CRC64 (hardware rule 17). */
    {.name = "connectx5",
     .vendor_part_id = 0x1017,
     .fw_ver = "16.35.4030",
     .board_id = "MKS_SOFT_CX5",
     USUAL,
     .signatures = SIG_T10DIF | SIG_CRC32,
     .block_sizes = ALL_BLOCKS & ~(1 << BLOCK_4048)},
    {.name = "bluefield3-plaintext",
     .vendor_part_id = 0xa2dc,
     .fw_ver = "32.40.1000",
     .board_id = "MKS_SOFT_BF3",
     LATEST,
     .crypto = CRYPTO_PLAINTEXT,
     .crypto_single_block = true,
     .crypto_multi_block = true,
     .memcpy_max = 1 << 24,
     LINKED,
     .dc_log_streams = 4,
     .dc_log_errored = 4},
    {.name = "bluefield3-wrapped",
     .vendor_part_id = 0xa2dc,
     .fw_ver = "32.40.1000",
     .board_id = "MKS_SOFT_BF3",
     LATEST,
     .crypto = CRYPTO_WRAPPED,
     .crypto_single_block = true,
     .crypto_multi_block = true,
     .memcpy_max = 1 << 24,
     LINKED,
     .dc_log_streams = 4,
     .dc_log_errored = 4},
    /* As little and as late as the standards allow; no device is like this. */
    {.name = "unkind",
     .vendor_part_id = 0x1021,
     .fw_ver = "28.40.1000",
     .board_id = "MKS_SOFT_UNKIND",
     COMMON,
     .block_sizes = ALL_BLOCKS,
     .signatures = ALL_SIGNATURES,
     .crypto = CRYPTO_PLAINTEXT,
     .crypto_single_block = true,
     .log_max_deks = 4,
     .memcpy_max = 1 << 12,
     LINKED,
     .dc_log_streams = 1,
     .dc_log_errored = 1,
     .roce = true,
     .max_mkey_entries = 1 << 10,
     .ports = 2,
     .down = 1,
     .mtu = 1,
     .max_qp_wr = 1 << 12,
     .max_sge = 16,
     .max_msg_sz = 1 << 24,
     .late_us = 400,
     .recycle = true},
    {.name = "unkind-full",
     .vendor_part_id = 0x1021,
     .fw_ver = "28.40.1000",
     .board_id = "MKS_SOFT_UNKIND_FULL",
     COMMON,
     .block_sizes = ALL_BLOCKS,
     .signatures = ALL_SIGNATURES,
     .crypto = CRYPTO_PLAINTEXT,
     .crypto_single_block = true,
     .crypto_multi_block = true,
     .log_max_deks = 4,
     .memcpy_max = 1 << 24,
     LINKED,
     .dc_log_streams = 4,
     .dc_log_errored = 4,
     .roce = true,
     .max_mkey_entries = 1 << 16,
     .atomics = true,
     .umr_atomic = true,
     .ports = 2,
     .down = 1,
     .mtu = 1,
     .max_qp_wr = 1 << 12,
     .max_sge = 16,
     .max_msg_sz = 1 << 30,
     .late_us = 400,
     .recycle = true},
};

static struct personality current;
static enum { UNREAD, FINE, WRONG } state;

struct word {
    const char *name;
    uint32_t bits;
};
static const struct word signature_words[] = {{"t10dif", SIG_T10DIF},
                                              {"crc32", SIG_CRC32},
                                              {"crc32c", SIG_CRC32C},
                                              {"crc64_xp10", SIG_CRC64_XP10},
                                              {NULL, 0}};
static const struct word block_words[] = {
    {"512", 1 << BLOCK_512},   {"520", 1 << BLOCK_520},   {"4048", 1 << BLOCK_4048},
    {"4096", 1 << BLOCK_4096}, {"4160", 1 << BLOCK_4160}, {NULL, 0},
};
static const struct word crypto_words[] = {
    {"none", CRYPTO_NONE}, {"plaintext", CRYPTO_PLAINTEXT}, {"wrapped", CRYPTO_WRAPPED}, {NULL, 0}};
static const struct word mtu_words[] = {{"256", 1},  {"512", 2},  {"1024", 3},
                                        {"2048", 4}, {"4096", 5}, {NULL, 0}};

static bool words(const char *text, const struct word *table, bool many, uint32_t *out) {
    uint32_t bits = 0;
    while (*text) {
        size_t len = strcspn(text, "+");
        const struct word *word = table;
        while (word->name && (strlen(word->name) != len || memcmp(word->name, text, len))) word++;
        if (!word->name) return false;
        bits |= word->bits;
        text += len;
        if (*text && (!many || !*++text)) return false;
    }
    *out = bits;
    return true;
}

static bool number(const char *text, uint64_t most, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && !*end && !errno && *out <= most;
}

static bool hex(const char *text, uint8_t *out) {
    size_t len = strlen(text);
    if (strspn(text, "0123456789abcdefABCDEF") != len) return false;
    for (size_t i = 0; i < len / 2; i++) {
        char pair[3] = {text[2 * i], text[2 * i + 1], 0};
        out[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return true;
}

static bool hex_key(const char *text, struct personality *p) {
    size_t len = strlen(text);
    p->kek_length = (uint8_t)(len / 2);
    return (len == 32 || len == 64) && hex(text, p->kek);
}

static bool pick(const char *name) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name)) {
            current = known[i];
            return true;
        }
    return false;
}

static bool text_into(char *to, size_t room, const char *text) {
    return (size_t)snprintf(to, room, "%s", text) < room;
}

static bool set(const char *key, const char *value) {
    static const struct {
        const char *key;
        size_t at;
    } flags[] = {
        {"signature_pipelining", offsetof(struct personality, signature_pipelining)},
        {"crypto_single_block", offsetof(struct personality, crypto_single_block)},
        {"crypto_multi_block", offsetof(struct personality, crypto_multi_block)},
        {"dc", offsetof(struct personality, dc)},
        {"roce", offsetof(struct personality, roce)},
        {"clock_page", offsetof(struct personality, clock_page)},
        {"trap", offsetof(struct personality, trap)},
        {"wait_on_data", offsetof(struct personality, wait_on_data)},
        {"transpose", offsetof(struct personality, transpose)},
        {"atomics", offsetof(struct personality, atomics)},
        {"umr_atomic", offsetof(struct personality, umr_atomic)},
        {"recycle", offsetof(struct personality, recycle)},
    };
    uint64_t n;
    uint32_t bits;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!strcmp(key, flags[i].key))
            return number(value, 1, &n) && (*(bool *)((char *)&current + flags[i].at) = n, true);
    if (!strcmp(key, "name")) return pick(value);
    if (!strcmp(key, "fw_ver")) return text_into(current.fw_ver, sizeof current.fw_ver, value);
    if (!strcmp(key, "board_id"))
        return text_into(current.board_id, sizeof current.board_id, value);
    if (!strcmp(key, "signatures")) return words(value, signature_words, true, &current.signatures);
    if (!strcmp(key, "block_sizes")) return words(value, block_words, true, &current.block_sizes);
    if (!strcmp(key, "crypto"))
        return words(value, crypto_words, false, &bits) && (current.crypto = bits, true);
    if (!strcmp(key, "kek")) return hex_key(value, &current);
    if (!strcmp(key, "kek_id"))
        return number(value, 0xffffff, &n) && (current.kek_id = (uint32_t)n, true);
    if (!strcmp(key, "credential"))
        return strlen(value) == 2 * sizeof current.credential && hex(value, current.credential);
    if (!strcmp(key, "credential_id"))
        return number(value, 0xffffff, &n) && (current.credential_id = (uint32_t)n, true);
    if (!strcmp(key, "vendor_part_id"))
        return number(value, 0xffff, &n) && (current.vendor_part_id = (uint16_t)n, true);
    if (!strcmp(key, "log_max_deks"))
        return number(value, 24, &n) && (current.log_max_deks = (uint8_t)n, true);
    if (!strcmp(key, "memcpy_max"))
        return number(value, 1ull << 31, &n) && !(n & (n - 1)) && (current.memcpy_max = n, true);
    if (!strcmp(key, "dc_log_streams"))
        return number(value, 6, &n) && (current.dc_log_streams = (uint8_t)n, true);
    if (!strcmp(key, "dc_log_errored"))
        return number(value, 6, &n) && (current.dc_log_errored = (uint8_t)n, true);
    if (!strcmp(key, "ports"))
        return number(value, 2, &n) && n && (current.ports = (uint8_t)n, true);
    if (!strcmp(key, "down")) return number(value, 2, &n) && (current.down = (uint8_t)n, true);
    if (!strcmp(key, "mtu"))
        return words(value, mtu_words, false, &bits) && (current.mtu = (uint8_t)bits, true);
    if (!strcmp(key, "max_qp_wr"))
        return number(value, 1 << 15, &n) && n && (current.max_qp_wr = (uint32_t)n, true);
    if (!strcmp(key, "max_sge"))
        return number(value, 30, &n) && n && (current.max_sge = (uint32_t)n, true);
    if (!strcmp(key, "max_msg_sz"))
        return number(value, 1 << 30, &n) && n && (current.max_msg_sz = (uint32_t)n, true);
    if (!strcmp(key, "late_us"))
        return number(value, 100000, &n) && (current.late_us = (uint32_t)n, true);
    if (!strcmp(key, "max_mkey_entries"))
        return number(value, 1 << 20, &n) && (current.max_mkey_entries = (uint32_t)n, true);
    return false;
}

static bool complain(const char *item) {
    fprintf(stderr,
            "mkeyspec softnic: MKEYSPEC_SOFTNIC_PERSONALITY: `%s` is not understood; names are",
            item);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        fprintf(stderr, "%s %s", i ? "," : "", known[i].name);
    fprintf(stderr, "\n");
    return false;
}

static bool read_list(const char *list) {
    char copy[2048], *rest = copy, *item;
    if (!text_into(copy, sizeof copy, list)) return complain("(too long)");
    while ((item = strsep(&rest, ";"))) {
        char shown[200];
        if (!*item) continue;
        text_into(shown, sizeof shown, item);
        char *value = strchr(item, '=');
        if (value) *value++ = 0;
        if (!(value ? set(item, value) : pick(item))) return complain(shown);
    }
    return true;
}

const struct personality *personality(void) {
    if (state == UNREAD) {
        const char *list = getenv("MKEYSPEC_SOFTNIC_PERSONALITY");
        current = known[0];
        state = !list || read_list(list) ? FINE : WRONG;
    }
    return state == FINE ? &current : NULL;
}

bool personality_port(unsigned port) {
    const struct personality *can = personality();
    return can && port >= 1 && port <= can->ports;
}

bool personality_gid(unsigned index, uint8_t gid[16]) {
    static const uint8_t guid[8] = {0x0c, 0x42, 0xa1, 0x03, 0x00, 0x01, 0x00, 0x01},
                         host[8] = {0x0e, 0x42, 0xa1, 0xff, 0xfe, 0x01, 0x00, 0x01};
    static const uint8_t mapped[16] = {[10] = 0xff, 0xff, 192, 0, 2, 1};
    const struct personality *can = personality();
    memset(gid, 0, 16);
    if (!can || index >= (can->roce ? 4u : 1u)) return false;
    if (can->roce && index >= 2) {
        memcpy(gid, mapped, 16);
        return true;
    }
    gid[0] = 0xfe, gid[1] = 0x80;
    memcpy(gid + 8, can->roce ? host : guid, 8);
    return true;
}
