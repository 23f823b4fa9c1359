"""What the compiler made of files, kept in a folder for other processes that compile the same files.

Off unless `MKEYSPEC_COMPILED` names a folder, since what is read there is trusted as a generated module is. A file is
compiled again if one of the files that were read has other bytes, if a link leads elsewhere, and for another compiler,
ledger, root of the suite or version of Python. What has an error, or uses an installed package, is not kept. Warnings
are kept with it, so they are shown, denied and allowed as if it had been compiled just now.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mkeyspec.process.collector import no_collection
from mkeyspec.project.compiler_digest import compiler_digest

if TYPE_CHECKING:
    from mkeyspec.compiler.compile import Compiled

FOLDER = "MKEYSPEC_COMPILED"
"""The variable that names the folder."""


class Kept:
    """The place of one compiled source. `facts`: what else decides how it is compiled, beside the files that it reads:
    folders and the ledger."""

    def __init__(self, folder: Path, path: Path, *facts: str) -> None:
        self.path = Path(os.path.abspath(path))
        self.facts = (compiler_digest(), sys.version, *facts)
        name = hashlib.sha256("\0".join((str(self.path), *facts)).encode()).hexdigest()[:32]
        self.file = folder / f"{name}.compiled"

    def read(self) -> Compiled | None:
        """None: nothing is kept of the files as they are."""
        try:
            with no_collection(), self.file.open("rb") as stream:
                facts, inputs = pickle.load(stream)
                if facts != self.facts or inputs != [(asked, *_now(Path(asked))) for asked, _, _ in inputs]:
                    return None
                found: Compiled = pickle.load(stream)
        except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError, ValueError, TypeError):
            return None  # none, or of another version
        return found

    def write(self, compiled: Compiled) -> None:
        """Unless it has an error, or files changed while they were compiled."""
        loaded = compiled.loaded
        if compiled.suite is None or loaded is None or any(used.packaged for used in loaded.asked):
            return
        read = {str(one.path): _digest(one.raw) for one in loaded.inputs}
        inputs = [(str(asked), *_now(asked)) for asked in (self.path, *(used.asked for used in loaded.asked))]
        if any(read.get(real) != digest for _, real, digest in inputs):
            return
        with suppress(OSError):  # a folder that nobody may write to
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.file.parent, delete=False) as stream, no_collection():
                pickle.dump((self.facts, inputs), stream, pickle.HIGHEST_PROTOCOL)
                pickle.dump(compiled, stream, pickle.HIGHEST_PROTOCOL)
            Path(stream.name).replace(self.file)


def _now(asked: Path) -> tuple[str, str]:
    """Where a file is, links followed, and the checksum of its bytes."""
    real = os.path.realpath(asked)
    return real, _digest(Path(real).read_bytes())


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def kept(path: Path, *facts: str) -> Kept | None:
    """None: nothing is kept."""
    folder = os.environ.get(FOLDER)
    return Kept(Path(folder), path, *facts) if folder else None
