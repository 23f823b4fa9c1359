"""`but` that sets a member to its own value (MKS0327), in every row that has the statement.

One row may do so, as the right one among wrong ones (`for n in 0, 1 … but inline n`); if all rows do, the case has no
wrong member, and passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.abi.constants import BLOCK_ENUM, SigBlockFlag
from mkeyspec.compiler.check.origin import origin_of
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Span
from mkeyspec.value.layout import Layout, Part
from mkeyspec.value.live import Int, Live
from mkeyspec.value.signature import Domain

Values = Mapping[str, Int]
"""Members, and what they are without `but`."""


class _Set(NamedTuple):
    """An override of `thing`, and the value without it: None if unknown."""

    thing: object
    member: str
    value: Int
    otherwise: Int | None


def overrides(step: plan.Step) -> bool:
    """Whether something of the step is set wrong on purpose."""
    return bool(getattr(step, "but", ())) or any(True for _ in _step(step, frozenset()))


def check_same(rows: Sequence[plan.Row], diagnostics: Diagnostics) -> None:
    """Report every `but` that changes nothing in any row."""
    changes: dict[tuple[Span, str], bool] = {}
    for row in rows:
        mkeys = frozenset(step.name for step in row.steps if isinstance(step, plan.Mkey))
        for step in row.steps:
            for found in _step(step, mkeys):
                key = origin_of(step).get(found.thing, found.member, step), found.member
                changes[key] = changes.get(key, False) or found.value != found.otherwise
    for (span, member), some in changes.items():
        if not some:
            diagnostics.error(
                "MKS0327",
                f"`but {member}` has no effect: that is its value without it",
                span,
                help="leave it out, or set another value",
            )


def _step(step: plan.Step, mkeys: frozenset[str]) -> Iterator[_Set]:
    match step:
        case plan.Transmit() | plan.Receive():
            part, length, _ = step.end()
            there = {**_part(part, mkeys), "length": length}
            yield from _sets(part, part.but, there)
            yield from _sets(step, step.options.but, there)
        case plan.Recv():
            yield from _parts(step.into, mkeys)
        case _:
            for request in step.posted():
                yield from _request(request, mkeys)


def _request(request: plan.Wr, mkeys: frozenset[str]) -> Iterator[_Set]:
    there: dict[str, Int] = {}
    match request:
        case plan.StraySetter():
            yield from _setter(request.setter, mkeys)
        case plan.Configure():
            there = {"num_setters": len(request.setters), "conf_flags": int(request.reset_signature)}
            there |= {"comp_mask": 0, "inline": 1}
            for setter in request.setters:
                yield from _setter(setter, mkeys)
        case plan.MrList() | plan.MrInterleaved():
            there = {"inline": 1, "access_flags": request.access}
            yield from _layout(request.layout, mkeys)
        case plan.Memcpy():
            there = {"length": request.source.length}
            yield from _parts((request.source, request.to), mkeys)
        case plan.Addressed():
            local, remote = request.local(), request.remote()
            yield from _parts(local, mkeys)
            if local:
                there.update(_part(local[0], mkeys))
            if remote is not None:
                far = _part(remote, mkeys)
                yield from _sets(remote, remote.but, far)
                there["remote_addr"] = far.get("addr", Live("", ""))
                there["rkey"] = far["rkey"]
            if request.options.dct is not None:
                there["dctn"] = Live(request.options.dct, "number")
        case plan.Invalidate() | plan.RawWqe():
            pass
        case _:
            assert_never(request)
    yield from _sets(request, request.options.but, there)


def _part(part: Part, mkeys: frozenset[str]) -> dict[str, Int]:
    """The members of an SGE, or of a remote end, for a part."""
    there: dict[str, Int] = {"length": part.length, "lkey": Live(part.name, "lkey"), "rkey": Live(part.name, "rkey")}
    if part.name in mkeys:
        there["addr"] = part.start
    elif part.start == 0:
        there["addr"] = Live(part.name, "addr")
    return there


def _parts(parts: tuple[Part, ...], mkeys: frozenset[str]) -> Iterator[_Set]:
    for part in parts:
        if part.but:
            yield from _sets(part, part.but, _part(part, mkeys))


def _setter(setter: plan.Setter, mkeys: frozenset[str]) -> Iterator[_Set]:
    there: dict[str, Int] = {"comp_mask": 0}
    match setter:
        case plan.SetLayout():
            yield from _layout(setter.layout, mkeys)
            if setter.layout.strided:
                there = {"repeat_count": setter.layout.turns()}
        case plan.SetAccess():
            there = {"access_flags": setter.flags}
        case plan.SetSignature():
            there["flags"] = 0 if setter.copy_mask is None else int(SigBlockFlag.COPY_MASK)
            there |= {"check_mask": setter.check_mask, "copy_mask": setter.copy_mask or 0}
            for domain in (setter.mem, setter.wire):
                if domain is not None:
                    yield from _domain(domain)
        case plan.SetCrypto():
            there |= {"crypto_standard": 0, "encrypt_on_tx": int(setter.encrypt_on_tx)}
            there |= {"signature_crypto_order": setter.order, "data_unit_size": BLOCK_ENUM.get(setter.data_unit, -1)}
        case _:
            assert_never(setter)
    yield from _sets(setter, setter.but, there)


def _domain(domain: Domain) -> Iterator[_Set]:
    signature = domain.signature
    yield from _sets(
        domain,
        domain.but,
        {
            "sig_type": signature.sig_type,
            "block_size": BLOCK_ENUM.get(domain.block, -1),
            "comp_mask": 0,
        },
    )
    yield from _sets(signature, signature.but, {name: int(getattr(signature, name)) for name in signature.struct})


def _layout(layout: Layout, mkeys: frozenset[str]) -> Iterator[_Set]:
    if not layout.strided:
        for part in layout.targets():
            yield from _sets(part, part.but, _part(part, mkeys))
    # With the part of an interleaved entry `but` says that its repeats leave the buffer on purpose (MKS0454).


def _sets(thing: object, but: plan.Overrides, there: Values) -> Iterator[_Set]:
    for member, value in but:
        yield _Set(thing, member, value, there.get(member))
