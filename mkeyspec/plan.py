"""The plan: what a checked case asks of a device, step by step, with every value typed.

`lang` lowers a case to a plan, `emit` writes it down as Python (the `repr` of these classes is
the text of a generated module), `run` carries it out. A plan knows neither the language's tree
nor a device. Numbers are the pages' own (flags, masks, enum values). Where a number may depend on
the device it is an `Int`: an int, or a `Live` value that the rig reads when it gets there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Optional, Union

from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.layout import Layout, Part
from mkeyspec.value.live import Int, Live, LiveOp, LiveString
from mkeyspec.value.signature import Domain

# Places --------------------------------------------------------------------------------------


class At(NamedTuple):
    """Line and column, from 1, of the statement in the `.mks` file."""

    line: int
    column: int


Overrides = tuple[tuple[str, Int], ...]
"""Struct members set wrong on purpose (`but`): (member, value)."""

# Claims --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rejected:
    """Refused at `phase` (create, complete, completion, mkey_check, cancel).

    `reason`: an errno's name, a completion status or a class of them (`constants.STATUS_CLASS`), or None.
    `rule`: the one rule of the pages that the checker found broken; the profile knows the errno it earns.
    """

    phase: str
    reason: Optional[str] = None
    rule: Optional[str] = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """Goes through without a refusal."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One expected completion: an opcode's name and the members that are compared (status, id, byte_len, imm)."""

    opcode: str
    members: tuple[tuple[str, Union[Int, str]], ...] = ()


@dataclass(frozen=True, slots=True)
class Completes:
    """Exactly these completions, in order."""

    entries: tuple[Entry, ...]


Outcome = Union[Rejected, Accepted, Completes]
Claim = tuple[Outcome, ...]
"""Any of these; empty: plain success."""


@dataclass(frozen=True, slots=True)
class Known:
    """How a known driver departs from the page (`id` of X-DIFF/X-BUG). All None: any failure of this statement."""

    id: str
    outcome: Optional[Outcome] = None
    value: Optional[Expected] = None
    members: tuple[tuple[str, Union[Int, str, ByteString]], ...] = ()


# Setters and work requests -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SetAccess:
    flags: Int
    but: Overrides = ()


@dataclass(frozen=True, slots=True)
class SetLayout:
    layout: Layout
    but: Overrides = ()


@dataclass(frozen=True, slots=True)
class SetSignature:
    """`copy_mask` None: the COPY_MASK flag is clear. Overrides: flags, comp_mask."""

    mem: Optional[Domain] = None
    wire: Optional[Domain] = None
    check_mask: int = 0
    copy_mask: Optional[int] = None
    but: Overrides = ()


@dataclass(frozen=True, slots=True)
class SetCrypto:
    """`data_unit` in bytes; `order` is constants.CryptoOrder. Overrides: members of mlx5dv_crypto_attr."""

    dek: str
    tweak: int = 0
    data_unit: int = 512
    encrypt_on_tx: bool = True
    order: int = 0
    keytag: Optional[bytes] = None
    but: Overrides = ()


Setter = Union[SetAccess, SetLayout, SetSignature, SetCrypto]


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


@dataclass(frozen=True, slots=True)
class Configure:
    """`setters` in the order they are called, repeats included; num_setters is their count unless overridden."""

    at: At
    mkey: str
    setters: tuple[Setter, ...] = ()
    reset_signature: bool = False
    options: Options = Options()


@dataclass(frozen=True, slots=True)
class StraySetter:
    """A setter where no configuration is open."""

    at: At
    setter: Setter


@dataclass(frozen=True, slots=True)
class MrList:
    at: At
    mkey: str
    layout: Layout
    access: Int
    options: Options = Options()


@dataclass(frozen=True, slots=True)
class MrInterleaved:
    at: At
    mkey: str
    layout: Layout
    access: Int
    options: Options = Options()


