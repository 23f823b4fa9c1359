/* Mixed stress for the software NIC: `stress alone|pair SEED SECONDS`, SECONDS of processor time.
 *
 * alone: four threads make, use and destroy contexts, QPs and mkeys in each other's way, while
 * signals arrive, threads are cancelled, processes forked, memory locked, CQs overrun, objects
 * destroyed with work in flight. The keys have signatures over blocks or over all, or encrypt; UD,
 * DC, SRQs and rdma_cm have their turn; and one QP is posted to by all four. pair:  two processes
 * of a fabric write into each other, through such keys on either side, and connect by rdma_cm; the
 *        second is killed and started again now and then.
 *
 * It ends with 0 if data arrived as it was sent, nothing hung, and descriptors and memory are what
 * they were at first.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <dirent.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <infiniband/mlx5dv.h>

#include "stress.h"

enum { WORKERS = 4, PAIRS = 2, PATIENCE = 120, PORT = 4000 };
extern char **environ;
atomic_bool stop;
atomic_ulong keyed, datagrams, shared_receives, dynamic, connections, common_posts;
static atomic_ulong lives[WORKERS], posted, forks, cancelled, locked, overrun, mkeys, wraps, killed;

/* ---- what must not grow ------------------------------------------------------------------ */

static int descriptors(void) {
    DIR *stream = opendir("/proc/self/fd");
    int n = 0;
    MUST(stream);
    while (readdir(stream)) n++;
    closedir(stream);
    return n;
}

