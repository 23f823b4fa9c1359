/* Where a fault is still a switch in the rule itself; it becomes a replaced rule (rule.h, faults/). The shipped library has none of them. */
#ifndef SOFTNIC_PURE_DEFECT_H
#define SOFTNIC_PURE_DEFECT_H

#include <stdbool.h>

#ifdef SOFTNIC_FAULTS_OVERLAY_H
#include "faults/fault.h"
#define no_defect no_fault
#define defect(name) fault(name)
#else
#define no_defect true
#define defect(name) false
#endif

#endif
