"""`mkeyspec draw`: the messages of a case, from memory through the mkey to the wire."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkeyspec.cli.explain_line import place_in
from mkeyspec.cli.options import command
from mkeyspec.cli.output_file import write
from mkeyspec.cli.row import Item, first_row_of, row_of
from mkeyspec.cli.session import OK, Failure
from mkeyspec.cli.sources import sources_of
from mkeyspec.files.project import SUFFIX

if TYPE_CHECKING:
    from mkeyspec.plan import At
    from mkeyspec.repro.trace import Taken
    from mkeyspec.run.way import Message

_EXAMPLE = """\
example:
  $ mkeyspec draw 'cases/signature/crc.mks::strip_on_transmit[crc=crc32c,n=3]'
  $ mkeyspec draw cases/first.mks::strip_on_transmit      # its first row
  $ mkeyspec draw cases/first.mks:10                      # what the statement of this line transfers
  $ mkeyspec draw strip_on_transmit --format svg -o way.svg
The row is carried out on the model, so that numbers which a device reports are known.
Exit code: 0 if there is a drawing, 2 for wrong input."""

MOST_MESSAGES = 12
"""Messages that are drawn; of the others only the number is printed."""


def add(commands: Any) -> None:
    """The command, among the subparsers of the command line."""
    draw = command(commands, "draw", _draw, "the messages of a case: memory, mkey, wire", _EXAMPLE)
    draw.add_argument("item", metavar="ID", help="FILE::CASE[ROW], FILE::CASE, FILE:LINE, or the name of a case")
    draw.add_argument("--format", choices=("text", "svg"), default="text", help="default: text")
    draw.add_argument("-o", "--output", metavar="FILE", help="where to (default: stdout)")


def _draw(options: argparse.Namespace) -> int:
    item, line = _item(options.item)
    title = f"{item.source}::{item.case.name}" + (f"[{item.row.id}]" if item.row.id else "")
    if len(item.case.rows) > 1:
        title += f", one of {len(item.case.rows)} rows"
    messages, refused, cut = _messages(item)
    if line is not None:
        messages = [one for one in messages if one.at.line == line] or messages
    if not messages:
        raise Failure("MKS0907", f"{title} transfers nothing; there is nothing to draw{f': {cut}' if cut else ''}")
    texts = item.loaded.file.source.text.split("\n")
    parts = _parts(title, messages, refused, texts)
    text = _text(parts) if options.format == "text" else _svg(title, parts)
    if options.output is None:
        sys.stdout.write(text)
    else:
        write(Path(options.output), text.encode(), "-o")
    if cut:
        print(f"mkeyspec: the drawing ends early: {cut}", file=sys.stderr)
    return OK


def _item(id: str) -> tuple[Item, int | None]:
    """The row that is meant, and the line of a statement. Raises Failure."""
    if "::" in id:
        file, _, name = id.partition("::")
        return (row_of(id) if "[" in name else first_row_of(Path(file), name=name)), None
    if (place := place_in(id)) is not None:
        path, line = place
        return first_row_of(path, line=line), line
    if id.endswith(SUFFIX):
        return first_row_of(Path(id)), None
    name, _, row = id.partition("[")
    declares = re.compile(rf"^case\s+{re.escape(name)}\b(?!-)", re.M)
    found = [path for path in sources_of([]) if declares.search(path.read_text("utf-8", errors="replace"))]
    if not found:
        raise Failure("MKS0907", f"no case is called {name!r}; name it as FILE::CASE, `mkeyspec list` lists them")
    if len(found) > 1:
        names = " or ".join(f"{path}::{name}" for path in found[:3])
        raise Failure("MKS0907", f"{len(found)} files have a case {name!r}; write {names}")
    return (row_of(f"{found[0]}::{id}") if row else first_row_of(found[0], name=name)), None


def _messages(item: Item) -> tuple[list[Message], dict[At, str], str]:
    """The messages of a row; what became of those that were not carried out, by their places; why they end early."""
    from mkeyspec import plan
    from mkeyspec.device.profile.profile import Profile
    from mkeyspec.repro.trace import Trace, Unsayable
    from mkeyspec.run.way import messages_of

    trace = Trace(item.row, f"{item.source}::{item.case.name}", item.case.at, Profile())
    cut = ""
    refused: dict[At, str] = {}
    try:
        for taken in trace.steps():
            refused |= _refused(taken)
            hard = next((one for one in taken.failures if one.hard), None)
            if hard is not None and not cut:
                cut = f"{item.path}:{hard.at}: {hard.message}"
    except Unsayable as error:
        cut = f"{item.path}:{error.at}: the model does not do this: {error}"
    deks = {step.name: step for step in item.row.steps if isinstance(step, plan.Dek)}
    return list(messages_of(trace.state, deks)), refused, cut


def _refused(taken: Taken) -> Iterator[tuple[At, str]]:
    """The messages of a statement that the model did not carry out, each with what became of it."""
    from mkeyspec import plan
    from mkeyspec.plan.claim import rejections

    step, ruled = taken.step, taken.ruled
    if step is None:
        return
    requests = [wr.at for wr in step.requests] if isinstance(step, plan.Post) else [step.at]
    if isinstance(step, plan.Post) and step.abort:
        yield from ((at, "aborted: not posted, and no byte is moved") for at in requests)
    elif ruled is not None and ruled.attempt.phase == "complete":
        why = f"refused at complete with {ruled.attempt.reason}: not posted, and no byte is moved"
        yield from ((at, why) for at in requests)
    elif ruled is not None and ruled.attempt.phase == "completion":
        why = f"refused at completion with {ruled.attempt.reason}"
        bad = min((one for outcome in rejections(ruled.claim) for one in outcome.requests), default=None)
        if bad is None and len(requests) > 1:
            yield from ((at, f"of a section that is {why}") for at in requests)
            return
        yield requests[bad or 0], why
        yield from ((at, "flushed: after a request that is refused") for at in requests[(bad or 0) + 1 :])


Part = Any
"""A line of text, or a `run.drawing.Drawing`."""


def _parts(title: str, messages: Sequence[Message], refused: Mapping[At, str], texts: Sequence[str]) -> list[Part]:
    parts: list[Part] = [title]
    for message in islice(messages, MOST_MESSAGES):
        said = texts[message.at.line - 1].strip() if message.at.line <= len(texts) else ""
        parts += ["", f"{message.at}  {said}"]
        if message.at in refused:
            parts.append(f"  ✗ {refused[message.at]}")
        for leg in message.legs:
            parts += [f"  {line}" for line in leg.keys]
            parts.append(f"  {leg.title}")
            if leg.drawing is not None:
                parts.append(leg.drawing)
        if message.left:
            parts.append(f"  … {message.left} more SGEs")
    left = len(messages) - MOST_MESSAGES
    if left > 0:
        parts += [
            "",
            f"… {left:,} more message{'s' if left > 1 else ''}; `mkeyspec draw FILE:LINE` draws those of a line",
        ]
    return parts


def _text(parts: Sequence[Part]) -> str:
    lines: list[str] = []
    for part in parts:
        if isinstance(part, str):
            lines.append(part)
            continue
        for number, band in enumerate(part.bands()):
            lines += ([""] if number else []) + [f"    {line}" for line in band.lines()]
    return "\n".join(lines) + "\n"


def _svg(title: str, parts: Sequence[Part]) -> str:
    from mkeyspec.report.picture import picture, svg

    drawn: list[Any] = []
    for part in parts:
        if isinstance(part, str):
            drawn.append(part)
            continue
        for band in part.bands():
            rows = band.rows()
            drawn.append(
                picture(
                    list(rows), list(rows.values()), [one.bad for one in band.cells], 0,
                    before=band.before, after=band.after, title=title,
                )
            )  # fmt: skip
    return svg(title, drawn)
