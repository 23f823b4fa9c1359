"""The session of a context ends with its case, whatever else can't be closed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from mkeyspec.device.protocol import LoginAttr, NoSuchCall, Refused, Unsupported
from mkeyspec.device.verbs.login import Logins
from mkeyspec.device.verbs.station import Station

ATTR = LoginAttr(1, 2, bytes(48))


def logins(refused: int = 0) -> tuple[Logins, list[str]]:
    """Over nothing; and the calls that reach pyverbs and libmlx5."""
    calls: list[str] = []

    def login(*given: object) -> int:
        calls.append("login")
        return refused

    context = SimpleNamespace(crypto_logout=lambda context: calls.append("logout"))
    objects = SimpleNamespace(call=lambda name, call: call(), logins={}, next=lambda: 1)
    pyverbs = SimpleNamespace(Mlx5Context=context, Mlx5CryptoLogin=None)
    native = SimpleNamespace(login=login)
    made: Any = Logins(pyverbs, None, native, objects)  # type: ignore[arg-type]
    return made, calls


def test_what_is_left_is_logged_out_once() -> None:
    made, calls = logins()
    made.login(ATTR)
    made.close()
    made.close()
    assert calls == ["login", "logout"]


def test_nothing_is_logged_out_that_was_not_logged_in() -> None:
    made, calls = logins(refused=22)
    with pytest.raises(Refused, match="mlx5dv_crypto_login: errno 22"):
        made.login(ATTR)
    made.close()
    assert calls == ["login"]
    made, calls = logins()
    made.login(ATTR)
    made.logout()
    made.close()
    assert calls == ["login", "logout"]


def test_also_if_an_mkey_can_not_be_destroyed() -> None:
    made, calls = logins()
    made.login(ATTR)

    def stuck() -> None:
        raise OSError("busy")

    station: Any = object.__new__(Station)
    station._ends, station.logins, station.objects = {}, made, SimpleNamespace(close_keys=stuck)
    with pytest.raises(OSError, match="busy"):
        station.end_case([])
    assert calls == ["login", "logout"]


def test_what_the_structs_can_not_hold_is_no_call() -> None:
    made, calls = logins()
    for attr in (LoginAttr(1 << 32, 2, bytes(48)), LoginAttr(1, -1, bytes(48)), LoginAttr(1, 2, bytes(47))):
        with pytest.raises(NoSuchCall):
            made.login(attr)
    with pytest.raises(Unsupported, match="no login objects"):
        made.create(ATTR)
    assert calls == []
