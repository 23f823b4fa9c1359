/* Runs a target over the files it is given, without libFuzzer; any compiler's sanitizers will do.
 *
 *   replay_wqe FILE…            each file as it is
 *   replay_wqe -m ROUNDS FILE…  and ROUNDS mutations of each, the same ones at every run
 */
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzz.h"

enum { LONGEST = 4096 };

static uint32_t state = 1;
static uint32_t dice(uint32_t sides) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % sides;
}

static void run(const uint8_t *bytes, size_t size) {
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact) abort();
    memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void mutate(const uint8_t *from, size_t size, unsigned rounds) {
    static const uint8_t edges[] = {0, 1, 0x3f, 0x40, 0x7f, 0x80, 0xfe, 0xff};
    uint8_t bytes[LONGEST];
    while (rounds--) {
        memcpy(bytes, from, size);
        for (unsigned times = 1 + dice(8); size && times; times--) {
            size_t at = dice((uint32_t)size);
            bytes[at] = dice(2) ? edges[dice(sizeof edges)] : (uint8_t)(bytes[at] ^ 1u << dice(8));
        }
        run(bytes, dice(4) ? size : dice((uint32_t)size + 1));
    }
}

int main(int count, char **words) {
    unsigned rounds = 0;
    int first = 1;
    if (count > 2 && !strcmp(words[1], "-m")) {
        rounds = (unsigned)strtoul(words[2], NULL, 10);
        first = 3;
    }
    for (int i = first; i < count; i++) {
        uint8_t bytes[LONGEST];
        FILE *file = fopen(words[i], "rb");
        if (!file) {
            perror(words[i]);
            return 2;
        }
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        run(bytes, size);
        mutate(bytes, size, rounds);
    }
    printf("%d inputs, %u mutations of each\n", count - first, rounds);
    return 0;
}