@dataclass(frozen=True, slots=True)
class Send:
    """SEND / SEND_IMM (`imm`) / SEND_INV (`invalidate`: an mkey or memory of the other side, by name)."""

    at: At
    data: tuple[Part, ...]
    imm: Optional[Int] = None
    invalidate: Optional[str] = None
    options: Options = Options()


@dataclass(frozen=True, slots=True)
class Write:
    at: At
    data: tuple[Part, ...]
    to: Part
    imm: Optional[Int] = None
    options: Options = Options()


@dataclass(frozen=True, slots=True)
class Read:
    at: At
    into: tuple[Part, ...]
    source: Part
    options: Options = Options()


@dataclass(frozen=True, slots=True)
class FetchAdd:
    at: At
    into: Part
    source: Part
    add: Int
    options: Options = Options()


@dataclass(frozen=True, slots=True)
class Invalidate:
    """LOCAL_INV `by` post_send or wr_post."""

    at: At
    mkey: str
    by: str
    options: Options = Options()


@dataclass(frozen=True, slots=True)
class Memcpy:
    at: At
    source: Part
    to: Part
    options: Options = Options()


@dataclass(frozen=True, slots=True)
class RawWqe:
    at: At
    wqe: Union[ByteString, LiveString]
    options: Options = Options()


Wr = Union[
    Configure, StraySetter, MrList, MrInterleaved, Send, Write, Read, FetchAdd, Invalidate, Memcpy, RawWqe
]

# Steps ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Memory:
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


@dataclass(frozen=True, slots=True)
class Mkey:
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


@dataclass(frozen=True, slots=True)
class Qp:
    """A QP pair of the case's own; members are fields of the device's QpAttributes, only those the case names."""

    at: At
    name: str
    members: tuple[tuple[str, Union[int, str, bool]], ...] = ()
    pd: Optional[str] = None
    claim: Claim = ()
    known: Optional[Known] = None


@dataclass(frozen=True, slots=True)
class Pd:
    at: At
    name: str
    peer: bool = False


@dataclass(frozen=True, slots=True)
class Dek:
    at: At
    name: str
    key: ByteString
    keytag: Optional[ByteString] = None
    claim: Claim = ()
    known: Optional[Known] = None


@dataclass(frozen=True, slots=True)
class Dct:
    at: At
    name: str
    key: int


