"""Calls libibverbs and libmlx5 directly for what pyverbs can't express. Each point is listed in docs/verbs-device.md.

The structs are those of verbs.h and mlx5dv.h, which are ABI and only ever grow at their end. pyverbs hides the C
pointers of its objects; they are found by searching the object's memory for the one word that points to a struct with
the members that pyverbs shows. A pointer is used only after the memory was read safely.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import select
import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mkeyspec.abi.constants import QP_EVENTS
from mkeyspec.device.protocol import Unavailable, Unsupported
from mkeyspec.device.verbs import names

_LIBRARIES = re.compile(r"(/\S*/(lib(?:ibverbs|mlx5)\S*\.so\.(\S+)))$")
_LIBC = ctypes.CDLL(None, use_errno=True)

# struct ibv_context: the device, the 32 operations of struct ibv_context_ops, cmd_fd, async_fd, num_comp_vectors.
_CONTEXT_TAIL = ctypes.sizeof(ctypes.c_void_p) * 33
_QP_NUMBER = ctypes.sizeof(ctypes.c_void_p) * 6 + 4
"""Offset of qp_num in struct ibv_qp."""

EVENTS = (
    "cq_err", "qp_fatal", "qp_req_err", "qp_access_err", "comm_est", "sq_drained", "path_mig", "path_mig_err",
    "device_fatal", "port_active", "port_err", "lid_change", "pkey_change", "sm_change", "srq_err",
    "srq_limit_reached", "qp_last_wqe_reached", "client_reregister", "gid_change", "wq_fatal",
)  # fmt: skip
"""enum ibv_event_type by value, names without IBV_EVENT_, lower case."""


class Raw(NamedTuple):
    """An async event; `qp_number` for events of a QP."""

    kind: str
    qp_number: int | None


class Offload(NamedTuple):
    """The result of mlx5dv_query_device for the capabilities that cases need. None: not reported."""

    block_sizes: int | None
    prot: int | None
    t10dif_bg: int | None
    crc_types: int | None
    streams: tuple[int, int] | None
    memcpy_length: int | None
    crypto: tuple[int, int, int, int] | None
    """failed_selftests, crypto_engines, wrapped_import_method, log_max_num_deks."""
    crypto_flags: int = 0


class _SigCaps(ctypes.Structure):
    _fields_ = (
        ("block_size", ctypes.c_uint64),
        ("block_prot", ctypes.c_uint32),
        ("t10dif_bg", ctypes.c_uint16),
        ("crc_type", ctypes.c_uint16),
    )


class _CryptoCaps(ctypes.Structure):
    _fields_ = (
        ("failed_selftests", ctypes.c_uint16),
        ("crypto_engines", ctypes.c_uint8),
        ("wrapped_import_method", ctypes.c_uint8),
        ("log_max_num_deks", ctypes.c_uint8),
        ("flags", ctypes.c_uint32),
    )


class _DekAttr(ctypes.Structure):
    """struct mlx5dv_dek_attr."""

    _fields_ = (("state", ctypes.c_int), ("opaque", ctypes.c_ubyte * 8), ("comp_mask", ctypes.c_uint64))


class _LoginAttr(ctypes.Structure):
    """struct mlx5dv_crypto_login_attr."""

    _fields_ = (
        ("credential_id", ctypes.c_uint32),
        ("import_kek_id", ctypes.c_uint32),
        ("credential", ctypes.c_ubyte * 48),
        ("comp_mask", ctypes.c_uint64),
    )


class _LoginAttrEx(ctypes.Structure):
    """struct mlx5dv_crypto_login_attr_ex."""

    _fields_ = (
        ("credential_id", ctypes.c_uint32),
        ("import_kek_id", ctypes.c_uint32),
        ("credential", ctypes.c_char_p),
        ("credential_len", ctypes.c_size_t),
        ("comp_mask", ctypes.c_uint64),
    )


class _LoginQueryAttr(ctypes.Structure):
    """struct mlx5dv_crypto_login_query_attr."""

    _fields_ = (("state", ctypes.c_int), ("comp_mask", ctypes.c_uint64))


class _Mlx5Context(ctypes.Structure):
    """struct mlx5dv_context up to crypto_caps, and room for what later releases have after it."""

    _fields_ = (
        ("version", ctypes.c_uint8),
        ("flags", ctypes.c_uint64),
        ("comp_mask", ctypes.c_uint64),
        ("cqe_comp_caps", ctypes.c_uint32 * 2),
        ("sw_parsing_caps", ctypes.c_uint32 * 2),
        ("striding_rq_caps", ctypes.c_uint32 * 5),
        ("tunnel_offloads_caps", ctypes.c_uint32),
        ("max_dynamic_bfregs", ctypes.c_uint32),
        ("max_clock_info_update_nsec", ctypes.c_uint64),
        ("flow_action_flags", ctypes.c_uint32),
        ("dc_odp_caps", ctypes.c_uint32),
        ("hca_core_clock", ctypes.c_void_p),
        ("num_lag_ports", ctypes.c_uint8),
        ("sig_caps", _SigCaps),
        ("dci_streams_caps", ctypes.c_uint8 * 2),
        ("max_wr_memcpy_length", ctypes.c_size_t),
        ("crypto_caps", _CryptoCaps),
        ("later", ctypes.c_uint8 * 256),
    )


_SIGNATURE, _STREAMS, _MEMCPY, _CRYPTO = (1 << bit for bit in (10, 11, 12, 13))


class _AsyncEvent(ctypes.Structure):
    _fields_ = (("element", ctypes.c_void_p), ("event_type", ctypes.c_int))


def loaded() -> dict[str, tuple[str, str]]:
    """The libraries that this process has mapped: short name to (path, version): libmlx5 to (…, 1.24.44.0)."""
    found: dict[str, tuple[str, str]] = {}
    for line in Path("/proc/self/maps").read_text(errors="replace").splitlines():
        match = _LIBRARIES.search(line)
        if match is not None:
            name = match[2].split(".so", 1)[0].split("-rdmav", 1)[0]
            found.setdefault(name, (match[1], match[3]))
    return found


_PRIVATE = re.compile(rb"IBVERBS_PRIVATE_(\d+)")


def rdma_core(libraries: Mapping[str, tuple[str, str]]) -> str:
    """The release of rdma-core: 44.0 of libmlx5.so.1.24.44.0.

    Builds that bring their own libraries call them .so.1; then from 57 on the release is at least the one that
    libibverbs' private symbols are named after. "" if neither shows it.
    """
    path, version = libraries.get("libmlx5", ("", ""))
    parts = version.split(".")
    if len(parts) >= 4:
        return ".".join(parts[2:4])
    try:
        private = _PRIVATE.findall(Path(libraries["libibverbs"][0]).read_bytes())
    except (KeyError, OSError):
        return ""
    newest = max((int(number) for number in private), default=0)
    return str(newest) if newest >= 57 and path else ""


# Memory of this process ----------------------------------------------------------------------


class _Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def look(address: int, length: int) -> bytes | None:
    """`length` bytes of this process's memory, or None if it is not mapped."""
    if not 0 < address < 1 << 47:
        return None
    buffer = ctypes.create_string_buffer(length)
    here = _Vector(ctypes.addressof(buffer), length)
    there = _Vector(address, length)
    got = _LIBC.process_vm_readv(
        os.getpid(), ctypes.byref(here), ctypes.c_ulong(1), ctypes.byref(there), ctypes.c_ulong(1), ctypes.c_ulong(0)
    )
    if got < 0 and ctypes.get_errno() in (errno.EPERM, errno.EACCES, errno.ENOSYS):
        return _look_by_pipe(address, length)  # a container's seccomp profile, or its ptrace scope
    return buffer.raw if got == length else None


