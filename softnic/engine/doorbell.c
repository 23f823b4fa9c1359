/* The device thread: woken by stores to UAR pages, it works off the queues and sleeps again.
 *
 * A UAR page is anonymous memory registered with userfaultfd and kept empty, so the application's
 * store to it faults and blocks until we let it go on. Before that all queues are worked off:
 * completions are there when the posting call returns. But not for longer than ANSWER: a queue that
 * another thread keeps full never ends. The driver writes the doorbell record before it stores to
 * the UAR, hence: empty the page (arm), look at all records once more, sleep; no wake-up is lost.
 *
 * A page must not be emptied again at once, or the same store faults again and again: the poster
 * needs the processor to finish it. SLICE.
 *
 * Without userfaultfd (sandboxes, sysctl) the records are polled, ever more slowly while nothing
 * happens; also if a page can't be emptied any more (`deaf`).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"

enum { FDS = 1024 };
/* ns */
enum {
    ANSWER = 2000000,
    SLICE = 20000,
    POLL_QUICK = 20000,
    POLL_SLOW = 1000000,
    POLL_IDLE = 3000000
};
enum { QUICK_ROUNDS = 50, SLOW_ROUNDS = 350 };

struct page {
    uint64_t start;
    size_t length;
    bool armed;
};
static struct {
    struct page *page;
    size_t pages, room;
} watched;
/* guards `watched`; taken after no other */
static pthread_mutex_t pages_mutex = PTHREAD_MUTEX_INITIALIZER;
static int fault_fd = -1, kick_fd = -1;
static atomic_bool deaf; /* a store may go unheard */

