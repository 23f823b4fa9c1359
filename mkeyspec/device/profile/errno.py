"""The errno that rdma-core returns for a broken rule (providers/mlx5/qp.c; X-DIFF-04: the pages name none).

Rules are those of the man pages, by the names that claims refer to (`plan.Rejected.rule`). Rules that are reported
only in a completion have no errno and are not listed. A device profile overrides single entries (`[errno]`).
"""

from __future__ import annotations

ERRNO: dict[str, str] = {
    # mlx5dv_create_mkey, mlx5dv_create_qp
    "create_flags": "EOPNOTSUPP",
    "qp_operations": "EOPNOTSUPP",
    # the builder
    "inline_missing": "EOPNOTSUPP",
    "conf_comp_mask": "EOPNOTSUPP",
    "conf_flags": "EOPNOTSUPP",
    "too_few_setters": "EINVAL",
    "too_many_setters": "EINVAL",
    "setter_outside": "EINVAL",
    "setter_called_twice": "EINVAL",
    "two_layouts": "EINVAL",
    # generic and layout setters
    "access_bits": "EINVAL",
    "list_room": "ENOMEM",
    "interleaved_room": "ENOMEM",
    "mkey_entries": "ENOMEM",
    "strided_entry": "ENOMEM",
    # block signature
    "mkey_without_signature": "EINVAL",
    "sig_flags": "EINVAL",
    "sig_comp_mask": "EINVAL",
    "domain_comp_mask": "EINVAL",
    "sig_type": "EINVAL",
    "block_size": "EINVAL",
    "crc_type": "EINVAL",
    "crc_seed": "EINVAL",
    "dif_bg_type": "EINVAL",
    "dif_bg": "EINVAL",
    "dif_flags": "EINVAL",
    "copy_mask_structure": "EINVAL",
    # crypto
    "mkey_without_crypto": "EINVAL",
    "crypto_comp_mask": "EINVAL",
    "crypto_standard": "EINVAL",
    "crypto_order": "EINVAL",
    "crypto_data_unit": "EINVAL",
    "crypto_order_domains": "EINVAL",
    # mlx5dv_dek_create, mlx5dv_dek_destroy
    "dek_key_size": "EINVAL",
    "dek_purpose": "EINVAL",
    "dek_comp_mask": "EINVAL",
    "dek_login": "EINVAL",
    "dek_import": "EINVAL",
    "dek_wrapped": "EINVAL",
    "dek_query_login": "EINVAL",
    "dek_in_use": "EBUSY",
    # mlx5dv_crypto_login, mlx5dv_crypto_logout, mlx5dv_crypto_login_create
    "login_twice": "EEXIST",
    "login_comp_mask": "EINVAL",
    "login_credential": "EINVAL",
    "logout_without_login": "ENOENT",
    "login_objects": "EINVAL",
    # other calls
    "inline_room": "ENOMEM",
    "memcpy_length": "EINVAL",
    "check_without_signature": "EINVAL",
    "cancel_state": "EINVAL",
}
"""Rule to errno."""

UNDETECTED: dict[str, str] = {
    "too_few_setters": "X-DIFF-03",
    "strided_entry": "X-DIFF-06",
}
"""Rules that rdma-core does not check, with the departure that says so. Their errno above is that of
similar rules."""
