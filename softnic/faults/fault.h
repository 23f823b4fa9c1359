/* Faults that a NIC could have, one at a time: mkeyspec/sabotage/catalogue.toml says what each of
 * them means. Only the library of faults knows them (make faults); the shipped one has none.
 *
 * The environment names one, MKEYSPEC_SOFTNIC_FAULT=crc32_polynomial, or one that acts under a
 * condition: crc_runs_on@block>=8 (condition.h). It is read when the NIC starts, and stays. Each
 * file of this folder replaces the rules of one file of pure/ or engine/.
 */
#ifndef SOFTNIC_FAULTS_FAULT_H
#define SOFTNIC_FAULTS_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* In the catalogue's order: tests/sabotage/test_soft.py. */
/* clang-format off */
#define FAULTS(X) \
    X(crc32_polynomial) X(crc32c_polynomial) X(crc64_polynomial) X(crc32_seed_zeros) \
    X(crc32c_seed_ones) X(crc64_seed_zeros) X(crc_seed_inverted) X(crc32_not_inverted) \
    X(crc32c_not_inverted) X(crc64_not_inverted) X(crc32_little_endian) X(crc32c_big_endian) \
    X(crc64_big_endian) X(crc32_reflected) X(crc32c_not_reflected) X(crc64_not_reflected) \
    X(crc32_is_crc32c) X(crc32c_is_crc32) X(crc64_half) X(crc_runs_on) X(field_misses_first_byte) \
    X(field_misses_last_byte) X(field_misses_last_8) X(field_covers_512) X(field_of_first_block) \
    X(field_of_previous_block) X(last_field_zero) X(field_in_front) X(block_520_is_512) \
    X(block_4048_is_4096) X(block_4096_is_512) X(block_4160_is_4096) X(strip_leaves_a_byte) \
    X(strip_takes_a_byte) X(domains_swapped) X(wire_is_memory) X(transmit_unsigned) \
    X(receive_unsigned) X(partial_block_zero) X(t10_polynomial) X(t10_inverted) \
    X(t10_guard_little_endian) X(t10_reflected) X(t10_seed_ignored) X(t10_guard_is_csum) \
    X(csum_is_crc) X(csum_not_inverted) X(csum_without_carry) X(csum_little_endian) \
    X(app_tag_ignored) X(app_tag_high_byte_ignored) X(app_tag_little_endian) X(ref_tag_ignored) \
    X(ref_tag_little_endian) X(ref_tag_app_swapped) X(ref_tag_constant) X(ref_tag_early) \
    X(ref_tag_always_grows) X(ref_tag_shrinks) X(ref_tag_by_512) X(ref_tag_16_bits) \
    X(ref_tag_31_bits) X(ref_tag_restarts_with_sge) X(ref_tag_never_restarts) \
    X(app_escape_ignored) X(app_ref_escape_ignored) X(app_escape_high_byte) X(app_escape_low_byte) \
    X(app_escape_off_by_one) X(app_ref_escape_app_only) X(app_ref_escape_ref_only) \
    X(app_ref_escape_half_ref) X(escape_without_flag) X(escape_flags_swapped) X(escape_tags_only) \
    X(escape_spreads) X(check_mask_ignored) X(check_never) X(check_mask_inverted) \
    X(check_mask_shifted) X(check_mask_reversed) X(check_mask_by_part) X(check_mask_guard_only) \
    X(check_mask_low_bits_lost) X(check_first_block_only) X(check_not_first_block) \
    X(check_not_last_block) X(check_not_transmitted) X(check_not_received) X(check_low_bit) \
    X(check_false_alarm) X(copy_never) X(copy_always) X(copy_flag_ignored) X(copy_mask_inverted) \
    X(copy_mask_reversed) X(copy_mask_shifted) X(copy_parts_swapped) X(copy_guard_always) \
    X(copy_app_always) X(copy_ref_always) X(copy_all_or_nothing) X(copy_first_block_only) \
    X(list_last_entry_dropped) X(list_first_entries_swapped) X(list_reversed) \
    X(list_first_entry_only) X(list_entry_byte_late) X(list_four_entries) X(list_lkey_of_first) \
    X(offset_ignored) X(offset_block_down) X(not_zero_based) X(interleaved_repeat_once) \
    X(interleaved_repeat_short) X(interleaved_skip_ignored) X(interleaved_skip_is_stride) \
    X(interleaved_stride_long) X(interleaved_skip_first) X(interleaved_swapped) \
    X(interleaved_last_dropped) X(interleaved_by_entry) X(interleaved_stride_shared) \
    X(interleaved_count_shared) X(interleaved_count_even) X(interleaved_lkey_of_first) \
    X(page_crossing_lost) X(write_behind) \
    X(write_before) X(write_last_byte_lost) X(write_gap) X(source_written) X(refused_write_lands) \
    X(local_write_unchecked) X(remote_write_unchecked) X(remote_read_unchecked) \
    X(remote_atomic_unchecked) X(remote_rights_swapped) X(access_ored) X(access_kept) \
    X(access_lost) X(access_late) X(entry_rights_unchecked) X(pd_unchecked) X(entry_pd_unchecked) \
    X(tag_unchecked) X(tag_kept) X(missing_layout_ignored) X(bounds_one_more) X(bounds_one_less) \
    X(reset_ignored) X(reset_clears_layout) X(reset_clears_access) X(signature_lost) \
    X(signature_kept) X(memory_domain_kept) X(check_mask_kept) X(layout_lost) X(layout_kept) \
    X(list_after_interleaved_kept) X(interleaved_after_list_kept) X(configuration_ignored) \
    X(configuration_late) X(no_setters_clears) X(local_inv_ignored) X(local_inv_for_good) \
    X(remote_inv_ignored) X(remote_inv_unasked) X(error_lost) X(error_twice) X(error_sticky) \
    X(error_of_every_message) X(error_not_armed_again) X(error_last_block) X(error_next_block) \
    X(error_first_offset) X(error_offset_one_more) X(error_offset_of_data) X(error_type_guard) \
    X(error_type_tags_swapped) X(error_values_swapped) X(error_actual_is_expected) \
    X(error_values_little_endian) X(error_ref_tag_of_first) X(error_ref_tag_16_bits) \
    X(error_priority_reversed) X(error_to_initiator) X(error_on_reading_lost) \
    X(error_on_writing_lost) X(error_fails_request) X(error_stops_data) \
    X(error_stops_behind_block) X(umr_completion_lost) X(umr_completion_twice) \
    X(umr_unsignaled_completes) X(umr_opcode) X(data_completion_lost) X(data_completion_twice) \
    X(data_unsignaled_completes) X(write_opcode) X(read_byte_len_short) X(recv_byte_len_zero) \
    X(recv_imm_swapped) X(recv_completion_lost) X(write_imm_as_recv) X(invalidated_rkey_zero) \
    X(fetch_add_no_add) X(fetch_add_no_carry) X(fetch_add_new_value) X(compare_swap_always) \
    X(compare_swap_never) \
    X(compare_swap_low_half) X(compare_swap_high_half) X(compare_swap_half_written) \
    X(compare_swap_exchanged) X(compare_swap_new_value) X(xts_tweak_constant) \
    X(xts_tweak_big_endian) \
    X(xts_tweak_ignored) X(xts_tweak_64_bits) X(xts_tweak_early) X(xts_tweak_restarts_with_sge) \
    X(xts_keys_swapped) X(xts_direction_swapped) X(xts_transmit_plain) X(xts_receive_plain) \
    X(xts_unit_512) X(xts_last_unit_plain) X(field_over_ciphertext) X(field_encrypted) \
    X(keytag_unchecked) X(crypto_missing_plain) X(crypto_job_unchecked) X(crypto_kept) \
    X(crypto_lost) X(dek_state_error) X(dek_opaque_lost) X(dek_opaque_reversed) \
    X(dek_opaque_shared) \
    X(login_credential_unchecked) X(login_ids_unchecked) X(login_state_invalid) \
    X(login_objects_unchecked) X(wrapped_key_unchecked) X(wrapped_keys_swapped) \
    X(wrapped_keytag_lost) X(wrapped_dek_dies) X(wrapped_query_unchecked) \
    X(memcpy_short) X(memcpy_long) X(memcpy_backwards) X(memcpy_rights_unchecked) \
    X(memcpy_opcode) X(dc_key_unchecked) X(dc_stream_breaks_all) X(pipelining_goes_on) \
    X(pipelining_stops_late) X(pipelining_silent) X(pipelining_resume_drops) X(cancelled_is_lost)
