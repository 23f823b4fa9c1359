/* What a NIC with a fault remembers of an mkey, beside what every NIC does. */
#ifndef SOFTNIC_FAULTS_NOTES_H
#define SOFTNIC_FAULTS_NOTES_H

#include "engine/nic.h"

struct notes {
    bool reported;        /* it has told an error */
    bool dead;            /* it was invalidated, for good */
    bool rights_set;      /* its rights were set before */
    struct sigerr error;  /* the last one, until it is configured again */
    uint64_t passed;      /* bytes of data of all its messages */
    uint32_t late_rights; /* set, but not in force before the next configuration */
    /* What its last configuration was, and messages since then: as facts.c counts values. */
    int64_t configurations, setters, signature_before, layout_before, life, event, messages;
};
void note_invalidated(const struct key *key); /* by the peer; configure.c */
/* Empty for a new mkey. Never NULL: a process without memory for it ends. */
struct notes *notes_of(const struct key *key);

/* A key of an application as it was made: no layout, no signature, no encryption, its first rights.
 */
void key_forget(struct key *key);
/* Bytes of memory of the last message that this process has put there. */
extern uint64_t transfer_memory;

#endif
