/* A preload that gives the process pages of 64 KiB, as some arm64 and POWER kernels do: what is not
 * aligned to them is refused. To be loaded after the software NIC. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/ioctl.h>
#include <linux/userfaultfd.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 1 << 16 };
#define ODD(x) ((uintptr_t)(x) % PAGE)

static int refused(void) {
    errno = EINVAL;
    return -1;
}

int getpagesize(void) { return PAGE; }

long sysconf(int name) {
    long (*next)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    return name == _SC_PAGESIZE ? PAGE : next(name);
}

int mincore(void *start, size_t length, unsigned char *seen) {
    int (*next)(void *, size_t, unsigned char *) =
        (int (*)(void *, size_t, unsigned char *))dlsym(RTLD_NEXT, "mincore");
    unsigned char small[16];
    if (ODD(start)) return refused();
    for (size_t at = 0; at < length; at += PAGE) {
        if (next((char *)start + at, 4096, small)) return -1;
        seen[at / PAGE] = small[0];
    }
    return 0;
}

void *mmap(void *start, size_t length, int protection, int flags, int fd, off_t offset) {
    if (offset % PAGE || (flags & MAP_FIXED && ODD(start))) return (void *)(intptr_t)refused();
    length = (length + PAGE - 1) / PAGE * PAGE;
    if (flags & MAP_FIXED)
        return (void *)syscall(SYS_mmap, start, length, protection, flags, fd, offset);
    char *room = (char *)syscall(SYS_mmap, start, length + PAGE, protection, flags, fd, offset);
    if (room == MAP_FAILED) return room;
    size_t skip = (PAGE - ODD(room)) % PAGE;
    if (skip) munmap(room, skip);
    munmap(room + skip + length, PAGE - skip);
    return room + skip;
}
void *mmap64(void *start, size_t length, int protection, int flags, int fd, off_t offset) {
    return mmap(start, length, protection, flags, fd, offset);
}

int ioctl(int fd, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    struct uffdio_range *range = va_arg(list, void *);
    va_end(list);
    if (request == UFFDIO_REGISTER || request == UFFDIO_UNREGISTER || request == UFFDIO_ZEROPAGE)
        if (ODD(range->start) || ODD(range->len)) return refused();
    return (int)syscall(SYS_ioctl, fd, request, range);
}
