"""What the last transfers of a case do to its buffers, by the rules of a hypothesis.

The statements so far say how the mkeys are configured and what was moved. What they leave open (docs/limits.md) is not
modelled: whoever asks compares the usual outcome with the expected bytes first, and goes on only if they are equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Optional

from mkeyspec import plan
from mkeyspec.abi.constants import CryptoOrder
from mkeyspec.lookslike.atomics import written
from mkeyspec.lookslike.evaluation import Evaluation
from mkeyspec.lookslike.hypothesis import Atomic, CryptJob
from mkeyspec.reference import frame as frames
from mkeyspec.reference.buffer import Octets
from mkeyspec.reference.layout import Segment, window
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.layout import Layout, Part
from mkeyspec.value.live import Int, Read, evaluate
from mkeyspec.value.signature import Crc, Domain, T10Dif

_ATOMIC = 8
"""Bytes of an atomic request."""
MOST_NESTED = 4
"""Layouts of layouts that are followed."""


@dataclass(frozen=True, slots=True)
class Key:
    """An mkey as it is configured."""

    layout: Optional[Layout] = None
    signature: Optional[plan.SetSignature] = None
    crypto: Optional[plan.SetCrypto] = None
    before: Optional[Key] = None
    """As it was before the last configuration."""
    failed: Optional[Key] = None
    """As a section that failed would have made it."""


@dataclass(frozen=True, slots=True)
class Move:
    """One transfer. `source`: parts, or the bytes themselves. `target`: parts, or the label of a wire. `check`: no
    transfer, but mlx5dv_mkey_check of this mkey: what it tells is forgotten."""

    source: tuple[Part, ...] | bytes
    target: tuple[Part, ...] | str
    keys: Mapping[str, Key]
    check: str = ""
    stored: bool = False
    """The case stores the bytes: no device has a part in it."""
    atomic: plan.FetchAdd | plan.CompareSwap | None = None
    """The 8 bytes of `source` are changed, and what was there goes to `target`."""
    waited: bool = False
    """It waited behind a fence when the case cancelled requests."""
    cancelled: Optional[int] = None
    """It was cancelled, after so many others by the same statement."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What is known when an expectation fails. `contents`: of each buffer, as expected before; wires by `@label`.
    `read`: reads numbers of the device."""

    steps: Sequence[plan.Step]
    contents: Mapping[str, bytes]
    read: Read
    origin: Mapping[str, bytes] = field(default_factory=dict)
    """What buffers held before anything of the case was done, where the case does not say it."""

    def dek(self, name: str) -> bytes:
        """The key of a DEK: data key, then tweak key. KeyError of no such DEK."""
        for step in self.steps:
            if isinstance(step, plan.Dek) and step.name == name:
                return step.key.data
        raise KeyError(name)


def moves_of(stage: Stage) -> list[Move]:
    """The transfers so far, in order."""
    keys: dict[str, Key] = {}
    waiting: dict[tuple[str | None, bool], list[plan.Recv]] = {}
    moves: list[Move] = []
    fenced: dict[str | None, list[tuple[int, int | None]]] = {}
    """Of each queue that may have stopped: (place in `moves`, wr_id) from the first fenced request on."""

    def moved(source: tuple[Part, ...] | bytes, target: tuple[Part, ...] | str) -> None:
        moves.append(Move(source, target, dict(keys)))

    for step in stage.steps:
        match step:
            case plan.Transmit():
                moved((step.part,), f"@{step.label or ''}")
                if step.label is not None:
                    moved((step.part,), "@")
            case plan.Receive():
                moved(step.data.data, (step.part,))
            case plan.Store() if isinstance(step.data, ByteString):
                moves.append(Move(step.data.data, (step.to,), {}, stored=True))
            case plan.Check():
                moves.append(Move(b"", (), {}, check=step.mkey))
            case plan.Recv():
                waiting.setdefault((step.qp, step.peer), []).append(step)
            case plan.Post() if step.abort or plan.rejected_at(step.claim, "complete"):
                for request in step.requests:
                    if isinstance(request, plan.Configure):
                        key = keys.get(request.mkey, Key())
                        keys[request.mkey] = replace(key, failed=_configured(key, request))
            case plan.Cancel():
                cancelled = 0
                for place, id in fenced.get(step.qp, ()):
                    of_it = id == step.id and moves[place].cancelled is None
                    number = cancelled if of_it else moves[place].cancelled
                    moves[place] = replace(moves[place], waited=True, cancelled=number)
                    cancelled += of_it
            case plan.Resume():
                fenced.pop(step.qp, None)
            case plan.Post():
                for request in step.requests:
                    begun = len(moves)
                    match request:
                        case plan.Configure():
                            keys[request.mkey] = _configured(keys.get(request.mkey, Key()), request)
                        case plan.MrList() | plan.MrInterleaved():
                            keys[request.mkey] = _listed(keys.get(request.mkey, Key()), request.layout)
                        case plan.Write():
                            moved(request.data, (request.to,))
                        case plan.Memcpy():
                            moved((request.source,), (request.to,))
                        case plan.FetchAdd() | plan.CompareSwap():
                            source, into = (replace(part, length=_ATOMIC) for part in (request.source, request.into))
                            moves.append(Move((source,), (into,), dict(keys), atomic=request))
                        case plan.Read():
                            moved((request.source,), request.into)
                        case plan.Send():
                            queue = waiting.get((step.qp, not step.peer))
                            if queue:
                                moved(request.data, queue.pop(0).into)
                        case _:
                            pass
                    options = plan.options_of(request)
                    if not step.peer and (step.qp in fenced or options.fence):
                        behind = fenced.setdefault(step.qp, [])
                        behind += [(place, options.id) for place in range(begun, len(moves))]
            case _:
                pass
    return moves


def _configured(key: Key, request: plan.Configure) -> Key:
    key = replace(key, before=key)
    if request.reset_signature:
        key = replace(key, signature=None)
    for setter in request.setters:
        match setter:
            case plan.SetLayout():
                key = replace(key, layout=setter.layout)
            case plan.SetSignature():
                key = replace(key, signature=setter)
            case plan.SetCrypto():
                key = replace(key, crypto=setter)
            case _:
                pass
    return key


def _listed(key: Key, layout: Layout) -> Key:
    return replace(key, layout=layout, before=key)


def earlier(key: Key, part: str) -> Key:
    """The mkey with a part of an earlier configuration. ValueError if there is none."""
    if part == "none":
        return replace(key, signature=None)
    if part == "failed":
        if key.failed is None:
            raise ValueError("no section of it failed")
        return replace(key, signature=key.failed.signature, crypto=key.failed.crypto)
    before = key.before
    if before is None:
        raise ValueError("it was not configured")
    # What was not there before its first configuration can't be kept.
    had = {"layout": before.layout, "signature": before.signature, "crypto": before.crypto}
    if had.get(part, before.layout) is None:
        raise ValueError("it was configured once")
    now, old = key.signature, before.signature
    match part:
        case "layout":
            return replace(key, layout=before.layout)
        case "signature":
            return replace(key, signature=old)
        case "crypto":
            return replace(key, crypto=before.crypto)
        case "configuration":
            return before
    if now is None or old is None:
        raise ValueError("it has no earlier signature")
    kept = replace(now, mem=old.mem) if part == "memory_domain" else replace(now, check_mask=old.check_mask)
    return replace(key, signature=kept)


@dataclass(frozen=True, slots=True)
class Arrival:
    """Signed data that went through an mkey: what its checks look at. `fields`: (n, size), as they came in."""

    mkey: str
    signature: plan.SetSignature
    domain: Domain
    data: bytes
    fields: Octets


class Replay:
    """Transfers carried out by the rules of an evaluation, on a copy of the contents."""

    def __init__(self, stage: Stage, evaluation: Evaluation, *, anew: bool = False) -> None:
        """`anew`: from what the memories held at first, where the case says it."""
        self.stage = stage
        self.first: dict[str, bytes] = {}
        if anew:
            for step in stage.steps:
                if isinstance(step, plan.Memory):
                    first = step.data.data if step.data is not None else stage.origin.get(step.name)
                    if first is not None:
                        self.first[step.name] = first
        self.evaluation = evaluation
        self.images: dict[str, bytearray] = {}
        self.keys: Mapping[str, Key] = {}
        self.arrivals: list[Arrival] = []

    def carry_out(self, move: Move) -> None:
        if move.check:
            self.arrivals = [one for one in self.arrivals if one.mkey != move.check]
            return
        if not self._is_carried_out(move):
            return
        self.keys = move.keys
        if move.atomic is not None:
            self._atomic(move.atomic, move)
            return
        if move.stored and isinstance(move.source, bytes) and not isinstance(move.target, str):
            part = move.target[0]
            self._put(part.name, self._number(part.start), move.source)
            return
        if isinstance(move.source, bytes):
            stream = move.source
        else:
            stream = b"".join([self._taken(part) for part in move.source])
        rules = self.evaluation.rules
        if rules.limit is not None:
            stream = stream[: int(len(stream) * rules.limit)]
        if rules.bytes_lost:
            stream = stream[: -rules.bytes_lost]
        if isinstance(move.target, str):
            self._put(move.target, rules.shifted, stream)
            return
        at = 0
        for part in move.target:
            length = self._number(part.length)
            self._delivered(part, stream[at : at + length])
            at += length

    def _is_carried_out(self, move: Move) -> bool:
        """Whether no request to cancel it has had an effect."""
        match self.evaluation.rules.cancel:
            case "none":
                return True
            case "first":
                return move.cancelled is None or move.cancelled > 0
            case "all":
                return not move.waited
            case _:
                return move.cancelled is None

    def _atomic(self, request: plan.FetchAdd | plan.CompareSwap, move: Move) -> None:
        assert not isinstance(move.source, bytes)
        assert not isinstance(move.target, str)
        (source,), (into,) = move.source, move.target
        old = int.from_bytes(self._taken(source), "little")
        match request:
            case plan.FetchAdd():
                asked = Atomic(self._number(request.add))
            case plan.CompareSwap():
                asked = Atomic(self._number(request.swap), self._number(request.compare))
        rule = self.evaluation.rules.atomic
        returned, new = (old, written(asked, old)) if rule is None else rule(asked, old)
        self._delivered(into, returned.to_bytes(_ATOMIC, "little"))
        self._delivered(source, new.to_bytes(_ATOMIC, "little"))

    def image(self, name: str) -> bytearray:
        """The content of a buffer, or of a wire. KeyError of what is neither."""
        found = self.images.get(name)
        if found is None:
            found = self.images[name] = bytearray(self.first.get(name) or self.stage.contents[name])
            self.evaluation.budget.take(len(found))
        return found

    def _put(self, name: str, start: int, data: bytes) -> None:
        image = self.image(name)
        self.evaluation.budget.take(len(data))
        if start < 0:
            raise ValueError("it would be written before the memory begins")
        if start < len(image):
            data = data[: len(image) - start]
            image[start : start + len(data)] = data

    def _key(self, name: str) -> Key | None:
        key, part = self.keys.get(name), self.evaluation.rules.earlier
        return earlier(key, part) if key is not None and part else key

    def _domains(self, signature: plan.SetSignature, *, tx: bool) -> tuple[Domain | None, Domain | None]:
        """Source and target."""
        memory, wire = signature.mem, signature.wire
        if self.evaluation.rules.domains is not None:
            memory, wire = self.evaluation.rules.domains(memory, wire)
        return (memory, wire) if tx else (wire, memory)

    def _number(self, value: Int) -> int:
        return evaluate(value, self.stage.read)

    def _begin(self, part: Part) -> int:
        rules = self.evaluation.rules
        return (
            0
            if rules.start_ignored
            else max(self._number(part.start) // rules.aligned * rules.aligned + rules.start, 0)
        )

    def _taken(self, part: Part) -> bytes:
        """The bytes that a part puts on the wire."""
        start, length = self._begin(part), self._number(part.length)
        taken = self._from(part, start, length)
        if length and not taken:
            raise ValueError("a transfer from behind the end of an mkey is refused, and not without effect")
        return taken

    def _from(self, part: Part, start: int, length: int) -> bytes:
        key = self._key(part.name)
        if key is None or key.layout is None:
            return bytes(self.image(part.name)[start : start + length])
        if key.signature is None and key.crypto is None:
            return self._gathered(self._segments(key.layout), start, length)
        if self.evaluation.rules.by_entry and key.signature is None:
            return self._moved(part.name, key, self._gathered(self._segments(key.layout), start, length), tx=True)
        stream = self._gathered(self._segments(key.layout), 0, None)
        source = key.signature.mem if key.signature is not None else None
        if source is not None:
            stream = stream[: len(stream) // source.frame * source.frame]
        return self._moved(part.name, key, stream, tx=True)[start : start + length]

    def _starts(self, layout: Layout) -> tuple[int, ...]:
        """Where the segments of a layout begin in it."""
        lengths = [length for _, _, length in self._segments(layout)]
        return tuple(accumulate(lengths[:-1], initial=0)) if lengths else ()

    def _delivered(self, part: Part, data: bytes) -> None:
        key = self._key(part.name)
        start = self._begin(part) + self.evaluation.rules.shifted
        if key is None or key.layout is None:
            self._put(part.name, start, data)
            return
        if key.signature is not None or key.crypto is not None:
            data = self._moved(part.name, key, data, tx=False)
        at, skipped = 0, start
        for name, first, length in self._segments(key.layout):
            passed = min(skipped, length)
            skipped -= passed
            piece = data[at : at + length - passed]
            at += len(piece)
            self._put(name, first + passed, piece)

    def _segments(self, layout: Layout, depth: int = 0) -> list[Segment]:
        """The segments of a layout, those of nested mkeys in the place of these."""
        walked = self.evaluation.rules.walk(layout) if self.evaluation.rules.walk is not None else None
        flat: list[Segment] = []
        for name, start, length in layout.resolve(self.stage.read).walk() if walked is None else walked:
            key = self._key(name)
            if key is None or key.layout is None or depth > MOST_NESTED:
                flat.append((name, start, length))
            else:
                flat += window(self._segments(key.layout, depth + 1), start, length)
        self.evaluation.budget.take(32 * len(flat))
        return flat

    def _gathered(self, segments: list[Segment], start: int, length: int | None) -> bytes:
        pieces = []
        for name, first, size in segments:
            image = self.image(name)
            self.evaluation.budget.take(size)
            pieces.append(bytes(image[max(first, 0) : max(first, 0) + size]))
        whole = b"".join(pieces)
        return whole[start:] if length is None else whole[start : start + length]

    # What an mkey does with a message --------------------------------------------------------

    def _moved(self, name: str, key: Key, stream: bytes, *, tx: bool) -> bytes:
        signature, crypto = key.signature, key.crypto
        if crypto is None:
            return self._signed(name, signature, stream, tx=tx) if signature is not None else stream
        starts = self._starts(key.layout) if signature is None and key.layout is not None else ()
        encipher = crypto.encrypt_on_tx == tx
        job = CryptJob(b"", self.stage.dek(crypto.dek), crypto.tweak, crypto.data_unit, encipher, starts)
        if signature is None:
            return self.evaluation.crypted(replace(job, data=stream))
        first = crypto.order == CryptoOrder.SIGNATURE_BEFORE_CRYPTO_ON_TX
        if self.evaluation.rules.crypto_order:
            first = not first
        if first and tx:
            return self.evaluation.crypted(replace(job, data=self._signed(name, signature, stream, tx=tx)))
        if first:
            return self._signed(name, signature, self.evaluation.crypted(replace(job, data=stream)), tx=tx)
        source, target = self._domains(signature, tx=tx)
        data = self._stripped(name, signature, stream, source)[0]
        data = self.evaluation.crypted(replace(job, data=data))
        return self.evaluation.framed(data, target) if target is not None else data

    def _signed(self, name: str, signature: plan.SetSignature, stream: bytes, *, tx: bool) -> bytes:
        evaluation = self.evaluation
        source, target = self._domains(signature, tx=tx)
        data, before = self._stripped(name, signature, stream, source)
        if target is None:
            return data
        whole = data[: len(data) // target.block * target.block]
        rest = data[len(whole) :]
        if evaluation.rules.rest is not None:
            rest = evaluation.rules.rest(rest)
        if before is None or source is None or len(before) * target.block != len(whole):
            return evaluation.framed(whole, target) + rest
        job_fields = evaluation.fields_of(whole, target, before)
        columns = copied_columns(source, target, signature.copy_mask)
        if evaluation.rules.copied is not None:
            columns = evaluation.rules.copied(columns, signature, source, target)
        columns = [one for one in columns if one < before.shape[1] and one < job_fields.shape[1]]
        made = job_fields.copy()
        last = 1 if evaluation.rules.copied_once else len(made)
        made[:last, columns] = before[:last, columns]
        return evaluation.put_together(whole, target, made) + rest

    def _stripped(
        self, name: str, signature: plan.SetSignature, stream: bytes, domain: Domain | None
    ) -> tuple[bytes, Octets | None]:
        """The data of a stream, and the fields that came in with it."""
        if domain is None:
            return stream, None
        data = self.evaluation.stripped(stream, domain)
        if len(stream) % domain.frame:
            return data, None
        fields = frames.split(stream, domain.block, domain.signature.field_size)[1]
        self.arrivals.append(Arrival(name, signature, domain, data, fields))
        return data, fields


def copied_columns(source: Domain, target: Domain, mask: int | None) -> list[int]:
    """Positions of the field's bytes that pass through where both domains have a signature
    (mlx5dv_wr_set_mkey_sig_block(3), copy_mask)."""
    one, two = source.signature, target.signature
    if (one.kind, source.block) != (two.kind, target.block):
        return []
    if mask is not None:
        return [i for i in range(two.field_size) if mask & 0x80 >> i]
    if isinstance(one, Crc) or isinstance(two, Crc):
        return list(range(two.field_size)) if one == two else []
    assert isinstance(one, T10Dif)
    columns: list[int] = []
    if (one.bg_type, one.bg) == (two.bg_type, two.bg):
        columns += [0, 1]
    if one.app_tag == two.app_tag:
        columns += [2, 3]
    if one.ref_tag == two.ref_tag and one.remap == two.remap:
        columns += [4, 5, 6, 7]
    return columns


def replayed(stage: Stage, moves: Sequence[Move], evaluation: Evaluation, *, anew: bool = False) -> Replay:
    """All of the moves, one after the other."""
    replay = Replay(stage, evaluation, anew=anew)
    if evaluation.rules.early:
        if len(moves) < 2 or any(move.check for move in moves[-2:]):
            raise ValueError("there are no two transfers in a row")
        moves = [*moves[:-2], moves[-1], moves[-2]]
    for move in moves:
        replay.carry_out(move)
    return replay
