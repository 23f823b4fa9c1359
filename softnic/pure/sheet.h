/* One record, as aligned text or as one line of JSON, from one walk over its fields: both always
 * tell the same.
 *
 *   sheet_begin; sheet_head("wqe"); fields …; sheet_group("umr"); fields …; sheet_list("klm");
 * sheet_item(); fields …; sheet_end
 *
 * Text: the head's fields on one line, each group and each item on a line of its own. JSON: groups
 * are objects, lists arrays of objects. Names and words are plain ASCII without quotes; nothing is
 * escaped.
 */
#ifndef SOFTNIC_PURE_SHEET_H
#define SOFTNIC_PURE_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sheet {
    char *out;
    size_t room, used; /* used may exceed room: what the record would need */
    bool json;
    bool first; /* no field in this object yet */
    enum { SHEET_HEAD, SHEET_GROUP, SHEET_LIST, SHEET_ITEM } place;
    const char *list;
    unsigned item;
};

void sheet_begin(struct sheet *sheet, char *out, size_t room, bool json);
void sheet_head(struct sheet *sheet, const char *record);
void sheet_group(struct sheet *sheet, const char *name);
void sheet_list(struct sheet *sheet, const char *name);
void sheet_item(struct sheet *sheet);
/* Ends the record and its line. Returns what it needs without the final 0, as snprintf does; more
 * than `room` holds: it is cut off. */
size_t sheet_end(struct sheet *sheet);

void sheet_number(struct sheet *sheet, const char *name, uint64_t value);
/* JSON: a string, "0x…" */
void sheet_hex(struct sheet *sheet, const char *name, uint64_t value, unsigned digits);
void sheet_text(struct sheet *sheet, const char *name, const char *value);
/* text: only its name, and only if set */
void sheet_flag(struct sheet *sheet, const char *name, bool value);
/* text: cut after 32 */
void sheet_bytes(struct sheet *sheet, const char *name, const uint8_t *bytes, size_t length);
/* Bits by their names, joined by | in text; those without a name as their numbers. */
void sheet_bits(struct sheet *sheet, const char *name, uint64_t value,
                const char *(*bit_name)(unsigned bit));

#endif
