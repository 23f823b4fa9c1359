/* The connection manager: what answers /dev/infiniband/rdma_cm, which librdmacm writes its commands
 * to.
 *
 *   channel.c  an open file of that device: its ids, and the events that wait for GET_EVENT
 *   command.c  one write(): which command, its request, its answer
 *   id.c       what a command does to an id: addresses, listening, connecting, disconnecting
 *   attr.c     what an id says of itself: its route, and the attributes its QP is modified with
 *   wire.c     the sockets between two ids, the thread that waits for them
 *   message.c  what each message does to an id
 *   address.c  which addresses are this machine's, and the ports of the fabric
 *
 * The command ABI is the kernel's: <rdma/rdma_user_cm.h>. The messages are those of IBTA volume 1,
 * chapter 12 (REQ, REP, RTU, REJ, DREQ, DREP, SIDR_REQ, SIDR_REP), over a unix socket for each
 * connection. Nothing is lost there and no timer runs: an end that is gone closes its socket.
 */
#ifndef SOFTNIC_CM_H
#define SOFTNIC_CM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <netinet/in.h>

#include <rdma/rdma_user_cm.h>

/* ---- what the interposers call --------------------------------------------------------------- */

int cm_open(int flags);       /* a new file: its fd, or -1 and errno */
int cm_dup(int fd, int copy); /* 0, EBADF */
void cm_closing(int fd);      /* with its last fd a file takes its ids along */
ssize_t cm_write(int fd, const void *command, size_t length); /* as write(): -1 and errno */

/* ---- ids ------------------------------------------------------------------------------------- */

enum { RDMA_UDP_QKEY = 0x01234567 }; /* of a datagram service that names none */

enum cm_state {
    CM_IDLE,
    CM_BOUND,
    CM_ADDR_RESOLVED,
    CM_ROUTE_RESOLVED,
    CM_LISTEN,
    CM_ARRIVING, /* passive: its socket is there, its REQ is not */
    CM_REQ_SENT,
    CM_REQ_RECEIVED,
    CM_REP_SENT,
    CM_REP_RECEIVED,
    CM_ESTABLISHED,
    CM_DREQ_SENT,
    CM_DREQ_RECEIVED,
    CM_CLOSED,
};

union cm_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

struct cm_channel;

/* What one side tells the other; REQ and REP. */
struct cm_end {
    uint32_t qpn, qkey, psn; /* psn: the first that this side expects */
    uint8_t srq, responder_resources, initiator_depth, flow_control, retry_count, rnr_retry_count;
    struct rdma_ucm_ece ece;
};

struct cm_id {
    uint32_t number;
    struct cm_channel *channel;
    struct cm_id *next; /* all ids of the process */
    uint64_t uid;       /* 0: passive and not accepted, which hears no event */
    enum cm_state state;
    uint16_t port_space;
    uint8_t qp_type;
    union cm_address source, destination; /* family 0: none */
    bool has_device, reuse, only_family;
    uint8_t service, ack_timeout;
    int port, wire;      /* sockets: that which holds the port, that to the other id; -1 */
    int64_t retry_until; /* REQ not yet sent: the other's backlog is full */
    int64_t parting_at;  /* when what follows is reported; 0: nothing */
    bool dreq_came, wire_ended;
    uint32_t events_reported;
    unsigned backlog, waiting; /* of a listener: most and present ids that were not accepted */
    uint32_t listener;         /* whose `waiting` counts this one; 0: none */
    struct cm_end own, other;
    uint8_t private_data[RDMA_MAX_PRIVATE_DATA]; /* of a REQ that waits */
    uint8_t private_length;
};

/* IBV_QPT_UD */
static inline bool cm_is_datagram(const struct cm_id *id) { return id->qp_type == 4; }

/* ---- channel.c: everything below wants the lock held ----------------------------------------- */

