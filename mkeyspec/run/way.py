"""The messages of a case as drawings: memory, mkey and wire of each SGE, and how each mkey is configured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mkeyspec import plan
from mkeyspec.abi.constants import CryptoOrder
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.drawing import Cell, Drawing, whole_drawing
from mkeyspec.run.ledger import Ledger, fields_of, first_blocks
from mkeyspec.run.ledger_text import sge_of
from mkeyspec.run.moved import unnamed
from mkeyspec.run.route import Key, Transfer, Unknown, transfers
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Int, is_known

MOST_ENTRIES = 8
"""Entries of a layout that are written one by one, the last one included."""
MOST_PARTS = 8
"""SGEs of a message that are drawn."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One SGE of a message, or the other end's memory. `keys`: a line each of the mkeys that it goes through first."""

    title: str
    keys: tuple[str, ...]
    drawing: Drawing | None


@dataclass(frozen=True, slots=True)
class Message:
    """`left`: SGEs that are not drawn."""

    at: plan.At
    legs: tuple[Leg, ...]
    left: int


def messages_of(state: CaseState, deks: dict[str, plan.Dek]) -> Iterator[Message]:
    """The messages of a case that has been carried out, in the order of its text."""
    told: set[Key] = set()
    for transfer in transfers(state):
        sides = (("from", transfer.source), ("into", transfer.into))
        parts = [
            (f"{word} {sge_of(number)}" if len(side) > 1 else word, at, part, first, word == "into")
            for word, side in sides
            for number, ((at, part), first) in enumerate(zip(_parts(side), _firsts(transfer, side), strict=True))
            if part.name != unnamed(transfer.at)
        ]
        legs = tuple(
            _leg(transfer, title, at, part, told, deks, first, into=into)
            for title, at, part, first, into in parts[:MOST_PARTS]
        )
        yield Message(transfer.at, legs, max(0, len(parts) - MOST_PARTS))


def _parts(parts: Sequence[Part]) -> Iterator[tuple[int | None, Part]]:
    """Each with the byte of the message that it begins at, None where that is unknown."""
    at: int | None = 0
    for part in parts:
        yield at, part
        at = at + part.length if at is not None and is_known(part.length) else None


def _firsts(transfer: Transfer, side: Sequence[Part]) -> list[int]:
    """As `first_blocks`; from 0 in each part where the lengths are unknown."""
    try:
        return first_blocks(transfer, side, "wire")
    except Unknown:
        return [0] * len(side)


def _leg(
    transfer: Transfer,
    title: str,
    at: int | None,
    part: Part,
    told: set[Key],
    deks: dict[str, plan.Dek],
    first: int,
    *,
    into: bool,
) -> Leg:
    said = f"{title} {part.name}[{_number(part.start)} +: {_number(part.length)}]"
    bounds = part.bounds()
    try:
        if at is None or bounds is None or part.but:
            raise Unknown(part.name)
        if part.name not in transfer.keys:
            cell = Cell(f"{part.name}[{bounds[0]} +: {bounds[1]}]", "", f"[{at} +: {bounds[1]}]", False)
            return Leg(said, (), Drawing("", "wire", (cell,), False, False))
        key = transfer.key(part.name)
        lines: list[str] = []
        _tell(transfer, key, told, deks, lines)
        total = sum(length for _, _, length in key.segments)
        if not key.signed and sum(bounds) > total:
            return Leg(f"{said}: beyond the {total:,} bytes of its layout", tuple(lines), None)
        if not bounds[1]:
            return Leg(said, tuple(lines), None)
        ledger = Ledger(transfer, key, "wire", at - bounds[0], ((0, bounds[0], bounds[1]),), first, into=into)
        return Leg(said, tuple(lines), whole_drawing(ledger))
    except Unknown:
        return Leg(f"{said}: where its bytes are is known to the device alone", (), None)


def _number(value: Int) -> str:
    return f"{value}" if is_known(value) else "…"


def _tell(transfer: Transfer, key: Key, told: set[Key], deks: dict[str, plan.Dek], lines: list[str]) -> None:
    """How a key is configured, and those that its layout names, unless it has been told."""
    if key in told:
        return
    told.add(key)
    lines += _key_lines(key, deks)
    for name in dict.fromkeys(name for name, _, _ in key.segments):
        if name in transfer.keys:
            _tell(transfer, transfer.key(name), told, deks, lines)


def _key_lines(key: Key, deks: dict[str, plan.Dek]) -> Iterator[str]:
    total = sum(length for _, _, length in key.segments)
    count = len(key.segments)
    turns = f"{_count(count // key.per_turn, 'turn')} of {_count(key.per_turn, 'entry')}" if key.per_turn else ""
    yield f"mkey {key.name}: {turns or _count(count, 'entry')}, {_count(total, 'byte')}"
    for number, (name, start, length) in enumerate(key.segments):
        if number < MOST_ENTRIES - 1 or number == count - 1:
            yield f"  {key.hop(number, 0)!s:<{18 if key.per_turn else 14}} {name}[{start} +: {length}]"
        elif number == MOST_ENTRIES - 1:
            yield f"  … {count - MOST_ENTRIES:,} more"
    for side, domain in (("in memory", key.mem), ("on the wire", key.wire)) if key.signed else ():
        if domain is None:
            yield f"  signature {side}: none"
            continue
        places = [f"{name} [{domain.block + at} +: {size}]" for name, at, size in fields_of(domain)]
        yield f"  signature {side}: {domain.signature.describe()} every {domain.block} bytes"
        yield f"    {', '.join(places)} of each {domain.frame} bytes"
    crypto = key.crypto
    if crypto is not None:
        words = [f"DEK {crypto.dek}"]
        if crypto.dek in deks:
            words.append(f"{deks[crypto.dek].key.length * 8} bits with the tweak key")
        words.append("encrypts on TX" if crypto.encrypt_on_tx else "encrypts on RX")
        if key.signed:
            before = crypto.order == CryptoOrder.SIGNATURE_BEFORE_CRYPTO_ON_TX
            words.append(f"signature {'before' if before else 'after'} crypto on TX")
        yield f"  AES-XTS: {', '.join(words)}"
        yield f"    data units of {crypto.data_unit} bytes, initial tweak {crypto.tweak:#x}"


def _count(number: int, what: str) -> str:
    many = "entries" if what == "entry" else f"{what}s"
    return f"{number:,} {what if number == 1 else many}"
