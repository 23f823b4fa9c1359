"""How fast the references are, in GB/s of block data, against the library called in a bare loop over the same blocks.

    python benchmarks/reference.py [--seconds S] [--megabytes M]

Two shapes: a buffer of 512-byte blocks, and one block of 1 MiB. The two contenders of a row take turns, so that both
see the same machine, and the best round of each counts; the ratio is theirs. The bare loop is the shortest thing one
would write with the library at hand: a comprehension over slices of the buffer which leaves a list of numbers. Ours
checks its arguments and leaves the stored bytes of all fields in an array. A checksum has no library: its bare loop is
numpy, block by block. Both seeds: a library that does not begin there by itself is given where to begin.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from awscrt.checksums import crc64nvme
from fastcrc import crc16, crc32

from mkeyspec.reference.crc import CRC32, CRC32C, CRC64_XP10, T10, CrcParameters, crc_blocks
from mkeyspec.reference.dif import CSUM, sum_blocks

Run = Callable[[], object]

AIM = 0.9
BLOCK = 512
LONG = 1 << 20


class Kind(NamedTuple):
    name: str
    library: str
    ours: Callable[[bytes, int], object]
    bare: Callable[[bytes, int], object]
    same: Callable[[object, object], bool]


def crc_kind(
    parameters: CrcParameters, ones: bool, name: str, library: str, function: Callable[..., int], start: int | None
) -> Kind:
    """A seed as the library takes it: `start` is the value to continue from, None its own beginning."""
    seed = parameters.mask if ones else 0

    def ours(data: bytes, block: int) -> object:
        return crc_blocks(parameters, data, block, seed)

    def bare(data: bytes, block: int) -> object:
        if start is None:
            return [function(data[at : at + block]) for at in range(0, len(data), block)]
        return [function(data[at : at + block], start) for at in range(0, len(data), block)]

    def same(fields: object, values: object) -> bool:
        assert isinstance(fields, np.ndarray)
        assert isinstance(values, list)
        return bool(fields.tobytes() == b"".join(value.to_bytes(parameters.size, parameters.order) for value in values))

    return Kind(f"{name} {'ones' if ones else 'zeros'}", library, ours, bare, same)


def checksum(block: bytes) -> int:
    total = int(np.frombuffer(block, ">u2").sum(dtype=np.uint64))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def checksum_kind() -> Kind:
    def same(fields: object, values: object) -> bool:
        assert isinstance(fields, np.ndarray)
        assert isinstance(values, list)
        return bool(fields.tobytes() == b"".join(value.to_bytes(2, "big") for value in values))

    return Kind(
        "csum",
        "numpy, block by block",
        lambda data, block: sum_blocks(CSUM, data, block, 0),
        lambda data, block: [checksum(data[at : at + block]) for at in range(0, len(data), block)],
        same,
    )


KINDS = (
    crc_kind(T10, True, "t10", "fastcrc.crc16.t10_dif", crc16.t10_dif, 0xFFFF),
    crc_kind(T10, False, "t10", "fastcrc.crc16.t10_dif", crc16.t10_dif, None),
    checksum_kind(),
    crc_kind(CRC32, True, "crc32", "fastcrc.crc32.bzip2", crc32.bzip2, None),
    crc_kind(CRC32, False, "crc32", "fastcrc.crc32.cksum", crc32.cksum, None),
    crc_kind(CRC32C, True, "crc32c", "fastcrc.crc32.iscsi", crc32.iscsi, None),
    crc_kind(CRC32C, False, "crc32c", "fastcrc.crc32.iscsi", crc32.iscsi, CRC32C.mask),
    crc_kind(CRC64_XP10, True, "crc64_xp10", "awscrt.checksums.crc64nvme", crc64nvme, None),
    crc_kind(CRC64_XP10, False, "crc64_xp10", "awscrt.checksums.crc64nvme", crc64nvme, CRC64_XP10.mask),
)


def best(runs: Sequence[Run], seconds: float) -> list[float]:
    """The shortest time of each run, taking turns until `seconds` a run have gone by, three rounds at least."""
    times = [float("inf")] * len(runs)
    end = time.perf_counter() + seconds * len(runs)
    rounds = 0
    while rounds < 3 or time.perf_counter() < end:
        for number, run in enumerate(runs):
            begun = time.perf_counter()
            run()
            times[number] = min(times[number], time.perf_counter() - begun)
        rounds += 1
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description="GB/s of the references against a bare loop of the library.")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each contender of a row (default: 1)")
    parser.add_argument("--megabytes", type=int, default=8, help="size of the buffer of 512-byte blocks (default: 8)")
    arguments = parser.parse_args()
    many = np.random.default_rng(1).integers(0, 256, arguments.megabytes << 20, np.uint8).tobytes()
    print(f"{'kind':<18}{'blocks':<16}{'GB/s':>7}{'bare':>8}{'ratio':>8}   bare loop")
    missed = 0
    for kind in KINDS:
        for data, block, title in ((many, BLOCK, f"{len(many) // BLOCK} x {BLOCK}"), (many[:LONG], LONG, "1 x 1 MiB")):
            if not kind.same(kind.ours(data, block), kind.bare(data, block)):
                raise SystemExit(f"{kind.name}: the reference and {kind.library} do not agree")
            runs = [partial(kind.ours, data, block), partial(kind.bare, data, block)]
            ours, bare = (len(data) / seconds / 1e9 for seconds in best(runs, arguments.seconds))
            missed += ours / bare < AIM
            print(f"{kind.name:<18}{title:<16}{ours:>7.2f}{bare:>8.2f}{ours / bare:>8.2f}   {kind.library}")
    verdict = f"{missed} rows miss it" if missed else "met"
    print(f"\nratio: ours / bare, of one run; the aim is {AIM} or more: {verdict}")


if __name__ == "__main__":
    main()
