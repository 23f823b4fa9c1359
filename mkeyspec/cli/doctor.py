"""`mkeyspec doctor` on the command line."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mkeyspec.cli import deep_check, path_options
from mkeyspec.cli.options import command
from mkeyspec.cli.session import FAILED, OK, Failure
from mkeyspec.cli.soft_process import start_on

_HELP = "say what this machine has for real NICs and the software NIC, and what to install"

_EXAMPLE = """\
example:
  $ mkeyspec doctor
  $ mkeyspec doctor --device mlx5_0           # opens it, and lists its capabilities
  $ mkeyspec doctor --device soft:cx5 --format json
  $ mkeyspec doctor --device mlx5_0 --deep    # tries on it what the cases take for granted, by a few rows
  $ mkeyspec doctor --lab lab.toml            # what answers in a lab, and what does not
  $ mkeyspec doctor --link-pyverbs            # the system's pyverbs into this virtual environment
Exit code: 0 if the named device opens, or all of a lab, or without one if `--device soft` can run; 1 if something is
missing; 2 for a wrong option. Of --link-pyverbs: 0 if pyverbs is there afterwards."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    parser = command(commands, "doctor", _doctor, _HELP, _EXAMPLE)
    parser.add_argument("--device", metavar="NAME", help="open this one: model, soft[:PERSONALITY] or mlx5_0[:PORT]")
    parser.add_argument("--allow-busy-port", action="store_true", help="also a port whose interface has an IP address")
    path_options.add(parser)
    parser.add_argument("--lab", metavar="FILE", help="ask each host, device and pair of this lab file")
    parser.add_argument("--trial", action="store_true", help="with --lab: this machine, with what `trial` keys name")
    parser.add_argument("--deep", action="store_true", help="with --device: try on it what the cases take for granted")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.add_argument("--link-pyverbs", action="store_true", help="link the system's pyverbs into this environment")


def _doctor(options: argparse.Namespace) -> int:
    if options.lab is not None:
        return _lab(options)
    if options.trial:
        raise Failure("MKS0905", "--trial is for a lab: name its file, --lab lab.toml")
    from mkeyspec.device.protocol import PathChoice
    from mkeyspec.device.verbs import device_lock
    from mkeyspec.doctor import findings, machine

    if options.deep and options.device is None:
        raise Failure("MKS0905", "--deep tries a device: name it, --device mlx5_0")
    if options.link_pyverbs:
        there, line = findings.link_pyverbs(machine.examine())
        print(f"mkeyspec: {line}", file=sys.stdout if there else sys.stderr)
        return OK if there else FAILED
    if options.device is not None:
        start_on(options.device, whole=options.whole)
    facts = machine.examine()
    found = findings.findings(facts)
    opened = None
    if options.device is not None:
        path = PathChoice(options.gid_index, options.path_mtu, options.peer)
        opened = findings.look_at(options.device, allow_busy_port=options.allow_busy_port, path=path)
        for note in device_lock.notes():
            print(f"mkeyspec: {note}", file=sys.stderr)
    fine = findings.healthy(found, opened)
    tried = _deep(options) if options.deep and fine else []
    if options.format == "json":
        deep = {"deep": deep_check.data(tried)} if options.deep else {}
        print(json.dumps(findings.data(facts, found, opened) | deep, indent=2))
    else:
        sys.stdout.write(findings.text(found, opened))
        sys.stdout.write(deep_check.text(options.device, tried) if tried else "")
    return OK if fine and not any(one.failing for one in tried) else FAILED


def _deep(options: argparse.Namespace) -> list[deep_check.Tried]:
    """With the options of the path as they were given to this command."""
    extra = ["--allow-busy-port"] if options.allow_busy_port else []
    extra += [f"--gid-index={options.gid_index}"] if options.gid_index is not None else []
    extra += [f"--path-mtu={options.path_mtu}"] if options.path_mtu is not None else []
    extra += [f"--peer={options.peer}"] if options.peer is not None else []
    return deep_check.check(options.device, extra)


def _lab(options: argparse.Namespace) -> int:
    from mkeyspec.lab.check import check, text_of
    from mkeyspec.lab.choose import lab_on_trial
    from mkeyspec.lab.file import read

    if options.device is not None or options.link_pyverbs:
        raise Failure("MKS0905", "--lab asks all devices of its file; leave --device and --link-pyverbs out")
    lab = read(Path(options.lab))
    answers = check(lab_on_trial(lab) if options.trial else lab)
    if options.format == "json":
        print(json.dumps({"healthy": not any(one.error for one in answers), "lab": [asdict(one) for one in answers]}))
    else:
        sys.stdout.write(text_of(answers))
    return FAILED if any(one.error for one in answers) else OK
