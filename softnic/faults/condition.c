/* Whether a fault acts at this moment; and, of a NIC that is only observed, where each could. */
#include "faults/condition.h"

#include <stdlib.h>
#include <string.h>

#include "faults/fault.h"

static struct condition {
    int dimension; /* NONE: it always holds */
    bool least;    /* >=, else = */
    int64_t value;
} chosen = {NONE, false, 0};
static enum force forced;

static bool parse(const char *text, size_t length, struct condition *out) {
    size_t name = strcspn(text, ">="), value = name + (text[name] == '>') + 1;
    if (value >= length) return false;
    out->dimension = dimension_named(text, name);
    out->least = text[name] == '>';
    return out->dimension != NONE && text[value - 1] == '=' &&
           dimension_value(out->dimension, text + value, length - value, &out->value);
}

bool condition_set(const char *text, size_t length) {
    chosen.dimension = NONE;
    return !length || parse(text, length, &chosen);
}

static bool fits(const struct condition *condition, struct range fact) {
    if (fact.last < fact.first) return false;
    if (condition->least) return fact.last >= condition->value;
    return fact.first <= condition->value && condition->value <= fact.last;
}

bool condition_holds(void) {
    if (forced != AS_IT_IS) return forced == HOLDS;
    return chosen.dimension == NONE || fits(&chosen, dimension_fact(chosen.dimension));
}

void condition_force(enum force how) { forced = how; }

static bool is_of(const char *name) {
    return chosen.dimension != NONE && chosen.dimension == dimension_named(name, strlen(name));
}

bool condition_is_of_entries(void) {
    return is_of("entry") || is_of("entry_size") || is_of("skip");
}

bool condition_is_of_units(void) { return is_of("unit"); }

bool condition_takes_unit(int64_t unit) { return fits(&chosen, range_of(unit, 1)); }

/* ---- observed ---------------------------------------------------------------------------- */

enum { MOST = 256, WORDS = MOST / 64 };
static struct condition all[MOST];
static size_t conditions;
static uint64_t reached[FAULT_COUNT][WORDS];

bool conditions_observe(const char *text) {
    for (size_t length; *text; text += length + (text[length] == ' ')) {
        length = strcspn(text, " ");
        if (conditions == MOST || !parse(text, length, &all[conditions++])) return false;
    }
    return true;
}

void fault_reached(enum fault fault) {
    struct range fact = {0, NONE};
    int of = NONE;
    for (size_t i = 0; i < conditions; i++) {
        if (all[i].dimension != of) fact = dimension_fact(of = all[i].dimension);
        if (fits(&all[i], fact)) reached[fault][i / 64] |= 1ull << i % 64;
    }
}

/* For `mkeyspec sabotage`, which looks at it after each case: a row of words for each fault, a bit
 * for each condition in the order of the environment. */
__attribute__((visibility("default"))) uint64_t *mkeyspec_softnic_reached(size_t *rows,
                                                                          size_t *words);
uint64_t *mkeyspec_softnic_reached(size_t *rows, size_t *words) {
    *rows = FAULT_COUNT, *words = WORDS;
    return reached[0];
}

/* Another fault for a NIC that runs already: for a search that tries many. */
__attribute__((visibility("default"))) bool mkeyspec_softnic_inject(const char *name);
bool mkeyspec_softnic_inject(const char *name) {
    nic_lock();
    bool known = fault_inject(name);
    nic_unlock();
    return known;
}
