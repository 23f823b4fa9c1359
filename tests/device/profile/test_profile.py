"""Profiles: defaults, TOML, refusals of one line; every point that is given moves something; error records."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

from mkeyspec.device.profile.error_record import record
from mkeyspec.device.profile.evidence import Measured
from mkeyspec.device.profile.profile import Profile, ProfileError, load, load_measured, parse
from mkeyspec.device.protocol import Configure, Info, Send, SetAccess, Sge, SigBlockDomain, SignatureError, Write
from tests.device.model.fixtures import CONFIGURES, SIGNALED, Bench, crc, layout, signature, t10

A5 = b"\xa5" * 512
ONE = b"\x01" * 512


def test_tables_and_dots_name_the_same_members() -> None:
    text = """
    name = "cx5"
    without = ["signature.crc32c", "signature.crc64_xp10"]
    err.actual = "computed"
    [err.value_order]
    crc32c = "value"
    [status]
    local = "loc_access_err"
    [errno]
    access_bits = "EOPNOTSUPP"
    """
    assert parse(text) == Profile(
        name="cx5",
        without=("signature.crc32c", "signature.crc64_xp10"),
        err_actual="computed",
        err_value_order_crc32c="value",
        status_local="loc_access_err",
        errno=(("access_bits", "EOPNOTSUPP"),),
    )
    assert parse("") == Profile()


BAD = [
    ("err.ofset = 'block-start'", r"no member `err_ofset`; did you mean `err_offset`\?"),
    ("crc64.order = 'big'", "no member `crc64_order`"),
    ("zzz = 1", "no member `zzz`$"),
    ("err.offset = 'middle'", 'takes one of block-last-byte, block-start, data-start, not "middle"'),
    ("mixed.block_sizes = 1", "`mixed_block_sizes` takes bool, not 1"),
    ("status.remote = 'loc_prot_err'", "takes one of rem_access_err, rem_op_err, rem_inv_req_err, not"),
    ("status.raw = 'success'", 'not "success"'),
    ("wqe.unit = 16", r"the default WQE holds 4 SGEs \(LST-03\), not 1"),
    ("wqe_max = -1", "not negative"),
    ("entries_rounding = 0", "at least 1"),
    ("without = ['sugar']", "offers no sugar"),
    ("without = ['qp.rc', 'crypto', 'mr_list']", "no row can run on a device without mr_list, qp.rc"),
    ("err.priority = ['guard', 'app']", "guard, app and ref"),
    ("errno.sugar = 'EINVAL'", "no rule `sugar`"),
    ("errno.crc_seed = 'EWHAT'", 'no errno "EWHAT"'),
    ("status.local = 'broken'", "takes one of"),
    ("a = ", "not TOML"),
]


@pytest.mark.parametrize(("text", "message"), BAD)
def test_a_bad_profile_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(ProfileError, match=message) as refused:
        parse(text, "lab.toml")
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith("lab.toml:1:1: " if text != "a = " else "lab.toml:1:5: ")


MEASURED = """\
name = "lab"
err_actual = "computed"
errno.crc_seed = "EPERM"

[measured]
device = "mlx5_0"
firmware = "28.39"
versions = {rdma-core = "44.0"}

