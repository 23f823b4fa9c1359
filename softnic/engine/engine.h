/* Between the rooms of the engine. Everything here wants the NIC's mutex held. */
#ifndef SOFTNIC_ENGINE_H
#define SOFTNIC_ENGINE_H

#include "nic.h"
#include "pure/bsf.h"
#include "pure/cqe.h"
#include "pure/umr.h"
#include "pure/wqe.h"

/* ---- memory.c: guarded access; false: EFAULT --------------------------------------------- */

struct piece {
    uint64_t addr;
    size_t length;
};
void memory_init(void);
bool memory_read(uint64_t addr, void *to, size_t len);
bool memory_write(uint64_t addr, const void *from, size_t len);
bool memory_gather(const struct piece *piece, size_t pieces, uint8_t *to);
bool memory_scatter(const struct piece *piece, size_t pieces, const uint8_t *from);
/* Nobody sees byte `last` and later before the bytes in front of it. */
bool memory_write_then(uint64_t addr, const uint8_t *from, size_t len, size_t last);
/* n words of 8 bytes from n places; fine[i] false: that one can't be read. */
void memory_read_each(const uint64_t *addr, size_t n, uint64_t *out, bool *fine);
int fd_high(int fd); /* moves a descriptor of ours out of the application's way */

/* From one part of the application's memory to another, of equal length. *source: it was what can't
 * be read. */
bool memory_copy(const struct piece *from, size_t from_pieces, const struct piece *to,
                 size_t to_pieces, bool *source);
bool memory_readable(const struct piece *piece, size_t pieces); /* looks at each page */
bool memory_copies(void); /* memory_copy is there, in this thread */
/* Memory read, or written, bit by bit, between guard_enter and guard_leave. */
struct cursor {
    const struct piece *piece;
    size_t pieces;
    uint64_t at;
};
bool cursor_move(struct cursor *cursor, uint8_t *local, uint64_t length, bool write);
/* what follows in one piece; NULL: nothing */
uint8_t *cursor_straight(const struct cursor *cursor, uint64_t *length);
void cursor_skip(struct cursor *cursor, uint64_t length); /* of that */
/* guard_enter, unless these need the slow way */
bool memory_guarded(const struct piece *piece, size_t pieces);

/* ---- guard.c: fast copies of memory that may be gone ------------------------------------- */

void guard_thread(void); /* this thread is the device's */
bool guard_enter(void);  /* false: not here; else guard_copy may be used until guard_leave */
void guard_leave(void);
bool guard_copy(void *to, const void *from, size_t length);
/* Between them as well: any code over memory that may be gone. False: a fault ended it, wherever it
 * was. It takes no lock. */
bool guard_run(void (*work)(void *), void *argument);
/* The device itself would have to answer the fault of an access to such memory. */
bool doorbell_covers(uint64_t addr, uint64_t length);

/* ---- bytes.c ----------------------------------------------------------------------------- */

uint8_t *bytes_new(size_t length); /* NULL: no memory. What is in it is left from others. */
/* room for `length`, what was in it stays. NULL: no memory, and `bytes` is as it was */
uint8_t *bytes_more(uint8_t *bytes, size_t length);
void bytes_free(uint8_t *bytes); /* NULL is fine */

/* ---- share.c: memory that another process has as well ------------------------------------ */

struct area;
struct region {
    struct area *area;
    uint64_t offset, length;
}; /* area NULL: none */
struct area *area_new(int *fd);       /* NULL: not here. The descriptor is for the other process */
struct area *area_of_peer(int fd);    /* NULL: it is not what area_new makes */
void area_release(struct area *area); /* NULL is fine */
uint8_t *area_at(const struct area *area, uint64_t offset, uint64_t length); /* NULL: outside */
bool region_new(struct area *area, uint64_t length, struct region *out);     /* false: no room */
uint8_t *region_bytes(const struct region *region);
void region_free(struct region *region);

/* ---- reach.c: what a key reaches --------------------------------------------------------- */

