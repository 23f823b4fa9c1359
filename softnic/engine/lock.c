/* The NIC's mutex, and what a thread of the application must not suffer while it is in our code.
 *
 * The mutex is served in the order of asking. A plain one would be taken again by the device
 * thread, which is running, before the thread that waits for it has woken up: a command could wait
 * for seconds beside a device that is never out of work.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "nic.h"

enum { WAYS = 16 }; /* waiters of one condition share it; few threads wait at a time */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t turn[WAYS];
    _Atomic uint64_t asked, served;
} gate = {.mutex = PTHREAD_MUTEX_INITIALIZER,
          .turn = {[0 ... WAYS - 1] = PTHREAD_COND_INITIALIZER}};

void nic_lock(void) {
    pthread_mutex_lock(&gate.mutex);
    uint64_t ticket = gate.asked++;
    while (gate.served != ticket) pthread_cond_wait(&gate.turn[ticket % WAYS], &gate.mutex);
    pthread_mutex_unlock(&gate.mutex);
}

void nic_unlock(void) {
    pthread_mutex_lock(&gate.mutex);
    uint64_t next = ++gate.served;
    if (next != gate.asked) pthread_cond_broadcast(&gate.turn[next % WAYS]);
    pthread_mutex_unlock(&gate.mutex);
}

bool nic_is_wanted(void) { return gate.asked - gate.served > 1; }

void nic_lock_reset(void) {
    pthread_mutex_init(&gate.mutex, NULL);
    for (int i = 0; i < WAYS; i++) pthread_cond_init(&gate.turn[i], NULL);
    gate.asked = gate.served = 0;
}

void section_enter(struct section *section) {
    sigset_t all;
    sigfillset(&all);
    /* Faults of our own must not be hidden: they end the process as ever. */
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&all, faults[i]);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &section->cancel);
    pthread_sigmask(SIG_BLOCK, &all, &section->signals);
}

void section_leave(const struct section *section) {
    pthread_sigmask(SIG_SETMASK, &section->signals, NULL);
    pthread_setcancelstate(section->cancel, NULL);
}
