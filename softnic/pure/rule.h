/* A rule: a function that holds what one sentence of a standard or of the device's manual says.
 *
 *   uint16_t RULE(checksum_value)(const struct checksum *state) { … }
 *
 * It is an ordinary function, which its file and others call by its name. A build may define RULE
 * so that the definition gets another name, and bring a function of its own for this one.
 */
#ifndef SOFTNIC_PURE_RULE_H
#define SOFTNIC_PURE_RULE_H

#ifndef RULE
#define RULE(name) name
#endif

#endif
