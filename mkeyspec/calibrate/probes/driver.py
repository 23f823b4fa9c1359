"""Points of what a driver refuses, and where."""

from __future__ import annotations

from collections.abc import Callable

from mkeyspec.abi.constants import Access
from mkeyspec.calibrate.bench import (
    CONFIGURES,
    OK,
    Bench,
    Strange,
    Unknown,
    errno_name,
    layout,
    turns,
)
from mkeyspec.calibrate.point import Point, Side
from mkeyspec.device.protocol import Configure, Dek, DekAttr, QpAttributes, Refused, SetAccess
from mkeyspec.reference.key_wrap import wrap

NOBODY = 1 << 30
"""An access flag that no page knows."""


def dci(ops: int) -> Callable[[Bench], str]:
    """Whether a DCI is made with mkey builders; without them it must be."""

    def look(bench: Bench) -> str:
        outcomes = []
        for wanted in (0, ops):
            try:
                bench.device.qp_pair(QpAttributes(type="dci", send_ops=wanted, private=True))
                outcomes.append(OK)
            except Refused as refused:
                outcomes.append(errno_name(refused.errno))
        bench.must(outcomes[0], "a DCI without mkey builders")
        return "made" if outcomes[1] == OK else "refused"

    return look


def access(beside: int) -> Callable[[Bench], int]:
    """The access flags that the setter takes, each tried for itself."""

    def look(bench: Bench) -> int:
        taken = 0
        for flag in Access:
            outcomes = set()
            for _ in range(2):  # with what is taken between them, so that the flag is what is refused
                bench.again()
                bench.must(bench.configure(bench.mkey(), SetAccess(beside)), "a configuration with few rights")
                outcomes.add(bench.configure(bench.mkey(), SetAccess(int(flag) | beside)))
            outcome = outcomes.pop()
            lacked = flag == Access.REMOTE_ATOMIC and "atomic" not in bench.offers  # the setter takes it all the same
            if outcomes or (outcome != OK and outcome[0] != "E" and not lacked):
                raise Strange(f"{flag!r} ends with {', '.join([outcome, *outcomes])}")
            if outcome[0] != "E":
                taken |= int(flag)
        if bench.configure(bench.mkey(), SetAccess(NOBODY | beside)) == OK:
            raise Strange(f"the access flag {NOBODY:#x} is taken, which nobody knows")
        return taken

    return look


def fewer_setters(*, followed: bool) -> Callable[[Bench], str]:
    """A configuration that announces two setters and has one, as the last of a section or before another."""

    def look(bench: Bench) -> str:
        memory, mkey, other = bench.memory(bytes(8)), bench.mkey(), bench.mkey()
        twice = (SetAccess(bench.rights), SetAccess(bench.rights))
        if not bench.device.post(bench.pair.owner, (Configure(bench.id(), CONFIGURES, bench.mkey(), 2, twice),)):
            raise Strange("a section with a setter called twice is not refused")
        few = Configure(bench.id(), CONFIGURES, mkey, 2, (SetAccess(bench.rights),))
        full = Configure(bench.id(), CONFIGURES, other, 2, (SetAccess(bench.rights), layout(memory)))
        if number := bench.device.post(bench.pair.owner, (few, full) if followed else (few,)):
            return "refused" if number else errno_name(number)
        if followed:
            bench.must(bench.completion(bench.pair.owner, full.wr_id).status, "the configuration behind it")
        late = bench.await_one(bench.pair.owner, few.wr_id, bench.quiet)
        return "dropped" if late is None else f"carried out, with {late.status}"

    return look


def full_interleaved(entries: int) -> Callable[[Bench], str]:
    """An interleaved layout that leaves no entry of the mkey for its header; one entry fewer must be taken."""

    def look(bench: Bench) -> str:
        memory, mkey = bench.memory(bytes(64)), bench.mkey(entries=entries)
        room = mkey.max_entries
        if room < 2:
            raise Unknown("an mkey has too few entries")
        outcomes = [bench.configure(mkey, turns(1, *[(memory, 8, 0)] * count)) for count in (room - 1, room)]
        bench.must(outcomes[0], "an interleaved layout")
        if outcomes[1] == OK:
            return "taken"
        return "refused when the section is completed" if outcomes[1][0] == "E" else "ends with an error"

    return look


