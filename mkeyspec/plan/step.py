"""The steps of a row, in the order of its text: declarations, requests, transfers, expectations.

Each class states the facts that several passes need (`Facts`), so that no pass asks which class it has to know them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Union

from typing_extensions import TypeIs

from mkeyspec.abi.constants import MkeyFlag, QpOps
from mkeyspec.plan.claim import Branch, Claim, Known, is_rejected
from mkeyspec.plan.dek import Dek, DestroyDek, Query
from mkeyspec.plan.facts import Facts as _Step
from mkeyspec.plan.location import At
from mkeyspec.plan.login import Login, LoginState, Logout
from mkeyspec.plan.observation import Content, Expected, Observed, Wire
from mkeyspec.plan.request import PLAIN, Options, Wr
from mkeyspec.plan.setter import Overrides
from mkeyspec.plan.use import RECEIVE, TAKES_RECEIVE, TRANSMIT, End
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Int, LiveString
from mkeyspec.value.signature import Domain


@dataclass(frozen=True, slots=True)
class Memory(_Step):
    """A registered buffer with 64-byte guards inside the MR. `data` None: a canary of its own.

    `access` None: everything (constants.MR_ACCESS).
    """

    at: At
    name: str
    length: int
    data: Optional[ByteString] = None
    peer: bool = False
    misaligned: int = 0
    pd: Optional[str] = None
    access: Optional[int] = None


_MKEY_NEEDS = (
    (MkeyFlag.BLOCK_SIGNATURE, "block_signature"),
    (MkeyFlag.CRYPTO, "crypto"),
    (MkeyFlag.UPDATE_TAG, "update_tag"),
    (MkeyFlag.REMOTE_INVALIDATE, "remote_invalidate"),
)
_QP_NEEDS = ((QpOps.MEMCPY, "memcpy"), (QpOps.RAW_WQE, "raw_wqe"))


@dataclass(frozen=True, slots=True)
class Mkey(_Step):
    """`flags` of constants.MkeyFlag; `entries` requested."""

    at: At
    name: str
    flags: int
    entries: Int
    peer: bool = False
    pd: Optional[str] = None
    but: Overrides = ()
    claim: Claim = ()
    known: Optional[Known] = None

    def needs(self) -> tuple[str, ...]:
        given = dict(self.but).get("create_flags", self.flags)
        flags = given if isinstance(given, int) else self.flags
        return tuple(need for flag, need in _MKEY_NEEDS if flags & flag)


@dataclass(frozen=True, slots=True)
class Qp(_Step):
    """A QP pair of the case's own; members are fields of the device's QpAttributes, only those the case names."""

    at: At
    name: str
    members: tuple[tuple[str, Union[int, str, bool]], ...] = ()
    pd: Optional[str] = None
    claim: Claim = ()
    known: Optional[Known] = None

    def needs(self) -> tuple[str, ...]:
        found: list[str] = []
        # libmlx5 refuses what must be refused before any device is asked.
        refused = is_rejected(self.claim)
        for member, value in self.members:
            if member == "type" and value != "rc" and not refused:
                found.append(f"qp.{value}")
            elif member == "sig_pipelining" and value:
                found.append("pipelining")
            elif member == "streams" and value:
                found.append("qp.dci_streams")
            elif member == "send_ops" and isinstance(value, int):
                found += [need for operation, need in _QP_NEEDS if value & operation]
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Pd(_Step):
    at: At
    name: str
    peer: bool = False


@dataclass(frozen=True, slots=True)
class Dct(_Step):
    at: At
    name: str
    key: int

    def needs(self) -> tuple[str, ...]:
        return ("qp.dci",)


@dataclass(frozen=True, slots=True)
class Post(_Step):
    """A section: start, the requests, complete (or abort). A request standing alone is a section with one signaled WR.

    `wait` False: not waited for (`post, nowait`). `label` names the section, or the WR outside of `post`.
    """

    at: At
    requests: tuple[Wr, ...]
    qp: Optional[str] = None
    peer: bool = False
    wait: bool = True
    abort: bool = False
    label: Optional[str] = None
    claim: Claim = ()
    known: Optional[Known] = None

    def posted(self) -> tuple[Wr, ...]:
        return self.requests

    def moves_data(self) -> bool:
        return any(request.moves_data() for request in self.requests)

    def needs(self) -> tuple[str, ...]:
        return tuple(need for request in self.requests for need in request.needs())

    def ends(self) -> tuple[End, ...]:
        return tuple(end for request in self.requests for end in request.ends())

    def queue(self) -> tuple[Optional[str], bool]:
        return self.qp, self.peer


@dataclass(frozen=True, slots=True)
class Transmit(_Step):
    """Data leaves through an mkey: `by` send, send_imm, write, write_imm, peer_read; `length` counts wire bytes.

    `part.name` is the mkey; `but` may override `tag`, `lkey`, `rkey`, `length`.
    """

    at: At
    part: Part
    by: str
    imm: Optional[Int] = None
    qp: Optional[str] = None
    label: Optional[str] = None
    options: Options = PLAIN
    claim: Claim = ()
    known: Optional[Known] = None

    def end(self) -> End:
        """The mkey, and how it is used."""
        return End(self.part, self.part.length, TRANSMIT[self.by])

    def takes_receive(self) -> bool:
        """Whether its message takes a receive."""
        return self.by in TAKES_RECEIVE

    def ends(self) -> tuple[End, ...]:
        return (self.end(),)

    def moves_data(self) -> bool:
        return True

    def queue(self) -> tuple[Optional[str], bool]:
        return self.qp, False


@dataclass(frozen=True, slots=True)
class Receive(_Step):
    """Data arrives into an mkey: `by` recv, read, peer_write, peer_write_imm. `data` is what is put on the wire."""

    at: At
    data: ByteString
    part: Part
    by: str
    imm: Optional[Int] = None
    qp: Optional[str] = None
    label: Optional[str] = None
    options: Options = PLAIN
    claim: Claim = ()
    known: Optional[Known] = None

    def end(self) -> End:
        """The mkey, and how it is used."""
        return End(self.part, self.data.length, RECEIVE[self.by])

    def takes_receive(self) -> bool:
        """Whether its message takes a receive."""
        return self.by in TAKES_RECEIVE

    def ends(self) -> tuple[End, ...]:
        return (self.end(),)

    def moves_data(self) -> bool:
        return True

    def queue(self) -> tuple[Optional[str], bool]:
        return self.qp, False


@dataclass(frozen=True, slots=True)
class Recv(_Step):
    """Post a receive."""

    at: At
    into: tuple[Part, ...]
    qp: Optional[str] = None
    peer: bool = False
    label: Optional[str] = None
    options: Options = PLAIN

    def moves_data(self) -> bool:
        return True

    def queue(self) -> tuple[Optional[str], bool]:
        return self.qp, self.peer


@dataclass(frozen=True, slots=True)
class Store(_Step):
    """The host writes into a buffer."""

    at: At
    to: Part
    data: Union[ByteString, LiveString]


@dataclass(frozen=True, slots=True)
class Check(_Step):
    """mlx5dv_mkey_check: `kind` ok, bad_guard, bad_reftag, bad_apptag, or several of them (any of).

    `block`, `found`, `computed` are mapped by the profile; `offset`, `expected`, `actual` are the raw members.
    """

    at: At
    mkey: str
    kind: tuple[str, ...]
    block: Optional[int] = None
    found: Optional[ByteString] = None
    computed: Optional[ByteString] = None
    offset: Optional[Int] = None
    expected: Optional[Int] = None
    actual: Optional[Int] = None
    domain: Optional[Domain] = None
    """The input domain of the mkey's last transfer, for the mapping."""
    claim: Claim = ()
    known: Optional[Known] = None
    label: Optional[str] = None
    """`label.errno` is what the call returned."""
    branch: Optional[Branch] = None
    """Called only where that statement had this outcome."""


