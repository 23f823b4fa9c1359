/* sigaction() and signal(), for SIGSEGV and SIGBUS: the device's own copies may fault
 * (engine/guard.c), so its handler stays in place, and what the application sets is kept beside it.
 * Other signals are handed on. */
#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

typedef void handler(int);

static struct {
    __typeof__(&sigaction) sigaction;
    __typeof__(&signal) signal, sysv_signal;
} next;

__attribute__((constructor(101))) static void resolve(void) {
    next.sigaction = (__typeof__(next.sigaction))dlsym(RTLD_NEXT, "sigaction");
    next.signal = (__typeof__(next.signal))dlsym(RTLD_NEXT, "signal");
    next.sysv_signal = (__typeof__(next.signal))dlsym(RTLD_NEXT, "__sysv_signal");
}
#define NEXT(name) (next.name ? next.name : (resolve(), next.name))

EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
    return guard_has(number) ? guard_action(number, action, old)
                             : NEXT(sigaction)(number, action, old);
}

static handler *set(int number, handler *wanted, int flags) {
    struct sigaction action = {.sa_handler = wanted, .sa_flags = flags}, old;

    if (wanted == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sigemptyset(&action.sa_mask);
    if (!(flags & SA_NODEFER)) sigaddset(&action.sa_mask, number);
    return guard_action(number, &action, &old) ? SIG_ERR : old.sa_handler;
}

#define SIGNAL(name) \
    EXPORT handler *name(int number, handler *wanted) { \
        return guard_has(number) ? set(number, wanted, SA_RESTART) : NEXT(signal)(number, wanted); \
    }
handler *bsd_signal(int, handler *), *ssignal(int, handler *);
SIGNAL(signal)
SIGNAL(bsd_signal)
SIGNAL(ssignal)

#define SYSV_SIGNAL(name) \
    EXPORT handler *name(int number, handler *wanted) { \
        return guard_has(number) ? set(number, wanted, SA_RESETHAND | SA_NODEFER) \
                                 : NEXT(sysv_signal)(number, wanted); \
    }
handler *__sysv_signal(int, handler *), *sysv_signal(int, handler *);
SYSV_SIGNAL(__sysv_signal)
SYSV_SIGNAL(sysv_signal)

#endif
