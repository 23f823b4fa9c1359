"""`mkeyspec doctor --deep`: what the cases take for granted of a device, tried on it by a few of their rows.

Each is something that no call tells. Where one doesn't hold, many rows fail for this one reason: here it is one line.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mkeyspec.cli.session import Failure
from mkeyspec.report import reader
from mkeyspec.report.record import WRONG, Result

_MATRIX = "signature/matrix.mks::transmit_everything[kind=0,size=0,count=2,place=mem,walk="


@dataclass(frozen=True, slots=True)
class Assumption:
    """`rows`: ids below cases/ of the rows that try it, each a row or a whole case; `otherwise`: what it means if they
    fail."""

    name: str
    what: str
    otherwise: str
    rows: tuple[str, ...]


ASSUMPTIONS = (
    Assumption(
        "loopback",
        "two QPs of the port reach each other, and their data is what was sent",
        "no row can be judged: look at the port, --gid-index and --path-mtu",
        (
            "transport/operations.mks::immediate_data[imm=0x12345678]",
            "transport/operations.mks::lengths_of_reads[n=4097]",
        ),
    ),
    Assumption(
        "passive_data",
        "what the peer writes to an mkey is there after a message behind it",
        "each receive by peer_write fails: bytes are looked at too early, or relaxed ordering is forced on",
        ("layout/list.mks", "layout/cuts.mks::around_page_boundaries[first=4097,second=4095,off=63,op=peer_write]"),
    ),
    Assumption(
        "arithmetic",
        "CRCs and guards are the published ones",
        "each row with this signature fails; calibrate names the one that differs",
        ("signature/crc.mks::published_values", "signature/t10dif.mks::published_guards"),
    ),
    Assumption(
        "wire_lengths",
        "lengths and offsets of a key with a signature count bytes of the wire (X-OPEN-01)",
        "nearly all rows with a signature fail for this one reason",
        ("examples/signature.mks::example_1_validate_and_strip",),
    ),
    Assumption(
        "odd_entries",
        "an entry below a signature may have an odd length, in a list and in a strided layout",
        "rows of layout/cuts.mks and the few of signature/matrix.mks whose frames begin with 7 bytes fail for this",
        (f"{_MATRIX}list]", f"{_MATRIX}interleaved]"),
    ),
    Assumption(
        "passive_errors",
        "a signature error of the passive side comes to its own CQ before the deadline (HW-04)",
        "each row with a bad block and peer_read or peer_write fails",
        ("signature/errors.mks::an_error_of_a_remote_access",),
    ),
    Assumption(
        "armed_again",
        "a configuration arms an mkey for the next error",
        "a second error is not told: each row that checks a key twice fails",
        ("signature/errors.mks::armed_again_by_the_next_configuration",),
    ),
    Assumption(
        "tags_begin_anew",
        "reference tags begin again with a signature setter",
        "each row with ref_remap and two messages fails",
        ("signature/messages.mks::tags_begin_anew_with_a_configuration",),
    ),
    Assumption(
        "pipelining",
        "a signature error stops the send queue in SQD, and the event comes before the deadline",
        "each row of signature/pipelining.mks and signature/stopped.mks fails",
        ("signature/pipelining.mks::a_bad_block_stops_the_queue",),
    ),
    Assumption(
        "lost_peers",
        "a request without an answer is given up before the deadline",
        "such rows time out: give a longer --deadline",
        ("posting/dc.mks::an_address_of_nobody[op=write,number=other_key,ahead=0,behind=1]",),
    ),
    Assumption(
        "streams",
        "an error of a DCI stream leaves the other streams as they are",
        "rows with streams fail",
        ("posting/dc.mks::an_error_breaks_its_stream_alone",),
    ),
    Assumption(
        "failed_copies",
        "a memcpy beyond its keys fails and stays within them",
        "the largest length can't be tried",
        ("posting/memcpy.mks::memcpy_of_the_largest_length[lead=0,behind=0]",),
    ),
)


@dataclass(slots=True)
class Tried:
    """What came of one: `verdict` is ok, fails or untried; `reason`: the needs that the device lacks, or the codes."""

    assumption: Assumption
    verdict: str = "untried"
    reason: str = ""
    failing: list[str] = field(default_factory=list)


def check(device: str, extra: Sequence[str] = ()) -> list[Tried]:
    """Run the rows on `device`, in a process of its own; `extra`: options of `run`. Failure (MKS0905) if that leaves no
    results."""
    with tempfile.TemporaryDirectory(prefix="mkeyspec-deep-") as folder:
        stream = Path(folder) / "results.ndjson"
        ids = dict.fromkeys(f"pkg:mkeyspec/{row}" for one in ASSUMPTIONS for row in one.rows)
        command = [sys.executable, "-m", "mkeyspec", "run", *ids, "--device", device, *extra]
        command += ["--results", str(stream), "--junit", str(Path(folder) / "junit.xml"), "-q", "-q"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        try:
            results = reader.read(stream).results
        except reader.Unusable:
            last = (done.stderr or done.stdout).strip().splitlines()
            raise Failure(
                "MKS0905", f"--deep: the rows left no results: {last[-1] if last else done.returncode}"
            ) from None
    return [_tried(one, results) for one in ASSUMPTIONS]


def _tried(assumption: Assumption, results: Mapping[str, Result]) -> Tried:
    tried = Tried(assumption)
    ours = [
        one
        for id, one in results.items()
        if any(id == (whole := f"cases/{row}") or id.startswith((f"{whole}[", f"{whole}::")) for row in assumption.rows)
    ]
    judged = [one for one in ours if one.verdict != "skipped"]
    wrong = [one for one in judged if one.verdict in WRONG]
    if wrong:
        tried.verdict, tried.failing = "fails", [one.id for one in wrong]
        tried.reason = ", ".join(dict.fromkeys(one.code or one.verdict for one in wrong))
    elif judged:
        tried.verdict, tried.reason = "ok", f"{len(judged)} row{'s' if len(judged) != 1 else ''}"
    else:
        tried.reason = next((one.message for one in ours), "the rows were not run")
    return tried


def text(device: str, tried: Sequence[Tried]) -> str:
    """A line for each; of one that fails also what it means, and a row."""
    width = max(len(one.assumption.name) for one in tried)
    lines = [f"what the cases take for granted, tried on {device}:"]
    for one in tried:
        lines.append(f"  {one.verdict:9}{one.assumption.name:{width}}  {one.assumption.what} ({one.reason})")
        if one.failing:
            row = f"pkg:mkeyspec/{one.failing[0].removeprefix('cases/')}"
            lines += [f"{'':{width + 13}}otherwise: {one.assumption.otherwise}"]
            lines += [f"{'':{width + 13}}see: mkeyspec run '{row}' --device {device}"]
    return "\n".join(lines) + "\n"


def data(tried: Sequence[Tried]) -> list[dict[str, object]]:
    """For `--format json`."""
    return [
        {"name": one.assumption.name, "what": one.assumption.what, "otherwise": one.assumption.otherwise,
         "verdict": one.verdict, "reason": one.reason, "failing": one.failing}
        for one in tried
    ]  # fmt: skip
