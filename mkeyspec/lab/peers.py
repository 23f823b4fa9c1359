"""What `--peer` of a pair is: how the owner's host starts the peer's process, and on which device."""

from __future__ import annotations

from mkeyspec.lab.file import Unit


def peer_words(unit: Unit) -> list[str]:
    """The option of `mkeyspec run` and `mkeyspec doctor` on the owner's host; empty for a device alone."""
    if unit.peer is None:
        return []
    parts = [*unit.way, unit.peer.text]
    if unit.peer.gid_index is not None:
        parts.append(f"gid-index={unit.peer.gid_index}")
    return [f"--peer={'//'.join(parts)}"]
