/* Any bytes over the connections between two processes: requests to this one, and answers to what
 * it has sent.
 *
 * An input is a row of frames. Each begins with a byte: bit 0 an answer rather than a request, bit
 * 1 a question, bit 2 no header that fits, bit 3 a pause in the middle, bits 4 to 6 which QP, bit 7
 * a payload in the memory of both. What follows is laid over a frame that fits, by exclusive or, so
 * that zeros are a good one; then come as many payload bytes as the frame says, as far as there are
 * any.
 */
#include "engine/fabric.c"

#include "fuzz/world.h"

enum { OTHER = 2, MOST = 16 };

/* ---- in place of rendezvous.c: two connections, which this target holds by their other ends ---
 */

static int far_end = -1;
int rendezvous_start(uint32_t slots, uint32_t *slot) { return *slot = slots > 1 ? 1 : 0, 0; }
bool rendezvous_is_open(void) { return true; }
void rendezvous_end(void) {}
bool rendezvous_accept(int *fd) { return *fd = -1, false; }
int rendezvous_poll_fd(void) { return -1; }
uint64_t rendezvous_due(void) { return 0; }
int rendezvous_connect(uint32_t slot) {
    int pair[2];
    if (slot != OTHER || far_end >= 0) return errno = ECONNREFUSED, -1;
    MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
    far_end = pair[1];
    return pair[0];
}

static struct world *world;

static void connected(enum qp_type type) {
    world_qp(world, type);
    struct qp *qp = world->end[type].qp;
    qp->state = STATE_RTS;
    qp->set = (struct qp_change){.access = 15,
                                 .dest_qpn = OTHER << QPN_BITS | 0x40,
                                 .timeout = 1,
                                 .rnr_retry = 1,
                                 .min_rnr_timer = 1,
                                 .max_rd_atomic = 1,
                                 .max_dest_rd_atomic = 1,
                                 .path_mtu = 3,
                                 .path.dlid = 1};
    world_receives(world, type, 8);
}

/* Both connections have memory that the other end sees. */
static void shares(void) {
    for (size_t i = 0; i < link_count; i++) {
        int fd = -1;
        if (!links[i]->area) links[i]->area = area_new(&fd);
        if (fd >= 0) close(fd);
        links[i]->shares = links[i]->area && links[i]->outgoing;
    }
}

static void swallow(int fd) {
    uint8_t some[65536];
    while (fd >= 0 && recv(fd, some, sizeof some, MSG_DONTWAIT) > 0) {}
}

static struct frame template(bool answer, bool question, bool shared, const struct qp *qp) {
    struct frame frame;
    memset(&frame, 0, sizeof frame);
    frame.magic = MAGIC, frame.size = sizeof frame;
    frame.kind = answer ? ANSWER : question ? QUESTION : REQUEST;
    frame.shared = shared;
    if (answer) {
        frame.qpn = qp->number, frame.serial = serials;
        frame.length = frame.answer.length = 0;
        return frame;
    }
    frame.message.opcode = OPCODE_RDMA_WRITE, frame.message.service = (uint8_t)qp->attr.type;
    frame.message.source = qp->set.dest_qpn, frame.message.destination = qp->number;
    frame.message.rkey = key_value(world->key), frame.message.raddr = (uintptr_t)world->memory;
    frame.message.dc_key = 1, frame.message.slid = frame.message.dlid = 1;
    return frame;
}

/* Returns what was used of the input. */
static size_t feed(const uint8_t *data, size_t size, int incoming) {
    uint8_t how = data[0], *bytes;
    struct qp *qp = world->end[(how >> 4 & 7) % TYPES].qp;
    struct frame frame = template(how & 1, how & 2, how >> 7, qp);
    size_t used = size - 1 < sizeof frame ? size - 1 : sizeof frame, payload;
    int fd = how & 1 ? far_end : incoming;
    for (size_t i = 0; i < used; i++) ((uint8_t *)&frame)[i] ^= data[1 + i];
    if (!(how & 4)) {
        struct frame good = template(how & 1, how & 2, how >> 7, qp);
        frame.magic = good.magic, frame.size = good.size, frame.kind = good.kind;
        frame.length %= 8192;
        if (frame.kind == REQUEST) frame.message.payload_length = frame.length;
        if (frame.kind == ANSWER) frame.answer.length = frame.length;
    }
    used++;
    uint64_t follow = following(&frame);
    payload = follow < size - used ? (size_t)follow : size - used;
    if (fd < 0) return used + payload;
    bytes = calloc(1, sizeof frame + 8192);
    MUST(bytes);
    memcpy(bytes, &frame, sizeof frame);
    memcpy(bytes + sizeof frame, data + used, payload < 8192 ? payload : 8192);
    size_t total = sizeof frame + (follow < 8192 ? (size_t)follow : 8192),
           half = how & 8 ? total / 2 : 0;
    uint64_t next;
    if (half && send(fd, bytes, half, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) nic_round(&next);
    if (send(fd, bytes + half, total - half, MSG_DONTWAIT | MSG_NOSIGNAL) > 0) nic_round(&next);
    free(bytes);
    return used + payload;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t opcodes[] = {0x0a, 0x08, 0x10, 0x11, 0x12, 0x09, 0x0b, 0x01};
    int pair[2];
    uint64_t next;
    if (!world) world = world_make();
    if (size < 2) return 0;
    for (unsigned type = 0; type < TYPES; type++) connected((enum qp_type)type);
    store_be32(world->srq_db, world->srq->consumed + 4u);
    MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) && link_add(pair[0], false, 0));
    /* The first message makes the connection; the second, if it is large, goes through the memory
     * of both. */
    world_post(world, QP_RC, 0, opcodes[data[0] % 8], data[0] & 8 ? 8 : 64);
    nic_round(&next);
    shares();
    if (data[0] & 16) {
        world_post(world, QP_UC, 0, opcodes[data[0] % 8], 8192);
        nic_round(&next);
    }
    swallow(far_end);
    size_t at = 1;
    for (unsigned n = 0; n < MOST && at < size; n++) {
        at += feed(data + at, size - at, pair[1]);
        swallow(far_end), swallow(pair[1]);
    }
    close(pair[1]);
    if (far_end >= 0) close(far_end);
    far_end = -1;
    for (unsigned n = 0; n < 4 && link_count; n++) nic_round(&next);
    while (link_count) link_end(0);
    for (unsigned type = 0; type < TYPES; type++) MUST(world->end[type].qp->state <= STATE_ERR);
    return 0;
}
