"""Another operation of the same direction.

An mkey is used the same way by each operation that takes bytes out of it, or puts bytes into it, by the same right
(mlx5dv_wr_post(3); ibv_reg_mr(3): SEND and WRITE need no right of their source; RECV and READ need
IBV_ACCESS_LOCAL_WRITE of their destination; WRITE and WRITE with immediate data need IBV_ACCESS_REMOTE_WRITE).
"""

from __future__ import annotations

from dataclasses import replace

from mkeyspec import plan
from mkeyspec.vary.row import Draw

_ALIKE = (("send", "send_imm", "write", "write_imm"), ("recv", "read"), ("peer_write", "peer_write_imm"))


def moved(draw: Draw, step: plan.Transmit | plan.Receive) -> plan.Transmit | plan.Receive:
    """The transfer, by another operation."""
    row, options = draw.row, step.options
    if step.claim or step.known is not None or step.label is not None or row.exact or row.departs:
        return step
    if options.but or options.dct is not None or options.inline or not row.is_usual(step.qp) or draw.often(0.5):
        return step
    alike = next((one for one in _ALIKE if step.by in one), (step.by,))
    by = draw.random.choice(alike)
    if by == step.by:
        return step
    draw.note(f"`{step.by}` is `{by}`")
    imm = draw.random.getrandbits(32) if by.endswith("_imm") else None
    return replace(step, by=by, imm=imm)
