"""Devices that keep less than ours: what comes before the byte at which a message fails is laid down (the packets of a
message go out in order; ledger 3.2), and reference tags begin again with a signature setter alone (X-OPEN-07)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from mkeyspec.device.model.components import PARTS
from mkeyspec.device.model.configuration import Configuration
from mkeyspec.device.model.data_path import M32, TranslatedSge
from mkeyspec.device.model.device import Model
from mkeyspec.device.model.execution import Execution, Outcome
from mkeyspec.device.model.key import Violation
from mkeyspec.device.model.queue import Queue
from mkeyspec.device.model.transfer import LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, Transfer
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Memcpy, Read, Send, Sge, Write
from tests.quality.subject import PROFILE, Bench, Row, rows
from tests.quality.test_open import red

CASES = Path(__file__).parents[2] / "cases"
Places = list[TranslatedSge]
UNITS = (4160, 4096, 4048, 520, 512)
FILES = ("crypto/xts.mks", "layout/limits.mks", "layout/list.mks", "open/transfers.mks", "posting/memcpy.mks",
         "transport/operations.mks")  # fmt: skip
landed: list[int] = []


@dataclass(frozen=True, slots=True)
class LandsTheBeginning(Transfer):
    """Signatures and ciphers aside: of a key that has one nothing is laid down."""

    def send(self, queue: Queue, request: Send) -> tuple[str, int]:
        peer, _ = self._responder(queue, request.dc)
        if peer is not None and peer.receives:
            there, length = peer.receives[0].sges, _total(request.sges)
            fits = self._fits(queue, request.sges, 0) and self._fits(peer, there, LOCAL_WRITE)
            if not fits or length > _total(there):
                self._lay(queue, request.sges, peer, there)
        return Transfer.send(self, queue, request)

    def write(self, queue: Queue, request: Write) -> tuple[str, int]:
        """The other end looks at the whole range when the first packet comes."""
        peer, _ = self._responder(queue, request.dc)
        there = [Sge(request.remote_addr, _total(request.sges), request.rkey)]
        if peer is not None and not self._fits(queue, request.sges, 0) and self._fits(peer, there, REMOTE_WRITE):
            self._lay(queue, request.sges, peer, there, REMOTE_WRITE)
        return Transfer.write(self, queue, request)

    def read(self, queue: Queue, request: Read) -> tuple[str, int]:
        peer, _ = self._responder(queue, request.dc)
        there = [Sge(request.remote_addr, _total(request.sges), request.rkey)]
        if (
            peer is not None
            and not self._fits(queue, request.sges, LOCAL_WRITE)
            and self._fits(peer, there, REMOTE_READ)
        ):
            self._lay(peer, there, queue, request.sges, LOCAL_WRITE, REMOTE_READ)
        return Transfer.read(self, queue, request)

    def memcpy(self, queue: Queue, request: Memcpy) -> tuple[str, int]:
        source = [Sge(request.src_addr, request.length, request.src_lkey)]
        target = [Sge(request.dest_addr, request.length, request.dest_lkey)]
        if not self._fits(queue, source, 0) or not self._fits(queue, target, LOCAL_WRITE):
            self._lay(queue, source, queue, target)
        return Transfer.memcpy(self, queue, request)

    def _lay(
        self,
        near: Queue,
        source: Sequence[Sge],
        far: Queue,
        target: Sequence[Sge],
        right: int = LOCAL_WRITE,
        reads: int = 0,
    ) -> None:
        most = min(_total(source), _total(target))
        whole = min(
            _total(self._beginning(near, source, reads, most)), _total(self._beginning(far, target, right, most))
        )
        taken = self._places(near, self._beginning(near, source, reads, whole), reads)
        given = self._places(far, self._beginning(far, target, right, whole), right)
        if whole and taken and given and not any(place.signature for place in (*taken, *given)):
            landed.append(whole)
            self.movement.absorb(far, given, self.movement.emit(near, taken))

    def _places(self, queue: Queue, sges: Sequence[Sge], right: int) -> Places | None:
        try:
            return [
                self.movement.place(queue, sge.lkey, sge.addr, sge.length & M32, right, right not in (0, REMOTE_READ))
                if hasattr(sge, "lkey")
                else self.movement.local(queue, [sge], right)[0]
                for sge in sges
                if sge.length & M32
            ]
        except Violation:
            return None

    def _fits(self, queue: Queue, sges: Sequence[Sge], right: int) -> bool:
        return self._places(queue, sges, right) is not None

    def _beginning(self, queue: Queue, sges: Sequence[Sge], right: int, most: int) -> list[Sge]:
        """As much of it as can be translated, `most` bytes at most."""
        done: list[Sge] = []
        for sge in sges:
            length = min(sge.length & M32, most)
            low, high = 0, length
            while low < high:
                middle = (low + high + 1) // 2 if low or high < length else length
                if self._fits(queue, [*done, replace(sge, length=middle)], right):
                    low = middle
                else:
                    high = middle - 1
            units = [(length - 1) // unit * unit for unit in UNITS if not low]
            low = max([low, *(n for n in units if self._fits(queue, [*done, replace(sge, length=n)], right))])
            done += [replace(sge, length=low)] if low else []
            most -= low
            if low < length:
                break
        return done


def _total(sges: Sequence[Sge]) -> int:
    return sum(sge.length & M32 for sge in sges)


class TagsGoOn(Execution):
    """With `ref_tag_restart = "configuration"`: one without a signature setter does not count."""

    def _configure(self, queue: Queue, work: Configuration) -> Outcome:
        state = work.mkey.state
        moved = state.moved if state is not None else 0
        outcome = super()._configure(queue, work)
        if state is not None and not work.reset and work.signature is None:
            state.moved = moved
        return outcome


def fails(row: Row) -> bool:
    """Whether a request of the row is claimed to fail once it is carried out."""
    return any("completion" in str(getattr(step, "claim", ())) for step in row.row.steps)


def test_no_row_is_red_on_a_device_that_lays_down_what_comes_before_the_failing_byte() -> None:
    landed.clear()
    sample = [row for row in rows([CASES / file for file in FILES], most=4, seed=1, each=True) if fails(row)]
    assert red(Bench(lambda: Model(PROFILE, replace(PARTS, transfer=LandsTheBeginning))), sample) == []
    assert len(landed) > 3


@pytest.mark.parametrize("file", ["crypto/xts.mks", "configure/survive.mks"])
def test_no_row_is_red_on_a_device_whose_tags_begin_with_a_signature_setter(file: str) -> None:
    profile = Profile(ref_tag_restart="configuration")
    bench = Bench(lambda: Model(profile, replace(PARTS, execution=TagsGoOn)), profile=profile)
    assert red(bench, rows([CASES / file], most=8)) == []
