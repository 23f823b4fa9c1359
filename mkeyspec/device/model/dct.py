"""Dynamically connected transport: targets identified by number and key, and the streams of an initiator.

mlx5dv_wr_set_dc_addr(3), mlx5dv_dci_stream_id_reset(3). All targets of a case receive into one queue, as DCTs of one
SRQ do. A target stays usable after it refuses a message; the initiator's stream fails.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mkeyspec.device.model.queue import Queue
from mkeyspec.device.protocol import DcAddress

M64 = 0xFFFFFFFFFFFFFFFF
DCI = "dci"


@dataclass(slots=True)
class Targets:
    """DCTs of the peer: number to key."""

    keys: dict[int, int] = field(default_factory=dict)

    def answers(self, dc: DcAddress | None) -> bool:
        """Whether there is such a target with such a key; a wrong key is treated like a missing target (WRP-31)."""
        return dc is not None and self.keys.get(dc.dct) == dc.key & M64


def stream_of(dc: DcAddress | None) -> int:
    """Calls without a stream are those of stream 0 (WRP-35)."""
    return 0 if dc is None or dc.stream is None else dc.stream


def fail(queue: Queue, stream: int) -> None:
    """A work request of this end failed: only its stream fails, until no stream is left; without streams, the QP
    fails."""
    if queue.attributes.streams and queue.attributes.type == DCI:
        queue.broken.add(stream)
        if len(queue.broken) < queue.attributes.streams:
            return
    queue.fail()
