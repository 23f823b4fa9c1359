"""`mkeyspec run --lab FILE`: the suite on each device or pair of a lab."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkeyspec.cli import warning_options
from mkeyspec.cli.lost_rows import lost_rows
from mkeyspec.cli.options import path_or_none
from mkeyspec.cli.output_file import write
from mkeyspec.cli.session import FAILED, LISTS, NOTHING, OK, USAGE, Failure
from mkeyspec.cli.sources import be_a_source, default_paths
from mkeyspec.files.project import PACKAGE, SUFFIX, Project, find_sources, project_of, real_path
from mkeyspec.files.settings import Settings
from mkeyspec.files.unwritable import Unwritable
from mkeyspec.project.settings import checked_settings
from mkeyspec.report.place import run_name
from mkeyspec.report.reader import Run, Unusable, read

if TYPE_CHECKING:
    from mkeyspec.lab.cargo import Cargo
    from mkeyspec.lab.file import Unit
    from mkeyspec.lab.run import Job, Outcome
    from mkeyspec.store import Result

_NOT_HERE = ("device", "device_profile", "results", "bundle", "watch", "fault", "gid_index", "path_mtu", "peer")
"""Options that a lab file has for each device, or that are of one run."""
_STOPS = (
    "--maxfail",
    "--exitfirst",
    "--sw",
    "--stepwise",
    "--stepwise-skip",
    "--lf",
    "--last-failed",
)


def add(run: argparse.ArgumentParser) -> None:
    run.add_argument("--lab", metavar="FILE", help="run on each device and pair that this lab file names")
    pairs = "with --lab: only this pair or device; repeatable"
    run.add_argument("--pair", metavar="NAME", action="append", default=[], help=pairs)
    tags = "with --lab: only what has this tag in the lab file; repeatable"
    run.add_argument("--group", metavar="TAG", action="append", default=[], help=tags)
    trial = "with --lab: try the lab file on this machine, with what its `trial` keys name (default: soft)"
    run.add_argument("--trial", action="store_true", help=trial)


def refuse_without_lab(options: argparse.Namespace) -> None:
    """Raises Failure for options that are of a lab."""
    for name in ("pair", "group", "trial"):
        if getattr(options, name):
            raise Failure("MKS0905", f"--{name} is for a lab: name its file, --lab lab.toml")


def run(options: argparse.Namespace) -> int:
    from mkeyspec.lab.choose import NotThere, chosen, lab_on_trial
    from mkeyspec.lab.file import read as read_lab

    for name in _NOT_HERE:
        if getattr(options, name):
            raise Failure("MKS0905", f"--{name.replace('_', '-')} and --lab: the lab file says it of each device")
    for word in options.rest:
        if word in LISTS:
            raise Failure("MKS0905", f"{word} and --lab: the rows are the same on each device; list them without --lab")
    lab = read_lab(Path(options.lab))
    try:
        units = chosen(lab_on_trial(lab) if options.trial else lab, options.pair, options.group)
    except NotThere as error:
        raise Failure("MKS0905", str(error)) from None
    given = _given(options)
    place = project_of(given)
    job = _job(options, given, place, units)
    if isinstance(job, int):
        return job
    folder = place.reports / run_name("lab")
    return _ran(options, place, units, job, folder)


def _given(options: argparse.Namespace) -> list[str]:
    if options.shipped and options.paths:
        raise Failure("MKS0905", f"--shipped takes no path: for some of the cases write {PACKAGE}/signature")
    paths = [PACKAGE] if options.shipped else options.paths
    given = [real_path(path) for path in paths] or default_paths()
    for path in given:
        if not Path(path.split("::", 1)[0]).exists():
            raise Failure("MKS0903", f"no such file or directory: {path}")
        be_a_source(Path(path.split("::", 1)[0]), SUFFIX, ".py")
    return given


def _job(options: argparse.Namespace, given: Sequence[str], place: Project, units: Sequence[Unit]) -> Job | int:
    """What is run, or the exit code if the cases are broken."""
    from mkeyspec.files.commit import commit_of
    from mkeyspec.lab.cargo import Cargo
    from mkeyspec.lab.run import Job, load

    settings = checked_settings(place.settings)
    cargo = Cargo.of(place.root, settings)
    shipped = place.shipped is not None
    try:
        if shipped:
            cargo.put("mkeyspec.toml", b"")
        elif not _load(options, given, place, settings, cargo):
            return USAGE
        load(cargo, units)
        words = _words(options, cargo)
    except OSError as error:
        raise Failure("MKS0903", f"can't read {error.filename}: {error.strerror}") from None
    words += list(options.paths if shipped else (_there(path, place.root) for path in given))
    words += ["--shipped"] if options.shipped and shipped else [] if shipped else ["--generated=generated"]
    commit, changed = commit_of(place.root)
    about: dict[str, Any] = {"options": list(options.typed), "git_commit": commit, "git_changed": changed}
    stops = options.x or any(word.split("=")[0] in _STOPS for word in options.rest)
    return Job(cargo, words, about, stops, _seconds(options.wait_for_device), bool(options.v))


def _seconds(text: str | None) -> float | None:
    try:
        seconds = None if text is None else float(text)
    except ValueError:
        seconds = -1.0
    if seconds is not None and not 0 <= seconds < float("inf"):
        raise Failure("MKS0905", f"--wait-for-device {text}: say seconds, from 0")
    return seconds


def _there(path: str, root: Path) -> str:
    file, mark, item = path.partition("::")
    return f"{os.path.relpath(os.path.abspath(file), root)}{mark}{item}"


def _load(options: argparse.Namespace, given: Sequence[str], place: Project, settings: Settings, cargo: Cargo) -> bool:
    """Compile here, once for all hosts, and take sources and modules along; whether all of them compile."""
    from mkeyspec.diagnostics import render
    from mkeyspec.emit.header import read_header
    from mkeyspec.files.selection import SelectionError, file_of, stronger
    from mkeyspec.store import Store

    files = [Path(path.split("::", 1)[0]) for path in given]
    sources = [path for path in find_sources(files, place.root) if path.suffix == SUFFIX]
    more = 0
    if options.profile is not None:
        try:
            more = stronger(options.profile, place.root)
        except SelectionError as error:
            raise Failure("MKS0905", str(error)) from None
        cargo.add(file_of(options.profile, place.root))
    levels = warning_options.levels(options, settings)
    store = Store(place.root, path_or_none(options.generated) or place.generated, levels, more)
    broken: list[Result] = []
    used: list[Path] = []
    wanted = _selected(options.profile, place.root)
    for source in sources:
        if wanted is not None and os.path.relpath(os.path.abspath(source), place.root) not in wanted:
            continue
        result = store.compile(source)
        if result.state == "broken":
            broken.append(result)
            continue
        kept = result.module or store.note_of(source)
        header = read_header(kept.read_text(encoding="utf-8")) if kept.is_file() else None
        used += [place.root / name for name in header.used if (place.root / name).is_file()] if header else []
        name = f"generated{store.generated.name.removeprefix(store.plain.name)}"
        place_there = Path(cargo.folder, name, kept.relative_to(store.generated))
        cargo.put(place_there.as_posix(), kept.read_bytes())
    if broken:
        found = [one for result in broken for one in result.diagnostics]
        sys.stderr.write(render.text(found, sys.stderr.isatty() and "NO_COLOR" not in os.environ))
        return False
    cargo.add_sources([*sources, *used, *(path for path in files if path.is_file())])
    return True


def _selected(profile: str | None, root: Path) -> set[str] | None:
    """The files of a profile's items; None: all."""
    from mkeyspec.files.selection import SelectionError
    from mkeyspec.files.selection import read as items_of

    if profile is None:
        return None
    try:
        return {item.partition("::")[0] for item in items_of(profile, root)}
    except SelectionError:  # of the whole suite
        return None


