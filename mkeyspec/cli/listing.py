"""Output of `mkeyspec list`: the cases of a suite, or the ledger."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkeyspec.compiler.compile import Compiled
    from mkeyspec.plan import Need


def suite_data(path: Path, compiled: Compiled) -> dict[str, Any]:
    """The suite as JSON has it; `compiled` has one."""
    assert compiled.suite is not None
    return {
        "file": os.path.relpath(path),
        "title": compiled.suite.title,
        "cases": [
            {
                "name": case.name,
                "line": case.at.line,
                "title": case.title,
                "verifies": list(case.verifies),
                "isolated": case.isolated,
                "rows": [{"id": row.id, "needs": [_need(need) for need in row.needs]} for row in case.rows],
            }
            for case in compiled.suite.cases
        ],
    }


def _need(need: Need) -> str:
    if isinstance(need, str):
        return need
    return f"{need.live.subject}.{need.live.member} {need.operator} {need.value}"


def suite_text(suite: dict[str, Any], rows: bool) -> str:
    lines = [f"{suite['file']}  {suite['title']}"]
    for case in suite["cases"]:
        needs = list(dict.fromkeys(need for row in case["rows"] for need in row["needs"]))
        count = len(case["rows"])
        lines.append(f"  {case['line']:>4}  {case['name']}" + (f"  ({count} rows)" if count > 1 else ""))
        if case["verifies"]:
            lines.append(f"        verifies {', '.join(case['verifies'])}")
        if needs:
            lines.append(f"        needs {', '.join(needs)}")
        if rows:
            lines += [f"        [{row['id']}]" for row in case["rows"] if row["id"]]
    return "\n".join(lines) + "\n\n"


def requirements_text(format: str) -> str:
    """The ledger, one entry per line, or as JSON."""
    from mkeyspec.requirements.ledger import requirements

    ledger = requirements().values()
    if format == "json":
        return json.dumps([{"id": one.id, "title": one.title, "page": one.page} for one in ledger], indent=2) + "\n"
    return "".join(f"{one.id:<9} {one.title}  ({one.page})\n" for one in ledger)
