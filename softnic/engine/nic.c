/* The NIC of this process: its mutex, its contexts, and one round of work over all queues. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"
#include "pure/bits.h"
#include "pure/rule.h"

struct nic nic;
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static pid_t owner; /* 0: no NIC yet */

bool nic_is_foreign(void) { return owner && owner != getpid(); }

uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

int fd_high(int fd) {
    if (fd < 0) return fd;
    for (int least = 900; least >= 60; least -= 420) {
        int high = fcntl(fd, F_DUPFD_CLOEXEC, least);
        if (high < 0) continue;
#ifdef __SANITIZE_THREAD__
        /* once more: TSan doesn't follow F_DUPFD, and misses what goes through a pipe */
        dup3(fd, high, O_CLOEXEC);
#endif
        close(fd);
        return high;
    }
    return fd;
}

enum { FIRST_QPN = 0x40, MOST_QPS = 1 << 17 };

uint32_t nic_max_qp(void) { return fabric_is_up() ? (1u << QPN_BITS) - FIRST_QPN : MOST_QPS; }

static void tables_init(void) {
    uint32_t base = transport_first_qpn();
    nic.channels = NULL;
    late_forget();
    table_init(&nic.contexts, 1, 1 << 16);
    table_init(&nic.pds, 0x10, 1 << 24);
    table_init(&nic.keys, 0x18, 1 << 24);
    table_init(&nic.psvs, 1, 1 << 24);
    table_init(&nic.cqs, 0x20, 1 << 24);
    table_init(&nic.qps, base + FIRST_QPN, base + FIRST_QPN + nic_max_qp());
    table_init(&nic.srqs, 0x1, 1 << 24);
    table_init(&nic.deks, 0x1, 1 << 24);
    table_init(&nic.logins, 0x1, 1 << 24);
    table_init(&nic.umems, 0x1, 1 << 24);
}

/* Whether the environment says what this device is. */
bool RULE(nic_is_known)(void) { return personality() != NULL; }

static int start(void) {
    if (owner == getpid()) return 0;
    if (!nic_is_known()) return EINVAL;
    memory_init();
    trace_start();
    int error = fabric_start();
    if (error) return error;
    tables_init();
    if ((error = doorbell_start())) return error;
    owner = getpid();
    return 0;
}

int nic_context_create(struct context **out) {
    pthread_mutex_lock(&starting);
    int error = start();
    pthread_mutex_unlock(&starting);
    if (error) return error;
    struct context *context = calloc(1, sizeof *context);
    if (!context) return ENOMEM;
    nic_lock();
    error = table_add(&nic.contexts, context, &context->number);
    nic_unlock();
    if (error) free(context);
    else *out = context;
    return error;
}

void object_link(struct object *object, enum kind kind, struct context *context) {
    object->kind = kind;
    object->context = context;
    object->prev = NULL;
    object->next = context->objects;
    if (object->next) object->next->prev = object;
    context->objects = object;
}

void object_unlink(struct object *object) {
    if (object->prev) object->prev->next = object->next;
    else object->context->objects = object->next;
    if (object->next) object->next->prev = object->prev;
}

/* Users before what they use. The shim's own kinds carry no resources of the engine. */
static void destroy(struct object *object) {
    uint32_t ignored;
    switch (object->kind) {
    case KIND_QP: qp_destroy((struct qp *)object, &ignored); break;
    case KIND_SRQ: srq_destroy((struct srq *)object, &ignored); break;
    case KIND_CQ: cq_destroy((struct cq *)object, &ignored, &ignored); break;
    case KIND_KEY: key_destroy((struct key *)object); break;
    case KIND_PSV: psv_destroy((struct psv *)object); break;
    case KIND_DEK: dek_destroy((struct dek *)object); break;
    case KIND_LOGIN: login_destroy((struct login *)object); break;
    case KIND_UMEM: umem_destroy((struct umem *)object); break;
    case KIND_CHANNEL: channel_destroy((struct channel *)object); break;
    case KIND_PD: pd_destroy((struct pd *)object); break;
    case KIND_AH:
    case KIND_OTHER:
        object_unlink(object);
        free(object);
        break;
    }
}

void nic_context_destroy(struct context *context) {
    static const enum kind order[] = {KIND_QP,    KIND_SRQ,   KIND_CQ,   KIND_AH,
                                      KIND_OTHER, KIND_KEY,   KIND_UMEM, KIND_PSV,
                                      KIND_DEK,   KIND_LOGIN, KIND_PD,   KIND_CHANNEL};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        for (struct object *object = context->objects, *next; object; object = next) {
            next = object->next;
            if (object->kind != order[i]) continue;
            object->users = 0;
            destroy(object);
        }
    table_remove(&nic.contexts, context->number);
    free(context);
}

