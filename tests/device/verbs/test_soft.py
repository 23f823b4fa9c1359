"""`--device soft`, as a user runs it: a process that restarts itself, with and without workers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.device.verbs import soft
from tests.plugin.project import ROOT, Project

SIGNED = """\
mks 1
suite "signed"

case strip
    verifies SIG-07
    for crc in crc32, crc32c
    let d = crc(ones) every 512
    memory src = framed(counter(1024), d)
    mkey k { block_signature }
    configure k { layout list(src); signature { mem d } }
    transmit k by send
    expect wire == counter(1024)
"""

WRONG = SIGNED.replace("expect wire == counter(1024)", "expect wire == fill(0, 1024)")

UNPOSTED = """\
mks 1
suite "nothing is posted"

case too_few
    verifies CFG-04
    memory m = counter(64)
    mkey k
    configure k, but num_setters 3 { access local_write; layout list(m) }

case after_it
    verifies CFG-14
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == m
"""

CUT = """\
mks 1
suite "cut"
case an_sge_ends_inside_a_unit
    verifies XCRY-08
    for a, b in (768, 1280), (512, 1536), (256, 1792), (1280, 768)
    let key = random(32, seed=1)
    let data = random(2048, seed=2)
    let sent = xts_encrypt(data, key, tweak=7, unit=512)
    dek d { key key }
    memory m = data
    mkey k { crypto }
    configure k { access local_write; layout list(m); crypto { dek d; tweak 7; data_unit 512; encrypt_on_tx yes } }
    peer memory w[2048]
    write [k[0 +: a], k[a +: b]] to w
    expect w == sent

case an_sge_of_a_read_ends_inside_a_unit
    verifies XCRY-08
    let key = random(32, seed=1)
    let data = random(2048, seed=2)
    dek d { key key }
    memory m[2048]
    mkey k { crypto }
    configure k { access local_write; layout list(m); crypto { dek d; tweak 7; data_unit 512; encrypt_on_tx yes } }
    peer memory w = xts_encrypt(data, key, tweak=7, unit=512)
    read [k[0 +: 768], k[768 +: 256], k[1024 +: 1024]] from w
    expect m == data
"""

DATAGRAMS = """\
mks 1
suite "datagrams"

case by_hand
    verifies WRP-01
    memory m = counter(64)
    memory own[32]
    peer memory w[128]
    qp q { type ud; send_ops [raw]; max_recv_sge 1 }
    peer recv w on q as r
    send m on q
    expect w[0 +: 64] == m
    expect r.byte_len == 40 + 64
    recv own on q
    peer send_imm w[0 +: 32] on q, imm 7
    expect own == counter(32)

case short_forms
    verifies WRP-01
    for op in send, send_imm
    pd p
    memory m = counter(64), pd p
    mkey k { pd p }
    qp c { pd p }
    qp q { type ud; send_ops [raw]; pd p }
    configure k on c { access local_write; layout list(m) }
    transmit k by op on q
    expect wire == m
    receive fill(7, 64) into k by recv on q
    expect m == fill(7, 64)

case offered_by_few
    verifies WRP-03
    for type in xrc_send, raw_packet
    qp q { type type; send_ops [raw] }

case refused_before_any_device_is_asked
    verifies WRP-03
    for type in xrc_send, raw_packet
    qp q { type type; send_ops [mr_list] }
        rejected at create
