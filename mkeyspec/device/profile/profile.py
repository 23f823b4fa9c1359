"""A device profile: the implementation-defined points of the pages, as parameters that every report prints.

The model is built from a profile. The rig maps `block`, `found` and `computed` of a case with the same one
(`error_record.record`). The defaults are what is best known of hardware (design: hardware; X-OPEN, X-LIM and X-DIFF
of the requirement ledger). A TOML file overrides any of them:

    name = "cx5"
    without = ["signature.crc32c", "signature.crc64_xp10"]
    [err]
    actual = "computed"
    [errno]
    access_bits = "EOPNOTSUPP"
"""

from __future__ import annotations

import errno as numbers
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from mkeyspec.abi.constants import ALWAYS_OFFERED, CAPABILITIES, RAW_OPCODES, STATUS_CLASS, WC_STATUS, Access
from mkeyspec.device.profile import evidence
from mkeyspec.device.profile.errno import ERRNO
from mkeyspec.files.toml_places import Places, syntax

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

VALUE_ORDERS = ("memory-bytes-as-BE", "value")
IMPORT_METHODS: dict[str, tuple[str, ...]] = {
    "either": (), "plaintext": ("crypto.login",), "wrapped": ("crypto.plaintext",),
}  # fmt: skip
"""Of DEKs, and what a device with it lacks. One that takes wrapped keys alone offers crypto.wrapped."""
_LACKS = {"crypto.wrapped", "transfer.ud", "transfer.xrc_send", "transfer.raw_packet"}
_LACKS |= {f"raw_wqe.{name}" for name in RAW_OPCODES.values() if name != "compare_swap"}
OFFERS = CAPABILITIES - _LACKS
"""The capabilities of the model, unless `without` names them. It may not name those that each device offers."""


DRIVER_ERRNO = {
    "send_queue_full": "ENOMEM", "send_sges": "EINVAL", "qp_not_ready": "EINVAL", "both_domains_none": "EINVAL",
    "mkey_length": "EINVAL", "crypto_dek": "EINVAL", "dek_key": "EINVAL", "dc_address": "EINVAL",
    "qp_streams": "EINVAL", "mixed_block_sizes": "EINVAL",
    "update_tag_flag": "EOPNOTSUPP",
}  # fmt: skip
"""Refusals of the driver that no page describes (ledger 2.1)."""


