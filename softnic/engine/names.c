/* Where the processes of a fabric meet: sockets in a directory that belongs to their user alone.
 *
 *     $XDG_RUNTIME_DIR/mkeyspec-softnic/FABRIC/, or /tmp/mkeyspec-softnic-UID/FABRIC/
 *
 * A socket's file outlives a process that is killed, so a name is had by who has locked its byte in
 * the file `lock` there: the kernel takes locks back however a process ends (they are of the open
 * file: a forked child, which closes its copy, takes none with it). Every process of the fabric
 * shares the lock on byte 0; who can have it alone is the last one, or comes after dead ones, and
 * removes the directory.
 *
 * Nothing is followed on the way: other users can write to /tmp, and may have taken our name there.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine.h"

enum { NAME_MOST = 64, OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
/* PAUSE: us, while another process removes what is left */
enum { TRIES = 1000, PAUSE = 1000, SWEPT = 4096 };
enum { PRESENCE = 0 };
#define LOCK "lock"

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static pid_t owner; /* whose the rest is; 0: none */
static int base = -1, directory = -1, lock = -1;
static uid_t user;
static char fabric[NAME_MOST + 1], path[PATH_MAX];

unsigned names_user(void) { return user; }

/* ---- locks ------------------------------------------------------------------------------- */

static bool lock_byte(int fd, uint64_t at, short type) {
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)at, .l_len = 1};
    int done;
    while ((done = fcntl(fd, F_OFD_SETLK, &range)) && errno == EINTR) {}
    return !done;
}

/* ---- directories ------------------------------------------------------------------------- */

static bool is_own(int fd) {
    struct stat status;
    return !fstat(fd, &status) && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
           !(status.st_mode & (S_IRWXG | S_IRWXO));
}

/* This user's directory of that name, made if it isn't there; -1 and errno, EPERM: it is another's,
 * or open to others. */
static int own_directory(int at, const char *name) {
    bool made = !mkdirat(at, name, 0700);
    if (!made && errno != EEXIST) return -1;
    int fd = fd_high(openat(at, name, OPEN_DIRECTORY));
    if (fd < 0) {
        if (errno == ELOOP || errno == ENOTDIR) errno = EPERM;
        return -1;
    }
    if (made) fchmod(fd, 0700); /* the umask may have taken more */
    if (is_own(fd)) return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

/* Only this user can name things in it. */
static bool is_private(const char *place) {
    struct stat status;
    return !fstatat(AT_FDCWD, place, &status, 0) && S_ISDIR(status.st_mode) &&
           status.st_uid == geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH));
}

static int open_base(char *text, size_t room) {
    const char *place = getenv("XDG_RUNTIME_DIR");
    if (place && *place == '/' && strlen(place) < room - NAME_MOST && is_private(place))
        snprintf(text, room, "%s/mkeyspec-softnic", place);
    else snprintf(text, room, "/tmp/mkeyspec-softnic-%u", (unsigned)geteuid());
    int fd = own_directory(AT_FDCWD, text);
    if (fd < 0 && errno == EPERM)
        fprintf(
            stderr,
            "mkeyspec softnic: %s is not a directory of this user alone; XDG_RUNTIME_DIR may name "
            "another place\n",
            text);
    return fd;
}

/* Without anybody in it: its lock file is locked by us alone. */
static void empty(int at, const char *name, int fd) {
    int copy = openat(fd, ".", OPEN_DIRECTORY);
    DIR *stream = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *entry;
    while (stream && (entry = readdir(stream)))
        if (*entry->d_name != '.' && strcmp(entry->d_name, LOCK)) unlinkat(fd, entry->d_name, 0);
    if (stream) closedir(stream);
    else if (copy >= 0) close(copy);
    unlinkat(fd, LOCK, 0);
    unlinkat(at, name, AT_REMOVEDIR);
}

/* A fabric whose processes were all killed. */
static void sweep_one(const char *name) {
    int fd = openat(base, name, OPEN_DIRECTORY);
    if (fd < 0) return;
    int held = is_own(fd) ? openat(fd, LOCK, O_RDWR | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (held >= 0 && lock_byte(held, PRESENCE, F_WRLCK)) empty(base, name, fd);
    else if (held < 0 && errno == ENOENT) unlinkat(base, name, AT_REMOVEDIR);
    if (held >= 0) close(held);
    close(fd);
}

static void sweep(void) {
    int copy = openat(base, ".", OPEN_DIRECTORY), left = SWEPT;
    DIR *stream = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *entry;
    while (stream && left-- && (entry = readdir(stream)))
        if (*entry->d_name != '.') sweep_one(entry->d_name);
    if (stream) closedir(stream);
    else if (copy >= 0) close(copy);
}

static void close_all(void) {
    int *all[] = {&base, &directory, &lock};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (*all[i] >= 0) close(*all[i]);
        *all[i] = -1;
    }
    owner = 0;
}

