/* Buffers for messages, kept for the next one: fresh memory would be brought in page by page each
 * time. */
#include <stdlib.h>

#include "engine.h"

struct buffer {
    size_t room;
    struct buffer *next;
    uint8_t bytes[];
};
enum { LEAST = 4096, KEPT = 4 };
#define LARGEST ((size_t)16 << 20) /* larger ones are given back */
static struct buffer *kept;
static unsigned count;

uint8_t *bytes_new(size_t length) {
    for (struct buffer **at = &kept; *at; at = &(*at)->next) {
        struct buffer *found = *at;
        if (found->room < length || found->room / 4 > length + LEAST) continue;
        *at = found->next, count--;
        return found->bytes;
    }
    size_t room = length < LEAST ? LEAST : length;
    struct buffer *made = malloc(sizeof *made + room);
    if (!made) return NULL;
    made->room = room;
    return made->bytes;
}

static struct buffer *buffer_of(uint8_t *bytes) {
    return (struct buffer *)(void *)(bytes - offsetof(struct buffer, bytes));
}

uint8_t *bytes_more(uint8_t *bytes, size_t length) {
    if (!bytes) return bytes_new(length);
    struct buffer *buffer = buffer_of(bytes);
    if (buffer->room >= length) return bytes;
    struct buffer *more = realloc(buffer, sizeof *more + length);
    if (!more) return NULL;
    more->room = length;
    return more->bytes;
}

void bytes_free(uint8_t *bytes) {
    if (!bytes) return;
    struct buffer *buffer = buffer_of(bytes);
    if (buffer->room > LARGEST) {
        free(buffer);
        return;
    }
    buffer->next = kept, kept = buffer;
    if (++count <= KEPT) return;
    struct buffer **last = &kept; /* the one that was not used for longest */
    while ((*last)->next) last = &(*last)->next;
    free(*last);
    *last = NULL, count--;
}
