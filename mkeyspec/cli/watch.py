"""`mkeyspec run --watch`: runs again what a change of a file touches, until a key ends it.

The files are looked at four times a second: their times, sizes and numbers. That costs milliseconds for hundreds of
files, works on every file system, and needs no dependency. Each run is a process of its own and not of the terminal's
group, so that ^C ends this process alone, which ends the run.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from mkeyspec.cli.findings import count_of
from mkeyspec.cli.session import INTERNAL, OK, Failure
from mkeyspec.files import installed
from mkeyspec.files.project import SUFFIX, Unreadable, find_sources, project_of
from mkeyspec.process.child import end_with

BETWEEN = 0.25
"""Seconds between two looks at the files."""
_USE = re.compile(r'^\s*use\s+"([^"\n]+)"', re.M)
"""Read by itself: what a file uses counts also while the file is broken."""
_CASE = re.compile(r"^\s*case\s", re.M)
_NAMED = 3
"""Files that a message names."""

State = dict[Path, tuple[int, int, int] | None]


def watch(given: Sequence[str], words: Sequence[str], others: Iterable[Path], whole: bool) -> int:
    """Run `given` (files, folders, ids), and again what a change touches. `words`: the other words of the command line;
    `others`: files whose change touches everything. Returns the exit code."""
    before = _state(given, others)
    touched: Sequence[str] = given
    try:
        while True:
            if touched:
                _run([*words, *touched], whole)
            watched = sum(one is not None for one in before.values())
            print(f"mkeyspec: watching {count_of(watched, 'file')}; ^C ends", file=sys.stderr)
            now, changed = _change(before, given, others)
            names = ", ".join(os.path.relpath(path) for path in changed[:_NAMED])
            more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
            touched = _touched(given, changed, others, [*before, *now])
            what = "running again" if touched else "no case is touched"
            print(f"\nmkeyspec: changed: {names}{more}; {what}", file=sys.stderr)
            before = now
    except KeyboardInterrupt:
        print("\nmkeyspec: no longer watching", file=sys.stderr)
        return OK


def _change(before: State, given: Sequence[str], others: Iterable[Path]) -> tuple[State, list[Path]]:
    """Wait until a file differs from `before`, and until no more changes come; the new state and what differs."""
    now = before
    while True:
        time.sleep(BETWEEN)
        last, now = now, _state(given, others)
        if now == last and now != before:
            return now, sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))


def _state(given: Sequence[str], others: Iterable[Path]) -> State:
    """Of each file that counts: when it was changed, its size, its number; None of one that is not there."""
    found: State = {}
    waiting = [*_sources(given), *others]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        try:
            told = path.stat()
            found[path] = (told.st_mtime_ns, told.st_size, told.st_ino)
        except (OSError, ValueError):
            found[path] = None
            continue
        waiting += used_by(path)
    return found


def _sources(given: Sequence[str]) -> list[Path]:
    """The `.mks` files of what was named; a folder that is gone has none."""
    paths = [Path(word.split("::", 1)[0]) for word in given]
    folders = [path for path in paths if path.is_dir()]
    found = [Path(os.path.abspath(path)) for path in paths if path.suffix == SUFFIX]
    with contextlib.suppress(OSError, Unreadable):
        found += [Path(os.path.abspath(path)) for path in find_sources(folders, project_of(folders).root)]
    return found


def used_by(path: Path) -> list[Path]:
    """The files that a file uses by itself."""
    if path.suffix != SUFFIX:
        return []
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError:
        return []
    found = []
    for name in _USE.findall(text):
        if name.startswith(installed.PREFIX):
            library = installed.file_of(name)
            found += [] if library is None else [library[0]]
        elif "\0" not in name:
            found.append(Path(os.path.normpath(path.parent / name)))
    return found


def _touched(given: Sequence[str], changed: Sequence[Path], others: Iterable[Path], all: Sequence[Path]) -> list[str]:
    """What is run again: the named words whose file is changed or uses what is, and such files of named folders."""
    if set(changed) & set(others):
        return list(given)
    users: dict[Path, set[Path]] = {}
    for path in all:
        for used in used_by(path):
            users.setdefault(used, set()).add(path)
    reached, waiting = set(changed), list(changed)
    while waiting:
        for user in users.get(waiting.pop(), set()) - reached:
            reached.add(user)
            waiting.append(user)
    found: list[str] = []
    for word in given:
        path = Path(os.path.abspath(word.split("::", 1)[0]))
        if path.suffix == SUFFIX:
            found += [word] if path in reached and path.is_file() else []
        else:
            inside = sorted(one for one in reached if one.is_relative_to(path) and one in all)
            found += [os.path.relpath(one) for one in inside if one.suffix == SUFFIX and _runs(one, one in users)]
    return list(dict.fromkeys(found))


def _runs(path: Path, used: bool) -> bool:
    """Whether a file of a folder is run: it is there, and not a library, which others use and which has no case."""
    try:
        return path.is_file() and (not used or _CASE.search(path.read_text("utf-8", errors="replace")) is not None)
    except OSError:
        return False


def _run(words: Sequence[str], whole: bool) -> None:
    """One run, in a process that ends with this one; its failures are for the reader."""
    sys.stdout.flush()
    sys.stderr.flush()
    own = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1] if whole else [sys.executable, "-m", "mkeyspec"]
    parent = os.getpid()

    def bound() -> None:
        if not end_with(parent):
            os._exit(INTERNAL)

    try:
        process = subprocess.Popen([*own, "run", *words], start_new_session=True, preexec_fn=bound)
    except OSError as error:
        raise Failure("MKS0902", f"no process can be started: {error.strerror}") from None
    try:
        process.wait()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
