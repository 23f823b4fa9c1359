/* What libibverbs and its users find of the device: a private copy of the few files of /sys that
 * anybody reads (sysfs_tree.c), in a directory of the process (staging.c), and the paths that lead
 * there. */
#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOWHERE "/dev/infiniband/nowhere"

const uint8_t NODE_GUID[8] = {0x0c, 0x42, 0xa1, 0x03, 0x00, 0x01, 0x00, 0x01};
const uint8_t NODE_MAC[NODE_MAC_SIZE] = {0x0c, 0x42, 0xa1, 0x01, 0x00, 0x01};

/* ---- addresses --------------------------------------------------------------------------- */

bool gid_entry(unsigned index, struct ib_uverbs_gid_entry *entry) {
    bool roce = personality() && personality()->roce;
    uint8_t gid[16];

    if (!personality_gid(index, gid)) return false;
    memset(entry, 0, sizeof(*entry));
    memcpy(entry->gid, gid, 16);
    entry->gid_index = index;
    entry->port_num = 1;
    entry->gid_type = !roce       ? IB_UVERBS_GID_TYPE_IB
                      : index % 2 ? IB_UVERBS_GID_TYPE_ROCE_V2
                                  : IB_UVERBS_GID_TYPE_ROCE_V1;
    return true;
}

/* ---- files ------------------------------------------------------------------------------- */

struct building {
    int base, error;
};

static int put(int base, const char *name, const char *text) {
    int fd = openat(base, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644), error;

    if (fd < 0) return errno;
    error = dprintf(fd, "%s\n", text) < 0 ? errno : 0;
    libc_real()->close(fd);
    return error;
}

/* Into an empty directory: each name is new. */
static void build(void *to, enum sysfs_kind kind, const char *name, const char *text) {
    struct building *building = to;

    if (building->error || !*name) return;
    switch (kind) {
    case SYSFS_DIRECTORY: building->error = mkdirat(building->base, name, 0755) ? errno : 0; return;
    case SYSFS_LINK: building->error = symlinkat(text, building->base, name) ? errno : 0; return;
    case SYSFS_FILE: building->error = put(building->base, name, text);
    }
}

static int fill(int base) {
    struct building building = {base, 0};

    sysfs_tree(build, &building);
    return building.error;
}

static void publish(void) { staging_publish(fill); }

void sysfs_publish(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static atomic_bool done;
    struct section section;
    int saved = errno;

    if (!*staging_path() || atomic_load(&done)) return;
    section_enter(&section);
    pthread_once(&once, publish);
    atomic_store(&done, true);
    section_leave(&section);
    errno = saved;
}

/* ---- paths ------------------------------------------------------------------------------- */

static const char *after(const char *path, const char *start) {
    size_t length = strlen(start);

    return !strncmp(path, start, length) && (path[length] == '/' || !path[length]) ? path + length
                                                                                   : NULL;
}

bool path_is_uverbs(const char *path) {
    return path && !strcmp(path, "/dev/infiniband/" UVERBS_NAME);
}

bool path_is_cm(const char *path) { return path && !strcmp(path, "/dev/infiniband/rdma_cm"); }

const char *path_redirect(const char *path, char *room) {
    const char *directory = staging_path();

    if (!path || path[0] != '/' || !*directory) return path;
    if (path_is_uverbs(path) || path_is_cm(path)) return "/dev/zero";
    if (!strncmp(path, "/dev/infiniband/uverbs", 22)) return NOWHERE;
    if (!strncmp(path, directory, strlen(directory))) {
        sysfs_publish();
        return staging_failed() ? NOWHERE : path;
    }
    if (strncmp(path, "/sys/", 5)) return path;
    for (const char *const *part = sysfs_parts; *part; part++) {
        const char *rest = after(path + 5, *part);

        if (!rest || strlen(directory) + strlen(*part) + strlen(rest) + 2 > PATH_ROOM) continue;
        sysfs_publish();
        if (staging_failed()) return NOWHERE;
        snprintf(room, PATH_ROOM, "%s/%s%s", directory, *part, rest);
        return room;
    }
    return path;
}

/* The directory may itself be reached through links (/tmp): only its resolved name is in front of
 * what was resolved. */
bool path_in_sys(const char *resolved, char *room) {
    char base[PATH_MAX];
    const char *rest;

    if (!libc_real()->realpath(staging_path(), base) || !(rest = after(resolved, base)))
        return false;
    snprintf(room, PATH_MAX, "/sys%s", rest);
    return true;
}
