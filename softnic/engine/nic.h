/* The objects of the software NIC, and what the shim may ask of it.
 *
 * One process has one NIC, guarded by one mutex. Every function below wants the mutex held
 * (nic_lock … nic_unlock) unless its comment says otherwise; the shim takes it once per ioctl, the
 * device thread for each round of work. Functions return 0 or a positive errno value. No function
 * keeps a pointer that it was given, except to objects.
 *
 * Every object starts with `struct object`, so the shim can keep all of them in one handle space
 * (uverbs handles, one per fd).
 */
#ifndef SOFTNIC_NIC_H
#define SOFTNIC_NIC_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "personality.h"

enum kind {
    KIND_PD = 1,
    KIND_KEY,
    KIND_PSV,
    KIND_CQ,
    KIND_QP,
    KIND_SRQ,
    KIND_DEK,
    KIND_LOGIN,
    KIND_AH,
    KIND_CHANNEL,
    KIND_OTHER,
    KIND_UMEM
};

struct context;
struct object {
    enum kind kind;
    uint32_t handle; /* the shim's; the engine never reads it */
    uint32_t users;  /* objects that need this one: destroy is EBUSY while there are any */
    struct context *context;
    struct object *next, *prev; /* all objects of the context */
};

/* Tables of numbers. Freed numbers come back in the order in which they were freed, so that a stale
 * one stays invalid for long. */
struct table {
    void **slot;
    uint32_t *queue; /* freed numbers, a ring of `room` */
    uint32_t first, limit, used, room, head, tail, live;
};
void table_init(struct table *table, uint32_t first, uint32_t limit); /* numbers first … limit-1 */
int table_add(struct table *table, void *object, uint32_t *number);   /* ENOMEM when full */
void *table_get(const struct table *table, uint32_t number);          /* NULL if there is none */
void table_remove(struct table *table, uint32_t number);
/* How many there are of a kind: contexts, PDs, keys, PSVs, CQs, QPs, SRQs, DEKs, logins, umems; -1:
 * there is no such kind. */
long nic_live(unsigned kind);

struct pd {
    struct object object;
    uint32_t pdn;
};

/* ---- memory keys ------------------------------------------------------------------------- */

enum {
    RIGHT_LOCAL_READ = 1,
    RIGHT_LOCAL_WRITE = 2,
    RIGHT_REMOTE_READ = 4,
    RIGHT_REMOTE_WRITE = 8,
    RIGHT_ATOMIC = 16,
    RIGHT_BIND = 32
};

enum { NULL_KEY = 0x200 }; /* reads zeros, drops what is written; below all numbers of keys */

struct klm {
    uint32_t length, key;
    uint64_t addr;
}; /* one entry of a list layout */
struct stride {
    uint16_t stride, length;
    uint32_t key;
    uint64_t addr;
};

enum domain { DOMAIN_WIRE, DOMAIN_MEMORY }; /* numbered as in the error CQE and in struct bsf */
/* MEMORY: an mkey over a umem */
enum layout { LAYOUT_NONE, LAYOUT_LIST, LAYOUT_STRIDED, LAYOUT_MEMORY, LAYOUT_NULL };
enum key_type { KEY_MR, KEY_MKEY, KEY_MW };

struct sigerr { /* what the error CQE carries (hardware rules 1, 2) */
    uint64_t offset, expected, actual;
    uint16_t syndrome;
    uint8_t domain, type;
};

struct bsf;
struct crypto_bsf; /* pure/bsf.h */
struct key {
    struct object object;
    enum key_type type;
    uint32_t index; /* 24 bits; the key a user sees is index << 8 | tag */
    uint8_t tag;
    bool free; /* not usable until a UMR or a bind enables it */
    bool umr_enabled, remote_invalidate, crypto_able;
    uint8_t log_entity_size; /* KSM: all entries of a list are of this size; 0: KLM */
    struct pd *pd;
    uint32_t rights;
    uint64_t start, length; /* the range of addresses that the key accepts */
    uint32_t qpn;           /* 0xffffff: any QP; else type 2 windows belong to one QP */
    struct umem *umem;      /* LAYOUT_MEMORY */
    uint64_t base;          /* MR, LAYOUT_MEMORY: where `start` lies in this process' memory */
    uint8_t mw_type;
    enum layout layout;
    struct klm *klm;
    uint32_t klms;
    struct stride *stride;
    uint32_t strides, repeat, bytes_per_repeat, max_entries, bsf_room; /* bsf_room: in 16 bytes */
    bool bsf_enabled;
    struct bsf *sig; /* NULL: none configured */
    struct crypto_bsf *crypto;
    bool armed; /* the next signature error is reported */
};

