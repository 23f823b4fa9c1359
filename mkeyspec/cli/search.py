"""`mkeyspec search`: looks for a case on which the references, the model and a device do not agree."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from mkeyspec.cli.generate import cases_of, seconds_of, seed_of
from mkeyspec.cli.options import command
from mkeyspec.cli.rigs import add_device, opener, rig_of_model, take_fault
from mkeyspec.cli.session import FAILED, OK, Failure
from mkeyspec.cli.soft_process import start_on
from mkeyspec.files import resource
from mkeyspec.files.atomic_write import replace
from mkeyspec.files.project import project_of
from mkeyspec.files.unwritable import Unwritable
from mkeyspec.generate.seed import Seed

if TYPE_CHECKING:
    from mkeyspec.search.hunt import Hunt
    from mkeyspec.search.reached import Reached
    from mkeyspec.search.three import Disagreement, Three

_EXAMPLE = """\
Keys are made, configured, used, invalidated and refused in ways that are drawn at random. Each case is run on the model
and on the device side by side; what it expects is computed by the references. If the three do not agree, the search
ends: the case is made as small as it can be, is written, and who stands alone is named.
example:
  $ mkeyspec search                                         # a minute, the model and the software NIC
  $ mkeyspec search --minutes 60 --device mlx5_0
  $ mkeyspec search --seed 3.42 --cases 200                 # the same cases again
  $ mkeyspec search --device model                          # no software NIC: the references and the model alone
  $ mkeyspec search --guided --minutes 10                   # steered by coverage
  $ mkeyspec search --device model --fault crc32c_polynomial --seed 5   # what a find looks like
Exit code: 0 if all agree, 1 if a case was found, 2 for wrong input."""
SHRINKING = 120.0
"""Seconds for the edits of a case that was found."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    parser = command(
        commands, "search", _search, "look for a case on which references, model and device do not agree", _EXAMPLE
    )
    parser.add_argument("--seed", metavar="S", help="what all cases follow from (default: a new one, which is printed)")
    parser.add_argument("--minutes", metavar="M", help="end when so much time is over (default: 1, without --cases)")
    parser.add_argument("--cases", metavar="N", help="end after so many cases")
    parser.add_argument(
        "--device",
        default="soft",
        metavar="NAME",
        help="what is compared with the model (default: soft); model: nothing, or the model with --fault",
    )
    add_device(parser)
    parser.add_argument(
        "--guided",
        action="store_true",
        help="keep and change cases that reach new code of the model and the software NIC; say what nothing reaches",
    )
    parser.add_argument("--out", metavar="FILE", help="where the case goes (default: reports/search/seed_S.mks)")


def _search(options: argparse.Namespace) -> int:
    seed = seed_of(options.seed)
    cases = None if options.cases is None else cases_of("--cases", options.cases)
    minutes = options.minutes if options.minutes is not None or cases is not None else "1"
    seconds = None if minutes is None else seconds_of(minutes)
    if find_spec("hypothesis") is None:
        raise Failure("MKS0961", "a search needs hypothesis: pip install 'mkeyspec[search]'")
    library = _counting(options) if options.guided else None
    take_fault(options)
    start_on(options.device, whole=options.whole)
    from mkeyspec.search.hunt import Hunt
    from mkeyspec.search.machine import search

    with TemporaryDirectory() as folder:
        hunt = Hunt(_three(options, Path(folder)), cases, seconds)
        if options.guided:
            _guided(hunt, seed, library, Path(folder, "counters"))
        else:
            search(hunt, seed)
        return _told(options, hunt, seed)