def after_failure(*, aborted: bool) -> Callable[[Bench], str]:
    """A key that was configured, and then in a section that failed or was aborted: whether it still works."""

    def look(bench: Bench) -> str:
        memory = bench.memory(b"payload.")
        mkey = bench.over(memory)
        before = bench.transmit(mkey.lkey, 8)
        if (before.status, before.data) != (OK, b"payload."):
            raise Strange(f"a message through a plain key ends with {before.status}")
        setters = (SetAccess(bench.rights),) if aborted else (SetAccess(bench.rights), SetAccess(NOBODY))
        request = Configure(bench.id(), CONFIGURES, mkey, len(setters), setters)
        number = bench.device.post(bench.pair.owner, (request,), abort=aborted)
        if not aborted and not number:
            raise Unknown(f"the access flag {NOBODY:#x} is taken, so that no section fails")
        after = bench.transmit(mkey.lkey, 8)
        if after.status != OK:
            return "refused"
        return "works" if after.data == b"payload." else f"gives {after.data.hex()}"

    return look


def imports_told(bench: Bench) -> str:
    plain = "crypto.plaintext" in bench.offers
    wrapped = bool({"crypto.wrapped", "crypto.login"} & bench.offers)
    return {(True, True): "either", (True, False): "plaintext", (False, True): "wrapped"}.get((plain, wrapped), "none")


def imports_tried(bench: Bench) -> str:
    """Which forms of a key a DEK is made of: in plaintext without a login, wrapped with one."""
    key = bytes(range(16)) + bytes(range(32, 48))
    plain = _made(lambda: bench.device.dek(key))
    wrapped = False
    if "crypto.login" in bench.offers:
        bench.login()
        inside = wrap(key, bench.device.lab_login().import_kek)
        wrapped = _made(lambda: bench.device.dek(inside, None, DekAttr(key_size=0, comp_mask=0, wrapped=True)))
    return {(True, True): "either", (True, False): "plaintext", (False, True): "wrapped"}.get((plain, wrapped), "none")


def _made(create: Callable[[], Dek]) -> bool:
    try:
        create()
    except Refused:
        return False
    return True


_FEWER = {"refused": "rejected", "dropped": "dropped"}
_FORMS = {form: form for form in ("either", "plaintext", "wrapped")}
POINTS = (
    Point(
        "access_supported",
        (Side("each flag alone", access(0)), Side("each flag with LOCAL_WRITE", access(int(Access.LOCAL_WRITE)))),
    ),
    Point(
        "few_setters",
        (
            Side("as the last of a section", fewer_setters(followed=False), _FEWER),
            Side("before another configuration", fewer_setters(followed=True), _FEWER),
        ),
    ),
    Point(
        "strided_entry",
        tuple(
            Side(
                f"an mkey for {entries} entries", full_interleaved(entries),
                {"refused when the section is completed": "complete", "ends with an error": "completion"},
            )
            for entries in (4, 8)
        ),
    ),
    Point(
        "failed_configuration",
        tuple(
            Side(
                f"after a section that {'was aborted' if aborted else 'failed'}", after_failure(aborted=aborted),
                {"refused": "unknown", "works": "kept"},
            )
            for aborted in (False, True)
        ),
    ),
    Point(
        "dci_mkey_operations",
        tuple(
            Side(f"a DCI with {name}", dci(ops), {"made": True, "refused": False}, ("qp.dci",))
            for name, ops in (("mkey_configure", 4), ("mr_list", 2), ("all of them", 7))
        ),
    ),
    Point(
        "import_method",
        (
            Side("what the device tells", imports_told, _FORMS, ("crypto",), told=True),
            Side("DEKs of both forms", imports_tried, _FORMS, ("crypto",)),
        ),
    ),
)  # fmt: skip
