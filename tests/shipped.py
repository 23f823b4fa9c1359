"""The cases that are shipped, and not those that somebody keeps beside them in the same checkout."""

from __future__ import annotations

import os
import subprocess
from functools import cache
from pathlib import Path

import pytest

from mkeyspec import plan
from mkeyspec.process import collector
from mkeyspec.project import kept
from mkeyspec.project.source import compile_source

ROOT = Path(__file__).resolve().parent.parent


def suites(root: Path = ROOT) -> list[Path]:
    """The `.mks` files under cases/ that git knows; all of them where there is no repository (an sdist)."""
    everything = sorted((root / "cases").rglob("*.mks"))
    if not (root / ".git").exists():
        return everything
    done = subprocess.run(["git", "-C", root, "ls-files", "-z", "cases"], capture_output=True, text=True, check=True)
    known = {root / name for name in done.stdout.split("\0")}
    return [path for path in everything if path in known]


WHOLE = "MKEYSPEC_TESTS_WHOLE"
"""Set where a test of the text of all files is to look at all of them."""


def some(paths: list[Path], every: int) -> list[Path]:
    """Every so many of the files, all where the environment has MKEYSPEC_TESTS_WHOLE: they are much alike."""
    return paths if WHOLE in os.environ else paths[::every]


def compiled(path: Path) -> plan.Suite:
    """The plan of a file, compiled once in a process: nothing changes a plan, and most tests want all of them."""
    return _compiled(path, path.stat().st_mtime_ns)


@cache
def _compiled(path: Path, changed: int) -> plan.Suite:
    with pytest.MonkeyPatch.context() as keeping:
        if ANEW in os.environ:
            keeping.delenv(kept.FOLDER, raising=False)
        else:
            keeping.setenv(kept.FOLDER, str(KEPT))
        found = compile_source(path, ROOT)
    assert found.suite is not None, [str(one) for one in found.diagnostics]
    collector.freeze()  # it stays as long as the process, and looking through all plans takes seconds
    return found.suite


KEPT = ROOT / ".pytest_cache" / "plans"
"""Plans of earlier processes: reading one takes a tenth of the time of compiling it. `.ci/run` puts those here that
`make run` has made."""
ANEW = "MKEYSPEC_TESTS_COMPILE_ANEW"
"""Set where the compiler is not the one of the files, for example a mutant of it."""
