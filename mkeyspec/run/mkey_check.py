"""`check k is …`: one call of mlx5dv_mkey_check. Its record is compared with the case (XCHK-01 to 08).

The device profile maps `block`, `found` and `computed` to members of struct mlx5dv_mkey_err (X-OPEN-08); `offset`,
`expected` and `actual` are the members as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Union

from mkeyspec.abi.constants import MkeyError
from mkeyspec.device.profile import error_record
from mkeyspec.device.protocol import Refused, SignatureError
from mkeyspec.lookslike.record_ways import Told
from mkeyspec.lookslike.witness import Asked
from mkeyspec.plan import Check, Known, OneOf
from mkeyspec.run import likeness
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.errnos import errno_name, errno_of
from mkeyspec.run.evidence import Due, Use
from mkeyspec.run.outcomes import Attempt
from mkeyspec.run.verdict import Failure
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import Int, Live, LiveOp, NoValue

KINDS = {
    "ok": int(MkeyError.NO_ERR),
    "bad_guard": int(MkeyError.BAD_GUARD),
    "bad_reftag": int(MkeyError.BAD_REFTAG),
    "bad_apptag": int(MkeyError.BAD_APPTAG),
}
"""The language's words for enum mlx5dv_mkey_err_type."""

KIND_NAMES = {value: name for name, value in KINDS.items()}
_PARTS = {"bad_guard": "guard", "bad_apptag": "app", "bad_reftag": "ref"}

Members = tuple[tuple[str, int], ...]


def call(state: CaseState, step: Check) -> tuple[Attempt, SignatureError | None]:
    """Poll every CQ of the owner until it is empty (X-OPEN-16: the pages leave open where the error is), then call
    mlx5dv_mkey_check."""
    state.poll_all()
    mkey = state.mkeys[step.mkey]
    attempt = Attempt(step.at, f"check {step.mkey}")
    over = [use for use in state.uses if use.mkey is mkey and use.over and not use.judged]
    try:
        record = state.device.mkey_check(mkey.handle)
    except Refused as refusal:
        attempt.phase, attempt.reason = "mkey_check", errno_name(errno_of(refusal))
        mkey.refused = attempt.reason
        for use in over:
            use.refused = attempt.reason  # open still: the device may tell at the end
        return attempt, None
    mkey.refused = ""
    for use in over:
        use.mark_judged("check")
    if record is not None:
        # Told once: the closing rule asks again.
        told = Due(step.at, "send", -1, "")
        told.passed = True
        state.uses.append(Use(step.at, mkey, told))
    return attempt, record


def compare(state: CaseState, step: Check, record: SignatureError | None) -> Failure | None:
    """The failure of a check whose call succeeded."""
    kind = "ok" if record is None else KIND_NAMES.get(record.type, f"type {record.type}")
    details: list[tuple[str, str]] = []
    wanted: Members = ()
    if kind in step.kind:
        wanted = members(state, step, kind)
    else:
        details += [("expected", " or ".join(step.kind)), ("got", kind)]
    if record is not None:
        got = {"offset": record.offset, "expected": record.expected_value, "actual": record.actual_value}
        for name, value in wanted:
            if got[name] != value:
                said = _said(state, step, name)
                details += [("expected", f"{said} {value:#x}{_block(state, step, name, value)}")]
                details += [("got", f"{said} {got[name]:#x}{_block(state, step, name, got[name])}")]
        if details:
            details.append(("record", _text(record)))
    if not details:
        if step.known is None and step.branch is None:
            state.asked.append(Asked(len(state.taken) - 1, step.mkey, lambda one: _fits(state, step, one)))
        return None
    said = kind if kind not in step.kind else f"{kind}, but with another {_others(details)}"
    failure = Failure("MKS2106", step.at, f"mkey_check of `{step.mkey}` says {said}", tuple(details))
    told = Told("ok") if record is None else _told(kind, record)
    stage = likeness.stage_of(state)
    before = replace(stage, steps=stage.steps[:-1])
    return likeness.of_record(state, before, failure, step.mkey, told, lambda one: _fits(state, step, one))


