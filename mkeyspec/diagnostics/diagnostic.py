"""Diagnostics: what is wrong with a `.mks` file, where, why, and how to fix it.

A pass never raises for bad input: it adds to a `Diagnostics` and continues if it can. Codes
and their pages of explanation are in `codes.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from mkeyspec.diagnostics.limits import ERRORS
from mkeyspec.diagnostics.source import Span

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Note:
    """A second location, or a remark without one."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """A part of a correction: `text` takes the place of `span`, which may be empty."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    `code` e.g. "MKS0102"; `message` one line, says what; `label` short text under the carets;
    `notes` where the other thing was declared; `help` how to fix it; `page` the man page clause
    or requirement ids ("sig_block(3) seed, CRC-07"). `fix`: the correction, if it is more than the one that `help`
    names (`edits_of`). `begins`, of what the parser could not read: the first word of the statement; `around`: that of
    the statement in whose braces it is.
    """

    code: str
    message: str
    span: Span
    severity: Severity = "error"
    label: str = ""
    notes: tuple[Note, ...] = ()
    help: str = ""
    page: str = ""
    fix: tuple[Edit, ...] = ()
    begins: Span | None = None
    around: Span | None = None


_REPLACEMENT = re.compile(r"(?:did you mean|write)? ?`([^`]+)`\??")
"""A help which is nothing but the text that should stand at the place of the finding."""


def edits_of(diagnostic: Diagnostic) -> tuple[Edit, ...]:
    """The correction that a program can apply: `fix`, or what `help` says to write in place of the span; else ()."""
    if diagnostic.fix:
        return diagnostic.fix
    named = _REPLACEMENT.fullmatch(diagnostic.help)
    if named is None or diagnostic.span.end <= diagnostic.span.start:
        return ()
    return (Edit(diagnostic.span, named[1]),)


def corrected(text: str, edits: Iterable[Edit]) -> str:
    """`text` after `edits`, which do not overlap."""
    for edit in sorted(edits, key=lambda one: one.span[1:], reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


class TooManyErrors(Exception):
    """Too many errors; this has been reported, and no pass continues."""


@dataclass(slots=True)
class Diagnostics:
    """Collects findings; the same code at the same position is kept once (the rows of a case repeat it).

    One error more than `ERRORS` allows raises `TooManyErrors`.
    """

    found: list[Diagnostic] = field(default_factory=list)
    _seen: set[tuple[str, str, int, int]] = field(default_factory=set)
    _errors: int = 0
    around: tuple[tuple[Span, Note], ...] = ()
    """Texts that are read for something else: what is found in one of them gets its note, which says for what."""

    def add(self, diagnostic: Diagnostic) -> None:
        for text, note in self.around:
            if text.holds(diagnostic.span):
                diagnostic = replace(diagnostic, notes=(*diagnostic.notes, note))
        key = (diagnostic.code, diagnostic.span.source.name, diagnostic.span.start, diagnostic.span.end)
        if key in self._seen:
            return
        if diagnostic.severity == "error" and diagnostic.code != ERRORS.code:
            self._errors += 1
            if self._errors > ERRORS.most:
                self.end(diagnostic.span)
                raise TooManyErrors
        self._seen.add(key)
        self.found.append(diagnostic)

    def keep(self, diagnostic: Diagnostic) -> None:
        """Add what has been counted already."""
        self.found.append(diagnostic)

    def end(self, span: Span) -> None:
        """Report, once, that the text after `span` is not checked."""
        if not any(found.code == ERRORS.code for found in self.found):
            self.error(ERRORS.code, f"{ERRORS.broken()}; the rest is not read", span)

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        label: str = "",
        notes: tuple[Note, ...] = (),
        help: str = "",
        page: str = "",
        fix: tuple[Edit, ...] = (),
    ) -> None:
        self.add(Diagnostic(code, message, span, "error", label, notes, help, page, fix))

    def warning(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        label: str = "",
        notes: tuple[Note, ...] = (),
        help: str = "",
        page: str = "",
    ) -> None:
        self.add(Diagnostic(code, message, span, "warning", label, notes, help, page))

    @property
    def errors(self) -> list[Diagnostic]:
        return [d for d in self.found if d.severity == "error"]

    def __iter__(self) -> Iterator[Diagnostic]:
        """In the order of their places."""
        return iter(sorted(self.found, key=lambda d: (d.span.source.name, d.span.start, d.code)))


class Fault(Exception):
    """Raised to end the evaluation of one statement; has the diagnostic. Always caught inside a pass."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic
