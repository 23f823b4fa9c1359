"""What lives beside a row: another mkey that is looked at in the end, many mkeys, QPs that have done much.

mlx5dv_create_mkey(3), mlx5dv_wr_post(3): nothing that is done to an mkey is done to another.
"""

from __future__ import annotations

from collections.abc import Iterator

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.plan import Configure, Options, Read, Write
from mkeyspec.value.bytestring import Random, Slice, fill, join
from mkeyspec.value.layout import List, Part
from mkeyspec.vary.row import PAIR, Draw

_OWNER, _INTO, _PEER, _KEY, _QP = (
    "neighbour's memory",
    "memory to read into",
    "far memory",
    "neighbour",
    "neighbour's qp",
)
_BYTES = Random(3000, 13)
_LENGTHS = (1, 64, 512, 520, 900)
_FLAGS = (0, 0, int(MkeyFlag.BLOCK_SIGNATURE), int(MkeyFlag.UPDATE_TAG))
_MANY = (8, 16, 40)
_REQUESTS = (130, 260, 330)
_SECTION = 40


def before(draw: Draw) -> Iterator[plan.Step]:
    """What is there before the row begins; what is looked at in the end goes to `draw.last`."""
    if not draw.row.steps:
        return
    at = draw.row.steps[0].at
    if draw.often(0.03):
        number = draw.one(_MANY)
        draw.note(f"{number} other mkeys live")
        for _ in range(number):
            yield plan.Mkey(at, draw.name("mkey"), int(MkeyFlag.INDIRECT), 4)
    if draw.often(0.2):
        yield from _neighbour(draw, at)
    if draw.often(0.02) and not draw.row.exact and PAIR not in draw.row.qps:
        yield from _busy(draw, at)


def _neighbour(draw: Draw, at: plan.At) -> Iterator[plan.Step]:
    """An mkey over a QP of its own. In the end it has the bytes that it had."""
    flags = draw.one(_FLAGS)
    needed = {int(MkeyFlag.BLOCK_SIGNATURE): "block_signature", int(MkeyFlag.UPDATE_TAG): "update_tag"}.get(flags)
    if needed is not None and needed not in draw.offers:
        flags = 0
    draw.note("another mkey is configured before, and read in the end")
    lengths = [draw.one(_LENGTHS) for _ in range(draw.one((1, 2, 3)))]
    starts = [draw.random.randrange(3000 - length + 1) for length in lengths]
    parts = tuple(Part(_OWNER, start, length) for start, length in zip(starts, lengths, strict=True))
    expected = join([Slice(_BYTES, start, length) for start, length in zip(starts, lengths, strict=True)])
    size = sum(lengths)
    yield plan.Memory(at, _OWNER, 3000, _BYTES)
    yield plan.Memory(at, _PEER, size, None, True)
    yield plan.Memory(at, _INTO, size, None, True)
    yield plan.Qp(at, _QP)
    yield plan.Mkey(at, _KEY, int(MkeyFlag.INDIRECT) | flags, draw.one((3, 4, 16)))
    setters = (plan.SetAccess(7), plan.SetLayout(List(parts)))
    yield plan.Post(at, (Configure(at, _KEY, setters, options=Options(signaled=True)),), _QP)
    whole = Part(_KEY, 0, size)
    draw.last += [
        plan.Post(at, (Write(at, (whole,), Part(_PEER, 0, size), options=Options(signaled=True)),), _QP),
        plan.Expect(at, plan.Content((Part(_PEER, 0, size),), _PEER), "==", expected),
        plan.Post(at, (Read(at, (Part(_INTO, 0, size),), whole, Options(signaled=True)),), _QP, True),
        plan.Expect(at, plan.Content((Part(_INTO, 0, size),), _INTO), "==", expected),
    ]


def _busy(draw: Draw, at: plan.At) -> Iterator[plan.Step]:
    """WRITEs over the default pair, more than its queue has room for at once."""
    number = draw.one(_REQUESTS)
    draw.note(f"{number} requests go over the QP before")
    source, target = "busy memory", "busy memory of the peer"
    data = fill(0xB5, 8)
    yield plan.Memory(at, source, 8, data)
    yield plan.Memory(at, target, 8, None, True)
    for start in range(0, number, _SECTION):
        count = min(_SECTION, number - start)
        yield plan.Post(
            at,
            tuple(
                Write(at, (Part(source, 0, 1),), Part(target, 0, 1), options=Options(signaled=place == count - 1))
                for place in range(count)
            ),
        )
    draw.last.append(plan.Expect(at, plan.Content((Part(target, 0, 1),), target), "==", Slice(data, 0, 1)))
