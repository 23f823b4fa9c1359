"""Tries all hypotheses on one expectation: which of them give what was got, and nothing else than that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mkeyspec import plan
from mkeyspec.lookslike.atomics import ATOMICS
from mkeyspec.lookslike.blocks import BLOCKS
from mkeyspec.lookslike.ciphers import CIPHERS
from mkeyspec.lookslike.crcs import CRCS
from mkeyspec.lookslike.evaluation import Budget, Evaluation, Part, Spent
from mkeyspec.lookslike.hypothesis import USUAL, Hypothesis
from mkeyspec.lookslike.layouts import TRANSFERS
from mkeyspec.lookslike.plain import PLAINS, Bytes, Scene, plain_causes
from mkeyspec.lookslike.transfer import Move, Stage, moves_of, replayed
from mkeyspec.lookslike.tuples import TUPLES
from mkeyspec.value.bytestring import (
    ByteString,
    Field,
    Flip,
    Framed,
    Join,
    Merge,
    Patch,
    Repeat,
    Slice,
    Strip,
    Xor,
    XtsDecrypt,
    XtsEncrypt,
)

_OF_VALUES: tuple[Hypothesis, ...] = (*CRCS, *TUPLES, *BLOCKS, *CIPHERS)
HYPOTHESES: tuple[Hypothesis, ...] = (*_OF_VALUES, *TRANSFERS, *ATOMICS)
TRIED = len(HYPOTHESES) + len(PLAINS)
"""Near misses that are tried on bytes."""

DECLARED = "expectation.declared"
"""The name of what is said first, and of no near miss."""
AS_DECLARED = "by the references the device did what the case declares"

SHOWN = 3
"""Sentences that are shown."""
FIRST = 16 << 10
"""Bytes that are compared first; only what gives these is computed whole."""
MOST = 64 << 20
"""Bytes that are computed for one expectation."""
ONE = 4 << 20
"""Of those, for one hypothesis on the first bytes."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A near miss that gives what was got."""

    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Finding:
    """The near misses that give what was got; `tried`: how many there were to try. `whole`: all were tried, not only as
    many as the limit on computed bytes admits."""

    causes: tuple[Cause, ...]
    tried: int
    blocks: int = 0
    whole: bool = True
    what: str = "these bytes"

    @property
    def explained(self) -> bool:
        """Whether one says why, and not only which bytes are there."""
        return any(not cause.name.startswith("bytes.") for cause in self.causes)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(cause.name for cause in self.causes)

    def lines(self) -> tuple[str, ...]:
        """The text of a failure, one line or more."""
        if not self.causes:
            if not self.whole:
                return (f"not known: {self.what} are too many to try all {self.tried} near misses",)
            return (f"none of {self.tried} near misses reproduces {self.what}",)
        what = f"all {self.blocks} blocks" if self.blocks > 1 else "all of it"
        declared = next((cause.sentence for cause in self.causes if cause.name == DECLARED), "")
        causes = [cause for cause in self.causes if cause.name != DECLARED and not _is_fact(cause.name)]
        if declared:
            near = self._near(causes, what) if causes else ()
            return (declared, *(f"{'' if number else 'and this is how: '}{line}" for number, line in enumerate(near)))
        return self._near(causes or list(self.causes), what)

    def _near(self, causes: Sequence[Cause], what: str) -> tuple[str, ...]:
        """The near misses, of which there is one at least."""
        if len(causes) == 1:
            alone = ", and nothing else does" if self.whole else ""
            return (f"{causes[0].sentence} (reproduces {what}{alone})",)
        shown = [cause.sentence for cause in causes[:SHOWN]]
        lines = [f"{'or ' if number else ''}{sentence}" for number, sentence in enumerate(shown)]
        if len(causes) > len(shown):
            many = f"{len(causes)} near misses give {self.what}, and can't be told apart here; the first three:"
            return (many, *lines)
        lines[-1] += f" (each reproduces {what})"
        return tuple(lines)


def _is_fact(name: str) -> bool:
    """Whether it says only which bytes are there."""
    return name.startswith("bytes.") and name != "bytes.unchanged"


