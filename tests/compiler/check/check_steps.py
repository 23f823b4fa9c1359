"""Plan steps by hand, short, and the room under test run over them."""

from __future__ import annotations

from itertools import count

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.compiler.check import AbstractState, BrokenRule, Origin, settle
from mkeyspec.compiler.statements.check_step import apply, broken_by, check_step
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.value.bytestring import Counter
from mkeyspec.value.layout import Chunk, Interleaved, List, Part
from mkeyspec.value.live import Int
from mkeyspec.value.signature import Crc, Domain, T10Dif

TEXT = "case a_case\n" * 200
SOURCE = Source("hand.mks", TEXT)
_line = count(1)

SIG = int(MkeyFlag.INDIRECT | MkeyFlag.BLOCK_SIGNATURE)
CRYPTO = int(MkeyFlag.INDIRECT | MkeyFlag.CRYPTO)

CRC = Domain(Crc(0, 0xFFFFFFFF), 512)
CRC_C = Domain(Crc(1, 0), 512)
DIF = Domain(T10Dif(0, 0xFFFF, 0x5678, 0x10, 1), 512)


def at() -> plan.At:
    return plan.At(next(_line) % 190 + 1, 5)


def memory(name: str = "m", length: int = 8192, **more: object) -> plan.Memory:
    return plan.Memory(at(), name, length, **more)  # type: ignore[arg-type]


def mkey(name: str = "k", flags: int = SIG, entries: Int = 8, **more: object) -> plan.Mkey:
    return plan.Mkey(at(), name, flags, entries, **more)  # type: ignore[arg-type]


def qp(name: str = "q", **members: object) -> plan.Qp:
    return plan.Qp(at(), name, tuple(members.items()))  # type: ignore[arg-type]


def part(name: str = "m", start: Int = 0, length: Int = 512, **but: Int) -> Part:
    return Part(name, start, length, tuple(but.items()))


def listed(*parts: Part) -> plan.SetLayout:
    return plan.SetLayout(List(parts or (part(),)))


def sges(n: int) -> plan.SetLayout:
    return plan.SetLayout(List(tuple(part("m", i, 1) for i in range(n))))


def strided(n: int, repeat: Int = 2) -> plan.SetLayout:
    return plan.SetLayout(Interleaved(repeat, tuple(Chunk(part("m", i * 64, 64), 8, 4) for i in range(n))))


def access(flags: Int) -> plan.SetAccess:
    return plan.SetAccess(flags)


def signature(
    mem: Domain | None = None, wire: Domain | None = None, copy_mask: int | None = None, **but: Int
) -> plan.SetSignature:
    return plan.SetSignature(mem, wire, 0xF0, copy_mask, tuple(but.items()))


def crypto(dek: str = "d", **more: object) -> plan.SetCrypto:
    return plan.SetCrypto(dek, **more)  # type: ignore[arg-type]


def configuration(*setters: plan.Setter, name: str = "k", reset: bool = False, **but: Int) -> plan.Configure:
    return plan.Configure(at(), name, setters, reset, plan.Options(but=tuple(but.items())))


def post(*requests: plan.Wr, **more: object) -> plan.Post:
    return plan.Post(at(), requests, **more)  # type: ignore[arg-type]


def configure(*setters: plan.Setter, name: str = "k", reset: bool = False, **but: Int) -> plan.Post:
    return post(configuration(*setters, name=name, reset=reset, **but))


def transmit(length: Int = 512, start: Int = 0, by: str = "send", **but: Int) -> plan.Transmit:
    return plan.Transmit(at(), part("k", start, length, **but), by)


def receive(length: int = 512, by: str = "recv", start: Int = 0) -> plan.Receive:
    return plan.Receive(at(), Counter(length), part("k", start, length), by)


def abort(*requests: plan.Wr) -> plan.Post:
    return post(*requests, abort=True)


def origin_of(step: plan.Step) -> Origin:
    """The step and each outcome of its claim at a span of its own."""
    origin = Origin(Span(SOURCE, 5, 9), Span(SOURCE, 0, 1))
    for number, outcome in enumerate(getattr(step, "claim", ())):
        origin.put(outcome, Span(SOURCE, 1000 + number, 1001 + number))
    return origin


def state_after(*steps: plan.Step) -> AbstractState:
    state = AbstractState()
    for step in steps:
        apply(state, step)
    return state


def look(*steps: plan.Step) -> list[BrokenRule]:
    """What the last step breaks, after the others have happened."""
    return broken_by(state_after(*steps[:-1]), steps[-1], origin_of(steps[-1]))


def names(*steps: plan.Step, certain: bool = True) -> list[str]:
    """The rules the last step breaks (`certain`), or may break."""
    return [broken.rule.name for broken in look(*steps) if broken.definite == certain]


def judged(*steps: plan.Step) -> tuple[plan.Claim, list[str]]:
    """The last step's claim as settled, and the codes of all diagnostics of that step."""
    state = state_after(*steps[:-1])
    diagnostics = Diagnostics()
    step = check_step(state, steps[-1], origin_of(steps[-1]), diagnostics)
    return getattr(step, "claim", ()), [found.code for found in diagnostics]


def settled(claim: plan.Claim, *steps: plan.Step, when_false: bool = False) -> tuple[plan.Claim, Diagnostics]:
    diagnostics = Diagnostics()
    origin = origin_of(steps[-1])
    found = settle(look(*steps), claim, origin, steps[-1], diagnostics, when_false)
    return found, diagnostics