enum violation {
    FINE,
    BAD_KEY,
    KEY_FREE,
    FOREIGN_PD,
    FOREIGN_QP,
    NO_RIGHT,
    NO_LAYOUT,
    BEYOND,
    TOO_DEEP,
    NO_CRYPTO,
    BAD_DEK,
    BAD_KEYTAG,
    BAD_JOB,
    BAD_MEMORY,
    NO_MEMORY,
};
/* pieces below `sealed` are not added to */
struct reach {
    struct piece *piece;
    size_t pieces, room, sealed;
};
/* The key object, if this PD and QP may use it with these rights. */
enum violation key_claim(const struct pd *pd, uint32_t qpn, uint32_t key, uint32_t rights,
                         struct key **out);
/* Appends the memory after [addr, addr + length) of a claimed key. */
enum violation key_reach(const struct key *key, uint64_t addr, uint64_t length, bool write,
                         struct reach *reach);

/* ---- transfer.c: an SGE list or a remote range, as wire bytes ---------------------------- */

struct place {
    struct key *key; /* with a BSF in force, else NULL */
    const uint8_t *inlined;
    uint64_t addr;                /* as the request has it */
    uint64_t wire, raw, memory;   /* bytes in the three forms */
    uint64_t start;               /* the first wire byte, counted from the start of the key */
    uint64_t before;              /* raw bytes of this key earlier in the message */
    uint64_t coded, coded_before; /* the same of what is en- or decrypted */
    size_t piece, pieces;
};
struct transfer {
    const struct pd *pd;
    uint32_t qpn;
    struct cq *cq; /* where signature errors of this side go */
    struct place *place;
    size_t places, room;
    struct reach reach;
    uint64_t length; /* wire bytes */
    bool sigerr;     /* an error was reported */
    struct qp *late; /* what it puts down is late, in this QP's order; NULL: it is not */
};
void transfer_begin(struct transfer *transfer, const struct pd *pd, uint32_t qpn, struct cq *cq);
enum violation transfer_add(struct transfer *transfer, uint32_t key, uint64_t addr, uint64_t length,
                            uint32_t rights, bool write);
enum violation transfer_add_segs(struct transfer *transfer, const struct wqe_seg *seg,
                                 unsigned segs, uint64_t limit, bool write);
enum violation transfer_emit(struct transfer *transfer, uint8_t *wire);
enum violation transfer_absorb(struct transfer *transfer, const uint8_t *wire);
/* Only memory, with nothing to be done on the way but to make fields of whole blocks. */
bool transfer_is_plain(const struct transfer *transfer);
/* Making its wire bytes checks nothing: no error of a signature can be reported. */
bool transfer_is_quiet(const struct transfer *transfer);
/* From one plain transfer to another of equal length, in one go. False: they overlap, or this can't
 * be done here. */
bool transfer_joins(const struct transfer *from, const struct transfer *to);
/* *source: the fault was the source's. */
enum violation transfer_join(struct transfer *from, struct transfer *to, bool *source);

/* ---- layout.c: the translation of an mkey ------------------------------------------------ */

struct change { /* what a UMR or CREATE_MKEY brings beside the mkey context's members */
    struct klm *klm;
    uint32_t klms;
    struct stride *stride;
    uint32_t strides, repeat, bytes_per_repeat;
    enum layout layout;
    struct bsf *sig;
    struct crypto_bsf *crypto;
    bool new_layout, new_bsf;
};
/* Decodes the translation that `key` would have with these bytes, all of it or from entry `offset`
 * on; false: no room, or not decodable. */
bool layout_change(const struct key *key, bool at_offset, uint64_t offset, const uint8_t *bytes,
                   size_t len, struct change *change);
void layout_apply(struct key *key, struct change *change); /* takes the entries out of `change` */
void key_set_pd(struct key *key, struct pd *pd);

/* ---- signature.c ------------------------------------------------------------------------- */

struct span {
    uint64_t raw, memory_start, memory;
};
/* The geometry of `length` wire bytes from wire offset `start`; false: a start inside a block
 * (nobody knows what hardware does). */
bool signature_span(const struct bsf *sig, uint64_t start, uint64_t length, struct span *out);
/* One domain's stream taken apart into data, checked on the way; `fields` gets what was in the
 * fields. Returns the number of fields. */
