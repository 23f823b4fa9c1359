"""Personalities: names, files, refusals; and that the library's own table says what the files say."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mkeyspec.device.soft.personality import ALIASES, DEFAULT, VARIABLE, PersonalityError, names, personality
from mkeyspec.files import resource
from tests.softnic import pure

FIVE = ["bluefield3-plaintext", "bluefield3-wrapped", "connectx5", "connectx6dx", "connectx7"]
ALL = [*FIVE, "unkind", "unkind-full"]


def test_the_five_and_the_unkind_ones() -> None:
    assert names() == ALL
    assert personality() == personality(DEFAULT) == personality("connectx7") == personality("CX7")
    assert set(ALIASES.values()) <= set(ALL)
    assert [personality(alias).name for alias in ("cx5", "cx6dx", "cx7", "bf3", "bf3-wrapped")] == [
        "connectx5",
        "connectx6dx",
        "connectx7",
        "bluefield3-plaintext",
        "bluefield3-wrapped",
    ]


def test_connectx5_lacks_what_hardware_lacks() -> None:
    assert dict(personality("cx5").members)["signatures"] == "t10dif+crc32"
    assert dict(personality("cx5").members)["crypto"] == "none"


@pytest.mark.parametrize("name", ALL)
def test_every_file_has_every_member(name: str) -> None:
    assert [member for member, _ in personality(name).members] == [member for member, _ in personality(DEFAULT).members]


def test_a_file_overrides_its_base(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "cx6dx"\nsignatures = []\nroce = true\nmemcpy_max = 0x1000\n', encoding="utf-8")
    mine = personality(str(path))
    base = dict(personality("connectx6dx").members)
    assert mine.name == "connectx6dx"
    assert dict(mine.members) == base | {"signatures": "", "roce": "1", "memcpy_max": "4096"}
    assert mine.environment[VARIABLE].startswith("name=connectx6dx;")


REFUSED = {
    'base = "cx9"': "base is 'cx9'",
    "signaturs = []": "no 'signaturs'; did you mean signatures",
    "zzz = 1": "no 'zzz'; there are vendor_part_id",
    "roce = 1": "roce is 1; it takes true or false",
    "signatures = ['md5']": "it takes a list of t10dif",
    "block_sizes = [true]": "it takes a list of 512",
    "memcpy_max = 3": "a power of two",
    "dc_log_streams = 7": "0 to 6",
    'fw_ver = "1;name=connectx5"': "without `;`",
    f'board_id = "{32 * "x"}"': "1 to 31",
    'crypto = "magic"': "none, plaintext or wrapped",
    'kek = "00"': "hexadecimal",
    'credential = "00"': "80 hexadecimal digits",
    "kek_id = 0x1000000": "0 to 0xffffff",
    "roce = ": "is not TOML",
    "mtu = 1000": "256, 512, 1024, 2048 or 4096",
    "ports = true": "1 or 2",
    "max_sge = 0": "1 to 30",
    "late_us = 1000000": "0 to 100000",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PersonalityError) as caught:
        personality(str(path))
    message = str(caught.value)
    assert REFUSED[text] in message
    assert message.startswith(str(path))
    assert "\n" not in message


@pytest.mark.parametrize(
    ("name", "says"),
    [("conectx7", "did you mean connectx7"), ("e1000", "there are bluefield3-plaintext"), ("no.toml", "No such file")],
)
def test_unknown_names(name: str, says: str) -> None:
    with pytest.raises(PersonalityError, match=says):
        personality(name)


# The library's side ----------------------------------------------------------------------------

PROGRAM = """
#include "engine/personality.c"
int main(void) {
    const struct personality *p = personality();
    if (!p) return 1;
    fwrite(p, sizeof *p, 1, stdout);
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prints the library's struct as it is in memory."""
    out = tmp_path_factory.mktemp("personality") / "program"
    command = [pure.need_compiler(), "-std=c11", "-D_GNU_SOURCE", "-I.", "-Iengine", "-xc", "-", "-o", str(out)]
    subprocess.run(command, input=PROGRAM, text=True, check=True, cwd=pure.SOFTNIC)
    return out


def read(program: Path, value: str) -> bytes | None:
    done = subprocess.run([str(program)], env=os.environ | {VARIABLE: value}, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


@pytest.mark.parametrize("name", ALL)
def test_the_library_says_the_same(name: str, program: Path) -> None:
    """Its name alone, the whole file, and the whole file over another device's name."""
    whole = personality(name).environment[VARIABLE]
    own = read(program, name)
    assert own is not None
    assert read(program, whole) == own
    assert read(program, f"name={name}") == own
    other = read(program, whole.replace(f"name={name}", "name=connectx7" if name != "connectx7" else "name=connectx5"))
    assert other is not None
    assert other[32:] == own[32:]  # but for the name


def test_every_member_reaches_the_library(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    before = read(program, personality(DEFAULT).environment[VARIABLE])
    changed = (
        "vendor_part_id = 1", 'fw_ver = "1.2.3"', 'board_id = "x"', 'signatures = ["t10dif"]', "block_sizes = [512]",
        "signature_pipelining = false", 'crypto = "wrapped"', "crypto_single_block = false",
        "crypto_multi_block = false", "log_max_deks = 3", 'kek = "ff0102030405060708090a0b0c0d0e0f"', "memcpy_max = 64",
        "kek_id = 5", f'credential = "{80 * "5"}"', "credential_id = 6",
        "wait_on_data = false", "transpose = false",
        "dc = false", "dc_log_streams = 1", "dc_log_errored = 1", "roce = true", "clock_page = false",
        "max_mkey_entries = 8", "trap = false", "atomics = false", "umr_atomic = false", "ports = 2", "down = 1",
        "mtu = 256", "max_qp_wr = 64", "max_sge = 4", "max_msg_sz = 4096", "late_us = 5", "recycle = true",
    )  # fmt: skip
    assert len(changed) == len(personality().members)
    for line in changed:
        path.write_text(line, encoding="utf-8")
        after = read(program, personality(str(path)).environment[VARIABLE])
        assert after is not None, line
        assert after != before, line


def test_the_files_are_found() -> None:
    assert resource.directory("personalities").is_dir()
