"""Judges mutants of the software NIC's C: one file compiled anew, the library linked, shipped rows run on it.

The objects are in a temporary folder. A mutant whose object is the same, byte by byte, means the same and is no mutant.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from mkeyspec.device.soft import softnic
from tests.mutants.c_source import CSource
from tests.mutants.mutant import ROOT, Mutant
from tests.mutants.verdict import Verdict

SOFTNIC = ROOT / "softnic"
FLAGS = ("-O1", "-g0", "-w", "-std=c11", "-D_GNU_SOURCE", "-fPIC", "-fvisibility=hidden", "-I.")
DEADLINE = 300.0
"""Seconds for the rows, whatever else this machine does."""
ROWS = (("--profile", "quick"), ("--shard", "5/96"))
"""What is run, one after the other, until a row fails."""


class Engine(ExitStack):
    """The objects of the software NIC. Used as a context, which has the temporary folder."""

    @cached_property
    def work(self) -> Path:
        return Path(self.enter_context(tempfile.TemporaryDirectory(prefix="mkeyspec-mutants-")))

    @cached_property
    def objects(self) -> dict[str, Path]:
        """By the file's path from softnic/."""
        found: dict[str, Path] = {}
        for path in softnic.sources(SOFTNIC):
            if path.suffix == ".c":
                name = str(path.relative_to(SOFTNIC))
                found[name] = self.work / f"{name.replace('/', '_')}.o"
                if not self._compile(path.read_text("utf-8"), name, found[name]):
                    raise RuntimeError(f"{name} does not compile")
        return found

    def _compile(self, text: str, name: str, to: Path) -> bool:
        """From the standard input, so that no object has the name of a file."""
        command = ["cc", *FLAGS, f"-iquote{Path(name).parent}", "-x", "c", "-c", "-o", str(to), "-"]
        return subprocess.run(command, cwd=SOFTNIC, input=text, text=True, capture_output=True).returncode == 0

    def sample(self, files: Sequence[str], number: int, seed: int) -> list[Mutant]:
        """So many that compile to something else, as many of each file as of the others."""
        draws = [CSource(file).drawn(random.Random(f"{seed} {file}")) for file in files]
        random.Random(seed).shuffle(draws)
        found: list[Mutant] = []
        while draws and len(found) < number:
            for draw in list(draws):
                mutant = next((each for each in draw if self.object(each) is not None), None)
                if mutant is None:
                    draws.remove(draw)
                elif len(found) < number:
                    found.append(mutant)
        return found

    def listed(self, keys: Sequence[tuple[str, str, str, str]]) -> list[Mutant]:
        files = sorted({key[0] for key in keys})
        return [mutant for file in files for mutant in CSource(file).all() if mutant.key in keys]

    def object(self, mutant: Mutant) -> Path | None:
        """None if it does not compile, or is the same as without the change."""
        name = mutant.module.removeprefix("softnic/")
        to = self.work / "mutant.o"
        if not self._compile(mutant.code, name, to) or to.read_bytes() == self.objects[name].read_bytes():
            return None
        return to

    def judge(self, mutants: Sequence[Mutant]) -> Iterator[Verdict]:
        """Raises RuntimeError if rows fail without a mutant."""
        library = self.work / softnic.NAME
        self._link(library, self.objects)
        for rows in ROWS:
            how = self._rows(library, rows)
            if how:
                raise RuntimeError(f"without a mutant, {how}")
        for mutant in mutants:
            changed = self.object(mutant)
            if changed is None:
                yield Verdict(mutant, "survived", "it compiles to the same")
                continue
            self._link(library, {**self.objects, mutant.module.removeprefix("softnic/"): changed})
            try:
                how = next((how for how in (self._rows(library, rows) for rows in ROWS) if how), "")
            except subprocess.TimeoutExpired:
                yield Verdict(mutant, "timed out", f"{DEADLINE:.0f} s")
            else:
                yield Verdict(mutant, "killed" if how else "survived", how or "its rows pass")

    def _link(self, library: Path, objects: dict[str, Path]) -> None:
        command = ["cc", "-shared", "-pthread", "-o", str(library), *map(str, objects.values())]
        subprocess.run(command, check=True, capture_output=True)

    def _rows(self, library: Path, rows: Sequence[str]) -> str:
        """What fails, or "". Raises subprocess.TimeoutExpired."""
        report = ("--junit", str(self.work / "junit.xml"))
        command = [sys.executable, "-m", "mkeyspec", "run", "cases", "--device", "soft", "-q", "-x", *rows, *report]
        environment = {**os.environ, "MKEYSPEC_SOFTNIC_LIBRARY": str(library)}
        with subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", start_new_session=True,
        ) as run:  # fmt: skip
            try:
                said, _ = run.communicate(timeout=DEADLINE)
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, signal.SIGKILL)
                raise
        if not run.returncode:
            return ""
        failed = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR", "cases/"))]
        return next(iter(failed), f"`mkeyspec run` ends with {run.returncode}")[:160]
