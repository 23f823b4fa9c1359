"""Work requests.

Each class states the facts that several passes need (`Request`), so that no pass asks which class it has to know them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Optional, Union

from typing_extensions import TypeIs

from mkeyspec.abi.constants import RAW_ATOMICS, RAW_OPCODES, QpOps
from mkeyspec.plan.location import At, Located
from mkeyspec.plan.setter import Overrides, Setter
from mkeyspec.plan.use import End, local_read, local_write, remote_atomic, remote_read, remote_write, total
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.layout import Layout, Part
from mkeyspec.value.live import Int, LiveString, pieces_of
from mkeyspec.value.signature import Domain


@dataclass(frozen=True, slots=True)
class Options:
    """What every work request may carry."""

    signaled: bool = False
    fence: bool = False
    solicited: bool = False
    id: Optional[int] = None
    """The user's wr_id; None: the rig numbers it."""
    dct: Optional[str] = None
    stream: Optional[int] = None
    but: Overrides = ()
    """Of a data WR: `lkey`, `rkey`, `length`, `addr`…; of a configuration: `num_setters`, `conf_flags`, `comp_mask`,
    `inline` (0: IBV_SEND_INLINE is left out)."""
    inline: bool = False
    """IBV_SEND_INLINE of a SEND or WRITE: its bytes are taken when it is posted, and no lkey is looked at."""


PLAIN = Options()
"""A work request with the default of each option."""


def options_of(thing: object) -> Options:
    """The options of a request, or of a step that is one; PLAIN of what has none."""
    found = getattr(thing, "options", PLAIN)
    assert isinstance(found, Options)
    return found


ATOMIC_BYTES = 8
"""What an atomic works on (ibv_wr_post(3))."""


class Request(Located):
    """A work request: the facts about its class that every pass reads. A subclass is a frozen dataclass.

    `word`: as the language writes it. `opcode`: of its successful completion (ibv_poll_cq(3), ibv_wc_opcode; mlx5dv.h,
    MLX5DV_WC_*). `operation`: the bit that the QP must have been created with (constants.QpOps), 0: every QP has it.
    """

    __slots__ = ()

    word: ClassVar[str]
    opcode: ClassVar[str] = ""
    operation: ClassVar[int] = 0
    at: At
    options: Options

    def name(self) -> str:
        """As the language writes it, with what it carries: send_imm, send_inv."""
        return self.word

    def ends(self) -> tuple[End, ...]:
        """The buffers and mkeys whose bytes it moves: the local ones in the order of its SGEs, then the remote one."""
        return ()

    def reads(self) -> tuple[Part, ...]:
        """The parts whose bytes it takes."""
        return tuple(end.part for end in self.ends() if not end.use.writes)

    def writes(self) -> tuple[Part, ...]:
        """The parts that its bytes arrive in, but for those of a receive that it meets."""
        return tuple(end.part for end in self.ends() if end.use.writes)

    def local(self) -> tuple[Part, ...]:
        return tuple(end.part for end in self.ends() if not end.use.remote)

    def remote(self) -> Optional[Part]:
        return next((end.part for end in self.ends() if end.use.remote), None)

    def takes_receive(self) -> bool:
        """Whether its message takes a receive: of the other end's QP, or of the DCT that it names."""
        return False

    def moves_data(self) -> bool:
        """Whether data may go over its QP."""
        return False

    def layout_given(self) -> Optional[Layout]:
        """The layout that it gives its mkey."""
        return None

    def changes(self) -> tuple[str, ...]:
        """The mkeys whose configuration it changes, or that it makes invalid."""
        return ()

    def needs(self) -> tuple[str, ...]:
        """What a device must offer, by the names of `Capabilities.offers`: only what some device may lack."""
        return ()


class Configuring(Request):
    """A request that configures an mkey, and moves no data."""

    __slots__ = ()

    mkey: str

    def changes(self) -> tuple[str, ...]:
        return (self.mkey,)