struct mkey_attr { /* CREATE_MKEY's mkey context, decoded */
    uint32_t pdn, qpn, rights, max_entries, bsf_room;
    uint8_t tag, log_entity_size;
    bool free, umr_enabled, remote_invalidate, bsf_enabled, crypto_enabled;
    uint64_t start, length;
    const uint8_t *translation; /* `entries` of 16 bytes that come along, or NULL */
    uint32_t entries;
    struct umem *umem; /* or the memory that it maps, from `umem_offset` on */
    uint64_t umem_offset;
};

int pd_create(struct context *context, struct pd **out);
int pd_destroy(struct pd *pd);
struct pd *pd_find(uint32_t pdn);
int mr_create(struct pd *pd, uint64_t addr, uint64_t length, uint64_t iova, uint32_t ibv_access,
              struct key **out);
enum { MR_TRANSLATION = 1, MR_PD = 2, MR_ACCESS = 4 };
int mr_modify(struct key *mr, uint32_t what, struct pd *pd, uint64_t addr, uint64_t length,
              uint64_t iova, uint32_t ibv_access);
uint32_t mr_access(const struct key *mr); /* ibv_access_flags */
int mw_create(struct pd *pd, uint8_t type, struct key **out);
/* Memory that DEVX objects may use (MLX5_IB_OBJECT_DEVX_UMEM). */
struct umem {
    struct object object;
    uint32_t number;
    uint64_t addr, length;
    uint32_t access;
};
int umem_create(struct context *context, uint64_t addr, uint64_t length, uint32_t ibv_access,
                struct umem **out);
int umem_destroy(struct umem *umem); /* EBUSY while an mkey maps it */
struct umem *umem_find(uint32_t number);
int mkey_create(struct context *context, const struct mkey_attr *attr, struct key **out);
int key_destroy(struct key *key);
struct key *key_find(uint32_t key); /* by index << 8; the tag is not looked at */
static inline uint32_t key_value(const struct key *key) { return key->index << 8 | key->tag; }

struct psv {
    struct object object;
    uint32_t number;
    struct pd *pd;
    uint16_t syndrome;
    uint64_t transient;
};
int psv_create(struct context *context, uint32_t pdn, struct psv **out);
int psv_destroy(struct psv *psv);
struct psv *psv_find(uint32_t number);

/* ---- encryption keys --------------------------------------------------------------------- */

/* key: the mailbox field */
struct dek_attr {
    uint32_t pdn;
    uint8_t size256, has_keytag, purpose;
    uint8_t opaque[8];
    uint8_t key[128];
};
struct dek {
    struct object object;
    uint32_t number;
    struct pd *pd;
    struct dek_attr attr;
    uint8_t state;
    uint8_t key[64];
    uint8_t keytag[8];
};
/* credential: as the mailbox has it, wrapped by the import key */
struct login_attr {
    uint32_t credential_id, kek_id;
    uint8_t credential[48];
};
struct login {
    struct object object;
    uint32_t number;
    uint8_t state; /* 0: valid, 1: invalid */
};
/* EINVAL: not as the personality imports keys */
int dek_create(struct context *context, const struct dek_attr *attr, struct dek **out);
int dek_destroy(struct dek *dek);
struct dek *dek_find(uint32_t number);
/* What a query says of a key: its state (0: ready), and what it was created with. */
void dek_answer(const struct dek *dek, uint8_t *state, uint8_t opaque[8]);
/* Whether a DEK may be asked for what it is: a wrapped one while the context has a login. */
bool dek_may_be_queried(const struct dek *dek);
/* EOPNOTSUPP: not in wrapped mode. EINVAL: not the credential and the import key that this device
 * stores. EEXIST: the context has a login. */
int login_create(struct context *context, const struct login_attr *attr, struct login **out);
bool login_matches(const struct login_attr *attr);
bool login_fits(const struct context *context);
uint8_t login_answer(const struct login *login);
bool key_unwraps(const uint8_t *wrapped, size_t len, uint8_t *out);
bool dek_import(const struct context *context, struct dek *dek);
void login_gone(struct context *context);
int login_destroy(struct login *login);
struct login *login_find(uint32_t number);

/* ---- events ------------------------------------------------------------------------------ */

struct channel { /* a pipe: completion channel, or the async events of a context */
    struct object object;
    /* read_fd is the application's; it may close it at any time (channel_closed) */
    int read_fd, write_fd, again_fd;
    bool async;
    struct channel *chain;
};
int channel_create(struct context *context, bool async, struct channel **out);
struct channel *channel_find(int read_fd);
void channel_destroy(struct channel *channel);
void channel_closed(int read_fd); /* the application closed its end */

