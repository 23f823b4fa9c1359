"""Writes docs/man/mkeyspec.1, the man page, from the options of the command line itself.

python docs/make_man.py            writes it, if it differs
python docs/make_man.py --check    writes nothing; exit code 1 if it differs
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from mkeyspec import __version__
from mkeyspec.cli import entry

PAGE = Path(__file__).resolve().parent / "man" / "mkeyspec.1"

DESCRIPTION = """
mkeyspec compiles cases for mlx5 memory keys, written in a language of their own, to pytest modules, and runs them on a
device: the model, the software NIC, or a real one. Each command is described below; docs/ of the sources
describes the language.
"""
ENVIRONMENT = [
    ("NO_COLOR", "No colours, also at a terminal."),
    ("XDG_CACHE_HOME", "Where mkeyspec/ is, in which modules of the shipped cases are kept (default: ~/.cache)."),
    (
        "MKEYSPEC_COMPILED",
        "A folder. What the compiler makes is kept in it for other commands that read the same files.",
    ),
    ("MKEYSPEC_TRACEBACK", "With MKS0999, an error of mkeyspec itself, print Python's traceback."),
]
FILES = [
    ("mkeyspec.toml", "A project's defaults; found from what is named on the command line upwards."),
    ("cases/", "Where the cases are by default."),
    ("generated/", "The pytest modules. They can be deleted at any time."),
    ("reports/", "junit.xml, and a folder with the stream of results for each run."),
]


def text(said: str) -> str:
    """Text that troff takes as it is."""
    said = said.replace("\\", "\\e").replace("-", "\\-").replace("…", "...").replace("`", "\\(ga").replace("'", "\\(aq")
    said = said.replace("^", "\\(ha").replace("~", "\\(ti").replace('"', "\\(dq")
    said = f"\\&{said}" if said.startswith(".") else said
    return "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in said)


def paragraph(said: str) -> str:
    return text(" ".join(said.split()))


def literal(said: str) -> Iterator[str]:
    """Lines that stay as they are."""
    yield ".EX"
    for line in said.rstrip().split("\n"):
        yield text(line)
    yield ".EE"


def page() -> str:
    parser = entry._parser()
    exits = entry._EXITS.strip().split("\n")[1:]
    lines = [
        '.\\" Written by docs/make_man.py from the options of the command line.',
        f'.TH MKEYSPEC 1 "" "mkeyspec {__version__}" "User Commands"',
        ".SH NAME",
        "mkeyspec \\- check, compile and run cases for mlx5 memory keys",
        ".SH SYNOPSIS",
        ".B mkeyspec",
        ".I COMMAND",
        "[\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]",
        ".SH DESCRIPTION",
        paragraph(DESCRIPTION),
        ".SH OPTIONS",
        *_options(parser),
        ".SH COMMANDS",
    ]
    for name, command in _commands(parser):
        lines += _command(f"mkeyspec {name}", command)
    lines.append(".SH EXIT STATUS")
    for line in exits:
        code, _, meaning = line.strip().partition(" ")
        if code.isdigit():
            lines += [".TP", f".B {code}", paragraph(meaning)]
        else:
            lines.append(paragraph(line))
    for title, told in (("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)):
        lines.append(f".SH {title}")
        for word, meaning in told:
            lines += [".TP", f".B {text(word)}", paragraph(meaning)]
    lines += [".SH SEE ALSO"]
    others = ("mlx5dv_wr_mkey_configure", "mlx5dv_wr_post", "mlx5dv_wr_set_mkey_sig_block", "mlx5dv_mkey_check")
    lines += [",\n".join(f".BR {name} (3)" for name in others).replace(",\n", " ,\n")]
    return "\n".join(lines) + "\n"


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action.choices, dict):
            yield from action.choices.items()


def _command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    inner = list(_commands(parser))
    words = [text(_argument(action)) for action in parser._actions if not action.option_strings and not inner]
    options = [action for action in parser._actions if action.option_strings and action.help != argparse.SUPPRESS]
    if len(options) > 1 and not inner:  # more than --help
        words.insert(0, "[\\fIOPTION\\fR...]")
    yield f".SS {text(name)}"
    yield f"\\fB{text(name)}\\fR {' '.join(words)}".rstrip() if not inner else f"\\fB{text(name)}\\fR \\fICOMMAND\\fR"
    yield ".PP"
    yield paragraph(parser.description or "")
    yield from _options(parser)
    if parser.epilog:
        yield ".PP"
        yield from literal(parser.epilog)
    for word, command in inner:
        yield from _command(f"{name} {word}", command)


def _argument(action: argparse.Action) -> str:
    name = action.metavar if isinstance(action.metavar, str) else action.dest
    many = {"*": f"[{name} ...]", "?": f"[{name}]", "+": f"{name} ..."}
    return many.get(str(action.nargs), name)


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    formatter = parser._get_formatter()
    for action in parser._actions:
        if (
            action.help in (None, argparse.SUPPRESS)
            or isinstance(action.choices, dict)
            or "-h" in action.option_strings
        ):
            continue
        value = ""
        if action.nargs != 0:
            choices = (
                "{" + ",".join(map(str, action.choices)) + "}" if action.choices is not None else action.dest.upper()
            )
            value = f" {action.metavar or choices}"
        names = [f"\\fB{text(name)}\\fR" for name in action.option_strings]
        yield ".TP"
        yield f"{', '.join(names)}\\fI{text(value)}\\fR" if names else f"\\fI{text(value.strip())}\\fR"
        yield paragraph(formatter._expand_help(action))


def stale() -> bool:
    return not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page()


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    if not stale():
        return 0
    print(f"{PAGE.parent.name}/{PAGE.name}")
    if arguments:
        return 1
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
