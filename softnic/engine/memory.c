/* The application's memory, touched so that nothing can crash: a buffer which was unmapped in the
 * meantime is an error, not a SIGSEGV. process_vm_readv/writev on ourselves need no privilege;
 * where a sandbox refuses them, /proc/self/mem does the same more slowly. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine.h"

enum { BATCH = 512 }; /* below IOV_MAX */
static pid_t self;
static int slow = -1; /* /proc/self/mem, if the quick way is refused */

void memory_init(void) {
    self = getpid();
    char probe = 1, copy = 0;
    struct iovec to = {&copy, 1}, from = {&probe, 1};
    if (process_vm_readv(self, &to, 1, &from, 1, 0) == 1) return;
    slow = fd_high(open("/proc/self/mem", O_RDWR | O_CLOEXEC));
}

uint64_t page_bytes(void) {
    static _Atomic uint64_t bytes;
    if (!bytes) bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    return bytes;
}

static bool slow_copy(uint64_t addr, uint8_t *local, size_t len, bool write) {
    while (len) {
        ssize_t done =
            write ? pwrite(slow, local, len, (off_t)addr) : pread(slow, local, len, (off_t)addr);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        addr += (size_t)done, local += done, len -= (size_t)done;
    }
    return true;
}

enum { WORTH = 2048 }; /* bytes from which the fast way is faster */

static bool fast(const struct piece *piece, size_t pieces, size_t least) {
    uint64_t total = 0;
    for (size_t i = 0; i < pieces && total < least; i++) total += piece[i].length;
    if (total < least || !guard_enter()) return false;
    for (size_t i = 0; i < pieces; i++) {
        if (!doorbell_covers(piece[i].addr, piece[i].length)) continue;
        guard_leave();
        return false;
    }
    return true;
}

static bool move_fast(const struct piece *piece, size_t pieces, uint8_t *local, bool write) {
    bool fine = true;
    for (size_t i = 0; i < pieces && fine; local += piece[i++].length) {
        void *there = (void *)(uintptr_t)piece[i].addr;
        fine = write ? guard_copy(there, local, piece[i].length)
                     : guard_copy(local, there, piece[i].length);
    }
    guard_leave();
    return fine;
}

bool memory_readable(const struct piece *piece, size_t pieces) {
    uint8_t byte;
    for (size_t i = 0; i < pieces; i++)
        for (uint64_t at = 0; at < piece[i].length; at += page_bytes())
            if (!memory_read(piece[i].addr + at, &byte, 1)) return false;
    return true;
}

bool memory_guarded(const struct piece *piece, size_t pieces) { return fast(piece, pieces, 0); }

bool cursor_move(struct cursor *cursor, uint8_t *local, uint64_t length, bool write) {
    while (length) {
        if (!cursor->pieces) return false;
        uint64_t left = cursor->piece->length - cursor->at, n = left < length ? left : length;
        void *there = (void *)(uintptr_t)(cursor->piece->addr + cursor->at);
        if (!(write ? guard_copy(there, local, n) : guard_copy(local, there, n))) return false;
        local += n, length -= n, cursor->at += n;
        if (cursor->at == cursor->piece->length) cursor->piece++, cursor->pieces--, cursor->at = 0;
    }
    return true;
}

uint8_t *cursor_straight(const struct cursor *cursor, uint64_t *length) {
    *length = cursor->pieces ? cursor->piece->length - cursor->at : 0;
    return cursor->pieces ? (uint8_t *)(uintptr_t)(cursor->piece->addr + cursor->at) : NULL;
}

void cursor_skip(struct cursor *cursor, uint64_t length) {
    cursor->at += length;
    if (cursor->at == cursor->piece->length) cursor->piece++, cursor->pieces--, cursor->at = 0;
}

bool memory_copies(void) {
    if (!guard_enter()) return false;
    guard_leave();
    return true;
}

