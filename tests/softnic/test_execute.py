"""The engine on WQEs that nobody would post, under AddressSanitizer and UBSan: it ends, and within its memory.

`make -C softnic fuzz-execute SEED=7 ROUNDS=1000000` goes on for as long as one likes.
"""

from __future__ import annotations

import subprocess

import pytest

from tests.softnic import pure
from tests.softnic.test_corpus import sanitized

ROUNDS = 5000


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_mangled_work_requests(seed: int) -> None:
    if not sanitized():
        pytest.skip("the C compiler has no AddressSanitizer: Debian `apt install libgcc-12-dev` or gcc itself")
    pure.make("execute")
    program = pure.SOFTNIC / "build" / "execute"
    done = subprocess.run([str(program), str(seed), str(ROUNDS)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == f"{ROUNDS} rounds\n"
