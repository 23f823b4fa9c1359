/* Between requester and responder: this process answers at once, another through the fabric. */
#include <stdlib.h>

#include "engine.h"

uint32_t transport_first_qpn(void) { return fabric_is_up() ? fabric_slot() << QPN_BITS : 0; }

void transport_send(struct qp *qp, struct message *message, bool ask, struct answer *answer) {
    if (fabric_is_up() && message->destination >> QPN_BITS != fabric_slot()) {
        answer->verdict = fabric_send(qp, message, ask);
        return;
    }
    respond(message, answer);
}

void message_release(struct message *message) {
    if (--message->references) return;
    free(message->payload);
    free(message);
}
