"""The calls of a row as text: what a vendor reads, and nothing that is secret."""

from __future__ import annotations

import pytest

from mkeyspec.device.model.device import Model
from mkeyspec.device.protocol import LoginAttr, QpAttributes, Refused, Sge, Write
from mkeyspec.ticket import trace
from mkeyspec.ticket.trace import Trace

KEY = bytes(range(0x80, 0xA0))


def transfer(found: Trace) -> None:
    """A write of 64 bytes from one end to the other."""
    device = found.over(Model())
    found.begin()
    pair = device.qp_pair(QpAttributes())
    here, there = (device.memory(side, 64, access=15) for side in ("owner", "peer"))
    device.write(here, 0, bytes(range(64)))
    assert device.poll(pair.owner) == device.poll(pair.owner) == []
    sges = (Sge(here.addr, 64, here.lkey),)
    assert device.post(pair.owner, [Write(7, 2, sges=sges, remote_addr=there.addr, rkey=there.rkey)]) == 0
    assert [one.status for one in device.poll(pair.owner)] == ["success"]


def test_each_call_is_a_line_with_what_it_gave() -> None:
    found = Trace()
    transfer(found)
    lines = found.lines()
    calls = [line.split("(")[0].split()[-1] for line in lines if " -> " in line]
    assert calls == ["qp_pair", "memory", "memory", "write", "post", "poll"]
    assert "(2 times poll and events gave nothing)" in "\n".join(lines)
    post, poll = lines[-2:]
    assert "wr_id=7" in post
    assert "remote_addr=0x" in post
    assert post.endswith("-> 0")
    assert "Completion(qp=Qp#" in poll
    assert "wr_id=7, status='success'" in poll
    times = [float(line.split()[0]) for line in lines if " -> " in line]
    assert times == sorted(times)


def test_a_row_forgets_the_one_before() -> None:
    found = Trace()
    transfer(found)
    found.begin()
    assert found.lines() == []


def test_the_last_calls_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "MOST", 2)
    found = Trace()
    transfer(found)
    assert found.lines()[0] == "(4 calls before these are not kept)"
    assert sum(" -> " in line for line in found.lines()) == 2


def test_what_a_call_raises_is_told() -> None:
    found = Trace()
    device = found.over(Model())
    found.begin()
    with pytest.raises(Refused):
        device.mkey("owner", create_flags=1 << 20, max_entries=1)
    (line,) = found.lines()
    assert "-> Refused: mkey: errno" in line or "-> Refused: " in line


def test_keys_credentials_and_bytes_are_left_out() -> None:
    found = Trace()
    device = found.over(Model())
    found.begin()
    device.dek(KEY)
    device.write(device.memory("owner", 32, access=15), 0, KEY)
    with pytest.raises(Exception):  # noqa: B017  # whatever the model says of such a login
        device.login(LoginAttr(1, 2, KEY))
    text = "\n".join(found.lines())
    assert "32 bytes of a key" in text
    assert "login(left out)" in text
    for secret in (repr(KEY), KEY.hex(), "\\x81"):
        assert secret not in text
