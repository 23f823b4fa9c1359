/* Threads that get in one another's way under the software NIC: `threads NAME`, one process each.
 *
 * A scenario ends with 0, or says on stderr what did not hold and ends with 1; the alarm ends one
 * that hangs. Verbs alone (libibverbs), so the real driver posts. How long somebody waits is judged
 * by the processor time that the device's thread takes meanwhile: other processes on the machine do
 * not add to it, and a device that has taken that much had its turn more than once. (The time of
 * all threads of this process won't do: while another process has the device's processor, the
 * neighbours go on burning the other one.)
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "ends.h"

/* ---- a busy neighbour -------------------------------------------------------------------- */

static atomic_bool stop;
static atomic_ulong moved;

/* Keeps its send queue full: the device is never out of work. A context of its own has a doorbell
 * page of its own. */
static void *neighbour(void *nothing) {
    struct ibv_context *own = device_open();
    struct end *end = end_alone_in(own);
    struct ibv_wc wc[DEPTH];
    unsigned under_way = 0;
    while (!stop) {
        while (under_way < DEPTH - 1 && !post_write(end, SIZE / 2)) under_way++;
        int n = ibv_poll_cq(end->cq, DEPTH, wc);
        for (int i = 0; i < n; i++) MUST(wc[i].status == IBV_WC_SUCCESS);
        under_way -= (unsigned)n;
        moved += (unsigned)n;
    }
    while (under_way--) wait_one(end);
    end_free(end);
    MUST(!ibv_close_device(own));
    return nothing;
}

static void neighbours_start(pthread_t *thread, int count) {
    for (int i = 0; i < count; i++) MUST(!pthread_create(&thread[i], NULL, neighbour, NULL));
    while (moved < 8) usleep(1000);
}

static void neighbours_stop(pthread_t *thread, int count) {
    stop = true;
    for (int i = 0; i < count; i++) MUST(!pthread_join(thread[i], NULL));
}

enum { CALLS = 60 };
static const double LONGEST = 0.1; /* seconds of the device's thread, in one call */

/* The clock of the thread that the device calls "softnic"; a thread's clock by its number as the
 * kernel encodes it. */
static clockid_t device_clock(void) {
    enum { PER_THREAD = 4, SCHED = 2 };
    DIR *tasks = opendir("/proc/self/task");
    int found = 0;
    MUST(tasks);
    for (struct dirent *entry; !found && (entry = readdir(tasks));) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(name, sizeof name, file) && !strcmp(name, "softnic\n"))
            found = atoi(entry->d_name);
        if (file) fclose(file);
    }
    closedir(tasks);
    MUST(found);
    return (clockid_t)((unsigned)~found << 3 | PER_THREAD | SCHED);
}

