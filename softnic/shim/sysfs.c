/* The directory in which libibverbs and its users find the device: a private copy of the few files of /sys/class/infiniband that anybody
 * reads. Its name is fixed and exported as SYSFS_PATH when the library is loaded, which costs nothing; the files come into being when the
 * first program looks for them, since most processes that inherit LD_PRELOAD (ls, sh) never do. */
#include "shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "mkeyspec-softnic-"
enum { DEPTH = 12 };                    /* of the tree that is made here, and of what is taken away */

const uint8_t NODE_GUID[8] = { 0x0c, 0x42, 0xa1, 0x03, 0x00, 0x01, 0x00, 0x01 };
const uint8_t NODE_MAC[NODE_MAC_SIZE] = { 0x0c, 0x42, 0xa1, 0x01, 0x00, 0x01 };

static char directory[PATH_ROOM - 128];
static pid_t owner;
static bool inherited;                  /* from this process before its exec; it may have been another personality's */

/* ---- addresses ------------------------------------------------------------------------------------------------------------------ */

bool gid_entry(unsigned index, struct ib_uverbs_gid_entry *entry) {
    bool roce = personality() && personality()->roce;
    uint8_t gid[16];

    if (!personality_gid(index, gid))
        return false;
    memset(entry, 0, sizeof(*entry));
    memcpy(entry->gid, gid, 16);
    entry->gid_index = index;
    entry->port_num = 1;
    entry->gid_type = !roce ? IB_UVERBS_GID_TYPE_IB : index % 2 ? IB_UVERBS_GID_TYPE_ROCE_V2 : IB_UVERBS_GID_TYPE_ROCE_V1;
    return true;
}

/* ---- files ---------------------------------------------------------------------------------------------------------------------- */

struct building { const char *base; bool failed; };

static void put(const char *path, const char *text) {
    int fd = libc_real()->open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);

    if (fd < 0)
        return;
    if (dprintf(fd, "%s\n", text) < 0)
        unlink(path);
    libc_real()->close(fd);
}

static void build(void *to, enum sysfs_kind kind, const char *name, const char *text) {
    struct building *building = to;
    char path[PATH_ROOM];

    if (building->failed)
        return;
    snprintf(path, sizeof(path), "%s/%s", building->base, name);
    switch (kind) {
    case SYSFS_DIRECTORY:
        building->failed = mkdir(path, *name ? 0755 : 0700) && errno != EEXIST;
        return;
    case SYSFS_LINK:
        building->failed = symlink(text, path) && errno != EEXIST;
        return;
    case SYSFS_FILE:
        put(path, text);
    }
}

/* Everything below `path`, then itself. Follows no link; the depth is that of our own tree. */
static void remove_tree(const char *path, int depth) {
    DIR *stream = depth ? opendir(path) : NULL;
    struct dirent *entry;
    char below[PATH_ROOM + 256];

    while (stream && (entry = readdir(stream)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) {
            snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
            if (unlink(below))
                remove_tree(below, depth - 1);
        }
    if (stream)
        closedir(stream);
    rmdir(path);
}

/* ---- the directory's name --------------------------------------------------------------------------------------------------------- */

static const char *temporary(void) {
    const char *place = getenv("TMPDIR");

    return place && *place == '/' && strlen(place) < sizeof(directory) - 96 ? place : "/tmp";
}

/* The namespace of the pid in a name: two containers may share /tmp. */
static unsigned long pid_namespace(void) {
    char link[64] = "";
    unsigned long number = 0;
    ssize_t length = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);

    if (length > 0)
        sscanf(link, "pid:[%lu]", &number);
    return number;
}

static bool name_parts(const char *name, unsigned long *space, int *pid) {
    return !strncmp(name, PREFIX, sizeof(PREFIX) - 1) && sscanf(name + sizeof(PREFIX) - 1, "%lu-%d-", space, pid) == 2;
}

