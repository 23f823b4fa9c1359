/* Which fault this process has. It is chosen when its NIC starts, before any thread of the device
 * could see it change. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "faults/choice.h"
#include "faults/fault.h"

enum fault fault_injected;

bool fault_inject(const char *name) {
#define FAULT_NAME(name) [FAULT_##name] = #name,
    static const char *const names[FAULT_COUNT] = {FAULTS(FAULT_NAME)};
    for (unsigned number = 1; number < FAULT_COUNT; number++)
        if (!strcmp(names[number], name)) {
            fault_injected = (enum fault)number;
            return true;
        }
    return false;
}

REPLACES(nic_is_known);
bool nic_is_known(void) {
    const char *name = getenv("MKEYSPEC_SOFTNIC_FAULT");
    if (!choices_read()) _exit(2);
    if (!name || !*name || fault_inject(name)) return right_nic_is_known();
    fprintf(stderr,
            "mkeyspec softnic: MKEYSPEC_SOFTNIC_FAULT: no fault is called `%s`; "
            "`mkeyspec sabotage --list` names them\n",
            name);
    _exit(2);
}
