"""JUnit reports of two devices side by side: `python verdicts.py MODEL SOFT [SOFT…]`; or counted: `verdicts.py --count
FILE…`.

A row must come out alike on both. A known departure of a driver, listed in expectations/, may stand for a pass. What a
NIC lacks that the model has is taken from the next report: no NIC takes plaintext keys and wrapped ones.
"""

import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree


def verdict(case: ElementTree.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    if skipped is None:
        return "passed"
    known = skipped.get("type") == "pytest.xfail" or (skipped.get("message") or "").startswith("known: ")
    return "known" if known else "skipped"


def read(name: str) -> dict[str, str]:
    cases = ElementTree.parse(name).getroot().iter("testcase")
    return {f"{case.get('file') or case.get('classname')}::{case.get('name')}": verdict(case) for case in cases}


def count(names: list[str]) -> int:
    total = Counter[str]()
    for name in names:
        if Path(name).exists():
            total.update(read(name).values())
    print(total["passed"] + total["known"], total["failed"])
    return 0


def compare(first: str, second: str, *more: str) -> int:
    one, other = read(first), read(second)
    for name in more:
        lacking = [row for row, found in other.items() if found == "skipped" and one.get(row) != "skipped"]
        other |= {row: found for row, found in read(name).items() if row in lacking}
    pairs = {name: (one.get(name, "absent"), other.get(name, "absent")) for name in sorted({*one, *other})}
    for (left, right), number in sorted(Counter(pairs.values()).items()):
        print(f"{number:6} {left} on the one, {right} on the other")
    wrong = [name for name, pair in pairs.items() if pair[0] != pair[1] and pair != ("passed", "known")]
    for name in wrong[:50]:
        print(f"differs: {name}: {' / '.join(pairs[name])}")
    failed = [name for name, pair in pairs.items() if "failed" in pair]
    return 1 if wrong or failed or not pairs else 0


if __name__ == "__main__":
    sys.exit(count(sys.argv[2:]) if sys.argv[1] == "--count" else compare(*sys.argv[1:]))
