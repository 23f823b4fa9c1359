"""The head of a generated module: what it was made from. A stale or edited module is detected from its text."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

_FIRST = "# Compiled by mkeyspec "
_LINE = re.compile(r"# (source|used|inputs|compiler|warning|text) +(.+)")


@dataclass(frozen=True, slots=True)
class Header:
    """`source` and `used`: paths from the project's directory, with `/`, or names of files in installed packages
    (`files.installed`); the others are sha256 sums in hex.

    `inputs`: of the names and contents of those files; `compiler`: of mkeyspec itself. `warnings` of the compiler, one
    line each: they are shown also when the module is fresh and is not compiled again.
    """

    source: str
    used: tuple[str, ...]
    inputs: str
    compiler: str
    version: str
    warnings: tuple[str, ...] = ()

    def lines(self, text: str) -> list[str]:
        """The comment lines above `text`. Names are written as `repr`, so that none can end a comment."""
        return [
            f"{_FIRST}{self.version}. Do not edit: the next compile writes over it.",
            f"# source   {self.source!r}",
            *(f"# used     {name!r}" for name in self.used),
            f"# inputs   sha256 {self.inputs}",
            f"# compiler sha256 {self.compiler}",
            *(f"# warning  {line!r}" for line in self.warnings),
            f"# text     sha256 {digest_of_text(text)}",
        ]


def digest_of_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def digest_of_files(files: Iterable[tuple[str, bytes]]) -> str:
    """sha256 over (name, content) pairs, in order; lengths are hashed too, so that different lists differ."""
    sum = hashlib.sha256()
    for name, content in files:
        encoded = name.encode("utf-8", "surrogateescape")
        sum.update(f"{len(encoded)} {len(content)}\n".encode())
        sum.update(encoded)
        sum.update(content)
    return sum.hexdigest()


def with_header(header: Header, text: str) -> str:
    return "\n".join(header.lines(text)) + "\n" + text


def has_header(module: str) -> bool:
    """Whether a text begins as a generated module does, whatever became of the rest."""
    return module.startswith(_FIRST)


def read_header(module: str) -> Header | None:
    """The head of a generated module's text; None if it has none, or its text is not as it was written."""
    found: dict[str, list[str]] = {}
    end = 0
    while "text" not in found:  # the last one
        stop = module.find("\n", end)
        line = module[end:stop]
        if stop < 0 or not line.startswith("#"):
            break
        end = stop + 1
        match = _LINE.fullmatch(line)
        if match is not None:
            found.setdefault(match[1], []).append(match[2].removeprefix("sha256 "))
    try:
        (source,), (inputs,), (compiler,), (text,) = (found[key] for key in ("source", "inputs", "compiler", "text"))
        names = [ast.literal_eval(name) for name in (source, *found.get("used", ()))]
        warnings = tuple(str(ast.literal_eval(line)) for line in found.get("warning", ()))
    except (KeyError, ValueError, SyntaxError):
        return None
    if text != digest_of_text(module[end:]) or not all(isinstance(name, str) for name in names):
        return None
    version = module.partition("\n")[0].removeprefix(_FIRST).partition(". ")[0] if has_header(module) else ""
    return Header(names[0], tuple(names[1:]), inputs, compiler, version, warnings)