def _words(options: argparse.Namespace, cargo: Cargo) -> list[str]:
    """The options of this command that go on to each run. Those that name a file take it along. Raises OSError."""
    words: list[str] = []
    for option, value in (
        ("--deadline", options.deadline),
        ("--quarantine", options.quarantine),
        ("--soak", options.soak),
        ("--soak-seed", options.soak_seed),
        ("--profile", options.profile),
        ("--shard", options.shard),
        ("--vary", options.vary),
        ("-n", options.workers),
        ("-k", options.k),
        ("-m", options.m),
    ):
        if value is not None:
            words += [f"{option}={value}"] if option.startswith("--") else [option, value]
    for option, files in (
        ("--expectations", options.expectations),
        ("--waivers", options.waivers),
        ("--balance", options.balance),
    ):
        words += [f"{option}={cargo.add(Path(name))}" for name in files]
    for option, values in (
        ("--require", options.require),
        ("--tag", options.tag),
        ("--level", options.level),
        ("--allow", options.allow),
        ("--deny", options.deny),
    ):
        words += [f"{option}={value}" for value in values]
    words += ["--allow-busy-port"] * options.allow_busy_port
    return [*words, *["-x"] * options.x, *["-v"] * options.v, *["-q"] * options.q, *options.rest]


def _ran(options: argparse.Namespace, place: Project, units: Sequence[Unit], job: Job, folder: Path) -> int:
    from mkeyspec.lab.run import run as run_lab
    from mkeyspec.lab.run import worst

    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise Unwritable(folder, error, "--lab") from None
    outcomes = run_lab(units, job, folder, _say)
    runs = _runs(outcomes)
    # What one device has lost is told now, whatever became of the others: its next run is compared with this one.
    codes = [FAILED if one.code == OK and _missing(one, place) else one.code for one in outcomes]
    return _report(runs, path_or_none(options.junit) or place.reports / "junit.xml", codes, folder, worst(codes))


