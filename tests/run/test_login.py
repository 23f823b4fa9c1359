"""`login`, `logout`, `login_state`, login objects and wrapped keys: what reaches the device, and what is judged."""

from __future__ import annotations

from errno import EACCES, EINVAL

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Dek, DekAttr, LabLogin, Login, LoginAttr, Refused
from mkeyspec.run.verdict import Verdict
from tests.oracle import key_wrap
from tests.run.text import one, told, verdicts

LAB = LabLogin(0x51, bytes(range(3, 43)), 0x52, b"a KEK of the lab")
OTHER = bytes([0x5A]) * 40


class Odd(Model):
    """A model that says that the lab has another credential and KEK, and keeps what it is given."""

    def __init__(self, state: int = 0) -> None:
        super().__init__(Profile())
        self.logins.lab = LAB
        self.state = state
        self.seen: list[LoginAttr] = []
        self.keys: list[tuple[bytes, bytes | None, DekAttr | None]] = []

    def login(self, attr: LoginAttr) -> None:
        self.seen.append(attr)
        super().login(attr)

    def login_object(self, attr: LoginAttr) -> Login:
        self.seen.append(attr)
        return super().login_object(attr)

    def login_state(self) -> int:
        return self.state or super().login_state()

    def query_login(self, login: Login) -> int:
        return self.state or super().query_login(login)

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        self.keys.append((key, keytag, attr))
        return super().dek(key, keytag, attr)


class Closed(Odd):
    """It refuses each login, and each logout."""

    def login(self, attr: LoginAttr) -> None:
        raise Refused("mlx5dv_crypto_login", EACCES)

    def logout(self) -> None:
        raise Refused("mlx5dv_crypto_logout", EINVAL)


def test_the_credential_of_the_lab_reaches_the_device_wrapped() -> None:
    device = Odd()
    assert told(one("login", "logout", "login_object o", "destroy o"), device) == ["pass"]
    wanted = LoginAttr(0x51, 0x52, key_wrap.wrap(LAB.credential, LAB.import_kek))
    assert device.seen == [wanted, wanted]


def test_what_is_wrong_on_purpose_reaches_the_device() -> None:
    device = Odd()
    ids = "login, but credential_id 7, but import_kek_id 8"
    lines = ("login { credential fill(0x5a, 40) }", "login { damaged 9 }", ids)
    claimed = [text for line in lines for text in (line, "    rejected at login with EINVAL")]
    assert told(one(*claimed, "login, but comp_mask 5", "    rejected at login with EINVAL"), device) == ["pass"]
    right = key_wrap.wrap(LAB.credential, LAB.import_kek)
    assert device.seen == [
        LoginAttr(0x51, 0x52, key_wrap.wrap(OTHER, LAB.import_kek)),
        LoginAttr(0x51, 0x52, right[:9] + bytes([right[9] ^ 0xFF]) + right[10:]),
        LoginAttr(7, 8, right),
        LoginAttr(0x51, 0x52, right, 5),
    ]


@pytest.mark.parametrize("size", [32, 64])
def test_keys_reach_the_device_wrapped(size: int) -> None:
    device = Odd()
    lines = (
        "login",
        f"dek a {{ key counter({size}); wrapped }}",
        f"dek b {{ key counter({size}); keytag fill(7, 8); wrapped; damaged 3 }}",
        "    rejected at create",
        "logout",
        "login_object o",
        f"dek c {{ key counter({size}); keytag fill(7, 8); login o }}",
        "query c is state_ready",
    )
    assert told(one(*lines), device) == ["pass"]
    plain, tagged = bytes(range(size)), bytes(range(size)) + bytes([7]) * 8
    whole = key_wrap.wrap(tagged, LAB.import_kek)
    (a, b, c) = device.keys
    assert a == (key_wrap.wrap(plain, LAB.import_kek), None, DekAttr(comp_mask=0, wrapped=True))
    assert b[0] == whole[:3] + bytes([whole[3] ^ 0xFF]) + whole[4:]
    assert b[2] == DekAttr(comp_mask=0, wrapped=True, has_keytag=True)
    assert c == (whole, None, DekAttr(login=Login(1), wrapped=True, has_keytag=True))


def test_a_state_is_judged() -> None:
    text = one("login", "login_state is state_valid")
    assert (told(text, Odd()), told(text, Odd(2)), told(text, Odd(1))) == (["pass"], ["MKS2120:10"], ["MKS2120:10"])
    assert told(one("login_state is state_no_login"), Odd()) == ["pass"]
    assert told(one("login_state is [state_no_login, state_invalid]"), Odd(2)) == ["pass"]
    text = one("login_object o", "query o is state_valid")
    assert (told(text, Odd()), told(text, Odd(2))) == (["pass"], ["MKS2120:10"])
    [failures] = verdicts(text, Odd(7))
    assert not isinstance(failures, Verdict)
    assert failures[0].message == "mlx5dv_crypto_login_query of `o` says something else"
    assert failures[0].details == (("expected", "state_valid"), ("got", "state 7"))


def test_what_the_calls_return_is_judged() -> None:
    assert told(one("login"), Closed()) == ["MKS2001:9"]
    assert told(one("login", "login as l", "    rejected at login with EEXIST", "expect l.errno == EEXIST")) == ["pass"]
    assert told(one("login", "login", "    rejected at login with EEXIST"), Closed()) == ["MKS2001:9"]
    assert told(one("logout as l", "    rejected at logout with ENOENT"), Closed()) == ["MKS2003:9"]
    assert told(one("logout as l", "    rejected at logout", "expect l.errno == ENOENT")) == ["pass"]


def test_no_session_outlives_its_case() -> None:
    device = Odd()
    assert told(one("login", "login_state is state_valid"), device) == ["pass"]
    assert told(one("login_state is state_no_login"), device) == ["pass"]
    assert told(one("login", "login_state is state_no_login"), device) == ["MKS2120:10"]  # also behind a failure
    assert told(one("login_state is state_no_login"), device) == ["pass"]


def secrets() -> list[str]:
    """In each way in which a text may have them."""
    wrapped = key_wrap.wrap(LAB.credential, LAB.import_kek)
    key = key_wrap.wrap(bytes(range(32)), LAB.import_kek)
    return [way for one in (LAB.credential, LAB.import_kek, wrapped, key) for way in (repr(one)[2:-1], one.hex())]


@pytest.mark.parametrize(
    "lines",
    [
        ("login", "login_state is state_invalid"),
        ("login { damaged 3 }",),
        ("login, but credential_id 7",),
        ("login_object o", "query o is state_no_login"),
        ("login", "dek d { key counter(32); wrapped; damaged 3 }"),
        ("login", "dek d { key counter(32); wrapped }", "query d is state_error"),
    ],
)
def test_no_failure_shows_a_secret(lines: tuple[str, ...]) -> None:
    device = Odd()
    [failures] = verdicts(one(*lines), device)
    assert not isinstance(failures, Verdict)
    text = repr(failures) + repr(device.seen) + repr(device.lab_login())
    assert [secret for secret in secrets() if secret in text] == []
