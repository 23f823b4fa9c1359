/* The translation of an mkey: a list, or a repeat block with strided entries. Decoded from what CREATE_MKEY or a UMR brings. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "pure/defect.h"
#include "pure/umr.h"

enum { OCTOWORD = 16 };

/* Entries that are not what they were given as. */
static void list_bend(struct change *change) {
    struct klm *klm = change->klm, swap;
    uint32_t n = change->klms;
    if (n < 2) return;
    if (defect(list_last_entry_dropped)) klm[n - 2].length += klm[n - 1].length, change->klms--;
    if (defect(list_first_entries_swapped)) swap = klm[0], klm[0] = klm[1], klm[1] = swap;
    if (defect(list_reversed))
        for (uint32_t i = 0; i < n / 2; i++) swap = klm[i], klm[i] = klm[n - 1 - i], klm[n - 1 - i] = swap;
    for (uint32_t i = 1; i < n; i++) {
        if (defect(list_first_entry_only)) klm[0].length += klm[i].length, change->klms = 1;
        if (defect(list_entry_byte_late)) klm[i].addr++;
        if (defect(list_four_entries) && i > 3) klm[i].addr = klm[3].addr, klm[i].key = klm[3].key;
        if (defect(list_lkey_of_first)) klm[i].key = klm[0].key;
    }
}

static void strided_bend(struct change *change) {
    struct stride *all = change->stride, first, *last = all + change->strides - 1;
    if (!change->strides) return;
    for (struct stride *it = all; it <= last; it++) {
        uint16_t skip = it->stride - it->length;
        if (defect(interleaved_skip_first)) it->addr += skip;
        if (defect(interleaved_skip_ignored)) it->stride = it->length;
        if (defect(interleaved_skip_is_stride)) it->stride = skip;
        if (defect(interleaved_stride_long)) it->stride++;
        if (defect(interleaved_stride_shared)) it->stride = all->stride;
        if (defect(interleaved_count_shared)) it->length = all->length;
        if (defect(interleaved_lkey_of_first)) it->key = all->key;
    }
    if (last == all) return;
    first = *all;
    if (defect(interleaved_swapped)) all[0] = all[1], all[1] = first;
    if (defect(interleaved_last_dropped)) last->addr = first.addr, last->key = first.key, last->stride = first.stride;
}

static bool take_list(const struct key *key, const struct translation *translation, struct change *change) {
    if (translation->entries > key->max_entries) return false;
    change->layout = LAYOUT_LIST;
    change->klms = translation->entries;
    if (!(change->klm = malloc((translation->entries + 1) * sizeof *change->klm))) return false;
    for (unsigned i = 0; i < translation->entries; i++) {
        struct translation_entry entry = translation_at(translation, i);
        change->klm[i] = (struct klm){entry.length, entry.key, entry.addr};
    }
    if (key->type == KEY_MKEY) list_bend(change);
    return true;
}

/* The repeat block's header takes the room of one entry. */
static bool take_strided(const struct key *key, const struct translation *translation, struct change *change) {
    uint32_t sum = 0;
    if (translation->entries + 1 > key->max_entries) return false;
    change->layout = LAYOUT_STRIDED;
    change->strides = translation->entries, change->repeat = translation->repeat;
    if (!(change->stride = malloc((translation->entries + 1) * sizeof *change->stride))) return false;
    for (unsigned i = 0; i < translation->entries; i++) {
        struct translation_entry entry = translation_at(translation, i);
        change->stride[i] = (struct stride){entry.stride, (uint16_t)entry.length, entry.key, entry.addr};
    }
    strided_bend(change);
    for (unsigned i = 0; i < translation->entries; i++) sum += change->stride[i].length;
    /* The driver cuts counts to 16 bits but not their sum (catalogue X-DIFF): what the entries hold is what there is. */
    change->bytes_per_repeat = sum;
    return true;
}

static bool decode(const struct key *key, const uint8_t *bytes, size_t len, struct change *change) {
    struct translation translation;
    if (!translation_decode(bytes, len, &translation)) return false;
    if (translation.strided && key->log_entity_size) return false;
    change->new_layout = true;
    return translation.strided ? take_strided(key, &translation, change) : take_list(key, &translation, change);
}

/* The key's translation as the device holds it: entries of 16 bytes, a repeat block's header among them. */
static void encode_layout(const struct key *key, uint8_t *to) {
    if (key->layout == LAYOUT_LIST)
        for (uint32_t i = 0; i < key->klms; i++, to += OCTOWORD)
            translation_encode_klm(key->klm[i].length, key->klm[i].key, key->klm[i].addr, to);
    if (key->layout != LAYOUT_STRIDED) return;
    translation_encode_repeat(key->bytes_per_repeat, key->repeat, (uint16_t)key->strides, to);
    for (uint32_t i = 0; i < key->strides; i++)
        translation_encode_stride(key->stride[i].stride, key->stride[i].length, key->stride[i].key, key->stride[i].addr, to += OCTOWORD);
}

/* A UMR with a translation offset writes its entries there; what is in front and after them stays. */
bool layout_change(const struct key *key, bool at_offset, uint64_t offset, const uint8_t *bytes, size_t len, struct change *change) {
    if (!at_offset) return decode(key, bytes, len, change);
    uint64_t room = key->max_entries, held = key->layout == LAYOUT_LIST ? key->klms : key->layout == LAYOUT_STRIDED ? key->strides + 1u : 0;
    uint64_t end = offset + len / OCTOWORD;
    if (offset > room || end > room) return false;
    if (held < end) held = end;
    uint8_t *table = calloc(held, OCTOWORD);
    if (!table) return false;
    encode_layout(key, table);
    memcpy(table + offset * OCTOWORD, bytes, len);
    bool fine = decode(key, table, held * OCTOWORD, change);
    free(table);
    return fine;
}

static bool layout_stays(const struct key *key, const struct change *change) {
    if (key->type != KEY_MKEY || key->layout == LAYOUT_NONE) return false;
    if (defect(list_after_interleaved_kept)) return key->layout == LAYOUT_STRIDED && change->layout == LAYOUT_LIST;
    if (defect(interleaved_after_list_kept)) return key->layout == LAYOUT_LIST && change->layout == LAYOUT_STRIDED;
    return defect(layout_kept);
}

void layout_apply(struct key *key, struct change *change) {
    if (layout_stays(key, change)) return;
    free(key->klm);
    free(key->stride);
    key->layout = change->layout;
    key->klm = change->klm, key->klms = change->klms;
    key->stride = change->stride, key->strides = change->strides;
    key->repeat = change->repeat, key->bytes_per_repeat = change->bytes_per_repeat;
    change->klm = NULL, change->stride = NULL;
    if (defect(not_zero_based) && key->type == KEY_MKEY) key->start = key->klms ? key->klm->addr : key->strides ? key->stride->addr : 0;
}
