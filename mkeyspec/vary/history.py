"""What a key was before its first configuration in the row.

Only property kinds that the row's first configuration sets itself are set before it, so that nothing of them is left
(mlx5dv_wr_post(3): a setter replaces what was there). After a section that was refused or aborted the mkey is in an
unknown state (mlx5dv_wr_post(3)), so there the row's configuration must set all that the key can have.
"""

from __future__ import annotations

from collections.abc import Iterator

from mkeyspec import plan
from mkeyspec.abi.constants import Access, CrcType, MkeyFlag
from mkeyspec.plan import Configure, MrInterleaved, MrList, Options
from mkeyspec.plan.setter import Setter
from mkeyspec.value.layout import Chunk, Interleaved, Layout, List, Part
from mkeyspec.value.live import is_known
from mkeyspec.value.signature import Crc, Domain, T10Dif
from mkeyspec.vary.row import Draw

_SIZE = 6000
_USED = "far memory of histories"
_LENGTHS = (1, 16, 64, 520, 900)
_RIGHTS = (0, 1, 3, 7, 15)
_MOST = 6
_TAGS = (0, 1, 0x5A, 0xFF)
_FORMS = ("configure", "configure", "configure", "refused", "aborted", "registered", "registered")
_SIGNED = MkeyFlag.BLOCK_SIGNATURE | MkeyFlag.CRYPTO
Given = Configure | MrList | MrInterleaved
GIVEN = (Configure, MrList, MrInterleaved)


def before(draw: Draw, step: plan.Post, given: Given) -> Iterator[plan.Step]:
    """What is done with a key before `given`, its first configuration, which is one of `step`."""
    key = draw.row.keys.get(given.mkey)
    if key is None or key.claim or key.but or key.known is not None or not is_known(key.entries) or draw.often(0.35):
        return
    kinds = _kinds(given)
    if not kinds or (key.pd is not None and step.qp is None):
        return
    history = _History(draw, step, key, given, kinds)
    yield from history.steps()


def _kinds(given: Given) -> frozenset[type[Setter]]:
    """The kinds of properties that it sets; none where something in it is set wrong."""
    if given.options.but:
        return frozenset()
    if not isinstance(given, Configure):
        return frozenset({plan.SetAccess, plan.SetLayout})
    if any(setter.but for setter in given.setters):
        return frozenset()
    return frozenset(type(setter) for setter in given.setters)


