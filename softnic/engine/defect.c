/* Which defect this process has. It is chosen when its NIC starts, before there is a device thread that could see it change. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine.h"
#include "pure/defect.h"

void defect_choose(void) {
    const char *name = getenv("MKEYSPEC_SOFTNIC_DEFECT");
    if (!name || !*name || defect_inject(name)) return;
    fprintf(stderr, "mkeyspec softnic: MKEYSPEC_SOFTNIC_DEFECT: no defect is called `%s`; `mkeyspec sabotage --list` names them\n", name);
    _exit(2);
}
