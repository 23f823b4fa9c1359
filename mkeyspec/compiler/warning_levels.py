"""Levels of warnings: `allow MKS06nn` in a file or a case, `--allow` and `--deny` on the command line.

A warning that a file allows is not shown. An `allow` that hides no warning is a warning itself (MKS0609), so that it is
removed with its reason. The command line decides which of the others are dropped, kept, or made errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from mkeyspec.diagnostics.codes import CODES
from mkeyspec.diagnostics.diagnostic import Diagnostic, Diagnostics
from mkeyspec.diagnostics.source import Span
from mkeyspec.diagnostics.suggest import id_meant
from mkeyspec.syntax import ast

EVERY = "warnings"
"""What `--deny` takes for all of them."""

UNNEEDED = "MKS0609"


def warning_codes() -> frozenset[str]:
    """The codes of warnings: the family 06."""
    from mkeyspec.diagnostics.codes import CODES

    return frozenset(code for code in CODES if code.startswith("MKS06"))


class Levels(NamedTuple):
    """The options of a command line for warnings. `deny` wins over `allow`."""

    allow: frozenset[str] = frozenset()
    deny: frozenset[str] = frozenset()

    @classmethod
    def of(cls, allow: Iterable[str], deny: Iterable[str]) -> Levels:
        """From options: codes, separated by commas, or `warnings`. ValueError for any other word."""
        return cls(_codes("--allow", allow), _codes("--deny", deny))

    def denies(self, code: str) -> bool:
        return code in self.deny or (EVERY in self.deny and code not in self.allow)

    def allows(self, code: str) -> bool:
        return not self.denies(code) and (code in self.allow or EVERY in self.allow)

    def over(self, base: Levels) -> Levels:
        """These levels, and those of `base` for the codes that these do not name."""
        named = self.allow | self.deny
        if EVERY in named:
            return self
        return Levels(self.allow | (base.allow - named), self.deny | (base.deny - named))


PLAIN = Levels()
"""Warnings are shown, and fail nothing."""


def _codes(option: str, given: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for text in given:
        for word in text.split(","):
            code = word.strip()
            if code != EVERY and code.upper() not in warning_codes():
                meant = id_meant(code.upper(), warning_codes()) or "`mkeyspec explain` lists the codes"
                raise ValueError(f"{option} {code}: no warning is called so; {meant}")
            found.add(code if code == EVERY else code.upper())
    return frozenset(found)


def settle(diagnostics: Diagnostics, file: ast.File | None, levels: Levels = PLAIN) -> Diagnostics:
    """The diagnostics that are left after the `allow`s of the file and the options of the command line."""
    found = list(diagnostics.found)
    if file is not None:
        found = _allowed(found, file)
    settled = Diagnostics()
    for one in found:
        if one.severity == "error":
            settled.keep(one)
        elif levels.denies(one.code):
            settled.keep(replace(one, severity="error"))
        elif not levels.allows(one.code):
            settled.keep(one)
    return settled


def _allowed(found: Sequence[Diagnostic], file: ast.File) -> list[Diagnostic]:
    """`found` without the warnings that the file allows, and with what is wrong with its `allow`s."""
    written: list[tuple[tuple[Span, ...], ast.Name]] = [((_whole(file),), code) for code in file.allows]
    written += [(_places(file, case, code), code) for case in file.cases for code in case.allows]
    if not written:
        return list(found)
    unused = dict.fromkeys(range(len(written)))
    left: list[Diagnostic] = []
    for one in found:
        place = one.span
        hidden = False
        for i, (spans, code) in enumerate(written):
            if one.severity == "warning" and code.text == one.code and any(_within(place, span) for span in spans):
                unused.pop(i, None)
                hidden = True
        if not hidden:
            left.append(one)
    wrong = any(one.severity == "error" for one in left)
    codes = warning_codes() - {UNNEEDED}
    wrong = wrong or any(code.text not in codes for _, code in written)
    for i in unused:
        code = written[i][1]
        if code.text not in codes:
            if code.text in CODES:
                message, help = f"{code.text} is not a warning", "only warnings can be allowed: the codes MKS06nn"
            else:
                message = f"no warning is called {code.text}"
                help = id_meant(code.text, codes) or "only warnings can be allowed: the codes MKS06nn"
            left.append(Diagnostic("MKS0225", message, code.span, help=help))
        elif not wrong:
            message = f"nothing here earns {code.text}"
            left.append(Diagnostic(UNNEEDED, message, code.span, "warning", help="take the `allow` away"))
    return left


def _places(file: ast.File, case: ast.Case, code: ast.Name) -> tuple[Span, ...]:
    """Where an `allow` of a case applies: in the case, and in a setup if all cases that use the setup allow the same. A
    warning in a setup is reported once."""
    found = [case.span]
    for used in case.setups:
        users = [other for other in file.cases if any(one.setup is used.setup for one in other.setups)]
        if all(any(allowed.text == code.text for allowed in other.allows) for other in users):
            found.append(used.setup.span)
    return tuple(found)


def _whole(file: ast.File) -> Span:
    return Span(file.source, 0, len(file.source.text))


def _within(place: Span, around: Span) -> bool:
    return place.source is around.source and around.start <= place.start and place.end <= around.end