int pd_create(struct context *context, struct pd **out) {
    struct pd *pd = calloc(1, sizeof *pd);
    if (!pd) return ENOMEM;
    int error = table_add(&nic.pds, pd, &pd->pdn);
    if (error) {
        free(pd);
        return error;
    }
    object_link(&pd->object, KIND_PD, context);
    *out = pd;
    return 0;
}

int pd_destroy(struct pd *pd) {
    if (pd->object.users) return EBUSY;
    table_remove(&nic.pds, pd->pdn);
    object_unlink(&pd->object);
    free(pd);
    return 0;
}

struct pd *pd_find(uint32_t pdn) { return table_get(&nic.pds, pdn); }

static struct section forking; /* of the thread that has the mutex */

void nic_fork_prepare(void) {
    struct section section;
    section_enter(&section);
    pthread_mutex_lock(&starting);
    nic_lock();
    forking = section;
}

void nic_fork_parent(void) {
    struct section section = forking;
    nic_unlock();
    pthread_mutex_unlock(&starting);
    section_leave(&section);
}

/* The child has no device thread and its doorbells are not trapped: the parent's contexts are dead
 * in it. A context that the child opens itself starts a NIC of its own. */
void nic_fork_child(void) {
    fabric_fork_child();
    names_fork_child();
    guard_fork_child();
    output_fork_child();
    nic_lock_reset();
    pthread_mutex_unlock(&starting);
    section_leave(&forking);
}

/* ---- one round --------------------------------------------------------------------------- */

enum { FLUSH_EVERY = 5000000 }; /* ns; a receive posted to a broken QP rings no bell */

static void earliest(uint64_t *next, uint64_t time) {
    if (time && (!*next || time < *next)) *next = time;
}

/* A call that waits is tried again when it is due, and whenever something else has happened here: a
 * receive may be there now. What happens in another process isn't seen, and an answer from there is
 * no reason to ask again. */
static bool call_round(struct qp *qp, bool early, uint64_t *next) {
    if (!qp->call) return false;
    if (qp->call->sent) return false;
    if (qp->call->due <= now() || (early && !qp->call->remote)) {
        request_again(qp);
        if (!qp->call) return true;
    }
    earliest(next, qp->call->due);
    return false;
}

/* A round ends early when its time is up, or when a command waits; the next one goes on with the QP
 * whose turn it is. */
enum { ROUND_TIME = 1000000, WANTED_TIME = 100000 }; /* ns */
static uint64_t round_began;

bool round_is_over(void) {
    uint64_t time = now() - round_began;
    return time >= ROUND_TIME || (time >= WANTED_TIME && nic_is_wanted());
}

static bool queues_round(bool early, uint64_t *next) {
    enum { ROUND = 256 };
    static uint32_t turn;
    struct qp *qps[ROUND];
    uint64_t addr[ROUND], word[ROUND];
    bool fine[ROUND], any = false;
    uint32_t all = nic.qps.used - nic.qps.first, first = turn < all ? turn : 0;
    for (uint32_t seen = 0; seen < all;) {
        size_t n = 0;
        for (; seen < all && n < ROUND; seen++) {
            struct qp *qp = table_get(&nic.qps, nic.qps.first + (first + seen) % all);
            if (!qp || qp->state < STATE_RTS || qp->attr.type == QP_DCT) continue;
            qps[n] = qp, addr[n++] = qp->attr.db;
        }
        memory_read_each(addr, n, word, fine);
        for (size_t i = 0; i < n; i++) {
            struct qp *qp = qps[i];
            if (any && round_is_over()) {
                turn = qp->number - nic.qps.first;
                return true;
            }
            if (!fine[i]) continue;
            if (qp->ending) {
                uint64_t limit = 0;
                any |= qp_end_round(qp, &limit);
                earliest(next, limit);
                if (qp->ending) continue;
            }
            any |= call_round(qp, early, next);
            any |= qp_run(qp, (uint16_t)load_be32((const uint8_t *)&word[i] + 4));
            if (qp->call) earliest(next, qp->call->due);
            if (qp->state == STATE_RTS) earliest(next, qp->wait_due);
            if (qp->state != STATE_ERR) continue;
            any |= rq_flush(qp);
            if (qp->attr.rq_entries && !qp->attr.srq) earliest(next, now() + FLUSH_EVERY);
        }
    }
    return any;
}

bool nic_round(uint64_t *next) {
    static bool something; /* in the round before */
    *next = 0;
    round_began = now();
    bool any = fabric_work();
    any |= queues_round(something || any, next);
    earliest(next, late_due());
    cq_arm_words();
    earliest(next, trace_work());
    earliest(next, rendezvous_due());
    something = any;
    return any;
}

long nic_live(unsigned kind) {
    const struct table *const tables[] = {
        &nic.contexts, &nic.pds,  &nic.keys, &nic.psvs,   &nic.cqs,
        &nic.qps,      &nic.srqs, &nic.deks, &nic.logins, &nic.umems,
    };

    return kind < sizeof tables / sizeof *tables ? (long)tables[kind]->live : -1;
}
