/* Points that the man pages leave open, answered in another way than this NIC does: choices of a
 * device profile (mkeyspec/device/profile/profile.py), any number of them at once. None is a fault.
 * Only the library of faults knows them; they are what calibration and the cases are tried with.
 *
 * The environment names them,
 * MKEYSPEC_SOFTNIC_CHOICES="err_actual=computed;status_local=loc_len_err".
 */
#ifndef SOFTNIC_FAULTS_CHOICE_H
#define SOFTNIC_FAULTS_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
#define CHOICES(X) \
    X(csum_seed_ffff) X(mask_le_fields) X(escape_scope) X(copy_compares_seed) \
    X(copy_compares_flags) X(ref_tag_restart) X(err_actual) X(err_value_order_crc32c) \
    X(err_value_order_crc64) X(err_offset) X(err_priority) X(invalidate_clears) X(initial_access) \
    X(recv_byte_len) X(status_local) X(status_local_bounds) X(status_length) X(status_remote) \
    X(status_remote_bounds) X(status_receive) X(status_receive_sender) X(status_overrun) \
    X(status_atomic) X(status_crypto) X(status_raw) X(status_dct) X(status_configure) \
    X(status_invalidate) X(status_invalidate_unknown) X(status_invalidate_receive) \
    X(status_invalidate_sender)
/* clang-format on */

#define CHOICE_MEMBER(name) CHOICE_##name,
enum choice { CHOICES(CHOICE_MEMBER) CHOICE_COUNT };
#undef CHOICE_MEMBER

/* 0: this NIC's own answer. Else that of the environment: a syndrome of a CQE, a number, or of
 * several words the place. */
extern uint32_t choice_value[CHOICE_COUNT];
#define choice(name) choice_value[CHOICE_##name]

bool choices_read(void); /* false: the environment names what there is not, and a line says so */

/* The syndrome that a point has, unless the environment has another one. */
#define told_as(name, right) (choice(name) ? (uint8_t)choice(name) : (uint8_t)(right))

#endif