def _counting(options: argparse.Namespace) -> Path | None:
    """The library of the software NIC that counts. Raises Failure if what `--guided` needs is missing."""
    from mkeyspec.search.nic_lines import NicError, built

    if find_spec("coverage") is None:
        raise Failure("MKS0961", "--guided needs coverage: pip install 'mkeyspec[search]'")
    if not options.device.startswith("soft"):
        return None
    if options.fault is not None:
        raise Failure("MKS0905", "--guided: the software NIC that counts has no faults; leave --fault out, or --guided")
    try:
        library = built(resource.directory("cases").parent / "softnic")
    except NicError as error:
        raise Failure("MKS0961", f"--guided --device soft can't build a library that counts: {error}") from None
    os.environ["MKEYSPEC_SOFTNIC_LIBRARY"] = str(library)
    return library


def _guided(hunt: Hunt, seed: Seed, library: Path | None, folder: Path) -> None:
    """Search, and say what was reached and what was not."""
    from mkeyspec.search.guided import guided
    from mkeyspec.search.model_branches import ModelBranches
    from mkeyspec.search.nic_lines import NicLines

    nic = None if library is None else NicLines(library, folder)
    reached: list[Reached] = [ModelBranches(), *([] if nic is None else [nic])]
    try:
        kept = guided(hunt, seed, reached)
        for one in reached:
            for place in one.left():
                print(place)
        totals = [one.total() for one in reached]
    finally:
        if nic is not None:
            nic.close()
    print("mkeyspec: " + ", ".join(f"{one.reached} of {one.all} {one.what}" for one in totals) + f"; {kept} cases kept")


def _three(options: argparse.Namespace, folder: Path) -> Three:
    from mkeyspec.search.three import Three
    from mkeyspec.shrink.judge import Player

    device = None
    if options.device != "model" or options.fault is not None:
        make = opener(options)
        opened = [make()]  # one that can't be opened is told of before the search
        device = Player(lambda: opened.pop() if opened else make())
    name = f"{options.device} with {options.fault}" if options.fault else options.device
    return Three(folder, Player(rig_of_model), device, name)


def _told(options: argparse.Namespace, hunt: Hunt, seed: Seed) -> int:
    """What was found, written and said."""
    from mkeyspec.search.hunt import RUNS
    from mkeyspec.search.small import small

    place = project_of().reports / "search"
    name = f"seed_{str(seed).replace('.', '_')}"
    for number, one in enumerate(hunt.unsteady):
        out = place / f"{name}_unsteady_{number}.mks"
        _write(out, f"# disagrees in {one.failed} of {RUNS} runs\n{one.text}")
        print(f"mkeyspec: {os.path.relpath(out)} fails {one.failed} of {RUNS} runs, and is not made smaller:")
        _say(one.found)
    who = "references and model" if hunt.three.device is None else f"references, model and {hunt.three.name}"
    if hunt.found is None:
        print(f"mkeyspec: {hunt.ran} cases of seed {seed}: {who} agree{' on the others' if hunt.unsteady else ''}")
        return FAILED if hunt.unsteady else OK
    found = hunt.found
    shrunk = small(hunt.text, found, hunt.three, SHRINKING)
    found = hunt.three.disagreement(shrunk.text) or found
    guided = " --guided" * options.guided
    fault = f" --fault {options.fault}" if options.fault else ""
    alone = f"{found.alone} stands alone" if found.alone else f"{who} do not agree"
    out = Path(options.out) if options.out else place / f"{name}.mks"
    _write(out, f"# {alone}, {found.code}; seed {seed}\n{shrunk.text}")
    sys.stdout.write(shrunk.text)
    many = "1 statement" if shrunk.statements == 1 else f"{shrunk.statements} statements"
    whole = "" if shrunk.whole else "; the time was over before all edits were tried"
    print(
        f"mkeyspec: {alone} with {found.code} in case {hunt.ran} of seed {seed}: {os.path.relpath(out)}, {many}{whole}"
    )
    _say(found)
    print(f"mkeyspec: again: mkeyspec search --seed {seed} --cases {hunt.ran} --device {options.device}{fault}{guided}")
    return FAILED


def _say(found: Disagreement) -> None:
    for who, what in found.said:
        print(f"    {who}: {what}")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, text)
    except OSError as error:
        raise Unwritable(path, error, "--out") from None
