/* The device thread: woken by stores to UAR pages, it works off the queues and sleeps again.
 *
 * A UAR page is anonymous memory registered with userfaultfd and kept empty, so the application's store to it faults and blocks until we
 * let it go on. Before that all queues are worked off: completions are there when the posting call returns. The driver writes the doorbell
 * record before it stores to the UAR, hence: empty the page (arm), look at all records once more, sleep; no wake-up is lost.
 *
 * A page must not be emptied again at once, or the same store faults again and again: the poster needs the processor to finish it. SLICE.
 *
 * Without userfaultfd (sandboxes, sysctl) the records are polled, ever more slowly while nothing happens.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"

enum { PAGE = 4096, FDS = 1024 };
enum { SLICE = 20000, POLL_QUICK = 20000, POLL_SLOW = 1000000, POLL_IDLE = 3000000 };   /* ns */
enum { QUICK_ROUNDS = 50, SLOW_ROUNDS = 350 };

struct page { uint64_t start; size_t length; bool armed; };
static struct { struct page *page; size_t pages, room; } watched;
static pthread_mutex_t pages_mutex = PTHREAD_MUTEX_INITIALIZER;     /* guards `watched`; taken after no other */
static int fault_fd = -1, kick_fd = -1;

static int userfault_open(void) {
    /* Faults of user mode are all we need, and all that an unprivileged process may have. */
    int fd = fd_high((int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY));
    if (fd < 0 && errno == EINVAL)      /* Linux before 5.11 doesn't know the flag */
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
    if (kick_fd >= 0 && write(kick_fd, &one, sizeof one) < 0) return;   /* full: it is awake anyway */
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
        struct uffdio_register range = {.range = {(uintptr_t)page, length}, .mode = UFFDIO_REGISTER_MODE_MISSING};
        if (ioctl(fault_fd, UFFDIO_REGISTER, &range)) error = errno;
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
        madvise((void *)(uintptr_t)watched.page[i].start, watched.page[i].length, MADV_DONTNEED);
        watched.page[i].armed = true;
    }
    pthread_mutex_unlock(&pages_mutex);
}

static void release(uint64_t address) {
    struct uffdio_zeropage zero = {.range = {address & ~(uint64_t)(PAGE - 1), PAGE}};
    pthread_mutex_lock(&pages_mutex);
    for (size_t i = 0; i < watched.pages; i++)
        if (address >= watched.page[i].start && address - watched.page[i].start < watched.page[i].length) watched.page[i].armed = false;
    /* Somebody else's page fault may have filled it meanwhile: then the waiting ones only need waking. */
    if (ioctl(fault_fd, UFFDIO_ZEROPAGE, &zero) && errno == EEXIST) ioctl(fault_fd, UFFDIO_WAKE, &zero.range);
    pthread_mutex_unlock(&pages_mutex);
}

/* Works until nothing is left; the time at which something is due, 0 if nothing is. */
static uint64_t work(void) {
    uint64_t next = 0;
    bool more = true;
    while (more) {
        nic_lock();
        more = nic_round(&next);
        nic_unlock();
    }
    return next;
}

static bool answer_faults(void) {
    struct uffd_msg message[16];
    bool any = false;
    ssize_t got;
    while ((got = read(fault_fd, message, sizeof message)) > 0) {
        work();
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
    if (limit > time) timeout = (struct timespec){(time_t)((limit - time) / 1000000000u), (long)((limit - time) % 1000000000u)};
    ppoll(fds, n, limit ? &timeout : NULL, NULL);
}

static size_t sources(struct pollfd *fds, size_t room) {
    size_t n = 0;
    fds[n++] = (struct pollfd){.fd = kick_fd, .events = POLLIN};
    if (fault_fd >= 0) fds[n++] = (struct pollfd){.fd = fault_fd, .events = POLLIN};
    return n + fabric_poll_fds(fds + n, room - n);
}

/* The application mostly spins in poll_cq while we work: on few processors the device should get one soon after it wakes. Linux 6.12 and
 * later give a thread that asks for short slices its turn early; where the kernel doesn't know that, nothing changes. */
static void be_prompt(void) {
    struct { uint32_t size, policy; uint64_t flags; int32_t nice; uint32_t priority; uint64_t runtime, deadline, period; } attr = {
        .size = sizeof attr, .runtime = 100000,
    };
    prctl(PR_SET_TIMERSLACK, 1);
    syscall(SYS_sched_setattr, 0, &attr, 0);
}

static void *device_trapped(void *nothing) {
    struct pollfd fds[FDS];
    uint64_t rearm = 0;                 /* when the pages may be emptied again; 0: they are */
    be_prompt();
    for (;;) {
        if (answer_faults()) rearm = now() + SLICE;
        if (rearm && now() >= rearm) {
            arm_all();
            rearm = 0;
        }
        uint64_t next = work();
        nic_lock();
        size_t n = sources(fds, FDS);
        nic_unlock();
        if (rearm && (!next || rearm < next)) next = rearm;
        wait_for(fds, n, next);
        if (fds[0].revents) drain_kicks();
    }
    return nothing;
}

static void *device_polling(void *nothing) {
    struct pollfd fds[FDS];
    unsigned quiet = 0;
    be_prompt();
    for (;;) {
        uint64_t next = 0;
        nic_lock();
        bool any = nic_round(&next);
        size_t n = sources(fds, FDS);
        nic_unlock();
        quiet = any ? 0 : quiet + 1;
        pthread_mutex_lock(&pages_mutex);
        bool idle = !watched.pages;
        pthread_mutex_unlock(&pages_mutex);
        uint64_t limit = idle ? 0 : now() + (quiet < QUICK_ROUNDS ? POLL_QUICK : quiet < SLOW_ROUNDS ? POLL_SLOW : POLL_IDLE);
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
    /* After a fork everything of the parent's is given up; its descriptors stay open until exec, as any library's do. */
    watched.pages = 0;
    pthread_mutex_init(&pages_mutex, NULL);
    kick_fd = fd_high(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (kick_fd < 0) return errno;
    fault_fd = personality()->trap ? userfault_open() : -1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int error = pthread_create(&thread, &attr, fault_fd >= 0 ? device_trapped : device_polling, NULL);
    if (!error) pthread_setname_np(thread, "softnic");
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}
