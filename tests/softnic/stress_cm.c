/* Connections by rdma_cm: both ends in one thread, or a server for the clients of another process.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>

#include <rdma/rdma_cma.h>

#include "stress.h"

enum { LETTERS = 16, MESSAGE = 64, DEADLINE = 120 };

/* The next event of a channel, awaited for at most two minutes. */
static struct rdma_cm_event *next(struct rdma_event_channel *channel) {
    struct pollfd fd = {.fd = channel->fd, .events = POLLIN};
    struct rdma_cm_event *event;
    int n;
    while ((n = poll(&fd, 1, 1000 * DEADLINE)) < 0) MUST(errno == EINTR);
    MUST(n == 1 && !rdma_get_cm_event(channel, &event));
    return event;
}

/* False: it was something else. */
static bool expect(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted) {
    struct rdma_cm_event *event = next(channel);
    bool fits = event->event == wanted;
    bool gone = event->event == RDMA_CM_EVENT_REJECTED ||
                event->event == RDMA_CM_EVENT_UNREACHABLE ||
                event->event == RDMA_CM_EVENT_CONNECT_ERROR;
    if (!fits && !gone)
        fprintf(stderr, "%s instead of %s\n", rdma_event_str(event->event), rdma_event_str(wanted));
    MUST(!rdma_ack_cm_event(event));
    return fits;
}

struct talk {
    struct rdma_cm_id *id;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    uint8_t memory[2 * LETTERS * MESSAGE];
};

static struct talk *talk_new(struct rdma_cm_id *id) {
    struct talk *talk = calloc(1, sizeof *talk);
    struct ibv_qp_init_attr attr = {
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = LETTERS,
                .max_recv_wr = LETTERS,
                .max_send_sge = 1,
                .max_recv_sge = 1},
    };
    MUST(talk && id->verbs);
    talk->id = id;
    id->context = talk;
    MUST(talk->pd = ibv_alloc_pd(id->verbs));
    MUST(talk->cq = attr.send_cq = attr.recv_cq =
             ibv_create_cq(id->verbs, 2 * LETTERS, NULL, NULL, 0));
    MUST(talk->mr = ibv_reg_mr(talk->pd, talk->memory, sizeof talk->memory, ALL));
    MUST(!rdma_create_qp(id, talk->pd, &attr));
    for (uint64_t i = 0; i < LETTERS; i++) {
        struct ibv_sge sge = {(uintptr_t)talk->memory + i * MESSAGE, MESSAGE, talk->mr->lkey};
        struct ibv_recv_wr *bad, wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};
        MUST(!ibv_post_recv(id->qp, &wr, &bad));
    }
    return talk;
}

static void talk_free(struct talk *talk) {
    if (!talk) return;
    rdma_destroy_qp(talk->id);
    MUST(!ibv_dereg_mr(talk->mr));
    MUST(!ibv_destroy_cq(talk->cq));
    MUST(!ibv_dealloc_pd(talk->pd));
    MUST(!rdma_destroy_id(talk->id));
    free(talk);
}

static void say(struct talk *talk, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        struct ibv_sge sge = {(uintptr_t)talk->memory + (LETTERS + i) * MESSAGE, MESSAGE,
                              talk->mr->lkey};
        struct ibv_send_wr *bad, wr = {
                                     .sg_list = &sge,
                                     .num_sge = 1,
                                     .opcode = IBV_WR_SEND,
                                     .send_flags = IBV_SEND_SIGNALED,
                                     .wr_id = 100 + i,
                                 };
        MUST(!ibv_post_send(talk->id->qp, &wr, &bad));
    }
}

/* False: an error, as when the other end is gone. */
static bool hear(struct talk *talk, uint32_t count) {
    struct ibv_wc wc;
    for (; count; count--) {
        int n;
        while (!(n = ibv_poll_cq(talk->cq, 1, &wc))) {}
        MUST(n == 1);
        if (wc.status != IBV_WC_SUCCESS) return false;
    }
    return true;
}

static struct rdma_cm_id *resolved(struct rdma_event_channel *channel, uint16_t port) {
    struct sockaddr_in there = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct rdma_cm_id *id;
    MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
    MUST(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&there, 2000) &&
         expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED));
    MUST(!rdma_resolve_route(id, 2000) && expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED));
    return id;
}

static struct rdma_cm_id *listening(struct rdma_event_channel *channel, uint16_t port) {
    struct sockaddr_in here = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct rdma_cm_id *id;
    MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
    MUST(!rdma_bind_addr(id, (struct sockaddr *)&here) && !rdma_listen(id, 8));
    return id;
}