def _look_by_pipe(address: int, length: int) -> bytes | None:
    """As `look`, where process_vm_readv is forbidden: write(2) of memory that is not mapped fails too, with EFAULT."""
    reads, writes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        got = _LIBC.write(writes, ctypes.c_void_p(address), ctypes.c_size_t(length))
        return os.read(reads, length) if got == length else None
    finally:
        os.close(reads)
        os.close(writes)


def pointers(target: object) -> Iterator[int]:
    """The words of a pyverbs object after its header that may be pointers."""
    raw = look(id(target), type(target).__basicsize__)
    header = object.__basicsize__
    if raw is not None:
        for (word,) in struct.iter_unpack("<Q", raw[header : header + (len(raw) - header) // 8 * 8]):
            if word and word % 4 == 0:
                yield word


def pointer(target: object, fits: Callable[[int], bool]) -> int | None:
    """The one pointer of `target` that fits; None if there is none, or more than one."""
    found = {word for word in pointers(target) if fits(word)}
    return found.pop() if len(found) == 1 else None


def mkey_pointer(mkey: Any) -> int | None:
    """struct mlx5dv_mkey: lkey and rkey."""
    wanted = struct.pack("=II", mkey.lkey, mkey.rkey)
    return pointer(mkey, lambda word: look(word, 8) == wanted)


def context_pointer(context: Any) -> int | None:
    """struct ibv_context: identified by cmd_fd and num_comp_vectors."""
    fd, vectors = context.cmd_fd, context.num_comp_vectors

    def fits(word: int) -> bool:
        tail = look(word + _CONTEXT_TAIL, 12)
        if tail is None:
            return False
        cmd_fd, async_fd, count = struct.unpack("=iii", tail)
        return bool(cmd_fd == fd and count == vectors and async_fd > 0)

    return pointer(context, fits)


def retag(pointer: int, tag: int) -> tuple[int, int]:
    """Write the tag into lkey and rkey, as mlx5dv_create_mkey's page has the application do; the new keys."""
    keys = (ctypes.c_uint32 * 2).from_address(pointer)
    keys[0] = keys[0] & ~0xFF | tag & 0xFF
    keys[1] = keys[1] & ~0xFF | tag & 0xFF
    return keys[0], keys[1]


_SCRIBBLE = 0xD6


def scribble(target: object, size: int, starts: bytes) -> None:
    """Overwrite the struct of `size` bytes that ends a pyverbs object, after its setter (CFG-13: it was inlined).

    Only if the struct has its original content, which `starts` shows; else it is not changed.
    """
    end = type(target).__basicsize__
    if look(id(target) + end - size, len(starts)) == starts:
        ctypes.memset(id(target) + end - size, _SCRIBBLE, size)


def _why_hidden() -> str:
    """Why no pointer is found, in a few words."""
    here = ctypes.create_string_buffer(b"here")
    if look(ctypes.addressof(here), 4) != b"here":
        return "this process may not read its own memory (process_vm_readv; a seccomp profile?)"
    return f"the objects of this pyverbs ({names.generation()}) are laid out otherwise than those that are known"


# Calls ---------------------------------------------------------------------------------------


class Native:
    """libibverbs and libmlx5 for one open context. Raises Unavailable (MKS0960) where they can't be called: without
    them nothing says what the device can do, and a device that can do nothing is another thing."""

    def __init__(self, context: Any) -> None:
        found = context_pointer(context)
        if found is None:
            raise Unavailable("MKS0960", f"the C pointer of the device's context is not found: {_why_hidden()}")
        self.pointer = found
        paths = loaded()
        missing = [name for name in ("libibverbs", "libmlx5") if name not in paths]
        if missing:
            raise Unavailable("MKS0960", f"pyverbs has loaded no {' and no '.join(missing)} that /proc/self/maps shows")
        self._verbs = ctypes.CDLL(paths["libibverbs"][0], use_errno=True)
        self._mlx5 = ctypes.CDLL(paths["libmlx5"][0], use_errno=True)
        tail = look(self.pointer + _CONTEXT_TAIL + 4, 4)
        if tail is None:
            raise Unavailable("MKS0960", "the descriptor of the device's async events can't be read")
        (self.async_fd,) = struct.unpack("=i", tail)

    def offload(self) -> Offload:
        """mlx5dv_query_device, with the mask that pyverbs never asks for. Raises Unavailable (MKS0960) if it fails."""
        answer = _Mlx5Context()
        answer.comp_mask = _SIGNATURE | _STREAMS | _MEMCPY | _CRYPTO
        refused = self._mlx5.mlx5dv_query_device(ctypes.c_void_p(self.pointer), ctypes.byref(answer))
        if refused:
            text = f"mlx5dv_query_device fails ({errno.errorcode.get(abs(refused), refused)})"
            raise Unavailable("MKS0960", f"what the device can do can't be asked: {text}")
        mask, sig, crypto = int(answer.comp_mask), answer.sig_caps, answer.crypto_caps
        signature = mask & _SIGNATURE
        return Offload(
            sig.block_size if signature else None,
            sig.block_prot if signature else None,
            sig.t10dif_bg if signature else None,
            sig.crc_type if signature else None,
            (answer.dci_streams_caps[0], answer.dci_streams_caps[1]) if mask & _STREAMS else None,
            int(answer.max_wr_memcpy_length) if mask & _MEMCPY else None,
            (crypto.failed_selftests, crypto.crypto_engines, crypto.wrapped_import_method, crypto.log_max_num_deks)
            if mask & _CRYPTO
            else None,
            int(crypto.flags) if mask & _CRYPTO else 0,
        )

    def has(self, call: str) -> bool:
        """Whether this libmlx5 has the call."""
        return hasattr(self._mlx5, call)

    def query_dek(self, dek: Any) -> tuple[int, bytes] | int | None:
        """mlx5dv_dek_query: state and opaque bytes, or the errno; None if pyverbs hides the pointer."""
        found = self._devx_pointer(dek)
        if found is None:
            return None
        answer = _DekAttr()
        refused = int(self._mlx5.mlx5dv_dek_query(ctypes.c_void_p(found), ctypes.byref(answer)))
        return refused or (int(answer.state), bytes(answer.opaque))

    def login(self, credential_id: int, import_kek_id: int, credential: bytes, comp_mask: int) -> int:
        """mlx5dv_crypto_login: 0 or the errno."""
        given = (ctypes.c_ubyte * 48).from_buffer_copy(credential)
        attr = _LoginAttr(credential_id, import_kek_id, given, comp_mask)
        return int(self._call("mlx5dv_crypto_login")(ctypes.c_void_p(self.pointer), ctypes.byref(attr)))

    def try_login_object(self, credential_id: int, import_kek_id: int, credential: bytes, comp_mask: int) -> int:
        """mlx5dv_crypto_login_create, and what it creates is destroyed: 0 or the errno."""
        attr = _LoginAttrEx(credential_id, import_kek_id, credential, len(credential), comp_mask)
        create = self._call("mlx5dv_crypto_login_create")
        create.restype = ctypes.c_void_p
        ctypes.set_errno(0)
        made = create(ctypes.c_void_p(self.pointer), ctypes.byref(attr))
        if not made:
            return ctypes.get_errno() or errno.EIO
        return int(self._call("mlx5dv_crypto_login_destroy")(ctypes.c_void_p(made)))

    def query_login(self, login: Any) -> tuple[int, int]:
        """mlx5dv_crypto_login_query: state and errno, of which one counts."""
        found = self._devx_pointer(login)
        if found is None:
            raise Unsupported("this pyverbs hides its login objects: none can be queried")
        answer = _LoginQueryAttr()
        refused = int(self._call("mlx5dv_crypto_login_query")(ctypes.c_void_p(found), ctypes.byref(answer)))
        return int(answer.state), refused

    def _call(self, name: str) -> Any:
        if not self.has(name):
            raise Unsupported(f"this libmlx5 has no {name}")
        return getattr(self._mlx5, name)

    def _devx_pointer(self, made: Any) -> int | None:
        """struct mlx5dv_dek and mlx5dv_crypto_login_obj: the DEVX object, which begins with the context."""

        def fits(word: int) -> bool:
            devx = look(word, 8)
            context = None if devx is None else look(int.from_bytes(devx, "little"), 8)
            return context is not None and int.from_bytes(context, "little") == self.pointer

        return pointer(made, fits)

    def events(self) -> list[Raw]:
        """Async events that have arrived. Never waits: the descriptor is polled before each one is read."""
        found: list[Raw] = []
        poll = select.poll()
        poll.register(self.async_fd, select.POLLIN)
        while poll.poll(0):
            event = _AsyncEvent()
            if self._verbs.ibv_get_async_event(ctypes.c_void_p(self.pointer), ctypes.byref(event)):
                break
            kind = EVENTS[event.event_type] if 0 <= event.event_type < len(EVENTS) else f"event {event.event_type}"
            number = None
            if kind in QP_EVENTS and event.element:
                number = ctypes.c_uint32.from_address(event.element + _QP_NUMBER).value
            # At once: destroying a QP waits for ever for an event of it that was read and not acknowledged.
            self._verbs.ibv_ack_async_event(ctypes.byref(event))
            found.append(Raw(kind, number))
        return found
