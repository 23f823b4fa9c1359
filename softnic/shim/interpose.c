/* The functions of libc that the software NIC replaces. Each looks at one number or one path
 * and, unless it is ours, hands on to the next library as if nothing had been there. In a vforked
 * child they only hand on. */
#include "shim.h"
#include "cm/cm.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/netlink.h>

/* Programs built before glibc 2.33 ask for these; no header declares them any more. */
extern int __xstat(int, const char *, struct stat *), __lxstat(int, const char *, struct stat *);
extern int __xstat64(int, const char *, struct stat64 *),
    __lxstat64(int, const char *, struct stat64 *);
extern int __fxstat(int, int, struct stat *), __fxstat64(int, int, struct stat64 *);
extern int __open_2(const char *, int), __open64_2(const char *, int);
/* What _FORTIFY_SOURCE makes of a call. */
extern char *__realpath_chk(const char *, char *, size_t);
extern ssize_t __readlink_chk(const char *, char *, size_t, size_t),
    __readlinkat_chk(int, const char *, char *, size_t, size_t);

/* clang-format off */
#define NAMES(X) X(open) X(open64) X(__open_2) X(__open64_2) X(openat) X(openat64) X(fopen) \
    X(fopen64) X(opendir) X(stat) X(stat64) \
    X(lstat) X(lstat64) X(fstatat) X(fstatat64) X(statx) X(__xstat) X(__xstat64) X(__lxstat) \
    X(__lxstat64) X(access) X(faccessat) \
    X(readlink) X(readlinkat) X(__readlink_chk) X(__readlinkat_chk) X(realpath) X(__realpath_chk) \
    X(canonicalize_file_name) \
    X(fstat) X(fstat64) X(__fxstat) X(__fxstat64) X(write) \
    X(ioctl) X(close) X(close_range) X(closefrom) X(dup) X(dup2) X(dup3) X(fcntl) X(fcntl64) \
    X(socket) X(mmap) X(mmap64) X(munmap)
/* clang-format on */

#define FIELD(name) __typeof__(&name) name;
static struct {
    NAMES(FIELD)
} next;
static struct libc libc;

/* All at once: a vforked child, which shares our memory and may run while a lock is held, must not
 * have to look anything up. */
__attribute__((constructor(101))) static void resolve(void) {
#define FIND(name) next.name = (__typeof__(&name))dlsym(RTLD_NEXT, #name);
    NAMES(FIND)
    libc = (struct libc){next.open, next.close, next.write, next.socket, next.mmap, next.realpath};
}
#define NEXT(name) (next.name ? next.name : (resolve(), next.name))

const struct libc *libc_real(void) {
    if (!libc.open) resolve();
    return &libc;
}

#define CM_RDEV makedev(10, 58) /* a misc device; its minor number is any */

/* ---- opening ----------------------------------------------------------------------------- */

static int open_uverbs(int flags) {
    int fd, error;

    if (process_is_other()) {
        errno = EIO;
        return -1;
    }
    /* A char device that can be mapped, polled and stat'ed without any help; nothing is ever read
     * from it. */
    fd = libc_real()->open("/dev/zero", O_RDWR | (flags & O_CLOEXEC));
    if (fd < 0) return fd;
    error = file_add(fd);
    if (error) {
        libc_real()->close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static int open_device(const char *path, int flags) {
    if (!path_is_cm(path)) return open_uverbs(flags);
    if (!process_is_other()) return cm_open(flags);
    errno = EIO;
    return -1;
}

#define MODE(flags, mode) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) { \
        va_list list; \
        va_start(list, flags); \
        mode = va_arg(list, mode_t); \
        va_end(list); \
    }

#define OPEN(name) \
    EXPORT int name(const char *path, int flags, ...) { \
        char room[PATH_ROOM]; \
        MODE(flags, mode) \
        if (path_is_uverbs(path) || path_is_cm(path)) return open_device(path, flags); \
        return NEXT(name)(path_redirect(path, room), flags, mode); \
    }
OPEN(open)
OPEN(open64)

#define OPEN_2(name) \
    EXPORT int name(const char *path, int flags) { \
        char room[PATH_ROOM]; \
        if (path_is_uverbs(path) || path_is_cm(path)) return open_device(path, flags); \
        return NEXT(name)(path_redirect(path, room), flags); \
    }
OPEN_2(__open_2)
OPEN_2(__open64_2)

#define OPENAT(name) \
    EXPORT int name(int at, const char *path, int flags, ...) { \
        char room[PATH_ROOM]; \
        MODE(flags, mode) \
        if (path_is_uverbs(path) || path_is_cm(path)) return open_device(path, flags); \
        return NEXT(name)(at, path_redirect(path, room), flags, mode); \
    }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name) \
    EXPORT FILE *name(const char *path, const char *mode) { \
        char room[PATH_ROOM]; \
        return NEXT(name)(path_redirect(path, room), mode); \
    }
