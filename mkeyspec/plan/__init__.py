"""The plan: what a checked case asks of a device, step by step, with every value typed.

`compiler` lowers a case to a plan, `emit` writes it down as Python (the `repr` of these classes is
the text of a generated module), `run` carries it out. A plan knows neither the language's tree
nor a device. Numbers are the pages' own (flags, masks, enum values). Where a number may depend on
the device it is an `Int`: an int, or a `Live` value that the rig reads when it gets there.
"""

from mkeyspec.plan.case import Case, Comparison, Need, Row, Suite
from mkeyspec.plan.claim import Accepted, Claim, Completes, Entry, Known, Outcome, Rejected, is_rejected
from mkeyspec.plan.location import At
from mkeyspec.plan.observation import Any, Content, Expected, Observed, OneOf, Sequence, Unchanged, Wire
from mkeyspec.plan.request import (
    ATOMIC_BYTES,
    CONFIGURING,
    Configure,
    FetchAdd,
    Invalidate,
    Memcpy,
    MrInterleaved,
    MrList,
    Options,
    Overrides,
    RawWqe,
    Read,
    Request,
    Send,
    SetAccess,
    SetCrypto,
    SetLayout,
    SetSignature,
    Setter,
    StraySetter,
    Wr,
    Write,
)
from mkeyspec.plan.step import (
    Await,
    Cancel,
    Check,
    Dct,
    Dek,
    Expect,
    Memory,
    Mkey,
    Pd,
    Poll,
    Post,
    Qp,
    Receive,
    Record,
    Recv,
    Resume,
    Retag,
    Snapshot,
    Step,
    Store,
    Transmit,
)
from mkeyspec.plan.use import RECEIVE, TRANSMIT, End, Use, total

__all__ = [
    "ATOMIC_BYTES", "CONFIGURING", "RECEIVE", "TRANSMIT",
    "Accepted", "Any", "At", "Await", "Cancel", "Case", "Check", "Claim", "Comparison",
    "Completes", "Configure", "Content", "Dct", "Dek", "End", "Entry", "Expect", "Expected", "FetchAdd",
    "Invalidate", "Known", "Memcpy", "Memory", "Mkey", "MrInterleaved", "MrList", "Need", "Observed", "OneOf",
    "Options", "Outcome", "Overrides", "Pd", "Poll", "Post", "Qp", "RawWqe", "Read", "Receive", "Record", "Recv",
    "Rejected", "Request", "Resume", "Retag", "Row", "Send", "Sequence", "SetAccess", "SetCrypto", "SetLayout",
    "SetSignature", "Setter", "Snapshot", "Step", "Store", "StraySetter", "Suite", "Transmit", "Unchanged", "Use",
    "Wire", "Wr", "Write", "is_rejected", "total",
]  # fmt: skip
