"""`mkeyspec check --fix`: the corrections that findings carry, applied to their files.

A file is corrected in rounds: what the compiler says after one round may carry further corrections. In a round, no two
corrections overlap, and each takes its finding away: one that does not is left out. So is one after which more of the
file can't be read, and a guess ("did you mean") that brings another error into its line.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mkeyspec.cli.session import Failure

if TYPE_CHECKING:
    from mkeyspec.diagnostics.diagnostic import Diagnostic, Edit

ROUNDS = 10
"""Rounds for one file at most; each has at least one correction."""

MARK = b"\xef\xbb\xbf"
"""The byte order mark, which is not a part of the text that the compiler reads."""

Check = Callable[[bytes], "list[Diagnostic]"]
"""What the compiler says of the file if it has these bytes."""


@dataclass
class Corrected:
    """A file: its bytes before and after, the number of corrections, and what is left to say of it."""

    path: Path
    before: bytes
    after: bytes
    left: list[Diagnostic] = field(default_factory=list)
    count: int = 0

    def difference(self) -> str:
        """The unified diff; "" if nothing is corrected."""
        name = os.path.relpath(self.path)
        before, after = (
            text.decode("utf-8", "replace").splitlines(keepends=True) for text in (self.before, self.after)
        )
        shown = []
        for line in difflib.unified_diff(before, after, fromfile=name, tofile=name):
            shown.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
        return "".join(shown)


def _lines(text: bytes) -> list[str]:
    return text.decode("utf-8", "replace").splitlines(keepends=True)


def correct(path: Path, before: bytes, check: Check) -> Corrected:
    """`before`, the bytes of the file at `path`, with all corrections that hold."""
    done = Corrected(path, before, before, check(before))
    refused: set[tuple[str, str]] = set()
    for _ in range(ROUNDS):
        chosen = [one for one in _disjoint(done.left, path) if _key(one) not in refused]
        while chosen:
            after = _applied(done.after, chosen)
            left = check(after)
            useless = _useless(chosen, done.left, left)
            if not useless:
                done.after, done.left, done.count = after, left, done.count + len(chosen)
                break
            refused |= {_key(one) for one in useless}
            chosen = [one for one in chosen if _key(one) not in refused]
        if not chosen:
            break
    return done


def _key(one: Diagnostic) -> tuple[str, str]:
    return one.code, one.message


def _edits(one: Diagnostic) -> tuple[Edit, ...]:
    from mkeyspec.diagnostics.diagnostic import edits_of

    return edits_of(one)


def _disjoint(found: Sequence[Diagnostic], path: Path) -> Iterator[Diagnostic]:
    """The findings with corrections of this file alone, in the order of the text; of two that meet, the first."""
    end = -1
    here = [(edits, one) for one in found if (edits := _edits(one)) and all(_is_of(edit, path) for edit in edits)]
    for edits, one in sorted(here, key=lambda pair: min(edit.span.start for edit in pair[0])):
        begin = min(edit.span.start for edit in edits)
        if begin > end:
            yield one
            end = max(edit.span.end for edit in edits)


def _is_of(edit: Edit, path: Path) -> bool:
    source = edit.span.source.path
    return source is not None and os.path.realpath(source) == os.path.realpath(path)


def _applied(text: bytes, chosen: Sequence[Diagnostic]) -> bytes:
    """The bytes after all corrections of `chosen`; line ends and the byte order mark stay as they are."""
    from mkeyspec.diagnostics.diagnostic import Edit, corrected

    mark = MARK if text.startswith(MARK) else b""
    decoded = text[len(mark) :].decode("utf-8")
    end = "\r\n" if "\r\n" in decoded else "\n"
    edits = [Edit(edit.span, edit.text.replace("\n", end)) for one in chosen for edit in _edits(one)]
    return mark + corrected(decoded, edits).encode("utf-8")


def _useless(
    chosen: Sequence[Diagnostic], before: Sequence[Diagnostic], left: Sequence[Diagnostic]
) -> list[Diagnostic]:
    """The corrections that are of no use.

    Their findings are there as often as before; or a guess has brought another error into its line; or more of the
    text can't be read than before: then the last.
    """
    had, have = [_key(one) for one in before], [_key(one) for one in left]
    same = [one for one in chosen if have.count(_key(one)) >= had.count(_key(one))]
    worse = {_line(one) for one in left if one.severity == "error" and _key(one) not in had}
    same += [one for one in chosen if one.help.startswith("did you mean") and _line(one) in worse]
    return same or (list(chosen[-1:]) if _unread(have) > _unread(had) else [])


def _line(one: Diagnostic) -> int:
    return one.span.source.location(one.span.start).line if one.span.source.text else 0


def _unread(found: Sequence[tuple[str, str]]) -> int:
    return sum(code.startswith("MKS01") for code, _ in found)


def writable(path: Path) -> None:
    """Raises Failure for a file that is read-only."""
    if not os.access(path, os.W_OK):
        message = f"can't write {os.path.relpath(path)}: it is read-only; make it writable, or look with --diff"
        raise Failure("MKS0902", message)


def write(done: Corrected) -> None:
    """Replace the file by its corrected text, whole or not at all; its mode stays, and a link stays one.

    Raises Failure if the file was saved since it was read, or can't be written.
    """
    place = Path(os.path.realpath(done.path))
    temporary = ""
    try:
        if place.read_bytes() != done.before:
            message = (
                f"{os.path.relpath(done.path)} was saved while it was checked, and is left as it is; check it again"
            )
            raise Failure("MKS0902", message)
        handle, temporary = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".tmp", dir=place.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(done.after)
        shutil.copymode(place, temporary)
        Path(temporary).replace(place)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink(missing_ok=True)
        reason = error.strerror or str(error)
        raise Failure(
            "MKS0902", f"can't write {os.path.relpath(done.path)}: {reason.lower()}; it is as it was"
        ) from None
