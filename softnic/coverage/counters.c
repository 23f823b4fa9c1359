/* The counters of gcov, written when the process asks for it: mkeyspec/search/nic_lines.py reads
 * them after each case. */
#include "coverage/counters.h"

void __gcov_dump(void);
void __gcov_reset(void);

void mkeyspec_softnic_count(void) {
    __gcov_dump();
    __gcov_reset();
}

void mkeyspec_softnic_count_no_more(void) { __gcov_dump(); }
