"""`mkeyspec softnic exec` and `mkeyspec softnic trace`: any program on the software NIC.

The program replaces this process, so it has this process's terminal, and its signals and exit code are not changed. A
child has the library preloaded as well.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

from mkeyspec.cli.options import command
from mkeyspec.cli.session import Failure

_HELP = "run a program on the software NIC"

_EXAMPLE = """\
example:
  $ mkeyspec softnic exec -- ibv_devinfo
  $ mkeyspec softnic exec --personality cx5 -- python3 my_test.py
  $ mkeyspec softnic exec --fabric one -- ibv_rc_pingpong &
  $ mkeyspec softnic exec --fabric one -- ibv_rc_pingpong localhost
  $ mkeyspec softnic trace -- python3 my_test.py                    # every WQE and CQE, on stderr
  $ mkeyspec softnic trace --json -o wqes.jsonl -- python3 my_test.py
Exit code: the program's; 2 if it could not be started."""

_FABRIC = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    parser = command(commands, "softnic", _exec, _HELP, _EXAMPLE)
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for name, function, help in (
        ("exec", _exec, "run a program on the software NIC"),
        ("trace", _trace, "run a program on it, and print every WQE and CQE, decoded"),
    ):
        verb = command(verbs, name, function, help, _EXAMPLE)
        if name == "trace":
            verb.add_argument("--json", action="store_true", help="one JSON object a line instead of text")
            verb.add_argument("-o", "--output", metavar="FILE", help="where to (default: stderr); emptied first")
        verb.add_argument("--personality", metavar="P", default=None, help="a device's name or a TOML file (connectx7)")
        verb.add_argument("--fabric", metavar="NAME", help="programs of one fabric reach one another")
        verb.add_argument("words", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the program and its arguments")


def _exec(options: argparse.Namespace) -> int:
    _replace(_words(options), _environment(options))


def _trace(options: argparse.Namespace) -> int:
    words = _words(options)  # before a file is emptied for nothing
    variables = {"MKEYSPEC_SOFTNIC_TRACE": "-", "MKEYSPEC_SOFTNIC_TRACE_FORMAT": "json" if options.json else "text"}
    environment = _environment(options)
    if options.output not in (None, "-"):
        path = Path(options.output).absolute()
        try:
            path.write_bytes(b"")
        except OSError as error:
            raise Failure("MKS0902", f"{options.output}: {error.strerror}") from None
        variables["MKEYSPEC_SOFTNIC_TRACE"] = str(path)
    _replace(words, environment | variables)


def _words(options: argparse.Namespace) -> list[str]:
    """The program, found on PATH, and its arguments as given."""
    words: list[str] = list(options.words)
    if words[:1] == ["--"]:
        del words[0]
    if not words:
        raise Failure("MKS0912", "no program was given: mkeyspec softnic exec -- ibv_devinfo")
    if shutil.which(words[0]) is None:
        path = Path(words[0])
        if words[0].startswith("-"):
            advice = "options come before `--`, the program after it"
        elif os.sep not in words[0]:
            advice = "name a program that is on PATH, or its path"
        elif path.is_dir():
            advice = "it is a directory"
        else:
            advice = "it is not executable" if path.exists() else "no such file"
        raise Failure("MKS0912", f"{words[0]} cannot be run: {advice}")
    return words


def _environment(options: argparse.Namespace) -> dict[str, str]:
    """The program's environment: that of this process, and the variables of the software NIC."""
    from mkeyspec.device.protocol import Unavailable
    from mkeyspec.device.soft import preload

    try:
        environment = preload.environment(options.personality)
    except Unavailable as error:
        raise Failure(error.code, str(error).removeprefix(f"error[{error.code}]: ")) from None
    if options.fabric is not None:
        if not _FABRIC.fullmatch(options.fabric):
            raise Failure("MKS0912", f"a fabric is 1 to 64 letters, digits, `_`, `.` and `-`, not {options.fabric!r}")
        environment["MKEYSPEC_SOFTNIC_FABRIC"] = options.fabric
    return environment


def _replace(words: list[str], environment: dict[str, str]) -> NoReturn:
    sys.stdout.flush()
    sys.stderr.flush()
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python, and what is ignored stays so in the program
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvpe(words[0], words, environment)
    except OSError as error:
        raise Failure("MKS0912", f"{words[0]} cannot be run: {error.strerror}") from None
