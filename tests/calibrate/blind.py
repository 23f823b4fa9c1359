"""Calibrates devices of which it is told nothing, and compares the file that it writes with what they are.

    python -m tests.calibrate.blind            # the table of the model's choices, and the software NICs
    python -m tests.calibrate.blind --model    # without the software NICs
    python -m tests.calibrate.blind --faults   # each fault of the model: what is decided must be what the fault is

A device's answers come from `choices.toml`. What calibration found is read from its file by Python's reader of TOML, as
anybody would. No code of a probe takes part in the comparison.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mkeyspec.cli.entry import main as mkeyspec

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CHOICES = Path(__file__).with_name("choices.toml")
TABLE: dict[str, Any] = tomllib.loads(CHOICES.read_text(encoding="utf-8"))
UNSET = object()


@dataclass(frozen=True, slots=True)
class Secret:
    """A device: the point, its answer, and what else its profile has to say for that."""

    point: str
    answer: Any
    beside: dict[str, Any]

    @property
    def profile(self) -> str:
        """As TOML."""
        member, _, rule = self.point.partition(".")
        members = {**self.beside, member: {rule: self.answer} if rule else self.answer}
        return "".join(f"{name} = {_toml(value)}\n" for name, value in members.items())


def secrets() -> Iterator[Secret]:
    """One device for each answer to each point."""
    for point, answers in TABLE["choices"].items():
        for answer in answers:
            yield Secret(point, answer, TABLE["with"].get(point, {}).get(str(answer), {}))
    for rule in TABLE["errno"]["rules"]:
        for name in TABLE["errno"]["names"]:
            yield Secret(f"errno.{rule}", name, TABLE["with"].get(f"errno.{rule}", {}))


def measure(folder: Path, profile: str, *words: str) -> dict[str, Any]:
    """The file that `mkeyspec calibrate` writes of a model with this profile."""
    secret, out = folder / "secret.toml", folder / "found.toml"
    secret.write_text(profile, encoding="utf-8")
    out.unlink(missing_ok=True)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = mkeyspec(["calibrate", "--device-profile", str(secret), "--out", str(out), "--deadline", "0.05", *words])
    assert code in (0, 1), f"{profile}\n{said.getvalue()}"
    found: dict[str, Any] = tomllib.loads(out.read_text(encoding="utf-8"))
    return found


def found_in(file: dict[str, Any], point: str) -> Any:
    """The value of a point in the file, UNSET if it was not decided."""
    if point == "without":
        return file["without"]
    entry: Any = file["evidence"]
    for key in point.split("."):
        entry = entry.get(key, {})
    member, _, rule = point.partition(".")
    value = entry.get("value", UNSET)
    if not rule and value is not UNSET and file[member] != value:
        return f"{value}, but the file says {file[member]}"
    return value


def verdict(secret: Secret, file: dict[str, Any]) -> str:
    """found, undecided or wrong."""
    got = found_in(file, secret.point)
    if got is UNSET:
        return "undecided"
    expected = sorted(secret.answer) if secret.point == "without" else secret.answer
    return "found" if got == expected and type(got) is type(expected) else "wrong"


def others_wrong(secret: Secret, file: dict[str, Any]) -> list[str]:
    """Other points of which the table knows the default, and that were found to be something else."""
    wrong = []
    for point, (default, *_) in TABLE["choices"].items():
        if point in (secret.point, "without") or point in secret.beside:
            continue
        got = found_in(file, point)
        if got is not UNSET and got != default and not _follows(secret, point):
            wrong.append(f"{point} = {got}")
    return wrong


def _follows(secret: Secret, point: str) -> bool:
    """What a device without a capability answers to a point that is about it."""
    return (secret.point, point) in {
        ("without", "max_wr_memcpy_length"), ("import_method", "without"), ("access_supported", "initial_access"),
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class SoftNic:
    """A software NIC, and what is known of it."""

    device: str
    known: dict[str, Any]
    fault: str = ""


def soft_nics() -> list[SoftNic]:
    return [SoftNic(one["device"], one["known"], one.get("fault", "")) for one in TABLE["soft"]]


def measure_soft(nic: SoftNic, folder: Path) -> dict[str, Any]:
    out = folder / "soft.toml"
    out.unlink(missing_ok=True)
    environment = {**os.environ, **({"MKEYSPEC_SOFTNIC_FAULT": nic.fault} if nic.fault else {})}
    command = [sys.executable, "-m", "mkeyspec", "calibrate", "--device", nic.device, "--out", str(out)]
    subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
    found: dict[str, Any] = tomllib.loads(out.read_text(encoding="utf-8"))
    return found


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    return f'"{value}"' if isinstance(value, str) else str(value)


def main(words: list[str]) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "--faults" in words:
            return faults()
        total: Counter[str] = Counter()
        rows: dict[str, Counter[str]] = {}
        strange: list[str] = []
        for secret in secrets():
            file = measure(folder, secret.profile)
            said = verdict(secret, file)
            total[said] += 1
            row = "errno (each rule)" if secret.point.startswith("errno.") else secret.point
            rows.setdefault(row, Counter())[said] += 1
            if said != "found":
                strange.append(f"{said}: {secret.point} = {secret.answer}")
            strange += [f"wrong beside {secret.point} = {secret.answer}: {one}" for one in others_wrong(secret, file)]
        print("| point | answers | found | undecided | wrong |\n| --- | --- | --- | --- | --- |")
        for row, count in rows.items():
            print(f"| `{row}` | {sum(count.values())} | {count['found']} | {count['undecided']} | {count['wrong']} |")
        whole = sum(total.values())
        print(f"| all | {whole} | {total['found']} | {total['undecided']} | {total['wrong']} |")
        if "--model" not in words:
            for nic in soft_nics():
                file = measure_soft(nic, folder)
                for point, answer in nic.known.items():
                    if (got := found_in(file, point)) != answer:
                        strange.append(f"{nic.device} {nic.fault}: {point} is {answer}, found {got}")
                print(f"{nic.device} {nic.fault}: {len(nic.known)} points known")
        print(*strange, sep="\n")
        wrong = [one for one in strange if not one.startswith("undecided")]
        return int(bool(wrong) or total["found"] < 0.95 * whole)


def faults() -> int:
    """What calibration says of a model with each fault: points that it decides otherwise than for the sound model."""
    from mkeyspec.calibrate import engine
    from mkeyspec.device.profile.profile import Profile
    from mkeyspec.sabotage.catalogue import of_device
    from mkeyspec.sabotage.model import faulty_model

    for name in of_device("model"):
        decided = []
        for one in engine.all_points(faulty_model(name, Profile()), 0.02, 0.0):
            default = TABLE["choices"].get(one.key, [UNSET])[0]
            value = list(one.value) if isinstance(one.value, tuple) else one.value
            if one.decided and default is not UNSET and value != default:
                decided.append(f"{one.key} = {value}")
        if decided:
            print(f"{name}: {', '.join(decided)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
