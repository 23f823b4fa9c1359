/* What two ids send each other, and what each message does: for message.c and wire.c alone. */
#ifndef SOFTNIC_CM_WIRE_H
#define SOFTNIC_CM_WIRE_H

#include "cm.h"

/* enum rdma_cm_event_type of <rdma/rdma_cma.h>, which is not ours to include */
enum {
    EVENT_CONNECT_RESPONSE = 5,
    EVENT_UNREACHABLE = 7,
    EVENT_REJECTED = 8,
    EVENT_ESTABLISHED = 9,
    EVENT_DISCONNECTED = 10,
};
enum { CM_MAGIC = 0x4d4b4331 };

struct cm_packet { /* both ends are this code on this machine: host order */
    uint32_t magic, size, kind, reason;
    union cm_address source, destination; /* REQ */
    uint8_t qp_type, length;
    struct cm_end end; /* REQ, REP */
    uint8_t data[RDMA_MAX_PRIVATE_DATA];
};

void cm_message_take(struct cm_id *id, const struct cm_packet *packet);
void cm_message_unanswered(struct cm_id *id, uint32_t event, int status);
void cm_message_refused(struct cm_id *id, uint32_t reason);
void cm_message_ended(struct cm_id *id); /* the other side closed its socket */
bool cm_is_open(const struct cm_id *id);

#endif
