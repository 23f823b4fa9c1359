/* Which defect this process has. The choice is made before anything else runs, so that no thread ever sees it change. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pure/defect.h"

__attribute__((constructor)) static void choose(void) {
    const char *name = getenv("MKEYSPEC_SOFTNIC_DEFECT");
    if (!name || !*name || defect_inject(name)) return;
    fprintf(stderr, "mkeyspec softnic: MKEYSPEC_SOFTNIC_DEFECT: no defect is called `%s`; `mkeyspec sabotage --list` names them\n", name);
    _exit(2);
}