"""


@pytest.fixture(autouse=True)
def needed() -> None:
    soft.need()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.put("cases/a.mks", SIGNED)
    return made


def test_the_device_on_the_software_nic() -> None:
    """The tests of device_on_soft.py, in a process of theirs."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--device", "soft"]
    done = subprocess.run(
        [*command, "tests/device/verbs/device_on_soft.py"], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d+ passed", done.stdout.splitlines()[-1]), done.stdout


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_plain_pytest(project: Project, workers: list[str]) -> None:
    done = project.pytest("cases", "--device", "soft", "-q", *workers)
    assert done.code == 0, done.out
    assert "2 passed" in done.out
    assert done.out.count("passed") == 1  # once, not once for each start


@pytest.mark.parametrize("device", ["model", "soft"])
def test_data_units_are_those_of_the_message_wherever_its_sges_end(project: Project, device: str) -> None:
    """mlx5dv_wr_set_mkey_crypto(3): the tweak is that of a message's first data unit, and each unit after it has one
    more (XCRY-08). The expectation is of the references."""
    project.put("cases/a.mks", CUT)
    done = project.mkeyspec("run", "cases", "--device", device)
    assert "5 passed, 0 failed, 0 skipped" in done.out, done.out


def test_the_exit_code_and_the_text_of_a_failure_come_through(project: Project) -> None:
    project.put("cases/a.mks", WRONG)
    done = project.pytest("cases", "--device", "soft", "-q")
    assert done.code == 1
    assert "MKS2101" in done.out
    done = project.mkeyspec("run", "cases", "--device", "soft")
    assert done.code == 1
    assert "2 failed (2 MKS2101)" in done.out
    assert done.out.count("test session starts") == 1


def test_a_personality_lacks_what_it_lacks(project: Project) -> None:
    done = project.mkeyspec("run", "cases", "--device", "soft:cx5")
    assert done.code == 0
    assert "1 passed, 0 failed, 1 skipped (1 needs signature.crc32c" in done.out


def test_what_a_profile_requires_fails(project: Project) -> None:
    project.put("lab.toml", 'name = "lab"\nrequire = ["signature.crc32c"]\n')
    done = project.mkeyspec("run", "cases", "--device", "soft:cx5", "--device-profile", "lab.toml")
    assert done.code == 1
    assert "1 failed (1 MKS2009)" in done.out
    assert re.search(r"a\.mks:4:\d+: error\[MKS2009\]: the device lacks signature\.crc32c", done.out)
    assert "by the profile lab" in done.out


def test_the_report_says_what_it_ran_on(project: Project) -> None:
    project.mkeyspec("run", "cases", "--device", "soft:cx7")
    report = (project.path / "reports" / "junit.xml").read_text()
    assert 'name="device" value="soft:cx7"' in report
    assert re.search(r'name="version:rdma-core" value="\d+\.\d+"', report)


def test_unknown_personality(project: Project) -> None:
    done = project.mkeyspec("run", "cases", "--device", "soft:cx9")
    assert done.code == 2
    assert "MKS0911" in done.out + done.err


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_device_that_is_not_there(project: Project, workers: list[str]) -> None:
    """One line, before anything runs, with workers as without."""
    done = project.pytest("cases", "--device", "mlx5_99", "-q", *workers)
    assert done.code == 4
    lines = [line for line in (done.out + done.err).splitlines() if line.strip()]
    assert len(lines) == 1
    assert lines[0].startswith("ERROR: error[MKS0915]: no RDMA device 'mlx5_99'; ")
    assert project.pytest("cases", "--device", "mlx5_99", "-q", "--collect-only", *workers).code == 0


def test_nothing_is_posted_and_the_next_case_runs(project: Project) -> None:
    """Too few setters: the driver posts nothing and says nothing, so the deadline ends it (X-DIFF-03)."""
    project.put("cases/a.mks", UNPOSTED)
    done = project.mkeyspec("run", "cases", "--device", "soft", "--deadline", "0.2", "-v")
    assert "after_it PASSED" in done.out
    assert re.search(r"too_few (FAILED|PASSED)", done.out)


def test_a_program_that_calls_pytest_is_told_how(project: Project) -> None:
    program = "import pytest, sys; sys.exit(pytest.main(['cases', '--device', 'soft', '-q']))"
    done = subprocess.run([sys.executable, "-c", program], cwd=project.path, capture_output=True, text=True)
    assert done.returncode == 4
    assert "MKS0921" in done.stderr
    command = [sys.executable, "-m", "mkeyspec", "softnic", "exec", "--", sys.executable, "-c", program]
    done = subprocess.run(command, cwd=project.path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_two_runs_at_once(project: Project) -> None:
    """The software NIC is each process's own; nothing is leased."""
    command = [sys.executable, "-m", "pytest", "cases", "--device", "soft", "-q", "-p", "no:cacheprovider"]
    runs = [subprocess.Popen(command, cwd=project.path, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [run.communicate()[0].count("2 passed") for run in runs] == [1, 1, 1]


def test_a_device_that_nobody_closed() -> None:
    """Left to the interpreter's end, pyverbs' objects would be destroyed in any order, and crash."""
    program = """
from mkeyspec.device.protocol import QpAttributes
from mkeyspec.device.verbs.opening import open_device
device = open_device("mlx5_0", shared=True)
device.qp_pair(QpAttributes())
device.mkey("owner", create_flags=3, max_entries=4)
"""
    command = [sys.executable, "-m", "mkeyspec", "softnic", "exec", "--", sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_doctor_opens_it() -> None:
    command = [sys.executable, "-m", "mkeyspec", "doctor", "--device", "soft:bf3", "--format", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert '"memcpy"' in done.stdout


HANGS = """
import ctypes

def test_before(rig):
    rig.finish()

def test_hangs(rig):
    ctypes.PyDLL(None).pause()

def test_after(rig):
    rig.finish()

def test_without_a_device():
    import time
    time.sleep(5)
"""


@pytest.mark.parametrize("workers", [[], ["-n", "1"]])
def test_a_call_that_does_not_come_back(project: Project, workers: list[str]) -> None:
    project.put("conftest.py", "from mkeyspec.plugin import watchdog as watch\nwatch.GRACE = 4\n")
    project.put("cases/test_b.py", HANGS)
    done = project.pytest("cases/test_b.py", "--device", "soft", "--deadline", "0.01", "-v", *workers)
    if workers:  # xdist has an error of the case, and goes on
        assert done.code == 1
        assert "error[MKS2010]: the device did not come back from a call within 4.1 s" in done.out
        assert done.counts == {"passed": 3, "error": 1}
    else:
        assert done.code == 1  # the session is in a child process, which was ended
        assert "pytest's process ended by signal 6 before all rows were run" in done.out + done.err
        assert "error[MKS2010]" in done.err
        assert "within 4.1 s: in cases/test_b.py::test_hangs; process" in done.err
        assert 'test_b.py", line 8 in test_hangs' in done.err


def test_a_run_reports_what_was_lost_in_a_call(project: Project) -> None:
    project.put("conftest.py", "from mkeyspec.plugin import watchdog as watch\nwatch.GRACE = 4\n")
    project.put("cases/test_b.py", HANGS)
    done = project.mkeyspec("run", "cases/test_b.py", "--device", "soft", "--deadline", "0.01")
    assert done.code == 1
    assert "1 lost (1 MKS2010), 0 skipped, 2 not run on soft" in done.out.rstrip().split("\n")[-1]
    report = (project.path / "reports" / "junit.xml").read_text()
    assert "error[MKS2010]: the device did not come back from a call within 4.1 s" in report


def test_a_run_in_processes_goes_on_after_what_was_lost_in_a_call(project: Project) -> None:
    project.put("conftest.py", "from mkeyspec.plugin import watchdog as watch\nwatch.GRACE = 4\n")
    project.put("cases/test_b.py", HANGS)
    done = project.mkeyspec("run", "cases/test_b.py", "--device", "soft", "--deadline", "0.01", "-n", "2")
    assert done.code == 1
    assert "3 passed, 0 failed, 1 lost (1 MKS2010), 0 skipped on soft" in done.out.rstrip().split("\n")[-1]
    report = (project.path / "reports" / "junit.xml").read_text()
    assert "error[MKS2010]: the device did not come back from a call within 4.1 s" in report


def test_the_processes_of_a_run_share_a_nic(project: Project) -> None:
    """By its own name it is locked."""
    project.put("cases/a.mks", SIGNED)
    run = ("softnic", "exec", "--", sys.executable, "-m", "mkeyspec", "run", "cases", "--device", "mlx5_0", "-n", "2")
    done = project.mkeyspec(*run)
    assert done.code == 0, done.out + done.err
    assert "2 passed, 0 failed, 0 skipped on mlx5_0 in" in done.out
    workers = [one["worker"] for one in map(json.loads, last_stream(project)) if one["kind"] == "result"]
    assert sorted(workers) == ["gw0", "gw1"]


def last_stream(project: Project) -> list[str]:
    (path,) = (project.path / "reports").glob("*/results.ndjson")
    return path.read_text("utf-8").splitlines()


def test_the_last_line_names_the_device_that_ran(project: Project) -> None:
    """Options of the project don't choose it, and that is said."""
    project.put("cases/a.mks", SIGNED)
    project.put("pyproject.toml", '[tool.pytest.ini_options]\naddopts = ["-q", "--device=soft"]\n')
    run = ("softnic", "exec", "--", sys.executable, "-m", "mkeyspec", "run", "cases")
    done = project.mkeyspec(*run)
    assert done.code == 0, done.out + done.err
    assert "2 passed, 0 failed, 0 skipped on model in" in done.out
    assert "run does not read addopts of pyproject.toml; not in force: --device=soft\n" in done.err
    done = project.mkeyspec(*run, "--device", "soft")
    assert "2 passed, 0 failed, 0 skipped on soft in" in done.out
    assert "--device=soft" in done.err


def test_datagrams_and_types_that_the_device_lacks(project: Project) -> None:
    """ibv_post_recv(3), ibv_poll_cq(3): 40 bytes come before each message of a UD QP, and byte_len counts them."""
    project.put("cases/a.mks", DATAGRAMS)
    done = project.pytest("cases", "--device", "soft", "-q", "-rs")
    assert done.code == 0, done.out
    assert "5 passed, 2 skipped" in done.out, done.out
    assert "needs qp.xrc_send" in done.out
    assert "needs qp.raw_packet" in done.out
