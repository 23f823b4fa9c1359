"""A turn of a `repeat` begins as the one before it did: what a turn makes, it destroys, and each outcome is known."""

from __future__ import annotations

from collections.abc import Iterator

from mkeyspec import plan
from mkeyspec.compiler.check.state import AbstractMkey, OtherState
from mkeyspec.compiler.eval.coercion import fault
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.syntax import ast
from mkeyspec.syntax.walk import DECLARING, flat, named


def check_decided(step: plan.Step, sentence: Sentence) -> None:
    """A statement of a turn. Raises `Fault` MKS0518 where its outcome is left open: how the next turn begins would be
    open, too."""
    claim = sentence.node.claim
    if claim is not None and plan.is_undecided(getattr(step, "claim", ())):
        raise fault(
            "MKS0518",
            "in a `repeat` each statement has one outcome",
            claim.span,
            label="accepted or rejected: each turn would begin in another state",
            help="claim the one that the page names; or write the statement without a `repeat`",
        )


def check_left(row: RowState, statement: ast.Repeat) -> None:
    """The end of a turn. Raises `Fault` MKS0519 where a key or a DEK of this turn is left, or is still in use."""
    for name in _declared(statement):
        if name.text in row.entries:  # of this turn's key; the next one has entries of its own
            row.entries[row.name(name.text)] = row.entries.pop(name.text)
        if _stays(row.state.things.get(name.text)):
            raise fault(
                "MKS0519",
                f"each turn makes a `{name.text}`, and this one is not destroyed",
                name.span,
                help=f"`destroy {name.text}` in the `repeat`; or declare it above, once",
            )
        user = next((key for key, other in row.state.things.items() if _names(other, name.text)), None)
        if user is not None:
            raise fault(
                "MKS0519",
                f"`{user}` is still configured with `{name.text}`, which is of this turn alone",
                name.span,
                notes=(Note("what a turn makes is gone in the next one", statement.sentence.verb.span),),
                help=f"configure `{user}` with something else before the turn ends, or declare `{name.text}` above",
            )


def _declared(statement: ast.Repeat) -> Iterator[ast.Name]:
    for line in flat(statement.lines):
        match line:
            case ast.Step(verb=verb, operand=operand) if verb.text in DECLARING:
                name = named(operand)
                if name is not None:
                    yield name


def _stays(thing: object) -> bool:
    match thing:
        case AbstractMkey(created=True, destroyed=None) | OtherState(created=True, destroyed=None):
            return True
        case _:
            return False


def _names(thing: object, name: str) -> bool:
    """Whether a key that is there has a layout, or a DEK, of that name."""
    match thing:
        case AbstractMkey(destroyed=None, created=True, layout=layout, crypto=crypto):
            targets = () if layout is None else layout.targets()
            return any(part.name == name for part in targets) or (crypto is not None and crypto.dek == name)
        case _:
            return False
