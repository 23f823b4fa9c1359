"""What the connection manager must do, as functions that run under the preload: `python cm_scenarios.py NAME`.

Both ends are in one process unless a scenario is of two. test_cm.py runs each in a process of its own. Events, limits
of private data and attributes are those of IBTA volume 1 chapter 12 and of the man pages rdma_connect(3),
rdma_accept(3), rdma_get_cm_event(3), rdma_disconnect(3).
"""

from __future__ import annotations

import multiprocessing
import os
import random
import select
import signal
import stat
import struct
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from ucma import (
    ACCEPT,
    ADDR_ERROR,
    BIND,
    CONNECT,
    CONNECT_REQUEST,
    CONNECT_RESPONSE,
    DISCONNECTED,
    ESTABLISHED,
    EVENT_BYTES,
    GET_EVENT,
    JOIN_IP_MCAST,
    JOIN_MCAST,
    PATH,
    PS_IB,
    PS_TCP,
    PS_UDP,
    QUERY,
    REJECTED,
    UNREACHABLE,
    Channel,
    Event,
    conn_param,
    refused,
)

GUID = bytes([0x0C, 0x42, 0xA1, 0x03, 0x00, 0x01, 0x00, 0x01])


def server(space: int = PS_TCP, backlog: int = 0, host: str = "127.0.0.1") -> tuple[Channel, int, int]:
    channel = Channel()
    number = channel.create(0x100, space)
    channel.bind(number, host)
    channel.listen(number, backlog)
    return channel, number, channel.source_port(number)


def connected() -> tuple[Channel, int, Channel, int]:
    """(server's channel, its id, client's channel, its id)"""
    passive, _, port = server()
    active = Channel()
    client = active.ready(0x200, port)
    active.connect(client, conn_param(qpn=5))
    request = passive.event(CONNECT_REQUEST)
    passive.accept(request.id, conn_param(qpn=6), uid=0x101)
    active.event(CONNECT_RESPONSE)
    active.accept(client, conn_param(valid=0))
    passive.event(ESTABLISHED)
    return passive, request.id, active, client


def connecting() -> None:
    """REQ, REP, RTU: what each side hears of the other, and what its QP is to be modified with."""
    passive, listener, port = server()
    assert stat.S_ISCHR(os.fstat(passive.fd).st_mode)
    active = Channel()
    client = active.ready(0x200, port)
    route = active.query(client)
    assert (route["guid"], route["paths"], route["port"]) == (GUID, 1, 1)
    active.connect(
        client,
        conn_param(
            5,
            b"to you",
            responder_resources=3,
            initiator_depth=2,
            retry_count=6,
            rnr_retry_count=5,
            flow_control=1,
            srq=1,
        ),
    )
    request = passive.event(CONNECT_REQUEST)
    assert request.uid == 0x100
    assert request.id not in (listener, client)
    assert request.data == b"to you".ljust(56, b"\0")
    wanted = {"qp_num": 5, "responder_resources": 2, "initiator_depth": 3, "retry_count": 6, "rnr_retry_count": 5,
              "flow_control": 1, "srq": 1}  # fmt: skip
    assert {name: request.conn[name] for name in wanted} == wanted
    ours = passive.query(request.id)
    assert (ours["source"], ours["destination"]) == (route["destination"], route["source"])
    rtr, rts = passive.qp_attr(request.id, 2), passive.qp_attr(request.id, 3)
    assert rtr["dest_qpn"] == 5
    assert rtr["max_dest_rd_atomic"] == 2
    assert rts["max_rd_atomic"] == 3
    assert (rts["retry_cnt"], rts["rnr_retry"]) == (6, 5)
    passive.accept(
        request.id, conn_param(6, b"and you", responder_resources=1, initiator_depth=2, rnr_retry_count=4), uid=0x101
    )
    response = active.event(CONNECT_RESPONSE)
    assert response.uid == 0x200
    assert response.data == b"and you".ljust(196, b"\0")
    assert (response.conn["responder_resources"], response.conn["initiator_depth"]) == (2, 1)
    init, far, sends = (active.qp_attr(client, state) for state in (1, 2, 3))
    assert init["access"] == 2 | 4 | 8
    assert (far["dest_qpn"], far["max_dest_rd_atomic"], sends["max_rd_atomic"]) == (6, 2, 1)
    assert (sends["retry_cnt"], sends["rnr_retry"]) == (6, 4)
    assert (far["rq_psn"], sends["sq_psn"]) == (rts["sq_psn"], rtr["rq_psn"])
    assert passive.quiet()
    active.accept(client, conn_param(valid=0))
    assert passive.event(ESTABLISHED).uid == 0x101
    active.disconnect(client)
    assert passive.event(DISCONNECTED).uid == 0x101
    assert active.quiet()
    passive.disconnect(request.id)
    active.event(DISCONNECTED)
    assert active.destroy(client) == 4  # ADDR_RESOLVED, ROUTE_RESOLVED, CONNECT_RESPONSE, DISCONNECTED
    assert passive.destroy(request.id) == 2
    assert passive.destroy(listener) == 1


