/* The shim: what makes libibverbs find the software NIC, and what answers the commands that it
 * gives to a kernel.
 *
 *   interpose.c  the functions that replace those of libc                      file.c     which fds
 * are ours sysfs.c      the files in which libibverbs finds the device                page.c UAR
 * and clock pages staging.c    the directory they are in                                     user.c
 * the application's memory signals.c    sigaction() of the signals that the device's copies raise
 *   command.c    one RDMA_VERBS_IOCTL: its attributes, and who answers it      object_*.c the
 * answers
 *
 * The command ABI is the kernel's: <rdma/ib_user_ioctl_cmds.h>, <rdma/ib_user_verbs.h>,
 * <rdma/mlx5-abi.h>.
 */
#ifndef SOFTNIC_SHIM_H
#define SOFTNIC_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "engine/nic.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- files ------------------------------------------------------------------------------- */

/* An open uverbs file: one for each ibv_open_device. All of its handles, PD to DEVX object, are in
 * one space. */
struct file {
    unsigned fds; /* that lead to it: a program which shares a PD with itself duplicates them */
    struct context *context; /* NULL before GET_CONTEXT */
    struct table handles;
};

enum fd_kind {
    FD_FOREIGN, /* none of ours */
    FD_FILE,
    FD_CHANNEL, /* the application's end of an event pipe */
    FD_CM,      /* an open file of the connection manager (../cm) */
    FD_ORPHAN,  /* a file of the parent process; the child may only close it */
};

enum fd_kind fd_kind(int fd); /* no lock, no system call */
/* A vforked child runs in our memory without being us: interposers hand everything on there. A
 * forked child is a process like any other, without files. */
bool process_is_other(void);
int file_add(int fd);           /* EMFILE, ENOMEM */
int file_dup(int fd, int copy); /* `copy` is another fd of the same file; EMFILE, EBADF */
struct file *file_find(int fd); /* with the NIC's mutex held; NULL: not ours */
void fd_is_channel(int fd);
void fd_is_cm(int fd);
void fd_forget(int fd);
/* The application is about to close `fd`, whatever it is. A uverbs file takes everything that was
 * made through it along. */
void fd_closing(int fd);
void fds_closing(unsigned first, unsigned last);

/* ---- discovery --------------------------------------------------------------------------- */

#define DEVICE_NAME "mlx5_0"
#define UVERBS_NAME "uverbs0"
#define PATH_ROOM 512

/* Where a path leads while the software NIC is loaded: itself, a file of staging_path(), or the
 * stand-in of a char device. A uverbs device other than ours leads nowhere, so that nothing reaches
 * real hardware by chance. `room` has PATH_ROOM bytes. */
const char *path_redirect(const char *path, char *room);
bool path_is_uverbs(const char *path);
bool path_is_cm(const char *path);
void sysfs_publish(void); /* makes the files, once; before anything may look for them */

/* After a path was redirected from /sys and resolved: where it would be in /sys. `room` has
 * PATH_MAX bytes; false: not in our directory. */
bool path_in_sys(const char *resolved, char *room);

/* sysfs_tree.c: what the directory holds, parents before what is in them. `text` is a file's
 * without the last line feed, or a link's target. */
enum sysfs_kind { SYSFS_DIRECTORY, SYSFS_FILE, SYSFS_LINK };
typedef void sysfs_visit(void *to, enum sysfs_kind kind, const char *path, const char *text);
void sysfs_tree(sysfs_visit *visit, void *to);
extern const char *const sysfs_parts[]; /* what of /sys is ours; NULL at the end */

/* staging.c: the directory that stands for /sys; "": the user has set another. `fill` makes its
 * files, relative to a descriptor. */
const char *staging_path(void);
typedef int staging_fill(int base);       /* 0 or an errno value */
void staging_publish(staging_fill *fill); /* says on stderr if it fails */
bool staging_failed(void);                /* then the directory must not be looked at */

/* The addresses of a port: none at this index: false. */
enum { GID_TABLE_SIZE = 8, NODE_MAC_SIZE = 6 };
bool gid_entry(unsigned index, struct ib_uverbs_gid_entry *entry);
extern const uint8_t NODE_GUID[8], NODE_MAC[NODE_MAC_SIZE];

/* ---- pages ------------------------------------------------------------------------------- */

#define PAGE_BYTES page_bytes()             /* of this machine: 4 KiB to 64 KiB */
uint64_t page_uar_offset(uint32_t page_id); /* what mmap() wants to map this UAR */
/* MAP_FAILED and errno */
void *page_map(const struct file *file, void *wanted, size_t length, int flags, off_t offset);
void page_unmapping(void *start, size_t length); /* the application is about to unmap this */
void page_forget_file(const struct file *file);

