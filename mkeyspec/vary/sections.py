"""A section of requests: its own in another form, and others beside them.

mlx5dv_wr_post(3): the setters of a configuration come in any order. ibv_wr_post(3): the flags of a request and the
requests beside it change nothing of what it moves. A list with a part cut in two has the same bytes, and so has a list
of SGEs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.plan import Configure, Options, Read, Send, Wr, Write
from mkeyspec.plan.claim import is_rejected, rejections
from mkeyspec.value.bytestring import Random, Slice
from mkeyspec.value.layout import List, Part
from mkeyspec.vary import forms, values
from mkeyspec.vary.row import Draw

_MOST_ENTRIES = 12
_MOST_SGES = 4
_CUTS = (1, 8, 512, 520)
_INLINE = 64
_MOST_REQUESTS = 4
_SIGNED = MkeyFlag.BLOCK_SIGNATURE | MkeyFlag.CRYPTO
_BYTES = Random(1024, 11)
_SLOT, _SLOTS = 64, 32
"""Each WRITE has bytes of its own to write to."""
_OWNER, _PEER, _KEY = "other memory", "other memory of the peer", "other mkey"


def section(draw: Draw, step: plan.Post, first: set[str]) -> Iterator[plan.Step]:
    """The declarations that the section needs, and the section.

    `first`: the mkeys of the row that it configures, and with which the row did nothing before.
    """
    row = draw.row
    plain = not step.claim and step.known is None and not step.abort and step.label is None
    refused = is_rejected(step.claim) and all(one.phase == "complete" for one in rejections(step.claim))
    usual = row.is_usual(step.qp) and not row.exact and step.known is None and step.label is None
    requests = step.requests
    if plain:
        requests = tuple(_formed(draw, request, usual) for request in requests)
        if usual and not row.departs and len(requests) <= _MOST_REQUESTS:
            made, requests = _configured(draw, step, requests, first)
            yield from made
    if refused and step.known is None:
        requests = tuple(values.another(draw, one) if isinstance(one, Configure) else one for one in requests)
    if usual and (plain or refused) and step.wait and not row.departs:
        requests = tuple(_flagged(draw, request, step.peer) for request in requests)
        if not step.peer and len(requests) <= _MOST_REQUESTS and draw.often(0.4):
            declared, requests = _beside(draw, step, requests)
            for one in declared:
                yield from draw.once(one)
    yield replace(step, requests=requests)


def _configured(
    draw: Draw, step: plan.Post, requests: tuple[Wr, ...], first: set[str]
) -> tuple[list[plan.Step], tuple[Wr, ...]]:
    """Its configurations in other forms, and what these need."""
    made: list[plan.Step] = []
    found: list[Wr] = []
    for request in requests:
        if isinstance(request, Configure) and not request.options.but:
            once = len([one for one in requests if request.mkey in one.changes()]) == 1
            more, same = forms.formed(draw, step, request, first=once and request.mkey in first)
            made += more
            found += same
        else:
            found.append(request)
    return made, tuple(found)


def _formed(draw: Draw, request: Wr, usual: bool) -> Wr:
    """The same request, said in another way."""
    if isinstance(request, Configure):
        if request.options.but or any(setter.but for setter in request.setters):
            return request
        if len(request.setters) > 1 and draw.often(0.5):
            setters = list(request.setters)
            draw.random.shuffle(setters)
            draw.note(f"the setters of `{request.mkey}` come in another order")
            request = replace(request, setters=tuple(setters))
        return _more_entries(draw, request) if usual and draw.often(0.4) else request
    if isinstance(request, (Send, Write, Read)) and usual and not request.options.but and not request.options.inline:
        return _more_sges(draw, request) if draw.often(0.4) else request
    return request


def _more_entries(draw: Draw, request: Configure) -> Configure:
    key = draw.row.keys.get(request.mkey)
    if key is None or draw.row.refuses or draw.row.read or not isinstance(key.entries, int) or key.but:
        return request
    setters = []
    for setter in request.setters:
        if isinstance(setter, plan.SetLayout) and isinstance(setter.layout, List):
            parts = list(_cut(draw, setter.layout, min(key.entries, _MOST_ENTRIES)))
            if len(parts) > len(setter.layout.parts):
                draw.note(f"the list of `{request.mkey}` has {len(parts)} entries")
                setter = replace(setter, layout=List(tuple(parts)))
        setters.append(setter)
    return replace(request, setters=tuple(setters))


def _cut(draw: Draw, layout: List, most: int) -> Iterator[Part]:
    """Its parts, some of them cut in two or three. Nothing where a part has a number that only the device knows."""
    room = most - len(layout.parts)
    for part in layout.parts:
        bounds = part.bounds() if isinstance(part, Part) and not part.but else None
        if bounds is None:
            return
        start, length = bounds
        for _ in range(draw.one((0, 1, 2))):
            size = draw.one((*_CUTS, length // 2, length - 1))
            if room > 0 and 0 < size < length:
                yield Part(part.target().name, start, size)
                start, length, room = start + size, length - size, room - 1
        yield Part(part.target().name, start, length)


def _more_sges(draw: Draw, request: Send | Write | Read) -> Send | Write | Read:
    """Plain bytes in more SGEs. A part of a signature or crypto key stays whole."""
    own = request.into if isinstance(request, Read) else request.data
    if draw.row.refuses or not 0 < len(own) < _MOST_SGES:
        return request
    place = draw.random.randrange(len(own))
    part = own[place]
    bounds = part.bounds()
    key = draw.row.keys.get(part.name)
    if part.but or bounds is None or bounds[1] < 2 or (key is not None and key.flags & _SIGNED):
        return request
    if key is None and part.name not in draw.row.memories:
        return request
    start, length = bounds
    size = draw.random.randrange(1, length)
    cut = (Part(part.name, start, size), Part(part.name, start + size, length - size))
    parts = (*own[:place], *cut, *own[place + 1 :])
    draw.note(f"`{request.word}` has {len(parts)} SGEs")
    return replace(request, into=parts) if isinstance(request, Read) else replace(request, data=parts)


def _flagged(draw: Draw, request: Wr, peer: bool) -> Wr:
    """With other flags and another number."""
    options = request.options
    if options.but or options.dct is not None or not draw.often(0.4):
        return request
    changed = replace(
        options,
        signaled=options.signaled != draw.often(0.5),
        fence=options.fence or draw.often(0.3),
        solicited=options.solicited or (isinstance(request, (Send, Write)) and draw.often(0.3)),
        id=draw.random.getrandbits(64) if options.id is None and draw.often(0.3) else options.id,
        inline=options.inline or (_fits_inline(draw, request) and draw.often(0.3)),
    )
    draw.note(f"`{request.name()}` has other flags")
    return replace(request, options=changed)


def _fits_inline(draw: Draw, request: Wr) -> bool:
    """Whether its bytes are of memory, and few."""
    if not isinstance(request, (Send, Write)) or draw.row.refuses:
        return False
    lengths = [part.length for part in request.data if part.name in draw.row.memories and not part.but]
    known = [length for length in lengths if isinstance(length, int)]
    return len(known) == len(request.data) and sum(known) <= _INLINE


def _beside(draw: Draw, step: plan.Post, requests: tuple[Wr, ...]) -> tuple[list[plan.Step], tuple[Wr, ...]]:
    """With others before and behind: WRITEs of other memory, configurations of another mkey."""
    at = step.at
    declared: list[plan.Step] = [
        plan.Memory(at, _OWNER, _BYTES.length, _BYTES),
        plan.Memory(at, _PEER, _SLOT * _SLOTS, None, True),
        plan.Mkey(at, _KEY, int(MkeyFlag.INDIRECT), 4),
    ]
    found = list(requests)
    last = _last_fixed(requests)
    for _ in range(draw.one((1, 1, 2, 3))):
        signaled = draw.often(0.5)
        other: Wr
        if draw.often(0.4):
            layout = List((Part(_OWNER, draw.one((0, 8, 100)), draw.one((16, 512))),))
            other = Configure(at, _KEY, (plan.SetAccess(1), plan.SetLayout(layout)), options=Options(signaled=signaled))
        elif draw.written < _SLOTS:
            part = Part(_OWNER, draw.one((0, 8)), draw.one((1, 8, _SLOT)))
            to = Part(_PEER, _SLOT * draw.written, part.length)
            draw.written += 1
            if not step.claim and not step.abort:
                draw.last.append(_arrived(at, part, to))
            other = Write(at, (part,), to, options=Options(signaled=signaled))
        else:
            continue
        found.insert(draw.random.randrange(last + 1), other)
    draw.note(f"{len(found) - len(requests)} other requests are in the section")
    return declared, tuple(found)


def _arrived(at: plan.At, part: Part, to: Part) -> plan.Expect:
    """The bytes of one of the WRITEs, at the end of the row."""
    assert isinstance(part.start, int)
    assert isinstance(part.length, int)
    expected = Slice(_BYTES, part.start, part.length)
    return plan.Expect(at, plan.Content((to,), _PEER), "==", expected)


def _last_fixed(requests: tuple[Wr, ...]) -> int:
    """The last place where another request may stand: a stray setter must stay behind what it stands behind."""
    stray = [place for place, one in enumerate(requests) if isinstance(one, plan.StraySetter)]
    return stray[0] - 1 if stray and stray[0] > 0 else 0 if stray else len(requests)
