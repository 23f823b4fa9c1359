/* Pages that a driver maps from the uverbs file: UARs, which the engine watches for doorbells, and
 * the clock page. */
#include "shim.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include <rdma/mlx5-abi.h>

/* An mmap offset counts pages: a command in bits 8 to 15 and its argument in bits 0 to 7. The
 * kernel hands out offsets beyond that range for objects that are mapped one by one, and so do we
 * for UARs. */
enum { COMMAND_SHIFT = 8, OBJECTS = 1 << 16 };

struct page {
    struct page *next;
    const struct file *file; /* only compared: the file may be gone */
    void *start;
};
static struct page *pages; /* UARs only: a clock page needs no care */
static pthread_mutex_t pages_mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint pages_count;

uint64_t page_uar_offset(uint32_t page_id) { return ((uint64_t)OBJECTS + page_id) * PAGE_BYTES; }

static void *map_private(void *wanted, int prot, int flags) {
    return libc_real()->mmap(
        wanted, PAGE_BYTES, prot,
        MAP_PRIVATE | MAP_ANONYMOUS | (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)), -1, 0);
}

static void *map_uar(const struct file *file, void *wanted, int flags) {
    struct page *page = malloc(sizeof(*page));
    int error;

    if (!page) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    page->file = file;
    page->start = map_private(wanted, PROT_READ | PROT_WRITE, flags);
    if (page->start == MAP_FAILED) {
        free(page);
        return MAP_FAILED;
    }
    error = doorbell_watch(page->start, PAGE_BYTES);
    if (error) {
        munmap(page->start, PAGE_BYTES);
        free(page);
        errno = error;
        return MAP_FAILED;
    }
    pthread_mutex_lock(&pages_mutex);
    page->next = pages;
    pages = page;
    atomic_fetch_add(&pages_count, 1);
    pthread_mutex_unlock(&pages_mutex);
    return page->start;
}

/* Time stamps of completions are nanoseconds of CLOCK_MONOTONIC; this page leads from there to the
 * time of day. It is not updated: both clocks run at one rate, but for what an administrator does
 * to the time of day meanwhile. */
static void *map_clock(void *wanted, int flags) {
    struct mlx5_ib_clock_info *info = map_private(wanted, PROT_READ | PROT_WRITE, flags);
    struct timespec day, running;

    if (info == MAP_FAILED) return info;
    clock_gettime(CLOCK_MONOTONIC, &running);
    clock_gettime(CLOCK_REALTIME, &day);
    info->cycles = (uint64_t)running.tv_sec * 1000000000 + (uint64_t)running.tv_nsec;
    info->nsec = (uint64_t)day.tv_sec * 1000000000 + (uint64_t)day.tv_nsec;
    info->mult = 1;
    info->mask = UINT64_MAX;
    info->overflow_period = UINT64_MAX;
    mprotect(info, PAGE_BYTES, PROT_READ);
    return info;
}

void *page_map(const struct file *file, void *wanted, size_t length, int flags, off_t offset) {
    uint64_t number = (uint64_t)offset / PAGE_BYTES;

    if (length != PAGE_BYTES || offset < 0 || offset % PAGE_BYTES) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    if (number >= OBJECTS) return map_uar(file, wanted, flags);
    switch (number >> COMMAND_SHIFT) {
    case MLX5_IB_MMAP_REGULAR_PAGE:
    case MLX5_IB_MMAP_NC_PAGE:
    case MLX5_IB_MMAP_WC_PAGE:
    case MLX5_IB_MMAP_ALLOC_WC: return map_uar(file, wanted, flags);
    case MLX5_IB_MMAP_CLOCK_INFO:
        if (personality() && personality()->clock_page) return map_clock(wanted, flags);
    }
    errno = EOPNOTSUPP;
    return MAP_FAILED;
}

/* The engine may have to wait for its own thread, so it is notified after the list is unlocked. */
static void forget(bool (*chosen)(const struct page *, uintptr_t, uintptr_t), uintptr_t a,
                   uintptr_t b) {
    struct page **link = &pages, *gone = NULL;

    pthread_mutex_lock(&pages_mutex);
    while (*link) {
        struct page *page = *link;

        if (!chosen(page, a, b)) {
            link = &page->next;
            continue;
        }
        *link = page->next;
        page->next = gone;
        gone = page;
        atomic_fetch_sub(&pages_count, 1);
    }
    pthread_mutex_unlock(&pages_mutex);
    while (gone) {
        struct page *next = gone->next;

        doorbell_forget(gone->start, PAGE_BYTES);
        free(gone);
        gone = next;
    }
}

static bool overlaps(const struct page *page, uintptr_t start, uintptr_t end) {
    return (uintptr_t)page->start < end && (uintptr_t)page->start + PAGE_BYTES > start;
}

static bool belongs(const struct page *page, uintptr_t file, uintptr_t unused) {
    (void)unused;
    return (uintptr_t)page->file == file;
}

void page_unmapping(void *start, size_t length) {
    struct section section;

    if (!atomic_load_explicit(&pages_count, memory_order_relaxed) || process_is_other()) return;
    section_enter(&section);
    forget(overlaps, (uintptr_t)start, (uintptr_t)start + length);
    section_leave(&section);
}

/* A program that closes the file without unmapping keeps a page to which it may still write; nobody
 * listens any more. */
void page_forget_file(const struct file *file) {
    if (atomic_load_explicit(&pages_count, memory_order_relaxed))
        forget(belongs, (uintptr_t)file, 0);
}

/* A child keeps the pages, as plain memory: nothing is watched there. */
static void lock(void) { pthread_mutex_lock(&pages_mutex); }
static void unlock(void) { pthread_mutex_unlock(&pages_mutex); }
static void forked(void) {
    pages = NULL;
    atomic_store(&pages_count, 0);
    pthread_mutex_unlock(&pages_mutex);
}
__attribute__((constructor)) static void follow_forks(void) {
    pthread_atfork(lock, unlock, forked);
}
