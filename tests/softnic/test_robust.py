"""The software NIC among other users, busy threads and odd settings: it neither hangs, nor harms, nor is harmed.

Each scenario is a process of its own under the preload (robust.py).
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mkeyspec.device.soft import softnic
from tests.softnic import stress

HERE = Path(__file__).parent
THREADS = ("beside_a_busy_neighbour", "cancellation", "signals", "locked_now", "locked_all")


@pytest.fixture(scope="session")
def library() -> Path:
    found = softnic.library()
    if found is None:
        pytest.skip(softnic.missing() or "no library")
    return found


def play(library: Path, scenario: str, temporary: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {name: text for name, text in os.environ.items() if name not in ("LD_PRELOAD", "SYSFS_PATH")}
    ours = {"LD_PRELOAD": str(library), "TMPDIR": str(temporary)}
    return subprocess.run(
        [sys.executable, str(HERE / "robust.py"), scenario],
        capture_output=True,
        text=True,
        timeout=120,
        env={**plain, **ours, **environment},
    )


# ---- the directory that stands for /sys ----


def test_nothing_is_written_through_a_link_that_another_user_made(library: Path, tmp_path: Path) -> None:
    place, target = tmp_path / "place", tmp_path / "target"
    place.mkdir()
    target.mkdir()
    done = play(library, "planted_links", place, TARGET=str(target))
    assert done.returncode == 0, done.stderr
    assert list(target.iterdir()) == []
    assert (place / "seen").exists()
    assert [path.name for path in place.iterdir() if not path.is_symlink()] == ["seen"]


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_directory_that_others_may_rename_in_is_not_used(library: Path, tmp_path: Path, mode: int) -> None:
    place = tmp_path / "place"
    place.mkdir()
    place.chmod(mode)
    done = play(library, "unsafe_place", place)
    assert done.returncode == 0, done.stderr
    assert list(place.iterdir()) == []


def test_a_name_that_is_taken_is_one_line_and_no_device(library: Path, tmp_path: Path) -> None:
    done = play(library, "taken_name", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1
    assert "no directory" in done.stderr


# ---- the fabric ----


def meeting(parent: Path, mode: int = 0o700) -> dict[str, str]:
    """A runtime directory of this user's, and a fabric."""
    place = parent / "run"
    place.mkdir()
    place.chmod(mode)
    return {"XDG_RUNTIME_DIR": str(place), "MKEYSPEC_SOFTNIC_FABRIC": uuid.uuid4().hex}


@pytest.mark.parametrize("scenario", ["no_descriptors", "garbage", "the_place_of_a_dead_one"])
def test_fabric(library: Path, tmp_path: Path, scenario: str) -> None:
    done = play(library, scenario, tmp_path, **meeting(tmp_path))
    assert done.returncode == 0, done.stderr


