"""One run of pytest over `.mks` files for the command line, with counts of the verdicts and their reasons."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from mkeyspec.bundle.merge import folder_of, in_the_way, merge, parts_in
from mkeyspec.cli.lost_rows import lost_rows
from mkeyspec.cli.output_file import write
from mkeyspec.cli.stream import loss
from mkeyspec.cli.supervise import supervised
from mkeyspec.files.project import SUFFIX, added_options, passed_by
from mkeyspec.files.unwritable import Unwritable
from mkeyspec.report.reader import Unusable, read

OK, FAILED, USAGE, NOTHING, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""Exit codes of the command line."""

_CODE = re.compile(r"MKS\d{4}")
_REASONS = 4
"""Reasons that the last line names, of each kind."""


class Failure(Exception):
    """Bad input or usage; `str()` is one line with a code and the fix."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"error[{code}]: {message}")
        self.code = code


class Tally:
    """A pytest plugin that counts the verdicts of the rows with their reasons. A row that is run again counts
    once."""

    KINDS = ("passed", "failed", "known", "blocked", "lost", "skipped")
    """In the order of the last line."""
    _RANK = ("passed", "known", "skipped", "blocked", "failed", "lost")
    """If setup, call and teardown of a row differ, the last of these counts."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[str, str]] = {}
        """Of each row by its id: (kind, reason)."""
        self._no_rows: set[str] = set()
        """Of those, what was not a row: a file that could not be collected, a whole case, or the process itself."""
        self.device = ""
        """What `--device` is, by whatever means pytest got it."""
        self.reruns = 0
        self.not_run = 0
        self.broken = False
        self.interrupted = False
        self.listed = False
        """The rows were only to be listed (`--collect-only`)."""

    def counts(self, kind: str) -> Counter[str]:
        """Of one kind: how many rows for which reason."""
        return Counter(reason for found, reason in self.rows.values() if found == kind)

    @property
    def went_wrong(self) -> bool:
        return any(kind in ("failed", "blocked", "lost") for kind, _ in self.rows.values())

    @property
    def judged(self) -> bool:
        """Whether any row has a verdict."""
        return any(kind not in ("skipped", "blocked") for kind, _ in self.rows.values())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if getattr(report, "of_case", False):
            self._no_rows.add(report.nodeid)
        if report.outcome == "rerun":  # type: ignore[comparison-overlap]  # of plugins that run a failed test again
            self.reruns += not getattr(report, "blocked", None)  # it comes out the same each time
            self.rows.pop(report.nodeid, None)
        elif report.passed:
            if report.when == "call":
                self._count(report, "passed")
        elif getattr(report, "blocked", None):
            self._count(report, "blocked", f"since {report.blocked}")
        elif getattr(report, "lost", None):
            self._count(report, "lost", str(report.lost))
        elif getattr(report, "not_judged", None):
            self._count(report, "failed", str(report.not_judged))
        elif report.failed:
            self._failed(report)
        elif getattr(report, "known", None):
            self._count(report, "known", str(report.known))
        elif getattr(report, "waived", None):
            self._count(report, "known", report.waived["why"])
        else:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self._count(report, "skipped", getattr(report, "wasxfail", None) or reason.removeprefix("Skipped: "))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.failed:
            return
        self._no_rows.add(report.nodeid)
        if getattr(report, "lost", None):  # the process ended outside of any row
            self._count(report, "lost", str(report.lost))
        else:
            self._failed(report)
            self.broken = True

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.device = session.config.getoption("--device")
        self.listed = bool(session.config.option.collectonly)
        self.not_run = max(0, session.testscollected - len(self.rows.keys() - self._no_rows))

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """pytest and pytest-xdist stop a run after its last allowed failure in the same way as at a pressed key."""
        value = excinfo.value
        stopped = isinstance(value, KeyboardInterrupt) and type(value) is not KeyboardInterrupt
        self.interrupted = not stopped or "keyboard-interrupt" in str(value)

    def _failed(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        crash = getattr(report.longrepr, "reprcrash", None)
        text = crash.message if crash is not None else report.longreprtext
        code = _CODE.search(text[:200])
        self._count(report, "failed", code[0] if code is not None else "another error")
        if code is not None and code[0] < "MKS2":
            self.broken = True

    def _count(self, report: pytest.TestReport | pytest.CollectReport, kind: str, reason: str = "") -> None:
        before = self.rows.get(report.nodeid, ("passed", ""))[0]
        if self._RANK.index(kind) >= self._RANK.index(before):
            self.rows[report.nodeid] = (kind, reason)

    def line(self, interrupted: bool = False) -> str:
        """`612 passed, 3 failed (2 MKS2101; 1 MKS2104), 40 skipped (36 crypto; 4 memcpy)`."""
        parts = []
        for kind in self.KINDS:
            counts = self.counts(kind)
            if counts or kind in ("passed", "failed", "skipped"):
                parts.append(f"{counts.total()} {kind}{_reasons(counts) if kind != 'passed' else ''}")
        if self.not_run:
            parts.append(f"{self.not_run} not run")
        if self.reruns:
            parts.append(f"{self.reruns} rerun{'s' if self.reruns > 1 else ''}")
        if interrupted:
            parts.append("interrupted")
        elif not self.rows and not self.not_run:
            parts.append("for no case was selected")
        return ", ".join(parts)


def _reasons(counts: Counter[str]) -> str:
    if not counts:
        return ""
    named = [f"{number} {reason}" for reason, number in counts.most_common(_REASONS)]
    rest = len(counts) - len(named)
    if rest > 0:
        named.append(f"{rest} more reason{'s' if rest > 1 else ''}")
    return f" ({'; '.join(named)})"


def run_session(
    paths: Sequence[str],
    arguments: Sequence[str],
    *,
    project: Path,
    generated: Path,
    junit: Path,
    results: Path,
    cache: Path | None,
    apart: bool,
    bundle: Path | None = None,
) -> int:
    """Run pytest and print the last line; returns the exit code. Raises Failure if it can't begin.

    `cache`: where pytest's own cache is, if not in the project.
    `apart`: in a child process; if that ends during a row, it is an error of that row.
    `bundle`: where what was observed is kept.
    """
    _make_writable(generated, "--generated")
    _make_writable(junit.parent, "--junit", junit)
    if junit.suffix == SUFFIX:
        raise Failure("MKS0902", f"{junit} would be a {SUFFIX} file, and no report: name the report after --junit")
    if junit.is_file():  # and no device, as /dev/null
        _must_be_a_report(junit)
    if junit.is_file() and not LISTS.intersection(arguments):
        junit.unlink()  # whatever happens, the last run's report does not stay for this one's
    new = not results.parent.exists()
    _make_writable(results.parent, "--results", results)
    if new:  # pytest makes it again, unless it refuses to begin
        results.parent.rmdir()
    if bundle is not None:
        _make_writable(bundle.parent, "--bundle", bundle)
        if why := in_the_way(bundle):
            raise Failure("MKS0902", why)
    _tell_unread(project)
    fixed = [
        *_ALONE,
        f"--rootdir={project}",
        f"--results={results}",
        f"--override-ini=norecursedirs={shlex.join(passed_by(project))}",
        f"--generated={generated}",
        *([] if cache is None else [f"--override-ini=cache_dir={cache}"]),
    ]
    kept = [] if bundle is None else [f"--bundle-parts={folder_of(bundle).absolute()}"]
    with _own_environment():
        # The paths first: an option that may have a value, as --debug, would take one that follows for it.
        code = _run_alone([*fixed, *kept], [*paths, *arguments], results, junit, apart)
    return code if bundle is None else _bundled(bundle, code)


def _bundled(bundle: Path, code: int) -> int:
    """Make one file of what the processes of the run have kept; returns the exit code."""
    folder = folder_of(bundle)
    if not parts_in(folder):
        return code
    try:
        cut = merge(folder, bundle)
    except OSError as error:
        print(Unwritable(bundle, error, "--bundle"))
        return USAGE if code in (OK, NOTHING) else code
    if cut:
        print(f"mkeyspec: {bundle} has the rows that had ended: a process was killed, or could not write")
    return (USAGE if code in (OK, NOTHING) else code) if cut else code


_OWN_OPTIONS = ("--device", "--expectations", "--waivers", "--deadline", "--case-profile", "--allow", "--deny")


def _tell_unread(project: Path) -> None:
    """Print that `run` does not read the project's `addopts`, if they select a device."""
    file, words = added_options(project)
    unread = [word for word in words if word.startswith(_OWN_OPTIONS)]
    if unread:
        where = os.path.relpath(file)
        print(f"mkeyspec: run does not read addopts of {where}; not in force: {shlex.join(unread)}", file=sys.stderr)


def _run_alone(fixed: Sequence[str], rest: Sequence[str], results: Path, junit: Path, apart: bool) -> int:
    started = time.monotonic()
    if not apart:
        return _session([*fixed, *rest], results, junit, started)
    with tempfile.TemporaryDirectory(prefix="mkeyspec-", dir=_temporary()) as folder:
        journal = Path(folder) / "journal"
        journaled = [*fixed, f"--journal={journal}", *rest]
        code = supervised(lambda: told(_session(journaled, results, junit, started)))
        if code is not None:
            return code
        print("\nmkeyspec: the process that ran the cases has ended; its reports until then, and the lost rows:")
        if not journal.exists():
            return INTERNAL
        return max(FAILED, _session([*fixed, f"--replay={journal}", *_BARE], results, junit, started))


_ALONE = (
    f"--config-file={Path(__file__).parents[1] / 'plugin' / 'run.ini'}",
    "--noconftest",
    *(["-pxdist.plugin"] if find_spec("xdist") is not None else []),
    "-pmkeyspec.plugin",
    # This process has imported mkeyspec, so pytest can't rewrite its asserts: it has no tests in it.
    "-Wignore:Module already imported so cannot be rewritten; mkeyspec:pytest.PytestAssertRewriteWarning",
)
"""The only options, plugins and conftest.py: a verdict depends only on the cases, the device and the arguments."""

LISTS = frozenset({"--collect-only", "--collectonly", "--co"})
"""Options of pytest that list the rows, and run none."""
_BARE = ("--device=model", "-q", "--no-header")
"""Options of a run that only replays the results of another one."""


@contextlib.contextmanager
def _own_environment() -> Iterator[None]:
    """Without what pytest takes from the environment: `PYTEST_ADDOPTS`, `PYTEST_PLUGINS`, entry points of plugins."""
    before = {name: os.environ.pop(name, None) for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", _AUTOLOAD)}
    os.environ[_AUTOLOAD] = "1"
    try:
        yield
    finally:
        del os.environ[_AUTOLOAD]
        os.environ.update({name: value for name, value in before.items() if value is not None})


_AUTOLOAD = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"


def _temporary() -> str | None:
    """The path of the journal; raises Failure if there is no directory for it."""
    try:
        return tempfile.gettempdir()
    except OSError:
        text = "there is no directory for temporary files; make room in /tmp, or name another in TMPDIR"
        raise Failure("MKS0902", text) from None


def _session(arguments: Sequence[str], results: Path, junit: Path, started: float) -> int:
    tally = Tally()
    code = pytest.main(list(arguments), plugins=[tally])
    if code == pytest.ExitCode.USAGE_ERROR and not tally.rows:
        return USAGE
    if code == pytest.ExitCode.INTERNAL_ERROR and not tally.rows and not tally.interrupted:
        return INTERNAL  # a plugin may also end a session with this number
    written = not tally.listed and _write_junit(results, junit)
    seconds = time.monotonic() - started
    line = tally.line(tally.interrupted and not tally.broken)
    report = f"report: {os.path.relpath(junit)}" if written and junit.is_file() else "no report"
    print(f"mkeyspec: {line} on {tally.device} in {seconds:.1f} s; {report}")
    ended = _exit_code(int(code), tally)
    if tally.listed:
        return ended
    if ended == OK and _lost_rows(results):
        ended = FAILED
    return USAGE if ended in (OK, NOTHING) and not written else ended


def _lost_rows(results: Path) -> bool:
    """Whether rows are missing that the last run with the same arguments had; says which."""
    run, ids = lost_rows(results, results.parents[2] if len(results.parents) > 2 else results.parent)
    if ids:
        what = "1 row" if len(ids) == 1 else f"{len(ids)} rows"
        print(f"mkeyspec: LOST: {what} that {run} had with the same arguments, as {ids[0]}; `mkeyspec compare {run}`")
    return bool(ids)


def _write_junit(results: Path, junit: Path) -> bool:
    """The report of the run, made of its results. If it can't be written, say why."""
    try:
        from mkeyspec.report.junit import junit_of
    except ImportError as error:
        print(f"mkeyspec: no report can be written: {error}; install mkeyspec again, with what it needs")
        return True  # of the environment nothing is known here; the verdicts stand
    try:
        write(junit, junit_of([read(results)]), "--junit")
    except (Unusable, Unwritable) as error:
        print(error)
        return False
    return True


def _exit_code(code: int, tally: Tally) -> int:
    if tally.broken:
        return USAGE
    if tally.interrupted:
        return INTERRUPTED
    if code == pytest.ExitCode.INTERNAL_ERROR:
        return INTERNAL
    if tally.went_wrong or code == pytest.ExitCode.TESTS_FAILED:
        return FAILED
    if code == pytest.ExitCode.USAGE_ERROR:  # the report can't be written
        return USAGE
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return INTERNAL
    return OK if tally.judged or (tally.listed and code == pytest.ExitCode.OK) else NOTHING


def told(code: int) -> int:
    """`code`, or another if what was to be printed could not be."""
    why = loss()
    if not why:
        return code
    print(f"mkeyspec: error[MKS0902]: {why}", file=sys.stderr)
    return code or USAGE


def _must_be_a_report(junit: Path) -> None:
    """Refuse to overwrite a file that is not a report: `--junit cases/a.mks` names cases instead of a report."""
    try:
        with junit.open("rb") as stream:
            begin = stream.read(100).lstrip()
    except OSError as error:
        raise Unwritable(junit, error, "--junit") from None
    if begin and not begin.startswith((b"<?xml", b"<testsuite")):
        raise Failure(
            "MKS0902", f"{junit} is there and is not a report: name the report after --junit, or move it away"
        )


def _make_writable(folder: Path, option: str, file: Path | None = None) -> None:
    """Check now what would otherwise fail at the end of a long run."""
    probe = folder / f".mkeyspec-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
        if file is not None and file.is_dir():
            raise IsADirectoryError
    except OSError as error:
        raise Unwritable(file or folder, error, option) from None
