"""Points of requests without data: the status of a refused configuration, invalidation or raw WQE."""

from __future__ import annotations

from mkeyspec.abi.constants import MkeyFlag, QpOps
from mkeyspec.calibrate.bench import CONFIGURES, SIGNALED, Bench, Moved, Unknown, layout, sge
from mkeyspec.calibrate.probes.completions import NOBODY, Status, failed, of_owner, point, received
from mkeyspec.device.protocol import LocalInv, Mkey, MrList, QpAttributes, RawWqe, SetAccess


def foreign(bench: Bench) -> Mkey:
    """A key of another protection domain than the QP's."""
    return bench.mkey(pd=bench.device.pd("owner"))


def foreign_configured(bench: Bench) -> str:
    return failed_configuration(
        bench.configure(foreign(bench), SetAccess(bench.rights), layout(bench.memory(bytes(8))))
    )


def foreign_by_mr_list(bench: Bench) -> str:
    memory = bench.memory(bytes(8))
    request = MrList(bench.id(), CONFIGURES, foreign(bench), bench.rights, (sge(memory),))
    return failed_configuration(bench.done(request))


def failed_configuration(outcome: str) -> str:
    if outcome[0] == "E":
        raise Unknown(f"it is refused with {outcome} when it is posted")
    return failed(outcome)


def invalidated_nobody(bench: Bench) -> str:
    return of_owner(bench, LocalInv(bench.id(), SIGNALED, NOBODY))


def invalidated_buffer(bench: Bench) -> str:
    return of_owner(bench, LocalInv(bench.id(), SIGNALED, bench.memory(bytes(8)).rkey))


def invalidated_foreign(bench: Bench, flags: int = int(MkeyFlag.INDIRECT)) -> str:
    return of_owner(bench, LocalInv(bench.id(), SIGNALED, bench.mkey(flags, pd=bench.device.pd("owner")).rkey))


def invalidated_by_message(bench: Bench, *, flag: bool) -> Moved:
    """SEND with invalidate, of a key that was not made for it, or of nothing."""
    mkey = bench.over(bench.memory(bytes(8)))
    target = bench.memory(bytes(8))
    source = bench.memory(bytes(8), "peer")
    return bench.send([sge(source)], [sge(target)], by="peer", invalidate=mkey.rkey if flag else NOBODY)


def raw(opcode: int, other_qp: int, units: int) -> Status:
    """A WQE of the caller that can't be carried out."""

    def look(bench: Bench) -> str:
        attributes = QpAttributes(send_ops=int(QpOps.RAW_WQE), private=True)
        pair = bench.use(attributes)
        number = pair.owner.number ^ other_qp
        wqe = (opcode).to_bytes(4, "big") + (number << 8 | units).to_bytes(4, "big") + b"\0\0\0\x08" + bytes(4)
        return of_owner(bench, RawWqe(bench.id(), SIGNALED, wqe.ljust(16 * units, b"\0")))

    return look


POINTS = (
    point(
        "status_raw",
        ("an opcode that there is not", raw(0x1F, 0, 1)),
        ("the number of another QP", raw(0x0A, 0x3F, 1)),
        needs=("raw_wqe",),
    ),
    point(
        "status_configure",
        ("mkey_configure of an mkey of another PD", foreign_configured),
        ("mr_list of an mkey of another PD", foreign_by_mr_list),
    ),
    point(
        "status_invalidate",
        ("an mkey of another PD", invalidated_foreign),
        ("one that a SEND may invalidate",
         lambda bench: invalidated_foreign(bench, int(MkeyFlag.INDIRECT | MkeyFlag.REMOTE_INVALIDATE))),
    ),
    point(
        "status_invalidate_unknown",
        ("a key of nothing", invalidated_nobody),
        ("the key of a buffer", invalidated_buffer),
    ),
    point(
        "status_invalidate_receive",
        ("a SEND that invalidates an mkey not made for it",
         lambda bench: received(invalidated_by_message(bench, flag=True))),
        ("a SEND that invalidates a key of nothing", lambda bench: received(invalidated_by_message(bench, flag=False))),
    ),
    point(
        "status_invalidate_sender",
        ("an mkey not made for it", lambda bench: failed(invalidated_by_message(bench, flag=True).status)),
        ("a key of nothing", lambda bench: failed(invalidated_by_message(bench, flag=False).status)),
    ),
)  # fmt: skip
