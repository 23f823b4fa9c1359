"""The rules of the man pages as data, and the record of a broken rule.

A rule states what the pages forbid, not what a driver refuses. The errno that a driver returns is in
`mkeyspec.device.profile.errno`, by the rule's name.
"""

from __future__ import annotations

from typing import NamedTuple

from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.diagnostics.source import Span


class Rule(NamedTuple):
    """One thing the pages forbid.

    `phases`: where a device may refuse it (create, complete, completion, mkey_check, cancel); empty: the outcome is
    undefined, so that no claim can cover it. `title` completes "two rules are broken: …".
    """

    name: str
    code: str
    requirement: str
    page: str
    phases: tuple[str, ...]
    title: str

    @property
    def reference(self) -> str:
        """What a diagnostic names: the page's clause and the requirement's id."""
        return f"{self.page}, {self.requirement}"


CREATE = ("create",)
COMPLETE = ("complete",)
COMPLETION = ("completion",)
UNDEFINED: tuple[str, ...] = ()

_CONFIGURE = "mlx5dv_wr_mkey_configure(3)"
_SIG = "mlx5dv_wr_set_mkey_sig_block(3)"
_CRYPTO = "mlx5dv_wr_set_mkey_crypto(3)"
_MKEY = "mlx5dv_create_mkey(3)"
_POST = "mlx5dv_wr_post(3)"
_DEK = "mlx5dv_dek_create(3)"
_LOGIN = "mlx5dv_crypto_login(3)"
_LOGIN_OBJECT = "mlx5dv_crypto_login_create(3)"