class ProfileError(ValueError):
    """A profile that can't be used; the message is one line. `where`: the keys that lead to the place in the file."""

    def __init__(self, message: str, where: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.where = where


def _one_of(default: str, about: str, *choices: str) -> Any:
    return field(default=default, metadata={"about": about, "choices": choices})


def _value(default: Any, about: str) -> Any:
    return field(default=default, metadata={"about": about})


ERRORS = tuple(name for name in WC_STATUS if name != "success")
LOCAL, REMOTE = STATUS_CLASS["local_protection"], STATUS_CLASS["remote_access"]


def _status(default: str, about: str, choices: Sequence[str] = ERRORS) -> Any:
    """`choices`: what the pages, or the transport's standard, leave open of it."""
    return _one_of(default, about, *choices)


@dataclass(frozen=True, slots=True)
class Profile:
    """Each point is a member. In TOML `_` may be written as the dot of a table (`err.value_order.crc32c`)."""

    name: str = _value("default", "how reports call this profile")
    without: tuple[str, ...] = _value((), "offers of the model that this device lacks")
    require: tuple[str, ...] = _value((), "capabilities whose absence fails a case that needs them, not skips it")

    # Signature operation.
    csum_seed_ffff: str = _one_of(
        "start-value", "bg 0xffff of a checksum guard (X-OPEN-14)", "start-value", "same-as-0"
    )
    mask_le_fields: str = _one_of(
        "memory-order",
        "mask bit 7 of a little-endian field: its first byte or its highest (X-OPEN-12)",
        "memory-order",
        "value-order",
    )
    escape_scope: str = _one_of("block", "an escape skips all checks, or the guard's (X-OPEN-06)", "block", "guard")
    copy_compares_seed: bool = _value(True, "CRCs of unequal seeds are recomputed; rdma-core copies them (X-DIFF-10)")
    copy_compares_flags: bool = _value(False, "a REF_REMAP difference regenerates the ref tag (X-DIFF-11)")
    ref_tag_restart: str = _one_of("message", "ref tags start again with each (X-OPEN-07)", "message", "configuration")
    mixed_block_sizes: bool = _value(True, "domains of different block sizes can be configured (X-OPEN-05)")

    # Error records.
    err_actual: str = _one_of("field", "what actual_value holds (X-OPEN-08)", "field", "computed")
    err_value_order_crc32c: str = _one_of("memory-bytes-as-BE", "CRC32C as a number", *VALUE_ORDERS)
    err_value_order_crc64: str = _one_of("memory-bytes-as-BE", "CRC64_XP10 as a number", *VALUE_ORDERS)
    err_offset: str = _one_of(
        "block-last-byte", "where a block's error is (X-OPEN-08)", "block-last-byte", "block-start", "data-start"
    )
    err_priority: tuple[str, ...] = _value(
        ("guard", "app", "ref"), "of several bad parts the first is reported (XCHK-06)"
    )
    err_unread: str = _one_of("first", "an unread error and a new one: which stays (X-DIFF-23)", "first", "last")

    # Limits (X-LIM) and driver rules.
    wqe_overhead: int = _value(192, "bytes of a configuration WQE before its layout (X-LIM-01)")
    wqe_unit: int = _value(64, "a WQE's size is rounded up to this")
    wqe_max: int = _value(1024, "longest WQE (X-LIM-06)")
    bsf_bytes: int = _value(64, "inline room that signature attributes take, and crypto attributes")
    max_wr_memcpy_length: int = _value(1 << 31, "longest memcpy; 0 is none at all (WRP-23)")
    dci_mkey_operations: bool = _value(True, "a DCI has the mkey builders of RC; in rdma-core it has none (X-DIFF-14)")
    entries_rounding: int = _value(4, "max_entries is rounded up to a multiple of this (X-LIM-07)")
    stride_bits: int = _value(32, "width of bytes_count and of the stride; 16 truncates (X-LIM-02)")
    access_supported: int = _value(0x1003FF, "access flags the setter takes; rdma-core the first four (X-DIFF-01)")
    few_setters: str = _one_of("rejected", "fewer setters than announced (X-DIFF-03)", "rejected", "dropped")
    strided_entry: str = _one_of("complete", "where INT-05 is refused (X-DIFF-06)", "complete", "completion")
    failed_configuration: str = _one_of(
        "unknown", "an mkey after a failed or aborted section (SIG-26)", "unknown", "kept"
    )
    invalidate_clears: bool = _value(True, "LOCAL_INV forgets layout, access and signature (X-OPEN-09)")
    initial_access: int = _value(0, "rights of an mkey that never saw the access setter (X-OPEN-23)")
    max_message: int = _value(1 << 26, "longest message; the model's own limit")
    errno: tuple[tuple[str, str], ...] = _value((), "errno of a rule where it is not rdma-core's")

    # DEKs.
    import_method: str = _one_of(
        "either", "which keys mlx5dv_dek_create takes; rdma-core's driver takes one form (XCRY-13)", *IMPORT_METHODS
    )

    # Completions.
    recv_byte_len: str = _one_of("wire", "byte_len of a receive into a signature mkey (X-OPEN-17)", "wire", "memory")
    status_local: str = _status("loc_prot_err", "a local key refuses (X-OPEN-18)", LOCAL)
    status_local_bounds: str = _status("loc_prot_err", "beyond a local key's end", LOCAL)
    status_length: str = _status("loc_len_err", "message too long", LOCAL)
    status_remote: str = _status("rem_access_err", "a remote key refuses, at the requester", REMOTE)
    status_remote_bounds: str = _status("rem_access_err", "beyond a remote key's end, at the requester", REMOTE)
    status_receive: str = _status("loc_prot_err", "a receive's own key refuses, at the receiver", LOCAL)
    status_receive_sender: str = _status("rem_op_err", "the same, at the sender", REMOTE)
    status_overrun: str = _status("loc_len_err", "message longer than the receive, at the receiver", LOCAL)
    status_atomic: str = _status("rem_inv_req_err", "a misaligned atomic, at the requester", REMOTE)
    status_crypto: str = _status(
        "loc_prot_err", "no crypto attributes, another keytag, an unfit length (X-OPEN-26)", LOCAL
    )
    status_raw: str = _status("loc_qp_op_err", "a raw WQE that can't be read")
    status_dct: str = _status(
        "retry_exc_err", "no DCT of that number and key, at the initiator", ("retry_exc_err", "rem_access_err")
    )
    status_stream: str = _status("loc_qp_op_err", "a stream that the DCI does not have")
    status_configure: str = _status("loc_qp_op_err", "a configuration that fails when it runs (X-OPEN-19)")
    status_invalidate: str = _status("loc_prot_err", "LOCAL_INV of another domain's mkey (X-OPEN-27)")
    status_invalidate_unknown: str = _status("loc_prot_err", "LOCAL_INV of a key that is no mkey's")
    status_invalidate_receive: str = _status("loc_prot_err", "SEND with invalidate refused, at the receiver")
    status_invalidate_sender: str = _status("rem_inv_req_err", "the same, at the sender")

    def __post_init__(self) -> None:
        for item in fields(self):
            _check(item, getattr(self, item.name))
        for sges in (1, 4):
            whole = -(-(self.wqe_overhead + 16 * sges) // self.wqe_unit) * self.wqe_unit
            if (fit := (whole - self.wqe_overhead) // 16) != 4:
                raise ProfileError(f"`wqe_overhead`, `wqe_unit`: the default WQE holds 4 SGEs (LST-03), not {fit}")

    def errno_of(self, rule: str) -> int:
        """The positive errno of a broken rule; EINVAL if none is known."""
        return _errno(self.errno, rule)

    @property
    def offers(self) -> frozenset[str]:
        lacks = {*self.without, *IMPORT_METHODS[self.import_method]}
        if not self.max_wr_memcpy_length:
            lacks.add("memcpy")
        if not self.access_supported & Access.REMOTE_ATOMIC:
            lacks.add("access.remote_atomic")
        more = {"crypto.wrapped"} if self.import_method == "wrapped" and "crypto" not in lacks else set()
        return OFFERS - lacks | more

    def departures(self) -> dict[str, object]:
        """Members that are not the default's."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}

    def describe(self) -> str:
        """One line per member; `*` marks a value that is not the default."""
        lines = []
        for item in fields(self):
            value = getattr(self, item.name)
            mark = " " if value == item.default else "*"
            lines.append(f"{mark} {item.name} = {show(value)}  # {item.metadata['about']}")
        return "\n".join(lines)


def load(path: Path) -> Profile:
    """The profile in a TOML file; `ProfileError` says in one line what is wrong, and where."""
    return parse(_text(path), str(path))


def load_measured(path: Path) -> evidence.Measured | None:
    """On which device a profile was measured, of a file that `load` takes; None if it does not say."""
    return evidence.measured(load_table(path))


def load_table(path: Path) -> Mapping[str, Any]:
    """The whole file, as TOML has it, of one that `load` takes."""
    return tomllib.loads(_text(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise ProfileError(f"{path}: can't read the device profile: {fault}") from None


def parse(text: str, origin: str = "profile") -> Profile:
    """The profile in a TOML text; `origin` names it in errors."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        line, column, what = syntax(str(fault), text)
        raise ProfileError(f"{origin}:{line}:{column}: not TOML: {what}") from None
    try:
        return _profile(table)
    except ProfileError as fault:
        where = Places(text, origin).at(*fault.where) if fault.where else origin
        raise ProfileError(f"{where}: {fault}", fault.where) from None


def _profile(table: Mapping[str, Any]) -> Profile:
    members = {item.name: item for item in fields(Profile)}
    values: dict[str, Any] = {}
    places: dict[str, tuple[str, ...]] = {}
    for keys, key, value in _flat({name: one for name, one in table.items() if name not in evidence.TABLES}):
        if key not in members:
            near = get_close_matches(key, members, n=1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise ProfileError(f"a device profile has no member `{key}`{hint}", keys)
        values[key], places[key] = value, keys
    try:
        profile = Profile(**values)
    except ProfileError as fault:
        named = [name.split(".")[0] for name in str(fault).split("`")[1::2]]
        raise ProfileError(str(fault), next((places[name] for name in named if name in places), ())) from None
    for keys, wrong in evidence.faults(table, values, {name: item.default for name, item in members.items()}):
        raise ProfileError(wrong, keys)
    return profile


def _flat(
    table: Mapping[str, Any], prefix: str = "", around: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str, Any]]:
    """The keys that lead to each value, the member that they name, and the value."""
    for key, value in table.items():
        name, keys = prefix + key, (*around, key)
        if name == "errno" and isinstance(value, dict):
            yield keys, name, tuple(sorted(value.items()))
        elif isinstance(value, dict):
            yield from _flat(value, name + "_", keys)
        else:
            yield keys, name, tuple(value) if isinstance(value, list) else value


def _check(item: Field[Any], value: Any) -> None:
    if item.default is MISSING or type(value) is not type(item.default):
        raise ProfileError(f"`{item.name}` takes {type(item.default).__name__}, not {show(value)}")
    choices = item.metadata.get("choices")
    if choices and value not in choices:
        raise ProfileError(f"`{item.name}` takes one of {', '.join(choices)}, not {show(value)}")
    if isinstance(value, int) and value < 0:
        raise ProfileError(f"`{item.name}` is not negative: {value}")
    if item.name in ("entries_rounding", "wqe_unit", "stride_bits") and value < 1:
        raise ProfileError(f"`{item.name}` is at least 1")
    if item.name == "without" and not ALWAYS_OFFERED.isdisjoint(value):
        each = ", ".join(sorted(ALWAYS_OFFERED.intersection(value)))
        raise ProfileError(f"`without`: no row can run on a device without {each}")
    if item.name == "without" and not OFFERS.issuperset(value):
        raise ProfileError(f"`without`: the model offers no {', '.join(map(str, set(value) - OFFERS))}")
    if item.name == "require":
        check_required(value)
    if item.name == "err_priority" and sorted(map(str, value)) != ["app", "guard", "ref"]:
        raise ProfileError("`err_priority` is guard, app and ref in some order")
    if item.name == "errno":
        for rule, name in value:
            if rule not in ERRNO and rule not in DRIVER_ERRNO:
                raise ProfileError(f"`errno`: there is no rule `{rule}`")
            if not isinstance(getattr(numbers, str(name), None), int):
                raise ProfileError(f"`errno.{rule}`: there is no errno {show(name)}")


def check_required(names: Iterable[object]) -> None:
    """Raises ProfileError for a name that is not a capability."""
    for name in names:
        if name not in CAPABILITIES:
            near = get_close_matches(str(name), CAPABILITIES, n=1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise ProfileError(f"`require`: no device offers {show(name)}{hint}")


def show(value: object) -> str:
    """A value as in the file."""
    if isinstance(value, tuple):
        return "[" + ", ".join(show(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


@lru_cache(maxsize=1024)
def _errno(overrides: tuple[tuple[str, str], ...], rule: str) -> int:
    name = dict(overrides).get(rule) or ERRNO.get(rule) or DRIVER_ERRNO.get(rule, "EINVAL")
    number = getattr(numbers, name)
    assert isinstance(number, int)
    return number