def datagrams() -> None:
    """SIDR: a QP number and a Q_Key, and no connection."""
    passive, _, port = server(PS_UDP)
    active = Channel()
    client = active.ready(0x200, port, space=PS_UDP)
    active.connect(client, conn_param(data=b"who"))
    request = passive.event(CONNECT_REQUEST)
    assert request.param[8 + 32 : 8 + 35] == b"who"  # after qp_num, qkey and the address vector
    assert request.param[8 + 32 + 256] == 180
    assert passive.qp_attr(request.id, 1)["qkey"] == 0x01234567
    passive.accept(request.id, conn_param(9, b"me"), uid=0x101)
    answer = active.event(ESTABLISHED)
    assert struct.unpack_from("<II", answer.param) == (9, 0x01234567)
    assert answer.param[8 + 32 : 8 + 34] == b"me"
    assert passive.quiet()
    other = active.ready(0x201, port, space=PS_UDP)
    active.connect(other, conn_param())
    passive.reject(passive.event(CONNECT_REQUEST).id)
    assert active.event(UNREACHABLE).uid == 0x201


def rejections() -> None:
    """A REJ has a reason and data; a REJ for a port without a listener has the reason "no such service"."""
    passive, _, port = server()
    active = Channel()
    client = active.ready(0x200, port)
    active.connect(client, conn_param(5))
    passive.reject(passive.event(CONNECT_REQUEST).id, b"no")
    said = active.event(REJECTED)
    assert (said.status, said.data) == (28, b"no".ljust(148, b"\0"))
    with refused("EINVAL"):
        active.connect(client, conn_param(5))
    for wrong_port, space in ((1, PS_TCP), (port, PS_IB)):
        other = active.ready(0x201, wrong_port, space=space)
        active.connect(other, conn_param(5))
        assert active.event(REJECTED).status == 8
    bound = active.create(0x202)
    active.bind(bound)
    late = active.ready(0x203, active.source_port(bound))
    active.connect(late, conn_param(5))
    assert active.event(REJECTED).status == 8
    six = active.ready(0x204, port, host="::1")  # the server is bound to an address of IPv4
    active.connect(six, conn_param(5))
    assert active.event(REJECTED).status == 8


def refusals() -> None:
    """Addresses, states and lengths that are none, and commands that are not there."""
    channel = Channel()
    with refused("EINVAL"):
        channel.create(1, 0x999)
    number = channel.create(1)
    for command in (QUERY, JOIN_IP_MCAST, JOIN_MCAST, 23, 24, 99, 0xFFFF_FFFF):
        with refused("ENOSYS"):
            channel.command(command, bytes(300), 300)
    with refused("EADDRNOTAVAIL"):
        channel.bind(number, "192.0.2.77")
    with refused("EAFNOSUPPORT"):
        channel.command(BIND, struct.pack("<IHH", number, 48, 0) + struct.pack("<H126x", 27))  # AF_IB
    with refused("ENOENT"):
        channel.bind(number + 1)
    with refused("ENOENT"):
        Channel().bind(number)  # an id of another file
    with refused("EINVAL"):
        channel.route(number)
    with refused("EINVAL"):
        channel.connect(number, conn_param())
    with refused("ENOSPC"):
        channel.command(GET_EVENT, bytes(8), 16)
    with refused("EINVAL"):
        channel.command(BIND, bytes(8))
    with refused("EINVAL"):
        os.write(channel.fd, struct.pack("<IHH", GET_EVENT, 80, EVENT_BYTES) + bytes(8))
    with refused("EINVAL"):
        os.write(channel.fd, b"1234567")
    channel.bind(number)
    taken = channel.create(2)
    with refused("EADDRINUSE"):
        channel.bind(taken, port=channel.source_port(number))
    channel.resolve(taken, "192.0.2.77", 9)
    assert channel.event(ADDR_ERROR).status == -19
    _, _, port = server()
    client = channel.ready(3, port)
    with refused("EINVAL"):
        channel.connect(client, conn_param(data=bytes(57)))
    with refused("EINVAL"):
        channel.connect(client, conn_param(valid=0))
    with refused("EINVAL"):
        channel.qp_attr(client, 2)
    channel.option(client, 3, bytes([9]))
    with refused("EINVAL"):
        channel.option(client, 3, bytes([32]))
    with refused("ENOSYS"):
        channel.option(client, 1, bytes(72), level=1)


