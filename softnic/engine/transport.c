/* Between requester and responder: this process answers at once, another through the fabric. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

uint32_t transport_first_qpn(void) { return fabric_is_up() ? fabric_slot() << QPN_BITS : 0; }

bool transport_is_local(const struct message *message) {
    return !fabric_is_up() || message->destination >> QPN_BITS == fabric_slot();
}

void transport_send(struct qp *qp, struct message *message, bool ask, struct answer *answer) {
    if (!transport_is_local(message)) {
        answer->verdict = fabric_send(qp, ask);
        return;
    }
    respond(message, answer);
}

/* Out of the memory that another process has too: what waits for long would take the room of
 * others. */
static void settle(struct message *message) {
    uint8_t *bytes = message->region.area ? bytes_new(message->payload_length) : NULL;
    if (!bytes) return;
    memcpy(bytes, message->payload, message->payload_length);
    region_free(&message->region);
    message->payload = bytes;
}

bool message_gather(struct message *message) {
    struct transfer *source = message->unread;
    if (message->references == 1) settle(message);
    if (!source) return true;
    message->unread = NULL;
    message->payload = bytes_new(message->payload_length);
    return message->payload && !transfer_emit(source, message->payload);
}

void message_release(struct message *message) {
    if (--message->references) return;
    if (message->region.area) region_free(&message->region);
    else bytes_free(message->payload);
    free(message);
}
