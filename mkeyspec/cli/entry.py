"""The command line: check, compile, run, list, explain, doctor, softnic.

Exit codes:
  0    all is well; of `run`: at least one row came to a verdict, and each verdict is passed or known
  1    a row failed, was blocked or was lost
  2    bad input or usage: errors in a `.mks` file, a wrong option, an unknown device, a directory
       that can't be written
  3    nothing to do: no case was selected, or every one was skipped
  4    mkeyspec or pytest itself failed
  130  interrupted
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkeyspec import __version__
from mkeyspec.cli import doctor, requirements, sabotage, softnic, stream, warning_options
from mkeyspec.cli.listing import requirements_text, suite_data, suite_text
from mkeyspec.cli.session import INTERNAL, INTERRUPTED, NOTHING, OK, USAGE, Failure, run_session, told
from mkeyspec.files.project import SUFFIX, OtherCheckout, Unreadable, find_sources, project_of
from mkeyspec.store import Result, Store, Unwritable, at_levels, compile_source

if TYPE_CHECKING:
    from mkeyspec.diagnostics.diagnostic import Diagnostic

_EXITS = "\n".join((__doc__ or "").split("\n")[2:])

_EXAMPLE = f"""\
example: the first case
  $ cat cases/first.mks
  mks 1
  suite "my first suite"

  case strip_on_transmit
      verifies SIG-07, CRC-08
      for crc in crc32, crc32c
      let d = crc(ones) every 512
      memory src = framed(counter(1024), d)
      mkey k {{ block_signature }}
      configure k {{ layout list(src); signature {{ mem d }} }}
      transmit k by send
      expect wire == counter(1024)

  $ mkeyspec check cases/first.mks
  $ mkeyspec run cases/first.mks
  $ mkeyspec run cases -k crc32c -n 2
  $ mkeyspec explain MKS2101

