/* Which fault this process has. It is chosen when its NIC starts, before any thread of the device
 * could see it change. */
#include "faults/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "faults/choice.h"
#include "faults/condition.h"

enum fault fault_injected;

bool fault_inject(const char *name) {
#define FAULT_NAME(name) [FAULT_##name] = #name,
    static const char *const names[FAULT_COUNT] = {FAULTS(FAULT_NAME)};
    size_t length = strcspn(name, "@");
    const char *condition = name + length + (name[length] == '@');
    if (!condition_set(condition, strlen(condition))) return false;
    for (unsigned number = 1; number < FAULT_COUNT; number++)
        if (strlen(names[number]) == length && !strncmp(names[number], name, length)) {
            fault_injected = (enum fault)number;
            return true;
        }
    return false;
}

/* Nothing acts; where each fault would is noted, for each of these conditions. */
static bool observe(void) {
    const char *conditions = getenv("MKEYSPEC_SOFTNIC_CONDITIONS");
    fault_injected = FAULT_OBSERVED;
    return conditions && conditions_observe(conditions);
}

REPLACES(nic_is_known);
bool nic_is_known(void) {
    const char *name = getenv("MKEYSPEC_SOFTNIC_FAULT");
    if (!choices_read()) _exit(2);
    if (!name || !*name) return right_nic_is_known();
    if (strcmp(name, "*") ? fault_inject(name) : observe()) return right_nic_is_known();
    fprintf(stderr,
            "mkeyspec softnic: MKEYSPEC_SOFTNIC_FAULT: no fault is called `%s`; "
            "`mkeyspec sabotage --list` names them\n",
            name);
    _exit(2);
}