def _say(line: str) -> None:
    print(line, flush=True)


def _runs(outcomes: Sequence[Outcome]) -> list[Run]:
    runs = []
    for outcome in outcomes:
        try:
            runs.append(read(outcome.results))
        except Unusable as error:
            if outcome.results.is_file() and outcome.results.stat().st_size:
                print(error)
    return runs


def _missing(outcome: Outcome, place: Project) -> bool:
    """Whether rows are missing that this device had in the last run with the same arguments; says which."""
    run, ids = lost_rows(outcome.results, place.root)
    if ids:
        what = "1 row" if len(ids) == 1 else f"{len(ids)} rows"
        print(f"mkeyspec: {outcome.unit.name}: LOST: {what} that {run} had with the same arguments, as {ids[0]}")
    return bool(ids)


def _report(runs: Sequence[Run], junit: Path, codes: Sequence[int], folder: Path, code: int) -> int:
    """Print by cause and device what went wrong, and write JUnit; the exit code."""
    from mkeyspec.report.by_device import matrix_of, text_of
    from mkeyspec.report.junit import junit_of

    if runs:
        print()
        sys.stdout.write(text_of(matrix_of(runs), rows=20))
    said = f"{len(codes)} device{'s' if len(codes) > 1 else ''}"
    wrong = sum(one not in (OK, NOTHING) for one in codes)
    try:
        junit.parent.mkdir(parents=True, exist_ok=True)
        write(junit, junit_of(runs), "--junit")
        report = f"report: {os.path.relpath(junit)}"
    except (OSError, Unwritable) as error:
        print(error if isinstance(error, Unwritable) else Unwritable(junit, error, "--junit"))
        report, code = "no report", code if code not in (OK, NOTHING) else USAGE
    what = f"{wrong} of {said} went wrong" if wrong else f"{said}, none went wrong"
    what = f"{said}, and nothing was run" if code == NOTHING else what
    print(f"mkeyspec: {what}; results: {os.path.relpath(folder)}; {report}")
    return code
