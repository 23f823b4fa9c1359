#ifndef MKEYSPEC_SOFTNIC_COVERAGE_COUNTERS_H
#define MKEYSPEC_SOFTNIC_COVERAGE_COUNTERS_H

/* Adds what was counted since the last call to the files under GCOV_PREFIX. */
__attribute__((visibility("default"))) void mkeyspec_softnic_count(void);

/* As above, for the last time: the end of the process writes nothing. */
__attribute__((visibility("default"))) void mkeyspec_softnic_count_no_more(void);

#endif
