"""The cases that are shipped, and not those that somebody keeps beside them in the same checkout."""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from mkeyspec import plan
from mkeyspec.compiler.compile import compile_file
from mkeyspec.process.collector import no_collection
from mkeyspec.project.compiler_digest import compiler_digest

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
    keep = KEPT / f"{hashlib.sha256(bytes(path)).hexdigest()[:16]}.pickle"
    suite = _kept(keep)
    if suite is not None:
        return suite
    found = compile_file(path)
    assert found.suite is not None, [str(one) for one in found.diagnostics]
    if found.loaded is not None and ANEW not in os.environ:
        inputs = {str(one.path): hashlib.sha256(one.raw).hexdigest() for one in found.loaded.inputs}
        _keep(keep, (compiler_digest(), inputs, found.suite))
    return found.suite


KEPT = ROOT / ".pytest_cache" / "plans"
"""Plans of earlier processes: reading one takes a tenth of the time of compiling it."""
ANEW = "MKEYSPEC_TESTS_COMPILE_ANEW"
"""Set where the compiler is not the one of the files, for example a mutant of it."""


def _kept(file: Path) -> plan.Suite | None:
    """The plan in a file, if this compiler made it from what is there now."""
    if ANEW in os.environ:
        return None
    try:
        with no_collection(), file.open("rb") as stream:
            compiler, inputs, suite = pickle.load(stream)
        if compiler != compiler_digest():
            return None
        same = all(hashlib.sha256(Path(name).read_bytes()).hexdigest() == digest for name, digest in inputs.items())
    except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError, ValueError, TypeError):
        return None  # none, or of another version
    return suite if same else None


def _keep(file: Path, what: object) -> None:
    with suppress(OSError):  # a checkout that nobody may write to
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as stream, no_collection():
            pickle.dump(what, stream, pickle.HIGHEST_PROTOCOL)
        Path(stream.name).replace(file)
