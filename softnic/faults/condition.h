/* The condition under which a fault acts: `crc_runs_on@block>=8`. */
#ifndef SOFTNIC_FAULTS_CONDITION_H
#define SOFTNIC_FAULTS_CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faults/moment.h"

/* facts.c: the number of a dimension of requirements/space/dimensions.toml, or NONE; a value of it;
 * what it is at this moment. */
int dimension_named(const char *name, size_t length);
bool dimension_value(int dimension, const char *text, size_t length, int64_t *value);
struct range dimension_fact(int dimension);

/* The one of the fault that was injected; false: it is none. "": it always holds. */
bool condition_set(const char *text, size_t length);

/* What is done to many at once, entries of a layout or data units, is done to those for which the
 * condition holds. False: it is not about them. */
bool condition_is_of_entries(void);
bool condition_is_of_units(void);
bool condition_takes_unit(int64_t unit);
/* From now on: as if it held, as if it did not, as it is. */
enum force { AS_IT_IS, HOLDS, FAILS };
void condition_force(enum force how);

#endif
