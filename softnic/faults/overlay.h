/* In front of every file of the library of faults (-include): the definition of a rule
 * (pure/rule.h) is called right_name there, and a file of this folder defines name. */
#ifndef SOFTNIC_FAULTS_OVERLAY_H
#define SOFTNIC_FAULTS_OVERLAY_H

#define RULE(name) right_##name

#endif
