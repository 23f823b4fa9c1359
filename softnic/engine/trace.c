/* The trace: every WQE, receive and CQE that the device touches, as described by pure/describe.h.
 *
 * MKEYSPEC_SOFTNIC_TRACE names the file (`-`: stderr); records are appended, each with one write, so several processes may share it.
 * MKEYSPEC_SOFTNIC_TRACE_FORMAT is text or json (one object a line). Without the first, or if the file can't be written, nothing is traced.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"
#include "pure/describe.h"

bool tracing;
static int trace_fd = -1;
static bool json;

void trace_start(void) {
    const char *path = getenv("MKEYSPEC_SOFTNIC_TRACE"), *format = getenv("MKEYSPEC_SOFTNIC_TRACE_FORMAT");
    if (!path || !*path || tracing) return;
    json = format && !strcmp(format, "json");
    /* Both descriptors are ours alone: the application may close or reuse its stderr. */
    int fd = strcmp(path, "-") ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fd < 0 || (format && *format && !json && strcmp(format, "text"))) {
        dprintf(STDERR_FILENO, "mkeyspec softnic: no trace: %s: %s\n", fd < 0 ? path : format, fd < 0 ? strerror(errno) : "neither text nor json");
        if (fd >= 0) close(fd);
        return;
    }
    trace_fd = fd_high(fd);
    tracing = true;
}

/* A record that is too long for the stack is made a second time. */
struct record {
    const char *kind;
    const struct qp *qp;
    const struct cq *cq;
    const struct receive *receive;
    const uint8_t *bytes, *bsf;
    size_t len, bsf_len;
};

static size_t record_make(const struct record *record, char *out, size_t room) {
    static const char *const services[] = { [QP_RC] = "RC", [QP_UC] = "UC", [QP_UD] = "UD", [QP_DCI] = "DCI", [QP_DCT] = "DCT" };
    struct sheet sheet;
    sheet_begin(&sheet, out, room, json);
    sheet_head(&sheet, record->kind);
    sheet_number(&sheet, "pid", (uint64_t)getpid());
    sheet_number(&sheet, "time_ns", now());
    if (record->qp) sheet_text(&sheet, "service", services[record->qp->attr.type]);
    if (record->cq) {
        sheet_hex(&sheet, "cqn", record->cq->number, 6);
        describe_cqe(&sheet, record->bytes);
    } else if (record->receive) {
        sheet_hex(&sheet, "qpn", record->qp->number, 6);
        sheet_number(&sheet, "index", record->receive->index);
        describe_segs(&sheet, record->receive->seg, record->receive->segs);
    } else if (!strcmp(record->kind, "umr_list")) {
        sheet_hex(&sheet, "qpn", record->qp->number, 6);
        if (record->len) describe_translation(&sheet, record->bytes, record->len);
        if (record->bsf_len) describe_bsf(&sheet, record->bsf, record->bsf_len);
    } else {
        describe_wqe(&sheet, record->bytes, record->len, record->qp->attr.type == QP_UD || record->qp->attr.type == QP_DCI);
    }
    return sheet_end(&sheet);
}

static void record_write(const struct record *record) {
    char some[8192], *all = some;
    size_t length = record_make(record, some, sizeof some);
    if (length >= sizeof some) {
        all = malloc(length + 64);      /* the time may have grown a digit */
        if (!all) return;
        size_t again = record_make(record, all, length + 64);
        length = again < length + 64 ? again : length + 63;
    }
    for (size_t at = 0; at < length;) {
        ssize_t done = write(trace_fd, all + at, length - at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) break;           /* a full disk or a reader that left must not stop the device */
        at += (size_t)done;
    }
    if (all != some) free(all);
}

void trace_wqe(const struct qp *qp, const uint8_t *wqe, size_t len) {
    if (tracing) record_write(&(struct record){ .kind = "wqe", .qp = qp, .bytes = wqe, .len = len });
}

void trace_umr_list(const struct qp *qp, const uint8_t *translation, size_t translation_len, const uint8_t *bsf, size_t bsf_len) {
    if (tracing)
        record_write(&(struct record){ .kind = "umr_list", .qp = qp, .bytes = translation, .len = translation_len, .bsf = bsf, .bsf_len = bsf_len });
}

void trace_receive(const struct qp *qp, const struct receive *receive) {
    if (tracing) record_write(&(struct record){ .kind = "receive", .qp = qp, .receive = receive });
}

void trace_cqe(const struct cq *cq, const uint8_t cqe[64]) {
    if (tracing) record_write(&(struct record){ .kind = "cqe", .cq = cq, .bytes = cqe });
}
