"""`mkeyspec run`: compile, run, and leave a JUnit report."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mkeyspec.cli import generate, lab_run, path_options, soft_process, warning_options
from mkeyspec.cli.distribution import distributed
from mkeyspec.cli.isolation import isolates
from mkeyspec.cli.options import add_generated, add_paths, command, path_or_none
from mkeyspec.cli.session import Failure, run_session
from mkeyspec.cli.sources import be_a_source, default_paths
from mkeyspec.cli.watch import watch
from mkeyspec.files.project import PACKAGE, SUFFIX, find_sources, project_of, real_path
from mkeyspec.files.settings import Settings
from mkeyspec.project.settings import checked_settings
from mkeyspec.report.place import FILE, run_name
from mkeyspec.syntax.labels import LEVELS

_EXAMPLE = """\
example:
  $ mkeyspec run cases
  $ mkeyspec run 'cases/signature/crc.mks::published_values' -x
  $ mkeyspec run --shipped --profile quick   # of an installation, without a checkout
  $ mkeyspec run pkg:mkeyspec/signature
  $ mkeyspec run cases -n 2 -k 'crc32c and not peer_read' --durations=5
  $ mkeyspec run cases --watch               # again after each change of a file, until ^C
  $ mkeyspec run cases --lab lab.toml --group nightly      # on each device of a lab
  $ mkeyspec run cases --vary 42             # each row with other things around it
  $ mkeyspec run --generate 100 --seed 42    # cases that are drawn, not those of files
Options that are not listed here are pytest's; write their values as --option=value or -oVALUE.
Exit code: 0 if something ran and nothing went wrong, 1 if a row failed, was blocked or was lost, 2 for
errors in a .mks file or an option, 3 if nothing ran, 4 if mkeyspec or pytest failed."""


_LOGS = frozenset({"--debug", "--log-file"})
"""Options of pytest that name a file which it writes over."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    run = command(commands, "run", _run, "compile, run, and leave a JUnit report", _EXAMPLE)
    add_paths(run)
    add_generated(run)
    warning_options.add(run)
    lab_run.add(run)
    run.add_argument("--device", metavar="NAME", help="model, soft[:PERSONALITY] or mlx5_0[:PORT] (default: model)")
    run.add_argument("--allow-busy-port", action="store_true", help="also a port whose interface has an IP address")
    run.add_argument("--wait-for-device", metavar="S", help="how long to wait for a device that another run has")
    path_options.add(run)
    run.add_argument("--device-profile", metavar="FILE", help="TOML file: the device's implementation-defined points")
    run.add_argument("--expectations", metavar="FILE", action="append", default=[], help="known departures; repeatable")
    run.add_argument("--waivers", metavar="FILE", action="append", default=[], help="rows known to fail; repeatable")
    run.add_argument("--require", metavar="NAME", action="append", default=[], help="a capability that must be there")
    run.add_argument("--deadline", metavar="S", help="longest wait for anything, in seconds")
    quarantine = "no further row for a device that N rows have wedged or crashed (default: 3), or off"
    run.add_argument("--quarantine", metavar="N", help=quarantine)
    soak = "the rows again and again for so long, in another order each time; leaks fail the run"
    run.add_argument("--soak", metavar="MINUTES", help=soak)
    run.add_argument("--soak-seed", metavar="S", help="what the orders of --soak follow from (default: 0)")
    run.add_argument("--profile", metavar="NAME", help="the cases of cases/NAME.toml, e.g. quick, deep")
    run.add_argument("--shipped", action="store_true", help=f"the cases that mkeyspec ships with: {PACKAGE}")
    generate.add_drawing(run)
    vary = "each row in other surroundings, drawn from S and its id: keys, histories, requests beside it, flags"
    run.add_argument("--vary", metavar="S", help=vary)
    run.add_argument("--row-ids", metavar="FILE", help=argparse.SUPPRESS)
    run.add_argument("--fault", "--defect", metavar="NAME", help=argparse.SUPPRESS)
    junit = ("--junit", "--junitxml", "--junit-xml")  # pytest's names for it too
    run.add_argument(*junit, metavar="FILE", help="where the report goes (default: reports/junit.xml)")
    where = "where the stream of results goes (default: reports/RUN/results.ndjson)"
    run.add_argument("--results", metavar="FILE", help=where)
    run.add_argument("--bundle", metavar="FILE", help="keep what is observed, for `mkeyspec judge`")
    run.add_argument("--watch", action="store_true", help="run again what a change of a file touches, until ^C")
    run.add_argument("-n", metavar="N", dest="workers", help="this many processes, or auto")
    run.add_argument("--shard", metavar="K/N", help="the K-th of N parts, as 1/3")
    balance = "results of an earlier run: --shard makes parts that take as long; repeatable"
    run.add_argument("--balance", metavar="FILE", action="append", default=[], help=balance)
    tags = "only cases with this tag; repeatable: with any of them"
    run.add_argument("--tag", metavar="NAME", action="append", default=[], help=tags)
    run.add_argument(
        "--level", choices=LEVELS, action="append", default=[], help="only cases of this level; repeatable"
    )
    run.add_argument("-k", metavar="EXPR", help="only cases that match, e.g. 'crc32c and not write' or CRC-02")
    run.add_argument("-m", metavar="MARK", help="only cases with this mark, e.g. negative")
    run.add_argument("-x", action="store_true", help="stop at the first failure")
    run.add_argument("-v", action="count", default=0, help="one line a case")
    run.add_argument("-q", action="count", default=0, help="say less")
    run.set_defaults(passes_on=True)  # what it does not know are options of pytest


