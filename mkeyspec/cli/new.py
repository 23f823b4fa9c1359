"""`mkeyspec new`: a first case, from options or from answers at a terminal."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mkeyspec.cli.first_case import BLOCK_KINDS, BLOCKS, DIRECTIONS, KINDS, Answers, text_of
from mkeyspec.cli.options import command
from mkeyspec.cli.session import INTERRUPTED, OK, Failure
from mkeyspec.files.project import SUFFIX
from mkeyspec.files.unwritable import Unwritable

_EXAMPLE = """\
example:
  $ mkeyspec new cases/mine.mks                             # asks
  $ mkeyspec new cases/mine.mks --kind crc --direction receive --block 4096
  $ mkeyspec new cases/mine.mks --kind xts --negative       # a refusal
  $ mkeyspec check cases/mine.mks && mkeyspec run cases/mine.mks
At a terminal what no option says is asked for; the beginning of an answer is enough. Elsewhere --kind is needed.
Exit code: 0 if the file is written, 2 if it is there or can't be, 130 if the questions are interrupted."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    new = command(commands, "new", _new, "a first case, from options or a few questions", _EXAMPLE)
    new.add_argument("file", metavar="FILE", help="the .mks file that is written; there must be none")
    new.add_argument("--kind", metavar="KIND", help=f"what the case is about: {', '.join(KINDS)} (crc: CRC32C)")
    new.add_argument("--direction", metavar="DIRECTION", help="transmit or receive (default: transmit)")
    sizes = ", ".join(map(str, BLOCKS))
    new.add_argument("--block", metavar="N", help=f"bytes of a block or data unit: {sizes} (default: 512)")
    sign = new.add_mutually_exclusive_group()
    sign.add_argument("--negative", action="store_const", const="yes", help="a refusal, or an error that is reported")
    sign.add_argument("--positive", action="store_const", const="no", dest="negative", help="what works (default)")


def _new(options: argparse.Namespace) -> int:
    path = Path(options.file)
    if path.suffix != SUFFIX:
        raise Failure("MKS0957", f"{path} is no {SUFFIX} file: call it {path.name or 'mine'}{SUFFIX}")
    if os.path.lexists(path):
        raise Failure("MKS0957", f"{path} is there, and nothing is overwritten: name another file")
    try:
        answers = _answers(options)
    except (KeyboardInterrupt, EOFError):
        print("\nmkeyspec: nothing is written", file=sys.stderr)
        return INTERRUPTED
    from mkeyspec.formatter.format import formatted

    text = formatted(text_of(answers, path.stem))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unwritable(path.parent, error, "FILE") from None
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise Failure("MKS0957", f"{path} is there, and nothing is overwritten: name another file") from None
    except OSError as error:
        raise Unwritable(path, error, "FILE") from None
    name = shlex.quote(str(path))
    print(f"{path}: case {answers.name}")
    print("\n".join(f"  mkeyspec {verb} {name}" for verb in ("check", "run", "draw")))
    return OK


def _answers(options: argparse.Namespace) -> Answers:
    """Of the options, else of the questions. Raises Failure for a wrong one, EOFError where the questions end early."""
    ask = sys.stdin is not None and sys.stdin.isatty()
    if options.kind is None and not ask:
        raise Failure("MKS0957", f"there is no terminal to ask at: name --kind, one of {', '.join(KINDS)}")
    kind = _one("kind", options.kind, KINDS, "plain", ask)
    direction = _one("direction", options.direction, DIRECTIONS, "transmit", ask)
    sizes = [str(size) for size in BLOCKS]
    blocks = kind in BLOCK_KINDS
    block = _one("block", options.block, sizes, "512", ask and blocks)
    if options.block is not None and not blocks:
        raise Failure("MKS0957", f"--block: {kind} has no blocks")
    negative = _one("negative", options.negative, ("no", "yes"), "no", ask)
    return Answers(kind, direction, int(block), negative == "yes")


def _one(what: str, given: str | None, choices: Sequence[str], default: str, ask: bool) -> str:
    """The choice that is meant: of an option, or of an answer, which is asked for again if it is none."""
    if given is not None:
        found = _meant(given, choices)
        if len(found) != 1:
            raise Failure("MKS0957", f"--{what}: {_wrong(given, found, choices)}")
        return found[0]
    if not ask:
        return default
    question = {
        "kind": "What is it about?",
        "direction": "Which way do the bytes go?",
        "block": "How many bytes has a block?",
        "negative": "Is something refused or reported?",
    }[what]
    while True:
        said = input(f"{question} {', '.join(choices)} [{default}] ").strip().lower()
        found = _meant(said, choices) if said else [default]
        if len(found) == 1:
            return found[0]
        print(_wrong(said, found, choices))


def _meant(said: str, choices: Sequence[str]) -> list[str]:
    """Those that begin so, or are it."""
    said = said.strip().lower()
    return [said] if said in choices else [one for one in choices if said and one.startswith(said)]


def _wrong(said: str, found: Sequence[str], choices: Sequence[str]) -> str:
    if found:
        return f"{said!r} may be {' or '.join(found)}"
    return f"{said!r} is none of {', '.join(choices)}"
