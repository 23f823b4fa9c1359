/* An mkey's entries as a fault has them. */
#ifndef SOFTNIC_FAULTS_WALK_H
#define SOFTNIC_FAULTS_WALK_H

#include "faults/moment.h"

/* right_key_descend of an mkey with a list or an interleaved layout, other entries in its place. */
enum violation walked(const struct key *key, uint64_t addr, uint64_t length, bool write,
                      struct reach *reach, int depth);
/* From the first entry that names a key to the last. */
struct range entries_of(const struct key *key, uint32_t value);

#endif