/* ---- queues ------------------------------------------------------------------------------ */

struct cq_attr {
    uint32_t entries;              /* ring size, a power of two */
    uint32_t cqe_size;             /* 64 or 128 */
    uint64_t buf, db, user_handle; /* addresses in the application */
    struct channel *channel;       /* or NULL */
    struct channel *async;         /* or NULL: the context's first */
    /* else a CQE that finds the ring full is lost, the CQ breaks and IBV_EVENT_CQ_ERR tells */
    bool ignore_overrun;
};
struct cq {
    struct object object;
    struct cq_attr attr;
    uint32_t number, producer;
    uint32_t consumer; /* as last seen */
    /* the producer after the last solicited CQE, and at the last event */
    uint32_t solicited, told;
    bool error;
    uint32_t comp_events, async_events; /* written so far */
    uint64_t late;                      /* when the last CQE that was held is due */
};
int cq_create(struct context *context, const struct cq_attr *attr, struct cq **out);
/* From now on CQEs go to a ring of `entries` at `buf`; the last one of the old ring says so.
 * EINVAL: more is unread, or no room for that. */
int cq_resize(struct cq *cq, uint32_t entries, uint64_t buf);
/* EBUSY while a QP uses it. The counts are of events that the application has read or will have
 * read: unread ones are taken back. */
int cq_destroy(struct cq *cq, uint32_t *comp_events, uint32_t *async_events);

struct srq_attr {
    struct pd *pd;
    uint64_t buf, db, user_handle;
    uint32_t entries, max_sge, limit, uidx;
    uint32_t stride;
    struct channel *async;
};
struct srq {
    struct object object;
    struct srq_attr attr;
    uint32_t number;
    uint16_t head, consumed;
    bool error;
    uint32_t async_events;
};
int srq_create(struct context *context, const struct srq_attr *attr, struct srq **out);
int srq_modify(struct srq *srq, uint32_t limit);
int srq_destroy(struct srq *srq, uint32_t *async_events);

enum qp_type { QP_RC, QP_UC, QP_UD, QP_DCI, QP_DCT };
/* enum ib_qp_state */
enum qp_state { STATE_RESET, STATE_INIT, STATE_RTR, STATE_RTS, STATE_SQD, STATE_SQE, STATE_ERR };

struct qp_attr {
    enum qp_type type;
    struct pd *pd;
    struct cq *send_cq, *recv_cq; /* a DCT has only recv_cq */
    struct srq *srq;              /* or NULL */
    struct channel *async;        /* or NULL: the context's first */
    uint64_t user_handle;
    /* RQ at buf; SQ at sq_buf (buf + (rq_entries << rq_shift) unless given apart) */
    uint64_t buf, sq_buf, db;
    uint32_t sq_blocks; /* of 64 bytes; power of two, 0: no SQ */
    uint32_t rq_entries, rq_shift;
    uint32_t uidx;
    bool signal_all;
    /* only reported back by QUERY_QP */
    uint32_t max_inline, max_send_wr, max_send_sge, max_recv_sge;
    uint64_t dc_key; /* DCT */
    bool dci_streams;
    uint8_t log_streams, log_errored;
};

/* struct ib_uverbs_modify_qp, as values; `mask` is enum ib_qp_attr_mask. Kept whole, so QUERY_QP
 * gives back what was set. */
struct qp_path {
    uint8_t dgid[16], sgid_index, hop_limit, traffic_class, sl, src_path_bits, static_rate,
        is_global, port;
    uint16_t dlid;
    uint32_t flow_label;
};
struct qp_change {
    uint32_t mask;
    uint8_t state, current_state, path_mtu, path_mig_state, en_sqd_async_notify, max_rd_atomic,
        max_dest_rd_atomic, min_rnr_timer, port, timeout, retry_count, rnr_retry, alt_port,
        alt_timeout;
    uint16_t pkey_index, alt_pkey_index;
    uint32_t qkey, rq_psn, sq_psn, dest_qpn, access; /* access: ibv_access_flags */
    struct qp_path path, alt_path;
};

/* of a transpose */
enum { MOST_ELEMENT = 128, MOST_COLUMNS = 64, MOST_ROWS = 64, MOST_MATRIX = 8192 };

