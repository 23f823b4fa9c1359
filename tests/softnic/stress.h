/* The parts of the stress: stress.c plays them in turn. */
#ifndef STRESS_H
#define STRESS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "ends.h"

enum { HALF = SIZE / 2 };

struct dice {
    uint64_t state;
};
static inline uint32_t roll(struct dice *dice, uint32_t sides) {
    dice->state = dice->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(dice->state >> 33) % sides;
}

extern atomic_bool stop;
extern atomic_ulong keyed, datagrams, shared_receives, dynamic, connections, common_posts;

/* stress_keys.c: keys that are configured on a QP of their own and work on any QP of the PD.
 * libmlx5 does not know the keys of TRANSACTION, and can't poll a CQ that reports an error of one:
 * where fields may be wrong, the check mask is 0. */
enum kind { PLAIN, SIGNATURE, CRYPTO, TRANSACTION, KINDS };
struct key {
    enum kind kind;
    uint32_t lkey, memory_length, wire_length;
    struct configurer *by;
    struct mlx5dv_mkey *mkey;
    struct mlx5dv_dek *dek;
    struct mlx5dv_devx_obj *object, *psv;
};
struct key *key_new(enum kind kind, struct dice *dice, struct ibv_pd *pd, struct ibv_mr *mr,
                    uint8_t check_mask);
void key_free(struct key *key);
void play_key(struct dice *dice, struct ibv_context *context);

/* stress_services.c */
void play_datagrams(struct dice *dice, struct ibv_context *context);
void play_dynamic(struct dice *dice, struct ibv_context *context);

/* stress_cm.c */
void play_connection(struct dice *dice);
void connections_serve(uint16_t port);                  /* until stop */
void connections_ask(struct dice *dice, uint16_t port); /* until the process is killed */

#endif
