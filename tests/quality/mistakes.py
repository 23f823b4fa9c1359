"""A user's mistake that `mkeyspec check` does not know, and for which a right device is blamed.

`python -m tests.quality.mistakes`. The text of a shipped case is changed in one point. What `check` passes without an
error or a warning is run on the model. It may fail there, since bytes that the author expects may be wrong now. But no
request may be refused or fail without a claim, and nothing that the rig waits for may stay away: then `check` lacks a
rule, or the model is wrong. `legal_mistakes.toml` lists what is red nevertheless, with its reason.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mkeyspec.compiler.compile import compile_file
from tests.quality.subject import ROOT, Bench, Row, match
from tests.shipped import suites

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).with_name("legal_mistakes.toml")
BLAMED = re.compile(r"MKS2001 .*nothing claims it|MKS2005 .*should succeed|MKS2004 |MKS2007 |MKS2110 |^blocked|Error: ")
"""Verdicts that are no matter of expected bytes, nor of an event that the author awaits (MKS2006)."""
DECLARED = re.compile(r"^\s+(?:peer )?(memory|mkey|qp|dek|dct|pd) (\w+)")
FLAGS = ("fence", "signaled", "inline", "solicited", "nowait")
TYPES = ("uc", "ud", "dci")
ROWS = 2
"""Of a changed case, drawn."""


@dataclass(frozen=True, slots=True)
class Block:
    """A case of a file: its lines are [start, end) of the file's."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mistake:
    """`lines`: of the case, changed; `what`: the line that was changed, and what it is now."""

    kind: str
    lines: tuple[str, ...]
    what: str


@dataclass(frozen=True, slots=True)
class Found:
    kind: str
    case: str
    what: str
    text: str

    def __str__(self) -> str:
        return f"{self.case}: {self.kind}: {self.what}\n    {self.text}"


@dataclass(slots=True)
class Result:
    tried: Counter[str] = field(default_factory=Counter)
    silent: Counter[str] = field(default_factory=Counter)
    found: list[Found] = field(default_factory=list)

    def add(self, other: Result) -> None:
        self.tried += other.tried
        self.silent += other.silent
        self.found += other.found


def blocks(lines: Sequence[str]) -> list[Block]:
    """The cases of a file."""
    heads = [at for at, line in enumerate(lines) if line[:1].strip() and not line.startswith("#")] + [len(lines)]
    pairs = itertools.pairwise(heads)
    return [Block(lines[at].split()[1], at, end) for at, end in pairs if lines[at].startswith("case ")]


def alone(lines: Sequence[str], block: Block, case: Sequence[str]) -> str:
    """The text of the file with one case, in the lines where it was."""
    kept = list(lines)
    for other in blocks(lines):
        kept[other.start : other.end] = [""] * (other.end - other.start)
    kept[block.start : block.end] = case
    return "\n".join(kept) + "\n"


def statements(case: Sequence[str]) -> list[tuple[int, int]]:
    """The lines of each statement, with what is indented below it or closes it."""
    found: list[tuple[int, int]] = []
    at = 1
    while at < len(case):
        indent = len(case[at]) - len(case[at].lstrip())
        end = at + 1
        while end < len(case) and (
            len(case[end]) - len(case[end].lstrip()) > indent or case[end].strip() in ("}", "]")
        ):
            end += 1
        if case[at].strip() and not case[at].lstrip().startswith(('"', "#", "verifies", "needs", "for ", "allow")):
            found.append((at, end))
        at = end
    return found


def mistakes(case: Sequence[str]) -> Iterator[Mistake]:
    """Every mistake in a case that is known here."""
    whole = statements(case)
    for (at, end), (after, last) in itertools.pairwise(whole):
        swapped = (*case[:at], *case[after:last], *case[end:after], *case[at:end], *case[last:])
        yield Mistake("exchanged", swapped, f"{case[after].strip()} | {case[at].strip()}")
    for at, end in whole:
        yield Mistake("dropped", (*case[:at], *case[end:]), case[at].strip())
    objects: dict[str, list[str]] = {}
    for line in case:
        if (declared := DECLARED.match(line)) is not None:
            objects.setdefault(declared[1], []).append(declared[2])
    for at, end in whole:
        for number in range(at, end):
            for kind, line in _changed(case[number], objects, number == at):
                text = f"{case[number].strip()} -> {line.strip()}"
                yield Mistake(kind, (*case[:number], line, *case[number + 1 :]), text)


def is_meant(line: str, at: int) -> bool:
    """Whether the place is behind `but`: what is set wrong there is meant, and the run shows what happens."""
    return " but " in line[:at]


