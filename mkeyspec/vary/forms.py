"""A configuration in another form.

mlx5dv_wr_post(3): a property that no setter of a request sets stays as it was, so that what one request sets can be set
by two, and a request without setters changes nothing; a list is its entries one after another, and so is an interleaved
layout that is repeated once and skips nothing; an entry can be memory, or an mkey of it.
"""

from __future__ import annotations

from dataclasses import replace

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.plan import Configure, Options
from mkeyspec.plan.setter import Setter
from mkeyspec.value.layout import Chunk, Interleaved, List, Part
from mkeyspec.vary.row import Draw

_MOST_CHUNKS = 4
_MOST_BYTES = 0xFFFF
"""Of an entry of an interleaved layout: of more, a known driver takes the low 16 bits (X-DIFF-07)."""
_INNER_ENTRIES = (1, 4, 16)
_ALL = 15
Formed = tuple[list[plan.Step], tuple[Configure, ...]]


def formed(draw: Draw, step: plan.Post, request: Configure, *, first: bool) -> Formed:
    """What must be there before the section, and the requests that do the same.

    `first`: whether nothing was done with the mkey before, so that no error is kept for it (mlx5dv_mkey_check(3)).
    """
    made: list[plan.Step] = []
    key = draw.row.keys.get(request.mkey)
    if key is None or draw.row.refuses or draw.row.read or key.but or not isinstance(key.entries, int):
        return made, (request,)
    setters = tuple(_setter(draw, step, key, setter, made) for setter in request.setters)
    requests: tuple[Configure, ...] = (replace(request, setters=setters),)
    if first and not request.reset_signature:
        requests = _in_two(draw, requests[0])
        if draw.often(0.15):
            draw.note(f"`{request.mkey}` is configured once more, by no setter")
            requests = (*requests, Configure(request.at, request.mkey))
    return made, requests


def _setter(draw: Draw, step: plan.Post, key: plan.Mkey, setter: Setter, made: list[plan.Step]) -> Setter:
    if not isinstance(setter, plan.SetLayout) or not isinstance(setter.layout, List) or setter.but:
        return setter
    parts = [part for part in setter.layout.parts if isinstance(part, Part) and part.bounds() and not part.but]
    if not parts or len(parts) < len(setter.layout.parts):
        return setter
    if draw.often(0.2):
        place = draw.random.randrange(len(parts))
        parts[place] = _inner(draw, step, key, parts[place], made)
    assert isinstance(key.entries, int)
    short = all(bounds[1] <= _MOST_BYTES for part in parts if (bounds := part.bounds()))
    if short and len(parts) < min(key.entries, _MOST_CHUNKS) and draw.often(0.15):
        draw.note(f"the list of `{key.name}` is an interleaved layout, repeated once")
        return replace(setter, layout=Interleaved(1, tuple(Chunk(part, part.length) for part in parts)))
    return replace(setter, layout=List(tuple(parts)))


def _inner(draw: Draw, step: plan.Post, key: plan.Mkey, part: Part, made: list[plan.Step]) -> Part:
    """A plain mkey of the bytes of `part`, in place of it."""
    memory = draw.row.memories.get(part.name)
    bounds = part.bounds()
    if memory is None or memory.access is not None or memory.pd != key.pd or memory.peer != key.peer or not bounds:
        return part
    rights = _ALL if "access.remote_atomic" in draw.offers else _ALL & 7
    name = draw.name("inner mkey")
    draw.note(f"an entry of `{key.name}` is an mkey of `{part.name}`")
    setters = (plan.SetAccess(rights), plan.SetLayout(List((Part(part.name, *bounds),))))
    made.append(plan.Mkey(step.at, name, int(MkeyFlag.INDIRECT), draw.one(_INNER_ENTRIES), key.peer, key.pd))
    given = Configure(step.at, name, setters, options=Options(signaled=True))
    made.append(plan.Post(step.at, (given,), step.qp, step.peer))
    return Part(name, 0, bounds[1])


def _in_two(draw: Draw, request: Configure) -> tuple[Configure, ...]:
    """Some setters in a request of their own before. A signature and crypto attributes stay together (XCRY-07)."""
    setters = request.setters
    if len(setters) < 2 or any(setter.but for setter in setters) or not draw.often(0.25):
        return (request,)
    apart = [one for one in setters if isinstance(one, (plan.SetAccess, plan.SetLayout))]
    if not apart:
        return (request,)
    alone = draw.random.choice(apart)
    if len([one for one in setters if type(one) is type(alone)]) > 1:
        return (request,)
    draw.note(f"`{request.mkey}` is configured by two requests")
    others = tuple(one for one in setters if one is not alone)
    groups = [(alone,), others]
    draw.random.shuffle(groups)
    before = Configure(request.at, request.mkey, groups[0], options=Options(signaled=draw.often(0.5)))
    return before, replace(request, setters=groups[1])
