"""The calls of a row, in order: what a program does, whatever language it is written in.

Objects are named as the case names them, in a form that C and Python take. Numbers may be a `symbol.Symbol`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Union

from mkeyspec.device.protocol import (
    Completion,
    DekAttr,
    LoginAttr,
    QpAttributes,
    Sge,
    Side,
    WorkRequest,
)
from mkeyspec.run.evidence import Due
from mkeyspec.value.bytestring import ByteString


@dataclass(frozen=True, slots=True)
class NewPd:
    name: str


@dataclass(frozen=True, slots=True)
class NewMemory:
    """`called`: as the case, or a message, calls it. `data` None: any bytes, which nobody looks at by value."""

    name: str
    called: str
    side: Side
    length: int
    data: Optional[ByteString]
    access: int
    misaligned: int
    pd: Optional[str]


@dataclass(frozen=True, slots=True)
class NewMkey:
    """`refused`: the errno of the model; 0: it was made. So of each call below."""

    name: str
    side: Side
    flags: int
    entries: int
    pd: Optional[str]
    refused: int


@dataclass(frozen=True, slots=True)
class NewPair:
    name: str
    attributes: QpAttributes
    pd: Optional[str]
    pd_side: Side
    refused: int


@dataclass(frozen=True, slots=True)
class NewDct:
    name: str
    key: int


@dataclass(frozen=True, slots=True)
class NewDek:
    name: str
    key: bytes
    keytag: Optional[bytes]
    attr: DekAttr
    pd: Optional[str]
    login: Optional[str]
    refused: int


@dataclass(frozen=True, slots=True)
class OfDek:
    """mlx5dv_dek_query, or mlx5dv_dek_destroy (`destroys`)."""

    name: str
    destroys: bool
    refused: int


@dataclass(frozen=True, slots=True)
class NewLogin:
    """mlx5dv_crypto_login; with a `name` mlx5dv_crypto_login_create."""

    name: Optional[str]
    attr: LoginAttr
    refused: int


@dataclass(frozen=True, slots=True)
class OfLogin:
    """Its state is asked, or it ends (`destroys`); of the session where it has no `name`."""

    name: Optional[str]
    destroys: bool
    refused: int


@dataclass(frozen=True, slots=True)
class Post:
    pair: str
    side: Side
    requests: tuple[WorkRequest, ...]
    abort: bool
    refused: int


@dataclass(frozen=True, slots=True)
class PostRecv:
    pair: str
    side: Side
    wr_id: int
    sges: tuple[Sge, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Came:
    """A completion; `due`: what the rig has found it to be, filled in when the step is over."""

    number: int
    pair: str
    side: Side
    completion: Completion
    due: list[Due]


@dataclass(frozen=True, slots=True)
class Reconnect:
    pair: str


@dataclass(frozen=True, slots=True)
class SetTag:
    name: str
    tag: int


@dataclass(frozen=True, slots=True)
class DestroyMkey:
    name: str
    refused: int


@dataclass(frozen=True, slots=True)
class AskMkey:
    """mlx5dv_mkey_check."""

    name: str
    refused: int


@dataclass(frozen=True, slots=True)
class CancelWr:
    """`count`: what the model returned, a negative errno included."""

    pair: str
    wr_id: int
    count: int
    variable: str


@dataclass(frozen=True, slots=True)
class ResumeQp:
    pair: str


Call = Union[
    NewPd, NewMemory, NewMkey, NewPair, NewDct, NewDek, OfDek, NewLogin, OfLogin, Post, PostRecv, Came, Reconnect,
    SetTag, DestroyMkey, AskMkey, CancelWr, ResumeQp,
]  # fmt: skip
