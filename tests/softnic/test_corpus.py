"""The fuzz targets over the corpus, with a few mutations of each file, under this compiler's sanitizers.

`make -C softnic fuzz` runs libFuzzer for as long as one likes.
"""

from __future__ import annotations

import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

import pytest

from tests.softnic import pure
from tests.softnic.dump import dumps

CORPUS = Path(__file__).parent / "corpus"


@lru_cache(maxsize=1)
def sanitized() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        return (
            subprocess.run(
                [pure.need_compiler(), "-fsanitize=address,undefined", "-xc", "-", "-o", f"{folder}/probe"],
                input="int main(void) { return 0; }", text=True, capture_output=True, check=False,
            ).returncode == 0
        )  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    if not sanitized():
        pytest.skip("the C compiler has no AddressSanitizer: Debian `apt install libgcc-12-dev` or gcc itself")
    pure.make("replay")


@pytest.mark.parametrize(
    ("target", "rounds"), [("wqe", 500), ("umr", 500), ("bsf", 500), ("wire", 30), ("modify", 100)]
)
def test_corpus(target: str, rounds: int) -> None:
    files = sorted(str(path) for path in (CORPUS / target).iterdir())
    assert len(files) >= 10
    replay = pure.SOFTNIC / "build" / "replay" / target
    done = subprocess.run(
        [str(replay), "-m", str(rounds), *files], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == f"{len(files)} inputs, {rounds} mutations of each\n"


def test_the_dumps_are_in_the_corpus() -> None:
    known = {path.read_bytes() for path in (CORPUS / "wqe").iterdir()}
    assert all(dump.bytes in known for dump in dumps() if dump.what != pure.CQE)