struct call; /* engine's own */
struct qp {
    struct object object;
    struct qp_attr attr;
    uint32_t number; /* DCT: valid from RTR on */
    enum qp_state state;
    struct qp_change set;   /* all attributes as last set */
    bool drain_sigerr, mmo; /* set by INIT2INIT */
    uint16_t sq_head;       /* block that would be executed next */
    uint16_t rq_head;
    bool draining; /* SQD, but a WQE is still under way */
    /* the WAIT at the head has seen its condition not met: when to look again. 0: there is none */
    uint64_t wait_due, wait_interval;
    bool ending;     /* on its way to ERR: what was rung before, up to `last`, still goes out */
    uint64_t late;   /* when the last of what it brings is due */
    bool told_error; /* the SQ has told an error since it was last whole */
    uint16_t last;
    uint64_t progress;     /* when the last answer came, while ending */
    uint64_t stream_error; /* DCI: one bit per stream, of at most 64 */
    uint32_t async_events;
    /* the WQE at the head, if its message is under way or waits for its peer; after it what was
     * sent ahead of its answer */
    struct call *call;
};
int qp_create(struct context *context, const struct qp_attr *attr, struct qp **out);
/* EINVAL: not allowed, or out of range. Wakes the device itself. */
int qp_modify(struct qp *qp, const struct qp_change *change);
int qp_destroy(struct qp *qp, uint32_t *async_events);
struct qp *qp_find(uint32_t number);             /* of this process */
int qp_set_drain_sigerr(struct qp *qp, bool on); /* INIT2INIT */
int qp_set_mmo(struct qp *qp, bool on);
/* RTS2RTS; EINVAL: that stream is not in error */
int qp_reset_stream(struct qp *qp, uint16_t stream);
/* QUERY_QP over DEVX: qpc.state (0 RST 1 INIT 2 RTR 3 RTS 4 SQER 5 SQD 6 ERR …) and
 * qpc.hw_sq_wqebb_counter. */
uint8_t qp_devx_state(const struct qp *qp);
uint16_t qp_sq_counter(const struct qp *qp);
/* The uverbs state: SQD only counts as reached when drained. */
enum qp_state qp_uverbs_state(const struct qp *qp);

struct ah {
    struct object object;
    struct pd *pd;
};

/* ---- the NIC ----------------------------------------------------------------------------- */

struct context {
    uint32_t number;
    struct object *objects; /* newest first */
    struct channel *async;
    uint32_t logins;
};

uint32_t nic_max_qp(void); /* of this process: on a fabric a part of each QPN names the process */
void nic_lock(void);       /* in the order of asking */
void nic_unlock(void);
bool nic_is_wanted(void);  /* by another thread than the one that has it */
void nic_lock_reset(void); /* in a forked child: not held, no waiter */
/* Around every call of a thread that is not ours: it is not cancelled in it, no handler of its
 * signals runs in it. */
struct section {
    sigset_t signals;
    int cancel;
};
void section_enter(struct section *section);
void section_leave(const struct section *section);
/* First use starts the device thread and reads the personality. ENOMEM, EAGAIN… as pthread_create.
 * Takes no lock. */
int nic_context_create(struct context **out);
/* Destroys what is left in the context, in an order that always works, without reporting events. */
void nic_context_destroy(struct context *context);
/* Something changed that no doorbell tells of: look at all queues soon. Needs no lock; safe from
 * any thread. */
void nic_kick(void);
/* Links an object into its context; the engine does it in its own constructors, the shim for
 * KIND_AH and KIND_OTHER. */
void object_link(struct object *object, enum kind kind, struct context *context);
void object_unlink(struct object *object);
/* fork: call from pthread_atfork handlers (prepare locks, parent unlocks, child forgets all
 * contexts: it has no device thread). */
void nic_fork_prepare(void);
void nic_fork_parent(void);
void nic_fork_child(void);
/* True in a child of the process that made the NIC (vfork included): interposers must then do
 * nothing. Needs no lock. */
bool nic_is_foreign(void);

uint64_t page_bytes(void); /* of the machine */

/* ---- signals ----------------------------------------------------------------------------- */

struct sigaction;
bool guard_has(int number); /* the device needs this signal's handler */
/* As sigaction(2), for a signal that the device has. Safe in a handler and in a vforked child. */
int guard_action(int number, const struct sigaction *action, struct sigaction *old);
void guard_fork_child(void);

/* ---- doorbells --------------------------------------------------------------------------- */

/* A UAR page was mapped: `page` is private anonymous memory which the caller made with mmap.
 * Watched from now on if userfaultfd is there; otherwise the device polls the doorbell records
 * while any page is watched. Needs no lock. */
int doorbell_watch(void *page, size_t length);
void doorbell_forget(void *page, size_t length); /* before munmap */
bool doorbell_trapped(void);                     /* false: polling. For `doctor` and tests. */

#endif
