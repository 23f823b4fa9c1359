"""Collects lines to a file: the edition, the declarations, then the cases, each with its head and body."""

from __future__ import annotations

import re
from typing import Any

from mkeyspec.diagnostics.diagnostic import Diagnostics, Edit, Note
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.syntax import ast
from mkeyspec.syntax.ast import Name
from mkeyspec.syntax.builder import Allow, CaseLine, Needs, Title, Verifies
from mkeyspec.syntax.labels import LEVELS, Labels, more
from mkeyspec.syntax.setups import SETUP, Setups

EDITION = 1
"""The edition of the language that this release reads."""

STRONGEST = 6
"""The largest strength of `covering`: no fault of the collections of Kuhn, Wallace and Gallo ("Software Fault
Interactions and Implications for Software Testing", IEEE Trans. Software Eng. 30, 2004) needs more values together."""

_FIRST = re.compile(r"^[ \t]*([^\s#])", re.MULTILINE)
"""The first character of a statement, whatever it is."""

_RESERVED = re.compile(r"pytest_|pytestmark\Z")
"""Names that pytest reads of a module: a case of such a name would be taken for a hook, a list of plugins or marks."""


class _Case:
    """A case whose lines are not all read."""

    def __init__(self, line: CaseLine, needs: list[ast.Expr], labels: Labels) -> None:
        self.line = line
        self.labels = labels
        self.title = line.title
        self.end = line.span
        self.verifies: list[Name] = []
        self.needs = needs.copy()
        """Those of the file first."""
        self.isolated = False
        self.allows: list[Name] = []
        self.covering: ast.Covering | None = None
        self.body: list[ast.Statement] = []
        self.setups: list[ast.UsedSetup] = []
        self.fresh = line.title is None
        """No line yet: a title may come."""

    def built(self) -> ast.Case:
        return ast.Case(
            self.line.span.to(self.end),
            self.line.name,
            self.title,
            tuple(self.verifies),
            tuple(self.needs),
            self.isolated,
            tuple(self.body),
            tuple(self.allows),
            self.covering,
            tuple(self.labels.tags),
            self.labels.level or LEVELS[0],
            tuple(self.setups),
        )