FOPEN(fopen)
FOPEN(fopen64)

EXPORT DIR *opendir(const char *path) {
    char room[PATH_ROOM];

    return NEXT(opendir)(path_redirect(path, room));
}

/* ---- asking about paths ------------------------------------------------------------------ */

#define STAT(name, type) \
    EXPORT int name(const char *path, struct type *out) { \
        char room[PATH_ROOM]; \
        return NEXT(name)(path_redirect(path, room), out); \
    }
STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)

#define FSTATAT(name, type) \
    EXPORT int name(int at, const char *path, struct type *out, int flags) { \
        char room[PATH_ROOM]; \
        return NEXT(name)(at, path_redirect(path, room), out, flags); \
    }
FSTATAT(fstatat, stat)
FSTATAT(fstatat64, stat64)

#define XSTAT(name, type) \
    EXPORT int name(int version, const char *path, struct type *out) { \
        char room[PATH_ROOM]; \
        return NEXT(name)(version, path_redirect(path, room), out); \
    }
XSTAT(__xstat, stat)
XSTAT(__xstat64, stat64)
XSTAT(__lxstat, stat)
XSTAT(__lxstat64, stat64)

EXPORT int statx(int at, const char *path, int flags, unsigned mask, struct statx *out) {
    char room[PATH_ROOM];

    return NEXT(statx)(at, path_redirect(path, room), flags, mask, out);
}

EXPORT int access(const char *path, int mode) {
    char room[PATH_ROOM];

    return NEXT(access)(path_redirect(path, room), mode);
}

EXPORT int faccessat(int at, const char *path, int mode, int flags) {
    char room[PATH_ROOM];

    return NEXT(faccessat)(at, path_redirect(path, room), mode, flags);
}

EXPORT ssize_t readlink(const char *path, char *out, size_t size) {
    char room[PATH_ROOM];

    return NEXT(readlink)(path_redirect(path, room), out, size);
}

EXPORT ssize_t readlinkat(int at, const char *path, char *out, size_t size) {
    char room[PATH_ROOM];

    return NEXT(readlinkat)(at, path_redirect(path, room), out, size);
}

EXPORT ssize_t __readlink_chk(const char *path, char *out, size_t size, size_t known) {
    char room[PATH_ROOM];

    return NEXT(__readlink_chk)(path_redirect(path, room), out, size, known);
}

EXPORT ssize_t __readlinkat_chk(int at, const char *path, char *out, size_t size, size_t known) {
    char room[PATH_ROOM];

    return NEXT(__readlinkat_chk)(at, path_redirect(path, room), out, size, known);
}

/* libc resolves links without the symbols above. What was asked in /sys is answered in /sys. */
static char *resolved(const char *path, char *out) {
    char room[PATH_ROOM], real[PATH_MAX], shown[PATH_MAX];
    const char *redirected = path_redirect(path, room);

    if (redirected == path) return NEXT(realpath)(path, out);
    if (!NEXT(realpath)(redirected, real)) return NULL;
    redirected = path_in_sys(real, shown) ? shown : real;
    return out ? strcpy(out, redirected) : strdup(redirected);
}

EXPORT char *realpath(const char *path, char *out) { return resolved(path, out); }

EXPORT char *__realpath_chk(const char *path, char *out, size_t known) {
    return out && known < PATH_MAX ? NEXT(__realpath_chk)(path, out, known) : resolved(path, out);
}

EXPORT char *canonicalize_file_name(const char *path) { return resolved(path, NULL); }

/* ---- descriptors ------------------------------------------------------------------------- */

static bool usable(int fd) { return fd_kind(fd) == FD_FILE && !process_is_other(); }

EXPORT int ioctl(int fd, unsigned long request, ...) {
    va_list list;
    void *argument;
    int error;

    va_start(list, request);
    argument = va_arg(list, void *);
    va_end(list);
    if (request != RDMA_VERBS_IOCTL || fd_kind(fd) == FD_FOREIGN)
        return NEXT(ioctl)(fd, request, argument);
    error = usable(fd) ? command_run(fd, argument) : EIO;
    if (!error) return 0;
    errno = error;
    return -1;
}