void cm_lock(void);
void cm_unlock(void);
struct cm_id *cm_first(void);
struct cm_id *cm_id_new(struct cm_channel *channel, uint16_t port_space, uint8_t qp_type);
void cm_id_free(struct cm_id *id); /* and its unread events */
struct cm_id *cm_id_find(const struct cm_channel *channel, uint32_t number);
struct cm_id *cm_id_any(uint32_t number);
struct cm_channel *cm_channel_find(int fd);
void cm_id_move(struct cm_id *id, struct cm_channel *to);
/* Queues an event of `id`; one of an id without a uid is dropped. */
void cm_event(struct cm_id *id, uint32_t event, int status, const struct rdma_ucm_event_resp *more);
void cm_event_request(struct cm_id *listener, struct cm_id *id,
                      const struct rdma_ucm_event_resp *more);
/* Takes the lock itself; waits for an event if the file is a blocking one. 0 or errno. */
int cm_event_take(int fd, struct rdma_ucm_event_resp *out);

/* ---- command.c, id.c, attr.c: 0 or errno ------------------------------------------------- */

int cm_bind(struct cm_id *id, const union cm_address *address);
int cm_listen(struct cm_id *id, uint32_t backlog);
int cm_resolve_address(struct cm_id *id, const union cm_address *from, const union cm_address *to);
int cm_resolve_route(struct cm_id *id);
int cm_connect(struct cm_id *id, const struct rdma_ucm_conn_param *param,
               const struct rdma_ucm_ece *ece);
int cm_accept(struct cm_id *id, const struct rdma_ucm_accept *request);
int cm_reject(struct cm_id *id, const struct rdma_ucm_reject *request);
int cm_disconnect(struct cm_id *id);
int cm_notify(struct cm_id *id, uint32_t event);
int cm_set_option(struct cm_id *id, uint32_t level, uint32_t name, const uint8_t *value,
                  size_t length);
void cm_leave(struct cm_id *id); /* tells the other side that this id is going */

int cm_query_route(const struct cm_id *id, struct rdma_ucm_query_route_resp *out);
int cm_qp_attr(const struct cm_id *id, uint32_t state, struct ib_uverbs_qp_attr *out);
void cm_address_vector(struct ib_uverbs_ah_attr *out);

/* ---- wire.c ------------------------------------------------------------------------------ */

enum cm_kind { CM_REQ = 1, CM_REP, CM_RTU, CM_REJ, CM_DREQ, CM_DREP };
/* Bytes of private data in each message; a REQ gives 36 to the addresses. IBTA 12.6, annex A11. */
enum {
    CM_REQ_BYTES = 92 - 36,
    CM_REP_BYTES = 196,
    CM_REJ_BYTES = 148,
    CM_SIDR_REQ_BYTES = 216 - 36,
    CM_SIDR_REP_BYTES = 136,
};
/* Reasons of a REJ. IBTA 12.6.7.2. */
enum { CM_REASON_TIMEOUT = 4, CM_REASON_NO_SERVICE = 8, CM_REASON_CONSUMER = 28 };

int cm_wire_listen(struct cm_id *id);
int cm_wire_connect(struct cm_id *id); /* sends the REQ, now or later */
void cm_wire_send(struct cm_id *id, enum cm_kind kind, uint32_t reason, const uint8_t *data,
                  uint8_t length);
void cm_wire_close(struct cm_id *id);
void cm_wire_wake(void); /* the thread: look at all ids again */
void cm_wire_forked(void);

/* ---- address.c --------------------------------------------------------------------------- */

socklen_t cm_address_size(const union cm_address *address); /* 0: no family of ours */
bool cm_address_is_any(const union cm_address *address);
bool cm_address_is_local(const union cm_address *address);
bool cm_address_same(const union cm_address *a, const union cm_address *b);
uint16_t cm_address_port(const union cm_address *address);
void cm_address_set_port(union cm_address *address, uint16_t port);
/* The address that this machine would send from. */
bool cm_address_source(const union cm_address *to, union cm_address *from);
socklen_t cm_port_address(uint16_t port_space, uint16_t port, struct sockaddr_un *out);
/* A socket that holds the address's port, and gives it one if it has none. EADDRINUSE. */
int cm_port_take(uint16_t port_space, union cm_address *address, int *out);
void cm_port_give(struct cm_id *id); /* -1 is fine */

#endif