uint64_t signature_strip(const struct bsf *sig, enum domain domain, const uint8_t *stream,
                         uint64_t length, uint64_t before, uint8_t *raw, uint8_t *fields,
                         struct sigerr *error);
/* Data put together as one domain's stream of at most `length` bytes; fields of the other domain
 * are copied as the masks say. */
void signature_frame(const struct bsf *sig, enum domain domain, const uint8_t *raw,
                     uint64_t raw_length, uint64_t before, const uint8_t *fields, uint64_t stored,
                     uint8_t *stream, uint64_t length);
/* The fields of whole blocks that are in `stream` already, with room after each. */
void signature_fields(const struct bsf *sig, enum domain domain, uint8_t *stream, uint64_t blocks,
                      uint64_t before);
/* The same with the data taken from elsewhere: each byte is read once. Not for checksums. */
void signature_copy(const struct bsf *sig, enum domain domain, uint8_t *stream, const uint8_t *raw,
                    uint64_t blocks, uint64_t before);
/* The first error since arming goes to the key owner's CQ; true if it was reported. */
bool signature_report(struct key *key, const struct sigerr *error, struct cq *cq);

/* ---- transaction.c ----------------------------------------------------------------------- */

enum { SIGNATURE_OF_BLOCK, SIGNATURE_OF_TRANSACTION }; /* the type in a signature error CQE */
/* As signature_span; false: beyond the field, or a part of it. */
bool transaction_span(const struct bsf *sig, uint64_t start, uint64_t length, struct span *out);
bool transaction_ready(const struct key *key); /* its PSVs are there, and of its PD */
void transaction_transmit(const struct bsf *sig, const struct place *place, const uint8_t *memory,
                          uint8_t *wire, struct sigerr *error);
void transaction_receive(const struct bsf *sig, const struct place *place, const uint8_t *wire,
                         uint8_t *memory, struct sigerr *error);

/* ---- crypto.c ---------------------------------------------------------------------------- */

/* which form of the stream is en- or decrypted */
enum crypto_step { STEP_NONE, STEP_WIRE, STEP_RAW, STEP_MEMORY };
enum crypto_step crypto_step(const struct crypto_bsf *crypto);
enum violation crypto_check(const struct key *key, struct place *place); /* fills in place->coded */
/* In place; `before` bytes of the message went ahead. */
enum violation crypto_apply(const struct crypto_bsf *crypto, bool transmit, uint8_t *bytes,
                            uint64_t length, uint64_t before);

/* ---- late.c ------------------------------------------------------------------------------ */

bool late_hold(struct cq *cq, const struct cqe *cqe, bool solicited); /* false: write it now */
/* For write-in of a message of `qp`, with its bytes; false: the memory is gone. */
bool late_scatter(struct qp *qp, const struct piece *piece, size_t pieces, const uint8_t *from);
void late_unload(const struct qp *qp); /* what it brings is there; NULL: what each brings */
void late_settle(const struct cq *cq); /* NULL: nothing to do */
void late_settle_qp(const struct qp *qp);
void late_drop(const struct cq *cq);
uint64_t late_due(void); /* writes what is due; when the next one is, or 0 */
void late_forget(void);

/* ---- completion.c, event.c --------------------------------------------------------------- */

void cq_post(struct cq *cq, struct cqe *cqe, bool solicited);  /* now, or late */
void cq_write(struct cq *cq, struct cqe *cqe, bool solicited); /* now; fills in the owner bit */
void cq_sigerr(struct cq *cq, uint32_t key, const struct sigerr *error);
void cq_arm_words(void); /* fires the CQs which are armed and have something to tell */
enum async_event {       /* enum ib_event_type */
                   EVENT_CQ_ERR = 0,
                   EVENT_QP_FATAL = 1,
                   EVENT_QP_REQ_ERR = 2,
                   EVENT_QP_ACCESS_ERR = 3,
                   EVENT_COMM_EST = 4,
                   EVENT_SQ_DRAINED = 5,
                   EVENT_SRQ_ERR = 14,
                   EVENT_SRQ_LIMIT = 15,
                   EVENT_LAST_WQE = 16,
};
void event_completion(struct cq *cq);
bool event_async(struct context *context, struct channel *channel, uint64_t user_handle,
                 enum async_event type);