bool memory_copy(const struct piece *from, size_t from_pieces, const struct piece *to,
                 size_t to_pieces, bool *source) {
    uint64_t from_at = 0, to_at = 0;
    bool fine = fast(from, from_pieces, 0);
    if (fine) guard_leave(), fine = fast(to, to_pieces, 0);
    *source = false;
    if (!fine) return false;
    for (size_t f = 0, t = 0; f < from_pieces && t < to_pieces && fine;) {
        uint64_t left = from[f].length - from_at, room = to[t].length - to_at,
                 n = left < room ? left : room;
        fine = guard_copy((void *)(uintptr_t)(to[t].addr + to_at),
                          (const void *)(uintptr_t)(from[f].addr + from_at), n);
        from_at += n, to_at += n;
        if (from_at == from[f].length) from_at = 0, f++;
        if (to_at == to[t].length) to_at = 0, t++;
    }
    guard_leave();
    if (!fine) *source = !memory_readable(from, from_pieces);
    return fine;
}

static bool move(const struct piece *piece, size_t pieces, uint8_t *local, bool write) {
    if (fast(piece, pieces, WORTH)) return move_fast(piece, pieces, local, write);
    if (slow >= 0) {
        for (size_t i = 0; i < pieces; local += piece[i++].length)
            if (!slow_copy(piece[i].addr, local, piece[i].length, write)) return false;
        return true;
    }
    struct iovec remote[BATCH];
    while (pieces) {
        /* At most 1 GiB a call: the kernel cuts longer ones. */
        size_t n = 0, total = 0;
        while (n < pieces && n < BATCH && total < (1u << 30)) {
            remote[n] = (struct iovec){(void *)(uintptr_t)piece[n].addr, piece[n].length};
            total += piece[n++].length;
        }
        struct iovec here = {local, total};
        ssize_t done = write ? process_vm_writev(self, &here, 1, remote, n, 0)
                             : process_vm_readv(self, &here, 1, remote, n, 0);
        if (done != (ssize_t)total) {
            /* More than 2 GiB in one piece, or a fault. */
            if (done <= 0 || n != 1) return false;
            struct piece rest = {piece[0].addr + (size_t)done, piece[0].length - (size_t)done};
            if (!move(&rest, 1, local + done, write)) return false;
        }
        piece += n, pieces -= n, local += total;
    }
    return true;
}

bool memory_gather(const struct piece *piece, size_t pieces, uint8_t *to) {
    return move(piece, pieces, to, false);
}
bool memory_scatter(const struct piece *piece, size_t pieces, const uint8_t *from) {
    return move(piece, pieces, (uint8_t *)(uintptr_t)from, true);
}

bool memory_read(uint64_t addr, void *to, size_t len) {
    struct piece piece = {addr, len};
    return move(&piece, 1, to, false);
}

bool memory_write(uint64_t addr, const void *from, size_t len) {
    struct piece piece = {addr, len};
    return move(&piece, 1, (uint8_t *)(uintptr_t)from, true);
}

bool memory_write_then(uint64_t addr, const uint8_t *from, size_t len, size_t last) {
    /* A reader that sees the last byte must see the others: x86 keeps the order of stores within
     * one call, others need two. */
#if defined __x86_64__ || defined __i386__
    struct piece piece[2] = {{addr, last}, {addr + last, len - last}};
    return memory_scatter(piece, 2, from);
#else
    if (!memory_write(addr, from, last)) return false;
    atomic_thread_fence(memory_order_seq_cst);
    return memory_write(addr + last, from + last, len - last);
#endif
}

void memory_read_each(const uint64_t *addr, size_t n, uint64_t *out, bool *fine) {
    size_t at = 0;
    while (at < n) {
        if (slow >= 0) {
            fine[at] = slow_copy(addr[at], (uint8_t *)&out[at], 8, false);
            at++;
            continue;
        }
        struct iovec remote[BATCH];
        size_t count = n - at < BATCH ? n - at : BATCH;
        for (size_t i = 0; i < count; i++)
            remote[i] = (struct iovec){(void *)(uintptr_t)addr[at + i], 8};
        struct iovec here = {&out[at], count * 8};
        ssize_t done = process_vm_readv(self, &here, 1, remote, count, 0);
        size_t good = done > 0 ? (size_t)done / 8 : 0;
        for (size_t i = 0; i < good; i++) fine[at + i] = true;
        at += good;
        if (good < count) fine[at++] = false;
    }
}
