"""One source of a project, compiled by itself; nothing is written."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mkeyspec.files.suite_root import suite_root
from mkeyspec.project.kept import kept
from mkeyspec.requirements.own import own_ledger

if TYPE_CHECKING:
    from mkeyspec.compiler.compile import Compiled
    from mkeyspec.compiler.warning_levels import Levels

_CODE = re.compile(r"MKS\d{4}")


def warnings_of(compiled: Compiled) -> tuple[str, ...]:
    """The warnings of a file that has a suite: `cases/a.mks:4:9: warning[MKS0602]: …` each, in order."""
    from mkeyspec.diagnostics.render import one_line

    if compiled.suite is None:
        return ()
    return tuple(one_line(found) for found in compiled.diagnostics if found.severity == "warning")


def code_of(line: str) -> str:
    """The code in a line of `warnings_of`."""
    code = _CODE.search(line)
    return "" if code is None else code[0]


def at_levels(compiled: Compiled, levels: Levels) -> Compiled:
    """`compiled`, with warnings dropped or made errors as a command line says; with an error there is no suite."""
    from mkeyspec.compiler.warning_levels import settle

    diagnostics = settle(compiled.diagnostics, None, levels)
    suite = None if diagnostics.errors else compiled.suite
    return replace(compiled, suite=suite, diagnostics=diagnostics)


def compile_source(path: Path, project: Path, stronger: int = 0, instead: bytes | None = None) -> Compiled:
    """Compile one source; nothing is written. Files are named from the project, whatever the suite's root.

    `instead`: bytes that are read in place of those of the file. What was compiled already may be kept (`kept`).
    """
    own = own_ledger(path.parent)
    root = suite_root(path, project)
    place = None if instead is not None else kept(path, str(project), str(root), str(stronger), own.digest)
    found = None if place is None else place.read()
    if found is not None:
        return found
    from mkeyspec.compiler.compile import compile_file

    compiled = compile_file(path, root=root, base=project, stronger=stronger, own=own.entries, instead=instead)
    if place is not None:
        place.write(compiled)
    return compiled
