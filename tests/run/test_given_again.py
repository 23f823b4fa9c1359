"""A number that is the key of another object than the statement means: no fault of the device (run/target.py).

A freed index may be given again (docs/softnic.md, `recycle`): the key of a destroyed mkey is that of the next one then,
since a new key's tag is 0 (mlx5dv_create_mkey(3), UPDATE_TAG).
"""

from __future__ import annotations

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Mkey
from tests.run.text import told


class Recycling(Model):
    """Gives the index of a destroyed mkey to the next object."""

    def destroy(self, mkey: Mkey) -> None:
        super().destroy(mkey)
        self._index = (mkey.rkey >> 8) - 1


HEAD = """\
case a
    verifies MKY-02
    memory m = counter(64)
    memory n = fill(1, 64)
    peer memory s = fill(7, 64)
    mkey k
    mkey outer
    mkey outermost
    configure k { access local_write | remote_write; layout list(m) }
    configure outer { access local_write | remote_write; layout list(k[0 +: 64]) }
    configure outermost { access local_write | remote_write; layout list(outer[0 +: 64]) }
"""
OLD = "    let old = k.rkey"
AGAIN = """\
    destroy k
    mkey l
    configure l { access local_write | remote_write; layout list(n) }
"""
REFUSED = {
    "its name": "peer write s to k[0 +: 64]",
    "its number": "peer write s to m, but remote_addr 0, but rkey old",
    "its number in a section": "peer post { write s to n; write s to m, but remote_addr 0, but rkey old }",
    "an entry": "peer write s to outer[0 +: 64]",
    "an entry of an entry": "peer write s to outermost[0 +: 64]",
    "a short form": "transmit k[0 +: 64] by send",
    "a short form of an entry": "receive fill(1, 64) into outer by peer_write",
}
"""Uses of a destroyed key, each refused if it is the key of nothing."""


def case(use: str, claim: str, again: str = AGAIN) -> str:
    """A case whose use of the key is its line 18, if `again` is there."""
    return f"{HEAD}{OLD if 'old' in REFUSED[use] else '    # unused'}\n{again}    {REFUSED[use]}\n        {claim}\n"


@pytest.mark.parametrize("use", REFUSED)
def test_a_destroyed_key_that_another_mkey_has(use: str) -> None:
    text = case(use, "rejected at completion") + "    expect n == any\n"
    assert told(text) == ["pass"]
    assert told(text, Recycling(Profile())) == ["MKS2107:18"]


@pytest.mark.parametrize("use", ["its name", "its number", "an entry"])
def test_both_may_be_claimed(use: str) -> None:
    """The bytes that the new owner of the key gets are no surprise."""
    text = case(use, "accepted or rejected at completion") + "    expect n == any\n"
    assert told(text) == told(text, Recycling(Profile())) == ["pass"]


@pytest.mark.parametrize("use", ["its name", "its number", "an entry"])
def test_a_destroyed_key_that_nothing_has(use: str) -> None:
    text = case(use, "rejected at completion", "    destroy k\n")
    assert told(text) == told(text, Recycling(Profile())) == ["pass"]


def test_the_new_mkey_itself() -> None:
    text = f"{HEAD}{AGAIN}    peer write s to l[0 +: 64]\n    expect n == s\n"
    assert told(text) == told(text, Recycling(Profile())) == ["pass"]


def spoiled(but: str, claim: str) -> list[str]:
    """Of a case of three mkeys, which the model gives one index after another."""
    return told(
        "case a\n    verifies LAY-01\n    memory m = counter(64)\n    peer memory s = fill(7, 64)\n"
        "    mkey before\n    mkey k\n    mkey after\n"
        "    configure before { access local_write | remote_write; layout list(m) }\n"
        "    configure k { access local_write | remote_write; layout list(m) }\n"
        "    configure after { access local_write | remote_write; layout list(m) }\n"
        f"    peer write s to k[0 +: 64], but {but}\n{claim}"
    )


@pytest.mark.parametrize("but", ["rkey k.rkey + 0x100", "rkey k.rkey - 0x100"])
def test_a_computed_key_that_another_mkey_has(but: str) -> None:
    assert spoiled(but, "        rejected at completion with remote_access\n") == ["MKS2107:13"]
    assert spoiled(but, "        accepted or rejected at completion\n    expect m == any\n") == ["pass"]


def test_a_computed_key_of_nothing() -> None:
    assert spoiled("rkey k.rkey ^ 0xff0000", "        rejected at completion with remote_access\n") == ["pass"]


def test_the_key_of_another_object_that_is_named() -> None:
    assert spoiled("rkey after.rkey", "    expect m == s\n") == ["pass"]
    assert spoiled("rkey before.rkey + 0x200", "    expect m == s\n") == ["MKS2107:13"]


def test_the_key_of_a_buffer_of_the_rig() -> None:
    """The peer's buffer of a `transmit`: no statement can name it. The model counts indices and tags of memory up."""
    text = (
        "case a\n    verifies LAY-01\n    memory m = counter(64)\n    mkey k\n"
        "    configure k { access local_write; layout list(m) }\n    peer memory w[64]\n"
        "    transmit k[0 +: 64] by send\n    expect wire == m\n"
        "    write m to w, but rkey w.rkey + 0x101\n        rejected at completion with remote_access\n"
    )
    assert told(text) == ["MKS2107:11"]