void event_qp(struct qp *qp, enum async_event type);
/* Takes unread events of this user handle back out; returns how many. */
uint32_t event_retract(struct channel *channel, uint64_t user_handle);

/* ---- queue.c ----------------------------------------------------------------------------- */

enum { WQE_BYTES = 1024 };
enum { ANY_QPN = 0xffffff };
enum fetch { FETCH_NONE, FETCH_FINE, FETCH_BAD, FETCH_FAULT };
/* The WQE at block `at` of the SQ, wrapped around and copied out; `producer` as the doorbell record
 * says. *len and *blocks are what it occupies. */
enum fetch sq_fetch(const struct qp *qp, uint16_t at, uint16_t producer, uint8_t wqe[WQE_BYTES],
                    size_t *len, uint16_t *blocks);
struct receive {
    struct wqe_seg seg[WQE_MAX_SEGS];
    unsigned segs;
    uint16_t index;
    uint64_t length;
    uint8_t bytes[1024];
};
enum fetch receive_peek(struct qp *qp, struct receive *out);
void receive_take(struct qp *qp, const struct receive *receive);
bool doorbell_record(uint64_t db, uint16_t *rq, uint16_t *sq);
bool rq_flush(struct qp *qp); /* true: there was something */

/* ---- transition.c ------------------------------------------------------------------------ */

enum { /* enum ib_qp_attr_mask */
       ATTR_STATE = 1,
       ATTR_CUR_STATE = 2,
       ATTR_SQD_NOTIFY = 4,
       ATTR_ACCESS = 8,
       ATTR_PKEY = 0x10,
       ATTR_PORT = 0x20,
       ATTR_QKEY = 0x40,
       ATTR_AV = 0x80,
       ATTR_MTU = 0x100,
       ATTR_TIMEOUT = 0x200,
       ATTR_RETRY = 0x400,
       ATTR_RNR_RETRY = 0x800,
       ATTR_RQ_PSN = 0x1000,
       ATTR_RD_ATOMIC = 0x2000,
       ATTR_ALT_PATH = 0x4000,
       ATTR_RNR_TIMER = 0x8000,
       ATTR_SQ_PSN = 0x10000,
       ATTR_DEST_RD_ATOMIC = 0x20000,
       ATTR_MIG = 0x40000,
       ATTR_CAP = 0x80000,
       ATTR_DEST_QPN = 0x100000,
};
/* Whether a QP of this type may go from one state to another (or stay) with the attributes that the
 * mask names. */
bool transition_allowed(enum qp_type type, enum qp_state from, enum qp_state to, uint32_t mask);

/* ---- wait.c ------------------------------------------------------------------------------ */

/* Whether the WQE at the head of the SQ holds the queue: a WAIT whose condition is not met. One
 * that can't be holds nothing: wait_check. */
bool wait_holds(struct qp *qp, const struct wqe *wqe);
/* 0, or the syndrome of a WAIT that can't be */
uint8_t wait_check(struct qp *qp, const struct wqe *wqe);

/* ---- qp.c, execute.c, request.c, configure.c, copy.c ------------------------------------- */

void qp_fail(struct qp *qp);                   /* to ERR: everything posted is flushed */
bool qp_run(struct qp *qp, uint16_t producer); /* WQEs from the head on; true: something was done */
void qp_sq_drained(struct qp *qp);
/* One look at a QP on its way to error; true: it is there. *next gets the time at which it is given
 * up. */
bool qp_end_round(struct qp *qp, uint64_t *next);
/* The end of a WQE: its completion if one is due; an error moves the QP (or its stream) to error.
 */
void wqe_complete(struct qp *qp, const struct wqe *wqe, uint32_t length, bool sigerr);
void wqe_fail(struct qp *qp, const struct wqe *wqe, uint8_t syndrome); /* CQE_* of cqe.h */

