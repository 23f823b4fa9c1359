/* How the processes of a fabric find one another: each listens on an abstract unix socket, whose name holds
 * the user, the fabric and a number. bind() gives the number out; the kernel takes it back when the process
 * ends, however it does.
 *
 * Anybody in the network namespace may take abstract names. Another user who takes all of a fabric's keeps
 * new processes of that fabric from starting, and no more: who is at the other end of a connection is asked
 * of the kernel.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine.h"

enum { NAME_MOST = 64, BACKLOG = 128, PREFIX_ROOM = 100 };
enum { REST = 50000000 };               /* ns without listening, after accept() lacked a descriptor */

static int listener = -1;
static uint64_t deaf_until;
/* As it was when the NIC started: the application may change its environment and its user. */
static char prefix[PREFIX_ROOM];
static uid_t user;

static int socket_new(void) { return fd_high(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

static socklen_t address(uint32_t slot, struct sockaddr_un *out) {
    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    int n = snprintf(out->sun_path + 1, sizeof out->sun_path - 1, "%s/%u", prefix, slot);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* Whose process is at the other end? */
static bool peer_user(int fd, uid_t *out) {
    struct ucred who;
    socklen_t len = sizeof who;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len)) return false;
    *out = who.uid;
    return true;
}

static bool is_ours(int fd) {
    uid_t who;
    return peer_user(fd, &who) && who == user;
}

static int connected(uint32_t slot) {
    struct sockaddr_un un;
    socklen_t len = address(slot, &un);
    int fd = socket_new();
    if (fd < 0) return -1;
    if (!connect(fd, (struct sockaddr *)&un, len)) return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static void tell_taken(const char *name, uint32_t slots, uint32_t slot) {
    uid_t who = user;
    int fd = connected(slot);
    if (fd >= 0) {
        peer_user(fd, &who);
        close(fd);
    }
    fprintf(stderr, "mkeyspec softnic: fabric %s: all %u places are taken", name, slots - 1);
    if (who != user) fprintf(stderr, ", by user %u", (unsigned)who);
    fprintf(stderr, "\n");
}

int rendezvous_start(uint32_t slots, uint32_t *slot) {
    const char *name = getenv("MKEYSPEC_SOFTNIC_FABRIC");
    if (!name || !*name) return 0;
    if (strlen(name) > NAME_MOST) {
        fprintf(stderr, "mkeyspec softnic: MKEYSPEC_SOFTNIC_FABRIC has more than %d characters\n", NAME_MOST);
        return EINVAL;
    }
    user = geteuid();
    snprintf(prefix, sizeof prefix, "mkeyspec-softnic/%u/%s", (unsigned)user, name);
    int fd = socket_new();
    if (fd < 0) return errno;
    uint32_t first = (uint32_t)getpid() * 2654435761u;
    for (uint32_t i = 0; i < slots - 1; i++) {
        struct sockaddr_un un;
        *slot = 1 + (first + i) % (slots - 1);
        socklen_t len = address(*slot, &un);
        if (!bind(fd, (struct sockaddr *)&un, len)) {
            if (listen(fd, BACKLOG)) break;
            listener = fd;
            return 0;
        }
        if (errno != EADDRINUSE) break;
    }
    int error = errno;
    close(fd);
    if (error == EADDRINUSE) tell_taken(name, slots, *slot);
    else fprintf(stderr, "mkeyspec softnic: fabric %s: %s\n", name, strerror(error));
    return error;
}

bool rendezvous_is_open(void) { return listener >= 0; }

void rendezvous_end(void) {
    if (listener >= 0) close(listener);
    listener = -1;
    deaf_until = 0;
}

int rendezvous_connect(uint32_t slot) {
    int fd = connected(slot);
    if (fd < 0 || is_ours(fd)) return fd;
    close(fd);
    errno = ECONNREFUSED;
    return -1;
}

/* What waits stays in the backlog until there is a descriptor for it. */
bool rendezvous_accept(int *fd) {
    *fd = -1;
    if (listener < 0 || (deaf_until && now() < deaf_until)) return false;
    deaf_until = 0;
    int got = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (got < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) deaf_until = now() + REST;
        return errno == EINTR || errno == ECONNABORTED;
    }
    if (is_ours(got)) *fd = fd_high(got);
    else close(got);
    return true;
}

int rendezvous_poll_fd(void) { return deaf_until ? -1 : listener; }
uint64_t rendezvous_due(void) { return deaf_until; }
