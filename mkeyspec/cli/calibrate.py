"""`mkeyspec calibrate`: the points of the device profile, measured on a device."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkeyspec import __version__
from mkeyspec.cli import path_options
from mkeyspec.cli.options import command
from mkeyspec.cli.output_file import write
from mkeyspec.cli.session import FAILED, OK, Failure
from mkeyspec.cli.soft_process import start_on
from mkeyspec.files.unwritable import Unwritable

if TYPE_CHECKING:
    from collections.abc import Callable

    from mkeyspec.calibrate.point import Found
    from mkeyspec.calibrate.worker import Opened
    from mkeyspec.device.protocol import Device

_HELP = "measure the implementation-defined points of a device, and write its profile"

_EXAMPLE = """\
example:
  $ mkeyspec calibrate --device mlx5_0
  $ mkeyspec run cases --device mlx5_0 --device-profile reports/calibrate/mlx5_0.toml
  $ mkeyspec calibrate --device soft:cx5 --out cx5.toml --departures cx5-departures.toml
Exit code: 0 if every point that the device has is decided, 1 if one is undecided or contradicts, 2 for wrong input
or a device that can't be opened."""

_QUIET = 0.02
_FOLDER = Path("reports", "calibrate")


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    parser = command(commands, "calibrate", _calibrate, _HELP, _EXAMPLE)
    parser.add_argument("--device", default="model", metavar="NAME", help="what is measured (default: model)")
    parser.add_argument("--device-profile", metavar="FILE", help="TOML: the points that the model is made with")
    parser.add_argument("--allow-busy-port", action="store_true", help="also a port whose interface has an IP address")
    path_options.add(parser)
    parser.add_argument(
        "--deadline", type=float, default=2.0, metavar="S", help="longest wait for a completion (default: 2)"
    )
    parser.add_argument("--name", metavar="NAME", help="how reports call the profile (default: device and firmware)")
    parser.add_argument("--out", metavar="FILE", help="the profile (default: reports/calibrate/DEVICE.toml)")
    parser.add_argument(
        "--departures", metavar="FILE", help="a file of expectations that lists the departures that were measured"
    )


def _calibrate(options: argparse.Namespace) -> int:
    if not options.deadline > 0:
        raise Failure("MKS0905", f"--deadline {options.deadline:g}: a wait takes more than 0 seconds")
    start_on(options.device, whole=options.whole)
    opened = _opener(options)
    out = Path(options.out) if options.out else _FOLDER / f"{options.device.replace(':', '-').replace('/', '-')}.toml"
    _prepare(out, "--out")
    if options.departures:
        _prepare(Path(options.departures), "--departures")
    about, found = _measured(opened, options)
    _report(about, found, out, options)
    wrong = [one for one in found if one.confidence in ("contradicts", "undecided")]
    if wrong:
        names = ", ".join(one.key.lstrip(".") for one in wrong[:6]) + (", …" if len(wrong) > 6 else "")
        what = f"{len(wrong)} points are" if len(wrong) > 1 else "a point is"
        print(f"mkeyspec: error[MKS0959]: {what} not decided: {names}; {out} has the reasons", file=sys.stderr)
        return FAILED
    return OK


def _prepare(path: Path, option: str) -> None:
    """Whether the file can be written is known before anything is measured. Raises Unwritable."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            with path.open("ab"):
                return
        trial = path.with_name(f".{path.name}.{os.getpid()}")
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise Unwritable(path, error, option) from None


def _opener(options: argparse.Namespace) -> Callable[[], Device]:
    from mkeyspec.device.profile.profile import Profile, ProfileError, load
    from mkeyspec.device.protocol import PathChoice, Unavailable
    from mkeyspec.device.select import open_choice, parse

    try:
        profile = load(Path(options.device_profile)) if options.device_profile else Profile()
        choice = parse(options.device)
    except ProfileError as error:
        raise Failure("MKS0904", str(error)) from None
    except Unavailable as error:
        raise Failure(error.code, error.message) from None
    if options.device_profile and choice.kind not in ("model", "late", "outside"):
        raise Failure("MKS0905", f"--device-profile: {options.device} is measured, not told what it is")
    if choice.kind == "bundle":
        raise Failure("MKS0905", f"{options.device}: a bundle answers what a run asked; calibrate asks other things")
    path = PathChoice(options.gid_index, options.path_mtu, options.peer)
    return lambda: open_choice(choice, profile, allow_busy_port=options.allow_busy_port, path=path)


def _measured(opened: Callable[[], Device], options: argparse.Namespace) -> tuple[Opened, list[Found]]:
    from mkeyspec.calibrate.profile_file import consistent
    from mkeyspec.calibrate.worker import Opened, calibrate
    from mkeyspec.device.protocol import Unavailable

    about: Opened | None = None
    found: list[Found] = []
    quiet = 0.0 if options.device == "model" else _QUIET
    try:
        for one in calibrate(opened, options.deadline, quiet):
            if isinstance(one, Opened):
                about = one
            else:
                found.append(one)
    except Unavailable as error:
        raise Failure(error.code, error.message) from None
    assert about is not None
    return about, consistent(found)


def _report(about: Opened, found: list[Found], out: Path, options: argparse.Namespace) -> None:
    from mkeyspec.calibrate import profile_file, text

    for line in text.summary(about, found):
        print(line)
    name = options.name or profile_file.name_of(about)
    words = ["mkeyspec", *options.typed]
    content = profile_file.write(
        about, found, name=name, version=__version__, date=date.today().isoformat(), command=shlex.join(words)
    )
    write(out, content.encode(), "--out")
    print(f"mkeyspec: profile {name}: {out}")
    if options.departures:
        listed = profile_file.expectations(about, found)
        if listed is None:
            print(f"mkeyspec: no departure that cases name: {options.departures} is not written")
        else:
            write(Path(options.departures), listed.encode(), "--departures")
            print(f"mkeyspec: departures: {options.departures}")