class _Gathering:
    """The statements of a file that were read so far."""

    def __init__(self, source: Source, diagnostics: Diagnostics) -> None:
        self.source = source
        self.diagnostics = diagnostics
        self.suite: ast.Text | None = None
        self.uses: list[ast.Text] = []
        self.lets: list[ast.Let] = []
        self.allows: list[Name] = []
        self.needs: list[ast.Expr] = []
        """Of every case of the file."""
        self.labels = Labels(diagnostics)
        """Of every case of the file."""
        self.setups = Setups(source, diagnostics)
        self.cases: list[_Case] = []
        self.names: dict[str, Name] = {}
        self.misplaced = False
        """Whether a line of a case has come before the first case; the lines after it are of the same mistake."""

    def error(self, code: str, message: str, span: Span, help: str = "") -> None:
        self.diagnostics.error(code, message, span, help=help)

    def declaration(self, line: Any) -> None:
        """A line before the first case."""
        if isinstance(line, ast.Let):
            self.lets.append(line)
        elif isinstance(line, Allow):
            self.allows += line.codes
        elif isinstance(line, Needs):
            self.needs += line.values
        elif isinstance(line, ast.Step) and line.verb.text in ("suite", "use", "mks") and not line.peer:
            self.heading(line)
        elif isinstance(line, ast.Step) and line.verb.text == SETUP:
            self.setups.declare(line)
        elif isinstance(line, ast.Step) and self.labels.take(line):
            pass
        elif isinstance(line, Title):
            self.error("MKS0118", "a text alone is a case's title, and no case has begun", line.span)
        elif not self.misplaced:
            self.misplaced = True
            word = self.source.text[line.span.start : line.span.end].split(None, 1)[0]
            self.error(
                "MKS0118",
                f"`{word}` belongs in a case, and no case has begun",
                line.span,
                help="before the cases: `mks`, `suite`, `use`, `allow`, `needs`, `tags`, `level`, `let` and `setup`",
            )

    def heading(self, line: ast.Step) -> None:
        word = line.verb.text
        if word == "mks":
            self.error("MKS0117", "`mks` must be on the first line, once", line.span)
            return
        text = line.operand
        if not isinstance(text, ast.Text) or more(line):
            self.error("MKS0117", f"`{word}` takes one text in quotes", line.span, help=f'{word} "…"')
        elif self.lets:
            self.error("MKS0117", f"`{word}` must come before the first `let`", line.span)
        elif word == "use":
            self.uses.append(text)
        elif self.suite is not None:
            note = Note("the suite was named here", self.suite.span)
            self.diagnostics.error("MKS0117", "a file has one suite", line.span, notes=(note,))
        elif self.uses:
            self.error("MKS0117", "`suite` must come before `use`", line.span)
        else:
            self.suite = text

    def case(self, line: CaseLine) -> None:
        first = self.names.setdefault(line.name.text, line.name)
        if first is not line.name:
            note = Note("the first one is here", first.span)
            message = f"case `{first.text}` is declared twice in this file"
            self.diagnostics.error("MKS0119", message, line.name.span, notes=(note,), help="case ids are unique")
        if _RESERVED.match(line.name.text):
            message = f"a case can't be called `{line.name.text}`: pytest reads this name of a module"
            self.error("MKS0224", message, line.name.span, help="give it another name")
        self.cases.append(_Case(line, self.needs, self.labels.copy()))

    def line_of_case(self, case: _Case, line: Any) -> None:
        fresh, case.fresh = case.fresh, False
        case.end = line.span
        if isinstance(line, Title):
            if fresh:
                case.title = line.text
            else:
                self.error("MKS0118", "a case's title must come right after its name, once", line.span)
        elif isinstance(line, Verifies):
            case.verifies += line.names
        elif isinstance(line, Needs):
            case.needs += line.values
        elif isinstance(line, Allow):
            case.allows += line.codes
        elif isinstance(line, ast.Step) and line.verb.text == "isolated" and line.operand is None and not more(line):
            case.isolated = True
        elif isinstance(line, ast.Step) and line.verb.text == "covering":
            self.covering(case, line)
        elif isinstance(line, ast.Step) and case.labels.take(line):
            pass
        elif isinstance(line, ast.Step) and line.verb.text == SETUP:
            used = self.setups.used(line, case.setups)
            if used is not None:
                case.setups.append(used)
                case.body += used.setup.lines
        elif isinstance(line, ast.Step) and line.verb.text in ("suite", "use", "mks"):
            self.error("MKS0117", f"`{line.verb.text}` must come before the first case", line.span)
        else:
            if isinstance(line, ast.Let) and self.source.location(line.span.start).column == 1:
                self.diagnostics.warning(
                    "MKS0608",
                    f"this `let` belongs to case `{case.line.name.text}`, whatever its column",
                    line.span,
                    help="move it before the first case, or indent it",
                )
            case.body.append(line)

    def covering(self, case: _Case, line: ast.Step) -> None:
        number = line.operand
        if not isinstance(number, ast.Int) or more(line):
            self.error("MKS0121", "`covering` takes one number, written out", line.span, help="covering 2")
        elif not 1 <= number.value <= STRONGEST:
            message = f"`covering` takes 1 to {STRONGEST}, not {number.value}"
            help = "2: each two values of different `for`s are together in a row; 3: each three"
            self.error("MKS0121", message, number.span, help=help)
        elif case.covering is not None:
            notes = (Note("the first one is here", case.covering.span),)
            message = "a case has one `covering`, which is of all its `for`s"
            self.diagnostics.error("MKS0121", message, line.span, notes=notes)
        else:
            case.covering = ast.Covering(line.span, number.value)


def gather(source: Source, lines: list[Any], comments: tuple[Span, ...], diagnostics: Diagnostics) -> ast.File:
    """The file that `lines` make; lines in the wrong position are reported."""
    state = _Gathering(source, diagnostics)
    rest = lines
    if lines and _is_edition(lines[0]):
        rest = lines[1:]
    elif lines and not (diagnostics.errors and source.text.startswith(f"mks {EDITION}\n")):
        _no_edition(source, lines[0].span.start, diagnostics)
    for line in rest:
        if isinstance(line, CaseLine):
            state.case(line)
        elif state.cases:
            state.line_of_case(state.cases[-1], line)
        else:
            state.declaration(line)
    state.setups.report_unused()
    return ast.File(
        source,
        EDITION,
        state.suite,
        tuple(state.uses),
        tuple(state.lets),
        tuple(case.built() for case in state.cases),
        comments,
        tuple(state.allows),
        state.setups.all(),
    )


def _is_edition(line: Any) -> bool:
    return (
        isinstance(line, ast.Step)
        and line.verb.text == "mks"
        and isinstance(line.operand, ast.Int)
        and line.operand.value == EDITION
        and not more(line)
    )


def _no_edition(source: Source, start: int, diagnostics: Diagnostics) -> None:
    """The file does not begin as it must; `start` is of the first line that can be read."""
    first = _FIRST.search(source.text)
    if first is not None:
        start = first.start(1)
    message, end = "a file begins with the edition of the language", start + 1
    fix: tuple[Edit, ...] = (Edit(Span(source, 0, 0), f"mks {EDITION}\n"),)
    if source.text.startswith("mks", start):
        end = start + len(source.line(source.location(start).line).rstrip())
        message, fix = "the first line is the word and the edition", (Edit(Span(source, start, end), f"mks {EDITION}"),)
    elif f"\nmks {EDITION}\n" in source.text:
        fix = ()  # it is there, and has to be moved
    help = f"put `mks {EDITION}` on the first line"
    diagnostics.error("MKS0101", message, Span(source, start, end), help=help, fix=fix)
