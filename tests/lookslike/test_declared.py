"""What is said first where the author is wrong, and not where the device is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.project import Project

SAID = "looks like: by the references the device did what the case declares"

CASE = """\
mks 1

case {name}
    verifies SIG-08
    memory src = counter(1024)
    dek e {{ key random(32, seed=1) }}
    mkey k {{ {flags} }}
    configure k {{ layout list(src); {setter} }}
    transmit k by send
    expect wire == {expected}
"""
SIGNED = ("block_signature", "signature { wire t10dif(app_tag=5, ref_tag=7) every 512 }")
ENCRYPTED = ("crypto", "crypto { dek e; tweak 1; data_unit 512 }")
PLAIN = ("", "access local_write")

WRONG: dict[str, tuple[tuple[str, str], str]] = {
    "byte": (PLAIN, 'counter(1023) ++ hex"00"'),
    "app_tag": (SIGNED, "framed(src, t10dif(app_tag=6, ref_tag=7) every 512)"),
    "guard": (SIGNED, "framed(src, t10dif(bg_type=csum, app_tag=5, ref_tag=7) every 512)"),
    "key": (ENCRYPTED, "xts_encrypt(src, random(32, seed=2), tweak=1, unit=512)"),
    "tweak": (ENCRYPTED, "xts_encrypt(src, random(32, seed=1), tweak=2, unit=512)"),
}
"""What is declared, and another expectation."""

FAULTS: dict[str, tuple[tuple[str, str], str]] = {
    "t10_guard_is_csum": (SIGNED, "framed(src, t10dif(app_tag=5, ref_tag=7) every 512)"),
    "app_tag_little_endian": (SIGNED, "framed(src, t10dif(app_tag=5, ref_tag=7) every 512)"),
}
"""A device that is wrong, and the expectation of what is declared."""


def said(folder: Path, name: str, declared: tuple[str, str], expected: str, *options: str) -> str:
    project = Project(folder)
    flags, setter = declared
    project.put("cases/a.mks", CASE.format(name=name, flags=flags, setter=setter, expected=expected))
    done = project.mkeyspec("run", "cases", *options)
    assert "error[MKS2101]" in done.out, done.out
    return done.out


@pytest.mark.parametrize("name", WRONG)
def test_the_expectation_is_wrong(tmp_path: Path, name: str) -> None:
    assert SAID in said(tmp_path, name, *WRONG[name])


@pytest.mark.parametrize("fault", FAULTS)
def test_the_device_is_wrong(tmp_path: Path, fault: str) -> None:
    assert SAID not in said(tmp_path, fault, *FAULTS[fault], "--fault", fault)


REFUSED = """\
mks 1

case a
    verifies ACC-01
    memory m[64]
    mkey k
    configure k { access local_write | remote_read; layout list(m) }
    receive counter(64) into k by peer_write
        rejected at completion with remote_access
    expect m == unchanged
"""


def test_a_refused_request_that_moves_bytes(tmp_path: Path) -> None:
    """It is refused, as the case declares; what it has moved is not."""
    project = Project(tmp_path)
    project.put("cases/a.mks", REFUSED)
    assert project.mkeyspec("run", "cases").code == 0
    done = project.mkeyspec("run", "cases", "--fault", "refused_write_lands")
    assert "error[MKS2102]" in done.out, done.out
    assert SAID not in done.out


def test_a_member_set_wrong_on_purpose(tmp_path: Path) -> None:
    """The references say nothing of what a device does with it."""
    flags, setter = SIGNED
    assert SAID not in said(tmp_path, "a", (flags, f"{setter}; access 0, but access_flags 1"), WRONG["app_tag"][1])


BOTH = """\
mks 1

case a
    verifies XCRY-07
    let d = t10dif(app_tag=5, ref_tag=7) every 512
    memory src = xts_encrypt(framed(counter(1024), d), random(32, seed=1), tweak=3, unit=520)
    dek e { key random(32, seed=1) }
    mkey k { block_signature; crypto }
    configure k {
        layout    list(src)
        signature { mem d }
        crypto    { dek e; tweak 3; data_unit 520; encrypt_on_tx no; order signature_after_crypto_on_tx }
    }
    transmit k by send
    expect wire == counter(1024)
"""


def test_an_mkey_that_signs_and_encrypts(tmp_path: Path) -> None:
    """Which of the two comes first is a table of the page, and a device may have it wrong."""
    project = Project(tmp_path)
    project.put("cases/a.mks", BOTH)
    assert project.mkeyspec("run", "cases").code == 0
    done = project.mkeyspec("run", "cases", "--fault", "field_encrypted")
    assert "error[MKS2101]" in done.out, done.out
    assert SAID not in done.out