def ends() -> None:
    """An id, or its file, that goes away is reported to the other side, in each state."""
    passive, _, port = server()
    active = Channel()
    client = active.ready(0x200, port)
    active.connect(client, conn_param(5))
    request = passive.event(CONNECT_REQUEST)
    passive.destroy(request.id)
    assert active.event(REJECTED).status == 28
    other = active.ready(0x201, port)
    active.connect(other, conn_param(5))
    assert select.select([passive.fd], [], [], 20)[0]
    passive.close()  # with a request that nobody heard of
    assert active.event(REJECTED).status == 28
    passive, _, active, client = connected()
    active.destroy(client)
    passive.event(DISCONNECTED)
    passive, accepted, active, client = connected()
    copy = os.dup(passive.fd)
    passive.close()
    assert active.quiet()
    os.close(copy)
    active.event(DISCONNECTED)
    passive, accepted, active, client = connected()
    passive.disconnect(accepted)
    active.disconnect(client)  # both at once
    active.event(DISCONNECTED)
    passive.event(DISCONNECTED)
    assert active.quiet()
    assert passive.quiet()


def waiting() -> None:
    """poll(), O_NONBLOCK, epoll's edges, and a thread that waits in the command itself."""
    channel = Channel(os.O_NONBLOCK)
    with refused("EAGAIN"):
        channel.asked(GET_EVENT, b"", EVENT_BYTES)
    edges = select.epoll()
    edges.register(channel.fd, select.EPOLLIN | select.EPOLLET)
    for uid in (1, 2):
        channel.resolve(channel.create(uid), "127.0.0.1", 9)
        assert edges.poll(5)
    assert [channel.event().uid, channel.event().uid] == [1, 2]
    assert channel.quiet()
    with refused("EAGAIN"):
        channel.asked(GET_EVENT, b"", EVENT_BYTES)
    last = channel.create(3)
    channel.resolve(last, "127.0.0.1", 9)
    channel.destroy(last)
    assert channel.quiet()
    blocking, heard = Channel(), []
    thread = threading.Thread(target=lambda: heard.append(blocking.asked(GET_EVENT, b"", EVENT_BYTES)))
    thread.start()
    time.sleep(0.05)
    assert not heard
    blocking.resolve(blocking.create(4), "127.0.0.1", 9)
    thread.join(20)
    assert struct.unpack_from("<Q", heard[0])[0] == 4


def moving() -> None:
    """An id goes to another file with what waits for it."""
    old, new = Channel(), Channel()
    number, other = old.create(1), old.create(2)
    old.resolve(number, "127.0.0.1", 9)
    old.resolve(other, "127.0.0.1", 9)
    assert new.migrate(number, old) == 0
    assert new.event().uid == 1
    assert old.event().uid == 2
    assert old.quiet()
    assert new.quiet()
    with refused("ENOENT"):
        old.destroy(number)
    assert old.migrate(number, new) == 1
    assert old.destroy(number) == 1


def full() -> None:
    """A listener that does not answer: those beyond its backlog are rejected."""
    passive, _, port = server(backlog=2)
    active = Channel()
    clients = [active.ready(0x200 + i, port) for i in range(4)]
    for client in clients:
        active.connect(client, conn_param(5))
    assert {active.event(REJECTED).status for _ in range(2)} == {28}
    passive.accept(passive.event(CONNECT_REQUEST).id, conn_param(6), uid=7)
    active.event(CONNECT_RESPONSE)
    active.connect(active.ready(0x300, port), conn_param(5))
    passive.event(CONNECT_REQUEST)
    passive.event(CONNECT_REQUEST)


