"""What a device of the personality `unkind` does to a program: run by test_unkind.py in a process on it."""

from __future__ import annotations

from time import monotonic, sleep

import numpy as np
import pytest

from mkeyspec.device.protocol import (
    Completion,
    PathChoice,
    QpAttributes,
    QpPair,
    Refused,
    Send,
    Sge,
    Unavailable,
    Write,
)
from mkeyspec.device.verbs import names
from mkeyspec.device.verbs.device import Verbs
from mkeyspec.device.verbs.opening import open_device
from mkeyspec.device.verbs.queue import Queues

SIGNALED = 2


@pytest.fixture
def nic() -> Verbs:
    return open_device("mlx5_0", 0, shared=True)


def test_its_first_port_is_down() -> None:
    with pytest.raises(Unavailable, match="port 1 of mlx5_0 is not active"):
        open_device("mlx5_0", 1, shared=True, allow_busy_port=True)
    device = open_device("mlx5_0", 2, shared=True, allow_busy_port=True)
    assert device.capabilities().values["active_mtu"] == 256
    device.close()
    with pytest.raises(Unavailable, match="has no port 3; it has 2"):
        open_device("mlx5_0", 3, shared=True, allow_busy_port=True)


def test_a_longer_path_mtu_is_refused(nic: Verbs) -> None:
    with pytest.raises(Unavailable, match="the active MTU of port 2 of mlx5_0 is 256"):
        open_device("mlx5_0", 0, shared=True, path=PathChoice(mtu=512))
    nic.owner.queues.port.path_mtu = 2
    with pytest.raises(Refused, match="ibv_modify_qp"):
        nic.qp_pair(QpAttributes())
    nic.close()


def test_no_qp_with_atomics(nic: Verbs, monkeypatch: pytest.MonkeyPatch) -> None:
    """libmlx5 refuses the operations, the device the right."""
    assert "atomic" not in nic.capabilities().offers
    nic.owner.queues.atomics = True
    with pytest.raises(Refused, match="mlx5dv_create_qp"):
        nic.qp_pair(QpAttributes())
    monkeypatch.setattr(Queues, "_operations", lambda queues, kind: names.EX_SEND | names.EX_WRITE)
    with pytest.raises(Refused, match="ibv_modify_qp"):
        nic.qp_pair(QpAttributes(send_ops=0))
    nic.close()


def test_numbers_come_back_at_once(nic: Verbs) -> None:
    keys = set()
    for _ in range(8):
        mkey = nic.mkey("owner", create_flags=1, max_entries=4)
        keys.add(mkey.lkey)
        nic.destroy(mkey)
    assert len(keys) == 1
    nic.close()


def test_completions_are_late_and_of_two_queues_in_any_order(nic: Verbs) -> None:
    pair = nic.qp_pair(QpAttributes())
    source, sink = nic.memory("owner", 64, access=1), nic.memory("peer", 64, access=1)
    at_once, firsts = 0, set()
    for _ in range(200):
        assert nic.post_recv(pair.peer, 1, [Sge(sink.addr, 64, sink.lkey)]) == 0
        assert nic.post(pair.owner, [Send(2, SIGNALED, (Sge(source.addr, 64, source.lkey),))]) == 0
        seen: list[Completion] = []
        seen += nic.poll(pair.owner)
        at_once += bool(seen)
        end = monotonic() + 5
        while len(seen) < 2 and monotonic() < end:
            seen += nic.poll(pair.owner) + nic.poll(pair.peer)
            sleep(2e-5)
        assert {completion.status for completion in seen} == {"success"}
        firsts.add(seen[0].queue)
    assert at_once < 100
    assert firsts == {"send", "recv"}
    nic.release(healthy=True)
    nic.close()


def completed(nic: Verbs, pair: QpPair, queues: set[str]) -> None:
    """Wait for one completion of each of these queues."""
    left, end = set(queues), monotonic() + 5
    while left and monotonic() < end:
        left -= {one.queue for one in nic.poll(pair.owner) + nic.poll(pair.peer)}
    assert not left


def test_what_a_write_brings_is_late_and_there_before_a_later_message(nic: Verbs) -> None:
    pair = nic.qp_pair(QpAttributes())
    source, sink = nic.memory("owner", 64, access=1), nic.memory("peer", 64, access=3)
    late = 0
    for turn in range(1, 51):
        nic.write(source, 0, bytes([turn]) * 64)
        here = (Sge(source.addr, 64, source.lkey),)
        assert nic.post(pair.owner, [Write(1, SIGNALED, here, rkey=sink.rkey, remote_addr=sink.addr)]) == 0
        completed(nic, pair, {"send"})
        late += int(nic.read(sink, 63, 1)[0]) != turn
        assert nic.post_recv(pair.peer, 2, []) == 0
        assert nic.post(pair.owner, [Send(3, SIGNALED, ())]) == 0
        completed(nic, pair, {"send", "recv"})
        assert np.all(nic.read(sink, 0, 64) == turn)
    assert late > 25
    nic.release(healthy=True)
    nic.close()


def test_what_a_message_brings_is_there_when_its_receive_is_completed(nic: Verbs) -> None:
    """The sender's completion may come before."""
    pair = nic.qp_pair(QpAttributes())
    source, sink = nic.memory("owner", 64, access=1), nic.memory("peer", 64, access=1)
    late = 0
    for turn in range(1, 101):
        nic.write(source, 0, bytes([turn]) * 64)
        assert nic.post_recv(pair.peer, 1, [Sge(sink.addr, 64, sink.lkey)]) == 0
        assert nic.post(pair.owner, [Send(2, SIGNALED, (Sge(source.addr, 64, source.lkey),))]) == 0
        sent, got, end = False, False, monotonic() + 5
        while not (sent and got) and monotonic() < end:
            here = bool(nic.poll(pair.owner))
            there = bool(nic.poll(pair.peer))
            if here and not got and not there:
                late += int(nic.read(sink, 0, 1)[0]) != turn
            sent, got = sent or here, got or there
            assert not got or np.all(nic.read(sink, 0, 64) == turn)
        assert sent
        assert got
    assert late > 0
    nic.release(healthy=True)
    nic.close()