class _History:
    def __init__(
        self, draw: Draw, step: plan.Post, key: plan.Mkey, given: Given, kinds: frozenset[type[Setter]]
    ) -> None:
        self.draw, self.step, self.key, self.given, self.kinds = draw, step, key, given, kinds
        assert isinstance(key.entries, int)
        side = "peer" if key.peer else "owner"
        self.buffer = f"other memory of the {side}, {key.pd or 'default'}"
        self.qp = step.qp
        whole: set[type[Setter]] = {plan.SetAccess, plan.SetLayout}
        if key.flags & MkeyFlag.BLOCK_SIGNATURE:
            whole.add(plan.SetSignature)
        if key.flags & MkeyFlag.CRYPTO:
            whole.add(plan.SetCrypto)
        self.whole = kinds >= whole
        self.signed = False
        """Whether it had a signature or crypto attributes."""

    def steps(self) -> Iterator[plan.Step]:
        draw, key, at = self.draw, self.key, self.step.at
        yield from draw.once(plan.Memory(at, self.buffer, _SIZE, None, key.peer, 0, key.pd))
        if (draw.often(0.5) or not draw.row.is_usual(self.step.qp)) and key.pd is None:
            self.qp = "other qp"
            yield from draw.once(plan.Qp(at, self.qp))
        if key.flags & MkeyFlag.UPDATE_TAG and not draw.row.retags and not draw.row.read & {"rkey", "lkey"}:
            for _ in range(draw.one((0, 1, 2))):
                draw.note(f"`{key.name}` has another tag")
                yield plan.Retag(at, key.name, draw.one(_TAGS))
        for _ in range(draw.one((1, 1, 2, 3))):
            yield from self._one(draw.random.choice(_FORMS))

    def _one(self, form: str) -> Iterator[plan.Step]:
        draw = self.draw
        if form == "registered":
            yield from self._registered()
            return
        setters = self._setters()
        # A known driver takes a signature key for armed, though nothing of the section was posted (X-BUG-03).
        unposted = self.whole and not self.key.flags & MkeyFlag.BLOCK_SIGNATURE
        if not setters or (form != "configure" and not unposted) or not draw.row.configures(self.qp):
            return
        said = {"configure": "is configured", "refused": "has a configuration refused", "aborted": "has one aborted"}
        self.draw.note(f"`{self.key.name}` {said[form]} before its first configuration")
        # One setter more than it says: of one less the outcome is open (X-DIFF-03).
        wrong = (("num_setters", len(setters) - 1),) if form == "refused" else ()
        request = Configure(self.step.at, self.key.name, setters, options=Options(signaled=True, but=wrong))
        claim = (plan.Rejected("complete"),) if form == "refused" else ()
        yield plan.Post(self.step.at, (request,), self.qp, self.step.peer, abort=form == "aborted", claim=claim)
        if form == "configure":
            yield from self._used(setters)

    def _used(self, setters: tuple[Setter, ...]) -> Iterator[plan.Step]:
        """Bytes go out of what was configured: a WRITE needs no right of its source (ibv_reg_mr(3))."""
        layout = next((setter.layout for setter in setters if isinstance(setter, plan.SetLayout)), None)
        plain = not any(isinstance(setter, (plan.SetSignature, plan.SetCrypto)) for setter in setters)
        key, draw, at = self.key, self.draw, self.step.at
        if layout is None or layout.length is None or key.flags & MkeyFlag.CRYPTO or self.signed or not plain:
            self.signed = self.signed or not plain
            return
        if self.step.peer or key.peer or key.pd is not None or self.draw.often(0.6):
            return
        length = draw.random.randint(1, min(layout.length, _SIZE))
        yield from draw.once(plan.Memory(at, _USED, _SIZE, None, True))
        request = plan.Write(at, (Part(key.name, 0, length),), Part(_USED, 0, length), options=Options(signaled=True))
        draw.note(f"`{key.name}` is used before its first configuration in the row")
        yield plan.Post(at, (request,), self.qp)
        draw.last.append(plan.Expect(at, plan.Content((Part(_USED, 0, _SIZE),), _USED), "==", plan.Any()))

    def _registered(self) -> Iterator[plan.Step]:
        """By mlx5dv_wr_mr_list or mlx5dv_wr_mr_interleaved, and mostly made free again by IBV_WR_LOCAL_INV."""
        if not {plan.SetAccess, plan.SetLayout} <= self.kinds or self.key.flags & _SIGNED or self.qp != "other qp":
            return
        layout = self._layout()
        rights = self._rights()
        at, name = self.step.at, self.key.name
        options = Options(signaled=True)
        request: plan.Wr
        if isinstance(layout, List):
            request = MrList(at, name, layout, rights, options)
        else:
            request = MrInterleaved(at, name, layout, rights, options)
        self.draw.note(f"`{name}` is registered by {request.word} before its first configuration")
        yield plan.Post(at, (request,), self.qp, self.step.peer)
        if not isinstance(self.given, Configure) or self.draw.often(0.6):
            by = self.draw.random.choice(("post_send", "wr_post"))
            yield plan.Post(at, (plan.Invalidate(at, name, by, options),), self.qp, self.step.peer)

    def _setters(self) -> tuple[Setter, ...]:
        """Other values of some of the kinds, in any order. Over the row's own QP no more of them, and no longer ones,
        than the row's own configuration has: what fits there is known of that one alone."""
        setters: list[Setter] = []
        for kind in sorted(self.kinds, key=lambda kind: kind.word):
            if self.draw.often(0.3):
                continue
            if kind is plan.SetAccess:
                setters.append(plan.SetAccess(self._rights()))
            elif kind is plan.SetLayout:
                setters.append(plan.SetLayout(self._layout()))
            elif kind is plan.SetSignature:
                signature = self._signature()
                setters += [] if signature is None else [signature]
            elif isinstance(self.given, Configure) and plan.SetSignature not in self.kinds:
                # Which orders there are depends on both (XCRY-07).
                setters += [setter for setter in self.given.setters if isinstance(setter, plan.SetCrypto)]
        self.draw.random.shuffle(setters)
        return tuple(setters)

    def _rights(self) -> int:
        """Some of those that the device offers."""
        rights = self.draw.one(_RIGHTS)
        return rights if "access.remote_atomic" in self.draw.offers else rights & ~int(Access.REMOTE_ATOMIC)

    def _layout(self) -> Layout:
        draw = self.draw
        assert isinstance(self.key.entries, int)
        most = min(self.key.entries, _MOST)
        own = self.given.layout_given()
        if self.qp != "other qp":
            strided = own is not None and own.strided
            most = min(most, len(own.given()) if own is not None else 1)
            if not strided:
                return self._list(most)
        if most >= 2 and draw.often(0.5):
            number = draw.random.randrange(1, most)
            chunks = [Chunk(self._part(64), draw.one((8, 64, 512)), draw.one((0, 1, 8))) for _ in range(number)]
            return Interleaved(draw.one((1, 2, 3, 7)), tuple(chunks))
        return self._list(most)

    def _list(self, most: int) -> List:
        number = self.draw.random.randint(1, max(1, most))
        return List(tuple(self._part(self.draw.one(_LENGTHS)) for _ in range(number)))

    def _part(self, length: int) -> Part:
        return Part(self.buffer, self.draw.random.randrange(100), length)

    def _signature(self) -> plan.SetSignature | None:
        """One that the device offers."""
        draw = self.draw
        block = draw.one((512, 520))
        kinds: tuple[Crc | T10Dif, ...] = (
            Crc(int(CrcType.CRC32), draw.one((0, 0xFFFF_FFFF))),
            Crc(int(CrcType.CRC32C), 0xFFFF_FFFF),
            Crc(int(CrcType.CRC64_XP10), draw.one((0, 0xFFFF_FFFF_FFFF_FFFF))),
            T10Dif(0, draw.one((0, 0xFFFF)), 7, 3, 3),
        )
        domain = Domain(draw.random.choice(kinds), block)
        mem, wire = draw.random.choice(((domain, None), (None, domain), (domain, domain)))
        setter = plan.SetSignature(mem, wire, 0xFF)
        return setter if draw.offers.issuperset(setter.needs()) else None
