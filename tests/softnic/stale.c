/* malloc as a program finds it that has run for long: what libmlx5 gets holds what a send queue's
 * bookkeeping would.
 *
 * For a queue of STALE_ENTRIES blocks of 64 bytes, an array of 4-byte entries (sq.wqe_head) is full
 * of STALE_HEAD, one of 8-byte entries (sq.wrid) of STALE_ID. Preloaded, after the software NIC.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size);

static uint64_t number(const char *name) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : 0;
}

void *malloc(size_t size) {
    static __thread int inside;
    void *memory = __libc_malloc(size);
    Dl_info info;
    if (!memory || inside || size < 64) return memory;
    inside = 1;
    if (dladdr(__builtin_return_address(0), &info) && info.dli_fname &&
        strstr(info.dli_fname, "libmlx5")) {
        uint64_t entries = number("STALE_ENTRIES"), id = number("STALE_ID");
        uint32_t head = (uint32_t)number("STALE_HEAD");
        for (size_t i = 0; size == entries * 4 && i < entries; i++)
            memcpy((char *)memory + 4 * i, &head, 4);
        for (size_t i = 0; size == entries * 8 && i < entries; i++)
            memcpy((char *)memory + 8 * i, &id, 8);
    }
    inside = 0;
    return memory;
}
