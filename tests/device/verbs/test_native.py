"""Looking into objects and memory, which must never go wrong by a crash."""

from __future__ import annotations

import ctypes
import errno
from pathlib import Path

import pytest

from mkeyspec.abi.constants import QP_EVENTS
from mkeyspec.device.verbs import native


def test_memory_that_is_not_there_is_none() -> None:
    buffer = ctypes.create_string_buffer(b"abcd")
    assert native.look(ctypes.addressof(buffer), 4) == b"abcd"
    for address in (0, 8, -1, 1 << 46, 1 << 63, 1 << 80):
        assert native.look(address, 8) is None


def test_memory_is_read_where_process_vm_readv_is_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seccomp profile answers EPERM; old ones ENOSYS."""

    class Forbidden:
        write = native._LIBC.write

        def process_vm_readv(self, *arguments: object) -> int:
            ctypes.set_errno(errno.EPERM)
            return -1

    monkeypatch.setattr(native, "_LIBC", Forbidden())
    test_memory_that_is_not_there_is_none()
    held = object()
    assert native.pointer(Holder(held), lambda word: word == id(held)) == id(held)


class Holder:
    """An object with one word in it, as an extension's has a C pointer."""

    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held = held


def test_a_pointer_is_found_by_what_it_leads_to() -> None:
    held = object()
    assert native.pointer(Holder(held), lambda word: word == id(held)) == id(held)
    assert native.pointer(Holder(held), lambda word: False) is None


def test_two_that_fit_are_none() -> None:
    class Two:
        __slots__ = ("one", "two")

        def __init__(self, one: object, two: object) -> None:
            self.one, self.two = one, two

    assert native.pointer(Two([], []), lambda word: True) is None


def test_a_tag_is_the_lowest_byte_of_both_keys() -> None:
    keys = (ctypes.c_uint32 * 2)(0x12345600, 0x65432100)
    assert native.retag(ctypes.addressof(keys), 0x1A5) == (0x123456A5, 0x654321A5)
    assert list(keys) == [0x123456A5, 0x654321A5]


def test_only_what_is_recognised_is_scribbled_over() -> None:
    held = (b"left", b"right")
    target = Holder(held)
    native.scribble(target, 8, bytes(8))  # the slot is not a null pointer
    assert target.held is held
    word = id(held).to_bytes(8, "little")
    native.scribble(target, 8, word)
    assert native.look(id(target) + Holder.__basicsize__ - 8, 8) == bytes([0xD6]) * 8
    ctypes.memmove(id(target) + Holder.__basicsize__ - 8, word, 8)
    assert target.held is held


@pytest.mark.parametrize(("version", "release"), [("1.24.44.0", "44.0"), ("1.24.62.1", "62.1"), ("1", ""), ("", "")])
def test_the_release_is_in_the_librarys_version(version: str, release: str) -> None:
    assert native.rdma_core({"libmlx5": ("/x/libmlx5.so", version)}) == release


@pytest.mark.parametrize(
    ("symbols", "release"), [(b"IBVERBS_PRIVATE_59\0", "59"), (b"IBVERBS_PRIVATE_34\0", ""), (b"", "")]
)
def test_a_library_without_a_version_has_private_symbols(tmp_path: Path, symbols: bytes, release: str) -> None:
    library = tmp_path / "libibverbs.so.1"
    library.write_bytes(b"\x7fELF" + symbols)
    libraries = {"libibverbs": (str(library), "1"), "libmlx5": ("/x/libmlx5.so.1", "1")}
    assert native.rdma_core(libraries) == release
    assert native.rdma_core({}) == ""


def test_events_by_their_numbers() -> None:
    """enum ibv_event_type of verbs.h."""
    assert native.EVENTS.index("sq_drained") == 5
    assert native.EVENTS.index("wq_fatal") == 19
    assert set(native.EVENTS) >= QP_EVENTS
