/* Which file descriptors are ours. Every close() and ioctl() of the process asks, so the answer
 * costs one load. */
#include "shim.h"
#include "cm/cm.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { FDS = 1 << 16, HANDLES = 1 << 24 };

static _Atomic unsigned char kinds[FDS];
static struct file *files[FDS]; /* with the NIC's mutex */
static pid_t process;

enum fd_kind fd_kind(int fd) {
    return fd >= 0 && fd < FDS
               ? (enum fd_kind)atomic_load_explicit(&kinds[fd], memory_order_acquire)
               : FD_FOREIGN;
}

static void set_kind(int fd, enum fd_kind kind) {
    atomic_store_explicit(&kinds[fd], (unsigned char)kind, memory_order_release);
}

int file_add(int fd) {
    struct section section;
    struct file *file;

    if (fd < 0 || fd >= FDS) return EMFILE;
    file = calloc(1, sizeof(*file));
    if (!file) return ENOMEM;
    file->fds = 1;
    table_init(&file->handles, 1, HANDLES);
    section_enter(&section);
    nic_lock();
    files[fd] = file;
    set_kind(fd, FD_FILE);
    nic_unlock();
    section_leave(&section);
    return 0;
}

int file_dup(int fd, int copy) {
    struct section section;
    struct file *file;

    if (copy < 0 || copy >= FDS) return EMFILE;
    section_enter(&section);
    nic_lock();
    file = file_find(fd);
    if (file) {
        file->fds++;
        files[copy] = file;
        set_kind(copy, FD_FILE);
    }
    nic_unlock();
    section_leave(&section);
    return file ? 0 : EBADF;
}

struct file *file_find(int fd) { return fd_kind(fd) == FD_FILE ? files[fd] : NULL; }

void fd_is_channel(int fd) {
    if (fd >= 0 && fd < FDS) set_kind(fd, FD_CHANNEL);
}

void fd_is_cm(int fd) { set_kind(fd, FD_CM); }

void fd_forget(int fd) { set_kind(fd, FD_FOREIGN); }

static void file_close(int fd) {
    struct file *file;

    nic_lock();
    file = file_find(fd);
    files[fd] = NULL;
    set_kind(fd, FD_FOREIGN);
    if (file && --file->fds) file = NULL;
    if (file && file->context) nic_context_destroy(file->context);
    nic_unlock();
    if (!file) return;
    page_forget_file(file);
    free(file->handles.slot);
    free(file->handles.queue);
    free(file);
}

void fd_closing(int fd) {
    enum fd_kind kind = fd_kind(fd);
    struct section section;

    /* A vforked child shares our memory but not our fds: its close() is none of our business. */
    if (kind == FD_FOREIGN || process_is_other()) return;
    section_enter(&section);
    switch (kind) {
    case FD_FILE: file_close(fd); break;
    case FD_CHANNEL:
        nic_lock();
        set_kind(fd, FD_FOREIGN);
        channel_closed(fd);
        nic_unlock();
        break;
    case FD_CM: cm_closing(fd); break;
    default: set_kind(fd, FD_FOREIGN);
    }
    section_leave(&section);
}

void fds_closing(unsigned first, unsigned last) {
    for (unsigned fd = first; fd <= last && fd < FDS; fd++) fd_closing((int)fd);
}

/* A forked child has copies of our fds but no NIC for them: the device thread stayed with the
 * parent. Its files answer EIO, as after the removal of a device; it may open the device again. */
static void forked(void) {
    process = getpid();
    nic_fork_child();
    for (int fd = 0; fd < FDS; fd++)
        if (fd_kind(fd) != FD_FOREIGN) {
            set_kind(fd, FD_ORPHAN);
            files[fd] = NULL;
        }
}

bool process_is_other(void) { return process != getpid(); }

__attribute__((constructor(102))) static void follow_forks(void) {
    process = getpid();
    pthread_atfork(nic_fork_prepare, nic_fork_parent, forked);
}
