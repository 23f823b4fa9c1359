; Written by editors/make.py from the compiler's tables.
(name) @variable
(comment) @comment
[(string) (ascii)] @string
(hex) @string.special
(integer) @number
[(requirement) (code)] @label
(error_number) @constant
(preposition) @keyword
["accepted" "allow" "and" "but" "case" "completes" "else" "every" "expect" "for" "if" "in" "known" "let" "needs" "not" "or" "peer" "rejected" "verifies" "when" "where"] @keyword
["+" "-" "++" "|" "^" "&" "~" ".." "+:" "=" "cmp" "mul" "shift"] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," "." ":"] @punctuation.delimiter
(case_line (name) @type)
(modifier . (name) @attribute)
(item_named . (name) @variable.parameter)
(call . (ref (name) @function.call))
(call_empty . (ref (name) @function.call))
((ref (name) @constant.builtin) (#match? @constant.builtin "^(access|any|app_escape|app_ref_escape|bad_apptag|bad_guard|bad_reftag|bad_resp_err|comm_est|configure|cq_err|crc|crypto|csum|dci|device|device_fatal|fatal_err|fence|flush_global|flush_persistent|general_err|hugetlb|inline|inv_eec_state_err|inv_eecn_err|layout|loc_access_err|loc_eec_op_err|loc_len_err|loc_prot_err|loc_qp_op_err|loc_rdd_viol_err|local_protection|local_write|memcpy|mkey_configure|mr_interleaved|mr_list|mw_bind|mw_bind_err|no|none|ok|on_demand|ones|own|path_mig|path_mig_err|peer_read|peer_write|peer_write_imm|post_send|qp_access_err|qp_fatal|qp_last_wqe_reached|qp_req_err|raw|raw_packet|raw_wqe|rc|read|recv|ref_remap|relaxed_ordering|rem_abort_err|rem_access_err|rem_inv_rd_req_err|rem_inv_req_err|rem_op_err|remote_access|remote_atomic|remote_read|remote_write|resp_timeout_err|retry_exc_err|rnr_retry_exc_err|rx_ops|send|send_imm|shared|signaled|signature|signature_after_crypto_on_tx|signature_before_crypto_on_tx|solicited|sq_drained|state_error|state_invalid|state_no_login|state_ready|state_valid|success|t10dif_apptag|t10dif_guard|t10dif_reftag|tm_err|tm_rndv_incomplete|tx_ops|uc|ud|unchanged|wire|wr_flush_err|wr_post|write|write_imm|xrc_send|yes|zero_based|zeros)$"))
((step . (name) @attribute) (#match? @attribute "^(actual|add|bind_mw|block|block_signature|byte_len|calls|check_mask|comp_swap|compare|computed|copy_mask|cq|credential|damaged|data_unit|default|driver1|driver2|driver3|encrypt_on_tx|entries|error|expected|fence|found|id|imm|inline|key|keytag|local_inv|max_inline_data|max_recv_sge|max_recv_wr|max_send_sge|max_send_wr|mem|misaligned|nowait|offset|opaque|order|plaintext|rdma_read|rdma_write|recv_rdma_with_imm|remote_invalidate|reset_signature|rights|scatter_to_cqe|send_ops|sig_pipelining|signaled|solicited|sq_sig_all|status|stream|streams|swap|tweak|type|update_tag|wire|wrapped)$"))
((step . "peer"? . (name) @function.builtin) (#match? @function.builtin "^(abort|access|await|cancel|check|compare_swap|configure|crypto|dct|dek|destroy|fetch_add|invalidate|layout|login|login_object|login_state|logout|memcpy|memory|mkey|mr_interleaved|mr_list|pd|poll|post|qp|query|raw|read|receive|record|recv|repeat|resume|retag|send|send_imm|send_inv|signature|store|transmit|write)$"))
((step . (name) @keyword) (#match? @keyword "^(allow|covering|isolated|level|mks|setup|suite|tags|use)$"))