static long resident(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    MUST(file && fscanf(file, "%*d %ld", &pages) == 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void judge_leaks(int fds, long kib) {
    long grown = resident() - kib;
    int left = descriptors() - fds;
    printf("left: %d descriptors, %ld KiB more\n", left, grown);
    MUST(left == 0);
    MUST(grown < 64 * 1024);
}

/* ---- one life of two ends ---------------------------------------------------------------- */

struct life {
    struct dice *dice;
    struct ibv_context *context;
    struct end *one, *two; /* may be the same */
    struct mlx5dv_mkey *mkey;
    struct ibv_qp_ex *qpx;
    struct mlx5dv_qp_ex *mqp;
    unsigned under_way;
    bool broken; /* an error is no surprise any more */
};

static struct ibv_qp *qp_for_mkeys(struct life *life, struct end *end) {
    struct ibv_qp_init_attr_ex attr = {
        .send_cq = end->cq,
        .recv_cq = end->cq,
        .qp_type = IBV_QPT_RC,
        .pd = end->pd,
        .cap = {.max_send_wr = DEPTH,
                .max_recv_wr = DEPTH,
                .max_send_sge = 2,
                .max_recv_sge = 1,
                .max_inline_data = 512},
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE,
    };
    struct mlx5dv_qp_init_attr dv = {
        .comp_mask =
            MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS | MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
        .create_flags = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE,
        .send_ops_flags = MLX5DV_QP_EX_WITH_MKEY_CONFIGURE,
    };
    struct ibv_qp *qp = mlx5dv_create_qp(life->context, &attr, &dv);
    MUST(qp);
    life->qpx = ibv_qp_to_qp_ex(qp);
    life->mqp = mlx5dv_qp_ex_from_ibv_qp_ex(life->qpx);
    return qp;
}

static struct end *end_small(struct life *life, int cqes, bool configures) {
    struct end *end = calloc(1, sizeof *end);
    MUST(end && (end->memory = aligned_alloc(4096, SIZE)));
    memset(end->memory, (int)roll(life->dice, 256), SIZE);
    MUST(end->pd = ibv_alloc_pd(life->context));
    MUST(end->cq = ibv_create_cq(life->context, cqes, NULL, NULL, 0));
    MUST(end->mr = ibv_reg_mr(end->pd, end->memory, SIZE, ALL));
    if (configures) {
        end->qp = qp_for_mkeys(life, end);
        return end;
    }
    struct ibv_qp_init_attr attr = {
        .send_cq = end->cq,
        .recv_cq = end->cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1},
    };
    MUST(end->qp = ibv_create_qp(end->pd, &attr));
    return end;
}

static void drain(struct life *life) {
    struct ibv_wc wc[16];
    while (life->under_way) {
        int n = ibv_poll_cq(life->one->cq, 16, wc);
        MUST(n >= 0);
        for (int i = 0; i < n; i++)
            if (wc[i].status != IBV_WC_SUCCESS) {
                if (!life->broken) fprintf(stderr, "status %s\n", ibv_wc_status_str(wc[i].status));
                MUST(life->broken);
            }
        life->under_way -= (unsigned)n < life->under_way ? (unsigned)n : life->under_way;
    }
}

/* A signature over the first 16 blocks; half of the time one that the memory can't fit. */
static void configure(struct life *life) {
    struct end *end = life->one;
    struct mlx5dv_mkey_init_attr init = {
        .pd = end->pd,
        .max_entries = 4,
        .create_flags =
            MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT | MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE,
    };
    if (!life->mkey) MUST(life->mkey = mlx5dv_create_mkey(&init));
    struct mlx5dv_sig_crc crc = {.type = MLX5DV_SIG_CRC_TYPE_CRC32C, .seed = UINT32_MAX};
    struct mlx5dv_sig_block_domain domain = {
        .sig_type = MLX5DV_SIG_TYPE_CRC,
        .block_size = MLX5DV_BLOCK_SIZE_512,
        .sig.crc = &crc,
    };
    struct mlx5dv_sig_block_attr sig = {.check_mask = 0xff};
    bool wire = roll(life->dice, 2);
    if (wire) sig.wire = &domain;
    else sig.mem = &domain;
    struct ibv_sge sge = {(uintptr_t)end->memory, 16 * (wire ? 512 : 516), end->mr->lkey};
    struct mlx5dv_mkey_conf_attr conf = {0};
    ibv_wr_start(life->qpx);
    life->qpx->wr_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
    mlx5dv_wr_mkey_configure(life->mqp, life->mkey, 3, &conf);
    mlx5dv_wr_set_mkey_access_flags(life->mqp, ALL);
    mlx5dv_wr_set_mkey_layout_list(life->mqp, 1, &sge);
    mlx5dv_wr_set_mkey_sig_block(life->mqp, &sig);
    if (ibv_wr_complete(life->qpx)) return;
    life->under_way++;
    drain(life);
    sge = (struct ibv_sge){0, 16 * (wire ? 516 : 512), life->mkey->lkey};
    struct ibv_send_wr *bad,
        wr = {
            .sg_list = &sge,
            .num_sge = 1,
            .opcode = IBV_WR_RDMA_WRITE,
            .send_flags = IBV_SEND_SIGNALED,
            .wr.rdma = {(uintptr_t)life->two->memory + HALF, life->two->mr->rkey},
        };
    if (ibv_post_send(end->qp, &wr, &bad)) return;
    life->under_way++;
    drain(life);
    struct mlx5dv_mkey_err error;
    MUST(!_mlx5dv_mkey_check(life->mkey, &error, sizeof error));
    MUST(wire ? error.err_type == MLX5DV_MKEY_NO_ERR : true);
    mkeys++;
}

static void traffic(struct life *life) {
    uint32_t length = 1 + roll(life->dice, roll(life->dice, 4) ? 4096 : HALF);
    bool read = roll(life->dice, 4) == 0;
    struct ibv_sge sge = {(uintptr_t)life->one->memory, length, life->one->mr->lkey};
    struct ibv_send_wr *bad,
        wr = {
            .sg_list = &sge,
            .num_sge = 1,
            .opcode = read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
            .wr.rdma = {(uintptr_t)life->two->memory + HALF, life->two->mr->rkey},
        };
    uint32_t left = 1 + roll(life->dice, DEPTH - 1);
    for (; left; left--) {
        wr.send_flags = left == 1 || roll(life->dice, 2) ? IBV_SEND_SIGNALED : 0;
        /* the queue is full of what was left before */
        if (ibv_post_send(life->one->qp, &wr, &bad)) break;
        life->under_way += wr.send_flags != 0;
        posted++;
    }
    if (!roll(life->dice, 3)) return;
    drain(life);
    if (!life->broken && !left) MUST(!memcmp(life->one->memory, life->two->memory + HALF, length));
}

/* More than the 16-bit index of a send queue counts, a queue full at a time. */
static void wrap(struct life *life) {
    struct ibv_sge sge = {(uintptr_t)life->one->memory, 8, life->one->mr->lkey};
    struct ibv_send_wr *bad, wr[DEPTH - 1];
    for (int i = 0; i < DEPTH - 1; i++)
        wr[i] = (struct ibv_send_wr){
            .sg_list = &sge,
            .num_sge = 1,
            .opcode = IBV_WR_RDMA_WRITE,
            .next = i < DEPTH - 2 ? &wr[i + 1] : NULL,
            .send_flags = i < DEPTH - 2 ? 0 : IBV_SEND_SIGNALED,
            .wr.rdma = {(uintptr_t)life->two->memory + HALF, life->two->mr->rkey},
        };
    for (unsigned n = 0; n < 70000 && !stop; n += DEPTH - 1) {
        drain(life);
        MUST(!ibv_post_send(life->one->qp, wr, &bad));
        life->under_way++;
        posted += DEPTH - 1;
    }
    wraps++;
}

static void overrun_cq(struct life *life) {
    struct end *end = end_small(life, 4, false);
    state(end->qp, 0, IBV_QPS_INIT);
    state(end->qp, end->qp->qp_num, IBV_QPS_RTR);
    state(end->qp, end->qp->qp_num, IBV_QPS_RTS);
    for (int i = 0; i < 32; i++) post_write(end, 8);
    if (roll(life->dice, 2)) usleep(500);
    end_free(end);
    overrun++;
}

static void *victim(void *argument) {
    struct end *end = argument;
    for (;;) {
        state(end->qp, 0, IBV_QPS_INIT);
        state(end->qp, 0, IBV_QPS_RESET);
        pthread_testcancel();
    }
    return NULL;
}

static void cancel(struct life *life) {
    struct end *end = end_small(life, 16, false);
    pthread_t thread;
    MUST(!pthread_create(&thread, NULL, victim, end));
    usleep(roll(life->dice, 500));
    MUST(!pthread_cancel(thread) && !pthread_join(thread, NULL));
    end_free(end);
    cancelled++;
}

/* A child that closes all it has, or one that runs another program. */
static void give_birth(struct life *life) {
    int status;
    pid_t child;
    forks++;
    if (roll(life->dice, 2)) {
        char *words[] = {"/bin/true", NULL};
        MUST(!posix_spawn(&child, words[0], NULL, NULL, words, environ));
    } else if (!(child = fork())) {
        for (int fd = 3; fd < 1024; fd++) close(fd);
        _exit(0);
    }
    MUST(child > 0);
    while (waitpid(child, &status, 0) < 0) MUST(errno == EINTR);
    MUST(!status);
}

static void take_events(struct ibv_context *context) {
    struct pollfd fd = {.fd = context->async_fd, .events = POLLIN};
    struct ibv_async_event event;
    while (poll(&fd, 1, 0) == 1 && !ibv_get_async_event(context, &event))
        ibv_ack_async_event(&event);
}

/* ---- one QP for all workers -------------------------------------------------------------- */

static struct {
    struct end *end;
    atomic_int under_way;
} common;

static void common_take(void) {
    struct ibv_wc wc[4];
    int n = ibv_poll_cq(common.end->cq, 4, wc);
    MUST(n >= 0);
    for (int i = 0; i < n; i++) MUST(wc[i].status == IBV_WC_SUCCESS);
    common.under_way -= n;
}

/* Any thread posts, any thread takes the completions; each has a piece of the memory, which it
 * alone writes. */
static void play_common(struct dice *dice, size_t number) {
    uint8_t *piece = common.end->memory + number * 65536;
    for (uint32_t left = 1 + roll(dice, 4 * DEPTH); left && !stop; left--) {
        struct ibv_sge sge = {(uintptr_t)piece, 1 + roll(dice, 65535), common.end->mr->lkey};
        struct ibv_send_wr *bad, wr = {
                                     .sg_list = &sge,
                                     .num_sge = 1,
                                     .opcode = roll(dice, 4) ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
                                     .send_flags = IBV_SEND_SIGNALED,
                                     .wr.rdma = {(uintptr_t)piece + HALF, common.end->mr->rkey},
                                 };
        while (atomic_fetch_add(&common.under_way, 1) >= DEPTH / 2) {
            common.under_way--;
            common_take();
        }
        MUST(!ibv_post_send(common.end->qp, &wr, &bad));
        common_posts++;
    }
    common_take();
}

/* ---- a life ------------------------------------------------------------------------------ */

static void play(struct dice *dice, struct ibv_context *shared, size_t number) {
    switch (roll(dice, 32)) {
    case 0:
    case 1:
    case 2:
    case 3: play_key(dice, shared); break;
    case 4:
    case 5: play_datagrams(dice, shared); break;
    case 6:
    case 7: play_dynamic(dice, shared); break;
    case 8:
    case 9: play_connection(dice); break;
    case 10:
    case 11:
    case 12:
    case 13: play_common(dice, number); break;
    }
}

static void live(struct dice *dice, struct ibv_context *shared) {
    bool own = !roll(dice, 8);
    struct life life = {.dice = dice, .context = own ? device_open() : shared};
    life.one = end_small(&life, 2 * DEPTH, true);
    life.two = roll(dice, 4) ? end_small(&life, 2 * DEPTH, false) : life.one;
    state(life.one->qp, 0, IBV_QPS_INIT);
    if (life.two != life.one) {
        state(life.two->qp, 0, IBV_QPS_INIT);
        state(life.two->qp, life.one->qp->qp_num, IBV_QPS_RTR);
        state(life.two->qp, life.one->qp->qp_num, IBV_QPS_RTS);
    }
    state(life.one->qp, life.two->qp->qp_num, IBV_QPS_RTR);
    state(life.one->qp, life.two->qp->qp_num, IBV_QPS_RTS);
    for (uint32_t n = roll(dice, 6); n && !stop; n--) {
        if (roll(dice, 2)) traffic(&life);
        else {
            drain(&life);
            configure(&life);
        }
    }
    switch (roll(dice, 40)) {
    case 0:
    case 1:
    case 2: give_birth(&life); break;
    case 3:
    case 4: cancel(&life); break;
    case 5:
    case 6: overrun_cq(&life); break;
    case 7:
    case 9: wrap(&life); break;
    case 8:
        if (!mlockall(MCL_CURRENT | (roll(dice, 2) ? MCL_FUTURE : 0))) locked++;
        traffic(&life);
        munlockall();
        break;
    }
    if (roll(dice, 2)) drain(&life);
    else if (roll(dice, 2)) { /* an end in error with work in flight */
        struct ibv_qp_attr attr = {.qp_state = roll(dice, 2) ? IBV_QPS_ERR : IBV_QPS_RESET};
        life.broken = true;
        MUST(!ibv_modify_qp((roll(dice, 2) ? life.one : life.two)->qp, &attr, IBV_QP_STATE));
    }
    if (life.mkey) MUST(!mlx5dv_destroy_mkey(life.mkey));
    if (own) take_events(life.context);
    end_free(life.one);
    if (life.two != life.one) end_free(life.two);
    if (own) MUST(!ibv_close_device(life.context));
}

/* ---- alone ------------------------------------------------------------------------------- */

static struct {
    uint64_t seed;
    struct ibv_context *shared;
} all;

static void *worker(void *argument) {
    size_t number = (size_t)argument;
    struct dice dice = {all.seed * 1000 + number};
    while (!stop) {
        live(&dice, all.shared);
        play(&dice, all.shared, number);
        lives[number]++;
    }
    return NULL;
}

static void nothing(int number) { (void)number; }

/* A worker that doesn't get on for long has hung: time on the wall is all that tells, so it is
 * ample. */
static void watch(double limit, size_t workers) {
    unsigned long seen[WORKERS] = {0};
    time_t since[WORKERS];
    for (size_t i = 0; i < WORKERS; i++) since[i] = time(NULL);
    while (processor_time() < limit) {
        struct timespec pause = {0, 200000000};
        nanosleep(&pause, NULL);
        for (size_t i = 0; i < workers; i++) {
            if (lives[i] != seen[i]) seen[i] = lives[i], since[i] = time(NULL);
            if (time(NULL) - since[i] < PATIENCE) continue;
            fprintf(stderr, "worker %zu hung in its life %lu\n", i, seen[i]);
            abort();
        }
        if (all.shared) take_events(all.shared);
    }
}

static void signals_start(void) {
    struct sigaction action = {.sa_handler = nothing};
    struct itimerval each = {{0, 3000}, {0, 3000}};
    MUST(!sigaction(SIGPROF, &action, NULL) && !setitimer(ITIMER_PROF, &each, NULL));
}

static int alone(double seconds) {
    pthread_t thread[WORKERS];
    struct dice dice = {all.seed};
    all.shared = device_open();
    for (int i = 0; i < 20; i++) live(&dice, all.shared);
    for (int i = 0; i < 4; i++) play_key(&dice, all.shared), play_connection(&dice);
    MUST(!ibv_close_device(all.shared));
    int fds = descriptors();
    long kib = 0;
    all.shared = device_open();
    common.end = end_alone_in(all.shared);
    signals_start();
    for (size_t i = 0; i < WORKERS; i++) MUST(!pthread_create(&thread[i], NULL, worker, (void *)i));
    watch(seconds / 4, WORKERS);
    kib = resident();
    watch(seconds, WORKERS);
    stop = true;
    for (size_t i = 0; i < WORKERS; i++) MUST(!pthread_join(thread[i], NULL));
    while (common.under_way) common_take();
    end_free(common.end);
    MUST(!ibv_close_device(all.shared));
    printf("%lu lives, %lu posted, %lu mkeys, %lu forks, %lu cancelled, %lu locked, "
           "%lu overrun, %lu wraps\n",
           lives[0] + lives[1] + lives[2] + lives[3], posted, mkeys, forks, cancelled, locked,
           overrun, wraps);
    printf("%lu keys, %lu datagrams, %lu from shared queues, %lu by DC, %lu by rdma_cm, "
           "%lu on one QP\n",
           keyed, datagrams, shared_receives, dynamic, connections, common_posts);
    judge_leaks(fds, kib);
    return 0;
}

/* ---- pair -------------------------------------------------------------------------------- */

struct card {
    uint32_t qpn, rkey;
    uint64_t addr;
    uint32_t count, finish, key, length;
};

static bool put(int fd, const void *from, size_t size) {
    return send(fd, from, size, MSG_NOSIGNAL) == (ssize_t)size;
}
static bool get(int fd, void *to, size_t size) {
    return recv(fd, to, size, MSG_WAITALL) == (ssize_t)size;
}

/* One connection of the two processes; false: the other one is gone. */
static bool meet(struct dice *dice, int fd, size_t number) {
    struct ibv_wc wc[16];
    struct end *end = end_new_in(all.shared);
    struct key *key = key_new(roll(dice, KINDS), dice, end->pd, end->mr, 0);
    bool plain = key->kind == PLAIN;
    struct card peer,
        own = {
            end->qp->qp_num, end->mr->rkey,         (uintptr_t)end->memory, 1 + roll(dice, 200),
            roll(dice, 3),   plain ? 0 : key->lkey, key->wire_length,
        };
    bool there = put(fd, &own, sizeof own) && get(fd, &peer, sizeof peer), fine = true;
    unsigned left = own.count, under_way = 0;
    char word = 0;
    if (there) {
        state(end->qp, 0, IBV_QPS_INIT);
        state(end->qp, peer.qpn, IBV_QPS_RTR);
        state(end->qp, peer.qpn, IBV_QPS_RTS);
        there = put(fd, &word, 1) && get(fd, &word, 1);
    }
    struct ibv_sge sge = {(uintptr_t)end->memory, 1 + roll(dice, roll(dice, 4) ? 8192 : HALF),
                          end->mr->lkey};
    if (!plain) sge = (struct ibv_sge){0, key->wire_length, key->lkey};
    struct ibv_send_wr *bad, wr = {
                                 .sg_list = &sge,
                                 .num_sge = 1,
                                 .opcode = roll(dice, 3) ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
                                 .send_flags = IBV_SEND_SIGNALED,
                                 .wr.rdma = {peer.addr + HALF, peer.rkey},
                             };
    /* through the other side's key, whole: its errors are reported there */
    if (there && plain && peer.key) {
        sge.length = peer.length;
        wr.wr.rdma.remote_addr = 0, wr.wr.rdma.rkey = peer.key;
    }
    while (there && fine && (left || under_way)) {
        while (left && under_way < DEPTH - 1) {
            MUST(!ibv_post_send(end->qp, &wr, &bad));
            left--, under_way++, posted++;
        }
        if (!left && own.finish == 2) break; /* destroyed with work in flight */
        int n = ibv_poll_cq(end->cq, 16, wc);
        MUST(n >= 0);
        under_way -= (unsigned)n;
        for (int i = 0; i < n; i++) fine &= wc[i].status == IBV_WC_SUCCESS;
        for (int i = 0; i < n; i++)
            MUST(wc[i].status == IBV_WC_SUCCESS || wc[i].status == IBV_WC_RETRY_EXC_ERR ||
                 wc[i].status == IBV_WC_WR_FLUSH_ERR);
    }
    /* What one side leaves in flight may meet a QP that is gone; who waits for nothing may go. */
    there = there && put(fd, &word, 1) && get(fd, &word, 1);
    if (there && !fine) MUST(peer.finish == 2 || own.finish == 2);
    key_free(key);
    end_free(end);
    keyed += !plain;
    lives[number]++;
    return there;
}

static struct sockaddr_un place(socklen_t *len, pid_t of, size_t number) {
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int n = snprintf(un.sun_path + 1, sizeof un.sun_path - 1, "softnic-stress/%d/%zu", of, number);
    *len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    return un;
}

static int listening[PAIRS];

static void *first(void *argument) {
    size_t number = (size_t)argument;
    struct dice dice = {all.seed * 1000 + number};
    while (!stop) {
        struct pollfd fd = {.fd = listening[number], .events = POLLIN};
        if (poll(&fd, 1, 100) != 1) continue;
        int conn = accept(listening[number], NULL, NULL);
        if (conn < 0) continue;
        while (!stop && meet(&dice, conn, number)) {}
        close(conn);
    }
    return NULL;
}

static void *second(void *argument) {
    size_t number = (size_t)argument;
    struct dice dice = {all.seed * 77 + number + (uint64_t)getpid()};
    socklen_t len;
    struct sockaddr_un un = place(&len, getppid(), number);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&un, len)) _exit(0);
    while (meet(&dice, fd, number)) {}
    _exit(0);
}