static int userfault_open(void) {
    /* Faults of user mode are all we need, and all that an unprivileged process may have. */
    int fd = fd_high((int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY));
    if (fd < 0 && errno == EINVAL) /* Linux before 5.11 doesn't know the flag */
        fd = fd_high((int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK));
    struct uffdio_api api = {.api = UFFD_API};
    if (fd >= 0 && ioctl(fd, UFFDIO_API, &api)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

bool doorbell_trapped(void) { return fault_fd >= 0; }

void nic_kick(void) {
    uint64_t one = 1;
    if (kick_fd >= 0 && write(kick_fd, &one, sizeof one) < 0) return; /* full: it is awake anyway */
}

/* The next store to the page faults. Locked memory (mlockall) can't be emptied: that lock is of no
 * use to a page of ours. System calls as such, as libraries that watch the memory of their process
 * (UCX) take locks in madvise() and munlock(). */
static void empty(uint64_t start, size_t length) {
    for (int i = 0; i < 8; i++) { /* another thread may be locking everything right now */
        if (!syscall(SYS_madvise, start, length, MADV_DONTNEED)) return;
        syscall(SYS_munlock, start, length);
    }
    deaf = true;
}

int doorbell_watch(void *page, size_t length) {
    int error = 0;
    pthread_mutex_lock(&pages_mutex);
    if (watched.pages == watched.room) {
        size_t room = watched.room ? watched.room * 2 : 16;
        struct page *more = realloc(watched.page, room * sizeof *more);
        if (!more) error = ENOMEM;
        else watched.page = more, watched.room = room;
    }
    if (!error && fault_fd >= 0) {
        struct uffdio_register range = {.range = {(uintptr_t)page, length},
                                        .mode = UFFDIO_REGISTER_MODE_MISSING};
        if (ioctl(fault_fd, UFFDIO_REGISTER, &range)) deaf = true;
        else empty((uintptr_t)page, length); /* mlockall(MCL_FUTURE) has filled it */
    }
    if (!error) watched.page[watched.pages++] = (struct page){(uintptr_t)page, length, true};
    pthread_mutex_unlock(&pages_mutex);
    if (!error) nic_kick();
    return error;
}

void doorbell_forget(void *page, size_t length) {
    uint64_t start = (uintptr_t)page, end = start + length;
    pthread_mutex_lock(&pages_mutex);
    for (size_t i = 0; i < watched.pages;) {
        struct page *it = &watched.page[i];
        if (it->start >= end || it->start + it->length <= start) {
            i++;
            continue;
        }
        struct uffdio_range range = {it->start, it->length};
        if (fault_fd >= 0) ioctl(fault_fd, UFFDIO_UNREGISTER, &range);
        *it = watched.page[--watched.pages];
    }
    pthread_mutex_unlock(&pages_mutex);
}

static void arm_all(void) {
    pthread_mutex_lock(&pages_mutex);
    for (size_t i = 0; i < watched.pages; i++) {
        if (watched.page[i].armed) continue;
        empty(watched.page[i].start, watched.page[i].length);
        watched.page[i].armed = true;
    }
    pthread_mutex_unlock(&pages_mutex);
}

static void release(uint64_t address) {
    struct uffdio_zeropage zero = {.range = {address & ~(page_bytes() - 1), page_bytes()}};
    pthread_mutex_lock(&pages_mutex);
    for (size_t i = 0; i < watched.pages; i++)
        if (address >= watched.page[i].start &&
            address - watched.page[i].start < watched.page[i].length)
            watched.page[i].armed = false;
    /* Somebody else's page fault may have filled it meanwhile: then the waiting ones only need
     * waking. */
    if (ioctl(fault_fd, UFFDIO_ZEROPAGE, &zero)) {
        /* no memory: an ordinary page from now on */
        if (errno != EEXIST && !ioctl(fault_fd, UFFDIO_UNREGISTER, &zero.range)) deaf = true;
        ioctl(fault_fd, UFFDIO_WAKE, &zero.range);
    }
    pthread_mutex_unlock(&pages_mutex);
}

/* One round; true: there may be more to do. *next is the time at which something is due, 0 if
 * nothing is. */
static bool work(uint64_t *next) {
    nic_lock();
    bool more = nic_round(next);
    nic_unlock();
    return more;
}

static bool answer_faults(void) {
    struct uffd_msg message[16];
    bool any = false;
    ssize_t got;
    uint64_t ignored, limit = now() + ANSWER;
    while ((got = read(fault_fd, message, sizeof message)) > 0) {
        while (work(&ignored) && now() < limit) {}
        for (size_t i = 0; i < (size_t)got / sizeof *message; i++)
            if (message[i].event == UFFD_EVENT_PAGEFAULT) release(message[i].arg.pagefault.address);
        any = true;
    }
    return any;
}

static void drain_kicks(void) {
    uint64_t count;
    if (read(kick_fd, &count, sizeof count) < 0) return;
}

static void wait_for(struct pollfd *fds, size_t n, uint64_t limit) {
    uint64_t time = now();
    struct timespec timeout = {0, 0};
    if (limit > time)
        timeout = (struct timespec){(time_t)((limit - time) / 1000000000u),
                                    (long)((limit - time) % 1000000000u)};
    ppoll(fds, n, limit ? &timeout : NULL, NULL);
}

static size_t sources(struct pollfd *fds, size_t room) {
    size_t n = 0;
    fds[n++] = (struct pollfd){.fd = kick_fd, .events = POLLIN};
    if (fault_fd >= 0) fds[n++] = (struct pollfd){.fd = fault_fd, .events = POLLIN};
    return n + fabric_poll_fds(fds + n, room - n);
}

/* The application mostly spins in poll_cq while we work: on few processors the device should get
 * one soon after it wakes. Linux 6.12 and later give a thread that asks for short slices its turn
 * early; where the kernel doesn't know that, nothing changes. The thread stays as nice as the
 * program is: the call would change that too. */
static void be_prompt(void) {
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attr = {
        .size = sizeof attr,
        .nice = getpriority(PRIO_PROCESS, 0),
        .runtime = 100000,
    };
    prctl(PR_SET_TIMERSLACK, 1);
    syscall(SYS_sched_setattr, 0, &attr, 0);
}

/* When to look at the records again, after so many rounds in which nothing was found. */
static uint64_t pause_after(unsigned quiet) {
    return quiet < QUICK_ROUNDS ? POLL_QUICK : quiet < SLOW_ROUNDS ? POLL_SLOW : POLL_IDLE;
}

bool doorbell_covers(uint64_t addr, uint64_t length) {
    bool found = false;
    pthread_mutex_lock(&pages_mutex);
    for (size_t i = 0; i < watched.pages && !found; i++)
        found = addr < watched.page[i].start + watched.page[i].length &&
                watched.page[i].start < addr + length;
    pthread_mutex_unlock(&pages_mutex);
    return found;
}

static bool nothing_watched(void) {
    pthread_mutex_lock(&pages_mutex);
    bool nothing = !watched.pages;
    pthread_mutex_unlock(&pages_mutex);
    return nothing;
}

static void *device_trapped(void *nothing) {
    struct pollfd fds[FDS];
    uint64_t rearm = 0, next; /* when the pages may be emptied again; 0: they are */
    unsigned quiet = 0;
    be_prompt();
    guard_thread();
    for (;;) {
        if (answer_faults()) rearm = now() + SLICE, quiet = 0;
        if (rearm && now() >= rearm) {
            arm_all();
            rearm = 0;
        }
        if (work(&next)) {
            quiet = 0;
            continue;
        }
        nic_lock();
        size_t n = sources(fds, FDS);
        nic_unlock();
        if (rearm && (!next || rearm < next)) next = rearm;
        if (deaf && !nothing_watched()) {
            uint64_t look = now() + pause_after(quiet++);
            if (!next || look < next) next = look;
        }
        wait_for(fds, n, next);
        if (fds[0].revents) drain_kicks();
    }
    return nothing;
}

static void *device_polling(void *nothing) {
    struct pollfd fds[FDS];
    unsigned quiet = 0;
    be_prompt();
    guard_thread();
    for (;;) {
        uint64_t next = 0;
        nic_lock();
        bool any = nic_round(&next);
        size_t n = sources(fds, FDS);
        nic_unlock();
        quiet = any ? 0 : quiet + 1;
        uint64_t limit = nothing_watched() ? 0 : now() + pause_after(quiet);
        if (next && (!limit || next < limit)) limit = next;
        wait_for(fds, n, limit);
        if (fds[0].revents) drain_kicks();
    }
    return nothing;
}

int doorbell_start(void) {
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t all, before;
    /* After a fork everything of the parent's is given up; its descriptors stay open until exec, as
     * any library's do. */
    watched.pages = 0;
    deaf = false;
    pthread_mutex_init(&pages_mutex, NULL);
    kick_fd = fd_high(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (kick_fd < 0) return errno;
    fault_fd = personality()->trap ? userfault_open() : -1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int error =
        pthread_create(&thread, &attr, fault_fd >= 0 ? device_trapped : device_polling, NULL);
    if (!error) pthread_setname_np(thread, "softnic");
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