/* ---- the application's memory ------------------------------------------------------------ */

int user_read(void *to, uint64_t from, size_t length); /* EFAULT instead of a crash */
int user_write(uint64_t to, const void *from, size_t length);
int user_zero(uint64_t to, size_t length);
bool user_is_mapped(uint64_t start, uint64_t length);
/* mapped, and readable or writable */
bool user_is_allowed(uint64_t start, uint64_t length, bool write);

/* The functions of libc that the interposers call. */
struct libc {
    int (*open)(const char *, int, ...);
    int (*close)(int);
    ssize_t (*write)(int, const void *, size_t);
    int (*socket)(int, int, int);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    char *(*realpath)(const char *, char *);
};
const struct libc *libc_real(void);

/* ---- commands ---------------------------------------------------------------------------- */

enum { COMMAND_MAX_ATTRS = 32 };

struct command {
    int fd;
    struct file *file; /* valid while the mutex is held */
    uint64_t address;  /* of the header in the application */
    unsigned count;
    /* a copy; written back when the command succeeded */
    struct ib_uverbs_attr attr[COMMAND_MAX_ATTRS];
};

/* RDMA_VERBS_IOCTL: 0 or an errno value. Never ENOTTY: libibverbs would give up ioctl altogether.
 */
int command_run(int fd, void *header);

/* Attributes. `attr_in` wants at least `least` bytes and zero-fills up to `size`; what is longer is
 * cut off (a newer library). */
bool attr_has(const struct command *command, uint16_t id);
int attr_in(const struct command *command, uint16_t id, void *to, size_t least, size_t size);
int attr_number(const struct command *command, uint16_t id, uint64_t *value);
int attr_fd(const struct command *command, uint16_t id); /* -1: absent */
/* object_cq.c */
int attr_channel(const struct command *command, uint16_t id, bool async, struct channel **out);
/* `object`: a struct object ** */
int attr_object(const struct command *command, uint16_t id, enum kind kind, void *object);
/* bytes of an output attribute, 0 if absent */
size_t attr_room(const struct command *command, uint16_t id);
/* Fills the output attribute: a longer one with zeros, a shorter one as far as it goes, an absent
 * one not at all. */
int attr_out(struct command *command, uint16_t id, const void *from, size_t size);
int attr_out_number(struct command *command, uint16_t id, uint64_t value, size_t size);
void attr_out_handle(struct command *command, uint16_t id, uint32_t handle);
void attr_out_fd(struct command *command, uint16_t id, int fd);

/* Handles. */
int handle_add(struct file *file, void *object); /* sets object->handle; ENOMEM */
/* NULL: none of that kind */
void *handle_get(const struct file *file, uint32_t handle, enum kind kind);
void *handle_get_any(const struct file *file, uint32_t handle);
void handle_drop(struct file *file, uint32_t handle);

typedef int answer(struct command *command);

/* object_context.c */
answer get_context, query_context, alloc_async_fd, create_comp_channel, alloc_uar, destroy_uar;
enum { COMP_VECTORS = 4 };
/* object_device.c */
answer query_device, query_device_ex, query_port, query_gid_entry, query_gid_table;
/* object_pd.c */
answer alloc_pd, destroy_pd, query_pd, create_ah, destroy_ah;
/* object_mr.c */
answer reg_mr, rereg_mr, destroy_mr, query_mr, alloc_mw, destroy_mw;
/* object_cq.c */
answer create_cq, destroy_cq, resize_cq, modify_cq;
enum { CQ_MAX_COUNT = 0xffff, CQ_MAX_PERIOD = 0xfff }; /* of moderation */
/* object_qp.c */
answer create_qp, destroy_qp;
/* object_qp_modify.c */
answer modify_qp, modify_qp_ex, query_qp;
int qp_change(struct qp *qp, const struct qp_change *change); /* with the addresses checked */
/* object_srq.c */
answer create_srq, modify_srq, query_srq, destroy_srq;
/* devx.c */
answer devx_other, devx_create, devx_destroy, devx_modify, devx_query;
/* devx_mkey.c */
answer register_umem, deregister_umem;
/* object_caps.c: the 4,096 bytes of QUERY_HCA_CAP; false: there is no such page */
bool capability_page(uint16_t op_mod, uint8_t *page, size_t size);

/* Objects that only the shim knows: the engine frees them with free(). */
struct other {
    struct object object;
    enum { OTHER_UAR = 1, OTHER_AV_MAPPING } what;
    uint32_t number;
};

#endif