/* 0 or a syndrome */
uint8_t configure_umr(struct qp *qp, const uint8_t *bytes, size_t len, const struct wqe *wqe);
uint8_t configure_psv(struct qp *qp, const struct wqe *wqe);
uint8_t copy_mmo(struct qp *qp, const struct wqe *wqe, bool *sigerr);
uint8_t copy_transposed(struct qp *qp, const struct wqe *wqe);
void key_invalidate(struct key *key);

struct call { /* a WQE whose message is under way, or waits for its peer */
    uint8_t bytes[WQE_BYTES];
    uint16_t blocks;
    struct wqe wqe; /* points into bytes */
    struct message *message;
    bool sent, sigerr;               /* in the fabric's hands; this side's own check failed */
    bool remote;                     /* another process has answered before */
    uint64_t started, interval, due; /* since when the peer isn't ready; when to look again */
    uint64_t serial;   /* the fabric's name for it; 0: its answer is not wanted any more */
    uint8_t reason;    /* the syndrome if that lasts too long */
    size_t len;        /* of the bytes */
    uint64_t link;     /* on which it was sent; 0: it was not, or only asked about */
    struct call *next; /* sent after it */
};
void request_start(struct qp *qp, const uint8_t *bytes, size_t len, uint16_t blocks);
void request_again(struct qp *qp); /* the timer ran out, or the peer may be ready */
void request_flush(struct qp *qp); /* the WQE in hand ends with "flushed" */
void request_drop(struct qp *qp);
/* Sends a WQE after others that have no answer yet. False: it has to wait for them. */
bool request_after(struct qp *qp, const uint8_t *bytes, size_t len, uint16_t blocks);
uint16_t request_blocks(const struct qp *qp); /* how much of the SQ is under way */
/* The message that is under way goes on without its QP; adds what it holds. False: it waits for its
 * peer, and is not left. */
bool request_leave(struct qp *qp, uint64_t *bytes);

/* ---- transport.c: from requester to responder, wherever that is -------------------------- */

struct message {
    uint8_t opcode, service; /* of the WQE; enum qp_type of the requester */
    /* 0 or 1: no bool, whose other values would be undefined when they came over the wire */
    uint8_t solicited, grh;
    uint8_t sl, traffic_class, hop_limit;
    uint16_t slid, dlid;
    uint32_t psn; /* RC: where the requester's numbers start */
    uint32_t source, destination, imm, rkey, qkey, flow_label;
    uint64_t dc_key, raddr, length, swap_add, compare;
    uint8_t sgid[16], dgid[16];
    uint64_t payload_length;
    uint8_t *payload;
    /* instead of a payload that was not gathered yet: plain memory of this process */
    struct transfer *unread;
    struct region region; /* where the payload is, if the process it goes to has that too */
    unsigned references;  /* the call's, and one while the fabric writes it */
};
void message_release(struct message *message);
/* READY: to a question, instead of RNR. DROPPED: what it was sent after was not taken. LATER,
 * BUSY: not from the responder; it was sent, or can't be sent just now. */
enum verdict {
    VERDICT_ACK,
    VERDICT_RNR,
    VERDICT_NAK,
    VERDICT_SILENCE,
    VERDICT_READY,
    VERDICT_DROPPED,
    VERDICT_LATER,
    VERDICT_BUSY
};
struct answer {
    enum verdict verdict;
    uint8_t syndrome;  /* NAK: what the requester completes with */
    uint8_t rnr_timer; /* RNR: the responder's min_rnr_timer code */
    uint8_t *data;     /* READ and atomics; owned by whoever got the answer, but for: */
    uint64_t length;
    uint8_t *room; /* memory of that length for the data, which the requester has too; NULL: none */
};
/* The payload as bytes of its own; false: its memory can't be read. */
bool message_gather(struct message *message);
void respond(struct message *message, struct answer *answer);
/* Whether the receive is there that this message wants: VERDICT_READY, RNR or SILENCE. Its payload
 * is not looked at. */
void respond_ask(const struct message *message, struct answer *answer);
/* VERDICT_LATER: another process answers, and request_answered is called then. `ask`: the header
 * alone goes to it first. */
