" Written by editors/make.py from the compiler's tables.
if exists('b:current_syntax')
  finish
endif
syntax iskeyword @,48-57,_
syntax keyword mksKeyword accepted allow and as but by case completes covering else
syntax keyword mksKeyword every expect for from if in into is isolated known
syntax keyword mksKeyword let level mks needs not on or peer rejected setup
syntax keyword mksKeyword suite tags to use verifies when where
syntax keyword mksVerb abort access await cancel check compare_swap configure crypto dct dek
syntax keyword mksVerb destroy fetch_add invalidate layout login login_object login_state logout memcpy memory
syntax keyword mksVerb mkey mr_interleaved mr_list pd poll post qp query raw read
syntax keyword mksVerb receive record recv repeat resume retag send send_imm send_inv signature
syntax keyword mksVerb store transmit write
syntax keyword mksField actual add bind_mw block block_signature byte_len calls check_mask comp_swap compare
syntax keyword mksField computed copy_mask cq credential damaged data_unit default driver1 driver2 driver3
syntax keyword mksField encrypt_on_tx entries error expected fence found id imm inline key
syntax keyword mksField keytag local_inv max_inline_data max_recv_sge max_recv_wr max_send_sge max_send_wr mem misaligned nowait
syntax keyword mksField offset opaque order plaintext rdma_read rdma_write recv_rdma_with_imm remote_invalidate reset_signature rights
syntax keyword mksField scatter_to_cqe send_ops sig_pipelining signaled solicited sq_sig_all status stream streams swap
syntax keyword mksField tweak type update_tag wire wrapped
syntax keyword mksFunction app_at arrangements be16 be16_at be32 be32_at be64 be64_at block_at counter
syntax keyword mksFunction crc32 crc32c crc64_xp10 cut field field_at fill flip framed guard_at
syntax keyword mksFunction int_be int_le interleaved join le16 le16_at le32 le32_at le64 le64_at
syntax keyword mksFunction length list mask_at merge patch pick random random_ints ref_at strip
syntax keyword mksFunction subsets t10dif xor xts_decrypt xts_encrypt
syntax keyword mksValue any app_escape app_ref_escape bad_apptag bad_guard bad_reftag bad_resp_err comm_est cq_err crc
syntax keyword mksValue csum dci device device_fatal fatal_err flush_global flush_persistent general_err hugetlb inv_eec_state_err
syntax keyword mksValue inv_eecn_err loc_access_err loc_eec_op_err loc_len_err loc_prot_err loc_qp_op_err loc_rdd_viol_err local_protection local_write mkey_configure
syntax keyword mksValue mw_bind mw_bind_err no none ok on_demand ones own path_mig path_mig_err
syntax keyword mksValue peer_read peer_write peer_write_imm post_send qp_access_err qp_fatal qp_last_wqe_reached qp_req_err raw_packet raw_wqe
syntax keyword mksValue rc ref_remap relaxed_ordering rem_abort_err rem_access_err rem_inv_rd_req_err rem_inv_req_err rem_op_err remote_access remote_atomic
syntax keyword mksValue remote_read remote_write resp_timeout_err retry_exc_err rnr_retry_exc_err rx_ops shared signature_after_crypto_on_tx signature_before_crypto_on_tx sq_drained
syntax keyword mksValue state_error state_invalid state_no_login state_ready state_valid success t10dif_apptag t10dif_guard t10dif_reftag tm_err
syntax keyword mksValue tm_rndv_incomplete tx_ops uc ud unchanged wr_flush_err wr_post write_imm xrc_send yes
syntax keyword mksValue zero_based zeros
syntax match mksNumber '\v<(0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_]*[KMG]?)>'
syntax match mksId '\v<[A-Z][A-Z0-9]*(-[A-Z]+)*-[0-9]+[a-z]?>'
syntax match mksErrno '\v<E[A-Z][A-Z0-9]*>'
syntax region mksString start='\v(<hex|<ascii)?\"' skip='\\.' end='\"' oneline
syntax match mksComment '#.*$' contains=@Spell
highlight default link mksKeyword Keyword
highlight default link mksVerb Statement
highlight default link mksField Identifier
highlight default link mksFunction Function
highlight default link mksValue Constant
highlight default link mksNumber Number
highlight default link mksId Label
highlight default link mksErrno Constant
highlight default link mksString String
highlight default link mksComment Comment
let b:current_syntax = 'mks'
