/* The choices of this process, and those that are about statuses: which refusal it was, and so with
 * which syndrome it is told. */
#include "faults/choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/rules.h"
#include "faults/fault.h"
#include "faults/refusal.h"

uint32_t choice_value[CHOICE_COUNT];

static const struct {
    const char *word;
    uint32_t value;
} words[] = {
    {"loc_len_err", CQE_LOCAL_LENGTH},
    {"loc_qp_op_err", CQE_LOCAL_QP_OP},
    {"loc_prot_err", CQE_LOCAL_PROTECTION},
    {"mw_bind_err", CQE_MW_BIND},
    {"loc_access_err", CQE_LOCAL_ACCESS},
    {"rem_inv_req_err", CQE_REMOTE_INVALID_REQUEST},
    {"rem_access_err", CQE_REMOTE_ACCESS},
    {"rem_op_err", CQE_REMOTE_OPERATION},
    {"same-as-0", 1},
    {"value-order", 1},
    {"guard", 1},
    {"true", 1},
    {"configuration", 1},
    {"computed", 1},
    {"value", 1},
    {"memory", 1},
    {"block-start", 1},
    {"data-start", 2},
    /* err_priority: a digit each, the first in front; 1 guard, 2 app, 3 ref */
    {"guard+ref+app", 0x132},
    {"app+guard+ref", 0x213},
    {"app+ref+guard", 0x231},
    {"ref+guard+app", 0x312},
    {"ref+app+guard", 0x321},
};

static bool set(const char *name, const char *word) {
#define CHOICE_NAME(name) [CHOICE_##name] = #name,
    static const char *const names[CHOICE_COUNT] = {CHOICES(CHOICE_NAME)};
    uint32_t value = (uint32_t)strtoul(word, NULL, 10); /* initial_access */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].word, word)) value = words[i].value;
    for (unsigned i = 0; i < CHOICE_COUNT && value; i++)
        if (!strcmp(names[i], name)) {
            choice_value[i] = value;
            return true;
        }
    return false;
}

bool choices_read(void) {
    const char *given = getenv("MKEYSPEC_SOFTNIC_CHOICES");
    char *whole = strdup(given ? given : ""), *rest = whole;
    bool fine = whole != NULL;
    for (char *one; fine && (one = strsep(&rest, ";"));) {
        char *word = strchr(one, '=');
        if (!*one) continue;
        if (word) *word++ = 0;
        fine = word && set(one, word);
        if (fine) fault_injected = FAULT_CHOICES;
        else
            fprintf(stderr, "mkeyspec softnic: MKEYSPEC_SOFTNIC_CHOICES: no choice is `%s%s%s`\n",
                    one, word ? "=" : "", word ? word : "");
    }
    free(whole);
    return fine;
}

/* ---- which refusal it was ----------------------------------------------------------------- */

REPLACES(receive_fail);

static enum violation last;

enum violation refusal_note(enum violation bad) {
    if (bad) last = bad;
    return bad;
}

static bool beyond(void) { return last == BEYOND || last == NO_LAYOUT; }

static uint8_t local_status(uint8_t right) {
    switch (last) {
    case NO_CRYPTO:
    case BAD_DEK:
    case BAD_KEYTAG:
    case BAD_JOB: return told_as(status_crypto, right);
    default: return beyond() ? told_as(status_local_bounds, right) : told_as(status_local, right);
    }
}

uint8_t refusal_of_request(const struct wqe *wqe, uint8_t right) {
    if (wqe->opcode == OPCODE_UMR || wqe->opcode == OPCODE_SET_PSV) return right;
    if (right == CQE_LOCAL_PROTECTION) return local_status(right);
    if (right == CQE_LOCAL_LENGTH) return told_as(status_length, right);
    return right == CQE_LOCAL_QP_OP ? told_as(status_raw, right) : right;
}

uint8_t refusal_of_umr(const struct umr *umr, const struct key *key, uint8_t right) {
    if (!right) return 0;
    if (!umr->free) return told_as(status_configure, right);
    return key && key->type == KEY_MKEY ? told_as(status_invalidate, right)
                                        : told_as(status_invalidate_unknown, right);
}

void refusal_of_message(const struct message *message, struct answer *answer) {
    if (answer->verdict == VERDICT_SILENCE && message->service == QP_DCI && choice(status_dct)) {
        answer->verdict = VERDICT_NAK;
        answer->syndrome = (uint8_t)choice(status_dct);
        return;
    }
    if (answer->verdict != VERDICT_NAK) return;
    switch (message->opcode) {
    case OPCODE_SEND:
    case OPCODE_SEND_IMM:
    case OPCODE_SEND_INVAL: return; /* receive_fail */
    default:
        if (answer->syndrome == CQE_REMOTE_INVALID_REQUEST)
            answer->syndrome = told_as(status_atomic, answer->syndrome);
        else if (answer->syndrome == CQE_REMOTE_ACCESS)
            answer->syndrome = beyond() ? told_as(status_remote_bounds, answer->syndrome)
                                        : told_as(status_remote, answer->syndrome);
    }
}

void receive_fail(struct qp *qp, const struct receive *receive, uint8_t here, uint8_t there,
                  struct answer *answer) {
    bool invalidates = here == CQE_LOCAL_PROTECTION && there == CQE_REMOTE_INVALID_REQUEST;
    if (here == CQE_LOCAL_LENGTH) {
        here = told_as(status_overrun, here);
    } else if (invalidates) {
        here = told_as(status_invalidate_receive, here);
        there = told_as(status_invalidate_sender, there);
    } else {
        here = told_as(status_receive, here);
        there = told_as(status_receive_sender, there);
    }
    right_receive_fail(qp, receive, here, there, answer);
}