_TABLE = (
    # Use of an mkey by data work requests.
    Rule("no_layout", "MKS0401", "LAY-02", f"{_CONFIGURE} Data layout setters", COMPLETION, "no layout"),
    Rule("layout_too_short", "MKS0402", "SIG-06", f"{_SIG} mem", COMPLETION, "layout shorter than its domain's blocks"),
    Rule("beyond_layout", "MKS0403", "LAY-05", f"{_CONFIGURE} zero-based mode", COMPLETION, "beyond the layout's end"),
    Rule("access_right", "MKS0404", "ACC-01", f"{_CONFIGURE} access_flags", COMPLETION, "access right missing"),
    # Values of the setters.
    Rule("crc_seed", "MKS0405", "CRC-07", f"{_SIG} seed", COMPLETE, "seed neither zeros nor ones"),
    Rule("dif_bg", "MKS0406", "DIF-07", f"{_SIG} bg", COMPLETE, "bg neither 0 nor 0xffff"),
    Rule("list_room", "MKS0407", "LST-03", f"{_CONFIGURE} layout_list, X-LIM-01", COMPLETE, "list exceeds the WQE"),
    Rule(
        "interleaved_room",
        "MKS0408",
        "INT-03",
        f"{_CONFIGURE} layout_interleaved, X-LIM-01",
        COMPLETE,
        "interleaved entries exceed the WQE",
    ),
    Rule(
        "strided_entry",
        "MKS0409",
        "INT-05",
        f"{_CONFIGURE} strided header",
        ("complete", "completion"),
        "no mkey entry for the strided header",
    ),
    Rule("mkey_entries", "MKS0410", "LST-05", f"{_MKEY} max_entries", COMPLETE, "list exceeds the mkey's entries"),
    # The builder and its setters.
    Rule("setter_called_twice", "MKS0411", "CFG-07", f"{_CONFIGURE} Usage", COMPLETE, "setter called twice"),
    Rule("two_layouts", "MKS0412", "LAY-03", f"{_CONFIGURE} Data layout setters", COMPLETE, "two layouts"),
    Rule("setter_outside", "MKS0413", "SIG-25", f"{_SIG} Notes", COMPLETE, "setter outside a configuration"),
    Rule("too_few_setters", "MKS0414", "CFG-04", f"{_CONFIGURE} num_setters", COMPLETE, "fewer setters than announced"),
    Rule("too_many_setters", "MKS0415", "CFG-04", f"{_CONFIGURE} num_setters", COMPLETE, "more setters than announced"),
    Rule("inline_missing", "MKS0416", "CFG-12", f"{_CONFIGURE} IBV_SEND_INLINE", COMPLETE, "IBV_SEND_INLINE left out"),
    Rule("conf_comp_mask", "MKS0417", "CFG-22", f"{_CONFIGURE} comp_mask", COMPLETE, "conf_attr comp_mask not 0"),
    Rule("conf_flags", "MKS0418", "CFG-23", f"{_CONFIGURE} conf_flags", COMPLETE, "unknown bit in conf_flags"),
    Rule("access_bits", "MKS0419", "ACC-05", f"{_CONFIGURE} access_flags", COMPLETE, "bit outside ibv_access_flags"),
    # Block signature.
    Rule("sig_flags", "MKS0420", "SIG-17", f"{_SIG} flags", COMPLETE, "unknown bit in sig_block flags"),
    Rule("sig_comp_mask", "MKS0421", "SIG-18", f"{_SIG} comp_mask", COMPLETE, "sig_block comp_mask not 0"),
    Rule("domain_comp_mask", "MKS0422", "SIG-19", f"{_SIG} Block signature domain", COMPLETE, "domain comp_mask not 0"),
    Rule("sig_type", "MKS0423", "SIG-20", f"{_SIG} sig_type", COMPLETE, "unknown sig_type"),
    Rule("block_size", "MKS0424", "SIG-22", f"{_SIG} block_size", COMPLETE, "block_size outside mlx5dv_block_size"),
    Rule("crc_type", "MKS0425", "CRC-01", f"{_SIG} type", COMPLETE, "unknown CRC type"),
    Rule("dif_bg_type", "MKS0426", "DIF-08", f"{_SIG} bg_type", COMPLETE, "unknown bg_type"),
    Rule("dif_flags", "MKS0427", "DIF-11", f"{_SIG} T10DIF flags", COMPLETE, "unknown bit in T10DIF flags"),
    Rule("mkey_without_signature", "MKS0428", "SIG-24", f"{_SIG} Notes", COMPLETE, "mkey without BLOCK_SIGNATURE"),
    Rule(
        "copy_mask_structure",
        "MKS0429",
        "MSK-17",
        f"{_SIG} copy_mask",
        COMPLETE,
        "COPY_MASK between different structures",
    ),
    # Crypto.
    Rule("mkey_without_crypto", "MKS0430", "XCRY-01", _CRYPTO, COMPLETE, "mkey without CRYPTO"),
    Rule("crypto_comp_mask", "MKS0431", "XCRY-02", f"{_CRYPTO} comp_mask", COMPLETE, "crypto comp_mask not 0"),
    Rule("crypto_standard", "MKS0432", "XCRY-03", f"{_CRYPTO} crypto_standard", COMPLETE, "unknown crypto_standard"),
    Rule("crypto_order", "MKS0433", "XCRY-04", f"{_CRYPTO} signature_crypto_order", COMPLETE, "unknown crypto order"),
    Rule(
        "crypto_data_unit",
        "MKS0434",
        "XCRY-05",
        f"{_CRYPTO} data_unit_size",
        COMPLETE,
        "data unit outside mlx5dv_block_size",
    ),
    Rule(
        "crypto_order_domains",
        "MKS0435",
        "XCRY-07",
        f"{_CRYPTO} signature_crypto_order",
        COMPLETE,
        "crypto order that allows one signature domain, with two",
    ),
    Rule("crypto_missing", "MKS0436", "CRY-04", f"{_MKEY} CRYPTO", COMPLETION, "CRYPTO mkey without crypto attributes"),
    Rule("crypto_keytag", "MKS0437", "XCRY-09", f"{_CRYPTO} keytag", COMPLETION, "keytag differs from the DEK's"),
    Rule("crypto_job", "MKS0438", "XCRY-10", f"{_CRYPTO} data_unit_size", COMPLETION, "length unfit for the data unit"),
    Rule(
        "destroyed_dek", "MKS0485", "XCRY-20", f"{_DEK} mlx5dv_dek_destroy", COMPLETION, "mkey whose DEK was destroyed"
    ),
    # Objects.
    Rule("dek_key_size", "MKS0480", "XCRY-17", f"{_DEK} key_size", CREATE, "key_size outside mlx5dv_crypto_key_size"),
    Rule("dek_purpose", "MKS0481", "XCRY-18", f"{_DEK} key_purpose", CREATE, "unknown key_purpose"),
    Rule("dek_comp_mask", "MKS0482", "XCRY-19", f"{_DEK} comp_mask", CREATE, "unknown bit in a DEK's comp_mask"),
    Rule("dek_login", "MKS0483", "XCRY-13", f"{_DEK} crypto_login", CREATE, "wrapped DEK without a crypto login"),
    Rule("dek_in_use", "MKS0484", "XCRY-20", f"{_DEK} mlx5dv_dek_destroy", ("destroy",), "DEK of a configured mkey"),
    Rule("dek_wrapped", "MKS0493", "XCRY-26", f"{_DEK} key", CREATE, "key that the import KEK does not unwrap"),
    Rule("dek_import", "MKS0494", "XCRY-13", f"{_DEK} crypto_login", CREATE, "plaintext DEK of a device that wraps"),
    Rule("dek_query_login", "MKS0492", "XCRY-25", f"{_DEK} mlx5dv_dek_query", ("query",), "query without a login"),
    Rule("login_twice", "MKS0487", "XCRY-15", f"{_LOGIN} EEXIST", ("login",), "second login session"),
    Rule("logout_without_login", "MKS0490", "XCRY-15", f"{_LOGIN} ENOENT", ("logout",), "logout without a login"),
    Rule("login_comp_mask", "MKS0488", "XCRY-23", f"{_LOGIN} comp_mask", ("login", "create"), "login comp_mask not 0"),
    Rule("login_credential", "MKS0489", "XCRY-22", f"{_LOGIN} EINVAL", ("login", "create"), "credential not stored"),
    Rule("login_objects", "MKS0491", "XCRY-24", _LOGIN_OBJECT, ("login", "create"), "second login of a context"),
    Rule("create_flags", "MKS0439", "MKY-03", f"{_MKEY} create_flags", CREATE, "create_flags not of the page"),
    Rule("foreign_pd", "MKS0440", "MKY-11", f"{_MKEY} pd", COMPLETION, "another protection domain"),
    Rule("bad_lkey", "MKS0441", "INT-10", f"{_CONFIGURE} lkey", COMPLETION, "key that does not belong to the buffer"),
    Rule("update_tag", "MKS0442", "MKY-06", f"{_MKEY} UPDATE_TAG", COMPLETION, "tag that is not the mkey's"),
    Rule("invalidated_key", "MKS0443", "CFG-10", f"{_CONFIGURE} IBV_WR_LOCAL_INV", COMPLETION, "invalidated mkey"),
    Rule("destroyed_key", "MKS0468", "MKY-02", f"{_MKEY} mlx5dv_destroy_mkey", COMPLETION, "key of a destroyed mkey"),
    Rule(
        "check_without_signature",
        "MKS0444",
        "XCHK-01",
        "mlx5dv_mkey_check(3)",
        ("mkey_check",),
        "mkey_check of an mkey without BLOCK_SIGNATURE",
    ),
    Rule(
        "cancel_state",
        "MKS0445",
        "XCAN-06",
        "mlx5dv_qp_cancel_posted_send_wrs(3)",
        ("cancel",),
        "cancel on a QP that cannot be in SQD",
    ),
    Rule(
        "remote_invalidate_flag",
        "MKS0446",
        "MKY-08",
        f"{_MKEY} REMOTE_INVALIDATE",
        COMPLETION,
        "remote invalidate of an mkey without REMOTE_INVALIDATE",
    ),
    Rule("memcpy_length", "MKS0448", "WRP-22", f"{_POST} mlx5dv_wr_memcpy", COMPLETE, "memcpy beyond the device's max"),
    Rule("qp_operations", "MKS0449", "WRP-06", f"{_POST} RC QPs", CREATE, "operations the QP type does not have"),
    Rule("dc_stream", "MKS0471", "WRP-34", f"{_POST} DCI QPs", COMPLETION, "stream that the QP does not have"),
    Rule("receive_room", "MKS0456", "WRP-05", "ibv_post_recv(3)", COMPLETION, "message longer than its receive"),
    # Undefined outcomes: no claim covers them.
    Rule("update_tag_flag", "MKS0447", "MKY-06", f"{_MKEY} UPDATE_TAG", UNDEFINED, "tag of an mkey without UPDATE_TAG"),
    Rule("keytag_size", "MKS0464", "CRY-04", f"{_CRYPTO} keytag", UNDEFINED, "keytag that has not 8 bytes"),
    Rule("streams_of_no_dci", "MKS0465", "WRP-31", "mlx5dv_create_qp(3) dci_streams", UNDEFINED, "streams of no DCI"),
    Rule(
        "aborted_post_send",
        "MKS0466",
        "CFG-10",
        "ibv_wr_post(3) ibv_wr_abort",
        UNDEFINED,
        "ibv_post_send in a section that is aborted",
    ),
    Rule("qp_operation_missing", "MKS0450", "CFG-01", f"{_CONFIGURE} Usage", UNDEFINED, "QP without the operation"),
    Rule("scatter_to_cqe", "MKS0451", "MKY-10", f"{_MKEY} Notes", UNDEFINED, "indirect mkey with scatter to CQE"),
    Rule(
        "qp_type_operation",
        "MKS0457",
        "WRP-05",
        "ibv_wr_post(3) QP type",
        UNDEFINED,
        "request that the QP's type does not have",
    ),
    Rule("too_many_sges", "MKS0458", "WRP-05", "ibv_create_qp(3) cap", UNDEFINED, "more SGEs than the QP was made for"),
    Rule("atomic_boundary", "MKS0459", "WRP-05", "ibv_wr_post(3)", UNDEFINED, "atomic off its boundary"),
    Rule("own_layout", "MKS0460", "LST-01", f"{_CONFIGURE} layout_list", UNDEFINED, "mkey in its own layout"),
    Rule("nested_too_deep", "MKS0473", "LST-01", f"{_CONFIGURE} layout_list", UNDEFINED, "more than 8 nested mkeys"),
    Rule("dek_size", "MKS0461", "CRY-01", "mlx5dv_dek_create(3) key", UNDEFINED, "key that is not of AES-XTS"),
    Rule("dek_pd", "MKS0486", "XCRY-21", f"{_DEK} pd", UNDEFINED, "DEK of another protection domain"),
    Rule("dct_on_other_qp", "MKS0462", "WRP-31", f"{_POST} DCI QPs", UNDEFINED, "DCT named on a QP that is not a DCI"),
    Rule(
        "solicited_message",
        "MKS0467",
        "WRP-05",
        "ibv_post_send(3) IBV_SEND_SOLICITED",
        UNDEFINED,
        "solicited on a request that takes no receive",
    ),
    Rule(
        "inline_source",
        "MKS0469",
        "WRP-05",
        "ibv_wr_post(3) ibv_wr_set_inline_data",
        UNDEFINED,
        "inline data that are in no buffer when they are taken",
    ),
    Rule(
        "inline_room", "MKS0470", "WRP-05", "ibv_create_qp(3) max_inline_data", COMPLETE, "inline beyond the QP's room"
    ),
    Rule("raw_short", "MKS0463", "WRP-26", f"{_POST} mlx5dv_wr_raw_wqe", UNDEFINED, "WQE without its control segment"),
    Rule("dc_address", "MKS0452", "WRP-31", f"{_POST} DCI QPs", UNDEFINED, "DCI work request without its address"),
    Rule("wrong_side", "MKS0453", "INT-10", f"{_CONFIGURE} lkey", UNDEFINED, "key of the other endpoint"),
    Rule("beyond_buffer", "MKS0454", "INT-07", f"{_CONFIGURE} addr, LST-01", UNDEFINED, "layout beyond its buffer"),
    Rule("memory_rights", "MKS0472", "WRP-05", "ibv_reg_mr(3) access", UNDEFINED, "memory that only others may write"),
    Rule("beyond_memory", "MKS0455", "WRP-05", "ibv_wr_post(3)", UNDEFINED, "request beyond its buffer"),
    Rule("unknown_state", "MKS0506", "SIG-26", f"{_SIG} Notes", UNDEFINED, "mkey in an unknown state"),
    Rule("destroyed", "MKS0508", "MKY-02", f"{_MKEY} mlx5dv_destroy_mkey", UNDEFINED, "mkey that was destroyed"),
    Rule("not_created", "MKS0507", "MKY-01", f"{_MKEY} Return value", UNDEFINED, "mkey that was never created"),
)

RULES: dict[str, Rule] = {rule.name: rule for rule in _TABLE}
"""Every rule by its name (the name in a claim, `plan.Rejected.rule`)."""


class BrokenRule(NamedTuple):
    """A rule that a step breaks, or may break.

    `by_but`: written with `but`, so it is not a mistake; it is still the reason of a claimed rejection.
    `definite`: False where a live value decides, or the pages leave it open.
    `reason`: the class of completion status (`constants.STATUS_CLASS`), for rules of the phase completion.
    `phases` of the rule, unless the step narrows them. `request`: which of a section of several, from 0.
    `dropped`: the other end drops what breaks it, and the request succeeds. `live`: a live value decides.
    """

    rule: Rule
    span: Span
    message: str
    notes: tuple[Note, ...] = ()
    help: str = ""
    by_but: bool = False
    definite: bool = True
    reason: str | None = None
    request: int | None = None
    dropped: bool = False
    live: bool = False
