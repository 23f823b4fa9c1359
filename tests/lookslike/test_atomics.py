"""Atomic requests: the counter and what came back, computed by hand from the sentence of each near miss.

ibv_post_send(3): fetch and add returns what was there and adds, compare and swap returns what was there and swaps if it
is what was compared; 64 bits, in the byte order of the host.
"""

from __future__ import annotations

import numpy as np
import pytest

from mkeyspec import plan
from mkeyspec.lookslike.plain import Scene
from mkeyspec.lookslike.search import Looked, bytes_look_like
from mkeyspec.lookslike.transfer import Stage
from mkeyspec.value.bytestring import Literal
from mkeyspec.value.layout import Part

AT = plan.At(1, 1)
OLD = 0x00000001_FFFFFFF0
ADD = plan.FetchAdd(AT, Part("back", 0, 8), Part("counter", 0, 8), 0x20)
SWAP = plan.CompareSwap(AT, Part("back", 0, 8), Part("counter", 0, 8), OLD, 0x1122334455667788)
MISS = plan.CompareSwap(AT, Part("back", 0, 8), Part("counter", 0, 8), OLD ^ 1 << 40, 0x1122334455667788)

ROWS = [
    # name, request, (counter, what came back), (the same of the near miss)
    ("atomic.unchanged", ADD, (0x0000000200000010, OLD), (OLD, OLD)),
    ("atomic.no_add", ADD, (0x0000000200000010, OLD), (OLD, OLD)),
    ("atomic.no_swap", SWAP, (0x1122334455667788, OLD), (OLD, OLD)),
    ("atomic.new_value", ADD, (0x0000000200000010, OLD), (0x0000000200000010, 0x0000000200000010)),
    ("atomic.zero", ADD, (0x0000000200000010, OLD), (0x0000000200000010, 0)),
    ("atomic.no_carry", ADD, (0x0000000200000010, OLD), (0x00000001FFFFFF10, OLD)),
    ("atomic.no_carry_32", ADD, (0x0000000200000010, OLD), (0x0000000100000010, OLD)),
    ("atomic.half_written", SWAP, (0x1122334455667788, OLD), (0x0000000155667788, OLD)),
    ("atomic.exchanged", SWAP, (0x1122334455667788, OLD), (OLD, OLD)),
    ("atomic.always", MISS, (OLD, OLD), (0x1122334455667788, OLD)),
    ("atomic.low_half", MISS, (OLD, OLD), (0x1122334455667788, OLD)),
    ("atomic.byte_order", ADD, (0x0000000200000010, OLD), (0x20000001FFFFFFF0, OLD)),
]


def words(numbers: tuple[int, int]) -> bytes:
    return b"".join(number.to_bytes(8, "little") for number in numbers)


@pytest.mark.parametrize(("name", "request_", "want", "got"), ROWS, ids=[row[0] for row in ROWS])
def test_a_near_miss_is_named(
    name: str, request_: plan.FetchAdd | plan.CompareSwap, want: tuple[int, int], got: tuple[int, int]
) -> None:
    steps = (
        plan.Memory(AT, "counter", 8, Literal(words((OLD, 0))[:8])),
        plan.Memory(AT, "back", 8, Literal(bytes(8))),
        plan.Post(AT, (request_,)),
    )
    contents = {"counter": words(want)[:8], "back": words(want)[8:]}
    expected, observed = (np.frombuffer(words(one), np.uint8) for one in (want, got))
    scene = Scene(expected, observed, np.ones(16, bool))
    stage = Stage(steps, contents, lambda subject, member: 0)
    looked = Looked(scene, (), [("counter", 0, 8), ("back", 0, 8)], stage)
    assert name in bytes_look_like(looked).names