void play_connection(struct dice *dice) {
    struct rdma_event_channel *at_server = rdma_create_event_channel(),
                              *at_client = rdma_create_event_channel();
    MUST(at_server && at_client);
    struct rdma_cm_id *server = listening(at_server, 0);
    for (uint32_t n = 1 + roll(dice, 3); n && !stop; n--) {
        struct rdma_conn_param how = {
            .responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7};
        struct rdma_cm_id *id = resolved(at_client, ntohs(rdma_get_src_port(server)));
        if (!roll(dice, 6)) { /* never asked for */
            MUST(!rdma_destroy_id(id));
            continue;
        }
        struct talk *client = talk_new(id);
        MUST(!rdma_connect(id, &how));
        struct rdma_cm_event *event = next(at_server);
        MUST(event->event == RDMA_CM_EVENT_CONNECT_REQUEST);
        struct rdma_cm_id *asked = event->id;
        MUST(!rdma_ack_cm_event(event));
        if (!roll(dice, 6)) {
            MUST(!rdma_reject(asked, NULL, 0) && !rdma_destroy_id(asked) &&
                 expect(at_client, RDMA_CM_EVENT_REJECTED));
            talk_free(client);
            continue;
        }
        struct talk *host = talk_new(asked);
        MUST(!rdma_accept(asked, &how) && expect(at_client, RDMA_CM_EVENT_ESTABLISHED));
        MUST(expect(at_server, RDMA_CM_EVENT_ESTABLISHED));
        uint32_t letters = 1 + roll(dice, LETTERS - 1);
        say(client, letters);
        MUST(hear(client, letters) && hear(host, letters));
        connections++;
        if (roll(dice, 2)) {
            MUST(!rdma_disconnect(id) && expect(at_server, RDMA_CM_EVENT_DISCONNECTED));
            MUST(!rdma_disconnect(asked) && expect(at_client, RDMA_CM_EVENT_DISCONNECTED));
            talk_free(client);
            talk_free(host);
        } else { /* the client goes without a word */
            talk_free(client);
            MUST(expect(at_server, RDMA_CM_EVENT_DISCONNECTED));
            talk_free(host);
        }
    }
    MUST(!rdma_destroy_id(server));
    rdma_destroy_event_channel(at_client);
    rdma_destroy_event_channel(at_server);
}

/* ---- between processes ------------------------------------------------------------------- */

enum { GUESTS = 64 };

static void guest_leaves(struct talk **guests, struct talk *talk) {
    for (int i = 0; i < GUESTS; i++)
        if (guests[i] == talk) guests[i] = NULL;
    talk_free(talk);
}

/* What clients send is only taken; whoever goes, killed or not, is seen to be gone. */
void connections_serve(uint16_t port) {
    struct talk *guests[GUESTS] = {0};
    struct rdma_conn_param how = {
        .responder_resources = 1, .initiator_depth = 1, .rnr_retry_count = 7};
    struct rdma_event_channel *channel = rdma_create_event_channel();
    MUST(channel);
    struct rdma_cm_id *server = listening(channel, port);
    while (!stop) {
        struct pollfd fd = {.fd = channel->fd, .events = POLLIN};
        struct rdma_cm_event *event;
        if (poll(&fd, 1, 100) != 1) continue;
        MUST(!rdma_get_cm_event(channel, &event));
        struct rdma_cm_id *id = event->id;
        enum rdma_cm_event_type kind = event->event;
        MUST(!rdma_ack_cm_event(event));
        if (kind == RDMA_CM_EVENT_CONNECT_REQUEST) {
            int place = 0;
            while (place < GUESTS && guests[place]) place++;
            MUST(place < GUESTS);
            guests[place] = talk_new(id);
            /* killed in the meantime */
            if (rdma_accept(id, &how)) guest_leaves(guests, guests[place]);
        } else if (kind == RDMA_CM_EVENT_ESTABLISHED) {
            connections++;
        } else if (id != server) {
            guest_leaves(guests, id->context);
        }
    }
    for (int i = 0; i < GUESTS; i++) talk_free(guests[i]);
    MUST(!rdma_destroy_id(server));
    rdma_destroy_event_channel(channel);
}

void connections_ask(struct dice *dice, uint16_t port) {
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_conn_param how = {
        .responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7};
    MUST(channel);
    for (;;) {
        struct rdma_cm_id *id = resolved(channel, port);
        struct talk *talk = talk_new(id);
        MUST(!rdma_connect(id, &how));
        if (expect(channel, RDMA_CM_EVENT_ESTABLISHED)) {
            uint32_t letters = 1 + roll(dice, LETTERS - 1);
            say(talk, letters);
            if (hear(talk, letters) && roll(dice, 2)) {
                MUST(!rdma_disconnect(id));
                expect(channel, RDMA_CM_EVENT_DISCONNECTED);
            }
        } else usleep(20000); /* no server, or no more of one */
        talk_free(talk);
    }
}
