"""Branches of the model, by coverage.py."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from coverage import Coverage

from mkeyspec.device import model
from mkeyspec.search.reached import Total, Unreached


class ModelBranches:
    """Of what the modules of the model do from now on."""

    def __init__(self) -> None:
        modules = str(Path(model.__file__).parent / "*.py")
        self._coverage = Coverage(data_file=None, branch=True, config_file=False, include=[modules])
        self._coverage.set_option("run:disable_warnings", ["no-data-collected", "couldnt-parse"])
        self._coverage.start()

    def count(self) -> int:
        data = self._coverage.get_data()
        return sum(len(data.arcs(name) or ()) for name in data.measured_files())

    def total(self) -> Total:
        totals = self._report()["totals"]
        return Total(totals["covered_branches"], totals["num_branches"], "branches of the model")

    def left(self) -> Iterator[Unreached]:
        for path, found in sorted(self._report()["files"].items()):
            file = f"mkeyspec/device/model/{Path(path).name}"
            for first, then in found["missing_branches"]:
                yield Unreached(file, first, first, f"never goes to {then}" if then > 0 else "never leaves here")

    def _report(self) -> Any:
        self._coverage.stop()
        with TemporaryDirectory() as folder:
            out = Path(folder, "branches.json")
            self._coverage.json_report(outfile=str(out))
            report = json.loads(out.read_text(encoding="utf-8"))
        self._coverage.start()
        return report