void transport_send(struct qp *qp, struct message *message, bool ask, struct answer *answer);
void request_answered(struct qp *qp, struct answer *answer);
bool transport_is_local(const struct message *message);
uint32_t transport_first_qpn(void); /* the bits that name this process */

/* names.c: sockets in a directory of this user alone; a place is a number below 2^40, which one
 * living process has */
struct sockaddr_un;
int names_start(void);          /* 0 or errno; the environment is looked at once */
const char *names_fabric(void); /* NULL: none was named, and no other process is there */
unsigned names_user(void);
int names_take(uint64_t place, const char *name); /* 0: nothing has the name now. EADDRINUSE */
void names_give(uint64_t place, const char *name);
/* as bind() and connect() want it; its length */
unsigned names_address(const char *name, struct sockaddr_un *out);
void names_fork_child(void);

/* rendezvous.c */
int rendezvous_start(uint32_t slots, uint32_t *slot); /* 0 and not open: no fabric is named */
bool rendezvous_is_open(void);
void rendezvous_end(void);
int rendezvous_connect(uint32_t slot); /* a socket, or -1 and errno */
bool rendezvous_accept(int *fd);       /* false: no other waits. -1: one that is not let in */
int rendezvous_poll_fd(void);
/* when to accept again though the descriptor says nothing; 0: it does */
uint64_t rendezvous_due(void);

enum { QPN_BITS = 13 }; /* of a QPN: the number inside the process; those above name it */
int fabric_start(void); /* 0 if there is a fabric and we have an address in it */
bool fabric_is_up(void);
uint32_t fabric_slot(void);
/* the call at the head. LATER, BUSY, SILENCE: no answer */
enum verdict fabric_send(struct qp *qp, bool ask);
/* The same after a message that was sent and has no answer; false: this one has to wait for that.
 */
bool fabric_send_after(const struct qp *qp, struct call *call, const struct call *front);
/* Room for a message's payload that its destination sees as well; false: there is none, or it isn't
 * worth it. */
bool fabric_region(uint32_t destination, uint64_t length, struct region *out);
void fabric_forget(struct qp *qp);
struct pollfd;
size_t fabric_poll_fds(struct pollfd *fds, size_t room);
bool fabric_work(void); /* reads and writes what is ready; true: something was done */
bool fabric_hear(void); /* takes in the answers that are there; true: there were some */
void fabric_fork_child(void);

/* ---- nic.c ------------------------------------------------------------------------------- */

struct nic {
    struct table contexts, pds, keys, psvs, cqs, qps, srqs, deks, logins, umems;
    struct channel *channels;
};
extern struct nic nic;
uint64_t now(void); /* ns, monotonic */
/* One round over all queues; *next gets the time at which something is due (0: nothing). True:
 * something was done. */
bool nic_round(uint64_t *next);
bool round_is_over(void); /* its time is up: what is left is the next one's */
int doorbell_start(void);
bool nic_is_known(void); /* false: the environment names a personality that there isn't */

/* ---- output.c: the trace's file ---------------------------------------------------------- */

int output_open(const char *path); /* 0 or an errno value; "-": stderr */
bool output_is_open(void);
/* a record, whole or not at all; never waits long */
void output_write(const char *bytes, size_t len);
void output_flush(void);
uint64_t output_due(void);  /* when to flush again; 0: nothing is left */
uint64_t output_lost(void); /* records since output_lost_is(0) */
void output_lost_is(uint64_t records);
bool output_recovered(void); /* there is room for much more */
void output_drain(void);     /* before the end: a reader that reads gets the rest */
void output_fork_child(void);

/* ---- trace.c ----------------------------------------------------------------------------- */

extern bool tracing;
void trace_start(void);
uint64_t trace_work(void); /* what a slow reader has left; when to try again, 0: there is nothing */
void trace_wqe(const struct qp *qp, const uint8_t *wqe, size_t len);
/* What a UMR that is not inline has in memory; either part may be empty. */
void trace_umr_list(const struct qp *qp, const uint8_t *translation, size_t translation_len,
                    const uint8_t *bsf, size_t bsf_len);
void trace_receive(const struct qp *qp, const struct receive *receive);
void trace_cqe(const struct cq *cq, const uint8_t cqe[64]);

#endif