/* Directories of processes that were killed before they could clean up. */
static void sweep(void) {
    const char *place = temporary();
    unsigned long here = pid_namespace(), space;
    DIR *stream = opendir(place);
    struct dirent *entry;
    char path[PATH_ROOM + 256];
    struct stat status;
    int pid, left = 4096;

    while (stream && left-- && (entry = readdir(stream))) {
        if (!name_parts(entry->d_name, &space, &pid) || space != here || pid <= 0 || !kill(pid, 0) || errno != ESRCH)
            continue;
        snprintf(path, sizeof(path), "%s/%s", place, entry->d_name);
        if (!fstatat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) && S_ISDIR(status.st_mode) && status.st_uid == geteuid())
            remove_tree(path, DEPTH);
    }
    if (stream)
        closedir(stream);
}

__attribute__((constructor)) static void choose(void) {
    const char *set = getenv("SYSFS_PATH"), *name = set ? strrchr(set, '/') : NULL;
    unsigned long space, random = 0;
    int pid;

    owner = getpid();
    if (set && !(name && name_parts(name + 1, &space, &pid)))
        return;                         /* the user has another directory in mind */
    if (set && pid == owner && space == pid_namespace() && strlen(set) < sizeof(directory)) {
        strcpy(directory, set);
        inherited = true;
        return;
    }
    if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
        random = (unsigned long)(uintptr_t)&random;
    snprintf(directory, sizeof(directory), "%s/" PREFIX "%lu-%d-%016lx", temporary(), pid_namespace(), owner, random);
    setenv("SYSFS_PATH", directory, 1);
}

/* Built aside and moved into place: children of one parent that had not published may all do it at once. Neither name aside begins with
 * the directory's own, which path_redirect would stop at. */
static void publish(void) {
    char base[PATH_ROOM - 96], old[PATH_ROOM - 96];
    struct building building = { 0 };
    int stem = (int)(strrchr(directory, '-') - directory);

    sweep();
    snprintf(base, sizeof(base), "%.*s-new%d", stem, directory, getpid());
    snprintf(old, sizeof(old), "%.*s-old%d", stem, directory, getpid());
    building.base = base;
    sysfs_tree(build, &building);
    if (building.failed) {
        remove_tree(base, DEPTH);
        return;
    }
    if (inherited && getpid() == owner && !rename(directory, old))
        remove_tree(old, DEPTH);
    if (rename(base, directory))
        remove_tree(base, DEPTH);           /* another was first */
}

void sysfs_publish(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int saved = errno;

    if (*directory)
        pthread_once(&once, publish);
    errno = saved;
}

__attribute__((destructor)) static void tidy(void) {
    /* rmdir() passes no interposer. Any other look at a directory that is not there would make it, in each process that ends. */
    if (*directory && getpid() == owner && rmdir(directory) && errno != ENOENT)
        remove_tree(directory, DEPTH);
}

/* A child of fork() reads its parent's files, writes them if the parent had no need of them, and leaves them alone when it ends. */

/* ---- paths -------------------------------------------------------------------------------------------------------------------------- */

static const char *after(const char *path, const char *start) {
    size_t length = strlen(start);

    return !strncmp(path, start, length) && (path[length] == '/' || !path[length]) ? path + length : NULL;
}

bool path_is_uverbs(const char *path) {
    return path && !strcmp(path, "/dev/infiniband/" UVERBS_NAME);
}

const char *path_redirect(const char *path, char *room) {
    if (!path || path[0] != '/' || !*directory)
        return path;
    if (path_is_uverbs(path))
        return "/dev/zero";
    if (!strncmp(path, "/dev/infiniband/uverbs", 22))
        return "/dev/infiniband/nowhere";
    if (!strncmp(path, directory, strlen(directory)))
        sysfs_publish();
    if (strncmp(path, "/sys/", 5))
        return path;
    for (const char *const *part = sysfs_parts; *part; part++) {
        const char *rest = after(path + 5, *part);

        if (!rest || strlen(directory) + strlen(*part) + strlen(rest) + 2 > PATH_ROOM)
            continue;
        sysfs_publish();
        snprintf(room, PATH_ROOM, "%s/%s%s", directory, *part, rest);
        return room;
    }
    return path;
}

/* The directory may itself be reached through links (/tmp): only its resolved name is in front of what was resolved. */
bool path_in_sys(const char *resolved, char *room) {
    char base[PATH_MAX];
    const char *rest;

    if (!libc_real()->realpath(directory, base) || !(rest = after(resolved, base)))
        return false;
    snprintf(room, PATH_MAX, "/sys%s", rest);
    return true;
}