[evidence]
err_actual = {value = "computed", confidence = "sure", sides = ["crc32, sent", "crc32, received"]}
err_priority = {value = ["guard", "app", "ref"], confidence = "single"}
mixed_block_sizes = {value = true, confidence = "told"}
escape_scope = {confidence = "undecided", reason = "it did not answer"}
errno.crc_seed = {value = "EPERM", confidence = "single"}
errno.dif_bg = {value = "EINVAL", confidence = "single"}
published.crc32 = {confidence = "contradicts", reason = "other bytes"}
"""
CHANGED = [
    # in place of the first text the second; the place, and what is said
    ('"computed"\nerr', '"field"\nerr', "11:1", "`err_actual`: this profile says field, and its evidence computed"),
    ('err_actual = "computed"\n', "", "10:1", "the default, which counts here, says field, and its evidence computed"),
    ('= "EPERM"\n\n', '= "EINVAL"\n\n', "15:1", "`errno.crc_seed`: this profile says EINVAL, and its evidence EPERM"),
    ('{value = true, confidence = "told"', '{value = 1, confidence = "told"', "13:1", "says true, and its evidence 1"),
    ('"undecided", ', '"undecided", value = "block", ', "14:1", "`escape_scope` is undecided, and has a value"),
    ('value = "computed", ', "", "11:1", "`err_actual` is sure, and has no value"),
    ('confidence = "told"', 'confidence = "high"', "13:1", "is one of sure, single, told, undecided"),
    ('sides = ["crc32, sent", ', "sides = [1, ", "11:56", "the sides of `err_actual` are a list of texts"),
    ('reason = "it', 'because = "it', "14:43", "the evidence of `escape_scope` has no `because`"),
    ("escape_scope =", "escape_scop =", "14:1", "no member `escape_scop`; did you mean `escape_scope`?"),
    (
        'escape_scope = {confidence = "undecided", reason = "it did not answer"}',
        "escape_scope = 1",
        "14:1",
        "is a table",
    ),
    ('device = "mlx5_0"', "device = 5", "6:1", "`measured.device` is a text"),
    ('device = "mlx5_0"', 'devise = "mlx5_0"', "6:1", "has no `devise`; did you mean `device`?"),
    ('device = "mlx5_0"\n', "", "5:1", "names the device"),
    ('versions = {rdma-core = "44.0"}', "versions = 44", "8:1", "a table of texts"),
    ("[measured]\n", "[[measured]]\n", "5:1", "`measured` is a table"),
    ("published.crc32 =", "published =", "17:14", "the evidence of `published.confidence` is a table"),
]


def test_a_measured_profile_is_its_members() -> None:
    assert parse(MEASURED) == Profile(name="lab", err_actual="computed", errno=(("crc_seed", "EPERM"),))


@pytest.mark.parametrize(("old", "new", "place", "message"), CHANGED)
def test_evidence_that_contradicts_its_profile_or_itself(old: str, new: str, place: str, message: str) -> None:
    assert MEASURED.count(old) == 1
    with pytest.raises(ProfileError) as refused:
        parse(MEASURED.replace(old, new), "lab.toml")
    assert str(refused.value).startswith(f"lab.toml:{place}: ")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


SAME = Info("mlx5_0", "28.39", {"rdma-core": "50.0"})


def test_on_which_device_it_was_measured(tmp_path: Path) -> None:
    path = tmp_path / "lab.toml"
    path.write_text(MEASURED)
    found = load_measured(path)
    assert found == Measured("mlx5_0", "28.39", versions={"rdma-core": "44.0"})
    assert found.unlike(SAME) is None
    assert found.unlike(replace(SAME, device="mlx5_1")) == "it was measured on mlx5_0, and this is mlx5_1"
    assert found.unlike(replace(SAME, firmware="")) == "it was measured with firmware 28.39, and this is unknown"
    path.write_text("name = 'lab'")
    assert load_measured(path) is None


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "lab.toml"
    with pytest.raises(ProfileError, match="can't read"):
        load(path)
    path.write_bytes(b"\xff")
    with pytest.raises(ProfileError, match="can't read"):
        load(path)
    path.write_text("name = 'lab'")
    assert load(path).name == "lab"


def test_describe_tells_every_member_and_marks_departures() -> None:
    lines = Profile(err_offset="block-start", without=("atomic",)).describe().splitlines()
    assert len(lines) == len(fields(Profile))
    assert [line.split(" #")[0] for line in lines if line.startswith("*")] == [
        '* without = ["atomic"] ',
        '* err_offset = "block-start" ',
    ]
    assert Profile().departures() == {}


RECORDS = [
    # kind, field, block, k, found, computed, part, profile, (type, expected, actual, offset)
    ("t10dif", 8, 512, 0, "ec7d5678f0debc9a", "99165678f0debc9a", "guard", {}, (1, 0x9916, 0xEC7D, 519)),
    ("t10dif", 8, 512, 2, "ec7d5678f0debc9a", "ec7d5679f0debc9a", "app", {}, (3, 0x5679, 0x5678, 1559)),
    ("t10dif", 8, 512, 0, "0fdebc9a", "f0debc9a", "ref", {}, (2, 0xF0DEBC9A, 0x0FDEBC9A, 519)),
    ("crc32", 4, 512, 0, "969aca21", "699aca21", "guard", {}, (1, 0x699ACA21, 0x969ACA21, 515)),
    ("crc32", 4, 512, 0, "969aca21", "699aca21", "guard", {"err_actual": "computed"}, (1, 0x969ACA21, 0x699ACA21, 515)),
    ("crc32", 4, 512, 3, "00000001", "00000002", "guard", {"err_offset": "block-start"}, (1, 2, 1, 1548)),
    ("crc32", 4, 512, 3, "00000001", "00000002", "guard", {"err_offset": "data-start"}, (1, 2, 1, 1536)),
    ("crc32c", 4, 512, 0, "00000001", "00000002", "guard", {}, (1, 2, 1, 515)),
    ("crc32c", 4, 512, 0, "01000000", "02000000", "guard", {"err_value_order_crc32c": "value"}, (1, 2, 1, 515)),
    ("crc64_xp10", 8, 4096, 1, "0100000000000000", "0200000000000000", "guard", {"err_value_order_crc64": "value"},
     (1, 2, 1, 8207)),
    ("crc64_xp10", 8, 4096, 1, "0000000000000001", "0000000000000002", "guard", {}, (1, 2, 1, 8207)),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "size", "block", "k", "found", "computed", "part", "members", "expected"), RECORDS)
def test_records(
    kind: str,
    size: int,
    block: int,
    k: int,
    found: str,
    computed: str,
    part: str,
    members: dict[str, str],
    expected: tuple[int, ...],
) -> None:
    profile = Profile(**members)  # type: ignore[arg-type]
    assert record(profile, kind, size, block, k, bytes.fromhex(found), bytes.fromhex(computed), part) == expected


FIELDS = [
    # domain, data, field as published or as the signature notes have it
    (crc("crc32"), ONE, "15d286f7"),
    (crc("crc32", 0xFFFFFFFF), ONE, "f4832c45"),
    (crc("crc32c"), ONE, "8aa33830"),
    (crc("crc64_xp10"), ONE, "d2b8c1674fb645dd"),
    (t10(0, 0x0102, 0x03040506), ONE, "0688010203040506"),
    (t10(bg_type=1), ONE, "fefe000000000000"),
    (t10(0xFFFF, bg_type=1), bytes(512), "0000000000000000"),
]


def field_of(profile: Profile, dom: SigBlockDomain, data: bytes, size: int) -> str:
    bench = Bench(profile)
    mkey = bench.over(bench.memory(data), sig=signature(wire=dom))
    return bench.transmit(mkey.lkey, 512 + size)[1][512:].hex()


@pytest.mark.parametrize(("dom", "data", "field"), FIELDS, ids=[row[2] for row in FIELDS])
def test_arithmetic(dom: SigBlockDomain, data: bytes, field: str) -> None:
    assert field_of(Profile(), dom, data, len(field) // 2) == field


def test_a_checksum_with_a_seed_of_ones() -> None:
    """X-OPEN-14."""
    profile = Profile(csum_seed_ffff="same-as-0")
    assert field_of(profile, t10(0xFFFF, bg_type=1), bytes(512), 8) == "ffff000000000000"


def error_of(profile: Profile, stream: bytes, dom: SigBlockDomain, check: int = 0xFF) -> SignatureError | None:
    bench = Bench(profile)
    mkey = bench.over(bench.memory(stream), sig=signature(mem=dom, check=check))
    bench.transmit(mkey.lkey, 512)
    return bench.check(mkey)


def test_masks_of_little_endian_fields() -> None:
    """X-OPEN-12: bit 7 is the first byte, or the highest, which is last."""
    first, last = bytes.fromhex("4307e6b4"), bytes.fromhex("4207e6b5")
    for profile, seen, unseen in ((Profile(), first, last), (Profile(mask_le_fields="value-order"), last, first)):
        assert error_of(profile, A5 + seen, crc("crc32c"), 0x80) is not None
        assert error_of(profile, A5 + unseen, crc("crc32c"), 0x80) is None
        assert error_of(profile, A5 + unseen, crc("crc32c"), 0x10) is not None


def test_the_scope_of_an_escape() -> None:
    stream = A5 + bytes.fromhex("0000ffff00000000")
    assert error_of(Profile(), stream, t10(0, 0xFFF0, 0xF, 2)) is None
    error = error_of(Profile(escape_scope="guard"), stream, t10(0, 0xFFF0, 0xF, 2))
    assert (error.type if error else None) == 3


def test_which_of_several_bad_parts() -> None:
    for order, kind in (("guard app ref", 1), ("ref app guard", 2), ("app guard ref", 3)):
        error = error_of(Profile(err_priority=tuple(order.split())), A5 + bytes(8), t10(0, 1, 1))
        assert (error.type if error else None) == kind


def test_ref_tags_that_go_on_over_messages() -> None:
    bench = Bench(Profile(ref_tag_restart="configuration"))
    mkey = bench.over(bench.memory(A5), sig=signature(wire=t10(0, 0, 5, 1)))
    assert [bench.transmit(mkey.lkey, 520)[1][-1] for _ in range(3)] == [5, 6, 7]
    assert bench.configure(mkey) == 0
    assert bench.transmit(mkey.lkey, 520)[1][-1] == 5


def test_an_offset_counts_in_its_own_message() -> None:
    """Whatever the reference tags do, the offset is one of the transfer (mlx5dv_mkey_check(3), XCHK-08)."""
    bench = Bench(Profile(ref_tag_restart="configuration"))
    memory = bench.memory(A5 + bytes(4))
    mkey = bench.over(memory, sig=signature(mem=crc("crc32")))
    bench.device.write(memory, 512, bytes.fromhex("699aca21"))
    bench.transmit(mkey.lkey, 512)
    assert bench.check(mkey) is None
    bench.device.write(memory, 512, b"bad.")
    bench.transmit(mkey.lkey, 512)
    error = bench.check(mkey)
    assert error is not None
    assert error.offset == 515


def test_an_offset_counts_from_the_first_entry_of_its_message() -> None:
    """Here a message of two entries of one key, whose second entry has the bad block."""
    bench = Bench(Profile(ref_tag_restart="configuration"))
    memory = bench.memory(A5 + bytes.fromhex("699aca21") + A5 + b"bad.")
    mkey = bench.over(memory, sig=signature(mem=crc("crc32")))
    wire = bench.memory(1024, peer=True)
    bench.post(Write(4, SIGNALED, (Sge(0, 512, mkey.lkey),), wire.addr, wire.rkey))
    assert bench.check(mkey) is None
    bench.post(Write(4, SIGNALED, (Sge(0, 512, mkey.lkey), Sge(512, 512, mkey.lkey)), wire.addr, wire.rkey))
    error = bench.check(mkey)
    assert error is not None
    assert error.offset == 516 + 515  # the last byte of its second block


def test_what_the_automatic_copy_compares() -> None:
    rows = [
        ("copy_compares_seed", crc("crc32"), crc("crc32", 0xFFFFFFFF), "aabbccdd", "88cb6093"),
        ("copy_compares_flags", t10(0, 0, 9), t10(0, 0, 9, 1), "aabb000000000001", "aabb000000000009"),
    ]
    for member, mem, wire, field, other in rows:
        for value, sent in ((False, field), (True, other)):
            bench = Bench(Profile(**{member: value}))  # type: ignore[arg-type]
            mkey = bench.over(bench.memory(A5 + bytes.fromhex(field)), sig=signature(mem, wire, 0))
            assert bench.transmit(mkey.lkey, 512 + len(field) // 2)[1][512:].hex() == sent


def test_which_unread_error_stays() -> None:
    for which, actual in (("first", b"one."), ("last", b"two.")):
        bench = Bench(Profile(err_unread=which))
        mem = bench.memory(A5 + b"one.")
        mkey = bench.over(mem, sig=signature(mem=crc("crc32")))
        bench.transmit(mkey.lkey, 512)
        bench.device.write(mem, 512, b"two.")
        assert bench.configure(mkey) == 0
        bench.transmit(mkey.lkey, 512)
        error = bench.check(mkey)
        assert error is not None
        assert error.actual_value == int.from_bytes(actual, "big")


def test_initial_rights_and_supported_flags() -> None:
    bench = Bench(Profile(initial_access=15, access_supported=1 << 20))
    mem = bench.memory(8)
    mkey = bench.mkey()
    assert bench.post(Configure(1, CONFIGURES, mkey, 1, (layout(mem),))) == 0
    assert bench.receive(mkey.lkey, b"12345678", "peer_write") == "success"
    assert bench.configure(mkey, SetAccess(1 << 20)) == 0
    assert bench.configure(mkey, SetAccess(1)) != 0


@pytest.mark.parametrize("bit", [0, 4, 9, 20])
def test_every_member_of_the_enum_is_taken_unless_the_profile_says_otherwise(bit: int) -> None:
    """ACC-05, X-DIFF-01."""
    for profile, taken in ((Profile(), True), (Profile(access_supported=15), bit < 4)):
        bench = Bench(profile)
        assert (bench.configure(bench.mkey(), SetAccess(1 << bit)) == 0) == taken


def test_statuses() -> None:
    bench = Bench(Profile(status_local="loc_access_err", status_local_bounds="loc_len_err"))
    mem = bench.memory(8)
    for sge, status in ((Sge(mem.addr, 8, 1), "loc_access_err"), (Sge(mem.addr, 9, mem.lkey), "loc_len_err")):
        bench.post(Send(1, 0, (sge,)))
        assert [c.status for c in bench.owner] == [status]
        bench.device.reconnect(bench.pair)


def test_offers_and_limits() -> None:
    bench = Bench(Profile(without=("block.4048", "update_tag"), entries_rounding=1, max_message=100))
    assert "block.4048" not in bench.device.capabilities().offers
    assert "block.512" in bench.device.capabilities().offers
    assert bench.mkey(1, 5).max_entries == 5
    assert bench.transmit(bench.over(bench.memory(200)).lkey, 101)[0] == "loc_len_err"
