/* Rules of the engine that other files have no need of: each is called in its own file alone
 * (../pure/rule.h). */
#ifndef SOFTNIC_RULES_H
#define SOFTNIC_RULES_H

#include "engine.h"
#include "pure/field.h"

/* ---- configure.c ------------------------------------------------------------------------- */

/* The BSF that a UMR brings, into `change`; false: none that this key and this device can have. */
bool configure_bsf(const struct key *key, const uint8_t *bytes, size_t len, struct change *change);
/* The syndrome of a UMR that may not be, or 0; key: NULL if there is none. */
uint8_t configure_refused(const struct qp *qp, const struct umr *umr, const struct key *key);
/* What the UMR's mask names, the translation and the BSF take effect; what it doesn't name stays.
 */
void configure_apply(struct key *key, const struct umr *umr, struct change *change);

/* ---- layout.c ---------------------------------------------------------------------------- */

/* A whole translation; false: no room, or not decodable. */
bool layout_decode(const struct key *key, const uint8_t *bytes, size_t len, struct change *change);

/* ---- reach.c ----------------------------------------------------------------------------- */

bool key_covers(const struct key *key, uint64_t addr, uint64_t length);
/* The key that an entry of `outer` names. */
enum violation entry_claim(const struct key *outer, uint32_t value, bool write, struct key **inner);
/* key_reach, `depth` mkeys below the one that a request names. */
enum violation key_descend(const struct key *key, uint64_t addr, uint64_t length, bool write,
                           struct reach *reach, int depth);

/* ---- crypto.c ---------------------------------------------------------------------------- */

bool keytag_fits(const struct dek *dek, const struct crypto_bsf *crypto);
bool job_fits(uint64_t length, uint64_t unit);

/* ---- execute.c --------------------------------------------------------------------------- */

/* The completion of a WQE that went well, if it asks for one. */
void complete_success(struct qp *qp, const struct wqe *wqe, uint32_t length);
/* Whether the send queue stops after a WQE; sigerr: it found a signature error. */
bool sq_stops(const struct qp *qp, bool sigerr);
/* The WQE at the SQ's head, as sq_fetch gave it. */
void wqe_execute(struct qp *qp, enum fetch fetch, const uint8_t *bytes, size_t len,
                 uint16_t blocks);

/* ---- respond.c --------------------------------------------------------------------------- */

bool addressed(const struct qp *qp, const struct message *message);
struct cq *passive_cq(const struct qp *qp);
/* The payload of an RDMA WRITE to its place, of which there is none yet in `to`. */
enum violation write_in(struct transfer *to, struct message *message, bool *source);
void respond_atomic(struct qp *qp, const struct message *message, struct answer *answer);
/* Whether a SEND with invalidate may name this key, which it gives back. */
bool invalidable(const struct qp *qp, uint32_t value, struct key **key);
/* The receive is used up by a message that it can't take. here, there: the syndromes of its
 * completion and of the requester's. */
void receive_fail(struct qp *qp, const struct receive *receive, uint8_t here, uint8_t there,
                  struct answer *answer);
/* The receive is used up, and tells of the message; opcode: CQE_* of ../pure/cqe.h. */
void receive_complete(struct qp *qp, const struct receive *receive, const struct message *message,
                      uint8_t opcode, uint64_t length);

/* ---- signature.c ------------------------------------------------------------------------- */

/* Where the error of a domain's block is, in its stream; blocks count from 0. */
uint64_t error_offset(const struct signature_domain *domain, uint64_t block);
/* The sum of block k of a message, whose blocks lie `pitch` bytes apart. */
void block_sum(struct field_sum *sum, const struct signature_domain *domain, const uint8_t *first,
               uint64_t pitch, uint64_t k);

/* ---- transfer.c -------------------------------------------------------------------------- */

enum violation bsf_in_force(const struct key *key, bool *yes);
/* The place that a range of this key goes on, or NULL. */
struct place *place_continued(const struct transfer *transfer, const struct key *key,
                              uint64_t addr);
/* A signature error of this place, if it is one, to the CQ of this side. */
void place_tell(struct transfer *transfer, const struct place *place, const struct sigerr *error);
bool place_gather(const struct transfer *transfer, const struct place *place, uint8_t *to);
bool place_scatter(const struct transfer *transfer, const struct place *place, const uint8_t *from);
bool place_adds_fields(const struct place *place);

#endif
