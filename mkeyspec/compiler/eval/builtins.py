"""The words of the language that are values: `remote_read`, `zeros`, `send`, `bad_guard`, `any`…

They are the identifiers of the pages, without prefix and in lower case. A user's name hides a word.
Functions are in `table.py`; verbs and the words of their lines in `verbs.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from mkeyspec import plan
from mkeyspec.abi.constants import (
    DEK_STATE,
    LOGIN_STATE,
    STATUS_CLASS,
    WC_STATUS,
    Access,
    BgType,
    CryptoOrder,
    QpOps,
    SendFlag,
    SigMask,
    T10difFlag,
)
from mkeyspec.compiler.eval.values import Handle, Value, WireRef, Word

TRANSMIT = tuple(plan.TRANSMIT)
"""What `transmit … by` takes, in the order of `tx_ops`."""

RECEIVE = tuple(plan.RECEIVE)
"""What `receive … by` takes, in the order of `rx_ops`."""

KINDS: dict[str, str] = {
    "access": "access flags: enum ibv_access_flags, ORed with `|`",
    "seed": "seeds: all bits of the field's width",
    "t10dif_flag": "T10-DIF flags: enum mlx5dv_sig_t10dif_flags, ORed with `|`",
    "bg_type": "block guard types: enum mlx5dv_sig_t10dif_bg_type",
    "mask": "bytes of a signature field: enum mlx5dv_sig_mask, ORed with `|`",
    "op": "how data leaves (`transmit … by`) or arrives (`receive … by`)",
    "setter": "setters of `configure`, for `calls […]`",
    "error": "what `check … is` says: enum mlx5dv_mkey_err_type",
    "dek_state": "what `query … is` says of a DEK: enum mlx5dv_dek_state",
    "login_state": "what `login_state is` says, and `query … is` of a login object: enum mlx5dv_crypto_login_state",
    "status": "reasons of a failed completion: enum ibv_wc_status, and the classes the pages speak of",
    "builder": "how an mkey is invalidated: `invalidate … by`",
    "event": "async events: enum ibv_event_type, for `await`",
    "qp_type": "QP types: `qp { type … }`",
    "qp_op": "operations a QP is made for: `qp { send_ops [ … ] }`",
    "cq": "completion queues of a QP: reserved",
    "send_flag": "flags of a work request: enum ibv_send_flags, ORed with `|`",
    "order": "order of signature and crypto: enum mlx5dv_signature_crypto_order",
    "truth": "truth",
    "pattern": "patterns, right of `expect`",
    "other": "others",
}
"""Kind of word -> what it is for; the chapters of the reference's list of words."""


def _flag_words(kind: str, flags: Iterable[Access | T10difFlag | SigMask | SendFlag]) -> list[Word]:
    return [Word(kind, flag.name.lower(), int(flag)) for flag in flags if flag.name]


def _words(kind: str, names: Iterable[str]) -> list[Word]:
    return [Word(kind, name) for name in names]


_ALL: list[Word] = [
    *_flag_words("access", Access),
    Word("seed", "zeros"),
    Word("seed", "ones"),
    *_flag_words("t10dif_flag", T10difFlag),
    Word("bg_type", "crc", int(BgType.CRC)),
    Word("bg_type", "csum", int(BgType.CSUM)),
    *_flag_words("mask", (SigMask.T10DIF_GUARD, SigMask.T10DIF_APPTAG, SigMask.T10DIF_REFTAG)),
    *_words("op", (*TRANSMIT, *RECEIVE)),
    *_words("setter", ("access", "layout", "signature", "crypto")),
    *_words("error", ("ok", "bad_guard", "bad_reftag", "bad_apptag")),
    *_words("dek_state", DEK_STATE),
    *_words("login_state", LOGIN_STATE),
    *_words("status", (*STATUS_CLASS, *WC_STATUS)),
    *_words("builder", ("post_send", "wr_post")),
    *_words("event", ("sq_drained", "qp_fatal", "qp_req_err", "qp_access_err", "qp_last_wqe_reached", "comm_est",
                      "path_mig", "path_mig_err", "cq_err", "device_fatal")),
    *_words("qp_type", ("rc", "uc", "ud", "dci", "xrc_send", "raw_packet")),
    Word("qp_op", "mr_interleaved", int(QpOps.MR_INTERLEAVED)),
    Word("qp_op", "mr_list", int(QpOps.MR_LIST)),
    Word("qp_op", "configure", int(QpOps.MKEY_CONFIGURE)),
    Word("qp_op", "mkey_configure", int(QpOps.MKEY_CONFIGURE)),
    Word("qp_op", "raw", int(QpOps.RAW_WQE)),
    Word("qp_op", "raw_wqe", int(QpOps.RAW_WQE)),
    Word("qp_op", "memcpy", int(QpOps.MEMCPY)),
    *_words("cq", ("own", "shared")),
    *_flag_words("send_flag", SendFlag),
    Word("order", "signature_after_crypto_on_tx", int(CryptoOrder.SIGNATURE_AFTER_CRYPTO_ON_TX)),
    Word("order", "signature_before_crypto_on_tx", int(CryptoOrder.SIGNATURE_BEFORE_CRYPTO_ON_TX)),
]  # fmt: skip

WORDS: dict[str, Value] = {
    **{word.name: word for word in _ALL},
    "tx_ops": tuple(Word("op", name) for name in TRANSMIT),
    "rx_ops": tuple(Word("op", name) for name in RECEIVE),
    "none": None,
    "yes": True,
    "no": False,
    "wire": WireRef(),
    "device": Handle("device", "device"),
    "any": plan.Any(),
    "unchanged": plan.Unchanged(),
}
"""Every word of the language that is a value."""

DOCS: dict[str, tuple[str, str]] = {
    **{word.name: (word.kind, "") for word in _ALL},
    "zeros": ("seed", "no bit set"),
    "ones": ("seed", "every bit set, in the width of the signature"),
    "tx_ops": ("op", f"the list of {', '.join(TRANSMIT)}"),
    "rx_ops": ("op", f"the list of {', '.join(RECEIVE)}"),
    "local_protection": ("status", f"any of {', '.join(STATUS_CLASS['local_protection'])}"),
    "remote_access": ("status", f"any of {', '.join(STATUS_CLASS['remote_access'])}"),
    "mkey_configure": ("qp_op", "as `configure`: the page's own word"),
    "raw_wqe": ("qp_op", "as `raw`: the page's own word"),
    "none": ("other", "no signature: a domain that adds and checks nothing"),
    "yes": ("truth", "true"),
    "no": ("truth", "false"),
    "wire": ("other", "what the last `transmit` put on the wire"),
    "device": ("other", "the device; `device.NAME` is one of its limits, read when the case runs"),
    "any": ("pattern", "whatever is there; `any(n)`: n bytes, whatever they are"),
    "unchanged": ("pattern", "what the case has declared of it so far: first bytes, `store`, a matched `expect`"),
}
"""Word -> (kind, one line of explanation, empty where the name says it)."""
