"""Output of `mkeyspec list`: the cases of a suite, or the ledger."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkeyspec.cli.covered_rows import alone_text, together, tuples_text

if TYPE_CHECKING:
    from mkeyspec.compiler.compile import Compiled
    from mkeyspec.plan import Case


def suite_data(path: Path, compiled: Compiled) -> dict[str, Any]:
    """The suite as JSON has it; `compiled` has one."""
    assert compiled.suite is not None
    return {
        "file": os.path.relpath(path),
        "title": compiled.suite.title,
        "cases": [_case_data(case) for case in compiled.suite.cases],
    }


def _case_data(case: Case) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": case.name,
        "line": case.at.line,
        "title": case.title,
        "verifies": list(case.verifies),
        "isolated": case.isolated,
        "tags": list(case.tags),
        "level": case.level,
        "rows": [{"id": row.id, "needs": [str(need) for need in row.needs]} for row in case.rows],
    }
    if case.covered is not None:
        tuples, alone = together(case, case.covered)
        strength, combinations = case.covered.strength, case.covered.combinations
        data["covering"] = {"strength": strength, "combinations": combinations, "tuples": tuples}
        for row, its in zip(data["rows"], alone, strict=True):
            row["alone"] = its
    return data


def suite_text(suite: dict[str, Any], rows: bool) -> str:
    lines = [f"{suite['file']}  {suite['title']}"]
    for case in suite["cases"]:
        needs = list(dict.fromkeys(need for row in case["rows"] for need in row["needs"]))
        count = len(case["rows"])
        covering = case.get("covering")
        lines.append(f"  {case['line']:>4}  {case['name']}" + (f"  ({count} rows)" if count > 1 else ""))
        if covering:
            strength, there = covering["strength"], tuples_text(covering["tuples"], covering["strength"])
            lines.append(
                f"        covering {strength}: {count} of {covering['combinations']} combinations have all {there}"
            )
        if case["verifies"]:
            lines.append(f"        verifies {', '.join(case['verifies'])}")
        if case["tags"]:
            lines.append(f"        tags {', '.join(case['tags'])}")
        if case["level"] != "mandatory":
            lines.append(f"        level {case['level']}")
        if needs:
            lines.append(f"        needs {', '.join(needs)}")
        if rows:
            lines += [_row_text(row, covering) for row in case["rows"] if row["id"]]
    return "\n".join(lines) + "\n\n"


def _row_text(row: dict[str, Any], covering: dict[str, Any] | None) -> str:
    why = f"  {alone_text(row['alone'], covering['strength'])}" if covering else ""
    return f"        [{row['id']}]{why}"


def requirements_text(format: str, project: Path) -> str:
    """The ledger and the project's own, one entry per line, or as JSON."""
    from mkeyspec.requirements.own import all_requirements

    ledger = all_requirements(project).values()
    if format == "json":
        return json.dumps([{"id": one.id, "title": one.title, "page": one.page} for one in ledger], indent=2) + "\n"
    return "".join(f"{one.id:<9} {one.title}  ({one.page})\n" for one in ledger)
