/* Numbers for objects. A freed number waits at the end of a queue, so that a stale one stays
 * invalid for as long as possible, and a program that makes and frees millions of objects never
 * runs out. A personality that recycles gives the number that was freed last. */
#include <errno.h>
#include <stdlib.h>

#include "nic.h"

void table_init(struct table *table, uint32_t first, uint32_t limit) {
    *table = (struct table){.first = first, .limit = limit, .used = first};
}

static int table_grow(struct table *table) {
    /* more than wait for their turn: see table_add */
    uint32_t room = table->room ? table->room * 2 : 512;
    if (room > table->limit - table->first) room = table->limit - table->first;
    if (room <= table->room) return ENOMEM;
    void **slot = realloc(table->slot, room * sizeof *slot);
    if (!slot) return ENOMEM;
    table->slot = slot;
    uint32_t *queue = malloc(room * sizeof *queue);
    if (!queue) return ENOMEM;
    /* The ring is only grown when it is empty: every number below `used` is taken then. */
    free(table->queue);
    table->queue = queue;
    table->head = table->tail = 0;
    table->room = room;
    return 0;
}

int table_add(struct table *table, void *object, uint32_t *number) {
    /* New numbers first, until a few hundred are in turn: a table of two would give the same number
     * at every other call. */
    uint32_t waiting = (table->used - table->first) - table->live;
    if (waiting && personality()->recycle) {
        table->tail = (table->tail + table->room - 1) % table->room;
        *number = table->queue[table->tail];
    } else if (waiting == 0 || (waiting < 256 && table->used - table->first < table->room)) {
        if (table->used - table->first == table->room && table_grow(table)) return ENOMEM;
        *number = table->used++;
    } else {
        *number = table->queue[table->head];
        table->head = (table->head + 1) % table->room;
    }
    table->slot[*number - table->first] = object;
    table->live++;
    return 0;
}

void *table_get(const struct table *table, uint32_t number) {
    return number >= table->first && number < table->used ? table->slot[number - table->first]
                                                          : NULL;
}

void table_remove(struct table *table, uint32_t number) {
    if (!table_get(table, number)) return;
    table->slot[number - table->first] = NULL;
    table->queue[table->tail] = number;
    table->tail = (table->tail + 1) % table->room;
    table->live--;
}
