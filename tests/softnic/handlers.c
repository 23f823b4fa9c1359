/* An application with handlers of its own for SIGSEGV, beside a device that copies all the time:
 * `handlers NAME`.
 *
 * The device's copies raise that signal as well, when memory goes away. What the application sets
 * stays set, is what it reads back, and gets its faults; the device's faults are its own.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "ends.h"

enum { TURNS = 2000, KERNELS_MASK = 8 };
static atomic_bool stop;
static atomic_ulong moved;
static sigjmp_buf back;
static volatile char *hole;
static volatile sig_atomic_t caught;

static void *traffic(void *argument) {
    struct end *end = argument;
    while (!stop) {
        MUST(!post_write(end, SIZE / 2));
        wait_one(end);
        moved++;
    }
    return NULL;
}

static void with_info(int number, siginfo_t *info, void *context) {
    (void)context;
    if (number != SIGSEGV || info->si_addr != hole) _exit(5);
    caught++;
    siglongjmp(back, 1);
}

/* As sa_handler shows it, which shares its place with sa_sigaction. */
#define NUMBERED(function) ((void (*)(int))(uintptr_t)(function))

static void with_number(int number) {
    if (number != SIGSEGV) _exit(6);
    caught++;
    siglongjmp(back, 1);
}

static void other(int number) { _exit(number == SIGSEGV ? 7 : 8); }
static void counted(int number) { caught += number == SIGSEGV; }

/* A fault of the application's own. */
static void fault(void) {
    sig_atomic_t before = caught;
    if (!sigsetjmp(back, 1)) {
        (void)*hole;
        fail("a read of memory that is not there", __LINE__);
    }
    MUST(caught == before + 1);
}

static void reads_back(void (*wanted)(int), int flags) {
    struct sigaction now;
    MUST(!sigaction(SIGSEGV, NULL, &now));
    MUST(now.sa_handler == wanted);
    MUST((now.sa_flags & (int)(SA_SIGINFO | SA_RESETHAND | SA_NODEFER | SA_RESTART | SA_ONSTACK)) ==
         flags);
}

static void own(void) {
    struct sigaction old, first = {.sa_sigaction = with_info, .sa_flags = SA_SIGINFO};
    struct sigaction second = {.sa_handler = with_number, .sa_flags = SA_RESETHAND | SA_NODEFER};
    for (int i = 0; i < TURNS; i++) {
        MUST(!sigaction(SIGSEGV, &first, NULL));
        fault();
        reads_back(NUMBERED(with_info), SA_SIGINFO);
        MUST(signal(SIGSEGV, with_number) == NUMBERED(with_info));
        fault();
        reads_back(with_number, SA_RESTART);
        MUST(!sigaction(SIGSEGV, &second, &old) && old.sa_handler == with_number);
        fault();
        reads_back(SIG_DFL, 0);
        MUST(signal(SIGSEGV, SIG_IGN) == SIG_DFL);
        MUST(!raise(SIGSEGV));
        MUST(signal(SIGSEGV, counted) == SIG_IGN);
        sig_atomic_t before = caught;
        MUST(!raise(SIGSEGV) && caught == before + 1);
        MUST(signal(SIGSEGV, SIG_DFL) == counted);
    }
}

/* The device's fault is an error completion, whatever the application has set. */
static void devices(void) {
    MUST(signal(SIGSEGV, other) == SIG_DFL);
    for (int i = 0; i < 50; i++) {
        struct end *end = end_alone();
        struct ibv_wc wc;
        int n;
        MUST(!munmap(end->memory + SIZE / 4, 4096));
        MUST(!post_write(end, SIZE / 2));
        while (!(n = ibv_poll_cq(end->cq, 1, &wc))) {}
        MUST(n == 1 && wc.status == IBV_WC_LOC_PROT_ERR);
        MUST(mmap(end->memory + SIZE / 4, 4096, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
        end_free(end);
        reads_back(other, SA_RESTART);
    }
}

static void ends_by_a_fault(pid_t child) {
    int status;
    MUST(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* What a child sets is the child's. */
static void children(void) {
    MUST(signal(SIGSEGV, other) == SIG_DFL);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (!child) {
            reads_back(other, SA_RESTART);
            signal(SIGSEGV, with_number);
            fault();
            reads_back(with_number, SA_RESTART);
            signal(SIGSEGV, SIG_DFL);
            (void)*hole;
            _exit(9);
        }
        ends_by_a_fault(child);
        reads_back(other, SA_RESTART);
        child = vfork();
        if (!child) {
            struct sigaction standard = {.sa_handler = SIG_DFL}, old;
            if (sigaction(SIGSEGV, &standard, &old) || old.sa_handler != other) _exit(10);
            (void)*hole;
            _exit(9);
        }
        ends_by_a_fault(child);
        reads_back(other, SA_RESTART);
    }
}

/* Past libc: a runtime that makes the system call itself gets its faults too. */
static void past_libc(void) {
#if defined __x86_64__
    struct {
        void (*handler)(int);
        unsigned long flags;
        void *restorer;
        uint64_t mask;
    } mine;
    MUST(signal(SIGSEGV, other) == SIG_DFL);
    MUST(!syscall(SYS_rt_sigaction, SIGSEGV, NULL, &mine, KERNELS_MASK));
    mine.handler = NUMBERED(with_info);
    mine.flags = (mine.flags & ~(unsigned long)SA_RESETHAND) | SA_SIGINFO;
    MUST(!syscall(SYS_rt_sigaction, SIGSEGV, &mine, NULL, KERNELS_MASK));
    for (int i = 0; i < TURNS; i++) fault();
    reads_back(NUMBERED(with_info),
               SA_SIGINFO | (int)(mine.flags & (SA_RESTART | SA_NODEFER | SA_ONSTACK)));
    MUST(signal(SIGSEGV, with_number) == NUMBERED(with_info));
    for (int i = 0; i < TURNS; i++) fault();
#endif
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"own", own},
    {"devices", devices},
    {"children", children},
    {"past_libc", past_libc},
};

int main(int count, char **words) {
    pthread_t thread;
    if (count < 2) return 2;
    signal(SIGALRM, hung);
    alarm(100);
    hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(hole != MAP_FAILED);
    context = device_open();
    struct end *end = end_alone();
    MUST(!pthread_create(&thread, NULL, traffic, end));
    while (moved < 8) usleep(1000);
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (!strcmp(scenarios[i].name, words[1])) scenarios[i].run();
    unsigned long before = moved;
    while (moved < before + 8) usleep(1000);
    stop = true;
    MUST(!pthread_join(thread, NULL));
    end_free(end);
    return ibv_close_device(context) ? 1 : 0;
}
