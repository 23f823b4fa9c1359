"""State of one running case: objects by name, QP pairs, labels, wires. Reads live values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeVar
from zlib import crc32

from mkeyspec.abi.constants import MR_ACCESS, member_bits
from mkeyspec.device import protocol
from mkeyspec.device.profile.profile import Profile
from mkeyspec.lookslike.witness import Asked
from mkeyspec.plan import At, Step, Turn
from mkeyspec.run.buffer import GUARD, Buffer
from mkeyspec.run.course import Course
from mkeyspec.run.endpoint import End
from mkeyspec.run.event_kinds import PORT_EVENTS
from mkeyspec.run.evidence import Due, Event, Use
from mkeyspec.run.followed import Followed
from mkeyspec.run.granted import Less, granted_as
from mkeyspec.run.label import Label, Unobserved
from mkeyspec.run.mkey_state import MkeyState
from mkeyspec.run.open_receive import OpenReceive
from mkeyspec.run.pair import Pair
from mkeyspec.run.surroundings import Surroundings
from mkeyspec.run.verdict import Failure
from mkeyspec.run.wire_view import WireView
from mkeyspec.run.written import Written
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import ENCODINGS, KEYS, Int, Live, NoValue, evaluate, is_known, number_before, place_of

NAMES = frozenset({"lkey", "rkey", "addr", "key", "number", "qpn"})
"""Live members that are names for the device: the rules ask whose they are, not how large."""

BOUNDARY = 64
"""What `misaligned` counts from, in bytes."""

FIRST_WR_ID = 1 << 32
"""The first wr_id of the rig. Messages distinguish it from the `id n` of a case."""


_Object = TypeVar("_Object")


class Named(dict[str, _Object]):
    """Objects by the case's names. A name whose creation was refused is Unobserved, not a KeyError."""

    def __missing__(self, name: str) -> _Object:
        raise Unobserved(name)


_START = At(1, 1)

LATE_CASES = 3
"""How many cases later the event of a claimed failure may come. Without an end, a device that raises none would have as
many other events excused."""


class Misfit(Exception):
    """A number of the device makes a statement break a rule, or its claim pointless; `str()` says how."""


