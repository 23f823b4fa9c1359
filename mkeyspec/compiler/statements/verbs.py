"""The verbs: what each sentence of the language takes, as data.

The grammar knows one sentence form (`ast.Step`); which operand, prepositions, modifiers, lines and
claims a verb has stands here, once. `shape.py` holds a step against its row of the table, the
`lower_*` modules give the row its meaning. A line inside braces is a sentence too: the table of
its *place* (`mkey`, `configure`, `signature`…) says which words may begin it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mkeyspec import plan
from mkeyspec.abi import constants


@dataclass(frozen=True, slots=True)
class Slot:
    """A part of a sentence that holds a value. `what` says which, for messages: "an mkey", "a number"."""

    what: str
    required: bool = True


@dataclass(frozen=True, slots=True)
class Verb:
    """One row of the table.

    `modifiers`: a name with None is a bare word (`signaled`), with a Slot it takes a value (`id 5`).
    `but`: members that may be written wrong on purpose. `lines`: the place whose table the lines in
    braces are read with, None: no braces. `phases`: where a rejection may be claimed. `shows`: what may be read of
    its label when the case runs.
    """

    name: str
    example: str
    operand: Slot | None = None
    phrases: Mapping[str, Slot] = field(default_factory=dict)
    value: Slot | None = None
    modifiers: Mapping[str, Slot | None] = field(default_factory=dict)
    but: tuple[str, ...] = ()
    lines: str | None = None
    lines_required: bool = False
    phases: tuple[str, ...] = ()
    completes: bool = False
    known: bool = False
    peer: bool = False
    page: str = ""
    shows: tuple[str, ...] = ()


NUMBER = Slot("a number")
LABEL = Slot("a label", required=False)
QP = Slot("a qp", required=False)
PD = Slot("a pd", required=False)
REF = Slot("a buffer, an mkey, or a part of one")
REFS = Slot("a buffer, an mkey, a part of one, or a list of them")
BYTES = Slot("bytes")
MKEY = Slot("an mkey")
NEW = Slot("a new name")

CONFIGURE_PAGE = "mlx5dv_wr_mkey_configure(3)"
SIG_PAGE = "mlx5dv_wr_set_mkey_sig_block(3)"
POST_PAGE = "mlx5dv_wr_post(3)"
MKEY_PAGE = "mlx5dv_create_mkey(3)"

OPTIONS: dict[str, Slot | None] = {
    "signaled": None,
    "fence": None,
    "solicited": None,
    "id": NUMBER,
    "dct": Slot("a dct"),
    "stream": NUMBER,
}
"""What every work request may carry (`plan.Options`)."""

_WR_CLAIM = ("complete", "completion")
_WR_SHOWS = ("errno", "status")
_ANSWERED_SHOWS = (*_WR_SHOWS, "byte_len")
"""Of a request that an answer fills: no other completion of a send queue has a byte_len (ibv_poll_cq(3))."""
_SGE_BUT = ("addr", "length", "lkey", "tag")
_DC_BUT = ("dctn", "dc_key")
_REMOTE_BUT = (*_SGE_BUT, "remote_addr", "rkey", *_DC_BUT)
_TRANSFER_BUT = (*_SGE_BUT, "rkey")
_BUILDER_BUT = ("num_setters", "conf_flags", "comp_mask", "inline")


def _request(
    name: str,
    example: str,
    operand: Slot,
    phrases: Mapping[str, Slot],
    page: str,
    modifiers: Mapping[str, Slot | None] | None = None,
    but: tuple[str, ...] = (*_SGE_BUT, *_DC_BUT),
    lines: str | None = None,
) -> Verb:
    """A work request: `on q as l` go with it where it stands alone; `shape.py` refuses them in a section."""
    return Verb(
        name,
        example,
        operand,
        {**phrases, "on": QP, "as": LABEL},
        modifiers={**OPTIONS, **(modifiers or {})},
        but=but,
        lines=lines,
        phases=_WR_CLAIM,
        completes=True,
        known=True,
        peer=True,
        page=page,
        shows=_ANSWERED_SHOWS if name in ("read", "fetch_add") else _WR_SHOWS,
    )


_ACCESS = Slot("access flags")
_IMM = {"imm": Slot("a number")}

REQUESTS: tuple[Verb, ...] = (
    _request(
        "configure",
        "configure k { access remote_read; layout list(m) }",
        MKEY,
        {},
        CONFIGURE_PAGE,
        {"reset_signature": None, "calls": Slot("a list of setters")},
        _BUILDER_BUT,
        "configure",
    ),
    _request(
        "mr_list",
        "mr_list k from [a, b], access local_write",
        MKEY,
        {"from": Slot("a list of parts")},
        POST_PAGE,
        {"access": _ACCESS},
        ("access_flags", "inline"),
    ),
    _request(
        "mr_interleaved",
        "mr_interleaved k from interleaved(2, a count 512 skip 4), access local_write",
        MKEY,
        {"from": Slot("an interleaved layout")},
        POST_PAGE,
        {"access": _ACCESS},
        ("access_flags", "repeat_count", "inline"),
    ),
    _request("send", "send m", REFS, {}, "ibv_wr_post(3)"),
    _request("send_imm", "send_imm m, imm 7", REFS, {}, "ibv_wr_post(3)", _IMM),
    _request(
        "send_inv",
        "send_inv m, key k",
        REFS,
        {},
        "ibv_wr_post(3)",
        {"key": Slot("an mkey of the other side")},
        (*_SGE_BUT, "invalidate_rkey", *_DC_BUT),
    ),
    _request("write", "write m to w", REFS, {"to": REF}, "ibv_wr_post(3)", _IMM, _REMOTE_BUT),
    _request("read", "read m from w", REFS, {"from": REF}, "ibv_wr_post(3)", None, _REMOTE_BUT),
    _request(
        "fetch_add",
        "fetch_add m[0 +: 8] from w[0 +: 8], add 1",
        REF,
        {"from": REF},
        "ibv_wr_post(3)",
        {"add": NUMBER},
        _REMOTE_BUT,
    ),
    _request(
        "invalidate",
        "invalidate k by post_send",
        MKEY,
        {"by": Slot("post_send or wr_post", required=False)},
        CONFIGURE_PAGE,
        None,
        ("rkey",),
    ),
    _request("memcpy", "memcpy a to b", REF, {"to": REF}, POST_PAGE, None, ("length",)),
    _request("raw", 'raw hex"…"', BYTES, {}, POST_PAGE, None, ()),
)
REQUEST_NAMES = frozenset(verb.name for verb in REQUESTS)

SETTERS: tuple[Verb, ...] = (
    Verb("access", "access remote_read | remote_write", _ACCESS, but=("access_flags",), page=CONFIGURE_PAGE),
    Verb("layout", "layout list(a, b)", Slot("a layout"), but=("repeat_count",), page=CONFIGURE_PAGE),
    Verb(
        "signature",
        "signature { mem crc32(ones) every 512 }",
        but=("flags", "comp_mask"),
        lines="signature",
        lines_required=True,
        page=SIG_PAGE,
    ),
    Verb(
        "crypto",
        "crypto { dek d; tweak 0; data_unit 512 }",
        but=("comp_mask", "crypto_standard", "data_unit_size", "signature_crypto_order", "encrypt_on_tx"),
        lines="crypto",
        lines_required=True,
        page="mlx5dv_wr_set_mkey_crypto(3)",
    ),
)
SETTER_NAMES = frozenset(verb.name for verb in SETTERS)

STATEMENTS: tuple[Verb, ...] = (
    Verb(
        "memory", "memory m[512] = counter(512), misaligned 3", NEW, {}, Slot("bytes", required=False),
        {"misaligned": NUMBER, "pd": Slot("a pd"), "rights": _ACCESS}, peer=True,
    ),
    Verb(
        "mkey", "mkey k { block_signature; entries 4 }", NEW, {}, None, {}, ("create_flags", "max_entries"), "mkey",
        phases=("create",), known=True, peer=True, page=MKEY_PAGE,
    ),
    Verb(
        "qp", "qp q { max_send_sge 1; max_inline_data 0 }", NEW, {}, None, {}, ("send_ops_flags",), "qp",
        phases=("create",), known=True, page="mlx5dv_create_qp(3)",
    ),
    Verb("pd", "pd p", NEW, peer=True),
    Verb(
        "dek", "dek d { key random(32, seed=1) }", NEW, lines="dek", lines_required=True, phases=("create",),
        known=True, page="mlx5dv_dek_create(3)",
    ),
    Verb("dct", "dct t { key 0x1234 }", NEW, lines="dct", page=POST_PAGE),
    Verb(
        "post", "post on q as l { send a; send b, signaled }", None, {"on": QP, "as": LABEL}, None, {"nowait": None},
        (), "section", True, _WR_CLAIM, True, True, True, "ibv_wr_post(3)", _ANSWERED_SHOWS,
    ),
    Verb(
        "abort", "abort { configure k { access 0 } }", None, {"on": QP, "as": LABEL}, None, {}, (), "section", True,
        (), False, True, True, "ibv_wr_post(3)", ("errno",),
    ),
    *REQUESTS,
    Verb(
        "transmit", "transmit k by send", Slot("an mkey, or a part of one"),
        {"by": Slot(", ".join(plan.TRANSMIT)), "on": QP, "as": LABEL}, None, {**OPTIONS, **_IMM}, _TRANSFER_BUT, None,
        False, _WR_CLAIM, True, True, shows=_WR_SHOWS,
    ),
    Verb(
        "receive", "receive counter(512) into k by recv", BYTES,
        {"into": Slot("an mkey, or a part of one"), "by": Slot(", ".join(plan.RECEIVE)), "on": QP, "as": LABEL}, None,
        {**OPTIONS, **_IMM}, _TRANSFER_BUT, None, False, _WR_CLAIM, True, True, shows=_ANSWERED_SHOWS,
    ),
    Verb("recv", "peer recv w as r", Slot("a buffer, a part of one, or a list of them", required=False),
         {"on": QP, "as": LABEL}, None, {"id": NUMBER}, peer=True, page="ibv_post_recv(3)",
         shows=("status", "byte_len")),
    Verb("store", "store m[0 +: 8] = fill(0, 8)", Slot("a buffer, or a part of one"), {}, BYTES),
    Verb(
        "check", "check k is bad_guard, block 3", MKEY,
        {"is": Slot("ok, bad_guard, bad_reftag, bad_apptag, or a list of them"), "as": LABEL}, None,
        {"block": NUMBER, "found": BYTES, "computed": BYTES, "offset": NUMBER, "expected": NUMBER, "actual": NUMBER},
        phases=("mkey_check",), known=True, page="mlx5dv_mkey_check(3)", shows=("errno",),
    ),
    Verb("await", "await sq_drained on q", Slot("an event"), {"on": QP}, known=True, page="ibv_get_async_event(3)"),
    Verb("poll", "poll q completes { send, id 1 }", Slot("a qp", required=False), completes=True, known=True, peer=True,
         page="ibv_poll_cq(3)"),
    Verb("cancel", "cancel 2 on q as c", NUMBER, {"on": QP, "as": LABEL}, phases=("cancel",), known=True,
         page="mlx5dv_qp_cancel_posted_send_wrs(3)", shows=("errno", "count")),
    Verb("resume", "resume q", Slot("a qp", required=False), page="ibv_modify_qp(3)"),
    Verb("retag", "retag k to 7", MKEY, {"to": NUMBER}, page=MKEY_PAGE),
    Verb("record", "record room = k.max_entries", Slot("a name for the report"), {}, Slot("something observed")),
)  # fmt: skip


def _field(name: str, example: str, what: str, page: str = "", required: bool = True) -> Verb:
    return Verb(name, example, Slot(what, required), page=page)


def _flag(name: str, page: str = "") -> Verb:
    return Verb(name, name, page=page)


MKEY_FLAGS: dict[str, int] = {
    "block_signature": int(constants.MkeyFlag.BLOCK_SIGNATURE),
    "crypto": int(constants.MkeyFlag.CRYPTO),
    "update_tag": int(constants.MkeyFlag.UPDATE_TAG),
    "remote_invalidate": int(constants.MkeyFlag.REMOTE_INVALIDATE),
}

QP_NUMBERS = ("max_inline_data", "max_send_sge", "max_recv_sge", "max_send_wr", "max_recv_wr", "streams")
QP_SWITCHES = ("sq_sig_all", "sig_pipelining", "scatter_to_cqe")
QP_TYPES = ("rc", "uc", "ud", "dci", "xrc_send", "raw_packet")

_RECEIVED: dict[str, Slot | None] = {"id": NUMBER, "byte_len": NUMBER, "imm": NUMBER}
_ANSWERED: dict[str, Slot | None] = {"id": NUMBER, "byte_len": NUMBER}
_FAILED: dict[str, Slot | None] = {"id": NUMBER, "status": Slot("a completion status")}
_ENTRY_MEMBERS: dict[str, Mapping[str, Slot | None]] = {
    "recv": _RECEIVED,
    "recv_rdma_with_imm": _RECEIVED,
    "rdma_read": _ANSWERED,
    "fetch_add": _ANSWERED,
    "comp_swap": _ANSWERED,
    "error": _FAILED,
}
"""Members that ibv_poll_cq(3) and IBTA 11.4.2.1 define for a completion, beside its number."""

OPCODES = (*constants.WC_OPCODE.values(), "error")
"""What a line of `completes { }` begins with. `error`: a failed completion, whose opcode is undefined."""


def _by_name(verbs: tuple[Verb, ...]) -> dict[str, Verb]:
    return {verb.name: verb for verb in verbs}


PLACES: dict[str, dict[str, Verb]] = {
    "case": _by_name(STATEMENTS),
    "section": _by_name((*REQUESTS, *SETTERS)),
    "configure": _by_name(SETTERS),
    "signature": _by_name(
        (
            _field("mem", "mem crc32(ones) every 512", "a domain or none", SIG_PAGE),
            _field("wire", "wire t10dif() every 512", "a domain or none", SIG_PAGE),
            _field("check_mask", "check_mask 0xc0", "a mask", SIG_PAGE),
            _field("copy_mask", "copy_mask 0x30", "a mask", SIG_PAGE),
        )
    ),
    "crypto": _by_name(
        (
            _field("dek", "dek d", "a dek"),
            _field("tweak", "tweak 1", "a number"),
            _field("data_unit", "data_unit 512", "a number of bytes"),
            _field("encrypt_on_tx", "encrypt_on_tx yes", "yes or no", required=False),
            _field("order", "order signature_before_crypto_on_tx", "an order"),
            _field("keytag", "keytag fill(1, 8)", "8 bytes"),
        )
    ),
    "mkey": _by_name(
        (
            *(_flag(name, MKEY_PAGE) for name in MKEY_FLAGS),
            _field("entries", "entries 4", "a number", MKEY_PAGE),
            _field("pd", "pd p", "a pd", MKEY_PAGE),
        )
    ),
    "qp": _by_name(
        (
            _field("type", "type rc", ", ".join(QP_TYPES)),
            _field("send_ops", "send_ops [configure, mr_list]", "a list of operations"),
            *(_field(name, f"{name} 4", "a number") for name in QP_NUMBERS),
            *(_field(name, name, "yes or no", required=False) for name in QP_SWITCHES),
            _field("cq", "cq own", "reserved", required=False),
            _field("pd", "pd p", "a pd"),
        )
    ),
    "dek": _by_name(
        (_field("key", "key random(32, seed=1)", "bytes"), _field("keytag", "keytag fill(1, 8)", "8 bytes"))
    ),
    "dct": _by_name((_field("key", "key 0x1234", "a number"),)),
    "completes": {
        name: Verb(name, f"{name}, id 5", modifiers=_ENTRY_MEMBERS.get(name, {"id": NUMBER}), page="ibv_poll_cq(3)")
        for name in OPCODES
    },
}
"""Place (a case's top level, or inside some braces) -> the words that may begin a sentence there."""

PLACE_NAMES = {
    "case": "a case",
    "section": "a section",
    "configure": "`configure { }`",
    "signature": "`signature { }`",
    "crypto": "`crypto { }`",
    "mkey": "`mkey { }`",
    "qp": "`qp { }`",
    "dek": "`dek { }`",
    "dct": "`dct { }`",
    "completes": "`completes { }`",
}
