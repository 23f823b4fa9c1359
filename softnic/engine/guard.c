/* The application's memory, copied at the processor's own speed: the kernel's copies between processes look up every page.
 *
 * The memory may be gone. While the device thread copies, SIGSEGV and SIGBUS come here: a fault inside the copying loop ends the
 * loop, any other goes to whoever had the signal before. Between copies the application's handlers are in place as it left
 * them; one that it installs meanwhile stays. Other threads than ours, which may have the signals blocked, do not copy so. */
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "engine.h"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/* 0: all was copied; 1: a byte could not be read or written. Leaves the stack alone, so that a fault may end it anywhere. */
int softnic_copy(void *to, const void *from, size_t length);
int softnic_copy_wide(void *to, const void *from, size_t length);       /* by AVX; at least 64 bytes */
extern const char softnic_copy_fault[];
__asm__(
    ".pushsection .text\n"
    ".type softnic_copy, @function\n.type softnic_copy_wide, @function\n"
    ".hidden softnic_copy\n.hidden softnic_copy_wide\n.hidden softnic_copy_fault\n"
    ".globl softnic_copy\n.globl softnic_copy_wide\n.globl softnic_copy_fault\n"
    "softnic_copy_wide:\n"             /* 32 bytes at a time, to addresses that 32 divides; at least 64 */
    "    vmovdqu (%rsi), %ymm0\n"
    "    vmovdqu %ymm0, (%rdi)\n"
    "    mov %rdi, %rax\n"
    "    and $31, %rax\n"
    "    sub $32, %rax\n"             /* minus the bytes up to there */
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

static const int signals[] = {SIGSEGV, SIGBUS};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction theirs[SIGNALS];
static __thread bool ours;
static bool has_avx;

static void to_theirs(int number, siginfo_t *info, void *context) {
    struct sigaction *action = &theirs[number == SIGBUS];
    struct sigaction before = *action;
    if (before.sa_flags & SA_RESETHAND) action->sa_handler = SIG_DFL;
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) {
        bool sent = info->si_code <= 0;             /* by somebody, not by an access */
        if (sent && before.sa_handler == SIG_IGN) return;
        struct sigaction plain = {.sa_handler = SIG_DFL};
        sigaction(number, &plain, NULL);            /* the access is tried again and ends the process as ever */
        if (sent) raise(number);
    } else {
        before.sa_handler(number);
    }
}

static void faulted(int number, siginfo_t *info, void *context) {
    greg_t *at = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    if ((uintptr_t)*at >= (uintptr_t)softnic_copy_wide && (uintptr_t)*at < (uintptr_t)softnic_copy_fault) *at = (greg_t)(uintptr_t)softnic_copy_fault;
    else to_theirs(number, info, context);
}

static bool is_ours(const struct sigaction *action) { return action->sa_flags & SA_SIGINFO && action->sa_sigaction == faulted; }

void guard_thread(void) {
    sigset_t set;
    has_avx = __builtin_cpu_supports("avx");
    sigemptyset(&set);
    for (int i = 0; i < SIGNALS; i++) sigaddset(&set, signals[i]);
    ours = !pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], NULL, &theirs[i]);
}

bool guard_enter(void) {
    if (!ours) return false;
    struct sigaction mine = {.sa_sigaction = faulted, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER}, before;
    sigemptyset(&mine.sa_mask);
    for (int i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], &mine, &before);
        if (!is_ours(&before)) theirs[i] = before;      /* one that was saved in a copy and put back behind it is ours */
    }
    return true;
}

void guard_leave(void) {
    struct sigaction before;
    for (int i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], &theirs[i], &before);
        if (!is_ours(&before)) sigaction(signals[i], &before, NULL);
    }
}

bool guard_copy(void *to, const void *from, size_t length) {
    return !(has_avx && length >= 256 ? softnic_copy_wide(to, from, length) : softnic_copy(to, from, length));
}

#else

void guard_thread(void) {}
bool guard_enter(void) { return false; }
void guard_leave(void) {}
bool guard_copy(void *to, const void *from, size_t length) {
    (void)to, (void)from, (void)length;
    return false;
}

#endif
