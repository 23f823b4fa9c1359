/* Memory that two processes of a fabric both have: the payload of large messages goes through it,
 * and the socket carries headers.
 *
 * The requester makes it, and is the only one that gives out regions of it: a header says where in
 * it a payload is, or where an answer is wanted. Nothing in it is a length, an offset or a
 * state, so what the other process writes there at a wrong time spoils bytes of its own messages
 * and no more.
 *
 * It is a memfd of a fixed size. The seals say that it can't shrink: an access never raises SIGBUS.
 * A process without a descriptor to spare, or a limit on files, has none; then the socket carries
 * everything.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "engine.h"

enum { GRAIN = 64 << 10, GRAINS = 256 };
enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW };
#define AREA_BYTES ((size_t)GRAIN * GRAINS)

struct area {
    uint8_t *bytes;
    unsigned references; /* the link's, and one for each region */
    bool taken[GRAINS];
};

static struct area *map(int fd) {
    struct area *area = calloc(1, sizeof *area);
    void *bytes =
        area ? mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (bytes == MAP_FAILED) {
        free(area);
        return NULL;
    }
    madvise(bytes, AREA_BYTES, MADV_DONTFORK);
    madvise(bytes, AREA_BYTES, MADV_DONTDUMP);
    area->bytes = bytes, area->references = 1;
    return area;
}

/* ftruncate() beyond the limit on files would raise SIGXFSZ. */
static bool may_have(void) {
    struct rlimit limit;
    return !getrlimit(RLIMIT_FSIZE, &limit) &&
           (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= AREA_BYTES);
}

struct area *area_new(int *fd) {
    *fd = may_have() ? fd_high(memfd_create("softnic", MFD_CLOEXEC | MFD_ALLOW_SEALING)) : -1;
    if (*fd < 0) return NULL;
    bool fine = !ftruncate(*fd, (off_t)AREA_BYTES) && !fcntl(*fd, F_ADD_SEALS, SEALS);
    struct area *area = fine ? map(*fd) : NULL;
    if (!area) close(*fd), *fd = -1;
    return area;
}

/* Not a file of hugetlbfs: its pages may be missing when they are touched. */
struct area *area_of_peer(int fd) {
    struct stat status;
    struct statfs system;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK)) return NULL;
    if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_size != (off_t)AREA_BYTES)
        return NULL;
    if (fstatfs(fd, &system) || system.f_type != TMPFS_MAGIC) return NULL;
    return map(fd);
}

void area_release(struct area *area) {
    if (!area || --area->references) return;
    munmap(area->bytes, AREA_BYTES);
    free(area);
}

uint8_t *area_at(const struct area *area, uint64_t offset, uint64_t length) {
    if (!area || offset > AREA_BYTES || length > AREA_BYTES - offset) return NULL;
    return area->bytes + offset;
}

bool region_new(struct area *area, uint64_t length, struct region *out) {
    size_t wanted = (length + GRAIN - 1) / GRAIN, found = 0;
    if (!length || length > AREA_BYTES) return false;
    for (size_t i = 0; i < GRAINS; i++) {
        found = area->taken[i] ? 0 : found + 1;
        if (found < wanted) continue;
        size_t first = i + 1 - wanted;
        for (size_t at = first; at <= i; at++) area->taken[at] = true;
        area->references++;
        *out = (struct region){area, first * GRAIN, length};
        return true;
    }
    return false;
}

uint8_t *region_bytes(const struct region *region) { return region->area->bytes + region->offset; }

void region_free(struct region *region) {
    struct area *area = region->area;
    if (!area) return;
    for (size_t at = region->offset / GRAIN; at * GRAIN < region->offset + region->length; at++)
        area->taken[at] = false;
    region->area = NULL;
    area_release(area);
}
