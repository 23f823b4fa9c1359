/* The application's memory, read and written so that a bad address is an errno and not a signal: a
 * process may use process_vm_readv on itself without any privilege. Where a sandbox refuses it,
 * plain copies are all that is left. */
#include "shim.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

static int copy(uint64_t local, uint64_t remote, size_t length, bool reading) {
    struct iovec here = {(void *)(uintptr_t)local, length},
                 there = {(void *)(uintptr_t)remote, length};
    ssize_t done;

    if (!length) return 0;
    done = reading ? process_vm_readv(getpid(), &here, 1, &there, 1, 0)
                   : process_vm_writev(getpid(), &here, 1, &there, 1, 0);
    if (done == (ssize_t)length) return 0;
    if (done < 0 && (errno == ENOSYS || errno == EPERM)) {
        if (reading) memcpy(here.iov_base, there.iov_base, length);
        else memcpy(there.iov_base, here.iov_base, length);
        return 0;
    }
    return EFAULT;
}

int user_read(void *to, uint64_t from, size_t length) {
    return copy((uintptr_t)to, from, length, true);
}

int user_write(uint64_t to, const void *from, size_t length) {
    return copy((uintptr_t)from, to, length, false);
}

int user_zero(uint64_t to, size_t length) {
    static const uint8_t zeros[4096];

    while (length) {
        size_t part = length < sizeof(zeros) ? length : sizeof(zeros);
        int error = user_write(to, zeros, part);

        if (error) return error;
        to += part;
        length -= part;
    }
    return 0;
}

/* The kernel pins the pages of a region and so finds out whether they exist; mincore tells the same
 * without touching them. */
bool user_is_mapped(uint64_t start, uint64_t length) {
    const uint64_t STEP = PAGE_BYTES << 14;
    unsigned char seen[1 << 14];
    uint64_t end = start + length;

    for (start &= ~(uint64_t)(PAGE_BYTES - 1); start < end; start += STEP) {
        uint64_t part = end - start < STEP ? end - start : STEP;

        if (mincore((void *)(uintptr_t)start, part, seen) && errno != EAGAIN) return false;
    }
    return true;
}

/* Whether all mappings of the range have the right, by the kernel's list of them: exact, but as
 * slow as the list is long. */
static bool maps_allow(uint64_t start, uint64_t end, bool write) {
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], right[5];
    uint64_t first, last;

    if (!maps) return true;
    while (start < end && fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &first, &last, right) != 3 || last <= start)
            continue;
        if (first > start || right[0] != 'r' || (write && right[1] != 'w')) break;
        start = last;
    }
    fclose(maps);
    return start >= end;
}

/* As get_user_pages does: the pages are brought in with the right that is asked for. EINVAL may
 * also mean a kernel before 5.14, or a mapping that has no pages of its own; a long range isn't
 * brought in for a look alone. */
bool user_is_allowed(uint64_t start, uint64_t length, bool write) {
    enum { POPULATE_READ = 22, POPULATE_WRITE = 23 };
    static const uint64_t LONG = 16 << 20;
    uint64_t end = start + length;

    start &= ~(uint64_t)(PAGE_BYTES - 1);
    if (end - start <= LONG) {
        if (!madvise((void *)(uintptr_t)start, end - start, write ? POPULATE_WRITE : POPULATE_READ))
            return true;
        if (errno == EFAULT || errno == ENOMEM) return false;
    }
    return maps_allow(start, end, write);
}
