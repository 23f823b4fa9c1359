/* The trace: every WQE, receive and CQE that the device touches, as described by pure/describe.h.
 *
 * MKEYSPEC_SOFTNIC_TRACE names the file (`-`: stderr); records are appended, each whole (output.c),
 * so several processes may share it. MKEYSPEC_SOFTNIC_TRACE_FORMAT is text or json (one object a
 * line). Without the first, or if the file can't be written, nothing is traced.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"
#include "pure/describe.h"

bool tracing;
static bool json;

void trace_start(void) {
    const char *path = getenv("MKEYSPEC_SOFTNIC_TRACE"),
               *format = getenv("MKEYSPEC_SOFTNIC_TRACE_FORMAT");
    if (!path || !*path || tracing) return;
    json = format && !strcmp(format, "json");
    bool known = !format || !*format || json || !strcmp(format, "text");
    int error = known ? output_open(path) : 0;
    if (!known || error)
        dprintf(STDERR_FILENO, "mkeyspec softnic: no trace: %s: %s\n", known ? path : format,
                known ? strerror(error) : "neither text nor json");
    tracing = output_is_open();
}

/* A record that is too long for the stack is made a second time. */
struct record {
    const char *kind;
    const struct qp *qp;
    const struct cq *cq;
    const struct receive *receive;
    const uint8_t *bytes, *bsf;
    size_t len, bsf_len;
    uint64_t lost;
};

static size_t record_make(const struct record *record, char *out, size_t room) {
    static const char *const services[] = {
        [QP_RC] = "RC", [QP_UC] = "UC", [QP_UD] = "UD", [QP_DCI] = "DCI", [QP_DCT] = "DCT"};
    struct sheet sheet;
    sheet_begin(&sheet, out, room, json);
    sheet_head(&sheet, record->kind);
    sheet_number(&sheet, "pid", (uint64_t)getpid());
    sheet_number(&sheet, "time_ns", now());
    if (record->qp) sheet_text(&sheet, "service", services[record->qp->attr.type]);
    if (record->lost) {
        sheet_number(&sheet, "records", record->lost);
    } else if (record->cq) {
        sheet_hex(&sheet, "cqn", record->cq->number, 6);
        describe_cqe(&sheet, record->bytes);
    } else if (!record->qp) {
        return sheet_end(&sheet); /* all others are of a QP */
    } else if (record->receive) {
        sheet_hex(&sheet, "qpn", record->qp->number, 6);
        sheet_number(&sheet, "index", record->receive->index);
        describe_segs(&sheet, record->receive->seg, record->receive->segs);
    } else if (!strcmp(record->kind, "umr_list")) {
        sheet_hex(&sheet, "qpn", record->qp->number, 6);
        if (record->len) describe_translation(&sheet, record->bytes, record->len);
        if (record->bsf_len) describe_bsf(&sheet, record->bsf, record->bsf_len);
    } else {
        describe_wqe(&sheet, record->bytes, record->len,
                     record->qp->attr.type == QP_UD || record->qp->attr.type == QP_DCI);
    }
    return sheet_end(&sheet);
}

static void record_put(const struct record *record) {
    char some[8192], *all = some;
    size_t length = record_make(record, some, sizeof some);
    if (length >= sizeof some) {
        all = malloc(length + 64); /* the time may have grown a digit */
        if (!all) return;
        size_t again = record_make(record, all, length + 64);
        length = again < length + 64 ? again : length + 63;
    }
    output_write(all, length);
    tracing = output_is_open();
    if (all != some) free(all);
}

/* What was lost is reported once the reader reads again, before the next record. */
static void record_write(const struct record *record) {
    uint64_t lost = output_lost();
    if (lost) {
        if (!output_recovered()) {
            output_lost_is(lost + 1);
            return;
        }
        output_lost_is(0);
        record_put(&(struct record){.kind = "lost", .lost = lost});
    }
    record_put(record);
}

__attribute__((destructor)) static void trace_end(void) {
    if (!tracing) return;
    nic_lock();
    output_drain();
    uint64_t lost = output_lost();
    if (lost && output_recovered()) {
        record_put(&(struct record){.kind = "lost", .lost = lost});
        output_drain();
    }
    nic_unlock();
}

uint64_t trace_work(void) {
    if (!tracing) return 0;
    output_flush();
    tracing = output_is_open();
    return output_due();
}

void trace_wqe(const struct qp *qp, const uint8_t *wqe, size_t len) {
    if (tracing) record_write(&(struct record){.kind = "wqe", .qp = qp, .bytes = wqe, .len = len});
}

void trace_umr_list(const struct qp *qp, const uint8_t *translation, size_t translation_len,
                    const uint8_t *bsf, size_t bsf_len) {
    if (tracing)
        record_write(&(struct record){.kind = "umr_list",
                                      .qp = qp,
                                      .bytes = translation,
                                      .len = translation_len,
                                      .bsf = bsf,
                                      .bsf_len = bsf_len});
}

void trace_receive(const struct qp *qp, const struct receive *receive) {
    if (tracing) record_write(&(struct record){.kind = "receive", .qp = qp, .receive = receive});
}

void trace_cqe(const struct cq *cq, const uint8_t cqe[64]) {
    if (tracing) record_write(&(struct record){.kind = "cqe", .cq = cq, .bytes = cqe});
}