def _run(options: argparse.Namespace) -> int:
    if options.lab is not None:
        if generate.drawing_of(options) is not None:
            raise Failure("MKS0905", "--generate and --lab: drawn cases are for one device")
        return lab_run.run(options)
    lab_run.refuse_without_lab(options)
    if options.vary is not None and options.bundle is not None:
        raise Failure("MKS0905", "--vary and --bundle: `mkeyspec judge` takes the rows as they are written")
    arguments = list(options.rest)
    for name, _, value in (word.partition("=") for word in arguments):
        if name in _LOGS and value.endswith(SUFFIX):
            raise Failure("MKS0902", f"{value} would be a {SUFFIX} file, and no log: name the log after {name}")
    warning_options.levels(options, Settings())  # those of the project are added where the cases are compiled
    arguments += [f"--allow={code}" for code in options.allow] + [f"--deny={code}" for code in options.deny]
    drawn = generate.drawing_of(options)
    if options.watch:
        if drawn is not None:
            raise Failure("MKS0905", "--watch is for cases of files, --generate draws its own")
        return _watch(options)
    if drawn is not None:
        return drawn.run(lambda paths, more: _session(options, paths, [*arguments, *more]))
    if options.shipped and options.paths:
        raise Failure("MKS0905", f"--shipped takes no path: for some of the cases write {PACKAGE}/signature")
    paths = [PACKAGE] if options.shipped else options.paths
    return _session(options, [real_path(path) for path in paths] or default_paths(), arguments)


def _watch(options: argparse.Namespace) -> int:
    """Run again after each change. Raises Failure for a path that is not there now."""
    named = list(options.paths)
    words = [word for word in options.typed if word != "--watch"][1:]
    for path in reversed(named):  # a path is also what an option before it may be called
        del words[len(words) - 1 - words[::-1].index(path)]
    if options.shipped and named:
        raise Failure("MKS0905", f"--shipped takes no path: for some of the cases write {PACKAGE}/signature")
    given = [real_path(path) for path in ([PACKAGE] if options.shipped else named)] or default_paths()
    for path in given:
        if not Path(path.split("::", 1)[0]).exists():
            raise Failure("MKS0903", f"no such file or directory: {path}")
        be_a_source(Path(path.split("::", 1)[0]), SUFFIX)
    others = [options.device_profile, *options.expectations, *options.waivers]
    files = [Path(os.path.abspath(name)) for name in others if name is not None]
    files.append(project_of(given).settings / "mkeyspec.toml")
    return watch(given, [word for word in words if word != "--shipped"], files, options.whole)


def _session(options: argparse.Namespace, given: Sequence[str], arguments: list[str]) -> int:
    for path in given:
        if not Path(path.split("::", 1)[0]).exists():
            hint = "; write an option of pytest and its value as one word (--tb=short)" if options.rest else ""
            raise Failure("MKS0903", f"no such file or directory: {path}{hint}")
        be_a_source(Path(path.split("::", 1)[0]), SUFFIX, ".py")
    place = project_of(given)
    find_sources((path for path in map(Path, given) if path.is_dir()), place.root)
    settings = checked_settings(place.settings)  # the plugin reads them once more
    if options.device is None and settings.device is not None:
        options.device = settings.device
    for name, value in (
        ("--device", options.device),
        ("--gid-index", options.gid_index),
        ("--path-mtu", options.path_mtu),
        ("--peer", options.peer),
        ("--device-profile", options.device_profile),
        ("--deadline", options.deadline),
        ("--quarantine", options.quarantine),
        ("--soak", options.soak),
        ("--soak-seed", options.soak_seed),
        ("--wait-for-device", options.wait_for_device),
        ("--row-ids", options.row_ids),
        ("--case-profile", options.profile),
        ("--shard", options.shard),
        ("--vary", options.vary),
        ("--fault", options.fault),
    ):
        if value is not None:
            arguments.append(f"{name}={value}")
    if options.fault is not None and (options.device or "").startswith("soft"):
        from mkeyspec.device.soft.preload import FAULT
        from mkeyspec.sabotage.conditions import soft

        if "@" in options.fault and options.fault not in soft.candidates():
            raise Failure("MKS0907", f"--fault {options.fault}: the software NIC has no such conditional fault")
        os.environ[FAULT] = options.fault
    soft_process.start_on(options.device or "model", whole=options.whole)
    arguments += ["--allow-busy-port"] * options.allow_busy_port
    arguments += [f"--expectations={name}" for name in options.expectations]
    arguments += [f"--waivers={name}" for name in options.waivers]
    arguments += [f"--balance={name}" for name in options.balance]
    arguments += [f"--require={name}" for name in options.require]
    arguments += [f"--tag={name}" for name in options.tag] + [f"--level={name}" for name in options.level]
    processes = distributed(options.workers, options.rest)
    arguments += processes
    theirs = processes[:1] == ["-n"]
    arguments += ["--isolate"] * isolates(options.device or "model", given, place.root, distributed=theirs)
    for name, value in (("-k", options.k), ("-m", options.m)):
        if value is not None:
            arguments += [name, value]
    arguments += ["-x"] * options.x + ["-v"] * options.v + ["-q"] * options.q
    with TemporaryDirectory(prefix="mkeyspec-") as unkept:  # `off`: the report is made of results all the same
        kept = path_or_none(options.results) or place.reports / run_name(options.device or "model") / FILE
        results = Path(unkept) / FILE if options.results == "off" else kept
        return run_session(
            given,
            arguments,
            project=place.root,
            generated=path_or_none(options.generated) or place.generated,
            junit=path_or_none(options.junit) or place.reports / "junit.xml",
            results=results,
            cache=place.cache,
            apart=options.whole,
            bundle=path_or_none(options.bundle),
        )