class Addressed(Request):
    """A request that moves data between the two ends, so that on a DCI it names a DCT."""

    __slots__ = ()

    def moves_data(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Configure(Configuring):
    """`setters` in the order they are called, repeats included; num_setters is their count unless overridden."""

    word: ClassVar[str] = "configure"
    opcode: ClassVar[str] = "driver1"
    operation: ClassVar[int] = int(QpOps.MKEY_CONFIGURE)

    at: At
    mkey: str
    setters: tuple[Setter, ...] = ()
    reset_signature: bool = False
    options: Options = PLAIN

    def layout_given(self) -> Optional[Layout]:
        return next(iter(self.layouts()), None)

    def layouts(self) -> tuple[Layout, ...]:
        """The layouts that its setters give, in order; a sound configuration has one at most."""
        return tuple(layout for setter in self.setters if (layout := setter.layout_given()) is not None)

    def domains_left(self) -> Optional[tuple[Optional[Domain], Optional[Domain]]]:
        """The domains that it leaves its mkey with, memory and wire; None: those that were there."""
        given = [domains for setter in self.setters if (domains := setter.domains_given()) is not None]
        if given:
            return given[-1]
        return (None, None) if self.reset_signature else None

    def needs(self) -> tuple[str, ...]:
        return tuple(need for setter in self.setters for need in setter.needs())


@dataclass(frozen=True, slots=True)
class StraySetter(Request):
    """A setter where no configuration is open."""

    word: ClassVar[str] = "a setter"

    at: At
    setter: Setter
    options: Options = PLAIN

    def needs(self) -> tuple[str, ...]:
        return self.setter.needs()


@dataclass(frozen=True, slots=True)
class MrList(Configuring):
    word: ClassVar[str] = "mr_list"
    opcode: ClassVar[str] = "driver1"
    operation: ClassVar[int] = int(QpOps.MR_LIST)

    at: At
    mkey: str
    layout: Layout
    access: Int
    options: Options = PLAIN

    def layout_given(self) -> Optional[Layout]:
        return self.layout


@dataclass(frozen=True, slots=True)
class MrInterleaved(Configuring):
    word: ClassVar[str] = "mr_interleaved"
    opcode: ClassVar[str] = "driver1"
    operation: ClassVar[int] = int(QpOps.MR_INTERLEAVED)

    at: At
    mkey: str
    layout: Layout
    access: Int
    options: Options = PLAIN

    def layout_given(self) -> Optional[Layout]:
        return self.layout


@dataclass(frozen=True, slots=True)
class Send(Addressed):
    """SEND / SEND_IMM (`imm`) / SEND_INV (`invalidate`: an mkey or memory of the other side, by name)."""

    word: ClassVar[str] = "send"
    opcode: ClassVar[str] = "send"

    at: At
    data: tuple[Part, ...]
    imm: Optional[Int] = None
    invalidate: Optional[str] = None
    options: Options = PLAIN

    def name(self) -> str:
        return "send_imm" if self.imm is not None else "send" if self.invalidate is None else "send_inv"

    def ends(self) -> tuple[End, ...]:
        use = local_read("send" if self.invalidate is None else "send_inv")
        return tuple(End(part, part.length, use) for part in self.data)

    def takes_receive(self) -> bool:
        return True

    def changes(self) -> tuple[str, ...]:
        return () if self.invalidate is None else (self.invalidate,)

    def needs(self) -> tuple[str, ...]:
        return () if self.invalidate is None else ("remote_invalidate",)


@dataclass(frozen=True, slots=True)
class Write(Addressed):
    word: ClassVar[str] = "write"
    opcode: ClassVar[str] = "rdma_write"

    at: At
    data: tuple[Part, ...]
    to: Part
    imm: Optional[Int] = None
    options: Options = PLAIN

    def ends(self) -> tuple[End, ...]:
        local = tuple(End(part, part.length, local_read("write")) for part in self.data)
        return (*local, End(self.to, total(self.data), remote_write("write")))

    def takes_receive(self) -> bool:
        return self.imm is not None


@dataclass(frozen=True, slots=True)
class Read(Addressed):
    word: ClassVar[str] = "read"
    opcode: ClassVar[str] = "rdma_read"

    at: At
    into: tuple[Part, ...]
    source: Part
    options: Options = PLAIN

    def ends(self) -> tuple[End, ...]:
        local = tuple(End(part, part.length, local_write("read")) for part in self.into)
        return (*local, End(self.source, total(self.into), remote_read("read")))


class Atomic(Addressed):
    """A request that reads and writes 8 bytes of the other end at once; the bytes that were there land in `into`."""

    __slots__ = ()

    into: Part
    source: Part

    def ends(self) -> tuple[End, ...]:
        local = End(self.into, ATOMIC_BYTES, local_write(self.word))
        return (local, End(self.source, ATOMIC_BYTES, remote_atomic(self.word)))

    def reads(self) -> tuple[Part, ...]:
        return (self.source,)

    def needs(self) -> tuple[str, ...]:
        return ("atomic",)


@dataclass(frozen=True, slots=True)
class FetchAdd(Atomic):
    word: ClassVar[str] = "fetch_add"
    opcode: ClassVar[str] = "fetch_add"

    at: At
    into: Part
    source: Part
    add: Int
    options: Options = PLAIN


@dataclass(frozen=True, slots=True)
class CompareSwap(Atomic):
    """`swap` is written where the 8 bytes are `compare`."""

    word: ClassVar[str] = "compare_swap"
    opcode: ClassVar[str] = "comp_swap"

    at: At
    into: Part
    source: Part
    compare: Int
    swap: Int
    options: Options = PLAIN


@dataclass(frozen=True, slots=True)
class Invalidate(Request):
    """LOCAL_INV `by` post_send or wr_post."""

    word: ClassVar[str] = "invalidate"
    opcode: ClassVar[str] = "local_inv"

    at: At
    mkey: str
    by: str
    options: Options = PLAIN

    def changes(self) -> tuple[str, ...]:
        return (self.mkey,)


@dataclass(frozen=True, slots=True)
class Memcpy(Request):
    word: ClassVar[str] = "memcpy"
    opcode: ClassVar[str] = "driver3"
    operation: ClassVar[int] = int(QpOps.MEMCPY)

    at: At
    source: Part
    to: Part
    options: Options = PLAIN

    def ends(self) -> tuple[End, ...]:
        length = self.source.length
        return (End(self.source, length, local_read("memcpy")), End(self.to, length, local_write("memcpy")))

    def needs(self) -> tuple[str, ...]:
        return ("memcpy",)


@dataclass(frozen=True, slots=True)
class RawWqe(Request):
    word: ClassVar[str] = "raw"
    opcode: ClassVar[str] = "driver2"
    operation: ClassVar[int] = int(QpOps.RAW_WQE)

    at: At
    wqe: Union[ByteString, LiveString]
    options: Options = PLAIN

    def moves_data(self) -> bool:
        return True

    def is_nop(self) -> bool:
        """Whether it is known to be a NOP, which moves nothing (mlx5 PRM, "Send WQE construction")."""
        return _known_byte(self.wqe, 3) == 0

    def needs(self) -> tuple[str, ...]:
        opcode = _known_byte(self.wqe, 3)
        names = RAW_OPCODES.values() if opcode is None else [RAW_OPCODES[opcode]] if opcode in RAW_OPCODES else ()
        more = ("atomic",) if opcode in RAW_ATOMICS else ()
        return ("raw_wqe", *(f"raw_wqe.{name}" for name in names), *more)


def _known_byte(data: Union[ByteString, LiveString], index: int) -> Optional[int]:
    """One byte of a string; None where it is read from the device, or not there."""
    for part in pieces_of(data):
        if index < part.length:
            return part.data[index] if isinstance(part, ByteString) else None
        index -= part.length
    return None


Wr = Union[
    Configure, StraySetter, MrList, MrInterleaved, Send, Write, Read, FetchAdd, CompareSwap, Invalidate, Memcpy, RawWqe
]


def is_write(request: Wr) -> TypeIs[Write]:
    """Whether it is an RDMA WRITE, with or without immediate data."""
    return isinstance(request, Write)


def configuring(requests: tuple[Wr, ...]) -> list[Configuring]:
    """Those that configure an mkey, and move no data."""
    return [request for request in requests if isinstance(request, Configuring)]


QP_REQUESTS: Mapping[str, frozenset[str]] = {
    "uc": frozenset({"send", "send_imm", "send_inv", "write", "invalidate", "recv"}),
    "ud": frozenset({"send", "send_imm", "recv"}),
    "dci": frozenset({"send", "send_imm", "write", "read", "fetch_add", "compare_swap", "recv"}),
    # An XRC_SEND QP talks to an XRC_RECV QP, and a raw packet QP to an Ethernet: neither has another end here.
    "xrc_send": frozenset(),
    "raw_packet": frozenset(),
}
"""Data requests of each QP type but RC, which has them all (ibv_wr_post(3), the table of its types); a DCI's receives
are its targets'."""
