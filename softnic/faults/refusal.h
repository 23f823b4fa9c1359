/* Which refusal a syndrome is of: choices of a device profile tell them in other ways. */
#ifndef SOFTNIC_FAULTS_REFUSAL_H
#define SOFTNIC_FAULTS_REFUSAL_H

#include "engine/engine.h"

enum violation refusal_note(enum violation bad); /* keeps the last one; gives it back */
/* The syndrome of a work request that failed. */
uint8_t refusal_of_request(const struct wqe *wqe, uint8_t right);
/* Of a configuration or a LOCAL_INV; 0 stays. key: NULL if there is none. */
uint8_t refusal_of_umr(const struct umr *umr, const struct key *key, uint8_t right);
/* Of what the other end asks for, as its answer has it. */
void refusal_of_message(const struct message *message, struct answer *answer);

#endif