_RANKS: tuple[tuple[str, ...], ...] = (
    ("expectation.", "cancel.", "escape.", "bytes.unchanged"),
    (),
    ("key.", "copied.first_block", "check.first_block_only", "check.not_", "check.low_bit", "field.words"),
    ("block.size", "layout.length", "layout.first_length", "layout.starts", "layout.aligned", "layout.begin", "check.",
     "moved.", "field.reversed", "field.backwards", "field.zeros"),
    (),  # of _GENERAL
    # Which bytes are there says less than why.
    ("bytes.",),
)  # fmt: skip
"""Beginnings of names by how much they say: what holds for few bytes or records only comes first, then what is in no
list, then what holds for very many. That nothing was written at all is said before any guess why."""
_ALWAYS = ("record.none", "check.all")
_GENERAL = ("record.none", "check.nothing", "check.all", "field.kept", "frame.", "domains.", "escape.both_always",
            "escape.app_always")  # fmt: skip
"""Beginnings of names that any signature shows: after all others, as in the causes of a run (`report/causes.py`)."""


def _rank(name: str) -> int:
    if name.startswith(_GENERAL):
        return len(_RANKS) - 2
    return next((rank for rank, names in enumerate(_RANKS) if name.startswith(names)), 1)


def finding_of(found: Iterable[tuple[str, str]], tried: int, blocks: int = 0, *, whole: bool = True) -> Finding:
    """Sentences once each, the most special first. The plainest one is always among those that are shown."""
    causes: dict[str, Cause] = {}
    for name, sentence in found:
        causes.setdefault(sentence, Cause(name, sentence))
    ranked = sorted(causes.values(), key=lambda cause: _rank(cause.name))
    plainest = next((one for one in ranked if one.name in _ALWAYS), None)
    if plainest is not None and ranked.index(plainest) >= SHOWN:
        ranked.remove(plainest)
        ranked.insert(SHOWN - 1, plainest)
    return Finding(tuple(ranked), tried, blocks, whole)


@dataclass(frozen=True, slots=True)
class Looked:
    """What an expectation looked at. `pieces`: (name of the buffer, first byte, length), in order; a wire's name is
    `@label`. `parts`: (first byte, expression) of the expected bytes, as far as they have one."""

    scene: Scene
    parts: Sequence[tuple[int, ByteString]] = ()
    pieces: Sequence[tuple[str, int, int]] = ()
    stage: Stage | None = None


def bytes_look_like(looked: Looked) -> Finding:
    """The near misses that give what an expectation of bytes got, everywhere. Raises nothing."""
    budget = Budget(MOST)
    search = _Search(looked, budget)
    found: list[tuple[str, str]] = []
    for group in (search.as_declared, search.by_expression, search.by_transfer):
        found.extend(group())
    try:
        plain = list(plain_causes(looked.scene))
    except Exception:
        plain = []
    return finding_of([*found, *plain], TRIED, search.blocks, whole=search.whole)