static void *first_by_cm(void *argument) {
    (void)argument;
    connections_serve(PORT);
    return NULL;
}

static void *second_by_cm(void *argument) {
    struct dice dice = {all.seed * 55 + (uint64_t)getpid()};
    (void)argument;
    connections_ask(&dice, PORT);
    return NULL;
}

static void three_threads(void *(*run)(void *), void *(*by_cm)(void *), pthread_t *thread) {
    all.shared = device_open();
    for (size_t i = 0; i < PAIRS; i++) MUST(!pthread_create(&thread[i], NULL, run, (void *)i));
    MUST(!pthread_create(&thread[PAIRS], NULL, by_cm, NULL));
}

static pid_t start_first(double seconds) {
    pthread_t thread[PAIRS + 1];
    pid_t child = fork();
    if (child) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct dice dice = {all.seed};
    all.shared = device_open();
    play_connection(&dice); /* librdmacm keeps what it has opened once */
    MUST(!ibv_close_device(all.shared));
    int fds = descriptors();
    three_threads(first, first_by_cm, thread);
    watch(seconds / 4, 0);
    long kib = resident();
    watch(seconds, 0);
    stop = true;
    for (size_t i = 0; i <= PAIRS; i++) MUST(!pthread_join(thread[i], NULL));
    MUST(!ibv_close_device(all.shared));
    printf("%lu meetings, %lu posted, %lu keys, %lu by rdma_cm\n", lives[0] + lives[1], posted,
           keyed, connections);
    /* the other process ends soon, and its connections */
    for (int i = 0; i < 300 && descriptors() != fds; i++) usleep(100000);
    judge_leaks(fds, kib);
    exit(0);
}