/* clang-format on */

#define FAULT_MEMBER(name) FAULT_##name,
/* FAULT_CHOICES: none of them, but choices (choice.h), for which the short ways have no room.
 * FAULT_OBSERVED: none acts, and it is noted where each would. */
enum fault { FAULT_NONE, FAULTS(FAULT_MEMBER) FAULT_COUNT, FAULT_CHOICES, FAULT_OBSERVED };
#undef FAULT_MEMBER

extern enum fault fault_injected;
#define no_fault __builtin_expect(fault_injected == FAULT_NONE, 1)
/* Whether the fault acts here: it is the one, and its condition holds. */
#define fault(name) fault_acts(FAULT_##name)
/* Whether it is the one: for what it has to remember. */
#define fault_is(name) (fault_injected == FAULT_##name)

bool condition_holds(void);
void fault_reached(enum fault fault);
static inline bool fault_acts(enum fault fault) {
    if (no_fault) return false;
    if (fault_injected == FAULT_OBSERVED) fault_reached(fault);
    return fault_injected == fault && condition_holds();
}

/* `crc_runs_on`, or `crc_runs_on@block>=8`. False: there is none of this name, and none is
 * injected. */
bool fault_inject(const char *name);
bool conditions_observe(const char *text); /* separated by blanks */

/* signature.c: the mask that a field of the stream at work is checked with, in the place of this.
 */
uint8_t signature_checked(uint8_t check_mask);

/* The definition that a fault replaces, with the declaration of its header. */
#define REPLACES(rule) extern __typeof__(rule) right_##rule

#endif
