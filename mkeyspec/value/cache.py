"""A bounded store of computed bytes: the least recently used go first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock


class ByteCache:
    """Bytes by value of what they were computed from; holds at most `limit` bytes, an overhead per entry included."""

    ENTRY = 512
    """The assumed cost of an entry besides its bytes: the key, the node in the table."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self._entries: OrderedDict[Hashable, bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, compute: Callable[[], bytes]) -> bytes:
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
                return found
        data = compute()
        cost = len(data) + self.ENTRY
        if cost > self.limit:
            return data
        with self._lock:
            if key not in self._entries:
                self._entries[key] = data
                self.held += cost
                while self.held > self.limit:
                    _, dropped = self._entries.popitem(last=False)
                    self.held -= len(dropped) + self.ENTRY
        return data

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self.held = 0


DATA = ByteCache(64 << 20)
"""The bytes of the byte strings of this process."""
