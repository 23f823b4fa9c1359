"""A failure of the whole session, of no row: reported at its end as a test that failed."""

from __future__ import annotations

import pytest

from mkeyspec.report.record import Verdict


def fail_session(
    session: pytest.Session, nodeid: str, location: tuple[str, int | None, str], text: str, verdict: Verdict = "error"
) -> None:
    """Report `text` under `nodeid`, and have the session fail if nothing else does. `verdict`: in a stream of results.

    Only in the process that gets all reports.
    """
    if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    failed = pytest.TestReport(nodeid, location, {}, "failed", text, "call")
    failed.__dict__.update(of_case=True, verdict=verdict)
    session.config.hook.pytest_runtest_logreport(report=failed)
