/* Faults of a signature error: whether it is told. */
#include "engine/engine.h"
#include "faults/fault.h"
#include "faults/notes.h"

REPLACES(signature_report);

bool signature_report(struct key *key, const struct sigerr *error, struct cq *cq)
{
    bool armed = key->armed, told = !fault(error_lost) && right_signature_report(key, error, cq);
    if (no_fault) return told;
    notes_of(key)->reported |= armed;
    key->armed = fault(error_of_every_message) && armed;
    return told;
}
