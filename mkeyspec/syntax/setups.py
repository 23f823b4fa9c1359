"""`setup NAME { … }` before the cases of a file, and `setup NAME` in a case, in whose place its lines are."""

from __future__ import annotations

from collections.abc import Sequence

from mkeyspec.diagnostics.diagnostic import Diagnostics, Note
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.diagnostics.suggest import did_you_mean
from mkeyspec.syntax import ast
from mkeyspec.syntax.labels import more
from mkeyspec.syntax.walk import named

SETUP = "setup"


class Setups:
    """Of one file."""

    def __init__(self, source: Source, diagnostics: Diagnostics) -> None:
        self._source = source
        self._diagnostics = diagnostics
        self._declared: dict[str, ast.Setup] = {}
        self._used: set[str] = set()

    def all(self) -> tuple[ast.Setup, ...]:
        return tuple(self._declared.values())

    def declare(self, line: ast.Step) -> None:
        """`setup NAME { … }`, before the cases."""
        name = line.operand
        if not isinstance(name, ast.Ref) or line.block is None or not line.block.lines or not _plain(line):
            self._error("MKS0229", "a `setup` has a name and its lines in braces", line.span, HELP)
            return
        first = self._declared.get(name.name)
        if first is not None:
            notes = (Note("the first one is here", first.name.span),)
            self._error(
                "MKS0229", f"setup `{name.name}` is declared twice in this file", name.span, "rename one", notes
            )
            return
        lines = tuple(statement for statement in line.block.lines if self._is_of_a_setup(statement))
        self._declared[name.name] = ast.Setup(line.span, ast.Name(name.span, name.name), lines)

    def _is_of_a_setup(self, line: ast.Statement) -> bool:
        if not isinstance(line, ast.Step) or line.verb.text != SETUP:
            return True
        self._error(
            "MKS0229", "a setup has no `setup` of its own", line.span, "a case may use several, one after the other"
        )
        return False

    def used(self, line: ast.Step, before: Sequence[ast.UsedSetup]) -> ast.UsedSetup | None:
        """`setup NAME`, in a case that uses those `before`. None: it is wrong, and that is reported."""
        name = named(line.operand)
        if line.block is not None:
            help = "move it before the first case; in the case stands its name alone: setup NAME"
            self._error("MKS0229", "the lines of a `setup` come before the first case", line.span, help)
            return None
        if name is None or not isinstance(line.operand, ast.Ref) or more(line):
            self._error("MKS0229", "`setup` takes the name of one of the file's setups", line.span, "setup NAME")
            return None
        self._used.add(name.text)
        setup = self._declared.get(name.text)
        if setup is None:
            guess = did_you_mean(name.text, self._declared)
            known = ", ".join(f"`{one}`" for one in self._declared)
            help = guess or (f"this file has {known}" if known else f"before the cases: setup {name.text} {{ … }}")
            self._error("MKS0228", f"this file has no setup `{name.text}`", name.span, help)
            return None
        first = next((one for one in before if one.setup is setup), None)
        if first is not None:
            notes = (Note("here first", first.span),)
            self._error("MKS0229", f"setup `{name.text}` is used twice in this case", line.span, "leave one out", notes)
            return None
        return ast.UsedSetup(line.span, setup)

    def report_unused(self) -> None:
        if self._diagnostics.errors:
            return  # the case that uses it may be one that can't be read
        for name, setup in self._declared.items():
            if name not in self._used:
                message = f"no case uses the setup `{name}`"
                help = f"`setup {name}` in a case of this file, where alone it is known; or drop it"
                self._diagnostics.warning("MKS0610", message, setup.name.span, help=help)

    def _error(self, code: str, message: str, span: Span, help: str, notes: tuple[Note, ...] = ()) -> None:
        self._diagnostics.error(code, message, span, notes=notes, help=help)


HELP = "setup signed { memory m = counter(64); mkey k; configure k { layout list(m) } }"


def _plain(line: ast.Step) -> bool:
    """Whether a sentence has nothing but its operand and its block."""
    said = (line.phrases, line.modifiers, line.value, line.claim, line.known, line.branch)
    return not line.peer and not any(said)
