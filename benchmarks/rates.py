"""How fast data goes through the software NIC, beside what bounds it: soft.py prints it, alone with `--rates`.

    machine    memcpy from one buffer to another, and fastcrc's CRC32C of one buffer, each in a single call
    one, two   writes to another QP of the process, and of another process: plain, and through wire signatures
    ping       a receive, a send of 64 bytes and both completions; doorbells trapped, and polled

Bytes a second of data (fields not counted). Of each figure the best of sixty short rounds, and of all turns, counts.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from statistics import median
from typing import Any

Rates = dict[str, dict[str, float]]
PLAIN_AIM, CRC_AIM, TWO_AIM = 0.5, 0.6, 0.3


def best(turns: list[Rates]) -> Rates:
    """The greatest of each figure."""
    return {kind: {length: max(turn[kind][length] for turn in turns) for length in turns[0][kind]} for kind in turns[0]}


def measured(driven: Callable[..., Any], environment: Callable[..., dict[str, str]], turns: int) -> dict[str, Rates]:
    """`driven(name, argument, variables)` runs driver.py; the contenders take turns."""
    seen: dict[str, list[Rates]] = {"machine": [], "one": [], "two": []}
    for _ in range(turns):
        seen["machine"].append(driven("machine", "", environment()))
        seen["one"].append(driven("bandwidth", "", environment("connectx7")))
        fabric = environment("connectx7") | {"MKEYSPEC_SOFTNIC_FABRIC": uuid.uuid4().hex}
        seen["two"].append(driven("bandwidth_of_two", "", fabric))
    return {name: best(several) for name, several in seen.items()}


def report(rates: dict[str, Rates], pings: dict[str, list[Any]], judged: Callable[..., str]) -> None:
    lengths = list(rates["machine"]["memcpy"])
    print(f"{'GB/s of data':<28}" + "".join(f"{length:>9}" for length in lengths))
    for name, title in (("machine", ""), ("one", "one process, "), ("two", "two processes, ")):
        for kind, figures in rates[name].items():
            print(f"{title + kind:<28}" + "".join(f"{figures[length] / 1e9:>9.2f}" for length in lengths))
    crc = rates["one"]["crc32c"]["1 MiB"]
    copy, library = rates["machine"]["memcpy"]["1 MiB"], rates["machine"]["fastcrc, CRC32C"]["4 KiB"]
    for what, figure, aim in (
        ("plain, 1 MiB, one process / memcpy", rates["one"]["plain"]["1 MiB"] / copy, PLAIN_AIM),
        (
            "crc32c, 1 MiB in blocks of 4 KiB / the library's call on 4 KiB",
            crc / library,
            CRC_AIM,
        ),
        ("plain, 1 MiB, two processes / memcpy", rates["two"]["plain"]["1 MiB"] / copy, TWO_AIM),
    ):
        print(f"{what:<64}{judged(figure, aim, least=True)}")
    for name, values in sorted(pings.items()):
        wall, processor = (median(column) * 1e6 for column in zip(*values, strict=True))
        print(f"{name:<16}{wall:6.1f} us, {processor:.1f} of processor time")