def _changed(line: str, objects: dict[str, list[str]], first: bool) -> Iterator[tuple[str, str]]:
    """The changes of one line. `first`: of its statement."""
    declares = DECLARED.match(line) is not None
    indent, text = line[: len(line) - len(line.lstrip())], line.lstrip()
    if text.startswith("#") or not text:
        return
    if first:
        yield "other_side", indent + (text.removeprefix("peer ") if text.startswith("peer ") else f"peer {text}")
    for names in objects.values() if not declares else ():
        for one in re.finditer(r"\b\w+\b", line):
            for other in names if one[0] in names and line[one.end() :][:1] != "=" else ():
                if other != one[0]:
                    yield "other_object", line[: one.start()] + other + line[one.end() :]
    for one in re.finditer(r"(?<![\w.])\d+(?!\w)", line):
        for number in (int(one[0]) + 1, int(one[0]) - 1) if not is_meant(line, one.start()) else ():
            if number >= 0:
                yield "other_number", line[: one.start()] + str(number) + line[one.end() :]
    for flag in FLAGS:
        if (given := re.search(rf",? {flag}\b", line)) is not None:
            yield "flag_dropped", line[: given.start()] + line[given.end() :]
        elif re.match(r"(peer )?(send|write|read|fetch_add|compare_swap|memcpy|configure)\b", text):
            yield "flag_added", f"{line}, {flag}"
    for one in re.finditer(r"(\w+) \| (\w+)", line):
        yield "right_dropped", line[: one.start()] + one[1] + line[one.end() :]
        yield "right_dropped", line[: one.start()] + one[2] + line[one.end() :]
    if (queue := re.match(r"(\s+qp \w+)( \{ )?", line)) is not None and "type " not in line:
        for name in TYPES:
            rest = line[queue.end() :]
            yield "other_type", f"{queue[1]} {{ type {name}; send_ops []{'; ' + rest if queue[2] else ' }' + rest}"
    if (key := re.match(r"(\s+mkey \w+) \{ .* \}(.*)", line)) is not None:
        yield "flag_dropped", key[1] + key[2]


def judge(path: Path, lines: Sequence[str], block: Block, mistake: Mistake, seed: int) -> tuple[bool, Found | None]:
    """Whether `check` passes it in silence, and what the model is blamed for."""
    text = alone(lines, block, mistake.lines)
    done = compile_file(path, instead=text.encode())
    if done.suite is None or len(list(done.diagnostics)):
        return False, None
    found = [Row(done.suite.source, one, row, turn) for one in done.suite.cases for turn, row in enumerate(one.rows)]
    name = f"{path.relative_to(ROOT).as_posix()}::{block.name}"
    for row in random.Random(f"{seed} {name}").sample(found, min(ROWS, len(found))):
        outcome = Bench(deadline=0.05).run(row)
        if not outcome.green and BLAMED.search(outcome.text):
            return True, Found(mistake.kind, name, mistake.what, f"line {outcome.line}: {outcome.text}")
    return True, None


def reasons() -> list[dict[str, str]]:
    """What is red nevertheless: `case`, `what` (patterns), `reason`."""
    entries: list[dict[str, str]] = tomllib.loads(FILE.read_text("utf-8")).get("known", [])
    return entries


def is_known(found: Found) -> bool:
    return any(match(one["case"], found.case) and match(one["text"], found.text) for one in reasons())


def look(path: Path, each: int, seed: int, pattern: str = "*") -> Result:
    """The mistakes in the cases of a file: `each` of each case, drawn (0: all)."""
    lines = path.read_text("utf-8").splitlines()
    result = Result()
    for block in blocks(lines):
        if not match(pattern, block.name):
            continue
        some = list(mistakes(lines[block.start : block.end]))
        if each and len(some) > each:
            some = random.Random(f"{seed} {path.name} {block.name}").sample(some, each)
        for mistake in some:
            result.tried[mistake.kind] += 1
            silent, found = judge(path, lines, block, mistake, seed)
            result.silent[mistake.kind] += silent
            if found is not None and not is_known(found):
                result.found.append(found)
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.quality.mistakes", description=__doc__.split("\n")[0])
    parser.add_argument("--each", type=int, default=0, help="so many of each case, drawn (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default 1)")
    parser.add_argument("--case", default="*", help="only cases whose name matches it")
    parser.add_argument("-n", type=int, default=1, dest="workers", help="processes")
    parser.add_argument("paths", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    files = [one for path in options.paths for one in ([path] if path.is_file() else sorted(path.rglob("*.mks")))]
    items = [(path.resolve(), options.each, options.seed, options.case) for path in files or suites()]
    whole = Result()
    with multiprocessing.get_context("fork").Pool(options.workers) as pool:
        for result in pool.starmap(look, items, 1):
            whole.add(result)
    print(*whole.found, sep="\n")
    for kind in sorted(whole.tried):
        red = sum(one.kind == kind for one in whole.found)
        print(
            f"{kind}: {whole.tried[kind]} tried, {whole.silent[kind]} without a word of check, {red} blame the device"
        )
    print(f"mistakes: {whole.tried.total()} tried, {whole.silent.total()} silent, {len(whole.found)} blame the device")
    return bool(whole.found)


if __name__ == "__main__":
    sys.exit(main())
