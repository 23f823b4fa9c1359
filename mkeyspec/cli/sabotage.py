"""`mkeyspec sabotage` on the command line: does the suite detect each fault, and does each case detect at least
one?"""

from __future__ import annotations

import argparse
import os
from typing import Any

from mkeyspec.cli.options import command
from mkeyspec.cli.session import Failure
from mkeyspec.cli.soft_process import start_on
from mkeyspec.cli.sources import project_root, sources_of
from mkeyspec.device.soft import preload

_HELP = "give a device one fault at a time, and see whether the cases notice"

_EXAMPLE = """\
example:
  $ mkeyspec sabotage -n 2                               # up to each fault's first kill
  $ mkeyspec sabotage --only crc32_polynomial copy_never
  $ mkeyspec sabotage --device soft --profile quick
  $ mkeyspec sabotage --matrix reports/matrix.json -n 2  # every case against every fault
  $ mkeyspec sabotage --device soft --matrix reports/soft.json --rows 5 -n 2
  $ mkeyspec sabotage --choose quick --from reports/matrix.json
  $ mkeyspec sabotage --conditions --sample 1000 --seed 1 -n 2  # faults that act under a condition only
  $ mkeyspec sabotage --conditions --device soft --sample 300 --seed 1 -n 2
  $ mkeyspec sabotage --claims -n 2                      # is each `verifies` supported by a fault of its entry?
Exit code: 0 if every fault was killed (with --matrix: and every case kills one; with --claims: every claim is
supported), 1 if not, 2 for wrong input, 3 if there are no cases."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    parser = command(commands, "sabotage", _sabotage, _HELP, _EXAMPLE)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: cases)")
    parser.add_argument("--device", default="model", metavar="NAME", help="model or soft (default: model)")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="only these faults; with --claims: entries"
    )
    parser.add_argument("-n", type=int, default=1, metavar="N", dest="workers", help="this many processes")
    parser.add_argument("--profile", metavar="NAME", help="only the cases of this profile, e.g. quick")
    parser.add_argument("--vary", metavar="S", help="each row once more, in other surroundings of this seed")
    parser.add_argument("--rows", type=int, metavar="N", help="N rows of each case, the others where they show nothing")
    parser.add_argument("--matrix", metavar="FILE", help="every case against every fault; FILE gets what kills what")
    parser.add_argument("--choose", metavar="NAME", help="write the profile NAME: few cases that kill every fault")
    parser.add_argument("--from", nargs="+", default=[], metavar="FILE", dest="matrices", help="matrices for --choose")
    parser.add_argument("--conditions", action="store_true", help="faults that act under a condition only")
    parser.add_argument("--sample", type=int, metavar="N", help="with --conditions or --claims: N of them")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="with --sample: which ones (default: 0)")
    parser.add_argument("--claims", action="store_true", help="whether each `verifies` is supported, on the model")
    parser.add_argument("--update", action="store_true", help="with --claims: write cases/claims.json")
    parser.add_argument("--list", action="store_true", help="name the faults, and run nothing")
    parser.add_argument("--device-profile", metavar="FILE", help="TOML: the device's implementation-defined points")
    parser.add_argument("--deadline", type=float, metavar="S", help="longest wait for anything, in seconds")
    parser.add_argument("--generated", metavar="DIR", help="where the modules are kept (default: generated/)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")


def _sabotage(options: argparse.Namespace) -> int:
    from mkeyspec.cli import sabotage_command

    project = project_root()
    if options.vary is not None and (options.claims or options.matrix is not None or options.choose is not None):
        raise Failure("MKS0905", "--vary: --claims, --matrix and --choose take the rows as they are written")
    if options.claims:
        return _claims(options)
    if options.update:
        raise Failure("MKS0905", "--update: say --claims, too")
    if options.conditions:
        return _conditions(options)
    if options.sample is not None:
        raise Failure("MKS0905", "--sample: say --conditions or --claims, too")
    if options.choose is not None:
        return sabotage_command.choose(options.choose, options.matrices, project)
    device = sabotage_command.device_named(options.device)
    faults = sabotage_command.faults_of(device, options.only)
    if options.list:
        return sabotage_command.show(faults, options.format)
    if options.rows is not None and options.rows < 1:
        raise Failure("MKS0905", f"--rows {options.rows}: at least one row of a case")
    if options.workers < 1:
        raise Failure("MKS0905", f"-n {options.workers}: at least one process")
    if device.kind == "soft":
        os.environ[preload.FAULT] = ""  # the library of faults, and none of them yet
    start_on(options.device, whole=options.whole)
    return sabotage_command.Command(options, device, faults, sources_of(options.paths), project).run()


def _conditions(options: argparse.Namespace) -> int:
    from mkeyspec.cli import sabotage_command, sabotage_conditions

    device = sabotage_command.device_named(options.device)
    faults = sabotage_conditions.wanted(options, device)
    if options.list:
        return sabotage_conditions.show(faults, options.format)
    if options.workers < 1:
        raise Failure("MKS0905", f"-n {options.workers}: at least one process")
    if device.kind == "soft":
        os.environ[preload.FAULT] = ""  # the library of faults, and none of them yet
    start_on(options.device, whole=options.whole)
    return sabotage_conditions.Conditions(options, device, faults, sources_of(options.paths), project_root()).run()


def _claims(options: argparse.Namespace) -> int:
    from mkeyspec.cli import sabotage_claims, sabotage_command

    device = sabotage_command.device_named(options.device)
    sabotage_claims.check(options, device)
    if options.workers < 1:
        raise Failure("MKS0905", f"-n {options.workers}: at least one process")
    return sabotage_claims.Claims(options, device, sources_of(options.paths), project_root()).run()