EXPORT int close(int fd) {
    fd_closing(fd);
    return NEXT(close)(fd);
}

EXPORT int close_range(unsigned first, unsigned last, int flags) {
    if (!flags) fds_closing(first, last);
    return NEXT(close_range)(first, last, flags);
}

EXPORT void closefrom(int first) {
    fds_closing(first < 0 ? 0 : (unsigned)first, UINT32_MAX);
    NEXT(closefrom)(first);
}

/* librdmacm's commands. Any other write() goes on after one load. */
EXPORT ssize_t write(int fd, const void *from, size_t length) {
    enum fd_kind kind = fd_kind(fd);

    if (kind != FD_CM && kind != FD_ORPHAN) return NEXT(write)(fd, from, length);
    if (kind == FD_CM && !process_is_other()) return cm_write(fd, from, length);
    errno = EIO;
    return -1;
}

/* librdmacm opens nothing but a char device. */
#define FSTAT(name, type) \
    EXPORT int name(int fd, struct type *out) { \
        int result = NEXT(name)(fd, out); \
        if (!result && fd_kind(fd) == FD_CM) \
            out->st_mode = S_IFCHR | 0600, out->st_rdev = CM_RDEV; \
        return result; \
    }
FSTAT(fstat, stat)
FSTAT(fstat64, stat64)

#define FXSTAT(name, type) \
    EXPORT int name(int version, int fd, struct type *out) { \
        int result = NEXT(name)(version, fd, out); \
        if (!result && fd_kind(fd) == FD_CM) \
            out->st_mode = S_IFCHR | 0600, out->st_rdev = CM_RDEV; \
        return result; \
    }
FXSTAT(__fxstat, stat)
FXSTAT(__fxstat64, stat64)

/* What a new descriptor of an old one means. */
static int copied(int fd, int copy) {
    enum fd_kind kind = copy >= 0 && fd != copy && !process_is_other() ? fd_kind(fd) : FD_FOREIGN;
    int error = kind == FD_FILE ? file_dup(fd, copy) : kind == FD_CM ? cm_dup(fd, copy) : 0;

    if (!error) return copy;
    libc_real()->close(copy);
    errno = error;
    return -1;
}

EXPORT int dup(int fd) { return copied(fd, NEXT(dup)(fd)); }

static void overwriting(int fd, int onto) {
    if (fd != onto && fd_kind(onto) != FD_FOREIGN && NEXT(fcntl)(fd, F_GETFD) >= 0)
        fd_closing(onto);
}

EXPORT int dup2(int fd, int onto) {
    overwriting(fd, onto);
    return copied(fd, NEXT(dup2)(fd, onto));
}

EXPORT int dup3(int fd, int onto, int flags) {
    overwriting(fd, onto);
    return copied(fd, NEXT(dup3)(fd, onto, flags));
}

#define FCNTL(name) \
    EXPORT int name(int fd, int command, ...) { \
        va_list list; \
        void *argument; \
        int result; \
        va_start(list, command); \
        argument = va_arg(list, void *); \
        va_end(list); \
        result = NEXT(name)(fd, command, argument); \
        return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? copied(fd, result) : result; \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

/* The list of RDMA devices over netlink would show the machine's own, or none. Without that
 * protocol libibverbs reads sysfs. */
EXPORT int socket(int domain, int type, int protocol) {
    if (domain != AF_NETLINK || protocol != NETLINK_RDMA)
        return NEXT(socket)(domain, type, protocol);
    sysfs_publish();
    errno = EPROTONOSUPPORT;
    return -1;
}

/* ---- pages ------------------------------------------------------------------------------- */

static void *map_page(int fd, void *start, size_t length, int flags, off_t offset) {
    const struct file *file;
    struct section section;
    void *page;

    if (!usable(fd)) {
        errno = EIO;
        return MAP_FAILED;
    }
    section_enter(&section);
    nic_lock();
    file = file_find(fd);
    nic_unlock();
    page = page_map(file, start, length, flags, offset);
    section_leave(&section);
    return page;
}

#define MMAP(name) \
    EXPORT void *name(void *start, size_t length, int protection, int flags, int fd, \
                      off_t offset) { \
        if (flags & MAP_ANONYMOUS || fd_kind(fd) == FD_FOREIGN) \
            return NEXT(name)(start, length, protection, flags, fd, offset); \
        return map_page(fd, start, length, flags, offset); \
    }
MMAP(mmap)
MMAP(mmap64)

EXPORT int munmap(void *start, size_t length) {
    page_unmapping(start, length);
    return NEXT(munmap)(start, length);
}
