"""What the HTML report takes: to write it, to keep it, and to show it in Chromium.

    python benchmarks/report_page.py [--items N ...]

The runs are made up: cases of 50 rows with four values each; every twentieth row fails with a text of 2 KB. Writing is
reading the stream and making the page, in processor time. Showing is the time from the start of the page to the end of
its script, as the page measures it; without a Chromium it is left out.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from mkeyspec.report.html import html_of
from mkeyspec.report.reader import read
from mkeyspec.report.record import Begin, Case, DeviceInfo, End, Items, Result, Suite
from mkeyspec.report.writer import Writer

ROWS, WRONG = 50, 20
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome", "chrome")


def make(path: Path, count: int) -> None:
    writer = Writer(path)
    writer.write(Begin(1, "20261122-174501-model-1f3a", "2026-11-22T17:45:01Z", "0.1.0", device="model"), Items(count))
    writer.write(DeviceInfo("mlx5_0 (ConnectX-7)", "28.43.1014", "0000:08:00.0", {"rdma-core": "44.0"}))
    dump = "              16  expected  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00\n" * 25
    for item in range(count):
        number = item // ROWS
        file = f"cases/folder{number // 20}/file{number // 4}.mks"
        case = f"{file}::a_case_with_a_name_{number}"
        if item % ROWS == 0:
            writer.write(Suite(file, "a suite"), Case(case, 3, "a title of the case", ["CRC-02", "SIG-07"], ["crypto"]))
        id = f"{case}[crc=crc32c,block=512,op=peer_read,n={item % ROWS}]"
        if item % WRONG:
            writer.write(Result(id, "passed", 0.0023))
        else:
            message = f"{item} of 64 bytes on the wire differ"
            writer.write(Result(id, "failed", 0.003, code="MKS2101", message=message, line=20, column=5, text=dump))
    writer.write(End(12.5, 1))
    writer.close()


def shown(page: Path, profile: Path) -> str:
    """Milliseconds."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return "no Chromium"
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--dump-dom"]
    done = subprocess.run([browser, *options, f"file://{page}"], capture_output=True, text=True, check=True)
    found = re.search(r'data-ready="(\d+)"', done.stdout)
    return "not shown" if found is None else f"{found[1]} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description="Writing and showing the HTML report.")
    parser.add_argument("--items", type=int, nargs="+", default=[10_000, 50_000], help="sizes (default: 10000 50000)")
    arguments = parser.parse_args()
    print(f"{'items':>6}{'written':>10}{'size':>10}   shown after")
    for count in arguments.items:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make(folder / "results.ndjson", count)
            began = time.process_time()
            document = html_of([read(folder / "results.ndjson")])
            seconds = time.process_time() - began
            (folder / "page.html").write_bytes(document)
            ready = shown(folder / "page.html", folder / "profile")
            print(f"{count:>6}{seconds:>8.2f} s{len(document) / 1e6:>7.1f} MB   {ready}")


if __name__ == "__main__":
    main()