static double seconds_of(clockid_t clock) {
    struct timespec time;
    MUST(!clock_gettime(clock, &time));
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void judge(const char *what, double longest) {
    printf("%s: longest of %d: %.1f ms of the device's time\n", what, CALLS, longest * 1e3);
    if (longest > LONGEST) {
        fprintf(stderr, "%s took %.0f ms of the device's time beside a busy neighbour\n", what,
                longest * 1e3);
        _exit(1);
    }
}

/* Posts, completions and commands, each beside two threads that leave the device no pause. */
static void beside_a_busy_neighbour(void) {
    struct end *end = end_alone();
    pthread_t thread[2];
    double post = 0, done = 0, command = 0;
    clockid_t device = device_clock();
    neighbours_start(thread, 2);
    for (int i = 0; i < CALLS; i++) {
        double began = seconds_of(device);
        MUST(!post_write(end, 64));
        double posted = seconds_of(device);
        wait_one(end);
        double ended = seconds_of(device);
        struct ibv_mr *mr = ibv_reg_mr(end->pd, end->memory, SIZE, ALL);
        MUST(mr && !ibv_dereg_mr(mr));
        double commanded = seconds_of(device);
        if (posted - began > post) post = posted - began;
        if (ended - posted > done) done = ended - posted;
        if (commanded - ended > command) command = commanded - ended;
        usleep(2000); /* the page is emptied again: the next post must be released */
    }
    neighbours_stop(thread, 2);
    judge("post_send", post);
    judge("completion", done);
    judge("reg_mr and dereg_mr", command);
    end_free(end);
}

/* ---- cancellation ------------------------------------------------------------------------ */

static void *modify_for_ever(void *argument) {
    struct end *end = argument;
    for (;;) {
        state(end->qp, 0, IBV_QPS_INIT);
        state(end->qp, 0, IBV_QPS_RESET);
        pthread_testcancel(); /* ioctl() itself is not a point at which threads are cancelled */
    }
    return NULL;
}

/* A thread that is cancelled inside a verb leaves the device usable. */
static void cancellation(void) {
    for (int i = 0; i < 40; i++) {
        struct end *end = end_new(), *other = end_new();
        pthread_t thread;
        MUST(!pthread_create(&thread, NULL, modify_for_ever, end));
        usleep(1000);
        MUST(!pthread_cancel(thread));
        MUST(!pthread_join(thread, NULL));
        state(other->qp, 0, IBV_QPS_INIT);
        MUST(!ibv_dereg_mr(end->mr) && (end->mr = ibv_reg_mr(end->pd, end->memory, SIZE, ALL)));
        end_free(end);
        end_free(other);
    }
}

/* ---- signals ----------------------------------------------------------------------------- */

static struct end *signalled;

static void command_in_handler(int number) {
    (void)number;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
    if (ibv_modify_qp(signalled->qp, &attr, IBV_QP_STATE)) _exit(4);
}

static void *interrupt(void *argument) {
    pthread_t victim = *(pthread_t *)argument;
    while (!stop) {
        pthread_kill(victim, SIGUSR1);
        usleep(50);
    }
    return NULL;
}

/* A handler that gives a command itself, while the thread that it interrupts is in another. */
static void signals(void) {
    struct end *end = end_new();
    pthread_t self = pthread_self(), thread;
    signalled = end_new();
    struct sigaction action = {.sa_handler = command_in_handler};
    MUST(!sigaction(SIGUSR1, &action, NULL));
    MUST(!pthread_create(&thread, NULL, interrupt, &self));
    for (int i = 0; i < 20000; i++) {
        struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
        MUST(!ibv_modify_qp(end->qp, &attr, IBV_QP_STATE));
    }
    stop = true;
    MUST(!pthread_join(thread, NULL));
    end_free(end);
    end_free(signalled);
}

/* ---- two processes ----------------------------------------------------------------------- */

struct card {
    uint32_t qpn, rkey;
    uint64_t addr;
};

/* Two processes, each with a device of its own, connected; in `child` the second. The pipe `fd`
 * leads to the other. */
struct pairing {
    struct end *end;
    struct card peer;
    int in, out;
    pid_t child;
};

static void put(int fd, const void *from, size_t size) {
    MUST(write(fd, from, size) == (ssize_t)size);
}
static void get(int fd, void *to, size_t size) { MUST(read(fd, to, size) == (ssize_t)size); }

static struct pairing paired(void) {
    struct pairing self = {0};
    int there[2], back[2];
    MUST(!pipe(there) && !pipe(back));
    MUST((self.child = fork()) >= 0);
    self.in = self.child ? back[0] : there[0];
    self.out = self.child ? there[1] : back[1];
    close(self.child ? back[1] : there[1]);
    close(self.child ? there[0] : back[0]);
    if (!self.child) alarm(60);
    context = device_open();
    self.end = end_new();
    struct card own = {self.end->qp->qp_num, self.end->mr->rkey, (uintptr_t)self.end->memory};
    put(self.out, &own, sizeof own);
    get(self.in, &self.peer, sizeof self.peer);
    state(self.end->qp, 0, IBV_QPS_INIT);
    state(self.end->qp, self.peer.qpn, IBV_QPS_RTR);
    state(self.end->qp, self.peer.qpn, IBV_QPS_RTS);
    return self;
}

static void renamed(void) {
    struct pairing self = paired();
    struct ibv_sge sge = {(uintptr_t)self.end->memory, 64, self.end->mr->lkey};
    struct ibv_send_wr *bad, wr = {
                                 .sg_list = &sge,
                                 .num_sge = 1,
                                 .opcode = IBV_WR_RDMA_WRITE,
                                 .send_flags = IBV_SEND_SIGNALED,
                                 .wr.rdma = {self.peer.addr, self.peer.rkey},
                             };
    char word = 0;
    unsetenv("MKEYSPEC_SOFTNIC_FABRIC");
    put(self.out, &word, 1); /* both are connected */
    get(self.in, &word, 1);
    MUST(!ibv_post_send(self.end->qp, &wr, &bad));
    wait_one(self.end);
    put(self.out, &word, 1);
    get(self.in, &word, 1);
    if (!self.child) _exit(0);
    int status;
    MUST(waitpid(self.child, &status, 0) == self.child && !status);
    end_free(self.end);
}

/* ---- locked memory ----------------------------------------------------------------------- */

static void pings(struct end *end, int count) {
    while (count--) {
        MUST(!post_write(end, 64));
        wait_one(end);
        usleep(100);
    }
}

static void plain(void) {
    struct end *end = end_alone();
    pings(end, 20);
    end_free(end);
}

/* Much to trace: by the device's thread, and by this one, whose modify-QP flushes receives. */
static void traced(void) {
    struct end *end = end_alone();
    struct ibv_sge sge = {(uintptr_t)end->memory, 64, end->mr->lkey};
    struct ibv_recv_wr *bad, wr = {.sg_list = &sge, .num_sge = 1};
    struct ibv_wc wc;
    char word[2];
    for (int i = 0; i < 4000; i++) {
        MUST(!post_write(end, 64));
        wait_one(end);
    }
    puts("written");
    fflush(stdout);
    MUST(fgets(word, sizeof word, stdin));
    for (int i = 0; i < 20; i++) {
        MUST(!post_write(end, 64));
        wait_one(end);
        usleep(20000);
    }
    for (int i = 0; i < DEPTH; i++) MUST(!ibv_post_recv(end->qp, &wr, &bad));
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    MUST(!ibv_modify_qp(end->qp, &attr, IBV_QP_STATE));
    for (int flushed = 0; flushed < DEPTH;) flushed += ibv_poll_cq(end->cq, 1, &wc);
    end_free(end);
}

/* All memory locked, before the device is opened or after: stores to its pages are still heard. */
static void locked_memory(int flags) {
    struct end *end = end_alone();
    pings(end, 20);
    MUST(!mlockall(flags));
    pings(end, 20);
    struct end *later = end_alone();
    pings(later, 20);
    pings(end, 20);
    MUST(!munlockall());
    pings(end, 20);
    end_free(end);
    end_free(later);
}
static void locked_now(void) { locked_memory(MCL_CURRENT); }
static void locked_all(void) { locked_memory(MCL_CURRENT | MCL_FUTURE); }

static const struct {
    const char *name;
    void (*run)(void);
    bool opens;
} scenarios[] = {
    {"renamed", renamed, true},
    {"beside_a_busy_neighbour", beside_a_busy_neighbour, false},
    {"cancellation", cancellation, false},
    {"signals", signals, false},
    {"plain", plain, false},
    {"traced", traced, false},
    {"locked_now", locked_now, false},
    {"locked_all", locked_all, false},
};

int main(int count, char **words) {
    if (count < 2) return 2;
    signal(SIGALRM, hung);
    alarm(count > 2 ? (unsigned)atoi(words[2]) : 60);
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (!strcmp(scenarios[i].name, words[1])) {
            if (!scenarios[i].opens) context = device_open();
            scenarios[i].run();
            return ibv_close_device(context) ? 1 : 0;
        }
    return 2;
}
