"""Every file that is here, compiled before and after it is formatted: the modules are the same but for places.

    python -m tests.formatter.plans [SEED]

Of each file its text as it is, and mangled: with other blanks. This takes minutes of processor time; the tests compare
the trees of all files, and the modules of some.
"""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

from mkeyspec.compiler.compile import compile_file
from mkeyspec.emit.header import Header
from mkeyspec.emit.writer import write as emit
from mkeyspec.formatter.format import formatted
from tests.formatter.test_formatter import ROOT, mangled, parsed


def modules(path: Path, text: str) -> str:
    """What compiling `text` in place of `path` gives, without places: its module, else the codes of its errors."""
    compiled = compile_file(path, root=ROOT, instead=text.encode())
    if compiled.suite is None:
        return " ".join(sorted(one.code for one in compiled.diagnostics))
    module = emit(compiled.suite, Header(path.name, (), "", "", ""))
    module = re.sub(r"sha256 [0-9a-f]+|(?<=[Aa]t\()\d+, \d+|\s", "", module)  # a place may break a line of the module
    return re.sub(r",(?=[)\]}])", "", module)


def main(seed: int) -> int:
    chance = random.Random(seed)
    wrong = changed = 0
    files = parsed()
    for path in files:
        text = path.read_text("utf-8")
        for one in (text, mangled(text, chance)):
            after = formatted(one)
            if after == one:
                continue
            changed += 1
            if modules(path, after) != modules(path, one):
                wrong += 1
                print(f"{path.relative_to(ROOT)} is another after it is formatted")
    print(
        f"seed {seed}: {len(files)} files, {changed} texts that formatting changed, {wrong} compiled to something else"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(1 << 32)))
