"""`mkeyspec judge`: a bundle that `mkeyspec run --bundle` has written, judged again without the device."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from mkeyspec.cli import warning_options
from mkeyspec.cli.options import add_generated, command, path_or_none
from mkeyspec.cli.session import Failure, run_session
from mkeyspec.cli.sources import be_a_source
from mkeyspec.files import installed, resource
from mkeyspec.files.project import SUFFIX, Project, project_of, real_path
from mkeyspec.files.settings import Settings
from mkeyspec.project.settings import checked_settings
from mkeyspec.report.place import FILE, run_name

if TYPE_CHECKING:
    from mkeyspec.bundle.reader import Bundle

_EXAMPLE = """\
example:
  $ mkeyspec run cases --device mlx5_0 --bundle observed.bundle
  $ mkeyspec judge observed.bundle                       # with the cases as they are here today
  $ mkeyspec judge observed.bundle cases/signature -k crc32c
  $ mkeyspec judge observed.bundle --recorded-cases      # with the cases as they were in the run
PATH: files, folders and items; without one, the files of this project that have rows in the bundle.
Exit code: as of `run`; 1 too if the bundle is cut, or a row of it can't be judged or is not in the cases."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    parser = command(commands, "judge", _judge, "judge a bundle of `run --bundle` again, without the device", _EXAMPLE)
    parser.add_argument("bundle", metavar="BUNDLE", help="the file, or the folder FILE.parts that a killed run left")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="cases (default: those of the bundle's files)")
    parser.add_argument("--recorded-cases", action="store_true", help="the cases as the bundle has them")
    add_generated(parser)
    warning_options.add(parser)
    parser.add_argument("--device-profile", metavar="FILE", help="TOML: the device's implementation-defined points")
    parser.add_argument("--expectations", metavar="FILE", action="append", default=[], help="known departures, TOML")
    parser.add_argument("--waivers", metavar="FILE", action="append", default=[], help="rows known to fail, TOML")
    parser.add_argument("--junit", metavar="FILE", help="where the report goes (default: reports/junit.xml)")
    where = "where the stream of results goes (default: reports/RUN/results.ndjson)"
    parser.add_argument("--results", metavar="FILE", help=where)
    parser.add_argument("-k", metavar="EXPR", help="only cases that match, e.g. 'crc32c and not write' or CRC-02")
    parser.add_argument("-x", action="store_true", help="stop at the first failure")
    parser.add_argument("-v", action="count", default=0, help="one line a case")
    parser.add_argument("-q", action="count", default=0, help="say less")


def _judge(options: argparse.Namespace) -> int:
    from mkeyspec.bundle.reader import Unusable, opened

    if options.recorded_cases and options.paths:
        raise Failure("MKS0905", "--recorded-cases takes no path: select with -k")
    file = Path(options.bundle)
    try:
        bundle = opened(Path(os.path.abspath(file)))
    except Unusable as error:
        raise Failure(error.code, str(error).partition(": ")[2]) from None
    if not options.recorded_cases:
        return _session(options, file, bundle, [real_path(path) for path in options.paths] or _todays(bundle))
    with TemporaryDirectory(prefix="mkeyspec-") as folder:
        root = Path(folder)
        libraries = root / installed.RECORDED
        for name, source in bundle.sources.items():
            packaged = name.startswith(installed.PREFIX)
            path = libraries / name.removeprefix(installed.PREFIX) if packaged else root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source.text, encoding="utf-8", errors="surrogateescape")
        files = [str(root / name) for name in _files(bundle) if (root / name).is_file()]
        if not files:
            raise Failure("MKS0955", f"{options.bundle} has no cases of its rows; name cases of your own")
        here = project_of()
        sys.path.insert(0, str(libraries))
        return _session(options, file, bundle, files, Project(root, here.made, root))


def _files(bundle: Bundle) -> list[str]:
    """The files of its rows."""
    return list(dict.fromkeys(id.partition("::")[0] for id in bundle.ids))


def _todays(bundle: Bundle) -> list[str]:
    """Those files, as they are today: of the project here, else the shipped ones."""
    roots = [project_of().root]
    with contextlib.suppress(FileNotFoundError):
        roots.append(resource.directory("cases").parent)
    names = [name for name in _files(bundle) if name.endswith(SUFFIX) and ".." not in Path(name).parts]
    for root in roots:
        found = [os.path.relpath(root / name) for name in names if (root / name).is_file()]
        if found:
            return found
    text = f"none of the files of {bundle.path.name} is here, as {names[0] if names else 'its rows have none'}"
    raise Failure("MKS0955", f"{text}; go to their project, name cases, or judge with --recorded-cases")


def _session(
    options: argparse.Namespace, file: Path, bundle: Bundle, given: Sequence[str], project: Project | None = None
) -> int:
    for path in given:
        if not Path(path.split("::", 1)[0]).exists():
            raise Failure("MKS0903", f"no such file or directory: {path}")
        be_a_source(Path(path.split("::", 1)[0]), SUFFIX, ".py")
    place = project if project is not None else project_of(given)
    checked_settings(place.settings)
    warning_options.levels(options, Settings())
    arguments = [f"--device=bundle:{file}"]
    arguments += [f"--allow={code}" for code in options.allow] + [f"--deny={code}" for code in options.deny]
    run = bundle.run
    if run.get("profile") == "deep":  # it has rows that the others don't have
        arguments.append("--case-profile=deep")
    for name, value in (("--device-profile", options.device_profile), ("-k", options.k)):
        if value is not None:
            arguments += [f"{name}={value}"] if name != "-k" else [name, value]
    arguments += [f"--expectations={name}" for name in options.expectations]
    arguments += [f"--waivers={name}" for name in options.waivers]
    arguments += ["-x"] * options.x + ["-v"] * options.v + ["-q"] * options.q
    if run.get("device_profile") and options.device_profile is None:
        print(f"mkeyspec: the run had --device-profile {run['device_profile']}; the bundle does not have that file")
    reports = place.reports if project is None else project_of().reports
    return run_session(
        given,
        arguments,
        project=place.root,
        generated=path_or_none(options.generated) or (place.generated if project is None else place.root / "generated"),
        junit=path_or_none(options.junit) or reports / "junit.xml",
        results=path_or_none(options.results) or reports / run_name(f"judged-{bundle.device}") / FILE,
        cache=place.cache if project is None else place.root / ".cache",
        apart=options.whole,
    )
