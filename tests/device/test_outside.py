"""Devices of other packages: found by their entry points, checked when they are opened, and named in one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mkeyspec.device.outside import CALLS
from tests.plugin.project import CASES, Project

GOOD = CASES.replace("pick(n == 2, fill(0, 64), counter(64))", "counter(64)")

DEVICE = """\
import os
from dataclasses import replace

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.protocol import Capabilities, Info, Unavailable


class Acme(Model):
    def info(self):
        return Info("acme", "2.1", {"kernel": "6.1"})


class Boastful(Acme):
    def capabilities(self):
        return Capabilities(frozenset({"cryto"}), {"max_wr_memcpy_length": "many"})


class Mute(Acme):
    def capabilities(self):
        raise OSError("no answer")


class Gone(Acme):
    # Raises, once it was opened and looked at.

    def __init__(self, profile, call):
        super().__init__(profile)
        setattr(self, call, self._later(getattr(self, call)))

    error = OSError

    def _later(self, call):
        calls = iter([call] * (call.__name__ != "close"))

        def answer(**options):
            for one in calls:
                return one(**options)
            raise self.error("no answer")

        return answer


class Half(Acme):
    # Offers what it has no call for.
    query_dek = None


class Less(Half):
    # As a device of an earlier release: it has no such calls, and does not offer them.
    destroy_dek = None

    def capabilities(self):
        found = super().capabilities()
        return replace(found, offers=found.offers - {"dek_query"})


def open(argument, profile):
    if argument == "raises":
        raise RuntimeError("slot 1 is empty\\nand more")
    if argument == "busy":
        raise Unavailable("MKS0944", "slot 1 is in use; stop its user")
    if argument == "gone-in-a-worker":
        return Gone(profile, "close") if "PYTEST_XDIST_WORKER" in os.environ else Acme(profile)
    if argument.startswith("skips-"):
        Gone.error = pytest.skip.Exception
        return Gone(profile, argument[6:])
    if argument == "skips":
        pytest.skip("no answer")
    if argument.startswith("gone-"):
        return Gone(profile, argument[5:])
    kinds = {"": Acme, "boastful": Boastful, "mute": Mute, "half": Half, "less": Less}
    kinds["nothing"] = lambda profile: object()
    return kinds[argument](profile)
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """With a package that is installed beside it."""
    made = Project(tmp_path)
    made.put("cases/a.mks", GOOD)
    made.put("acme_nic.py", DEVICE)
    made.put("acme_nic-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: acme-nic\nVersion: 1.0\n")
    made.put(
        "acme_nic-1.0.dist-info/entry_points.txt",
        "[mkeyspec.devices]\nacme = acme_nic:open\ngone = acme_nic_gone:open\n",
    )
    return made


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_device_of_another_package(project: Project, workers: tuple[str, ...]) -> None:
    done = project.mkeyspec("run", "--device", "acme", *workers)
    assert done.code == 0, done.out + done.err
    assert "on acme in" in done.out
    stream = next(project.path.glob("reports/*/results.ndjson")).read_text("utf-8")
    assert '"device":"acme","firmware":"2.1"' in stream


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("acme:raises", "device acme of acme-nic 1.0 can't be opened: RuntimeError: slot 1 is empty; correct"),
        ("acme:skips", "device acme of acme-nic 1.0 can't be opened: Skipped: no answer; correct"),
        ("acme:busy", "slot 1 is in use; stop its user"),
        (
            "acme:boastful",
            "no case can need that; the value of max_wr_memcpy_length is not a number",
        ),
        ("acme:half", "is not a device: it offers dek_query and lacks query_dek; correct"),
        ("acme:mute", "capabilities() raises OSError: no answer"),
        ("acme:nothing", f"is not a device: it lacks {', '.join(CALLS)}"),
        ("gone", "device gone of acme-nic 1.0 can't be opened: ModuleNotFoundError: No module named 'acme_nic_gone'"),
    ],
)
def test_one_that_cannot_be_used_is_one_line(project: Project, name: str, told: str) -> None:
    done = project.mkeyspec("run", "--device", name)
    assert done.code == 2, done.out
    text = done.out + done.err
    assert told in text
    assert "error[MKS0944]: " in text
    assert "Traceback" not in text


