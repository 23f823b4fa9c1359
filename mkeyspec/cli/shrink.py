"""`mkeyspec shrink`: a failing row as a small case of its own."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mkeyspec.cli.options import command
from mkeyspec.cli.rigs import add_device, opener, rig_of_model, take_fault
from mkeyspec.cli.row import row_of
from mkeyspec.cli.session import FAILED, OK, Failure
from mkeyspec.cli.soft_process import start_on
from mkeyspec.files.atomic_write import replace
from mkeyspec.files.project import project_of
from mkeyspec.files.unwritable import Unwritable

_EXAMPLE = """\
example:
  $ mkeyspec shrink 'cases/signature/crc.mks::strip_on_transmit[crc=crc32c,n=3]' --device mlx5_0
  $ mkeyspec shrink 'cases/signature/crc.mks::strip_on_transmit[crc=crc32c,n=3]' --fault crc32c_polynomial
Exit code: 0 if a small case was written, 1 if the row does not fail (each time), 2 for wrong input."""

_RUNS = 5
"""How often a row is run before it counts as failing."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    parser = command(commands, "shrink", _shrink, "a failing row as a small case of its own", _EXAMPLE)
    parser.add_argument("item", metavar="ID", help="as a report names it: FILE::CASE[ROW]")
    parser.add_argument("--device", default="model", metavar="NAME", help="where it fails (default: model)")
    add_device(parser)
    parser.add_argument("--seconds", type=float, default=120.0, metavar="S", help="end after this time (default: 120)")
    parser.add_argument("--out", metavar="FILE", help="where the case goes (default: reports/shrink/CASE.mks)")


def _shrink(options: argparse.Namespace) -> int:
    if not options.seconds > 0:
        raise Failure("MKS0905", f"--seconds {options.seconds:g}: a search takes more than 0 seconds")
    take_fault(options)
    start_on(options.device, whole=options.whole)
    return _search(options)


def _search(options: argparse.Namespace) -> int:
    from mkeyspec.shrink.judge import Judge, Player
    from mkeyspec.shrink.shrink import shrink
    from mkeyspec.shrink.stand_alone import stand_alone

    item = row_of(options.item)
    device, model = Player(opener(options)), Player(rig_of_model)
    outcomes = [device.play(item.case, item.row, item.path) for _ in range(_RUNS)]
    code = outcomes[0].code
    if outcomes[0].status == "skip":
        return _no(f"it is skipped on {options.device}: {outcomes[0].text}")
    failing = sum(one.status == "fail" for one in outcomes)
    if failing < _RUNS or any(one.code != code for one in outcomes):
        what = f"it fails in {failing} of {_RUNS} runs, not always in one way" if failing else "it passes"
        return _no(f"{what} on {options.device}; only a row that fails each time, in one way, can be shrunk")
    good = model.play(item.case, item.row, item.path).status == "pass"
    with TemporaryDirectory() as folder:
        judge = Judge(Path(folder), device, model if good else None, code)
        texts = [judge.alone(text) for text in stand_alone(item.loaded, item.tree, item.row)]
        own = [text for text in texts if judge.is_row(text, item.row.id)][:1]
        text = next((one for one in own or texts if judge.fails(one)), None)
        if text is None:
            return _no("with these values alone, in a file of its own, it does not fail")
        found = shrink(text, judge, options.seconds)
    on = options.device + (f" with {options.fault}" if options.fault else "")
    out = Path(options.out) if options.out else project_of().reports / "shrink" / f"{item.case.name}.mks"
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        replace(out, f"# {code} on {on}; shrunk from {options.item}\n{found.text}")
    except OSError as error:
        raise Unwritable(out, error, "--out") from None
    sys.stdout.write(found.text)
    many = "1 statement that fails" if found.statements == 1 else f"{found.statements} statements that fail"
    more = "" if good else "; the model fails it, too"
    more += "" if found.whole else "; the time was over before all edits were tried"
    print(
        f"mkeyspec: {many} with {code} on {on}, after {found.tried} tries: {os.path.relpath(out)}{more}",
        file=sys.stderr,
    )
    return OK


def _no(why: str) -> int:
    print(f"mkeyspec: error[MKS0933]: not shrunk: {why}", file=sys.stderr)
    return FAILED
