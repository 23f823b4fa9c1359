"""How many bits the numbers have that end in a member of a struct or an argument of a call, by its name.

What does not fit would reach a driver cut off: another number than the one that the case states.
"""

from __future__ import annotations

from typing import TypeVar

from mkeyspec.lang.coercion import fault
from mkeyspec.lang.tree import Span

BITS = {
    "id": 64, "imm": 32, "add": 64, "tag": 8, "to": 8,  # ibv_wr_post(3)
    "stream": 16, "key": 64, "dctn": 32, "dc_key": 64,  # mlx5dv_wr_post(3)
    "addr": 64, "length": 32, "lkey": 32, "rkey": 32,  # struct ibv_sge, ibv_wr_rdma_write(3)
    "access": 32, "access_flags": 32, "repeat": 32, "repeat_count": 32, "count": 32, "skip": 32, "num_setters": 8,
    "conf_flags": 32,  # mlx5dv_wr_mkey_configure(3)
    "entries": 16, "create_flags": 32,  # mlx5dv_create_mkey(3)
    "flags": 32, "sig_type": 32, "block_size": 32, "type": 32, "bg_type": 32, "bg": 16, "app_tag": 16, "ref_tag": 32,
    "data_unit": 32,  # mlx5dv_wr_set_mkey_sig_block(3), mlx5dv_wr_set_mkey_crypto(3)
    "tweak": 128,
}  # fmt: skip

Kind = TypeVar("Kind")


def fitting(value: Kind, name: str, span: Span) -> Kind:
    """`value`, unless it is a number that does not fit into `name` (`Fault` MKS0317); live ones are the rig's."""
    bits = BITS.get(name, 64)
    if isinstance(value, int) and not 0 <= value < 1 << bits:
        shown = f"{value:#x}" if value > 0 else str(value)
        raise fault("MKS0317", f"`{name}` has {bits} bits, and {shown} does not fit", span)
    return value
