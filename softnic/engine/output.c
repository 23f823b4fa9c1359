/* The trace's file, whose reader may be slow, stop, or leave: neither the device nor the
 * application waits for it, and no signal comes of it.
 *
 * Records pass through a buffer. A slow reader is given PATIENCE; then records are lost
 * and counted until it reads again. A reader that has left ends the trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"

enum { ROOM = 1 << 20, PIECE = 4096, PATIENCE = 50, PARTING = 200 }; /* bytes; the last two in ms */
enum { AGAIN_LATER = 10000000 };                                     /* ns */
enum way { WAY_PLAIN, WAY_OWN, WAY_SOCKET, WAY_SHARED };

static struct {
    int fd;
    enum way way;
    char *bytes;
    size_t start, end;
    uint64_t lost;
    bool stalled; /* it had its patience */
    pid_t owner;
} out = {.fd = -1};

bool output_is_open(void) { return out.fd >= 0; }
uint64_t output_lost(void) { return out.lost; }

static void end_it(void) {
    if (out.fd >= 0) close(out.fd);
    free(out.bytes);
    out.fd = -1;
    out.bytes = NULL;
    out.start = out.end = 0;
}

/* A pipe or terminal is opened again, so that not to wait is a setting of ours and not of the
 * application's. */
static int own_description(int fd, enum way *way) {
    struct stat status;
    char name[40];
    *way = WAY_PLAIN;
    if (fstat(fd, &status) || S_ISREG(status.st_mode)) return fd;
    *way = S_ISSOCK(status.st_mode) ? WAY_SOCKET : WAY_SHARED;
    if (*way == WAY_SOCKET) return fd;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int own = open(name, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own < 0) return fd;
    close(fd);
    *way = WAY_OWN;
    return own;
}

int output_open(const char *path) {
    int fd;
    /* Descriptors are ours alone: the application may close or reuse its stderr. */
    if (!strcmp(path, "-")) {
        fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    } else {
        int flags = O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
        fd = open(path, O_WRONLY | flags, 0666);
        /* its reader will come */
        if (fd < 0 && errno == ENXIO) fd = open(path, O_RDWR | flags, 0666);
    }
    if (fd < 0) return errno;
    if (!(out.bytes = malloc(ROOM))) {
        close(fd);
        return ENOMEM;
    }
    if (!strcmp(path, "-")) fd = own_description(fd, &out.way);
    else out.way = WAY_OWN;
    out.fd = fd_high(fd);
    out.owner = getpid();
    return 0;
}

static bool writable(int wait) {
    struct pollfd fd = {.fd = out.fd, .events = POLLOUT};
    return poll(&fd, 1, wait) > 0;
}

/* As write(), but EAGAIN instead of waiting and an errno value instead of a signal. */
static ssize_t put(const char *bytes, size_t len) {
    static const struct timespec none;
    sigset_t ours, before, waiting;
    if (out.way == WAY_SOCKET) return send(out.fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (out.way == WAY_SHARED) { /* so much fits if any does, as long as no other writes */
        if (!writable(0)) {
            errno = EAGAIN;
            return -1;
        }
        if (len > PIECE) len = PIECE;
    }
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    sigpending(&waiting);
    bool theirs = sigismember(&waiting, SIGPIPE) || sigismember(&waiting, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &ours, &before);
    ssize_t done = write(out.fd, bytes, len);
    int error = errno;
    if (done < 0 && (error == EPIPE || error == EFBIG) && !theirs) sigtimedwait(&ours, NULL, &none);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return done;
}

void output_flush(void) {
    while (out.fd >= 0 && out.start < out.end) {
        ssize_t done = put(out.bytes + out.start, out.end - out.start);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0 && errno == EAGAIN) return;
        if (done <= 0) { /* a full disk, or a reader that left */
            end_it();
            return;
        }
        out.start += (size_t)done;
        out.stalled = false;
    }
    out.start = out.end = 0;
}

static bool has_room(size_t len) {
    if (ROOM - (out.end - out.start) < len) return false;
    if (ROOM - out.end >= len) return true;
    memmove(out.bytes, out.bytes + out.start, out.end - out.start);
    out.end -= out.start;
    out.start = 0;
    return true;
}

void output_write(const char *bytes, size_t len) {
    if (out.fd < 0) return;
    if (out.start < out.end) output_flush();
    if (!has_room(len) && !out.stalled && len <= ROOM) {
        writable(PATIENCE);
        output_flush();
        out.stalled = out.fd >= 0 && !has_room(len);
    }
    if (out.fd < 0) return;
    if (!has_room(len)) {
        out.lost++;
        return;
    }
    memcpy(out.bytes + out.end, bytes, len);
    out.end += len;
    output_flush();
}

void output_lost_is(uint64_t records) { out.lost = records; }
bool output_recovered(void) {
    output_flush();
    return out.end - out.start < ROOM / 2;
}

uint64_t output_due(void) { return out.start < out.end ? now() + AGAIN_LATER : 0; }

void output_fork_child(void) { out.start = out.end = 0; } /* the parent writes them */

void output_drain(void) {
    if (out.owner != getpid()) return;
    while (out.fd >= 0 && out.start < out.end) {
        size_t before = out.end - out.start;
        writable(PARTING);
        output_flush();
        if (out.fd < 0 || out.end - out.start >= before) break;
    }
}
