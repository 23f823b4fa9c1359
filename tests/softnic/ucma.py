"""A client of /dev/infiniband/rdma_cm in a few lines: gives commands, reads events. No librdmacm.

Runs under the preload. The layouts are those of <rdma/rdma_user_cm.h>.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import select
import socket
import struct
from collections.abc import Iterator
from typing import NamedTuple

PATH = "/dev/infiniband/rdma_cm"
PS_TCP, PS_UDP, PS_IB = 0x0106, 0x0111, 0x013F
(CREATE, DESTROY, BIND_IP, RESOLVE_IP, RESOLVE_ROUTE, QUERY_ROUTE, CONNECT, LISTEN, ACCEPT, REJECT, DISCONNECT,
 INIT_QP_ATTR, GET_EVENT, GET_OPTION, SET_OPTION, NOTIFY, JOIN_IP_MCAST, LEAVE_MCAST, MIGRATE, QUERY, BIND,
 RESOLVE_ADDR, JOIN_MCAST) = range(23)  # fmt: skip
(ADDR_RESOLVED, ADDR_ERROR, ROUTE_RESOLVED, ROUTE_ERROR, CONNECT_REQUEST, CONNECT_RESPONSE, CONNECT_ERROR,
 UNREACHABLE, REJECTED, ESTABLISHED, DISCONNECTED) = range(11)  # fmt: skip
EVENT_BYTES = 8 + 4 * 3 + 312 + 4 + 8
CONN = struct.Struct("<II256s8B")


class Event(NamedTuple):
    uid: int
    id: int
    kind: int
    status: int
    param: bytes

    @property
    def conn(self) -> dict[str, int]:
        """qp_num, private_data_len, srq, responder_resources, … of a connected service."""
        qpn, qkey, _, *small = CONN.unpack_from(self.param)
        names = ("private_data_len", "srq", "responder_resources", "initiator_depth", "flow_control", "retry_count",
                 "rnr_retry_count", "valid")  # fmt: skip
        return {"qp_num": qpn, "qkey": qkey, **dict(zip(names, small, strict=True))}

    @property
    def data(self) -> bytes:
        return self.param[8 : 8 + self.conn["private_data_len"]]


def conn_param(qpn: int = 0, data: bytes = b"", **small: int) -> bytes:
    names = ("srq", "responder_resources", "initiator_depth", "flow_control", "retry_count", "rnr_retry_count")
    return CONN.pack(qpn, 0, data, len(data), *(small.get(name, 0) for name in names), small.get("valid", 1))


def address(host: str, port: int) -> bytes:
    """A socket address in the 28 bytes of sockaddr_in6."""
    if ":" in host:
        return struct.pack("<H2sI16sI", socket.AF_INET6, port.to_bytes(2, "big"), 0, socket.inet_pton(10, host), 0)
    packed = struct.pack("<H2s4s", socket.AF_INET, port.to_bytes(2, "big"), socket.inet_aton(host))
    return packed.ljust(28, b"\0")


class Channel:
    """An open file. Commands that fail raise OSError."""

    def __init__(self, flags: int = 0) -> None:
        self.fd = os.open(PATH, os.O_RDWR | os.O_CLOEXEC | flags)

    def close(self) -> None:
        os.close(self.fd)

    def command(self, number: int, body: bytes, out: int = 0) -> None:
        sent = struct.pack("<IHH", number, len(body), out) + body
        assert os.write(self.fd, sent) == len(sent)

    def asked(self, number: int, body: bytes, size: int) -> bytes:
        """A command with an answer: its response pointer comes first."""
        room = ctypes.create_string_buffer(size)
        self.command(number, struct.pack("<Q", ctypes.addressof(room)) + body, size)
        return room.raw

    def create(self, uid: int, space: int = PS_TCP, qp_type: int = 2) -> int:
        room = ctypes.create_string_buffer(4)
        body = struct.pack("<QQHB5x", uid, ctypes.addressof(room), space, qp_type)
        self.command(CREATE, body, 4)
        return int(struct.unpack("<I", room.raw)[0])

    def destroy(self, number: int) -> int:
        return int(struct.unpack("<I", self.asked(DESTROY, struct.pack("<II", number, 0), 4))[0])

    def bind(self, number: int, host: str = "127.0.0.1", port: int = 0) -> None:
        self.command(BIND_IP, bytes(8) + address(host, port) + struct.pack("<I", number))

    def listen(self, number: int, backlog: int = 0) -> None:
        self.command(LISTEN, struct.pack("<II", number, backlog))

    def resolve(self, number: int, host: str, port: int) -> None:
        self.command(RESOLVE_IP, bytes(28) + address(host, port) + struct.pack("<II", number, 2000))

    def route(self, number: int) -> None:
        self.command(RESOLVE_ROUTE, struct.pack("<II", number, 2000))

    def query(self, number: int) -> dict[str, object]:
        raw = self.asked(QUERY_ROUTE, struct.pack("<II", number, 0), 8 + 2 * 64 + 2 * 28 + 16)
        after = 8 + 2 * 64
        return {
            "guid": raw[:8],
            "paths": struct.unpack_from("<I", raw, after + 56)[0],
            "port": raw[after + 60],
            "source": raw[after : after + 28],
            "destination": raw[after + 28 : after + 56],
        }

    def source_port(self, number: int) -> int:
        source = self.query(number)["source"]
        assert isinstance(source, bytes)
        return int.from_bytes(source[2:4], "big")

    def connect(self, number: int, param: bytes) -> None:
        self.command(CONNECT, param + struct.pack("<II8x", number, 0))

    def accept(self, number: int, param: bytes, uid: int = 0) -> None:
        self.command(ACCEPT, struct.pack("<Q", uid) + param + struct.pack("<II8x", number, 0))

    def reject(self, number: int, data: bytes = b"", reason: int = 0) -> None:
        self.command(REJECT, struct.pack("<IBB2x256s", number, len(data), reason, data))

    def disconnect(self, number: int) -> None:
        self.command(DISCONNECT, struct.pack("<I", number))

    def option(self, number: int, name: int, value: bytes, level: int = 0) -> None:
        room = ctypes.create_string_buffer(value, len(value))
        self.command(SET_OPTION, struct.pack("<QIIII", ctypes.addressof(room), number, level, name, len(value)))

    def migrate(self, number: int, frm: Channel) -> int:
        return int(struct.unpack("<I", self.asked(MIGRATE, struct.pack("<II", number, frm.fd), 4))[0])

    def qp_attr(self, number: int, state: int) -> dict[str, int]:
        raw = self.asked(INIT_QP_ATTR, struct.pack("<II", number, state), 144)
        words = struct.unpack_from("<10I", raw)
        names = ("mask", "state", "cur", "mtu", "mig", "qkey", "rq_psn", "sq_psn", "dest_qpn", "access")
        small = struct.unpack_from("<10B", raw, 40 + 64 + 20 + 4)
        names_small = ("sqd", "draining", "max_rd_atomic", "max_dest_rd_atomic", "min_rnr_timer", "port", "timeout",
                       "retry_cnt", "rnr_retry", "alt_port")  # fmt: skip
        return {**dict(zip(names, words, strict=True)), **dict(zip(names_small, small, strict=True))}

    def event(self, kind: int | None = None, seconds: float = 20) -> Event:
        """The next event; which must be of this kind."""
        assert select.select([self.fd], [], [], seconds)[0], f"no event {kind} came"
        raw = self.asked(GET_EVENT, b"", EVENT_BYTES)
        uid, number, event, status = struct.unpack_from("<QIIi", raw)
        assert kind in (None, event), f"event {event} with status {status} instead of {kind}"
        return Event(uid, number, event, status, raw[20:-12])

    def quiet(self) -> bool:
        return not select.select([self.fd], [], [], 0.05)[0]

    def ready(self, uid: int, port: int, host: str = "127.0.0.1", space: int = PS_TCP) -> int:
        """An id that may connect: its addresses and route are resolved."""
        number = self.create(uid, space)
        self.resolve(number, host, port)
        self.event(ADDR_RESOLVED)
        self.route(number)
        self.event(ROUTE_RESOLVED)
        return number


@contextlib.contextmanager
def refused(name: str) -> Iterator[None]:
    """The command inside must fail so."""
    said = None
    try:
        yield
    except OSError as error:
        said = error.errno
    assert said == getattr(errno, name), f"{said and errno.errorcode[said]} instead of {name}"
