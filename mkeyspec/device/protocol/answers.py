"""Results from a device: completions, error records, events, refusals, and information about the device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from mkeyspec.device.protocol.objects import Qp


@dataclass(frozen=True, slots=True)
class Completion:
    """struct ibv_wc. `status` and `opcode` are names of `constants`; of an error only wr_id and status are defined."""

    qp: Qp
    queue: Literal["send", "recv"]
    wr_id: int
    status: str
    opcode: str = ""
    byte_len: int = 0
    imm: int | None = None
    invalidated_rkey: int | None = None
    vendor_error: int = 0


@dataclass(frozen=True, slots=True)
class SignatureError:
    """struct mlx5dv_mkey_err, raw: `type` is constants.MkeyError (never NO_ERR)."""

    type: int
    actual_value: int
    expected_value: int
    offset: int


@dataclass(frozen=True, slots=True)
class DekState:
    """struct mlx5dv_dek_attr, raw: `state` is of enum mlx5dv_dek_state (`constants.DEK_STATE`); 8 opaque bytes."""

    state: int
    opaque: bytes


@dataclass(frozen=True, slots=True)
class AsyncEvent:
    """`kind` is the name of enum ibv_event_type without IBV_EVENT_, lower case, e.g. sq_drained."""

    kind: str
    qp: Qp | None = None


class Refused(Exception):
    """The driver refused a call; `errno` is the positive number it gave."""

    def __init__(self, call: str, errno: int) -> None:
        super().__init__(f"{call}: errno {errno}")
        self.call = call
        self.errno = errno


class Unsupported(Exception):
    """The device lacks what the step requires, and does not offer it (`Capabilities.offers`): a row that needs it is
    skipped before it begins, so that this is never raised in a row. If it is, the device offers too much, and the case
    fails (MKS2013). A test lists each statement that raises it, and its need.
    """


class NoSuchCall(Exception):
    """No call of any device can express this: a number does not fit its C type, or the QP does not have the function.
    It is an error of the case (or of the rig), so the case fails. The compiler refuses what is known before the run.
    """


class Unavailable(Exception):
    """A device can't be opened; `str()` is one line with a code (MKS09xx) and the fix."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"error[{code}]: {message}")
        self.code = code
        self.message = message


class DeviceLost(Exception):
    """A device, or a side of it, went away while it was open: no call of it comes back any more. `str()` is one line
    with a code (MKS20xx)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"error[{code}]: {message}")
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the device offers; the names are those of a case's needs (`signature.crc32c`, `block.4048`, `memcpy`…)."""

    offers: frozenset[str] = frozenset()
    values: dict[str, int] = field(default_factory=dict)
    """Numbers a case may read as `device.NAME`, e.g. max_wr_memcpy_length."""


@dataclass(frozen=True, slots=True)
class Info:
    """Provenance of a run."""

    device: str
    firmware: str = ""
    versions: dict[str, str] = field(default_factory=dict)
