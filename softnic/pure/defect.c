#include "pure/defect.h"

#include <stddef.h>
#include <string.h>

enum defect defect_injected;

#define DEFECT_NAME(name) [DEFECT_##name] = #name,
static const char *const names[DEFECT_COUNT] = { DEFECTS(DEFECT_NAME) };

const char *defect_name(unsigned number)
{
    return number && number < DEFECT_COUNT ? names[number] : NULL;
}

bool defect_inject(const char *name)
{
    for (unsigned number = 1; number < DEFECT_COUNT; number++)
        if (!strcmp(names[number], name)) {
            defect_injected = (enum defect)number;
            return true;
        }
    return false;
}
