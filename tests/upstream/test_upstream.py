"""rdma-core's own tests, unmodified, on the software NIC: each must come out as expected.toml says.

They are a witness that the plumbing is right, discovery and commands and queues; none of them looks at a
signature byte. Nothing of rdma-core is kept here: the tests come from Debian's package python3-pyverbs.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.keywrap import aes_key_wrap

from mkeyspec.device.soft import softnic

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
PACKAGED = Path("/usr/share/doc/rdma-core/tests")
PYTHON = "/usr/bin/python3"
EXPECTED: dict[str, Any] = tomllib.loads((HERE / "expected.toml").read_text(encoding="utf-8"))
RUNS: list[dict[str, Any]] = EXPECTED["run"]
Outcome = dict[str, tuple[str, str]]


def missing() -> str | None:
    """What this machine lacks, and what brings it."""
    if not sys.platform.startswith("linux"):
        return "the software NIC needs Linux"
    probe = "import pyverbs.device, pyverbs.providers.mlx5.mlx5dv"
    if not Path(PYTHON).exists() or subprocess.run([PYTHON, "-c", probe], capture_output=True).returncode:
        return f"{PYTHON} has no pyverbs: apt-get install python3-pyverbs ibverbs-providers"
    if not (PACKAGED / "run_tests.py").is_file():
        return f"no {PACKAGED}: python3-pyverbs was installed without its documentation"
    version = ".".join(Path("/usr/lib/x86_64-linux-gnu/libibverbs.so.1").resolve().name.split(".")[-2:])
    if version != EXPECTED["rdma_core"]:
        return f"rdma-core {version} is installed, and expected.toml is about {EXPECTED['rdma_core']}"
    return softnic.missing()


@pytest.fixture(scope="session")
def library() -> Path:
    reason = missing()
    if reason is None:
        found = softnic.library()
        assert found is not None
        return found
    pytest.skip(reason)


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the package `tests`, and the keys that its crypto tests ask for."""
    directory = tmp_path_factory.mktemp("upstream")
    unpack(directory)
    return directory


def unpack(directory: Path, source: Path = PACKAGED) -> None:
    (directory / "tests").mkdir()
    for path in source.iterdir():
        target = directory / "tests" / path.name.removesuffix(".gz")
        if path.suffix == ".gz":
            with gzip.open(path) as packed, target.open("wb") as out:
                shutil.copyfileobj(packed, out)
        else:
            shutil.copyfile(path, target)
    (directory / "crypto.json").write_text(json.dumps([_crypto_details()]))


CREDENTIAL = bytes(range(100, 140))
"""Of the crypto officer, as the software NIC has it stored."""


def _crypto_details() -> dict[str, list[int]]:
    """Keys, plain and wrapped with the software NIC's import key (RFC 3394), and what they make of many a 'c'."""
    import_key, key, long_key = bytes(range(16)), bytes(range(32)), bytes(range(64, 128))

    def big_endian(data: bytes) -> list[int]:
        return list(struct.unpack(f">{len(data) // 8}Q", data))

    def native(data: bytes) -> list[int]:
        return list(struct.unpack(f"={len(data) // 4}I", data))

    def encrypted(units: int) -> bytes:
        tweaks = (unit.to_bytes(16, "little") for unit in range(units))
        ciphers = (Cipher(algorithms.AES(key), modes.XTS(tweak)).encryptor() for tweak in tweaks)
        return b"".join(cipher.update(b"c" * 512) for cipher in ciphers)

    return {
        "credential": big_endian(aes_key_wrap(import_key, CREDENTIAL)),
        "plaintext_key": native(key),
        "plaintext_256_bits_key": native(long_key),
        "wrapped_key": big_endian(aes_key_wrap(import_key, key)),
        "wrapped_256_bits_key": big_endian(aes_key_wrap(import_key, long_key)),
        "encrypted_data_for_512_c": big_endian(encrypted(1)),
        "encrypted_data_for_1024_c": big_endian(encrypted(2)),
    }


def environment(library: Path, directory: Path, personality: str) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        "LD_PRELOAD": str(library),
        # These tests name neither id, so both are 0.
        "MKEYSPEC_SOFTNIC_PERSONALITY": f"{personality};credential={CREDENTIAL.hex()};credential_id=0;kek_id=0",
        "MLX5_CRYPTO_TEST_INFO": str(directory / "crypto.json"),
    }


def _run(library: Path, directory: Path, module: str, personality: str) -> Outcome:
    done = subprocess.run(
        [PYTHON, str(HERE / "run.py"), str(directory), "mlx5_0", module],
        env=environment(library, directory, personality),
        cwd=directory,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
    )
    assert done.returncode == 0, f"{module} ended with {done.returncode}:\n{done.stderr[-4000:]}"
    return {name: (outcome, why) for name, (outcome, why) in json.loads(done.stdout)[module].items()}


def differences(run: dict[str, Any], got: Outcome) -> list[str]:
    """One line for each test that did not do what it should."""
    wanted: dict[str, tuple[str, str]] = dict.fromkeys(run.get("pass", []), ("pass", ""))
    wanted.update({name: ("skip", reason) for reason, names in run.get("skip", {}).items() for name in names})
    either = {name for names in run.get("either", {}).values() for name in names}
    lines = []
    for name in sorted({*wanted, *got, *either}):
        outcome = got.get(name)
        if outcome is None:
            lines.append(f"{name}: not run")
        elif name in either:
            if outcome[0] not in ("pass", "skip"):
                lines.append(f"{name}: {outcome[0]}\n{outcome[1]}")
        elif name not in wanted:
            lines.append(f"{name}: {outcome[0]} {outcome[1]}; not in expected.toml")
        elif outcome != wanted[name]:
            lines.append(f"{name}: {' '.join(wanted[name])} expected; {outcome[0]}\n{outcome[1]}")
    return lines


@pytest.mark.parametrize("run", RUNS, ids=[f"{run['module']}-{run['personality']}" for run in RUNS])
def test_comes_out_as_expected(library: Path, unpacked: Path, run: dict[str, Any]) -> None:
    got = _run(library, unpacked, run["module"], run["personality"])
    lines = differences(run, got)
    assert not lines, "\n".join(lines)


def test_that_a_difference_is_one() -> None:
    """The comparison itself: a failure, a pass which should skip, another reason, a test too few and one too many."""
    run = {
        "pass": ["A.a", "A.b", "A.gone"],
        "skip": {"no room": ["A.c", "A.d"]},
        "either": {"the machine": ["A.e", "A.f"]},
    }
    good: Outcome = {
        "A.a": ("pass", ""), "A.b": ("pass", ""), "A.gone": ("pass", ""), "A.c": ("skip", "no room"),
        "A.d": ("skip", "no room"), "A.e": ("pass", ""), "A.f": ("skip", "whatever"),
    }  # fmt: skip
    assert differences(run, good) == []
    bad = {
        **good,
        "A.b": ("fail", "AssertionError"),
        "A.c": ("pass", ""),
        "A.d": ("skip", "other"),
        "A.new": ("pass", ""),
    }
    bad["A.f"] = ("error", "boom")
    del bad["A.gone"]
    assert [line.split(":")[0] for line in differences(run, bad)] == ["A.b", "A.c", "A.d", "A.f", "A.gone", "A.new"]
