/* The directory that replaces /sys: its name, its creation and its removal.
 *
 * The name is chosen and exported as SYSFS_PATH when the library is loaded, which costs nothing.
 * The files are created when a program first opens them: most processes that inherit LD_PRELOAD
 * (ls, sh) never do. Other users can write to the parent directory (/tmp), so no predictable name
 * is used there: mkdtemp creates the directory, and files are created and removed relative to its
 * descriptor.
 */
#include "shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "mkeyspec-softnic-"
enum { DEPTH = 12, OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static char directory[PATH_ROOM - 128];
static const char *last; /* its last component */
static pid_t owner;
static bool failed;    /* what is there, if anything, is not ours */
static bool inherited; /* from this process before its exec; maybe another personality's */

const char *staging_path(void) { return directory; }

/* Can a user other than this one and root replace our directory by another one? */
static bool is_safe(const char *place) {
    struct stat status;

    if (fstatat(AT_FDCWD, place, &status, 0) || !S_ISDIR(status.st_mode)) return false;
    if (status.st_uid && status.st_uid != geteuid()) return false;
    return !(status.st_mode & (S_IWGRP | S_IWOTH)) || status.st_mode & S_ISVTX;
}

static const char *temporary(void) {
    const char *place = getenv("TMPDIR");

    return place && *place == '/' && strlen(place) < sizeof(directory) - 96 && is_safe(place)
               ? place
               : "/tmp";
}

/* Opens a directory of this user that no other user may read; -1: it does not exist or is not
 * private. */
static int open_own(int at, const char *name) {
    struct stat status;
    int fd = openat(at, name, OPEN_DIRECTORY);

    if (fd < 0) return -1;
    if (!fstat(fd, &status) && status.st_uid == geteuid() &&
        !(status.st_mode & (S_IRWXG | S_IRWXO)))
        return fd;
    libc_real()->close(fd);
    return -1;
}

/* Removes everything in the directory `fd`, and closes it. Follows no link. */
static void empty(int fd, int depth) {
    DIR *stream = fdopendir(fd);
    struct dirent *entry;

    if (!stream) {
        libc_real()->close(fd);
        return;
    }
    while ((entry = readdir(stream))) {
        int below;

        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
            !unlinkat(fd, entry->d_name, 0))
            continue;
        below = depth ? openat(fd, entry->d_name, OPEN_DIRECTORY) : -1;
        if (below >= 0) empty(below, depth - 1);
        unlinkat(fd, entry->d_name, AT_REMOVEDIR);
    }
    closedir(stream);
}

static void remove_own(int at, const char *name) {
    int fd = open_own(at, name);

    if (fd < 0) return;
    empty(fd, DEPTH);
    unlinkat(at, name, AT_REMOVEDIR);
}

/* The namespace of the pid in a name: two containers may share /tmp. */
static unsigned long pid_namespace(void) {
    char link[64] = "";
    unsigned long number = 0;
    ssize_t length = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);

    if (length > 0) sscanf(link, "pid:[%lu]", &number);
    return number;
}

static bool name_parts(const char *name, unsigned long *space, int *pid) {
    return !strncmp(name, PREFIX, sizeof(PREFIX) - 1) &&
           sscanf(name + sizeof(PREFIX) - 1, "%lu-%d-", space, pid) == 2;
}

/* Directories of processes that were killed before they could clean up. */
static void sweep(int place) {
    unsigned long here = pid_namespace(), space;
    int copy = openat(place, ".", OPEN_DIRECTORY), pid, left = 4096;
    DIR *stream = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *entry;

    while (stream && left-- && (entry = readdir(stream))) {
        if (!name_parts(entry->d_name, &space, &pid) || space != here || pid <= 0 ||
            !kill(pid, 0) || errno != ESRCH)
            continue;
        remove_own(place, entry->d_name);
    }
    if (stream) closedir(stream);
    else if (copy >= 0) libc_real()->close(copy);
}

/* The parent directory, as a descriptor. The name is absolute and has a last component. */
static int open_place(void) {
    char path[sizeof(directory)];

    snprintf(path, sizeof(path), "%.*s", (int)(last - directory), directory);
    return openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

__attribute__((constructor)) static void choose(void) {
    const char *set = getenv("SYSFS_PATH"), *name = set ? strrchr(set, '/') : NULL;
    unsigned long space, random = 0;
    int pid;

    owner = getpid();
    if (set && !(name && name_parts(name + 1, &space, &pid)))
        return; /* the user has set another directory */
    if (set && pid == owner && space == pid_namespace() && strlen(set) < sizeof(directory)) {
        strcpy(directory, set);
        last = strrchr(directory, '/') + 1;
        inherited = true;
        return;
    }
    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
        random = (unsigned long)(uintptr_t)&random;
    snprintf(directory, sizeof(directory), "%s/" PREFIX "%lu-%d-%016lx", temporary(),
             pid_namespace(), owner, random);
    last = strrchr(directory, '/') + 1;
    setenv("SYSFS_PATH", directory, 1);
}

/* Created under another name and renamed: several children of one parent may do it at once. */
static int publish_at(int place, staging_fill *fill) {
    char base[sizeof(directory)], *aside;
    int fd, error = 0;

    /* Not a name that begins with the directory's own, which path_redirect would stop at. */
    snprintf(base, sizeof(base), "%.*s%lu-%d-newXXXXXX",
             (int)(last - directory) + (int)sizeof(PREFIX) - 1, directory, pid_namespace(),
             getpid());
    if (!mkdtemp(base)) return errno;
    aside = base + (last - directory);
    fd = open_own(place, aside);
    if (fd < 0) return EPERM;
    error = fill(fd);
    if (error) {
        remove_own(place, aside);
        libc_real()->close(fd);
        return error;
    }
    if (inherited && getpid() == owner) renameat(place, last, fd, "old");
    if (renameat(place, aside, place, last)) {
        int other = open_own(place, last); /* another thread or child was first */

        error = other < 0 ? errno ? errno : EPERM : 0;
        if (other >= 0) libc_real()->close(other);
        remove_own(place, aside);
    } else {
        int old = openat(fd, "old", OPEN_DIRECTORY);

        if (old >= 0) {
            empty(old, DEPTH);
            unlinkat(fd, "old", AT_REMOVEDIR);
        }
    }
    libc_real()->close(fd);
    return error;
}

bool staging_failed(void) { return failed; }

void staging_publish(staging_fill *fill) {
    int place = open_place(), error = place < 0 ? errno : 0;

    if (!error) {
        sweep(place);
        error = publish_at(place, fill);
        libc_real()->close(place);
    }
    failed = error;
    if (error)
        fprintf(stderr, "mkeyspec softnic: no directory %s: %s\n", directory, strerror(error));
}

__attribute__((destructor)) static void tidy(void) {
    int place;

    /* rmdir() passes no interposer. Any other look at a directory that is not there would make it,
     * in each process that ends. */
    if (!*directory || getpid() != owner || !rmdir(directory) || errno == ENOENT) return;
    place = open_place();
    if (place < 0) return;
    remove_own(place, last);
    libc_real()->close(place);
}

/* A child of fork() reads its parent's files, writes them if the parent had no need of them, and
 * leaves them alone when it ends. */
