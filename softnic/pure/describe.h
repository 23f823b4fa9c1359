/* WQEs and CQEs, decoded field by field into a sheet, in the words of the man pages and of the
 * device's manual. */
#ifndef SOFTNIC_PURE_DESCRIBE_H
#define SOFTNIC_PURE_DESCRIBE_H

#include "pure/sheet.h"
#include "pure/wqe.h"

/* After sheet_head and the caller's own fields. `datagram` as in wqe_decode. What can't be decoded
 * is shown as bytes. */
void describe_wqe(struct sheet *sheet, const uint8_t *wqe, size_t len, bool datagram);
void describe_segs(struct sheet *sheet, const struct wqe_seg *seg, unsigned segs);
/* A UMR's translation and BSF where they are in memory, for a UMR that is not inline;
 * describe_wqe does it for those that are. */
void describe_translation(struct sheet *sheet, const uint8_t *bytes, size_t len);
void describe_bsf(struct sheet *sheet, const uint8_t *bytes, size_t len);
void describe_cqe(struct sheet *sheet, const uint8_t cqe[64]);

enum { DESCRIBE_WQE, DESCRIBE_DATAGRAM_WQE, DESCRIBE_RECEIVE, DESCRIBE_CQE };
/* One element as a record of its own; as sheet_end. A CQE of fewer than 64 bytes, or another
 * `what`, is nothing: 0. */
size_t describe(int what, const uint8_t *bytes, size_t len, bool json, char *out, size_t room);

#endif