def _told(kind: str, record: SignatureError) -> Told:
    return Told(kind, record.offset, record.expected_value, record.actual_value)


def _fits(state: CaseState, step: Check, told: Told) -> bool:
    """Whether a record is what the case expects."""
    if told.kind not in step.kind:
        return False
    return all(getattr(told, name) == value for name, value in members(state, step, told.kind))


def members(state: CaseState, step: Check, kind: str) -> Members:
    """The members of the record that the case names, as (name, value)."""
    profile = state.profile
    wanted: list[tuple[str, int]] = []
    domain = step.domain
    if domain is None and (step.block is not None or step.found is not None or step.computed is not None):
        raise NoValue(f"block, found and computed of `check {step.mkey}` need the domain of its last transfer")
    if domain is not None:
        signature = domain.signature
        if step.block is not None:
            offset = error_record.offset(profile, signature.field_size, domain.block, step.block)
            wanted.append(("offset", offset))
        found_is_actual = profile.err_actual == "field"
        part = _PARTS.get(kind, "guard")
        for value, is_found in ((step.found, True), (step.computed, False)):
            if value is not None:
                number = error_record.value(profile, signature.kind, value.data, part)
                wanted.append(("actual" if is_found == found_is_actual else "expected", number))
    for name, raw in (("offset", step.offset), ("expected", step.expected), ("actual", step.actual)):
        if raw is not None:
            wanted.append((name, state.evaluate(raw)))
    return tuple(wanted)


def departure(step: Check, known: Known) -> Check | None:
    """The check with the values of the known departure; None if the departure does not change the record."""
    kinds = _kinds(known.value)
    if kinds is None and not known.members:
        return None
    changed = step if kinds is None else replace(step, kind=kinds)
    for name, value in known.members:
        changed = _with(changed, name, value)
    return changed


def _kinds(value: object) -> tuple[str, ...] | None:
    match value:
        case str():
            return (value,)
        case OneOf(alternatives):
            return tuple(str(item) for item in alternatives)
        case _:
            return None


def _with(step: Check, name: str, value: Union[Int, str, ByteString]) -> Check:
    match name, value:
        case "kind", str() as kind:
            return replace(step, kind=(kind,))
        case "block", int() as block:
            return replace(step, block=block)
        case "found" | "computed", ByteString() as data:
            return replace(step, found=data) if name == "found" else replace(step, computed=data)
        case "offset", (int() | Live() | LiveOp()) as number:
            return replace(step, offset=number)
        case "expected", (int() | Live() | LiveOp()) as number:
            return replace(step, expected=number)
        case "actual", (int() | Live() | LiveOp()) as number:
            return replace(step, actual=number)
        case _:
            raise NoValue(f"`known` of a check has no {name}")  # the compiler lets none pass


def _text(record: SignatureError) -> str:
    kind = KIND_NAMES.get(record.type, f"type {record.type}")
    return f"{kind}, offset {record.offset}, expected {record.expected_value:#x}, actual {record.actual_value:#x}"


def _said(state: CaseState, step: Check, name: str) -> str:
    """The case's word for a member of the record: `found` or `computed`, unless the case names the member."""
    if name == "offset" or getattr(step, name) is not None:
        return name
    return "found" if (name == "actual") == (state.profile.err_actual == "field") else "computed"


def _block(state: CaseState, step: Check, name: str, value: int) -> str:
    """Which block an offset means, for messages."""
    if name != "offset" or step.domain is None:
        return ""
    size, block = step.domain.signature.field_size, step.domain.block
    near = max(0, value // (block + size) - 1)
    for k in range(near, near + 3):
        if error_record.offset(state.profile, size, block, k) == value:
            return f" ({value}: block {k})"
    return f" ({value}: no block's)"


def _others(details: list[tuple[str, str]]) -> str:
    return " and ".join(dict.fromkeys(text.split(" ", 1)[0] for label, text in details if label == "expected"))