static pid_t start_second(void) {
    pthread_t thread[PAIRS + 1];
    pid_t child = fork();
    if (child) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < PAIRS; i++) close(listening[i]);
    three_threads(second, second_by_cm, thread);
    for (;;) pause();
}

static int pair(double seconds) {
    struct dice dice = {all.seed};
    int status;
    for (size_t i = 0; i < PAIRS; i++) {
        socklen_t len;
        struct sockaddr_un un = place(&len, getpid(), i);
        listening[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        MUST(!bind(listening[i], (struct sockaddr *)&un, len) && !listen(listening[i], 8));
    }
    pid_t one = start_first(seconds / 2), two = start_second();
    while (waitpid(one, &status, WNOHANG) == 0) {
        usleep(100000);
        if (waitpid(two, &status, WNOHANG) == two) {
            MUST(WIFEXITED(status) && !WEXITSTATUS(status));
            two = start_second();
        } else if (!roll(&dice, 20)) {
            kill(two, SIGKILL);
            waitpid(two, &status, 0);
            killed++;
            two = start_second();
        }
    }
    kill(two, SIGKILL);
    waitpid(two, NULL, 0);
    printf("killed %lu\n", killed);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int count, char **words) {
    if (count != 4) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    all.seed = strtoull(words[2], NULL, 0);
    return strcmp(words[1], "pair") ? alone(atof(words[3])) : pair(atof(words[3]));
}