@dataclass(frozen=True, slots=True)
class Await(_Step):
    """Wait for an async event on a QP."""

    at: At
    event: str
    qp: Optional[str] = None
    known: Optional[Known] = None

    def queue(self) -> tuple[Optional[str], bool]:
        return self.qp, False


@dataclass(frozen=True, slots=True)
class Poll(_Step):
    """Wait for exactly these completions on a QP."""

    at: At
    qp: Optional[str] = None
    peer: bool = False
    claim: Claim = ()
    known: Optional[Known] = None

    def queue(self) -> tuple[Optional[str], bool]:
        return self.qp, self.peer


@dataclass(frozen=True, slots=True)
class Cancel(_Step):
    at: At
    id: int
    qp: Optional[str] = None
    label: Optional[str] = None
    claim: Claim = ()
    known: Optional[Known] = None

    def needs(self) -> tuple[str, ...]:
        return ("pipelining",)

    def queue(self) -> tuple[Optional[str], bool]:
        return self.qp, False


@dataclass(frozen=True, slots=True)
class Resume(_Step):
    at: At
    qp: Optional[str] = None

    def needs(self) -> tuple[str, ...]:
        return ("pipelining",)

    def queue(self) -> tuple[Optional[str], bool]:
        return self.qp, False


@dataclass(frozen=True, slots=True)
class Retag(_Step):
    """The application writes the tag into the mkey's keys: no call is made that a device could refuse."""

    at: At
    mkey: str
    tag: Int

    def needs(self) -> tuple[str, ...]:
        return ("update_tag",)


@dataclass(frozen=True, slots=True)
class Destroy(_Step):
    """mlx5dv_destroy_mkey; `label.errno` is what it returned."""

    at: At
    mkey: str
    label: Optional[str] = None
    claim: Claim = ()
    known: Optional[Known] = None


@dataclass(frozen=True, slots=True)
class Expect(_Step):
    """`operator`: == != < <= > >=; bytes take == and != only. Where `expected` is the live side, it is here.

    `writer`: the transfer that writes these bytes if it is accepted, and may be refused instead. Once it was accepted,
    `Unchanged` is none of the alternatives. `branch`: judged only where that statement had this outcome.
    """

    at: At
    observed: Observed
    operator: str
    expected: Expected
    known: Optional[Known] = None
    writer: Optional[At] = None
    branch: Optional[Branch] = None


@dataclass(frozen=True, slots=True)
class Snapshot(_Step):
    """Take the bytes that are there now, as `name`, for `LiveContent`. Judges nothing."""

    at: At
    name: str
    observed: Union[Content, Wire]


@dataclass(frozen=True, slots=True)
class Record(_Step):
    """Write an observation into the report: a value, or the truth of a comparison. Judges nothing."""

    at: At
    name: str
    observed: Observed
    operator: Optional[str] = None
    expected: Optional[Expected] = None


Step = Union[
    Memory, Mkey, Qp, Pd, Dek, Dct, Post, Transmit, Receive, Recv, Store, Check, Await, Poll, Cancel, Resume,
    Retag, Destroy, DestroyDek, Query, Login, Logout, LoginState, Expect, Snapshot, Record,
]  # fmt: skip


def is_post(step: object) -> TypeIs[Post]:
    """Whether it is a section of requests."""
    return isinstance(step, Post)
