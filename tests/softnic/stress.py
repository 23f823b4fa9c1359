"""Mixed stress of the software NIC in all modes, for as much processor time as is asked for.

    stress.py --seconds 3600 [--seed 1] [--mode tsan-pair …]

Modes: stores trapped or polled, or the library built with ASan and UBSan or with TSan; in one process of four
threads or between two processes (stress.c says what they do). A run fails by its exit code, by a sanitizer's word, by
what it leaves in TMPDIR, or by time: a hang. The first failure ends it, with the command that repeats it.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOFTNIC = HERE.parents[1] / "softnic"
LIBRARY = "libmkeyspec_softnic.so"
LONGEST = 30.0
"""Seconds of processor time of one run: the modes take turns."""
WORDS = re.compile(r"Sanitizer|runtime error:|hung|not so")


@dataclass(frozen=True)
class Mode:
    name: str
    kind: str
    personality: str = "connectx7"
    sanitizers: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)

    @property
    def build(self) -> str:
        return "tsan" if "tsan" in self.sanitizers else "asan" if self.sanitizers else ""


ASAN = {
    "sanitizers": ("asan", "ubsan"),
    "options": {
        "ASAN_OPTIONS": "detect_leaks=1:quarantine_size_mb=16:thread_local_quarantine_size_kb=64",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    },
}
TSAN = {"sanitizers": ("tsan",), "options": {"TSAN_OPTIONS": "second_deadlock_stack=1:halt_on_error=0"}}
MODES = {
    mode.name: mode
    for kind in ("alone", "pair")
    for mode in (
        Mode(f"trapped-{kind}", kind),
        Mode(f"polled-{kind}", kind, "trap=0"),
        Mode(f"asan-{kind}", kind, **ASAN),  # type: ignore[arg-type]
        Mode(f"tsan-{kind}", kind, **TSAN),  # type: ignore[arg-type]
    )
}


class Unavailable(RuntimeError):
    """What a mode needs isn't on this machine."""


def program(folder: Path, mode: Mode) -> Path:
    """stress*.c, built into `folder`; for TSan instrumented itself."""
    built = folder / ("stress-tsan" if mode.build == "tsan" else "stress")
    if built.exists():
        return built
    command = ["gcc", "-O2", "-g", "-D_GNU_SOURCE", "-pthread", "-o", str(built)]
    command += map(str, sorted(HERE.glob("stress*.c")))
    if mode.build == "tsan":
        command.insert(1, "-fsanitize=thread")
    done = subprocess.run([*command, "-lrdmacm", "-libverbs", "-lmlx5"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"stress is not built (libibverbs-dev, librdmacm-dev): {done.stderr.strip()[-300:]}")
    return built


def preload(mode: Mode) -> str:
    """The sanitizers' libraries, then ours, built if it has to be."""
    runtimes = []
    for name in mode.sanitizers:
        said = subprocess.run(["gcc", f"-print-file-name=lib{name}.so"], capture_output=True, text=True, check=False)
        if not Path(said.stdout.strip()).is_absolute():
            raise Unavailable(f"gcc has no lib{name}: apt-get install lib{name}*")
        runtimes.append(said.stdout.strip())
    goal = [mode.build] if mode.build else []
    (SOFTNIC / "build").mkdir(exist_ok=True)
    with (SOFTNIC / "build" / f"{mode.build or 'plain'}.lock").open("w") as lock:  # workers of one test run build alike
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "-s", "-j2", "-C", str(SOFTNIC), *goal, "CC=gcc"], check=True)
    return " ".join([*runtimes, str(SOFTNIC / "build" / mode.build / LIBRARY)])


def processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(mode: Mode, seconds: float, seed: int, folder: Path) -> str | None:
    """None, or what was wrong."""
    temporary = folder / "tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    ours = {
        "LD_PRELOAD": preload(mode),
        "MKEYSPEC_SOFTNIC_PERSONALITY": mode.personality,
        "TMPDIR": str(temporary),
        **({"MKEYSPEC_SOFTNIC_FABRIC": uuid.uuid4().hex} if mode.kind == "pair" else {}),
        **mode.options,
    }
    command = [str(program(folder, mode)), mode.kind, str(seed), str(seconds)]
    process = subprocess.Popen(
        command,
        env={**os.environ, **ours},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=300 + 30 * seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 6)  # SIGABRT: the sanitizers and a core file may tell where it hangs
        said, _ = process.communicate()
        said += "\nhung"
    left = [path.name for path in temporary.iterdir()]
    if mode.kind == "pair" and len(left) == 1:  # of the last that was killed: the next process to start removes it
        left = []
    wrong = []
    if process.returncode:
        wrong.append(f"exit code {process.returncode}")
    wrong += sorted(set(WORDS.findall(said)))
    if left:
        wrong.append(f"left in TMPDIR: {left}")
    if not wrong:
        print("   ", "; ".join(said.strip().splitlines()))
        return None
    shown = " ".join(f"{name}={shlex.quote(text)}" for name, text in ours.items())
    return f"{', '.join(wrong)}\n{said}\nto repeat: {shown} {shlex.join(command)}"


def stress(seconds: float, seed: int, names: list[str]) -> int:
    used: dict[str, float] = dict.fromkeys(names, 0.0)
    runs = 0
    with tempfile.TemporaryDirectory(prefix="mkeyspec-stress-") as folder:
        for name in names:  # so that only the runs count
            preload(MODES[name])
            program(Path(folder), MODES[name])
        began = processor_time()
        while (left := seconds - (processor_time() - began)) > 0:
            name = min(used, key=lambda one: used[one])
            mode = MODES[name]
            turn = max(2.0, min(LONGEST, left, seconds / len(names)))
            before, clock = processor_time(), time.monotonic()
            print(f"{name}, seed {seed + runs}, {turn:.0f} s", flush=True)
            wrong = run(mode, turn, seed + runs, Path(folder))
            used[name] += processor_time() - before
            runs += 1
            if wrong:
                print(f"FAILED: {name} after {time.monotonic() - clock:.0f} s: {wrong}", flush=True)
                return 1
        total = processor_time() - began
    print("\n".join(f"{name:16} {spent:8.0f} s" for name, spent in used.items()))
    print(f"{runs} runs, {total:.0f} s of processor time: no hang, no leak, no sanitizer's word")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=3600, help="of processor time, over all modes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mode", action="append", choices=sorted(MODES), help="only this one; may be repeated")
    wanted = parser.parse_args()
    try:
        return stress(wanted.seconds, wanted.seed, wanted.mode or list(MODES))
    except Unavailable as lacking:
        print(f"stress: {lacking}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    raise SystemExit(main())