@pytest.mark.parametrize(("how", "raised"), [("gone", "OSError"), ("skips", "Skipped")])
@pytest.mark.parametrize("call", ["info", "capabilities"])
def test_one_that_is_gone_after_it_was_opened(project: Project, call: str, how: str, raised: str) -> None:
    done = project.mkeyspec("run", "--device", f"acme:{how}-{call}")
    text = done.out + done.err
    assert done.code == 2, text
    assert re.search(rf"error\[MKS0944\]: .* package raises {raised}: no answer, at acme_nic.py:\d+", text)
    assert "0 passed, 7 failed (7 MKS0944)" in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("run", "device", "raised"),
    [("mkeyspec", "gone", "OSError"), ("pytest", "gone", "OSError"), ("mkeyspec", "skips", "Skipped")],
)
def test_one_that_cannot_be_closed_takes_no_verdict_of_a_row(
    project: Project, run: str, device: str, raised: str
) -> None:
    how = project.mkeyspec if run == "mkeyspec" else project.pytest
    done = how("run" if run == "mkeyspec" else "cases", "--device", f"acme:{device}-close")
    assert done.code == 1, done.out + done.err
    assert re.search(
        rf"error\[MKS2207\]: the device can't be closed: {raised}: no answer, at acme_nic.py:\d+", done.out
    )
    assert "6 passed, 1 failed (1 MKS2207), 1 skipped" in done.out or done.counts == {
        "passed": 6,
        "failed": 1,
        "skipped": 1,
    }
    assert "Traceback" not in done.out + done.err
    if run == "mkeyspec":
        stream = next(project.path.glob("reports/*/results.ndjson")).read_text("utf-8")
        assert '"verdict":"error","code":"MKS2207"' in stream


def test_one_that_cannot_be_closed_in_a_worker(project: Project) -> None:
    done = project.mkeyspec("run", "--device", "acme:gone-in-a-worker", "-n", "2")
    assert done.code == 1, done.out + done.err
    assert "6 passed, 1 failed (1 MKS2207), 1 skipped" in done.out, "of two workers that say the same"


@pytest.mark.parametrize(("device", "processes"), [("gone-close", "0"), ("gone-in-a-worker", "2")])
def test_one_that_could_not_be_closed_is_judged_so(project: Project, device: str, processes: str) -> None:
    run = project.mkeyspec("run", "--device", f"acme:{device}", "-n", processes, "--bundle", "a.bundle")
    judged = project.mkeyspec("judge", "a.bundle")
    for done in (run, judged):
        assert done.code == 1, done.out + done.err
        assert "error[MKS2207]: the device can't be closed: OSError: no answer" in done.out
        assert "6 passed, 1 failed (1 MKS2207), 1 skipped" in done.out


def test_one_that_cannot_be_closed_by_the_controller_runs_no_row(project: Project) -> None:
    """With workers the controller opens and closes it first."""
    done = project.mkeyspec("run", "--device", "acme:gone-close", "-n", "1")
    assert done.code == 2, done.out
    assert "error[MKS2207]: the device can't be closed: OSError: no answer" in done.out + done.err


def test_calls_that_come_with_a_capability_may_be_missing(project: Project) -> None:
    text = "mks 1\n\ncase d\n    verifies XCRY-14\n    dek d { key fill(1, 32) }\n    query d is state_ready\n"
    project.put("cases/b.mks", text)
    done = project.mkeyspec("run", "--device", "acme:less", "cases/b.mks")
    assert done.code == 3, done.out + done.err  # nothing was judged
    assert "1 skipped (1 needs dek_query)" in done.out


def test_an_unknown_name_gets_its_name(project: Project) -> None:
    assert "did you mean acme?" in project.mkeyspec("run", "--device", "acmee").err
