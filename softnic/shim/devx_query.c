/* DEVX queries that belong to no object: capabilities, the port as a virtual port, its addresses.
 */
#include "devx.h"

#include <errno.h>
#include <string.h>

#include "pure/bits.h"

enum {
    QUERY_HCA_CAP = 0x100,
    QUERY_ADAPTER = 0x101,
    QUERY_ISSI = 0x10a,
    QUERY_VPORT_STATE = 0x750,
    QUERY_NIC_VPORT_CONTEXT = 0x754,
    QUERY_ROCE_ADDRESS = 0x760,
    QUERY_HCA_VPORT_CONTEXT = 0x762,
    NOP = 0x80d,
    QUERY_LAG = 0x842,
};

/* There is one port and no virtual function: own port 1 only. */
static bool own_vport(const uint8_t *in, bool numbered) {
    bool other = devx_get(in, 0x40, 1);
    unsigned port = (unsigned)devx_get(in, 0x4c, 4);

    return !other && !load_be16(in + 10) && (!numbered || port == 1);
}

static uint8_t capabilities(const struct mailbox *box) {
    if (!capability_page(load_be16(box->in + 6), box->out + DEVX_HEADER, DEVX_OUT - DEVX_HEADER))
        return STATUS_BAD_PARAM;
    box->out[0] = STATUS_OK;
    return STATUS_OK;
}

static uint8_t adapter(const struct mailbox *box) {
    uint8_t *block = box->out + DEVX_HEADER;
    enum { IEEE_VENDOR_ID = 0xc8, PSID = 0x20 + 208, MELLANOX = 0x0002c9 };

    devx_set(block, IEEE_VENDOR_ID, 24, MELLANOX);
    memcpy(block + PSID, personality()->board_id, strnlen(personality()->board_id, 16));
    return STATUS_OK;
}

/* The interface step sequence id: 1 is the one that drivers of today ask for. */
static uint8_t issi(const struct mailbox *box) {
    enum { CURRENT = 10, SUPPORTED = 108 };

    store_be16(box->out + CURRENT, 1);
    store_be32(box->out + SUPPORTED, 1 << 0 | 1 << 1);
    return STATUS_OK;
}

static uint8_t vport_state(const struct mailbox *box) {
    enum { UP = 1 };

    if (!own_vport(box->in, false)) return STATUS_BAD_PARAM;
    devx_set(box->out, 0x78, 4, UP);
    devx_set(box->out, 0x7c, 4, UP);
    return STATUS_OK;
}

static uint8_t nic_vport(const struct mailbox *box) {
    uint8_t *context = box->out + DEVX_HEADER;
    enum {
        ROCE_EN = 0x1f,
        MTU = 0x130,
        SYSTEM_IMAGE_GUID = 0x28,
        PORT_GUID = 0x30,
        NODE_GUID_AT = 0x38,
        PERMANENT_MAC = 0xf6
    };

    if (!own_vport(box->in, false)) return STATUS_BAD_PARAM;
    devx_set(context, ROCE_EN, 1, personality()->roce);
    devx_set(context, MTU, 16, 4096);
    memcpy(context + SYSTEM_IMAGE_GUID, NODE_GUID, 8);
    memcpy(context + PORT_GUID, NODE_GUID, 8);
    memcpy(context + NODE_GUID_AT, NODE_GUID, 8);
    if (personality()->roce) memcpy(context + PERMANENT_MAC, NODE_MAC, NODE_MAC_SIZE);
    return STATUS_OK;
}

/* Of InfiniBand ports only. */
static uint8_t hca_vport(const struct mailbox *box) {
    uint8_t *context = box->out + DEVX_HEADER;
    enum {
        HAS_SMI = 0x101,
        PHYSICAL_STATE = 0x110,
        PORT_STATE = 0x118,
        VPORT_STATE = 0x11c,
        LINK_UP = 5,
        ACTIVE = 4
    };
    enum {
        SYSTEM_IMAGE_GUID = 0x28,
        PORT_GUID = 0x30,
        NODE_GUID_AT = 0x38,
        CAP_MASK1 = 0x40,
        LID = 0x5c,
        SM_LID = 0x60,
        CAP_CM = 1 << 16
    };

    if (!own_vport(box->in, true) || personality()->roce) return STATUS_BAD_PARAM;
    devx_set(context, HAS_SMI, 1, 0);
    devx_set(context, PHYSICAL_STATE, 4, LINK_UP);
    devx_set(context, PORT_STATE, 4, ACTIVE);
    devx_set(context, VPORT_STATE, 4, ACTIVE);
    memcpy(context + SYSTEM_IMAGE_GUID, NODE_GUID, 8);
    memcpy(context + PORT_GUID, NODE_GUID, 8);
    memcpy(context + NODE_GUID_AT, NODE_GUID, 8);
    store_be32(context + CAP_MASK1, CAP_CM);
    store_be16(context + LID, 1);
    store_be16(context + SM_LID, 1);
    return STATUS_OK;
}

static uint8_t roce_address(const struct mailbox *box) {
    uint8_t *address = box->out + DEVX_HEADER;
    struct ib_uverbs_gid_entry entry;
    enum { MAC = 0x12, L3_TYPE = 0xd4, VERSION = 0xd8, V2 = 2, IPV6 = 1 };
    static const uint8_t mapped[12] = {[10] = 0xff, 0xff};

    if (!personality()->roce || load_be16(box->in + 8) >= GID_TABLE_SIZE) return STATUS_BAD_PARAM;
    if (!gid_entry(load_be16(box->in + 8), &entry))
        return STATUS_OK; /* an entry that was not set is zeros */
    memcpy(address, entry.gid, 16);
    memcpy(address + MAC, NODE_MAC, NODE_MAC_SIZE);
    if (entry.gid_type == IB_UVERBS_GID_TYPE_ROCE_V2) {
        devx_set(address, VERSION, 8, V2);
        devx_set(address, L3_TYPE, 4, memcmp(entry.gid, mapped, sizeof(mapped)) ? IPV6 : 0);
    }
    return STATUS_OK;
}

int devx_general(const struct mailbox *box, uint8_t *status) {
    switch (load_be16(box->in)) {
    case QUERY_HCA_CAP: *status = capabilities(box); return 0;
    case QUERY_ADAPTER: *status = adapter(box); return 0;
    case QUERY_ISSI: *status = issi(box); return 0;
    case QUERY_VPORT_STATE: *status = vport_state(box); return 0;
    case QUERY_NIC_VPORT_CONTEXT: *status = nic_vport(box); return 0;
    case QUERY_HCA_VPORT_CONTEXT: *status = hca_vport(box); return 0;
    case QUERY_ROCE_ADDRESS: *status = roce_address(box); return 0;
    case QUERY_LAG: /* there is none: zeros */
    case NOP: *status = STATUS_OK; return 0;
    }
    return EOPNOTSUPP;
}
