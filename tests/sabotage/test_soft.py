"""The software NIC's faults: those of the catalogue, each with its place; and none when none is asked for."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

from mkeyspec.device.soft import softnic
from mkeyspec.sabotage.catalogue import of_device

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "softnic"
FAULTS = of_device("soft")

KNOWN = {
    "crc32_polynomial": "cases/signature/crc.mks::published_values",
    "field_misses_last_byte": "cases/signature/crc.mks::",
    "ref_tag_constant": "cases/signature/t10dif.mks::",
    "app_ref_escape_ref_only": "cases/signature/escapes.mks::",
    "check_mask_shifted": "cases/signature/masks.mks::",
    "copy_mask_inverted": "cases/signature/masks.mks::",
    "interleaved_skip_ignored": "cases/layout/interleaved.mks::",
    "remote_write_unchecked": "cases/configure/access.mks::",
    "local_inv_ignored": "cases/mkey/invalidate.mks::",
    "error_of_every_message": "cases/signature/errors.mks::an_unread_error_outlives_another_transfer",
    "xts_tweak_constant": "cases/crypto/xts.mks::",
    "memcpy_short": "cases/posting/memcpy.mks::",
}
"""One a group, and whom it is noticed by."""


def _absent(reason: str) -> NoReturn:
    if os.environ.get("MKEYSPEC_REQUIRE_SOFT") == "1":
        pytest.fail(f"MKEYSPEC_REQUIRE_SOFT=1, and {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def library() -> Path:
    return softnic.library(faults=True) or _absent(softnic.missing(faults=True) or "no library")


def _sabotage(names: list[str], **environment: str) -> dict[str, Any]:
    files = sorted({KNOWN[name].split("::")[0] for name in names})
    done = subprocess.run(
        [sys.executable, "-m", "mkeyspec", "sabotage", *files, "--device", "soft", "--format", "json", "-n", "2",
         "--only", *names],
        cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    if done.returncode == 2 and "MKS0919" in done.stderr:
        _absent(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


def test_names_are_the_catalogue() -> None:
    text = (SOURCES / "faults" / "fault.h").read_text(encoding="utf-8")
    listed = re.search(r"#define FAULTS\(X\)(.*?)\n\n", text, re.DOTALL)
    assert listed is not None
    assert re.findall(r"X\((\w+)\)", listed[1]) == list(FAULTS)


def test_each_has_its_place() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((SOURCES / "faults").glob("*.c")))
    assert set(re.findall(r"\bfault\((\w+)\)", text)) == set(FAULTS)


def test_the_shipped_sources_have_no_word_of_faults() -> None:
    """They are replaced from outside: no name of the catalogue, no switch, no file of softnic/faults/."""
    words = re.compile(rf"\b(?:defects?|bent|right_\w+|SOFTNIC_FAULTS\w*|faults/|{'|'.join(FAULTS)})\b|\bfault\(")
    found = [
        f"{path.relative_to(SOURCES)}: {word}"
        for path in softnic.sources(SOURCES)
        for word in words.findall(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_each_rule_has_its_fault() -> None:
    """A function is marked as a rule because something replaces it."""
    shipped = "".join(path.read_text(encoding="utf-8") for path in softnic.sources(SOURCES) if path.suffix == ".c")
    faults = "".join(path.read_text(encoding="utf-8") for path in (SOURCES / "faults").glob("*.c"))
    rules = re.findall(r"\bRULE\((\w+)\)", shipped)
    assert sorted(rules) == sorted(re.findall(r"^REPLACES\((\w+)\);", faults, re.MULTILINE))


def test_a_sample_is_noticed_by_whom_it_should(library: Path) -> None:
    outcome = _sabotage(list(KNOWN))
    assert outcome["failing"] == 0, "no fault, no failure"
    found = {one["name"]: list(one["killed_by"].items()) for one in outcome["faults"]}
    for name, case in KNOWN.items():
        assert len(found[name]) == 1
        (item, how) = found[name][0]
        assert item.startswith(case), f"{name} by {item}"
        assert how.startswith("MKS2"), f"{name}: {how}, and a fault is no crash"


def test_a_sample_under_the_sanitizers(library: Path) -> None:
    if not shutil.which("gcc") or not shutil.which("make"):
        _absent("no gcc and make to build with sanitizers")
    runtimes = [
        subprocess.run(["gcc", f"-print-file-name=lib{name}.so"], capture_output=True, text=True).stdout.strip()
        for name in ("asan", "ubsan")
    ]
    if not all(Path(runtime).is_absolute() for runtime in runtimes):
        _absent("gcc has no sanitizer libraries: apt-get install libasan8 libubsan1")
    subprocess.run(["make", "-s", "-C", str(SOURCES), "asan-faults", "CC=gcc"], check=True, capture_output=True)
    # Ours comes first in the list of preloads, which their check of the order does not like.
    outcome = _sabotage(
        ["crc32_polynomial", "interleaved_skip_ignored"],
        LD_PRELOAD=" ".join(runtimes),
        MKEYSPEC_SOFTNIC_LIBRARY=str(SOURCES / "build" / "asan-faults" / softnic.NAME),
        ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0",
    )
    assert [how for one in outcome["faults"] for how in one["killed_by"].values() if not how.startswith("MKS2")] == []


LOOK = """
import pyverbs.device
pyverbs.device.Context(name="mlx5_0").close()
"""


@pytest.mark.parametrize(("name", "code"), [("nonsense", 2), ("", 0), ("crc32_polynomial", 0)])
def test_the_name_in_the_environment(library: Path, name: str, code: int) -> None:
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import pyverbs.device"], capture_output=True).returncode:
        _absent(f"{python} has no pyverbs: apt-get install python3-pyverbs ibverbs-providers")
    done = subprocess.run(
        [python, "-c", LOOK],
        capture_output=True,
        text=True,
        timeout=60,
        env={"LD_PRELOAD": str(library), "MKEYSPEC_SOFTNIC_FAULT": name},
    )
    assert done.returncode == code
    said = f"no fault is called `{name}`; `mkeyspec sabotage --list` names them"
    assert done.stderr == (f"mkeyspec softnic: MKEYSPEC_SOFTNIC_FAULT: {said}\n" if code else "")


def test_the_shipped_library_has_no_fault() -> None:
    """Whatever the environment says: it doesn't even know the variable."""
    shipped = softnic.library()
    if shipped is None:
        _absent(softnic.missing() or "no library")
    assert b"MKEYSPEC_SOFTNIC_FAULT" not in shipped.read_bytes()
    assert b"crc32_polynomial" not in shipped.read_bytes()
