"""The cases that are shipped, and not those that somebody keeps beside them in the same checkout."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from mkeyspec import plan
from mkeyspec.compiler.compile import compile_file

ROOT = Path(__file__).resolve().parent.parent


def suites(root: Path = ROOT) -> list[Path]:
    """The `.mks` files under cases/ that git knows; all of them where there is no repository (an sdist)."""
    everything = sorted((root / "cases").rglob("*.mks"))
    if not (root / ".git").exists():
        return everything
    done = subprocess.run(["git", "-C", root, "ls-files", "-z", "cases"], capture_output=True, text=True, check=True)
    known = {root / name for name in done.stdout.split("\0")}
    return [path for path in everything if path in known]


def compiled(path: Path) -> plan.Suite:
    """The plan of a file, compiled once in a process: nothing changes a plan, and most tests want all of them."""
    return _compiled(path, path.stat().st_mtime_ns)


@cache
def _compiled(path: Path, changed: int) -> plan.Suite:
    found = compile_file(path)
    assert found.suite is not None, [str(one) for one in found.diagnostics]
    return found.suite