class CaseState:
    """The state of one running case."""

    def __init__(
        self,
        device: protocol.Device,
        profile: Profile,
        deadline: float,
        case_id: str,
        *,
        at: At = _START,
        isolated: bool = False,
        numbers: Mapping[str, int] | None = None,
    ) -> None:
        """`at`: where the case begins; `numbers`: of the device, as its needs were compared with."""
        self.numbers = numbers
        self.device = device
        self.profile = profile
        self.deadline = deadline
        self.at = at
        self.isolated = isolated
        self.buffers: Named[Buffer] = Named()
        self.fresh: list[Buffer] = []
        """Buffers of the short forms, which have no name."""
        self.mkeys: Named[MkeyState] = Named()
        self.pairs: dict[str, Pair] = {}
        self.pds: Named[protocol.Pd] = Named()
        self.deks: Named[protocol.Dek] = Named()
        self.destroyed_deks: set[str] = set()
        self.logins: Named[protocol.Login] = Named()
        self.dcts: Named[tuple[int, int]] = Named()
        self.labels: dict[str, Label] = {}
        self.turn: Turn | None = None
        """Of the `repeat` that is carried out."""
        self._above: frozenset[str] = frozenset()
        """Labels of the statements above it."""
        self.accepted: set[At] = set()
        """Statements with a claim that nothing has refused."""
        self.not_posted: set[At] = set()
        """Those that were refused at complete: nothing of them moves."""
        self.course = Course()
        self.written = Written()
        self.snapshots: dict[str, bytes] = {}
        """Bytes that a `let` of the case took, by the name in the plan."""
        self.wires: dict[str, WireView] = {}
        """By label; "" is the last transmit's."""
        self.events: list[Event] = []
        self.told_events: Counter[tuple[str, int | None]] = Counter()
        """How many have come, by kind and QP."""
        self.seen_events = 0
        """How many had come before the last section that may fail was posted: it has not caused these."""
        self.uses: list[Use] = []
        """What mlx5dv_mkey_check may have something to tell of."""
        self.failed_qps: Counter[int] = Counter()
        """Handles of QPs of which a failure was claimed: their own error events follow from it."""
        self.alive: Callable[[], None] = lambda: None
        """`Rig.alive`."""
        self.likens = True
        """`Rig.likens`."""
        self.around = Surroundings()
        self.wait_for_label: Callable[[Label], None] = lambda label: None
        """Called when a member of a label is read (`Executor`)."""
        self.judge: Callable[[], None] = lambda: None
        """Called before something is posted (`Executor`). Raises Misfit."""
        self.counted = False
        """Whether a live number was read that a rule of the pages may depend on."""
        self.wait_for_bytes: Callable[[str], None] = lambda name: None
        """Called when a number is read from a buffer (`Executor`)."""
        self.late: Counter[int] = Counter()
        """Of the case before: the same. No page says when an event comes."""
        self.quiet: list[tuple[At, str]] = []
        """Where a bounded time without anything new took the place of a marker."""
        self.wrong_numbers: dict[tuple[str, str], Failure] = {}
        """Live members, by subject, that a device can't have so (less than was asked for, a wrong count): judged at the
        end, unless an expectation has looked at them."""
        self.asked: list[Asked] = []
        """The checks that held."""
        self.wrong = False
        """Whether a statement has failed: what is left over at the end may follow from it."""
        self.taken: list[Step] = []
        """Every step so far, the one under way included."""
        self.aimed: list[Step] = []
        """Of each step, what it reaches (`target`)."""
        self.followed = Followed(self.aimed, self.course)
        self.exact: dict[int, Step] = {}
        """By number, steps of `aimed` with the live numbers that they were carried out with."""
        self._canary = crc32(case_id.encode()) & 0xFFFF
        # A row's own numbers: a QP that another row had before must not tell its completion for one of this row.
        self._wr_id = FIRST_WR_ID + (self._canary << 16)

    def take_turn(self, turn: Turn | None) -> None:
        """The next step is of this turn. What a turn has labelled is of that turn alone."""
        if turn == self.turn:
            return
        if self.turn is None:
            self._above = frozenset(self.labels)
        self.labels = {name: label for name, label in self.labels.items() if name in self._above}
        self.turn = turn
        if turn is None or turn.number == 1:
            self._above = frozenset(self.labels)

    # Objects ---------------------------------------------------------------------------------

    def buffer(
        self,
        name: str,
        at: At,
        side: protocol.Side,
        length: int,
        data: ByteString | None = None,
        *,
        access: int | None = None,
        misaligned: int = 0,
        pd: protocol.Pd | None = None,
    ) -> Buffer:
        """Register a buffer with its guards, and fill it. Not yet known by name."""
        memory = self.device.memory(
            side, length + 2 * GUARD, access=int(MR_ACCESS) if access is None else access, misaligned=misaligned, pd=pd
        )
        given, asked = (memory.length, memory.addr % BOUNDARY), (length + 2 * GUARD, misaligned % BOUNDARY)
        if given != asked or memory.side != side:
            text = "{} bytes, {} bytes after a boundary of 64"
            raise Less(f"`{name}` was registered as {text.format(*given)}, and {text.format(*asked)} was asked for")
        self._canary += 1
        buffer = Buffer(name, at, memory, length, self._canary, data, self.taken)
        self.device.write(memory, 0, buffer.content.tobytes())  # a copy: what is expected stays the rig's own
        return buffer

    def all_buffers(self) -> Iterator[Buffer]:
        yield from self.buffers.values()
        yield from self.fresh

    def pair(self, name: str | None, at: At) -> Pair:
        """The pair of that name; the default pair is connected when it is first wanted."""
        found = self.pairs.get(name or "")
        if found is None:
            if name:
                raise Unobserved(name)
            attributes = protocol.QpAttributes(private=self.isolated)
            found = self.adopt(Pair("", at, attributes, self.device.qp_pair(attributes)))
        return found

    def adopt(self, pair: Pair) -> Pair:
        """Take a pair for this case. Leftovers of an earlier case are polled before anything is due."""
        shared = pair.attributes.type == "dci"  # its far end: the targets of the case
        for other in self.pairs.values():
            for end in other.ends if not shared and other.attributes.type != "dci" else (other.owner,):
                # Two ends may be two NICs, each with numbers of its own.
                if any(
                    end.qp.handle == one.qp.handle or (end.side, end.qp.number) == (one.side, one.qp.number)
                    for one in pair.ends
                ):
                    raise Less(f"the QP {end.qp.number:#x} of {_of(other)} was given to {_of(pair)} once more")
        targets = next((one.peer for one in self.pairs.values() if one.peer.shared), None)
        if pair.peer.shared and targets is not None:
            pair.peer.share(targets)
        self.pairs[pair.name] = pair
        asked = pair.attributes.max_inline_data
        for end in (pair.owner,) if pair.attributes.type == "dci" else pair.ends:
            granted_as(f"max_inline_data of the {end.side}'s QP", end.qp.max_inline_data, 32)
            if end.qp.max_inline_data < asked:
                granted = end.qp.max_inline_data
                raise Less(f"max_inline_data of the {end.side}'s QP is {granted}, and {asked} was asked for")
        self.poll(pair.owner)
        self.poll(pair.peer)
        return pair

    def pair_of(self, qp: protocol.Qp | None) -> Pair | None:
        """The pair that a QP belongs to, if it is of this case."""
        for pair in self.pairs.values():
            if qp is not None and qp.handle in (pair.handle.owner.handle, pair.handle.peer.handle):
                return pair
        return None

    def pd(self, name: str | None) -> protocol.Pd | None:
        return self.pds[name] if name is not None else None

    def number(self) -> int:
        """A new wr_id of the rig."""
        self._wr_id += 1
        return self._wr_id

    # Evidence --------------------------------------------------------------------------------

    def poll(self, end: End) -> None:
        for completion in self.device.poll(end.qp):
            end.deliver(completion)

    def poll_often(self, ends: Sequence[End], times: int) -> None:
        """A device of which a call is a message may have `poll_often`, which makes one of many. What a device at once
        has done is there with the first poll."""
        often = getattr(self.device, "poll_often", None)
        for _ in range(1 if often is not None or self.around.immediate else times):
            for end in ends:
                for completion in self.device.poll(end.qp) if often is None else often(end.qp, times):
                    end.deliver(completion)

    def poll_all(self) -> None:
        for pair in self.pairs.values():
            self.poll(pair.owner)
            self.poll(pair.peer)

    def look_for_events(self) -> None:
        for event in self.device.events():
            if event.qp is None and event.kind in PORT_EVENTS:
                continue
            same = event.kind, event.qp.handle if event.qp is not None else None
            self.told_events[same] += 1
            if self.told_events[same] > MOST_EVENTS:
                continue  # a storm: the rest is not read
            pair = self.pair_of(event.qp)
            after = self.taken[-1].at if pair is None and self.taken else None
            entry = Event(pair.at if pair is not None else self.at, event, after)
            entry.of_failure = event.qp is not None and event.qp.handle in self.failed_qps + self.late
            self.events.append(entry)
            if pair is not None and event.kind == "sq_drained" and same[1] == pair.owner.qp.handle:
                pair.owner.drained = True

    def untold(self, late: Sequence[Counter[int]]) -> tuple[Counter[int], ...]:
        """By handle, how many claimed failures of QPs have not raised an event yet: of earlier cases, oldest first, and
        of this one. What is older than `LATE_CASES` is not waited for any more."""
        raised = Counter(one.event.qp.handle for one in self.events if one.event.qp is not None and one.of_failure)
        left: list[Counter[int]] = []
        for owed in (*late, self.failed_qps):
            told = owed & raised
            raised -= told
            left.append(owed - told)
        return tuple(left[-LATE_CASES:])

    def use(self, mkeys: Iterable[MkeyState], at: At, by: Due | OpenReceive) -> None:
        """A request names these keys: those with a signature, and those that are entries of them, may have an error."""
        for mkey in mkeys:
            self._use(mkey, at, by, "")

    def _use(self, mkey: MkeyState, at: At, by: Due | OpenReceive, inside: str, depth: int = 0) -> None:
        if mkey.signed:
            self.uses.append(Use(at, mkey, by, inside))
        for entry in mkey.entries if depth < DEEPEST else ():
            self._use(entry, at, by, mkey.name, depth + 1)

    # Live values -----------------------------------------------------------------------------

    def evaluate(self, value: Int) -> int:
        """A number now. Unobserved or Unsupported where the device doesn't show it."""
        return value if is_known(value) else evaluate(value, self.read)

    def member(self, value: Int, name: str, of: str = "") -> int:
        """A number for a member of a struct, or an argument of a call. NoValue if that can't hold it: a driver would
        get another one. The compiler checks numbers that are known before the run."""
        if is_known(value):
            return value
        number = self.evaluate(value)
        bits = member_bits(name, of)
        if not 0 <= number < 1 << bits:
            raise NoValue(f"`{name}` has {bits} bits, and {number:#x} does not fit")
        return number

    def read(self, subject: str, member: str) -> int | bytes:
        if member == "content":
            if subject not in self.snapshots:
                raise Unobserved(subject)
            return self.snapshots[subject]
        self.counted = self.counted or member.partition("~")[0] not in NAMES
        value = self.scalar(subject, member)
        if isinstance(value, str):
            raise NoValue(f"{subject}.{member} is {value}, not a number")
        return value

    def _number_at(self, subject: str, encoding: str, start: int) -> int:
        """The number that is in a buffer, or in a wire, now; or that was there at a `let`."""
        order: Literal["big", "little"] = "big" if encoding.startswith("be") else "little"
        if subject.startswith("="):
            if subject[1:] not in self.snapshots:
                raise Unobserved(subject[1:])
            return int.from_bytes(self.snapshots[subject[1:]][start : start + ENCODINGS[encoding]], order)
        if subject.startswith("@"):
            view = self.wires.get(subject[1:])
            if view is None:
                raise Unobserved(f"{subject[1:]}.wire" if subject[1:] else "wire")
            buffer = view.buffer
        else:
            buffer = self.buffers[subject]
        self.wait_for_bytes(subject)
        data = buffer.now(self.device, start, ENCODINGS[encoding]).tobytes()
        return int.from_bytes(data, order)

    def scalar(self, subject: str, member: str) -> int | str:
        """A live scalar. Unobserved if there is none yet; Unsupported if this device can't show it."""
        place = place_of(Live(subject, member))
        if place is not None:
            return self._number_at(subject, *place)
        if subject == "device":
            values = self.numbers if self.numbers is not None else self.device.capabilities().values
            if member not in values:
                raise protocol.Unsupported(f"device.{member} is unknown")
            return values[member]
        if subject in self.buffers:
            buffer = self.buffers[subject]
            known = {
                "addr": buffer.addr,
                "length": buffer.length,
                "lkey": buffer.memory.lkey,
                "rkey": buffer.memory.rkey,
            }
        elif subject in self.mkeys:
            mkey = self.mkeys[subject].handle
            known = {"lkey": mkey.lkey, "rkey": mkey.rkey, "max_entries": mkey.max_entries}
            for tags, keys in enumerate(self.mkeys[subject].earlier):
                known |= {number_before(member, tags): key for member, key in zip(KEYS, keys, strict=True)}
        elif subject in self.pairs:
            owner = self.pairs[subject].handle.owner
            known = {"qpn": owner.number, "max_inline_data": owner.max_inline_data}
        elif subject in self.dcts:
            number, key = self.dcts[subject]
            known = {"number": number, "key": key}
        elif subject in self.labels:
            label = self.labels[subject]
            if member not in label.members:
                self.wait_for_label(label)
            return label.read(member)
        else:
            raise Unobserved(subject)
        if member not in known:
            raise protocol.NoSuchCall(f"there is no `{subject}.{member}`")
        return known[member]


def _of(pair: Pair) -> str:
    return f"`{pair.name}`" if pair.name else "the default pair"


MOST_EVENTS = 1000
"""Number of events of one kind and QP that are kept."""

DEEPEST = 4
"""Layouts of layouts that are followed."""
