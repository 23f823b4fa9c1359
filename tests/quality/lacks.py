"""A device that lacks a capability, and is right: no row is red on it.

`python -m tests.quality.lacks`. A clean run of each row notes which capabilities its calls are of. Where one of them
is no need of the row, the row is run again on a device without that capability. There it must pass: it expects either
outcome. If it is red, the row lacks a need. `--all` runs every row on each of these devices, asked or not.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from mkeyspec.abi.constants import ALWAYS_OFFERED, RAW_ATOMICS, RAW_OPCODES, BgType
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import OFFERS, Profile
from mkeyspec.device.protocol import (
    Capabilities,
    CompareSwap,
    Configure,
    Dek,
    DekAttr,
    DekState,
    FetchAdd,
    Mkey,
    Qp,
    RawWqe,
    Refused,
    SetSignature,
    SigT10dif,
    WorkRequest,
)
from tests.quality.subject import ROOT, Bench, Row, rows

UNSUPPORTED = 95
"""EOPNOTSUPP."""
GO_TOGETHER = {
    "block_signature": ("signature.", "block."),
    "crypto": ("crypto.", "dek_query"),
    "raw_wqe": ("raw_wqe.",),
    "qp.dci": ("qp.dci_streams",),
}
"""What no device without the capability has either, by how the names begin."""
NAMES = sorted(OFFERS - ALWAYS_OFFERED)


def devices() -> dict[str, tuple[str, ...]]:
    """What each device lacks, by a name: each capability alone, and with those that go with it."""
    found: dict[str, tuple[str, ...]] = {name: (name,) for name in NAMES}
    for name, beginnings in GO_TOGETHER.items():
        found[f"{name}, whole"] = (name, *(one for one in NAMES if one.startswith(beginnings)))
    return found


class Names(frozenset[str]):
    """Names that note which of them are looked for."""

    asked: set[str]

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)

    def issuperset(self, names: Iterable[Any]) -> bool:
        return not [name for name in names if name not in self]  # notes all of them


class Noted(Profile):
    """The default profile. `without` is not empty, so that the model looks; nothing is lacking."""

    @property
    def offers(self) -> frozenset[str]:
        return self.names

    names: Names


class Nic(Model):
    """The model, which looks for each capability that a call is of."""

    def capabilities(self) -> Capabilities:
        found = super().capabilities()
        if isinstance(found.offers, Names):
            found.offers.asked.clear()  # what this call itself has looked for is of no row
        return Capabilities(frozenset(iter(found.offers)), found.values)

    def _wants(self, name: str, call: str) -> None:
        if name not in self.profile.offers:
            raise Refused(call, UNSUPPORTED)

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        if attr is not None:
            self._wants("dek_query", "mlx5dv_dek_create")
        return super().dek(key, keytag, attr)

    def query_dek(self, dek: Dek) -> DekState:
        self._wants("dek_query", "mlx5dv_dek_query")
        return super().query_dek(dek)

    def destroy_dek(self, dek: Dek) -> None:
        self._wants("dek_query", "mlx5dv_dek_destroy")
        super().destroy_dek(dek)

    def retag(self, mkey: Mkey, tag: int) -> Mkey:
        self._wants("update_tag", "retag")
        return super().retag(mkey, tag)

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        wanted = [name for request in requests for name in _of(request)]
        if [name for name in wanted if name not in self.profile.offers]:
            return UNSUPPORTED
        return super().post(qp, requests, abort=abort)


def _of(request: WorkRequest) -> Iterator[str]:
    """The capabilities that a request is of, and that the model itself does not look for there."""
    match request:
        case FetchAdd() | CompareSwap():
            yield "atomic"
        case RawWqe():
            if request.wqe[3] in RAW_ATOMICS:
                yield "atomic"
            if request.wqe[3] in RAW_OPCODES and f"raw_wqe.{RAW_OPCODES[request.wqe[3]]}" in OFFERS:
                yield f"raw_wqe.{RAW_OPCODES[request.wqe[3]]}"
        case Configure():
            for setter in request.setters:
                if isinstance(setter, SetSignature):
                    domains = [one for one in (setter.attr.mem, setter.attr.wire) if one is not None]
                    if any(isinstance(one.sig, SigT10dif) and one.sig.bg_type == BgType.CSUM for one in domains):
                        yield "signature.csum"


def bench(lacks: Iterable[str]) -> Bench:
    profile = Profile(without=tuple(lacks))
    return Bench(lambda: Nic(profile), profile=profile)


def asked(row: Row) -> set[str]:
    """The capabilities that the calls of a row are of, as a run shows that finds all of them."""
    names = Names(OFFERS)
    names.asked = set()
    profile = Noted(without=("qp.uc",))
    object.__setattr__(profile, "names", names)
    Bench(lambda: Nic(profile), profile=profile).run(row)
    return names.asked & set(NAMES)


@dataclass(frozen=True, slots=True)
class Red:
    """A row that fails on a device without a capability."""

    row: str
    lacks: str
    text: str

    def __str__(self) -> str:
        return f"{self.row} is red without {self.lacks}: {self.text}"


def red(row: Row, chosen: Iterable[str] | None = None) -> list[Red]:
    """On which devices the row is red. `chosen`: names of `devices`; None: where its calls ask for what it lacks."""
    lacks = devices()
    if chosen is None:
        open_ = asked(row) - {str(need) for need in row.row.needs}
        chosen = [name for name, names in lacks.items() if open_ & {*names}]
    outcomes = [(name, bench(lacks[name]).run(row)) for name in chosen]
    return [Red(row.id, name, one.text) for name, one in outcomes if one.status not in ("pass", "known", "skip")]


# Many rows -----------------------------------------------------------------------------------


def _some(items: Sequence[Row], whole: bool) -> list[Red]:
    return [one for row in items for one in red(row, devices() if whole else None)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.quality.lacks", description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, help="at most so many rows of each case, drawn")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (default 1)")
    parser.add_argument("--case", default="*", help="only rows whose id has this in it, or matches it")
    parser.add_argument("--all", action="store_true", help="each row on each device, whatever its calls ask for")
    parser.add_argument("-n", type=int, default=1, dest="workers", help="processes")
    parser.add_argument("paths", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    items = rows(options.paths or [ROOT / "cases"], options.case, options.rows, options.seed)
    left = iter(items)
    lots = list(iter(lambda: list(islice(left, 100)), []))
    with multiprocessing.get_context("fork").Pool(options.workers) as pool:
        found = [one for lot in pool.starmap(_some, [(lot, options.all) for lot in lots], 1) for one in lot]
    print(*found[:40], sep="\n")
    print(f"lacks: {len(items)} rows on {len(devices())} devices, {len(found)} red")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