{_EXITS}"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    if arguments is None:  # this process is ours
        stream.make_lasting()
    for one in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            one.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # not of a replaced stream
    try:
        _stand_somewhere()
        options, rest = _parser().parse_known_args(sys.argv[1:] if arguments is None else arguments)
        # argparse leaves a path that follows an option among the rest.
        words = [word for word in rest if not word.startswith("-")] if "paths" in options else []
        options.paths = [*getattr(options, "paths", ()), *words]
        options.rest = [word for word in rest if word not in words]
        if options.rest and options.command is not _run:
            _parser().error(f"unrecognized arguments: {' '.join(options.rest)}")
        # Whether this process's own command line says all there is to do, should it have to start itself anew.
        options.whole = arguments is None
        return told(options.command(options))
    except (Failure, Unwritable, Unreadable, OtherCheckout) as error:
        print(f"mkeyspec: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # an error of ours: what a user can do about it is to report it
        place = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
        print(f"mkeyspec: error[MKS0999]: mkeyspec itself failed; please report it: {what}", file=sys.stderr)
        if os.environ.get("MKEYSPEC_TRACEBACK"):
            traceback.print_exception(error)
        return INTERNAL


# Options -------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mkeyspec",
        description="Cases for mlx5 memory keys, in their own language: checked, compiled to pytest, and run.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"mkeyspec {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    check = _command(commands, "check", _check, "find the errors of .mks files", _CHECK)
    _paths(check)
    warning_options.add(check)
    check.add_argument("--format", choices=("text", "json", "github", "sarif"), default="text", help="default: text")
    compile = _command(commands, "compile", _compile, "write the pytest modules of .mks files", _COMPILE)
    _paths(compile)
    _generated(compile)
    warning_options.add(compile)
    compile.add_argument("--force", action="store_true", help="write every module, also those that are up to date")
    run = _command(commands, "run", _run, "compile, run, and leave a JUnit report", _RUN)
    _paths(run)
    _generated(run)
    warning_options.add(run)
    run.add_argument("--device", metavar="NAME", help="model, soft[:PERSONALITY] or mlx5_0[:PORT] (default: model)")
    run.add_argument("--allow-busy-port", action="store_true", help="also a port whose interface has an IP address")
    run.add_argument("--device-profile", metavar="FILE", help="TOML file: the device's implementation-defined points")
    run.add_argument("--expectations", metavar="FILE", action="append", default=[], help="known departures; repeatable")
    run.add_argument("--deadline", metavar="S", help="longest wait for anything, in seconds")
    run.add_argument("--profile", metavar="NAME", help="only the cases of cases/NAME.toml, e.g. quick")
    run.add_argument("--fault", "--defect", metavar="NAME", help=argparse.SUPPRESS)
    junit = ("--junit", "--junitxml", "--junit-xml")  # pytest's names for it too
    run.add_argument(*junit, metavar="FILE", help="where the report goes (default: reports/junit.xml)")
    run.add_argument("-n", metavar="N", dest="workers", help="this many processes, or auto")
    run.add_argument("-k", metavar="EXPR", help="only cases that match, e.g. 'crc32c and not write' or CRC-02")
    run.add_argument("-m", metavar="MARK", help="only cases with this mark, e.g. negative")
    run.add_argument("-x", action="store_true", help="stop at the first failure")
    run.add_argument("-v", action="count", default=0, help="one line a case")
    run.add_argument("-q", action="count", default=0, help="say less")
    listing = _command(commands, "list", _list, "show cases, rows, requirements and needs", _LIST)
    _paths(listing)
    listing.add_argument("--requirements", action="store_true", help="show the ledger's ids instead")
    listing.add_argument("--rows", action="store_true", help="show the id of every row")
    listing.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    explain = _command(commands, "explain", _explain, "say what a code or a requirement means", _EXPLAIN)
    explain.add_argument("what", nargs="?", metavar="CODE", help="MKS2101, CFG-07…; without it, all codes are listed")
    doctor.add(_command, commands)
    requirements.add(_command, commands, _sources, project)
    sabotage.add(_command, commands, _sources, project)
    softnic.add(_command, commands)
    return parser


_CHECK = """\
example:
  $ mkeyspec check cases
  $ mkeyspec check --format github cases     # annotations in a workflow
Exit code: 0 without errors (warnings may be there), 2 with errors, 3 if there is no .mks file."""

_COMPILE = """\
example: take the cases to a machine that has only Python, pytest and mkeyspec
  $ mkeyspec compile cases && rsync -a generated lab:
  lab$ pytest generated --device model
Only what is out of date is written. Exit code: 0, 2 with errors, 3 if there is no .mks file."""

_RUN = """\
example:
  $ mkeyspec run cases
  $ mkeyspec run 'cases/signature/crc.mks::published_values' -x
  $ mkeyspec run cases -n 2 -k 'crc32c and not peer_read' --durations=5
Options that are not listed here are pytest's; write their values as --option=value or -oVALUE.
Exit code: 0 if something ran and nothing went wrong, 1 if a row failed, was blocked or was lost, 2 for
errors in a .mks file or an option, 3 if nothing ran, 4 if mkeyspec or pytest failed."""

_LIST = """\
example:
  $ mkeyspec list cases --rows
  $ mkeyspec list cases --format json | jq '.[].cases[].verifies[]' | sort | uniq -c"""

_EXPLAIN = """\
example:
  $ mkeyspec explain MKS2101
  $ mkeyspec explain CRC-07"""


def _command(commands: Any, name: str, function: Any, help: str, example: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=help[0].upper() + help[1:] + ".",
        epilog=example,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(command=function)
    return parser


def _paths(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: cases)")


def _generated(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--generated", metavar="DIR", help="where the modules are kept (default: generated/)")


# Commands ------------------------------------------------------------------------------------


def _check(options: argparse.Namespace) -> int:
    from mkeyspec.diagnostics import render

    sources, place = _sources(options.paths), project_of(_named(options.paths)).root
    levels = warning_options.levels(options)
    found = _once(at_levels(compile_source(path, place), levels).diagnostics for path in sources)
    colour = options.format == "text" and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    sys.stdout.write(render.render(found, options.format, colour=colour, version=__version__))
    return _summary("checked", sources, found)


def _compile(options: argparse.Namespace) -> int:
    from mkeyspec.diagnostics import render

    sources = _sources(options.paths)
    store = Store(project_of(_named(options.paths)).root, _path(options.generated), warning_options.levels(options))
    results: list[Result] = [store.compile(path, force=options.force) for path in sources]
    for path in _given(options.paths):
        if path.is_dir():
            store.remove_orphans(path)
    found = _once(result.diagnostics for result in results)
    sys.stderr.write(render.text(found, sys.stderr.isatty() and "NO_COLOR" not in os.environ))
    for result in results:
        if result.compiled is None:
            sys.stderr.write("".join(f"{line}\n" for line in result.warnings))
    for result in results:
        if result.state == "written" and result.module is not None:
            print(os.path.relpath(result.module))
    fresh = sum(result.state == "fresh" for result in results)
    return _summary(f"compiled ({fresh} up to date)" if fresh else "compiled", sources, found)


def _run(options: argparse.Namespace) -> int:
    arguments = list(options.rest)
    warning_options.levels(options)
    arguments += [f"--allow={code}" for code in options.allow] + [f"--deny={code}" for code in options.deny]
    given = options.paths or _default_paths()
    for path in given:
        if not Path(path.split("::", 1)[0]).exists():
            hint = "; write an option of pytest and its value as one word (--tb=short)" if options.rest else ""
            raise Failure("MKS0903", f"no such file or directory: {path}{hint}")
        _be_a_source(Path(path.split("::", 1)[0]), SUFFIX, ".py")
    place = project_of(given)
    find_sources((path for path in map(Path, given) if path.is_dir()), place.root)
    for name, value in (
        ("--device", options.device),
        ("--device-profile", options.device_profile),
        ("--deadline", options.deadline),
        ("--case-profile", options.profile),
        ("--fault", options.fault),
    ):
        if value is not None:
            arguments.append(f"{name}={value}")
    if options.fault is not None and (options.device or "").startswith("soft"):
        from mkeyspec.device.soft.preload import FAULT

        os.environ[FAULT] = options.fault
    doctor.start_on(options.device or "model", whole=options.whole)
    arguments += ["--allow-busy-port"] * options.allow_busy_port
    arguments += [f"--expectations={name}" for name in options.expectations]
    for name, value in (("-n", options.workers), ("-k", options.k), ("-m", options.m)):
        if value is not None:
            arguments += [name, value]
    arguments += ["-x"] * options.x + ["-v"] * options.v + ["-q"] * options.q
    return run_session(
        given,
        arguments,
        project=place.root,
        generated=_path(options.generated) or place.made / "generated",
        junit=_path(options.junit) or place.made / "reports" / "junit.xml",
        cache=place.made / "cache" if place.made != place.root else None,
        apart=options.whole,
    )


def _list(options: argparse.Namespace) -> int:
    from mkeyspec.diagnostics import render

    if options.requirements:
        sys.stdout.write(requirements_text(options.format))
        return OK

    sources, place = _sources(options.paths), project_of(_named(options.paths)).root
    compiled = [(path, compile_source(path, place)) for path in sources]
    errors = [found for found in _once(one.diagnostics for _, one in compiled) if found.severity == "error"]
    suites = [suite_data(path, one) for path, one in compiled if one.suite is not None and one.suite.cases]
    if options.format == "json":
        print(json.dumps(suites, indent=2))
    else:
        sys.stdout.write("".join(suite_text(suite, options.rows) for suite in suites))
        cases = sum(len(suite["cases"]) for suite in suites)
        rows = sum(len(case["rows"]) for suite in suites for case in suite["cases"])
        counts = (_count(cases, "case"), _count(rows, "row"), _count(len(suites), "suite"))
        print(f"mkeyspec: {', '.join(counts)}", file=sys.stderr)
    sys.stderr.write(render.text(errors))
    return USAGE if errors else OK if suites else NOTHING


def _explain(options: argparse.Namespace) -> int:
    from mkeyspec.diagnostics.codes import CODES, explanation
    from mkeyspec.diagnostics.suggest import id_meant
    from mkeyspec.requirements.ledger import departures, requirements

    if options.what is None:
        for code, title in CODES.items():
            print(f"{code}  {title}")
        return OK
    wanted = options.what.strip().upper()
    page = explanation(wanted)
    if page is not None:
        sys.stdout.write(page if page.endswith("\n") else page + "\n")
        return OK
    requirement = requirements().get(wanted)
    if requirement is not None:
        section = f", {requirement.section}" if requirement.section else ""
        print(f"{requirement.id}: {requirement.title}\n\n{requirement.statement}\n\npage: {requirement.page}{section}")
        for label, value in (("positive case", requirement.positive), ("negative case", requirement.negative)):
            if value:
                print(f"{label}: {value}")
        return OK
    departure = departures().get(wanted)
    if departure is not None:
        print(f"{departure.id}: {departure.statement}")
        return OK
    advice = id_meant(wanted, [*CODES, *requirements(), *departures()]) or "`mkeyspec explain` lists the codes"
    raise Failure("MKS0907", f"nothing is called {options.what!r}; {advice}")


# Parts ---------------------------------------------------------------------------------------


def project() -> Path:
    """The root of the project where one stands."""
    return project_of().root


def _stand_somewhere() -> None:
    try:
        Path.cwd()
    except FileNotFoundError:
        raise Failure("MKS0903", "the directory where you stand was removed; go to one that is there") from None


def _path(name: str | None) -> Path | None:
    return Path(name) if name is not None else None


def _default_paths() -> list[str]:
    if Path("cases").is_dir():
        return ["cases"]
    raise Failure("MKS0903", "there is no folder cases/ here; name a .mks file or a folder")


def _named(paths: Sequence[str]) -> Sequence[str]:
    return paths or _default_paths()


def _given(paths: Iterable[str]) -> list[Path]:
    return [Path(path) for path in _named(list(paths))]


def _sources(paths: Iterable[str]) -> list[Path]:
    given = _given(paths)
    for path in given:
        if not path.exists():
            raise Failure("MKS0903", f"no such file or directory: {path}")
        _be_a_source(path, SUFFIX)
    return find_sources(given, project_of(given).root)


def _be_a_source(path: Path, *suffixes: str) -> None:
    if not path.is_dir() and path.suffix not in suffixes:
        raise Failure("MKS0903", f"{path} is no {SUFFIX} file")


def _once(findings: Iterable[Iterable[Diagnostic]]) -> list[Diagnostic]:
    """All of them in order; what two suites find in a file that both use is told once."""
    seen: dict[tuple[str, str, int, int], Diagnostic] = {}
    for some in findings:
        for found in some:
            span = found.span
            seen.setdefault((found.code, str(span.source.path or span.source.name), span.start, span.end), found)
    return list(seen.values())


def _summary(done: str, sources: Sequence[Path], found: Sequence[Diagnostic]) -> int:
    errors = sum(one.severity == "error" for one in found)
    counts = [_count(len(sources), "file") + f" {done}", _count(errors, "error")]
    if len(found) > errors:
        counts.append(_count(len(found) - errors, "warning"))
    print(f"mkeyspec: {', '.join(counts)}", file=sys.stderr)
    return USAGE if errors else OK if sources else NOTHING


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
