"""Another operation of the same direction, over another transport service, and once more.

An mkey is used the same way by each operation that takes bytes out of it, or puts bytes into it, by the same right
(mlx5dv_wr_post(3); ibv_reg_mr(3): SEND and WRITE need no right of their source; RECV and READ need
IBV_ACCESS_LOCAL_WRITE of their destination; WRITE and WRITE with immediate data need IBV_ACCESS_REMOTE_WRITE), over
each service that has the operation (ibv_wr_post(3)). A message that is sent again has the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mkeyspec import plan
from mkeyspec.vary.row import Draw

_ALIKE = (("send", "send_imm", "write", "write_imm"), ("recv", "read"), ("peer_write", "peer_write_imm"))
_OVER = {
    "uc": frozenset({"send", "send_imm", "write", "write_imm", "recv", "peer_write", "peer_write_imm"}),
    "dci": frozenset({"send", "send_imm", "write", "write_imm", "read"}),
}
"""Of each transport service but RC, the operations in which the end with the mkey can take part."""
_STREAMS = (0, 0, 4, 16)
_AGAIN = (1, 1, 2)


def moved(draw: Draw, step: plan.Transmit | plan.Receive) -> Iterator[plan.Step]:
    """The transfer, by another operation, and what it needs."""
    row, options = draw.row, step.options
    if step.claim or step.known is not None or step.label is not None or row.exact or row.departs:
        yield step
        return
    if options.but or options.dct is not None or options.inline or not row.is_usual(step.qp):
        yield step
        return
    if draw.often(0.5):
        step = _otherwise(draw, step)
    if not row.refuses and not row.lists and draw.often(0.15):
        declared, step = _over_another_service(draw, step)
        for one in declared:
            yield from draw.once(one)
    yield step
    if row.repeats and draw.often(0.2):
        draw.note(f"`{step.by}` is done again")
        for _ in range(draw.one(_AGAIN)):
            yield step


def _otherwise(draw: Draw, step: plan.Transmit | plan.Receive) -> plan.Transmit | plan.Receive:
    alike = next((one for one in _ALIKE if step.by in one), (step.by,))
    by = draw.random.choice(alike)
    if by == step.by:
        return step
    draw.note(f"`{step.by}` is `{by}`")
    imm = draw.random.getrandbits(32) if by.endswith("_imm") else None
    return replace(step, by=by, imm=imm)


def _over_another_service(
    draw: Draw, step: plan.Transmit | plan.Receive
) -> tuple[list[plan.Step], plan.Transmit | plan.Receive]:
    """Over UC, or from a DCI, maybe in one of its streams."""
    key = draw.row.keys.get(step.part.name)
    services = [one for one, has in _OVER.items() if step.by in has and f"qp.{one}" in draw.offers]
    if key is None or key.pd is not None or not services:
        return [], step
    service = draw.random.choice(services)
    draw.note(f"`{step.by}` is over {service.upper()}")
    if service == "uc":
        return [plan.Qp(step.at, "other uc", (("type", "uc"), ("send_ops", 0)))], replace(step, qp="other uc")
    streams = draw.one(_STREAMS) if "qp.dci_streams" in draw.offers else 0
    name = f"other dci of {streams}"
    members = (("type", "dci"), ("send_ops", 0), *((("streams", streams),) if streams else ()))
    options = replace(step.options, dct="other dct", stream=draw.random.randrange(streams) if streams else None)
    declared: list[plan.Step] = [plan.Qp(step.at, name, members), plan.Dct(step.at, "other dct", 0x1357_9BDF)]
    return declared, replace(step, qp=name, options=options)
