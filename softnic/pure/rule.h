/* A rule: a function that holds what one sentence of a standard or of the device's manual says.
 *
 *   uint16_t RULE(checksum_value)(const struct checksum *state) { … }
 *
 * In the library that is shipped a rule is an ordinary function. In the library of faults (make faults, -DSOFTNIC_FAULTS) the definition is
 * called right_checksum_value, and faults/ defines checksum_value: what a NIC with a fault does instead, by means of the right one.
 */
#ifndef SOFTNIC_PURE_RULE_H
#define SOFTNIC_PURE_RULE_H

#ifdef SOFTNIC_FAULTS
#define RULE(name) right_##name
#else
#define RULE(name) name
#endif

#endif