def again() -> None:
    """A port is free as soon as its id is gone, though the thread was waiting for it."""
    channel, number, port = server()
    for i in range(300):
        if i % 2:
            channel.destroy(number)
        else:
            channel.close()
            channel = Channel()
        number = channel.create(0x100)
        channel.bind(number, port=port)
        channel.listen(number)
    active = Channel()
    active.connect(active.ready(0x200, port), conn_param(5))
    channel.event(CONNECT_REQUEST)


def many() -> None:
    """Connections at once from four threads; none is lost, and descriptors come back."""
    passive, _, port = server()
    before = len(list(Path("/proc/self/fd").iterdir()))

    def client(base: int) -> None:
        channel = Channel()
        for i in range(50):
            number = channel.ready(base + i, port)
            channel.connect(number, conn_param(5))
            channel.event(CONNECT_RESPONSE)
            channel.accept(number, conn_param(valid=0))
            channel.destroy(number)
        channel.close()

    threads = [threading.Thread(target=client, args=(1000 * i,)) for i in range(1, 5)]
    for thread in threads:
        thread.start()
    count: dict[int, int] = {}
    uids = {}
    while count.get(DISCONNECTED, 0) < 200:
        event: Event = passive.event()
        count[event.kind] = count.get(event.kind, 0) + 1
        if event.kind == CONNECT_REQUEST:
            uids[event.id] = event.id + 10_000_000
            passive.accept(event.id, conn_param(6), uid=uids[event.id])
        elif event.kind == DISCONNECTED:
            passive.destroy(event.id)
    for thread in threads:
        thread.join()
    assert count == {CONNECT_REQUEST: 200, ESTABLISHED: 200, DISCONNECTED: 200}
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 2  # the thread's own


def _client(port: int, said: multiprocessing.Queue[object]) -> None:
    channel = Channel()
    number = channel.ready(0x200, port)
    channel.connect(number, conn_param(5))
    channel.event(CONNECT_RESPONSE)
    channel.accept(number, conn_param(valid=0))
    said.put("connected")
    time.sleep(60)


def killed() -> None:
    """Another process of the fabric is killed: its connection is over."""
    spawn = multiprocessing.get_context("spawn")
    passive, _, port = server()
    said: multiprocessing.Queue[object] = spawn.Queue()
    process = spawn.Process(target=_client, args=(port, said))
    process.start()
    passive.accept(passive.event(CONNECT_REQUEST).id, conn_param(6), uid=7)
    passive.event(ESTABLISHED)
    assert said.get(timeout=20) == "connected"
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    passive.event(DISCONNECTED)
    process.join()


def forks() -> None:
    """A child's file is gone, its parent's is not; it may open another."""
    passive, _, active, client = connected()
    child = os.fork()
    if not child:
        try:
            with refused("EIO"):
                active.disconnect(client)
            os.close(active.fd)
            _, _, again, _ = connected()
            again.close()
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert passive.quiet()
    assert active.quiet()
    active.disconnect(client)
    passive.event(DISCONNECTED)


def fuzz() -> None:
    """Mangled commands end in an errno, never in a crash or a hang."""
    chance = random.Random(7)
    passive, listener, port = server()
    channel = Channel(os.O_NONBLOCK)
    numbers = [channel.create(i + 1) for i in range(4)]
    fine = 0
    for _ in range(20_000):
        command = chance.randrange(24)
        body = bytearray(chance.randbytes(chance.choice((0, 4, 8, 16, 40, 64, 288, 296, 304))))
        for offset in (0, 8, 16, 36, 56, 64, 272, 280):
            if offset + 4 <= len(body) and chance.random() < 0.7:
                struct.pack_into("<I", body, offset, chance.choice([*numbers, listener, 0, 1, 2]))
        if command in (ACCEPT, CONNECT) and len(body) >= 288:
            body[264 + 8 * (command == ACCEPT)] = chance.randrange(256)
        if len(body) >= 8 and chance.random() < 0.5:
            struct.pack_into("<Q", body, 0, chance.choice((0, 1, 0x7FFF_FFFF_F000, 2**64 - 8)))
        header = struct.pack("<IHH", command, chance.choice((len(body), chance.randrange(65536))), 400)
        try:
            os.write(channel.fd, header + bytes(body))
            fine += 1
        except OSError:
            pass
    assert fine
    channel.close()
    active = Channel()
    active.connect(active.ready(5, port), conn_param())
    passive.event(CONNECT_REQUEST)
    assert Path(PATH).exists()


if __name__ == "__main__":
    run: Callable[[], None] = globals()[sys.argv[1]]
    run()