def test_the_device_is_as_nice_as_its_program(library: Path, tmp_path: Path) -> None:
    done = play(library, "nice", tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_message_takes_the_room_of_what_came_of_it(library: Path, tmp_path: Path) -> None:
    made, header = tmp_path / "announce", tmp_path / "header"
    source = [str(HERE / "announce.c"), "-I", str(HERE.parents[1] / "softnic")]
    subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-o", str(made), *source], check=True)
    header.write_bytes(subprocess.run([str(made)], check=True, capture_output=True).stdout)
    done = play(library, "announced", tmp_path, **meeting(tmp_path), ANNOUNCED=str(header))
    assert done.returncode == 0, done.stderr


def test_a_fabric_leaves_nothing(library: Path, tmp_path: Path) -> None:
    where = meeting(tmp_path)
    own = Path(where["XDG_RUNTIME_DIR"], "mkeyspec-softnic")
    assert play(library, "one_device", tmp_path, **where).returncode == 0
    assert list(own.iterdir()) == []
    done = play(library, "killed", tmp_path, **where)
    fabric = where["MKEYSPEC_SOFTNIC_FABRIC"]
    assert (done.returncode, done.stderr) == (-9, str([fabric, f"{fabric}.next"]))
    assert sorted(path.name for path in own.iterdir()) == [fabric, f"{fabric}.next"]
    assert play(library, "one_device", tmp_path, **where).returncode == 0
    assert list(own.iterdir()) == []


def test_the_sockets_of_a_fabric_are_this_users_alone(library: Path, tmp_path: Path) -> None:
    """Also where another user took the name first, with a link to somewhere of this user's, or with a directory."""
    where, target = meeting(tmp_path), tmp_path / "target"
    own = Path(where["XDG_RUNTIME_DIR"], "mkeyspec-softnic")
    target.mkdir(mode=0o700)

    def said(scenario: str, **more: str) -> str:
        done = play(library, scenario, tmp_path, **where, **more)
        assert done.returncode == 0, done.stderr
        return done.stderr

    own.symlink_to(target)
    line = f"mkeyspec softnic: {own} is not a directory of this user alone; XDG_RUNTIME_DIR may name another place\n"
    assert said("refused_directory", REFUSAL="EPERM") == line
    assert list(target.iterdir()) == []
    own.unlink()
    own.mkdir()
    own.chmod(0o750)
    assert said("refused_directory", REFUSAL="EPERM") == line
    own.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(own, 1, 1)
        assert said("refused_directory", REFUSAL="EPERM") == line
        os.chown(own, 0, 0)
    assert said("one_device") == ""
    own.rmdir()
    own.parent.chmod(0o777)  # others could move our directory away there: /tmp instead
    assert said("one_device") == ""
    assert not own.exists()


def test_the_path_of_a_socket_may_be_long(library: Path, tmp_path: Path) -> None:
    """sun_path holds 108 bytes."""
    deep = tmp_path / ("d" * 90)
    deep.mkdir()
    done = play(library, "garbage", tmp_path, **meeting(deep))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["../x", ".", "..", "a/b", "x" * 65, "a b"])
def test_a_name_that_no_fabric_can_have(library: Path, tmp_path: Path, name: str) -> None:
    where = {**meeting(tmp_path), "MKEYSPEC_SOFTNIC_FABRIC": name}
    done = play(library, "refused_directory", tmp_path, REFUSAL="EINVAL", **where)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("mkeyspec softnic: MKEYSPEC_SOFTNIC_FABRIC ")
    assert done.stderr.count("\n") == 1


def test_a_fabric_without_a_place_says_so(library: Path, tmp_path: Path) -> None:
    where = meeting(tmp_path)
    fabric = where["MKEYSPEC_SOFTNIC_FABRIC"]
    done = play(library, "all_places_taken", tmp_path, **where)
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"mkeyspec softnic: fabric {fabric}: all 2047 places are taken\n"


def test_the_fabric_is_the_one_of_the_start(library: Path, threads: Path) -> None:
    """The environment that the application changes later is not asked again."""
    fabric = {"MKEYSPEC_SOFTNIC_FABRIC": uuid.uuid4().hex}
    run_threads(threads, str(library), "renamed", "connectx7", **fabric)


# ---- threads ----


def compiled(name: str, folder: Path, *options: str) -> Path:
    """A program of this folder; without a compiler or the headers of libibverbs the test is skipped."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    command = ["cc", "-O2", "-g", "-Wall", "-Wextra", "-D_GNU_SOURCE", "-pthread", *options]
    built = folder / name.replace(".c", "")
    done = subprocess.run([*command, "-o", str(built), str(HERE / name), "-libverbs"], capture_output=True, text=True)
    if "infiniband/" in done.stderr:
        pytest.skip("no headers of libibverbs (Debian: apt-get install libibverbs-dev)")
    assert done.returncode == 0, done.stderr
    return built


@pytest.fixture(scope="session")
def threads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("threads.c", tmp_path_factory.mktemp("threads"))


def run_threads(program: Path, preload: str, scenario: str, personality: str, **variables: str) -> None:
    ours = {"LD_PRELOAD": preload, "MKEYSPEC_SOFTNIC_PERSONALITY": personality}
    environment = {**os.environ, **ours, **variables}
    done = subprocess.run([str(program), scenario], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("personality", ["connectx7", "trap=0"])
@pytest.mark.parametrize("scenario", THREADS)
def test_threads(library: Path, threads: Path, scenario: str, personality: str) -> None:
    """Nobody waits long beside a busy neighbour; cancelled threads, handlers and locked memory stop nothing."""
    run_threads(threads, str(library), scenario, personality)


@pytest.fixture(scope="session")
def handlers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("handlers.c", tmp_path_factory.mktemp("handlers"))


@pytest.mark.parametrize("scenario", ["own", "devices", "children", "past_libc"])
def test_handlers_of_the_applications_own(library: Path, handlers: Path, scenario: str) -> None:
    """The device and the application both handle SIGSEGV, and neither takes the other's faults."""
    run_threads(handlers, str(library), scenario, "connectx7")


