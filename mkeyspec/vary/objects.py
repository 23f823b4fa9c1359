"""The objects of a row: another pair of QPs, mkeys with more create flags, memory at other addresses.

ibv_create_qp(3): what a QP asks for is the least that it gets. mlx5dv_create_mkey(3): a create flag allows
something, and asks for nothing. ibv_reg_mr(3): a memory region begins at any address.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.plan import CompareSwap, FetchAdd, MrInterleaved, MrList, RawWqe
from mkeyspec.vary.row import PAIR, Draw, Row

_ROOM = (128, 129, 300)
_ADDRESSES = (1, 7, 8, 63)
_MORE_FLAGS = (
    (MkeyFlag.UPDATE_TAG, "update_tag"),
    (MkeyFlag.REMOTE_INVALIDATE, "remote_invalidate"),
    (MkeyFlag.BLOCK_SIGNATURE, "block_signature"),
)


def objects(draw: Draw) -> Row:
    """The row with other objects. What it asks for by number, and what it compares, stays."""
    steps = draw.row.steps
    if draw.often(0.25):
        steps = tuple(_over_another_pair(draw, steps))
    if not draw.row.refuses and not draw.row.departs:
        steps = tuple(_flagged(draw, step) if isinstance(step, plan.Mkey) else step for step in steps)
        if not draw.row.read and not draw.row.requests_of(CompareSwap, FetchAdd, RawWqe) and draw.often(0.4):
            steps = tuple(_moved(draw, step) if isinstance(step, plan.Memory) else step for step in steps)
    return Row(steps)


def _over_another_pair(draw: Draw, steps: tuple[plan.Step, ...]) -> Iterator[plan.Step]:
    """What goes over the default pair goes over one that is made for the row."""
    members: list[tuple[str, int | str | bool]] = []
    if not draw.row.refuses and not draw.row.departs and not draw.row.exact:
        if draw.often(0.5):
            members.append(("max_send_wr", draw.one(_ROOM)))
        # A known driver tells a configuration with two domains twice there (X-BUG-04).
        if not draw.row.lists and not draw.row.signs and draw.often(0.2):
            members.append(("sq_sig_all", True))
    made = False
    for step in steps:
        if not _goes_over_default(step):
            yield step
            continue
        if not made:
            made = True
            draw.note("what goes over the default pair of QPs goes over a new one")
            yield plan.Qp(step.at, PAIR, tuple(members))
        yield replace(step, qp=PAIR)  # type: ignore[arg-type] # each of them has it


def _goes_over_default(step: plan.Step) -> bool:
    """Whether it is of a pair of QPs, and names none."""
    is_of_pair = not isinstance(step, plan.Qp) and any(member.name == "qp" for member in fields(step))
    return is_of_pair and getattr(step, "qp", "") is None


def _flagged(draw: Draw, step: plan.Mkey) -> plan.Mkey:
    """With create flags that nothing in the row makes use of."""
    if step.claim or step.but or step.known is not None or not step.flags & MkeyFlag.INDIRECT:
        return step
    for flag, offer in _MORE_FLAGS:
        if step.flags & flag or offer not in draw.offers or not draw.often(0.15):
            continue
        if flag == MkeyFlag.BLOCK_SIGNATURE and not _may_be_signed(draw.row):
            continue
        draw.note(f"`{step.name}` has the create flag {offer}")
        step = replace(step, flags=step.flags | int(flag))
    return step


def _may_be_signed(row: Row) -> bool:
    """mlx5dv_wr_post(3): the builders of before mlx5dv_wr_mkey_configure take no key with signatures; after
    ibv_wr_abort() a configuration sets all that the key can have, a signature too.
    """
    aborted = any(step.abort for step in row.steps if isinstance(step, plan.Post))
    return not aborted and not row.requests_of(MrList, MrInterleaved)


def _moved(draw: Draw, step: plan.Memory) -> plan.Memory:
    if step.misaligned or not draw.often(0.5):
        return step
    draw.note(f"`{step.name}` begins at another address")
    return replace(step, misaligned=draw.one(_ADDRESSES))
