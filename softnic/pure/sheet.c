#include "pure/sheet.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 20, TEXT_BYTES = 32 };

__attribute__((format(printf, 2, 3))) static void put(struct sheet *sheet, const char *format,
                                                      ...) {
    va_list arguments;
    size_t room = sheet->used < sheet->room ? sheet->room - sheet->used : 0;
    va_start(arguments, format);
    int length = vsnprintf(room ? sheet->out + sheet->used : NULL, room, format, arguments);
    va_end(arguments);
    if (length > 0) sheet->used += (size_t)length;
}

void sheet_begin(struct sheet *sheet, char *out, size_t room, bool json) {
    memset(sheet, 0, sizeof *sheet);
    sheet->out = out;
    sheet->room = room;
    sheet->json = json;
}

void sheet_head(struct sheet *sheet, const char *record) {
    put(sheet, sheet->json ? "{\"record\":\"%s\"" : "%s", record);
    sheet->place = SHEET_HEAD;
}

static void leave(struct sheet *sheet) {
    if (!sheet->json) return;
    switch (sheet->place) {
    case SHEET_HEAD: return;
    case SHEET_GROUP: put(sheet, "}"); return;
    case SHEET_LIST: put(sheet, "]"); return;
    case SHEET_ITEM: put(sheet, "}]"); return;
    }
}

void sheet_group(struct sheet *sheet, const char *name) {
    leave(sheet);
    if (sheet->json) put(sheet, ",\"%s\":{", name);
    else put(sheet, "\n    %-*s", LABEL - 2, name);
    sheet->place = SHEET_GROUP;
    sheet->first = true;
}

void sheet_list(struct sheet *sheet, const char *name) {
    leave(sheet);
    if (sheet->json) put(sheet, ",\"%s\":[", name);
    sheet->list = name;
    sheet->item = 0;
    sheet->place = SHEET_LIST;
}

void sheet_item(struct sheet *sheet) {
    if (sheet->json) {
        put(sheet, sheet->item ? "},{" : "{");
    } else {
        char label[32];
        snprintf(label, sizeof label, "%s[%u]", sheet->list, sheet->item);
        put(sheet, "\n    %-*s", LABEL - 2, label);
    }
    sheet->item++;
    sheet->place = SHEET_ITEM;
    sheet->first = true;
}

size_t sheet_end(struct sheet *sheet) {
    leave(sheet);
    put(sheet, sheet->json ? "}\n" : "\n");
    return sheet->used;
}

static void name_put(struct sheet *sheet, const char *name) {
    if (sheet->json)
        put(sheet, "%s\"%s\":", sheet->place != SHEET_HEAD && sheet->first ? "" : ",", name);
    else put(sheet, "  %s ", name);
    sheet->first = false;
}

void sheet_number(struct sheet *sheet, const char *name, uint64_t value) {
    name_put(sheet, name);
    put(sheet, "%" PRIu64, value);
}

void sheet_hex(struct sheet *sheet, const char *name, uint64_t value, unsigned digits) {
    name_put(sheet, name);
    put(sheet, sheet->json ? "\"0x%0*" PRIx64 "\"" : "0x%0*" PRIx64, (int)digits, value);
}

void sheet_text(struct sheet *sheet, const char *name, const char *value) {
    name_put(sheet, name);
    put(sheet, sheet->json ? "\"%s\"" : "%s", value);
}

void sheet_flag(struct sheet *sheet, const char *name, bool value) {
    if (sheet->json) {
        name_put(sheet, name);
        put(sheet, value ? "true" : "false");
    } else if (value) {
        put(sheet, "  %s", name);
    }
}

void sheet_bytes(struct sheet *sheet, const char *name, const uint8_t *bytes, size_t length) {
    size_t shown = sheet->json || length < TEXT_BYTES ? length : TEXT_BYTES;
    name_put(sheet, name);
    put(sheet, sheet->json ? "\"" : "");
    for (size_t i = 0; i < shown; i++) put(sheet, "%02x", bytes[i]);
    put(sheet, sheet->json ? "\"" : shown < length ? "..." : length ? "" : "-");
}

void sheet_bits(struct sheet *sheet, const char *name, uint64_t value,
                const char *(*bit_name)(unsigned bit)) {
    const char *between = "";
    name_put(sheet, name);
    put(sheet, sheet->json ? "[" : value ? "" : "-");
    for (unsigned bit = 0; bit < 64; bit++) {
        if (!(value >> bit & 1)) continue;
        const char *word = bit_name(bit), *quote = sheet->json ? "\"" : "";
        if (word) put(sheet, "%s%s%s%s", between, quote, word, quote);
        else put(sheet, "%s%sbit_%u%s", between, quote, bit, quote);
        between = sheet->json ? "," : "|";
    }
    put(sheet, sheet->json ? "]" : "");
}