def test_a_trace_whose_reader_stops_is_cut_and_says_so(library: Path, threads: Path, tmp_path: Path) -> None:
    fifo = tmp_path / "trace"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    trace = {"MKEYSPEC_SOFTNIC_TRACE": str(fifo), "MKEYSPEC_SOFTNIC_TRACE_FORMAT": "json"}
    program = _traced(library, threads, trace)
    assert program.stdout is not None
    assert program.stdout.readline() == "written\n"  # though nobody has read
    os.set_blocking(reader, True)
    with os.fdopen(reader) as lines, ThreadPoolExecutor(1) as pool:
        records = pool.submit(lambda: [json.loads(line) for line in lines])
        _, said = program.communicate("\n", timeout=60)
        assert program.returncode == 0, said
        kinds = Counter(record["record"] for record in records.result(timeout=60))
        lost = [record["records"] for record in records.result() if record["record"] == "lost"]
    assert len(lost) == 1
    assert kinds["wqe"] + kinds["cqe"] + kinds["receive"] + lost[0] == 4020 * 2 + 64


def _traced(library: Path, threads: Path, trace: dict[str, str]) -> subprocess.Popen[str]:
    environment = {**os.environ, **trace, "LD_PRELOAD": str(library)}
    pipe = subprocess.PIPE
    return subprocess.Popen([str(threads), "traced"], text=True, env=environment, stdin=pipe, stdout=pipe, stderr=pipe)


@pytest.mark.parametrize("kind", ["pipe", "socket", "terminal"])
@pytest.mark.parametrize("leaves", [False, True])
def test_a_trace_to_stderr_holds_nothing_up(library: Path, threads: Path, kind: str, leaves: bool) -> None:
    """The reader of stderr stops, or leaves at once: the program goes on and ends well."""
    ours, theirs = {"pipe": os.pipe, "socket": _sockets, "terminal": os.openpty}[kind]()
    environment = {**os.environ, "LD_PRELOAD": str(library), "MKEYSPEC_SOFTNIC_TRACE": "-"}
    program = subprocess.Popen(
        [str(threads), "traced"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=theirs, env=environment
    )
    os.close(theirs)
    if leaves:
        os.close(ours)
    try:
        assert program.communicate(b"\n", timeout=60)[0] == b"written\n"
        assert program.returncode == 0
    finally:
        program.kill()
        program.wait()
        if not leaves:
            os.close(ours)


def _sockets() -> tuple[int, int]:
    one, other = socket.socketpair()
    return one.detach(), other.detach()


@pytest.mark.parametrize("personality", ["connectx7", "trap=0"])
def test_pages_of_64_kib(library: Path, threads: Path, tmp_path: Path, personality: str) -> None:
    pages = compiled("pages64k.c", tmp_path, "-shared", "-fPIC")
    run_threads(threads, f"{library} {pages}", "plain", personality)


# ---- stress ----


@pytest.mark.parametrize("mode", stress.MODES)
def test_stress(tmp_path: Path, mode: str) -> None:
    """A short seeded run of each mode; `make -C softnic stress` runs them for an hour of processor time."""
    try:
        wrong = stress.run(stress.MODES[mode], 2, 1, tmp_path)
    except stress.Unavailable as lacking:
        pytest.skip(str(lacking))
    assert wrong is None, wrong
