"""Points of what an mkey has before it is configured fully, and after an invalidation."""

from __future__ import annotations

from collections.abc import Callable

from mkeyspec.abi.constants import Access
from mkeyspec.calibrate.bench import OK, SIGNALED, SIGNED, Bench, Strange, crc, layout, sge, signature
from mkeyspec.calibrate.point import Point, Side
from mkeyspec.device.protocol import FetchAdd, LocalInv, Mkey, SetAccess


def granted(bench: Bench, make: Callable[[], Mkey], payload: bytes = bytes(16)) -> int:
    """The rights of a key, each tried on a key of its own, with what needs it."""
    rights = 0
    tries: list[tuple[Access, Callable[[Mkey], str]]] = [
        (Access.LOCAL_WRITE, lambda mkey: bench.receive(mkey.lkey, payload).status),
        (Access.REMOTE_WRITE, lambda mkey: bench.remote_write(mkey.rkey, payload)),
        (Access.REMOTE_READ, lambda mkey: bench.remote_read(mkey.rkey, len(payload))),
    ]
    if "atomic" in bench.offers:
        tries.append((Access.REMOTE_ATOMIC, lambda mkey: _fetch_add(bench, mkey)))
    for right, works in tries:
        bench.again()
        if works(make()) == OK:
            rights |= int(right)
    return rights


def _fetch_add(bench: Bench, mkey: Mkey) -> str:
    result = bench.memory(bytes(8), "peer")
    return bench.remote(FetchAdd(bench.id(), SIGNALED, sge(result), 0, mkey.rkey, 1))


def first_rights(flags: int) -> Callable[[Bench], int]:
    """The rights of a key whose configuration has a layout alone. One with all rights must have them all."""

    def look(bench: Bench) -> int:
        memory = bench.memory(bytes(64))

        def configured(*setters: SetAccess) -> Callable[[], Mkey]:
            def make() -> Mkey:
                mkey = bench.mkey(flags)
                bench.must(bench.configure(mkey, *setters, layout(memory)), "a configuration")
                return mkey

            return make

        every = granted(bench, configured(SetAccess(bench.rights)))
        missing = bench.rights & ~every
        if missing and (missing != int(Access.REMOTE_ATOMIC) or "atomic" in bench.offers):
            raise Strange(f"a key with all rights lacks {Access(missing)!r}")
        if granted(bench, configured(SetAccess(0))):
            raise Strange("a key that has no right has one all the same")
        return granted(bench, configured())

    return look


def invalidated(bench: Bench, mkey: Mkey) -> None:
    """LOCAL_INV, after which the key must not work."""
    bench.must(bench.done(LocalInv(bench.id(), SIGNALED, mkey.rkey)), "LOCAL_INV")
    if bench.transmit(mkey.lkey, 8).status == OK:
        raise Strange("a key works after LOCAL_INV")
    bench.again()


def layout_left(bench: Bench) -> str:
    memory = bench.memory(b"payload.")
    mkey = bench.over(memory)
    invalidated(bench, mkey)
    bench.must(bench.configure(mkey, SetAccess(bench.rights)), "a configuration after LOCAL_INV")
    moved = bench.transmit(mkey.lkey, 8)
    if moved.status != OK:
        return "cleared"
    return "kept" if moved.data == b"payload." else f"the layout gives {moved.data.hex()}"


def signature_left(bench: Bench) -> str:
    """Whether a message still gets its field; without a signature, it is 516 bytes of memory as they are."""
    content = bytes(range(256)) * 3
    memory = bench.memory(content)
    mkey = bench.mkey(SIGNED)
    setters = (SetAccess(bench.rights), layout(memory))
    bench.must(bench.configure(mkey, *setters, signature(wire=crc("crc32"))), "a configuration")
    before = bench.transmit(mkey.lkey, 516)
    if before.status != OK or before.data == content[:516]:
        raise Strange(f"a key with a signature ends with {before.status}, or gives no field")
    invalidated(bench, mkey)
    bench.must(bench.configure(mkey, *setters), "a configuration after LOCAL_INV")
    moved = bench.transmit(mkey.lkey, 516)
    bench.must(moved.status, "a message")
    return "kept" if moved.data == before.data else "cleared" if moved.data == content[:516] else "other bytes"


POINTS = (
    Point(
        "initial_access",
        (
            Side("an mkey for layouts", first_rights(1)),
            Side("an mkey for signatures", first_rights(SIGNED), None, ("block_signature",)),
        ),
    ),
    Point(
        "invalidate_clears",
        (
            Side("the layout", layout_left, {"cleared": True, "kept": False}),
            Side(
                "the signature", signature_left, {"cleared": True, "kept": False},
                ("block_signature", "signature.crc32", "block.512"),
            ),
        ),
    ),
)  # fmt: skip
