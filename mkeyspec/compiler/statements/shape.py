"""The shape of a statement: which operand, prepositions, modifiers, lines and claims it takes, as data.

The grammar knows one form of sentence (`ast.Step`). A `Shape` describes the form for one word, and is with the
statement's record; `check_shapes` compares the sentences of a case with the shapes. A line inside braces is a sentence
too: the `Place` that the braces are says which words may begin it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Slot:
    """A part of a sentence that holds a value. `what` says which, for messages: "an mkey", "a number"."""

    what: str
    required: bool = True


@dataclass(frozen=True, slots=True)
class Shape:
    """What the statement, or the line, that begins with `name` takes.

    `modifiers`: a name with None is a bare word (`signaled`), with a Slot it takes a value (`id 5`).
    `but`: members that may be written wrong on purpose. `lines`: what its braces are, None: it has none.
    `phases`: where a rejection may be claimed. `branch`: it may be of one outcome (`when accepted t`).
    `shows`: what may be read of its label when the case runs.
    """

    name: str
    example: str
    operand: Slot | None = None
    phrases: Mapping[str, Slot] = field(default_factory=dict)
    value: Slot | None = None
    modifiers: Mapping[str, Slot | None] = field(default_factory=dict)
    but: tuple[str, ...] = ()
    lines: Place | None = None
    lines_required: bool = False
    phases: tuple[str, ...] = ()
    completes: bool = False
    known: bool = False
    branch: bool = False
    peer: bool = False
    page: str = ""
    shows: tuple[str, ...] = ()


class Place:
    """A case's top level, a section, or the braces of one word; and the shapes of the lines that may be there."""

    __slots__ = ("name", "shapes", "word")

    def __init__(self, word: str, shapes: Iterable[Shape]) -> None:
        self.word = word
        self.name = f"a {word}" if word in ("case", "section") else f"`{word} {{ }}`"
        """What messages call it."""
        self.shapes = {shape.name: shape for shape in shapes}


NUMBER = Slot("a number")
LABEL = Slot("a label", required=False)
QP = Slot("a qp", required=False)
PD = Slot("a pd", required=False)
REF = Slot("a buffer, an mkey, or a part of one")
REFS = Slot("a buffer, an mkey, a part of one, or a list of them")
BYTES = Slot("bytes")
MKEY = Slot("an mkey")
NEW = Slot("a new name")
ACCESS = Slot("access flags")

CONFIGURE_PAGE = "mlx5dv_wr_mkey_configure(3)"
SIG_PAGE = "mlx5dv_wr_set_mkey_sig_block(3)"
POST_PAGE = "mlx5dv_wr_post(3)"
MKEY_PAGE = "mlx5dv_create_mkey(3)"
DEK_PAGE = "mlx5dv_dek_create(3)"
LOGIN_PAGE = "mlx5dv_crypto_login(3)"
LOGIN_OBJECT_PAGE = "mlx5dv_crypto_login_create(3)"

OPTIONS: dict[str, Slot | None] = {
    "signaled": None,
    "fence": None,
    "solicited": None,
    "id": NUMBER,
    "dct": Slot("a dct"),
    "stream": NUMBER,
}
"""What every work request may carry (`plan.Options`)."""

IMM: dict[str, Slot | None] = {"imm": NUMBER}

WR_CLAIM = ("complete", "completion")
"""Where a section may be refused: by the call that posts it, or by an error completion."""
WR_SHOWS = ("errno", "status")
ANSWERED_SHOWS = (*WR_SHOWS, "byte_len")
"""Of a request that an answer fills: no other completion of a send queue has a byte_len (ibv_poll_cq(3))."""
SGE_BUT = ("addr", "length", "lkey", "tag")
DC_BUT = ("dctn", "dc_key")
REMOTE_BUT = (*SGE_BUT, "remote_addr", "rkey", *DC_BUT)
TRANSFER_BUT = (*SGE_BUT, "rkey")


def field_line(name: str, example: str, what: str, page: str = "", required: bool = True) -> Shape:
    """A line with a value: `entries 4`."""
    return Shape(name, example, Slot(what, required), page=page)


def flag_line(name: str, page: str = "") -> Shape:
    """A line of one word, or of the word and yes or no: `block_signature`."""
    return Shape(name, name, Slot("yes or no", required=False), page=page)


def request_shape(
    name: str,
    example: str,
    operand: Slot,
    phrases: Mapping[str, Slot],
    page: str,
    modifiers: Mapping[str, Slot | None] | None = None,
    but: tuple[str, ...] = (*SGE_BUT, *DC_BUT),
    lines: Place | None = None,
    shows: tuple[str, ...] = WR_SHOWS,
) -> Shape:
    """A work request: `on q as l` go with it where it is alone; `check_shapes` refuses them in a section."""
    return Shape(
        name,
        example,
        operand,
        {**phrases, "on": QP, "as": LABEL},
        modifiers={**OPTIONS, **(modifiers or {})},
        but=but,
        lines=lines,
        phases=WR_CLAIM,
        completes=True,
        known=True,
        peer=True,
        page=page,
        shows=shows,
    )
