"""Near misses of atomic requests: what is written, and what comes back (ibv_post_send(3), wr.atomic)."""

from __future__ import annotations

from mkeyspec.lookslike.hypothesis import Atomic, Hypothesis, Rules

_MOST = (1 << 64) - 1
_LOW = (1 << 32) - 1


def written(request: Atomic, old: int) -> int:
    """What an atomic request leaves where `old` was, by the usual rule."""
    if request.compare is None:
        return (old + request.operand) & _MOST
    return request.operand if old == request.compare else old


def _bytewise(old: int, add: int, size: int) -> int:
    """A sum in which nothing is carried from one piece of `size` bytes to the next."""
    ones = (1 << 8 * size) - 1
    return sum((((old >> at) + (add >> at)) & ones) << at for at in range(0, 64, 8 * size))


def _sum(size: int) -> Rules:
    def other(request: Atomic, old: int) -> tuple[int, int]:
        return old, _bytewise(old, request.operand, size) if request.compare is None else written(request, old)

    return Rules(atomic=other)


def _swap_if(mask: int) -> Rules:
    """`mask`: the bits that are compared."""

    def other(request: Atomic, old: int) -> tuple[int, int]:
        if request.compare is None:
            return old, written(request, old)
        return old, request.operand if not (old ^ request.compare) & mask else old

    return Rules(atomic=other)


def _half(request: Atomic, old: int) -> tuple[int, int]:
    new = written(request, old)
    return old, old & ~_LOW & _MOST | new & _LOW


def _turned(number: int) -> int:
    return int.from_bytes(number.to_bytes(8, "little"), "big")


def _other_order(request: Atomic, old: int) -> tuple[int, int]:
    compare = None if request.compare is None else _turned(request.compare)
    return old, _turned(written(Atomic(_turned(request.operand) if compare is not None else request.operand,
                                       compare), _turned(old)))  # fmt: skip


def _exchanged(request: Atomic, old: int) -> tuple[int, int]:
    if request.compare is None:
        return old, written(request, old)
    return old, written(Atomic(request.compare, request.operand), old)


ATOMICS: tuple[Hypothesis, ...] = (
    Hypothesis("atomic.unchanged", "an atomic request changes nothing", Rules(atomic=lambda request, old: (old, old))),
    Hypothesis("atomic.no_swap", "a compare and swap leaves what is there, though it is what is compared", Rules(
        atomic=lambda request, old: (old, old if request.compare is not None else written(request, old)))),
    Hypothesis("atomic.no_add", "a fetch and add leaves what is there", Rules(
        atomic=lambda request, old: (old, old if request.compare is None else written(request, old)))),
    Hypothesis("atomic.new_value", "an atomic request returns the new value and not the old one", Rules(
        atomic=lambda request, old: (written(request, old), written(request, old)))),
    Hypothesis("atomic.zero", "an atomic request returns zero", Rules(
        atomic=lambda request, old: (0, written(request, old)))),
    Hypothesis("atomic.no_carry", "nothing is carried from byte to byte of a sum", _sum(1)),
    Hypothesis("atomic.no_carry_32", "nothing is carried from the low to the high half of a sum", _sum(4)),
    Hypothesis("atomic.always", "the swap is done without a comparison", _swap_if(0)),
    Hypothesis("atomic.low_half", "only the low half is compared", _swap_if(_LOW)),
    Hypothesis("atomic.high_half", "only the high half is compared", _swap_if(_LOW << 32)),
    Hypothesis("atomic.half_written", "only the low half is written", Rules(atomic=_half)),
    Hypothesis("atomic.exchanged", "the compared and the swapped value are exchanged", Rules(atomic=_exchanged)),
    Hypothesis("atomic.byte_order", "an atomic request counts in the other byte order", Rules(atomic=_other_order)),
)  # fmt: skip