@dataclass(frozen=True, slots=True)
class Post:
    """A section: start, the requests, complete (or abort). A request standing alone is a section with one signaled WR.

    `wait` False: not waited for (`post, nowait`). `label` names the section, or the WR that stands alone.
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


@dataclass(frozen=True, slots=True)
class Transmit:
    """Data leaves through an mkey: `by` send, send_imm, write, write_imm, peer_read; `length` counts wire bytes.

    `part.name` is the mkey; `but` may override `tag`, `lkey`, `rkey`, `length`.
    """

    at: At
    part: Part
    by: str
    imm: Optional[Int] = None
    qp: Optional[str] = None
    label: Optional[str] = None
    options: Options = Options()
    claim: Claim = ()
    known: Optional[Known] = None


@dataclass(frozen=True, slots=True)
class Receive:
    """Data arrives into an mkey: `by` recv, read, peer_write, peer_write_imm. `data` is what is put on the wire."""

    at: At
    data: ByteString
    part: Part
    by: str
    imm: Optional[Int] = None
    qp: Optional[str] = None
    label: Optional[str] = None
    options: Options = Options()
    claim: Claim = ()
    known: Optional[Known] = None


@dataclass(frozen=True, slots=True)
class Recv:
    """Post a receive."""

    at: At
    into: tuple[Part, ...]
    qp: Optional[str] = None
    peer: bool = False
    label: Optional[str] = None
    options: Options = Options()


@dataclass(frozen=True, slots=True)
class Store:
    """The host writes into a buffer."""

    at: At
    to: Part
    data: Union[ByteString, LiveString]


@dataclass(frozen=True, slots=True)
class Check:
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


@dataclass(frozen=True, slots=True)
class Await:
    """Wait for an async event on a QP."""

    at: At
    event: str
    qp: Optional[str] = None
    known: Optional[Known] = None


@dataclass(frozen=True, slots=True)
class Poll:
    """Wait for exactly these completions on a QP."""

    at: At
    qp: Optional[str] = None
    peer: bool = False
    claim: Claim = ()
    known: Optional[Known] = None


@dataclass(frozen=True, slots=True)
class Cancel:
    at: At
    id: int
    qp: Optional[str] = None
    label: Optional[str] = None
    claim: Claim = ()
    known: Optional[Known] = None


@dataclass(frozen=True, slots=True)
class Resume:
    at: At
    qp: Optional[str] = None


@dataclass(frozen=True, slots=True)
class Retag:
    at: At
    mkey: str
    tag: Int
    claim: Claim = ()
    known: Optional[Known] = None


# Expectations --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Content:
    """What is in these parts of registered buffers now, strung together (an mkey is the parts of its layout)."""

    parts: tuple[Part, ...]
    name: str = ""
    """How the case calls it, for messages."""


@dataclass(frozen=True, slots=True)
class Wire:
    """What the last transmit (or the one labelled) put on the wire, from `start`, `length` bytes."""

    length: int
    start: int = 0
    label: Optional[str] = None


@dataclass(frozen=True, slots=True)
class Any:
    """Whatever is there; `length` None: all of it."""

    length: Optional[int] = None


@dataclass(frozen=True, slots=True)
class Unchanged:
    """What was there when the last step began."""


@dataclass(frozen=True, slots=True)
class OneOf:
    alternatives: tuple[Expected, ...]


@dataclass(frozen=True, slots=True)
class Sequence:
    """Byte strings and `Any(n)`, strung together."""

    items: tuple[Union[ByteString, Any], ...]


Observed = Union[Content, Wire, Live, LiveOp]
Expected = Union[ByteString, LiveString, Any, Unchanged, OneOf, Sequence, int, str, Live, LiveOp, bool]
"""int, str, Live and LiveOp are compared with a live scalar (`k.max_entries`, `c.errno`: the errno's name or 0)."""


@dataclass(frozen=True, slots=True)
class Expect:
    """`operator`: == != < <= > >=; bytes take == and != only. Where `expected` is the live side, it stands here."""

    at: At
    observed: Observed
    operator: str
    expected: Expected
    known: Optional[Known] = None


@dataclass(frozen=True, slots=True)
class Record:
    """Write an observation into the report: a value, or the truth of a comparison. Judges nothing."""

    at: At
    name: str
    observed: Observed
    operator: Optional[str] = None
    expected: Optional[Expected] = None


Step = Union[
    Memory, Mkey, Qp, Pd, Dek, Dct, Post, Transmit, Receive, Recv, Store, Check, Await, Poll, Cancel, Resume,
    Retag, Expect, Record,
]  # fmt: skip

# Cases ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comparison:
    """A need in numbers: `device.max_wr_memcpy_length >= 4096`."""

    live: Live
    operator: str
    value: int


Need = Union[str, Comparison]
"""A name of Capabilities.offers (`signature.crc32c`, `block.4048`, `qp.dci`, `memcpy`, `crypto`…), or a comparison."""


@dataclass(frozen=True, slots=True)
class Row:
    """One expansion: `id` is `n=1,op=send` ("" without parameters)."""

    id: str
    steps: tuple[Step, ...]
    needs: tuple[Need, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    at: At
    name: str
    title: str
    verifies: tuple[str, ...]
    rows: tuple[Row, ...]
    isolated: bool = False


@dataclass(frozen=True, slots=True)
class Suite:
    """One `.mks` file, lowered. `source` is its path relative to the suite's root, with `/`."""

    source: str
    title: str
    cases: tuple[Case, ...]
