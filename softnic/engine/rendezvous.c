/* How the processes of a fabric find one another: each listens on a unix socket whose name
 * (names.c) is a number. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine.h"

enum { BACKLOG = 128, NAME_ROOM = 12 };
enum { REST = 50000000 }; /* ns without listening, after accept() lacked a descriptor */

static int listener = -1;
static uint64_t deaf_until;

static int socket_new(void) {
    return fd_high(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

static socklen_t address(uint32_t slot, char name[NAME_ROOM], struct sockaddr_un *out) {
    snprintf(name, NAME_ROOM, "%u", slot);
    return names_address(name, out);
}

/* Is the process at the other end one of this user's? */
static bool is_ours(int fd) {
    struct ucred who;
    socklen_t len = sizeof who;
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) && who.uid == names_user();
}

static int listen_at(uint32_t slot) {
    struct sockaddr_un un;
    char name[NAME_ROOM];
    socklen_t len = address(slot, name, &un);
    int error = names_take(slot, name), fd = error ? -1 : socket_new();
    if (error) return error;
    if (fd >= 0 && !bind(fd, (struct sockaddr *)&un, len) && !listen(fd, BACKLOG)) {
        listener = fd;
        return 0;
    }
    error = errno;
    if (fd >= 0) close(fd);
    names_give(slot, name);
    return error;
}

int rendezvous_start(uint32_t slots, uint32_t *slot) {
    const char *named = getenv("MKEYSPEC_SOFTNIC_FABRIC");
    if (!named || !*named) return 0;
    int error = names_start();
    if (error) return error;
    if (!names_fabric()) return 0; /* it had no name when the process looked first */
    uint32_t first = (uint32_t)getpid() * 2654435761u;
    for (uint32_t i = 0; i < slots - 1; i++) {
        *slot = 1 + (first + i) % (slots - 1);
        error = listen_at(*slot);
        if (error != EADDRINUSE) break;
    }
    if (error == EADDRINUSE)
        fprintf(stderr, "mkeyspec softnic: fabric %s: all %u places are taken\n", named, slots - 1);
    else if (error) fprintf(stderr, "mkeyspec softnic: fabric %s: %s\n", named, strerror(error));
    return error;
}

bool rendezvous_is_open(void) { return listener >= 0; }

void rendezvous_end(void) {
    if (listener >= 0) close(listener);
    listener = -1;
    deaf_until = 0;
}

int rendezvous_connect(uint32_t slot) {
    struct sockaddr_un un;
    char name[NAME_ROOM];
    socklen_t len = address(slot, name, &un);
    int fd = socket_new();
    if (fd < 0) return -1;
    if (connect(fd, (struct sockaddr *)&un, len)) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    if (is_ours(fd)) return fd;
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
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            deaf_until = now() + REST;
        return errno == EINTR || errno == ECONNABORTED;
    }
    if (is_ours(got)) *fd = fd_high(got);
    else close(got);
    return true;
}

int rendezvous_poll_fd(void) { return deaf_until ? -1 : listener; }
uint64_t rendezvous_due(void) { return deaf_until; }
