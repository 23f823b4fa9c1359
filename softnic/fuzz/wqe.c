/* Any bytes as a WQE, with and without an address segment, and as a receive's scatter list; and all
 * of them described. */
#include "fuzz/fuzz.h"
#include "pure/describe.h"
#include "pure/wqe.h"

static void decode(const uint8_t *data, size_t size, bool datagram) {
    struct wqe wqe;
    if (!wqe_decode(data, size, datagram, &wqe)) {
        MUST(!wqe.segs && !wqe.has_raddr && !wqe.av.present);
        return;
    }
    MUST(wqe.ds && (size_t)wqe.ds * WQE_UNIT <= size && opcode_name(wqe.opcode));
    MUST(wqe.segs <= WQE_MAX_SEGS);
    for (unsigned i = 0; i < wqe.segs; i++)
        if (wqe.seg[i].data)
            must_be_inside(wqe.seg[i].data, wqe.seg[i].length, data, (size_t)wqe.ds * WQE_UNIT);
}

static void show(int what, const uint8_t *data, size_t size) {
    static char out[1 << 14];
    for (int json = 0; json < 2; json++) {
        size_t length = describe(what, data, size, json, out, sizeof out);
        if (length) MUST(length >= sizeof out || out[length - 1] == '\n');
        MUST(describe(what, data, size, json, out, 5) == length);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    decode(data, size, false);
    decode(data, size, true);
    struct wqe_seg seg[5];
    unsigned segs = segs_decode(data, size, seg, 5);
    MUST(segs <= 5);
    for (unsigned i = 0; i < segs; i++)
        if (seg[i].data) must_be_inside(seg[i].data, seg[i].length, data, size);
    for (int what = DESCRIBE_WQE; what <= DESCRIBE_CQE; what++) show(what, data, size);
    return 0;
}
