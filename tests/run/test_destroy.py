"""`destroy k`: what it returns is judged, and nothing of the key is lost with it."""

from __future__ import annotations

from errno import EBUSY

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Mkey, Refused, SignatureError
from tests.run.text import one, told
from tests.shipped import ROOT


class Busy(Model):
    """Destroys no key while the case runs."""

    def destroy(self, mkey: Mkey) -> None:
        raise Refused("mlx5dv_destroy_mkey", EBUSY)


class Keeping(Model):
    """Says that it has destroyed a key, and keeps it."""

    def destroy(self, mkey: Mkey) -> None:
        pass


class Greedy(Model):
    """Destroys all keys."""

    def destroy(self, mkey: Mkey) -> None:
        super().destroy(mkey)
        for table in self.tables.values():
            table.keys.clear()


def test_what_it_returns_is_judged() -> None:
    plain = one("destroy k")
    claimed = one("destroy k", "    rejected at destroy with EBUSY", "transmit k by send", "expect wire == m")
    either = one("destroy k as d", "    accepted or rejected at destroy with EBUSY", "record errno = d.errno")
    assert (told(plain), told(plain, Busy(Profile()))) == (["pass"], ["MKS2001:9"])
    assert (told(claimed), told(claimed, Busy(Profile()))) == (["MKS2002:9"], ["pass"])
    assert told(claimed.replace("EBUSY", "EINVAL"), Busy(Profile())) == ["MKS2003:9"]
    assert told(either) == told(either, Busy(Profile())) == ["pass"]


def test_its_errno_is_a_live_value() -> None:
    text = one("destroy k as d", "    accepted or rejected at destroy with EBUSY", "expect d.errno == 0")
    assert told(text) == ["pass"]
    assert told(text, Busy(Profile())) == ["MKS2105:11"]


CASES = (ROOT / "cases/mkey/destroy.mks").read_text().split("\n", 2)[2].split("\ncase ")[1:]


def red(device: type[Model]) -> set[str]:
    return {case.split("\n")[0] for case in CASES if set(told(f"case {case}", device(Profile()))) != {"pass"}}


def test_the_shipped_cases_notice_what_is_left_and_what_goes_too() -> None:
    assert red(Model) == set()
    assert red(Keeping) == {"its_keys_give_no_access", "an_entry_of_another_key"}
    assert "another_key_of_the_same_bytes" in red(Greedy)
    assert len(red(Busy)) == len(CASES) == 5


SIGNED = """\
case a
    verifies SIG-08
    let d = crc32(ones) every 512
    memory src = framed(counter(512), d)
    mkey k { block_signature }
    configure k { layout list(src); signature { mem d } }
    transmit k by send
    expect wire == counter(512)
    destroy k
"""


class Alarming(Model):
    """Reports a signature error where there is none."""

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        super().mkey_check(mkey)
        return SignatureError(1, 0, 0, 511)


def test_an_unread_signature_error_does_not_go_with_its_key() -> None:
    assert told(SIGNED) == ["pass"]
    assert told(SIGNED, Alarming(Profile())) == ["MKS2202:7"]


def test_requests_before_it_are_over() -> None:
    text = one("post { write k[0 +: 64] to w }", "destroy k", "expect w == m")
    assert told(text) == ["pass"]
