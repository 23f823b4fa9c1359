/* For whoever looks for leaks: `mkeyspec run --soak`. */
#include "shim.h"

EXPORT long mkeyspec_softnic_live(unsigned kind) {
    struct section section;
    long live;

    section_enter(&section);
    live = nic_live(kind);
    section_leave(&section);
    return live;
}
