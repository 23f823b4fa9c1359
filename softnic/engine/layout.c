/* The translation of an mkey: a list, or a repeat block with strided entries. Decoded from what
 * CREATE_MKEY or a UMR brings. */
#include <stdlib.h>
#include <string.h>

#include "pure/rule.h"
#include "pure/umr.h"
#include "rules.h"

enum { OCTOWORD = 16 };

static bool take_list(const struct key *key, const struct translation *translation,
                      struct change *change) {
    if (translation->entries > key->max_entries) return false;
    change->layout = LAYOUT_LIST;
    change->klms = translation->entries;
    if (!(change->klm = malloc((translation->entries + 1) * sizeof *change->klm))) return false;
    for (unsigned i = 0; i < translation->entries; i++) {
        struct translation_entry entry = translation_at(translation, i);
        change->klm[i] = (struct klm){entry.length, entry.key, entry.addr};
    }
    return true;
}

/* The repeat block's header takes the room of one entry. */
static bool take_strided(const struct key *key, const struct translation *translation,
                         struct change *change) {
    uint32_t sum = 0;
    if (translation->entries + 1 > key->max_entries) return false;
    change->layout = LAYOUT_STRIDED;
    change->strides = translation->entries, change->repeat = translation->repeat;
    if (!(change->stride = malloc((translation->entries + 1) * sizeof *change->stride)))
        return false;
    for (unsigned i = 0; i < translation->entries; i++) {
        struct translation_entry entry = translation_at(translation, i);
        change->stride[i] =
            (struct stride){entry.stride, (uint16_t)entry.length, entry.key, entry.addr};
        sum += change->stride[i].length;
    }
    /* The driver cuts counts to 16 bits but not their sum (X-DIFF-07): what the entries hold is
     * what there is. */
    change->bytes_per_repeat = sum;
    return true;
}

bool layout_decode(const struct key *key, const uint8_t *bytes, size_t len, struct change *change) {
    struct translation translation;
    if (!translation_decode(bytes, len, &translation)) return false;
    if (translation.strided && key->log_entity_size) return false;
    change->new_layout = true;
    return translation.strided ? take_strided(key, &translation, change)
                               : take_list(key, &translation, change);
}

/* The key's translation as the device holds it: entries of 16 bytes, a repeat block's header among
 * them. */
static void encode_layout(const struct key *key, uint8_t *to) {
    if (key->layout == LAYOUT_LIST)
        for (uint32_t i = 0; i < key->klms; i++, to += OCTOWORD)
            translation_encode_klm(key->klm[i].length, key->klm[i].key, key->klm[i].addr, to);
    if (key->layout != LAYOUT_STRIDED) return;
    translation_encode_repeat(key->bytes_per_repeat, key->repeat, (uint16_t)key->strides, to);
    for (uint32_t i = 0; i < key->strides; i++)
        translation_encode_stride(key->stride[i].stride, key->stride[i].length, key->stride[i].key,
                                  key->stride[i].addr, to += OCTOWORD);
}

/* A UMR with a translation offset writes its entries there; what is in front and after them stays.
 */
bool layout_change(const struct key *key, bool at_offset, uint64_t offset, const uint8_t *bytes,
                   size_t len, struct change *change) {
    if (!at_offset) return layout_decode(key, bytes, len, change);
    uint64_t room = key->max_entries, held = key->layout == LAYOUT_LIST      ? key->klms
                                             : key->layout == LAYOUT_STRIDED ? key->strides + 1u
                                                                             : 0;
    uint64_t end = offset + len / OCTOWORD;
    if (offset > room || end > room) return false;
    if (held < end) held = end;
    uint8_t *table = calloc(held, OCTOWORD);
    if (!table) return false;
    encode_layout(key, table);
    memcpy(table + offset * OCTOWORD, bytes, len);
    bool fine = layout_decode(key, table, held * OCTOWORD, change);
    free(table);
    return fine;
}

void RULE(layout_apply)(struct key *key, struct change *change) {
    free(key->klm);
    free(key->stride);
    key->layout = change->layout;
    key->klm = change->klm, key->klms = change->klms;
    key->stride = change->stride, key->strides = change->strides;
    key->repeat = change->repeat, key->bytes_per_repeat = change->bytes_per_repeat;
    change->klm = NULL, change->stride = NULL;
}
