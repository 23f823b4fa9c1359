;;; mkeyspec-mode.el --- Cases for mlx5 memory keys  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: Apache-2.0
;; Version: 1.0.0
;; Package-Requires: ((emacs "26.1"))
;; Keywords: languages

;;; Commentary:

;; Colours, comments and indentation of .mks files.  With eglot the language server does the rest:
;;
;;     (require 'mkeyspec-mode)
;;     (add-hook 'mkeyspec-mode-hook #'eglot-ensure)
;;
;; Written by editors/make.py from the compiler's tables.

;;; Code:

(defconst mkeyspec--keywords
  '(
    "accepted" "allow" "and" "as" "but" "by" "case" "completes" "covering" "else"
    "every" "expect" "for" "from" "if" "in" "into" "is" "isolated" "known"
    "let" "level" "mks" "needs" "not" "on" "or" "peer" "rejected" "setup"
    "suite" "tags" "to" "use" "verifies" "when" "where")
  "Reserved words, and those of the head of a case.")

(defconst mkeyspec--verbs
  '(
    "abort" "access" "await" "cancel" "check" "compare_swap" "configure" "crypto" "dct" "dek"
    "destroy" "fetch_add" "invalidate" "layout" "login" "login_object" "login_state" "logout" "memcpy" "memory"
    "mkey" "mr_interleaved" "mr_list" "pd" "poll" "post" "qp" "query" "raw" "read"
    "receive" "record" "recv" "repeat" "resume" "retag" "send" "send_imm" "send_inv" "signature"
    "store" "transmit" "write")
  "Words that statements begin with.")

(defconst mkeyspec--fields
  '(
    "actual" "add" "bind_mw" "block" "block_signature" "byte_len" "calls" "check_mask" "comp_swap" "compare"
    "computed" "copy_mask" "cq" "credential" "damaged" "data_unit" "default" "driver1" "driver2" "driver3"
    "encrypt_on_tx" "entries" "error" "expected" "fence" "found" "id" "imm" "inline" "key"
    "keytag" "local_inv" "max_inline_data" "max_recv_sge" "max_recv_wr" "max_send_sge" "max_send_wr" "mem" "misaligned" "nowait"
    "offset" "opaque" "order" "plaintext" "rdma_read" "rdma_write" "recv_rdma_with_imm" "remote_invalidate" "reset_signature" "rights"
    "scatter_to_cqe" "send_ops" "sig_pipelining" "signaled" "solicited" "sq_sig_all" "status" "stream" "streams" "swap"
    "tweak" "type" "update_tag" "wire" "wrapped")
  "Words that lines between braces begin with, and modifiers.")

(defconst mkeyspec--functions
  '(
    "app_at" "arrangements" "be16" "be16_at" "be32" "be32_at" "be64" "be64_at" "block_at" "counter"
    "crc32" "crc32c" "crc64_xp10" "cut" "field" "field_at" "fill" "flip" "framed" "guard_at"
    "int_be" "int_le" "interleaved" "join" "le16" "le16_at" "le32" "le32_at" "le64" "le64_at"
    "length" "list" "mask_at" "merge" "patch" "pick" "random" "random_ints" "ref_at" "strip"
    "subsets" "t10dif" "xor" "xts_decrypt" "xts_encrypt")
  "Functions.")

