"""Where streams of results are kept: `reports/RUN/results.ndjson`, RUN beginning with the time."""

from __future__ import annotations

import os
import re
import secrets
from datetime import datetime, timezone
from pathlib import Path

FILE = "results.ndjson"
_NAME = re.compile(r"\d{8}-\d{6}-.")
_SECOND = len("20261122-174501")


def run_name(device: str) -> str:
    """`20261122-174501-model-1f3a`: sorted by time, and unique."""
    now = datetime.now(timezone.utc)
    word = re.sub(r"[^\w.]+", "-", device, flags=re.ASCII).strip("-")[:40]
    return f"{now:%Y%m%d-%H%M%S}-{word}-{secrets.token_hex(2)}"


def is_run_name(name: str) -> bool:
    return _NAME.match(name) is not None


def streams_of(run: Path) -> list[Path]:
    """The streams of the directory of a run: its own, or those of the devices of a lab."""
    own = run / FILE
    return [own] if own.is_file() else sorted(path for path in run.glob(f"*/{FILE}") if path.is_file())


def newest(reports: Path) -> list[Path]:
    """The streams of the newest run in a directory of reports."""
    return next((streams for name in reversed(_runs(reports)) if (streams := streams_of(reports / name))), [])


def streams_in(reports: Path, unit: str = "") -> list[Path]:
    """The streams of a directory of reports, the oldest first. `unit`: those of this folder in runs of a lab."""
    return [path for name in _runs(reports) if (path := reports / name / unit / FILE).is_file()]


def _runs(reports: Path) -> list[str]:
    """The names of the runs, the oldest first. Of those that began in one second, the folder's own time decides."""
    try:
        with os.scandir(reports) as entries:
            runs = [(one.name[:_SECOND], one.stat().st_mtime_ns, one.name) for one in entries if is_run_name(one.name)]
    except OSError:
        return []
    return [name for _, _, name in sorted(runs)]
