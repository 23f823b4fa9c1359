"""Known contents of a row: the expected bytes of every buffer and the wire, as far as the case states them.

It holds the bytes a buffer was declared with, then what `store` wrote, then what an `expect` matched (language
reference, "Time"). Unknown content (a canary, a range last matched by `any`) can't be used as a value. An mkey is the
bytes of its layout, concatenated; what it is configured to is kept by the state of the row, and asked for by name
(`Mkeys`).

Everything in it is immutable and replaced, so that a copy of it is a copy of its tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from typing_extensions import assert_never

from mkeyspec.compiler.eval.coercion import fault
from mkeyspec.compiler.eval.known_bytes import KnownBuffer, KnownPiece, Unsaid
from mkeyspec.compiler.eval.mkeys import Mkey, Mkeys
from mkeyspec.compiler.eval.scope import Reads
from mkeyspec.compiler.eval.values import Handle, Layout, Moment, Reference, WireRef, is_wire
from mkeyspec.diagnostics.diagnostic import Fault, Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.reference.layout import Segment
from mkeyspec.value.bytestring import ByteString, join, slice_of
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Int, LiveContent, is_known
from mkeyspec.value.signature import PLAIN, Domains

MAX_DEPTH = 8
"""Greatest nesting of mkeys in layouts."""


class OnWire(NamedTuple):
    """What a transmit put on the wire. `buffer` names it among the ledger's buffers: it is matched like one.

    `length` None: it depends on the device, and there is no such buffer.
    """

    buffer: str
    length: int | None
    domains: Domains = PLAIN
    domain_span: Span | None = None


class Unseen(NamedTuple):
    """Bytes of a wire, each range with its end left out, that no statement has checked; `span`: of the transmit."""

    span: Span
    ranges: tuple[tuple[int, int], ...]
    whole: bool = True


class Doubt(NamedTuple):
    """Bytes [start, end) of a buffer that depend on whether the statement at `by` is accepted, which is left open."""

    name: str
    start: int
    end: int
    by: Span


class BufferContents:
    """See `scope.Contents` for the interface that expressions use."""

    __slots__ = ("buffers", "doubts", "mkeys", "saved", "unseen", "wires", "written")

    def __init__(self, mkeys: Mkeys) -> None:
        self.mkeys = mkeys
        """As they are here; while a section is lowered, as its requests so far leave them."""
        self.saved: dict[str, Moment] = {}
        """Bytes at a `let` that are used and that only the rig can know, by their name in the plan."""
        self.unseen: dict[str, Unseen] = {}
        """Wires with bytes that no statement has looked at, by the buffer that holds them."""
        self.buffers: dict[str, KnownBuffer] = {}
        self.wires: dict[str | None, OnWire] = {}
        self.written: frozenset[str] = frozenset()
        """Buffers that some request may have written into."""
        self.doubts: tuple[Doubt, ...] = ()
        """Bytes that a statement has written unless it was refused, as its claim admits, and what was made of them."""

    def copy(self) -> BufferContents:
        """The current contents: a `let` keeps them."""
        other = BufferContents(self.mkeys.copy())
        other.buffers = self.buffers.copy()
        other.wires = self.wires.copy()
        other.saved = self.saved.copy()
        other.unseen = self.unseen.copy()
        other.doubts = self.doubts
        other.written = self.written
        return other

    # What expressions ask ----------------------------------------------------------------------

    def length(self, of: Reference) -> int | None:
        """In bytes; an mkey's is its layout's. None: unknown, or live."""
        match of:
            case Part(length=size):
                return size if is_known(size) else None
            case WireRef(label, start, size):
                wire = self.wires.get(label)
                if size is not None:
                    return size
                return None if wire is None or wire.length is None else wire.length - start
            case Handle("memory", name):
                return self.buffers[name].length
            case Handle(kind, name):
                layout = self.mkey(name).layout if kind == "mkey" else None
                return None if layout is None else layout.length
            case _:
                assert_never(of)

    def content(self, of: Reference, span: Span) -> ByteString:
        """The expected bytes; `Fault` if they are unknown."""
        if is_wire(of):
            return self._memory_content(*self.wire_segment(of, span), span)
        return join([self._memory_content(*segment, span) for segment in self.segments(of, span)])

    def then(self, of: Reference, moment: Moment, span: Span) -> ByteString | LiveContent:
        """The bytes of `of` at `moment`, the position of its `let`."""
        try:
            content = moment.ledger.content(of, span)
            if not moment.moved:
                return content
        except Fault as unknown:
            if unknown.diagnostic.code != "MKS0320":
                raise
        start, whole = start_of(of), start_of(moment.place)
        length = moment.ledger.length(of)
        if length is None or not is_known(start):
            raise fault("MKS0309", "where these bytes lie depends on the device", span)
        self.saved[moment.name] = moment
        return LiveContent(moment.name, length, start - whole if is_known(whole) else start)

    def is_relative(self, of: Reference, span: Span) -> bool:
        """Whether only the device determined some of these bytes, and the case all others, whatever the outcomes."""
        segments = self.segments_of(of, span)
        pieces = [piece for name, start, size in segments for piece in self.buffers[name].within(start, start + size)]
        unsaid = [piece.unsaid for piece in pieces if piece.data is None]
        return bool(unsaid) and all(one is not None and one.device for one in unsaid) and not self.doubtful(segments)

    def reads(self) -> Reads:
        return Reads(self.saved.copy(), self.unseen.copy())

    def restore_reads(self, reads: Reads) -> None:
        self.saved = dict(reads.saved)
        self.unseen = dict(reads.unseen)

    # What lowering asks ------------------------------------------------------------------------

    def mkey(self, name: str) -> Mkey:
        """The mkey of that name; KeyError if there is none."""
        found = self.mkeys.mkey(name)
        if found is None:
            raise KeyError(name)
        return found

    def segments(self, of: Handle | Part, span: Span) -> list[Segment]:
        """The parts of registered buffers of a reference, in order; adjacent ones are joined."""
        match of:
            case Handle("memory", name):
                return [(name, 0, self.buffers[name].length)]
            case Handle():
                return self._through(of.name, 0, self.length(of), span, 0)
            case Part():
                bounds = of.bounds()
                if bounds is None:
                    message = "where this part lies depends on the device, so its bytes have no names here"
                    raise fault("MKS0309", message, span)
                return [(of.name, *bounds)] if of.name in self.buffers else self._through(of.name, *bounds, span, 0)
            case _:
                assert_never(of)

    def segments_of(self, of: Reference, span: Span) -> list[Segment]:
        """The same of any reference: a wire is a buffer too."""
        return [self.wire_segment(of, span)] if is_wire(of) else self.segments(of, span)

    def _through(self, mkey: str, start: int, length: int | None, span: Span, depth: int) -> list[Segment]:
        """Bytes [start, start + length) of an mkey's layout as parts of buffers."""
        layout = self.mkey(mkey).layout
        if layout is None:
            raise fault("MKS0323", f"`{mkey}` has no layout here, so it has no bytes", span, help="configure it first")
        total = layout.length
        if total is None or length is None:
            raise fault("MKS0309", f"the layout of `{mkey}` depends on the device", span, help="say it with numbers")
        if depth == MAX_DEPTH:
            raise fault("MKS0323", f"the layout of `{mkey}` leads into itself", span)
        if start < 0 or start + length > total:
            raise fault(
                "MKS0305",
                f"`{mkey}` has {total} bytes by its layout, this part ends at {start + length}",
                span,
                help=f"{mkey}[{start} +: {max(total - start, 0)}]",
            )
        found: list[Segment] = []
        for name, first, size in layout.window(start, length):
            if name in self.buffers:
                last = found[-1] if found else None
                if last is not None and last[0] == name and last[1] + last[2] == first:
                    found[-1] = (name, last[1], last[2] + size)
                else:
                    found.append((name, first, size))
            else:
                found.extend(self._through(name, first, size, span, depth + 1))
        return found

    def _memory_content(self, name: str, start: int, length: int, span: Span) -> ByteString:
        end = start + length
        parts: list[ByteString] = []
        for piece in self.buffers[name].within(start, end):
            low, high = max(start, piece.start), min(end, piece.end)
            if piece.data is None:
                raise _unsaid(name, low, high, piece.unsaid, span)
            parts.append(slice_of(piece.data, low - piece.start, high - low))
        return join(parts)

    def wire(self, label: str | None, span: Span) -> OnWire:
        """The wire of the last transmit, or of the one labelled; `Fault` where there is none."""
        found = self.wires.get(label)
        if found is not None:
            return found
        if label is None:
            message = "there is no wire here: no `transmit` before this goes through"
            raise fault("MKS0321", message, span, help="transmit k by send")
        raise fault("MKS0321", f"`{label}` has no wire: only a `transmit` has", span)

    def is_mkey(self, name: str) -> bool:
        return self.mkeys.mkey(name) is not None

    def wire_segment(self, of: WireRef, span: Span) -> Segment:
        """Which bytes of which transmit a reference means; a statement looks at them."""
        buffer, start, length = self.wire_place(of, span)
        self.seen(buffer, start, start + length)
        return (buffer, start, length)

    def wire_place(self, of: WireRef, span: Span) -> Segment:
        """Which bytes of which transmit a reference means."""
        wire = self.wire(of.label, span)
        if wire.length is None:
            self.unseen.pop(wire.buffer, None)
            raise fault("MKS0309", "how long the wire is depends on the device", span, help="transmit k[0 +: 512] …")
        length = wire.length - of.start if of.length is None else of.length
        if of.start < 0 or length < 0 or of.start + length > wire.length:
            raise fault("MKS0305", f"the wire has {wire.length} bytes, this part ends at {of.start + length}", span)
        return (wire.buffer, of.start, length)

    def seen(self, buffer: str, start: int, end: int) -> None:
        """A statement looks at these bytes of a wire."""
        unseen = self.unseen.pop(buffer, None)
        if unseen is None:
            return
        left: list[tuple[int, int]] = []
        for low, high in unseen.ranges:
            left += [(a, b) for a, b in ((low, min(high, start)), (max(low, end), high)) if a < b]
        if left:
            self.unseen[buffer] = unseen._replace(ranges=tuple(left), whole=False)

    # What statements write ---------------------------------------------------------------------

    def write(self, name: str, start: int, length: int, data: ByteString | None, unsaid: Unsaid | None) -> None:
        """Bytes of a buffer are now `data`, or unknown (`unsaid` says why)."""
        if not length:
            return
        self.buffers[name] = self.buffers[name].written(KnownPiece(start, start + length, data, unsaid))

    def write_segments(self, segments: list[Segment], data: ByteString | None, unsaid: Unsaid | None) -> None:
        """The same for concatenated parts."""
        at = 0
        for name, start, length in segments:
            self.write(name, start, length, None if data is None else slice_of(data, at, length), unsaid)
            at += length

    def doubt(self, segments: list[Segment], by: Span, *more: Span) -> None:
        """These bytes depend on whether the statement at `by` is refused, and on the outcome of each of `more`."""
        unsaid = Unsaid("this may be refused, as its claim admits: what is there is seen when the case runs", by)
        unsaid = unsaid._replace(help="a `let` after it takes what is there: let now = …")
        self.settle(segments)
        for name, start, length in segments:
            self.write(name, start, length, None, unsaid)
            causes = dict.fromkeys((by, *more))
            self.doubts = (*self.doubts, *[Doubt(name, start, start + length, cause) for cause in causes])

    def doubtful(self, segments: list[Segment]) -> Doubt | None:
        """The first doubt about these bytes."""
        return next(self.doubts_about(segments), None)

    def doubts_about(self, segments: list[Segment]) -> Iterator[Doubt]:
        for doubt in self.doubts:
            for name, start, length in segments:
                if name == doubt.name and max(doubt.start, start) < min(doubt.end, start + length):
                    yield doubt
                    break

    def settle(self, segments: list[Segment]) -> None:
        """These bytes are written now, whatever the outcome of earlier statements."""
        for name, start, length in segments if self.doubts else ():
            left: list[Doubt] = []
            for other, low, high, by in self.doubts:
                first, last = (start, start + length) if other == name else (high, high)
                outside = ((low, min(high, first)), (max(low, last), high))
                left += [Doubt(other, a, b, by) for a, b in outside if a < b]
            self.doubts = tuple(left)

    def write_into(self, name: str) -> None:
        """A request may write into a buffer, or into those of an mkey's layout."""
        self.written |= self.reached_by(name)

    def reached_by(self, name: str) -> frozenset[str]:
        """A buffer; for an mkey, it and all that its layout contains."""
        left, seen = [name], set[str]()
        while left:
            name = left.pop()
            key = self.mkeys.mkey(name)
            if name in seen:
                continue
            seen.add(name)
            if key is not None and key.layout is not None:
                left += names_in(key.layout)
        return frozenset(seen)

    def targets(self, part: Part, length: int | None, span: Span) -> list[Segment]:
        """Where a request that writes `length` bytes to `part` may write, as far as that is known here."""
        start = part.start if not part.but and length is not None else None
        try:
            if part.name in self.buffers:
                if is_known(start) and length is not None:
                    return [(part.name, start, length)]
                return [(part.name, 0, self.buffers[part.name].length)]
            if self.mkey(part.name).domains == PLAIN and is_known(start) and length is not None:
                return self.segments(Part(part.name, start, length), span)
            return self.segments(Handle("mkey", part.name), span)
        except (Fault, KeyError):
            return []

    def new_wire(self, label: str | None, length: int | None, key: Mkey, span: Span, sure: bool = True) -> None:
        """A transmit through that mkey: its wire is `wire` from now on, and always `LABEL.wire`. Not `sure`: the claim
        allows that it fails.
        """
        buffer = f"wire@{len(self.wires)}.{span.start}"
        if length is not None:
            unsaid = Unsaid("no `expect` has said what this transmit puts on the wire", span, device=True)
            self.buffers[buffer] = KnownBuffer(length, (KnownPiece(0, length, None, unsaid),))
        if sure and length != 0:
            self.unseen[buffer] = Unseen(span, ((0, 1 if length is None else length),))
        self.wires[None] = wire = OnWire(buffer, length, key.domains, key.wire_span)
        if label is not None:
            self.wires[label] = wire


def start_of(of: Reference) -> Int:
    """The first byte of a reference, in its buffer, mkey or wire."""
    match of:
        case Part(start=start) | WireRef(start=start):
            return start
        case Handle():
            return 0
        case _:
            assert_never(of)


def names_in(layout: Layout) -> set[str]:
    """The buffers and mkeys of a layout."""
    return {part.name for part in layout.targets()}


def _unsaid(name: str, low: int, high: int, unsaid: Unsaid | None, span: Span) -> Fault:
    shown = name.split("@")[0]
    return fault(
        "MKS0320",
        f"nothing says what `{shown}[{low}..{high}]` holds",
        span,
        notes=() if unsaid is None else (Note(unsaid.why, unsaid.span),),
        help=(unsaid.help if unsaid is not None else "")
        or f"write the bytes themselves, or say first what `{shown}` holds",
    )