/* The fabric's directory, and our presence in it; another process may be removing it just now. */
static int enter(void) {
    struct stat mine, there;
    for (int i = 0; i < TRIES; i++) {
        directory = own_directory(base, fabric);
        if (directory < 0 && errno != ENOENT) return errno;
        lock =
            directory < 0
                ? -1
                : fd_high(openat(directory, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (lock < 0 && directory >= 0 && errno != ENOENT) return errno;
        bool ours = lock >= 0 && lock_byte(lock, PRESENCE, F_RDLCK);
        if (ours && !fstat(lock, &mine) && !fstatat(directory, LOCK, &there, AT_SYMLINK_NOFOLLOW) &&
            mine.st_ino == there.st_ino)
            return 0;
        if (lock >= 0) close(lock);
        if (directory >= 0) close(directory);
        lock = directory = -1;
        usleep(PAUSE);
    }
    return EAGAIN;
}

/* ---- start and end ----------------------------------------------------------------------- */

static bool is_name(const char *text) {
    if (*text == '.') return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && !strchr("_.-", *text)) return false;
    return true;
}

/* Without a fabric a process hears only itself, by a name that no fabric has. */
static int choose(void) {
    const char *named = getenv("MKEYSPEC_SOFTNIC_FABRIC");
    unsigned long random = 0;
    if (!named || !*named) {
        if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
            random = (unsigned long)now();
        snprintf(fabric, sizeof fabric, ",%d-%016lx", (int)getpid(), random);
        return 0;
    }
    if (strlen(named) > NAME_MOST) {
        fprintf(stderr, "mkeyspec softnic: MKEYSPEC_SOFTNIC_FABRIC has more than %d characters\n",
                NAME_MOST);
        return EINVAL;
    }
    if (!is_name(named)) {
        fprintf(
            stderr,
            "mkeyspec softnic: MKEYSPEC_SOFTNIC_FABRIC may have letters, digits, '_', '.' and '-', "
            "and no '.' in front\n");
        return EINVAL;
    }
    strcpy(fabric, named);
    return 0;
}

static int start(void) {
    char text[PATH_MAX - 2 * NAME_MOST];
    int error = choose();
    if (error) return error;
    user = geteuid();
    base = open_base(text, sizeof text);
    if (base < 0) return errno;
    sweep();
    error = enter();
    if (error) {
        fprintf(stderr, "mkeyspec softnic: %s/%s: %s\n", text, fabric, strerror(error));
        close_all();
        return error;
    }
    snprintf(path, sizeof path, "%s/%s", text, fabric);
    owner = getpid();
    return 0;
}

int names_start(void) {
    pthread_mutex_lock(&starting);
    int error = owner == getpid() ? 0 : start();
    pthread_mutex_unlock(&starting);
    return error;
}

const char *names_fabric(void) { return *fabric == ',' ? NULL : fabric; }

/* The parent's names stay the parent's. */
void names_fork_child(void) {
    pthread_mutex_init(&starting, NULL);
    close_all();
}

__attribute__((destructor)) static void leave(void) {
    if (owner != getpid()) return;
    if (lock_byte(lock, PRESENCE, F_WRLCK)) empty(base, fabric, directory);
    close_all();
}

/* ---- names ------------------------------------------------------------------------------- */

int names_take(uint64_t place, const char *name) {
    if (owner != getpid()) return EBADF;
    if (!lock_byte(lock, 1 + place, F_WRLCK))
        return errno == EAGAIN || errno == EACCES ? EADDRINUSE : errno;
    unlinkat(directory, name, 0); /* of a process that was killed */
    return 0;
}

void names_give(uint64_t place, const char *name) {
    if (owner != getpid()) return;
    unlinkat(directory, name, 0);
    lock_byte(lock, 1 + place, F_UNLCK);
}

unsigned names_address(const char *name, struct sockaddr_un *out) {
    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    size_t room = sizeof out->sun_path;
    if (strlen(path) + 1 + strlen(name) < room)
        snprintf(out->sun_path, room, "%.*s/%.40s", (int)room - 42, path, name);
    else snprintf(out->sun_path, room, "/proc/self/fd/%d/%.40s", directory, name);
    return sizeof *out;
}
