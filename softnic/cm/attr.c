/* What an id says of itself. All ids of a fabric have one subnet: each process has the device's own
 * address, and QP numbers tell them apart. */
#include "cm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "shim/shim.h"

/* Values of <infiniband/verbs.h> and <infiniband/sa.h>, which are not ours to include. */
enum {
    MASK_STATE = 1 << 0,
    MASK_ACCESS = 1 << 3,
    MASK_PKEY_INDEX = 1 << 4,
    MASK_PORT = 1 << 5,
    MASK_QKEY = 1 << 6,
    MASK_AV = 1 << 7,
    MASK_PATH_MTU = 1 << 8,
    MASK_TIMEOUT = 1 << 9,
    MASK_RETRY_COUNT = 1 << 10,
    MASK_RNR_RETRY = 1 << 11,
    MASK_RQ_PSN = 1 << 12,
    MASK_RD_ATOMIC = 1 << 13,
    MASK_MIN_RNR_TIMER = 1 << 15,
    MASK_SQ_PSN = 1 << 16,
    MASK_DEST_RD_ATOMIC = 1 << 17,
    MASK_DEST_QPN = 1 << 20,
    TO_INIT = 1,
    TO_RTR = 2,
    TO_RTS = 3,
    TYPE_RC = 2,
    REMOTE_WRITE = 2,
    REMOTE_READ = 4,
    REMOTE_ATOMIC = 8,
    MTU_4096 = 5,
    RATE_400 = 21,
    EXACTLY = 2,
    LIFE_TIME = 18,
    HOPS = 64,
    LID = 1,
};

static bool roce(void) { return personality() && personality()->roce; }

/* With RoCE, version 2 and the IP address: what a kernel chooses by default. */
static unsigned gid_index(void) { return roce() ? 3 : 0; }

void cm_address_vector(struct ib_uverbs_ah_attr *out) {
    struct ib_uverbs_gid_entry entry;

    memset(out, 0, sizeof *out);
    out->port_num = 1;
    out->dlid = roce() ? 0 : LID;
    out->is_global = roce();
    if (!roce() || !gid_entry(gid_index(), &entry)) return;
    memcpy(out->grh.dgid, entry.gid, 16);
    out->grh.sgid_index = (uint8_t)gid_index();
    out->grh.hop_limit = HOPS;
}

static void socket_address(const union cm_address *from, struct sockaddr_in6 *to) {
    memcpy(to, from, cm_address_size(from));
}

int cm_query_route(const struct cm_id *id, struct rdma_ucm_query_route_resp *out) {
    struct ib_uverbs_gid_entry entry;
    struct ib_user_path_rec *path = &out->ib_route[0];

    memset(out, 0, sizeof *out);
    socket_address(&id->source, &out->src_addr);
    socket_address(&id->destination, &out->dst_addr);
    if (!id->has_device || !gid_entry(gid_index(), &entry)) return 0;
    memcpy(&out->node_guid, NODE_GUID, 8);
    out->port_num = 1;
    out->ibdev_index = UINT32_MAX; /* none is known without netlink */
    memcpy(path->sgid, entry.gid, 16);
    if (id->state >= CM_ADDR_RESOLVED && id->state != CM_LISTEN) memcpy(path->dgid, entry.gid, 16);
    path->pkey = htons(0xffff);
    if (id->state < CM_ROUTE_RESOLVED || id->state == CM_LISTEN) return 0;
    out->num_paths = 1;
    path->dlid = path->slid = htons(roce() ? 0 : LID);
    path->reversible = 1, path->numb_path = 1;
    path->mtu = MTU_4096, path->mtu_selector = EXACTLY;
    path->rate = RATE_400, path->rate_selector = EXACTLY;
    path->packet_life_time = LIFE_TIME, path->packet_life_time_selector = EXACTLY;
    path->hop_limit = roce() ? HOPS : 0;
    path->traffic_class = id->service;
    return 0;
}

static int datagram(uint32_t state, struct ib_uverbs_qp_attr *out) {
    switch (state) {
    case TO_INIT:
        out->qkey = RDMA_UDP_QKEY;
        out->port_num = 1;
        out->qp_attr_mask = MASK_STATE | MASK_PKEY_INDEX | MASK_PORT | MASK_QKEY;
        return 0;
    case TO_RTR: out->qp_attr_mask = MASK_STATE; return 0;
    case TO_RTS: out->qp_attr_mask = MASK_STATE | MASK_SQ_PSN; return 0;
    default: return EINVAL;
    }
}

static int connected(const struct cm_id *id, uint32_t state, struct ib_uverbs_qp_attr *out) {
    bool there =
        id->state == CM_REQ_RECEIVED || (id->state >= CM_REP_SENT && id->state <= CM_ESTABLISHED);

    switch (state) {
    case TO_INIT:
        out->port_num = 1;
        out->qp_attr_mask = MASK_STATE | MASK_ACCESS | MASK_PKEY_INDEX | MASK_PORT;
        if (id->state < CM_REQ_SENT) return 0;
        out->qp_access_flags = REMOTE_WRITE;
        if (id->own.responder_resources) out->qp_access_flags |= REMOTE_READ | REMOTE_ATOMIC;
        return 0;
    case TO_RTR:
        if (!there) return EINVAL;
        cm_address_vector(&out->ah_attr);
        out->path_mtu = MTU_4096;
        out->dest_qp_num = id->other.qpn;
        out->rq_psn = id->own.psn;
        out->qp_attr_mask = MASK_STATE | MASK_AV | MASK_PATH_MTU | MASK_DEST_QPN | MASK_RQ_PSN;
        if (id->qp_type != TYPE_RC) return 0;
        out->max_dest_rd_atomic = id->own.responder_resources;
        out->qp_attr_mask |= MASK_DEST_RD_ATOMIC | MASK_MIN_RNR_TIMER;
        return 0;
    case TO_RTS:
        if (!there) return EINVAL;
        out->sq_psn = id->other.psn;
        out->qp_attr_mask = MASK_STATE | MASK_SQ_PSN;
        if (id->qp_type != TYPE_RC) return 0;
        out->timeout = id->ack_timeout ? id->ack_timeout : LIFE_TIME + 1;
        /* A REQ says what its receiver does, a REP the same of RNR alone. */
        out->retry_cnt = id->own.retry_count;
        out->rnr_retry = id->other.rnr_retry_count;
        out->max_rd_atomic = id->own.initiator_depth;
        out->qp_attr_mask |= MASK_TIMEOUT | MASK_RETRY_COUNT | MASK_RNR_RETRY | MASK_RD_ATOMIC;
        return 0;
    default: return EINVAL;
    }
}

int cm_qp_attr(const struct cm_id *id, uint32_t state, struct ib_uverbs_qp_attr *out) {
    memset(out, 0, sizeof *out);
    out->qp_state = state;
    if (!id->has_device) return EINVAL;
    return cm_is_datagram(id) ? datagram(state, out) : connected(id, state, out);
}
