/* The application's memory, copied at the processor's own speed: the kernel's copies between
 * processes look up every page.
 *
 * The memory may be gone. From the device's start on SIGSEGV and SIGBUS come here: a fault inside
 * the copying loop ends the loop, any other goes to whom the application has set. What it sets, and
 * what it asks for, is kept here (../shim/signals.c comes before sigaction() and signal()), with
 * the flags and the mask that it wants. One who makes the system call himself gets the signal until
 * the next copy, and is in place again after it. Other threads than ours, which may have the
 * signals blocked, do not copy so. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "engine.h"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/* 0: all was copied; 1: a byte could not be read or written. Leaves the stack alone, so that a
 * fault may end it anywhere. */
int softnic_copy(void *to, const void *from, size_t length);
int softnic_copy_wide(void *to, const void *from, size_t length); /* by AVX; at least 64 bytes */
extern const char softnic_copy_fault[];
__asm__(".pushsection .text\n"
        ".type softnic_copy, @function\n.type softnic_copy_wide, @function\n"
        ".hidden softnic_copy\n.hidden softnic_copy_wide\n.hidden softnic_copy_fault\n"
        ".globl softnic_copy\n.globl softnic_copy_wide\n.globl softnic_copy_fault\n"
        "softnic_copy_wide:\n" /* 32 bytes at a time, to addresses that 32 divides; at least 64 */
        "    vmovdqu (%rsi), %ymm0\n"
        "    vmovdqu %ymm0, (%rdi)\n"
        "    mov %rdi, %rax\n"
        "    and $31, %rax\n"
        "    sub $32, %rax\n" /* minus the bytes up to there */
        "    sub %rax, %rsi\n"
        "    sub %rax, %rdi\n"
        "    add %rax, %rdx\n"
        "    cmp $128, %rdx\n"
        "    jb 6f\n"
        "5:  vmovdqu (%rsi), %ymm0\n"
        "    vmovdqu 32(%rsi), %ymm1\n"
        "    vmovdqu 64(%rsi), %ymm2\n"
        "    vmovdqu 96(%rsi), %ymm3\n"
        "    vmovdqa %ymm0, (%rdi)\n"
        "    vmovdqa %ymm1, 32(%rdi)\n"
        "    vmovdqa %ymm2, 64(%rdi)\n"
        "    vmovdqa %ymm3, 96(%rdi)\n"
        "    sub $-128, %rsi\n"
        "    sub $-128, %rdi\n"
        "    add $-128, %rdx\n"
        "    cmp $128, %rdx\n"
        "    jae 5b\n"
        "6:  vzeroupper\n"
        "softnic_copy:\n"
        "    cmp $64, %rdx\n"
        "    jb 2f\n"
        "1:  movups (%rsi), %xmm0\n"
        "    movups 16(%rsi), %xmm1\n"
        "    movups 32(%rsi), %xmm2\n"
        "    movups 48(%rsi), %xmm3\n"
        "    movups %xmm0, (%rdi)\n"
        "    movups %xmm1, 16(%rdi)\n"
        "    movups %xmm2, 32(%rdi)\n"
        "    movups %xmm3, 48(%rdi)\n"
        "    add $64, %rsi\n"
        "    add $64, %rdi\n"
        "    sub $64, %rdx\n"
        "    cmp $64, %rdx\n"
        "    jae 1b\n"
        "2:  test %rdx, %rdx\n"
        "    jz 4f\n"
        "3:  movb (%rsi), %al\n"
        "    movb %al, (%rdi)\n"
        "    inc %rsi\n"
        "    inc %rdi\n"
        "    dec %rdx\n"
        "    jnz 3b\n"
        "4:  xor %eax, %eax\n"
        "    ret\n"
        "softnic_copy_fault:\n"
        "    mov $1, %eax\n"
        "    ret\n"
        ".size softnic_copy, . - softnic_copy\n"
        ".popsection\n");

/* libc's own, past the functions of this library that come before it. */
extern int __sigaction(int, const struct sigaction *, struct sigaction *);

static const int signals[] = {SIGSEGV, SIGBUS};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction theirs[SIGNALS]; /* as the application set it */
/* set past us, put aside for a copy */
static struct {
    bool is;
    struct sigaction action;
} past[SIGNALS];
static _Atomic(pid_t) owner; /* whose device thread is there; 0: none */
static __thread bool ours;
static bool has_avx;

static int which(int number) { return number == SIGBUS; }

/* Around `theirs` and `past`. No signal comes meanwhile: sigaction() may be called in any handler.
 */
static atomic_flag taken = ATOMIC_FLAG_INIT;

static void lock(sigset_t *before) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
    while (atomic_flag_test_and_set(&taken)) sched_yield();
}