(defconst mkeyspec--values
  '(
    "any" "app_escape" "app_ref_escape" "bad_apptag" "bad_guard" "bad_reftag" "bad_resp_err" "comm_est" "cq_err" "crc"
    "csum" "dci" "device" "device_fatal" "fatal_err" "flush_global" "flush_persistent" "general_err" "hugetlb" "inv_eec_state_err"
    "inv_eecn_err" "loc_access_err" "loc_eec_op_err" "loc_len_err" "loc_prot_err" "loc_qp_op_err" "loc_rdd_viol_err" "local_protection" "local_write" "mkey_configure"
    "mw_bind" "mw_bind_err" "no" "none" "ok" "on_demand" "ones" "own" "path_mig" "path_mig_err"
    "peer_read" "peer_write" "peer_write_imm" "post_send" "qp_access_err" "qp_fatal" "qp_last_wqe_reached" "qp_req_err" "raw_packet" "raw_wqe"
    "rc" "ref_remap" "relaxed_ordering" "rem_abort_err" "rem_access_err" "rem_inv_rd_req_err" "rem_inv_req_err" "rem_op_err" "remote_access" "remote_atomic"
    "remote_read" "remote_write" "resp_timeout_err" "retry_exc_err" "rnr_retry_exc_err" "rx_ops" "shared" "signature_after_crypto_on_tx" "signature_before_crypto_on_tx" "sq_drained"
    "state_error" "state_invalid" "state_no_login" "state_ready" "state_valid" "success" "t10dif_apptag" "t10dif_guard" "t10dif_reftag" "tm_err"
    "tm_rndv_incomplete" "tx_ops" "uc" "ud" "unchanged" "wr_flush_err" "wr_post" "write_imm" "xrc_send" "yes"
    "zero_based" "zeros")
  "Words that are values: flags, operations, statuses.")

(defcustom mkeyspec-command "mkeyspec"
  "The program, for example that of a virtual environment."
  :type 'string
  :group 'languages)

(defconst mkeyspec--font-lock
  `(("\\_<\\(?:case\\|setup\\)\\_>[ \t]+\\([a-z][a-z0-9_]*\\)" 1 font-lock-type-face)
    ("\\_<[A-Z][A-Z0-9]*\\(?:-[A-Z]+\\)*-[0-9]+[a-z]?\\_>" . font-lock-constant-face)
    ("\\_<E[A-Z][A-Z0-9]*\\_>" . font-lock-constant-face)
    (,(regexp-opt mkeyspec--keywords 'symbols) . font-lock-keyword-face)
    (,(regexp-opt mkeyspec--verbs 'symbols) . font-lock-builtin-face)
    (,(regexp-opt mkeyspec--fields 'symbols) . font-lock-variable-name-face)
    (,(regexp-opt mkeyspec--functions 'symbols) . font-lock-function-name-face)
    (,(regexp-opt mkeyspec--values 'symbols) . font-lock-constant-face))
  "What `font-lock-defaults' takes.")

(defvar mkeyspec-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?_ "_" table)
    table)
  "Comments begin with #, and `_' is part of a name.")

(defun mkeyspec-indent-line ()
  "Indent as mkeyspec fmt does: by four columns in a case and in each bracket."
  (interactive)
  (let* ((depth (save-excursion (beginning-of-line) (car (syntax-ppss))))
         (closes (save-excursion (back-to-indentation) (looking-at-p "[])}]")))
         (top (save-excursion
                (back-to-indentation)
                (or (looking-at-p "\\_<\\(?:mks\\|suite\\|use\\|case\\|setup\\)\\_>")
                    (not (re-search-backward "^case\\_>" nil t)))))
         (column (* 4 (+ (if top 0 1) (max 0 (- depth (if closes 1 0)))))))
    (if (<= (current-column) (current-indentation))
        (indent-line-to column)
      (save-excursion (indent-line-to column)))))

;;;###autoload
(define-derived-mode mkeyspec-mode prog-mode "mkeyspec"
  "Cases for mlx5 memory keys, files .mks."
  (setq-local comment-start "# ")
  (setq-local comment-start-skip "#+[ \t]*")
  (setq-local indent-tabs-mode nil)
  (setq-local indent-line-function #'mkeyspec-indent-line)
  (setq-local compile-command (concat mkeyspec-command " run "))
  (setq-local font-lock-defaults '(mkeyspec--font-lock)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.mks\\'" . mkeyspec-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs
               `(mkeyspec-mode . ,(lambda (&rest _) (list mkeyspec-command "lsp")))))

(provide 'mkeyspec-mode)
;;; mkeyspec-mode.el ends here
