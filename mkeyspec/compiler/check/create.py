"""Rules of object creation: mlx5dv_create_mkey(3) and the send operations of mlx5dv_create_qp(3)."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag, QpOps
from mkeyspec.compiler.check.context import Look
from mkeyspec.compiler.check.state import MKEY_OPS, overridden

_FLAGS = int(
    MkeyFlag.INDIRECT | MkeyFlag.BLOCK_SIGNATURE | MkeyFlag.CRYPTO | MkeyFlag.UPDATE_TAG | MkeyFlag.REMOTE_INVALIDATE
)

_ALL_OPS = MKEY_OPS | int(QpOps.RAW_WQE | QpOps.MEMCPY)

OPERATIONS = {
    "rc": _ALL_OPS,
    # "The available builders and setters for DCI QP are the same as RC QP", but mr_* stand under "RC QPs" alone
    # (mlx5dv_wr_post(3), X-DIFF-14): what only the first sentence gives is left open, see `_OPEN`.
    "dci": _ALL_OPS,
    "uc": int(QpOps.RAW_WQE),
    "ud": int(QpOps.RAW_WQE),
    "xrc_send": int(QpOps.RAW_WQE),
    "raw_packet": int(QpOps.RAW_WQE),
}
"""The mlx5 send operations of each QP type (WRP-06, WRP-19, WRP-27)."""

_OPEN = {"dci": MKEY_OPS}

DEK_BYTES = (32, 64)
KEYTAG_BYTES = 8

_OPERATION_NAMES = {
    int(QpOps.MR_INTERLEAVED): "mr_interleaved",
    int(QpOps.MR_LIST): "mr_list",
    int(QpOps.MKEY_CONFIGURE): "configure",
    int(QpOps.RAW_WQE): "raw",
    int(QpOps.MEMCPY): "memcpy",
}


def operation_names(operations: int) -> str:
    """`configure, mr_list`; unknown bits as a number."""
    names = [name for flag, name in _OPERATION_NAMES.items() if operations & flag]
    rest = operations & ~_ALL_OPS
    return ", ".join([*names, hex(rest)] if rest else names)


def look_mkey(look: Look, step: plan.Mkey) -> None:
    """create_flags is of the page's bits, and not empty (MKY-03)."""
    flags, forced = overridden(step.but, "create_flags", step.flags)
    if flags is None:
        look.broken(
            "create_flags", "create_flags is read from the device", step, "create_flags", certain=False, forced=forced
        )
    elif flags & ~_FLAGS:
        message = f"create_flags {flags:#x}: {flags & ~_FLAGS:#x} is none of the page's flags"
        look.broken("create_flags", message, step, "create_flags", forced=forced)
    elif flags == 0:
        look.broken("create_flags", "create_flags 0: no kind of mkey is asked for", step, "create_flags", forced=forced)


def look_qp(look: Look, step: plan.Qp) -> None:
    """A QP is created with operations that its type has only (WRP-03); streams are a DCI's."""
    members = dict(step.members)
    kind = members.get("type", "rc")
    if members.get("streams") and kind != "dci":
        look.broken(
            "streams_of_no_dci",
            f"streams are a DCI's (dc_init_attr), and this QP is of type {kind}",
            step,
            "streams",
            help=f"qp {step.name} {{ type dci; streams … }}",
        )
    operations = members.get("send_ops", MKEY_OPS)
    if not isinstance(operations, int) or not isinstance(kind, str):
        return
    excess = operations & ~OPERATIONS.get(kind, _ALL_OPS)
    if excess:
        look.broken(
            "qp_operations",
            f"a {kind} QP has no {operation_names(excess)}",
            step,
            "send_ops",
            help=""
            if "send_ops" in members
            else f"name its operations: `qp {step.name} {{ type {kind}; send_ops [raw] }}`",
        )
    elif operations & _OPEN.get(kind, 0):
        names = operation_names(operations & _OPEN[kind])
        look.broken(
            "qp_operations",
            f"the pages contradict each other about {names} on a {kind} QP",
            step,
            "send_ops",
            certain=False,
        )


def look_dek(look: Look, step: plan.Dek) -> None:
    """mlx5dv_dek_create takes keys of AES-XTS-128 and AES-XTS-256: two AES keys each."""
    if step.key.length not in DEK_BYTES:
        look.broken(
            "dek_size",
            f"a key of AES-XTS has 32 or 64 bytes, and this one {step.key.length}",
            step,
            help="key random(32, seed=1)",
        )
    if step.keytag is not None:
        look_keytag(look, step.keytag.length, step)


def look_keytag(look: Look, length: int, thing: plan.Step | plan.Setter, fallback: object = None) -> None:
    """`char keytag[8]` of mlx5dv_dek_init_attr and of mlx5dv_crypto_attr."""
    if length != KEYTAG_BYTES:
        look.broken(
            "keytag_size",
            f"a keytag has {KEYTAG_BYTES} bytes, and this one {length}",
            thing,
            "keytag",
            fallback=fallback,
            help="keytag fill(1, 8)",
        )
