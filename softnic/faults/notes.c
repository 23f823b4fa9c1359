/* Notes by the number of the key, from CREATE_MKEY on. */
#include "faults/notes.h"

#include <stdlib.h>
#include <string.h>

#include "faults/choice.h"
#include "faults/fault.h"

REPLACES(mkey_create);

static struct notes *all;
static uint32_t room;

struct notes *notes_of(const struct key *key) {
    if (key->index >= room) {
        uint32_t more = key->index + 1024;
        all = realloc(all, more * sizeof *all);
        if (!all) abort();
        memset(all + room, 0, (more - room) * sizeof *all);
        room = more;
    }
    return &all[key->index];
}

static uint32_t first_rights(void) {
    uint32_t given = choice(initial_access); /* enum ibv_access_flags */
    return RIGHT_LOCAL_READ | (given & 1 ? RIGHT_LOCAL_WRITE : 0) |
           (given & 2 ? RIGHT_REMOTE_WRITE : 0) | (given & 4 ? RIGHT_REMOTE_READ : 0) |
           (given & 8 ? RIGHT_ATOMIC : 0);
}

void key_forget(struct key *key) {
    if (key->type != KEY_MKEY) return;
    free(key->sig), key->sig = NULL;
    free(key->crypto), key->crypto = NULL;
    key->layout = LAYOUT_NONE;
    key->rights = first_rights();
}

int mkey_create(struct context *context, const struct mkey_attr *attr, struct key **out) {
    int error = right_mkey_create(context, attr, out);
    if (!error) memset(notes_of(*out), 0, sizeof(struct notes));
    if (!error && choice(initial_access)) (*out)->rights |= first_rights();
    return error;
}
