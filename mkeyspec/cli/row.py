"""The row that an id on the command line names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mkeyspec.cli.session import Failure
from mkeyspec.cli.sources import be_a_source, project_root
from mkeyspec.diagnostics.suggest import did_you_mean
from mkeyspec.files.project import SUFFIX

if TYPE_CHECKING:
    from mkeyspec import plan
    from mkeyspec.compiler.loader import Loaded
    from mkeyspec.syntax import ast


class Item(NamedTuple):
    """`path`: as it was given; `source`: relative to the suite's root."""

    path: str
    source: str
    loaded: Loaded
    tree: ast.Case
    case: plan.Case
    row: plan.Row


def row_of(id: str) -> Item:
    """The row of `FILE::CASE[ROW]`. Raises Failure (MKS0903, MKS0907)."""
    path, _, rest = id.partition("::")
    name, _, wanted = rest.removesuffix("]").partition("[")
    suite, loaded = _compiled(Path(path))
    if not name and suite.cases:
        first = suite.cases[0]
        one_of = f"[{first.rows[0].id}]" if first.rows[0].id else ""
        raise Failure("MKS0907", f"{path} has no case ''; name a row, as {path}::{first.name}{one_of}")
    case = next((one for one in suite.cases if one.name == name), None)
    if case is None:
        advice = did_you_mean(name, [one.name for one in suite.cases])
        raise Failure("MKS0907", f"{path} has no case {name!r}{f'; {advice}' if advice else ''}")
    row = next((one for one in case.rows if one.id == wanted), None)
    if row is None:
        raise Failure("MKS0907", _no_row(path, case, wanted))
    return _item(path, suite, loaded, case, row)


def first_row_of(path: Path, *, name: str = "", line: int = 0) -> Item:
    """The first row of a case: of the one called `name`, of the one that `line` is in, or of the first. Raises Failure
    (MKS0903, MKS0907)."""
    suite, loaded = _compiled(path)
    if not suite.cases:
        raise Failure("MKS0907", f"{path} has no case: it is a library")
    if name:
        case = next((one for one in suite.cases if one.name == name), None)
        if case is None:
            advice = did_you_mean(name, [one.name for one in suite.cases])
            raise Failure("MKS0907", f"{path} has no case {name!r}{f'; {advice}' if advice else ''}")
    elif line:
        case = max((one for one in suite.cases if one.at.line <= line), key=lambda one: one.at.line, default=None)
        if case is None or line > loaded.file.source.text.count("\n") + 1:
            raise Failure("MKS0907", f"{path}:{line} is in no case")
        for row in case.rows:
            if any(step.at.line == line or any(one.at.line == line for one in step.posted()) for step in row.steps):
                return _item(str(path), suite, loaded, case, row)
    else:
        case = suite.cases[0]
    return _item(str(path), suite, loaded, case, case.rows[0])


def _compiled(path: Path) -> tuple[plan.Suite, Loaded]:
    from mkeyspec.compiler.compile import compile_file

    be_a_source(path, SUFFIX)
    if not path.is_file():
        raise Failure("MKS0903", f"no such file: {path}")
    compiled = compile_file(path, base=project_root())
    if compiled.suite is None or compiled.loaded is None:
        raise Failure("MKS0907", f"{path} has errors, see `mkeyspec check {path}`")
    return compiled.suite, compiled.loaded


def _item(path: str, suite: plan.Suite, loaded: Loaded, case: plan.Case, row: plan.Row) -> Item:
    tree = next(one for one in loaded.file.cases if one.name.text == case.name)
    return Item(path, suite.source, loaded, tree, case, row)


def _no_row(path: str, case: plan.Case, wanted: str) -> str:
    rows = f"`mkeyspec list --rows {path}` names its rows"
    if not wanted:
        return f"case {case.name} has no row '': it has {len(case.rows)}, as {case.name}[{case.rows[0].id}]; {rows}"
    near = did_you_mean(wanted, [one.id for one in case.rows])
    return f"case {case.name} has no row {wanted!r}; {f'{near}; ' if near else ''}{rows}"