class _Search:
    def __init__(self, looked: Looked, budget: Budget) -> None:
        self.looked = looked
        self.scene = looked.scene
        self.budget = budget
        self.blocks = 0
        self.whole = True

    def as_declared(self) -> Iterator[tuple[str, str]]:
        """Whether the references give what was got, from all that the case declares and does: then the expectation is
        of something else."""
        stage, pieces = self.looked.stage, self.looked.pieces
        before = self.scene.before
        if stage is None or not pieces or leave_open(stage.steps):
            return
        if before is not None and self.scene.is_got(before):
            return  # nothing was written, which says little of the device
        try:
            moves = [move for move in moves_of(stage) if not move.check]
            evaluation = Evaluation(USUAL, self._some(MOST // 8))
            replay = replayed(stage, moves, evaluation, anew=True)
            data = b"".join(bytes(replay.image(name)[start : start + length]) for name, start, length in pieces)
        except Exception:  # what only the device knows, and did not tell; no bytes by these rules; too many bytes
            return
        if moves and self.scene.is_got(np.frombuffer(data, np.uint8)):
            yield DECLARED, f"{AS_DECLARED}: the expectation differs from that"

    def by_expression(self) -> Iterator[tuple[str, str]]:
        """Those that give it by the expected expression."""
        parts = self.looked.parts
        kinds: set[type] = set()
        try:
            for _, value in parts:
                self._look_into(value, kinds, 0)
        except Exception:
            return
        if not kinds & {Framed, Strip, Field, XtsEncrypt, XtsDecrypt}:
            return
        first = [(start, _front(value, FIRST)) for start, value in parts if start < FIRST]

        def computed(values: Sequence[tuple[int, ByteString]]) -> Callable[[Evaluation], list[tuple[int, bytes]]]:
            return lambda evaluation: [(start, evaluation.bytes_of(value)) for start, value in values]

        yield from self._tried(_OF_VALUES, computed(first), computed(parts), kinds)

    def by_transfer(self) -> Iterator[tuple[str, str]]:
        """Those that give it by what the case did, if that gives the expected bytes by the usual rules."""
        stage, pieces = self.looked.stage, self.looked.pieces
        if stage is None or not pieces:
            return
        try:
            moves = [move for move in moves_of(stage) if not move.check]
            chosen = self._chosen(stage, moves)
        except Exception:  # what only the device knows, and did not tell; no bytes by these rules; too many bytes
            return
        if chosen is None:
            return
        compute = self._image(stage, chosen, moves)
        yield from self._tried(HYPOTHESES, compute, compute, {Framed, Strip, XtsEncrypt})

    def _chosen(self, stage: Stage, moves: list[Move]) -> list[Move] | None:
        """The last moves that give the expected bytes; all of them where one counts with what is there."""
        limit = MOST // 8
        if any(move.atomic for move in moves):
            made = self._image(stage, moves)(Evaluation(USUAL, Budget(limit)))
            return moves if self._is_want(made) else None
        for count in dict.fromkeys((1, 2, 3, len(moves))):
            if count > len(moves) or not count:
                continue
            some = moves[-count:]
            try:
                made = self._image(stage, some)(Evaluation(USUAL, Budget(limit)))
            except Exception:
                continue
            if self._is_want(made):
                return some
        for last in range(len(moves) - 2, max(len(moves) - 10, -1), -1):
            try:
                made = self._image(stage, moves[last : last + 1])(Evaluation(USUAL, Budget(limit)))
            except Exception:
                continue
            if self._is_want(made):
                return moves[last : last + 1]
        return None

    def _is_want(self, made: list[tuple[int, bytes]]) -> bool:
        want = self.scene.want
        data = np.frombuffer(b"".join(piece for _, piece in made), np.uint8)
        if len(data) != len(want) or self.scene.is_got(data):
            return False
        return bool(((data == want) | ~self.scene.fixed).all())

    def _image(
        self, stage: Stage, moves: list[Move], every: Sequence[Move] = ()
    ) -> Callable[[Evaluation], list[tuple[int, bytes]]]:
        def computed(evaluation: Evaluation) -> list[tuple[int, bytes]]:
            rules = evaluation.rules
            whole = rules.early or bool(rules.cancel)
            anew = whole or any(move.atomic for move in moves)
            replay = replayed(stage, every if whole else moves, evaluation, anew=anew)
            made, at = [], 0
            for name, start, length in self.looked.pieces:
                made.append((at, bytes(replay.image(name)[start : start + length])))
                at += length
            return made

        return computed

    def _tried(
        self,
        hypotheses: Sequence[Hypothesis],
        first: Callable[[Evaluation], list[tuple[int, bytes]]],
        whole: Callable[[Evaluation], list[tuple[int, bytes]]],
        kinds: set[type],
    ) -> Iterator[tuple[str, str]]:
        for hypothesis in hypotheses:
            rules = hypothesis.rules
            if rules.crypt is not None and not kinds & {XtsEncrypt, XtsDecrypt}:
                continue
            if rules.cancel and not self._cancels():
                continue
            try:
                if not self._reproduces(first, Evaluation(rules, self._some(ONE)), FIRST):
                    continue
                size = len(self.scene.got)
                if size > FIRST and not self._reproduces(whole, Evaluation(rules, self._some(MOST)), size):
                    continue
            except Spent:
                self.whole = False
                if self.budget.left < ONE:
                    return
                continue
            except Exception:
                continue
            yield hypothesis.name, hypothesis.sentence

    def _cancels(self) -> bool:
        stage = self.looked.stage
        return stage is not None and any(isinstance(step, plan.Cancel) for step in stage.steps)

    def _some(self, most: int) -> Budget:
        """A part of what is left, taken at once."""
        return Part(self.budget, min(most, self.budget.left))

    def _reproduces(
        self, computed: Callable[[Evaluation], list[tuple[int, bytes]]], evaluation: Evaluation, most: int
    ) -> bool:
        """Whether the bytes before `most` are what was got. What a shorter result leaves open is as it was before."""
        scene = self.scene
        made: Bytes = scene.got.copy()
        made[scene.fixed] = scene.before[scene.fixed] if scene.before is not None else scene.want[scene.fixed]
        results = computed(evaluation)
        for number, (start, data) in enumerate(results):
            end = results[number + 1][0] if number + 1 < len(results) else len(made)
            piece = np.frombuffer(data[: max(end - start, 0)], np.uint8)
            if scene.before is None and start + len(piece) < min(end, most, len(made)) and start < most:
                covered = sum(scene.fixed[start + len(piece) : min(end, most)])
                if covered:
                    return False
            made[start : start + len(piece)] = piece
        same = (made[:most] == scene.got[:most]) | ~scene.fixed[:most]
        return bool(same.all())

    def _look_into(self, value: object, kinds: set[type], depth: int) -> None:
        """The kinds of expression in a value; counts its blocks."""
        if depth > 64:
            return
        kinds.add(type(value))
        if isinstance(value, Framed):
            self.blocks = max(self.blocks, value.of.length // value.domain.block)
        if isinstance(
            value, (Slice, Join, Repeat, Flip, Patch, Merge, Xor, Framed, Strip, Field, XtsEncrypt, XtsDecrypt)
        ):
            for inside in value.inside()[:4096]:
                self._look_into(inside, kinds, depth + 1)


def leave_open(steps: Sequence[plan.Step]) -> bool:
    """Whether the references don't say what the steps give: one leaves it open, or there are signatures and encryption,
    whose order on an mkey the replay does not know for each row of the page's table (XCRY-07)."""
    words: set[str] = set()
    for step in steps:
        if _leaves_open(step):
            return True
        match step:
            case plan.Post():
                for request in step.requests:
                    match request:
                        case plan.Configure():
                            words.update(setter.word for setter in request.setters)
    return {plan.SetSignature.word, plan.SetCrypto.word} <= words


def _leaves_open(step: plan.Step) -> bool:
    """A member of a request is set wrong, it is refused where it is carried out, or requests are cancelled."""
    match step:
        case plan.Cancel():
            return True
        case plan.Transmit() | plan.Receive():
            return bool(step.part.but) or _may_fail(step.claim)
        case plan.Post():
            return any(map(_request_on_purpose, step.requests)) or _may_fail(step.claim)
        case _:
            return False


def _may_fail(claim: plan.Claim) -> bool:
    """Whether it may be refused when it is carried out, or completes with an error: bytes may be moved before that."""
    return any(not outcome.succeeds() for outcome in claim) and not plan.rejected_at(claim, "complete")


def _request_on_purpose(request: plan.Wr) -> bool:
    if plan.options_of(request).but:
        return True
    match request:
        case plan.Configure():
            return any(setter.but for setter in request.setters)
        case _:
            return any(end.part.but for end in request.ends())


def _front(value: ByteString, most: int) -> ByteString:
    """An expression that gives at least the first `most` bytes, without what comes after them where that is easy."""
    if value.length <= most:
        return value
    match value:
        case Join(parts):
            kept, at = [], 0
            for part in parts:
                if at >= most:
                    break
                kept.append(_front(part, most - at))
                at += part.length
            return Join(tuple(kept))
        case Framed(of, domain, app_tags):
            blocks = -(-most // domain.frame)
            return Framed(Slice(of, 0, blocks * domain.block), domain, app_tags[:blocks])
        case Repeat(of, times):
            return Repeat(of, min(times, -(-most // max(of.length, 1))))
        case _:
            return value