static void unlock(const sigset_t *before) {
    atomic_flag_clear(&taken);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void faulted(int number, siginfo_t *info, void *context);

static bool is_ours(const struct sigaction *action) {
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == faulted;
}
static bool is_function(const struct sigaction *action) {
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* Our handler, under the conditions of theirs. SA_RESETHAND is done here. */
static void install(int number, const struct sigaction *action) {
    struct sigaction mine = *action;
    mine.sa_sigaction = faulted;
    if (is_function(action)) mine.sa_flags = (action->sa_flags | SA_SIGINFO) & ~(int)SA_RESETHAND;
    else mine.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
    if (!is_function(action)) sigemptyset(&mine.sa_mask);
    __sigaction(number, &mine, NULL);
}

static void to_theirs(int number, siginfo_t *info, void *context) {
    int i = which(number);
    sigset_t set;
    lock(&set);
    struct sigaction present, *action = past[i].is ? &past[i].action : &theirs[i];
    /* The copy has ended since the signal came: what was put aside is in place again. */
    bool back = !past[i].is && !__sigaction(number, NULL, &present) && !is_ours(&present);
    if (back) action = &present;
    struct sigaction before = *action;
    if (before.sa_flags & SA_RESETHAND && is_function(&before)) {
        action->sa_handler = SIG_DFL, action->sa_flags = 0;
        if (back) __sigaction(number, action, NULL);
        else install(number, action);
    }
    unlock(&set);
    if (is_function(&before)) {
        /* one that takes only a number does not see the rest */
        before.sa_sigaction(number, info, context);
        return;
    }
    bool sent = info->si_code <= 0; /* by a process, not by an access */
    if (sent && before.sa_handler == SIG_IGN) return;
    struct sigaction plain = {.sa_handler = SIG_DFL};
    __sigaction(number, &plain, NULL); /* the access is tried again and ends the process as ever */
    if (sent) raise(number);
}

static jmp_buf landing;
static volatile sig_atomic_t running; /* of the device thread, in guard_run */

static void land(void) { longjmp(landing, 1); }

static void faulted(int number, siginfo_t *info, void *context) {
    enum { RED_ZONE = 128 };
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs, *at = &registers[REG_RIP];
    if (ours && running && info->si_code > 0) {
        /* Not from here: the return from the handler gives back the mask. The stack is as at the
         * start of a function. */
        registers[REG_RSP] = ((registers[REG_RSP] - RED_ZONE) & ~15LL) - 8;
        *at = (greg_t)(uintptr_t)land;
        running = false;
        return;
    }
    bool copying = ours && (uintptr_t)*at >= (uintptr_t)softnic_copy_wide &&
                   (uintptr_t)*at < (uintptr_t)softnic_copy_fault;
    if (copying) *at = (greg_t)(uintptr_t)softnic_copy_fault;
    else to_theirs(number, info, context);
}

void guard_thread(void) {
    sigset_t set;
    struct sigaction before;
    has_avx = __builtin_cpu_supports("avx");
    sigemptyset(&set);
    for (int i = 0; i < SIGNALS; i++) sigaddset(&set, signals[i]);
    ours = !pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    if (!ours) return;
    lock(&set);
    for (int i = 0; i < SIGNALS; i++) {
        past[i].is = false;
        /* ours: a child of fork() */
        if (__sigaction(signals[i], NULL, &before) || is_ours(&before)) continue;
        theirs[i] = before;
        install(signals[i], &theirs[i]);
    }
    owner = getpid();
    unlock(&set);
}

bool guard_has(int number) { return owner && (number == SIGSEGV || number == SIGBUS); }

int guard_action(int number, const struct sigaction *action, struct sigaction *old) {
    int i = which(number), error = 0;
    struct sigaction present, wanted = action ? *action : (struct sigaction){.sa_flags = 0};
    if (owner != getpid()) { /* a vforked child: its signals are its own, this memory is not */
        error = __sigaction(number, action ? &wanted : NULL, &present);
        if (!error && old) *old = is_ours(&present) ? theirs[i] : present;
        return error;
    }
    sigset_t set;
    lock(&set);
    if (!past[i].is && !__sigaction(number, NULL, &present) && !is_ours(&present))
        theirs[i] = present;
    if (past[i].is) theirs[i] = past[i].action;
    present = theirs[i];
    if (action) {
        past[i].is = false;
        theirs[i] = wanted;
        sigdelset(&theirs[i].sa_mask, SIGKILL), sigdelset(&theirs[i].sa_mask, SIGSTOP);
        install(number, &theirs[i]);
    }
    unlock(&set);
    if (old) *old = present;
    return error;
}

/* The thread that forks may have stopped another in the middle. */
void guard_fork_child(void) {
    atomic_flag_clear(&taken);
    if (owner) owner = getpid();
    for (int i = 0; i < SIGNALS; i++) past[i].is = false;
}

bool guard_enter(void) {
    struct sigaction present;
    sigset_t set;
    if (!ours) return false;
    for (int i = 0; i < SIGNALS; i++) {
        if (__sigaction(signals[i], NULL, &present) || is_ours(&present)) continue;
        lock(&set);
        struct sigaction mine = {.sa_sigaction = faulted,
                                 .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
        sigemptyset(&mine.sa_mask);
        if (!__sigaction(signals[i], &mine, &present) && !is_ours(&present))
            past[i].is = true, past[i].action = present;
        unlock(&set);
    }
    return true;
}

void guard_leave(void) {
    struct sigaction present;
    sigset_t set;
    for (int i = 0; i < SIGNALS; i++) {
        if (!past[i].is) continue;
        lock(&set);
        if (past[i].is && !__sigaction(signals[i], NULL, &present) && is_ours(&present))
            __sigaction(signals[i], &past[i].action, NULL);
        past[i].is = false;
        unlock(&set);
    }
}

bool guard_run(void (*work)(void *), void *argument) {
    if (_setjmp(landing)) return false;
    running = true;
    atomic_signal_fence(memory_order_seq_cst);
    work(argument);
    atomic_signal_fence(memory_order_seq_cst);
    running = false;
    return true;
}

bool guard_copy(void *to, const void *from, size_t length) {
    return !(has_avx && length >= 256 ? softnic_copy_wide(to, from, length)
                                      : softnic_copy(to, from, length));
}

#else

void guard_thread(void) {}
void guard_fork_child(void) {}
bool guard_has(int number) { return (void)number, false; }
int guard_action(int number, const struct sigaction *action, struct sigaction *old) {
    return sigaction(number, action, old);
}
bool guard_enter(void) { return false; }
bool guard_run(void (*work)(void *), void *argument) { return (void)work, (void)argument, false; }
void guard_leave(void) {}
bool guard_copy(void *to, const void *from, size_t length) {
    (void)to, (void)from, (void)length;
    return false;
}

#endif
