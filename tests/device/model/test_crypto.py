"""Crypto mkeys: published ciphertext, the order table written out, data units, job sizes, and the setter's rules."""

from __future__ import annotations

import errno
from dataclasses import replace
from typing import Any

import pytest

from mkeyspec.abi.constants import BLOCK_ENUM
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import (
    Configure,
    CryptoAttr,
    Dek,
    FetchAdd,
    LocalInv,
    Memory,
    Mkey,
    Refused,
    Send,
    SetAccess,
    SetCrypto,
    Sge,
    SigBlockDomain,
)
from tests.device.model.fixtures import (
    CONFIGURES,
    EVERYTHING,
    RX,
    SIGNALED,
    TX,
    Bench,
    counter,
    crc,
    layout,
    signature,
    t10,
)
from tests.oracle import bitwise
from tests.oracle.xts import encrypt
from tests.reference.published import made, table

INVAL, NOMEM, NOTSUP = errno.EINVAL, errno.ENOMEM, errno.EOPNOTSUPP
AFTER, BEFORE = 0, 1
CRYPTO, BOTH = 5, 7
KEY = bytes(range(64))
OTHER = bytes(range(100, 132))
VECTORS = [vector for vector in table("xts.toml")["vector"] if len(vector["cipher"].split()[0]) * 8 % 128 == 0]


def crypto(
    dek: Dek, unit: int = 512, tweak: int = 0, encrypt_on_tx: bool = True, order: int = BEFORE, keytag: bytes = bytes(8)
) -> SetCrypto:
    return SetCrypto(CryptoAttr(0, encrypt_on_tx, order, BLOCK_ENUM[unit], tweak.to_bytes(16, "little"), dek, keytag))


class Vault(Bench):
    """A bench whose mkeys have crypto attributes, of the key KEY where nothing else is said."""

    def __init__(self, profile: Profile | None = None) -> None:
        super().__init__(profile)
        self.dek = self.device.dek(KEY)

    def coded(
        self, *memories: Memory, sig: Any = None, flags: int = BOTH, access: int = EVERYTHING, **how: Any
    ) -> Mkey:
        mkey = self.mkey(flags)
        how.setdefault("dek", self.dek)
        setters = (SetAccess(access), layout(*memories), *([sig] if sig else []), crypto(**how))
        assert self.configure(mkey, *setters) == 0
        return mkey


# Bytes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
@pytest.mark.parametrize("by", TX)
def test_published_ciphertext_on_the_wire(vector: dict[str, Any], by: str) -> None:
    """IEEE 1619-2007, annex B: the vectors whose data is whole AES blocks."""
    bench = Vault()
    plain = bytes.fromhex(vector["plain"]) if "plain" in vector else made([{"up": vector["up"]}])
    dek = bench.device.dek(bytes.fromhex(vector["key"]))
    mkey = bench.coded(bench.memory(plain), dek=dek, tweak=vector["number"], flags=CRYPTO)
    assert bench.transmit(mkey.lkey, len(plain), by) == ("success", bytes.fromhex(vector["cipher"]))


@pytest.mark.parametrize("encrypt_on_tx", [True, False])
@pytest.mark.parametrize("order", [BEFORE, AFTER])
def test_both_ways_through(encrypt_on_tx: bool, order: int) -> None:
    """XCRY-06, rows A and F: the order is of no matter; what went out and came back is what it was."""
    plain, cipher = counter(1024), encrypt(counter(1024), KEY, 9, 512)
    memory, wire = (plain, cipher) if encrypt_on_tx else (cipher, plain)
    for by in TX + RX:
        bench = Vault()
        mem = bench.memory(memory if by in TX else 1024, misaligned=7)
        mkey = bench.coded(mem, tweak=9, encrypt_on_tx=encrypt_on_tx, order=order)
        if by in TX:
            assert bench.transmit(mkey.lkey, 1024, by) == ("success", wire)
        else:
            assert bench.receive(mkey.lkey, wire, by) == "success"
        assert bench.bytes_of(mem) == memory


DIF1, DIF2 = t10(0xFFFF, 0x5678, 0xF0DEBC9A, 1), t10(0, 0x1357, 16, 1)
DATA = counter(3 * 512)


def framed(data: bytes, which: int) -> bytes:
    """After every block its field, by the bitwise implementation."""
    bg, app, ref = ((0xFFFF, 0x5678, 0xF0DEBC9A), (0, 0x1357, 16))[which - 1]
    blocks = [data[at : at + 512] for at in range(0, len(data), 512)]
    return b"".join(block + bitwise.dif("t10", block, bg, app, ref, True, k) for k, block in enumerate(blocks))


def enc(data: bytes, unit: int) -> bytes:
    return encrypt(data, KEY, 3, unit)


# The page's table (mlx5dv_wr_set_mkey_crypto): row, memory, wire, domains, encrypt_on_tx, order, data unit.
ROWS: list[tuple[str, bytes, bytes, SigBlockDomain | None, SigBlockDomain | None, bool, int, int]] = [
    ("B", DATA, framed(enc(DATA, 512), 1), None, DIF1, True, AFTER, 512),
    ("C", DATA, enc(framed(DATA, 1), 520), None, DIF1, True, BEFORE, 520),
    ("D", framed(DATA, 1), enc(DATA, 512), DIF1, None, True, BEFORE, 512),
    ("E", framed(DATA, 1), enc(framed(DATA, 2), 520), DIF1, DIF2, True, BEFORE, 520),
    ("G", enc(DATA, 512), framed(DATA, 1), None, DIF1, False, AFTER, 512),
    ("H", enc(framed(DATA, 1), 520), DATA, DIF1, None, False, AFTER, 520),
    ("I", enc(framed(DATA, 1), 520), framed(DATA, 2), DIF1, DIF2, False, AFTER, 520),
    ("J", framed(enc(DATA, 512), 1), DATA, DIF1, None, False, BEFORE, 512),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
@pytest.mark.parametrize("by", TX + RX)
def test_the_order_table(row: tuple[Any, ...], by: str) -> None:
    """XCRY-07, in both directions; no signature error on the way."""
    _, memory, wire, mem_domain, wire_domain, encrypt_on_tx, order, unit = row
    bench = Vault()
    mem = bench.memory(memory if by in TX else len(memory))
    sig = signature(mem_domain, wire_domain)
    mkey = bench.coded(mem, sig=sig, tweak=3, encrypt_on_tx=encrypt_on_tx, order=order, unit=unit)
    if by in TX:
        assert bench.transmit(mkey.lkey, len(wire), by) == ("success", wire)
    else:
        assert bench.receive(mkey.lkey, wire, by) == "success"
        assert bench.bytes_of(mem) == memory
    bench.poll()
    assert bench.check(mkey) is None


def test_a_signature_inside_the_ciphertext_is_checked() -> None:
    """Row C received: a field that is wrong once it is deciphered (XCRY-07, example 2.1)."""
    bench = Vault()
    stream = bytearray(framed(DATA, 1))
    stream[520 + 512] ^= 1
    mem = bench.memory(len(DATA))
    mkey = bench.coded(mem, sig=signature(None, DIF1), tweak=3, unit=520)
    assert bench.receive(mkey.lkey, enc(bytes(stream), 520)) == "success"
    bench.poll()
    error = bench.check(mkey)
    assert error is not None
    assert (error.type, error.offset) == (1, 2 * 520 - 1)
    assert bench.bytes_of(mem) == DATA


def test_a_copied_field_goes_through_the_cipher_unchanged() -> None:
    """Equal domains copy (MSK-10), here under the ciphertext: a bad field arrives as it is."""
    bench = Vault()
    stored = counter(512) + b"bad."
    mkey = bench.coded(bench.memory(stored), sig=signature(crc("crc32"), crc("crc32"), 0), unit=512, tweak=1)
    status, wire = bench.transmit(mkey.lkey, 512)
    assert (status, wire) == ("success", encrypt(counter(512), KEY, 1, 512))
    whole = bench.coded(bench.memory(stored + counter(12)), sig=signature(crc("crc32"), crc("crc32"), 0), unit=512)
    assert bench.transmit(whole.lkey, 528)[1] == encrypt(stored + counter(12), KEY, 0, 512)


# Data units --------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [512, 520, 4048, 4096, 4160])
def test_data_units(unit: int) -> None:
    """XCRY-05: one tweak each; the last may be shorter."""
    for length in (unit, 2 * unit, (2 * unit - 16) // 16 * 16, 16):
        bench = Vault()
        mkey = bench.coded(bench.memory(counter(length)), unit=unit, tweak=5)
        assert bench.transmit(mkey.lkey, length) == ("success", encrypt(counter(length), KEY, 5, unit))


@pytest.mark.parametrize("tweak", [0xFF, (1 << 64) - 1, (1 << 128) - 1])
def test_the_tweak_counts_in_128_bits_little_endian(tweak: int) -> None:
    """XCRY-08."""
    bench = Vault()
    mkey = bench.coded(bench.memory(counter(1024)), tweak=tweak)
    assert bench.transmit(mkey.lkey, 1024)[1] == encrypt(counter(1024), KEY, tweak, 512)


def test_the_tweak_counts_over_the_sges_of_a_message() -> None:
    """initial_tweak is incremented for every data unit in the message, and begins again with the next."""
    bench = Vault()
    mem = bench.memory(counter(2048))
    mkey = bench.coded(mem, tweak=5)
    wire = bench.memory(2560, peer=True)
    plain = bench.memory(b"\x33" * 512)
    parts = (Sge(512, 512, mkey.lkey), Sge(plain.addr, 512, plain.lkey), Sge(0, 1024, mkey.lkey))
    coded = encrypt(counter(2048)[512:1024] + counter(1024), KEY, 5, 512)
    for _ in range(2):
        bench.device.post_recv(bench.pair.peer, 1, (Sge(wire.addr, 2560, wire.lkey),))
        assert bench.post(Send(1, SIGNALED, parts)) == 0
        assert bench.bytes_of(wire)[:2048] == coded[:512] + b"\x33" * 512 + coded[512:]
    # With fields on the wire, the ciphered bytes are those of whole frames.
    mkey = bench.coded(mem, sig=signature(None, DIF1), tweak=3, unit=520)
    bench.device.post_recv(bench.pair.peer, 1, (Sge(wire.addr, 2560, wire.lkey),))
    assert bench.post(Send(1, SIGNALED, (Sge(0, 520, mkey.lkey), Sge(520, 1040, mkey.lkey)))) == 0
    assert bench.bytes_of(wire)[:1560] == enc(framed(counter(1536), 1), 520)


JOBS = [(512, 512, True), (512, 128, True), (512, 496, True), (512, 47, False), (512, 8, False), (520, 512, False),
        (520, 520, True), (520, 496, True), (520, 1024, True), (520, 528, False), (4048, 4049, False)]  # fmt: skip


@pytest.mark.parametrize(("unit", "length", "fits"), JOBS)
@pytest.mark.parametrize("by", TX + RX)
def test_job_sizes(unit: int, length: int, fits: bool, by: str) -> None:
    """XCRY-10; an AES block is the least. What is refused moves no byte."""
    bench = Vault()
    mem = bench.memory(length)
    mkey = bench.coded(mem, unit=unit)
    status = bench.transmit(mkey.lkey, length, by)[0] if by in TX else bench.receive(mkey.lkey, counter(length), by)
    assert (status == "success") == fits
    if not fits:
        assert bench.bytes_of(mem) == b"\xee" * length


def test_a_job_is_measured_in_what_is_ciphered() -> None:
    """Row H: the memory's stream; row C: the wire's; row J: the data."""
    for sig, order, on_tx, unit, length, memory in (
        (signature(DIF1), AFTER, False, 520, 1024, 1040), (signature(DIF1), AFTER, False, 4096, 512, 520),
        (signature(None, DIF1), BEFORE, True, 4096, 520, 512), (signature(DIF1), BEFORE, False, 512, 512, 520),
    ):  # fmt: skip
        bench = Vault()
        mkey = bench.coded(bench.memory(memory), sig=sig, order=order, encrypt_on_tx=on_tx, unit=unit)
        assert (bench.transmit(mkey.lkey, length)[0] == "success") == (unit != 4096)


# Keys and states ---------------------------------------------------------------------------------


@pytest.mark.parametrize("by", TX + RX)
def test_traffic_without_attributes_fails(by: str) -> None:
    """CRY-03, CRY-04; the status is the profile's, and nothing moves."""
    for profile in (Profile(), Profile(status_crypto="loc_qp_op_err")):
        bench = Bench(profile)
        mem = bench.memory(counter(512))
        mkey = bench.over(mem, flags=CRYPTO)
        if by in TX:
            status, wire = bench.transmit(mkey.lkey, 512, by)
            assert wire == b"\xee" * 512
        else:
            status = bench.receive(mkey.lkey, b"\x01" * 512, by)
        expected = {"send": 0, "write": 0, "read": 0, "recv": "rem_op_err"}.get(by, "rem_access_err")
        assert status == (expected or profile.status_crypto)
        assert bench.bytes_of(mem) == counter(512)


def test_atomics_of_an_unconfigured_key_fail_too() -> None:
    bench = Bench()
    mkey = bench.over(bench.memory(16), flags=CRYPTO)
    mine = bench.memory(8, peer=True)
    bench.post(FetchAdd(1, SIGNALED, Sge(mine.addr, 8, mine.lkey), 0, mkey.rkey, 1), peer=True)
    assert bench.peer[-1].status == "rem_access_err"


def test_keytags() -> None:
    """XCRY-09: compared only if the DEK has one."""
    bench = Vault()
    tagged = bench.device.dek(KEY, b"12345678")
    for dek, keytag, status in (
        (tagged, b"12345678", "success"), (tagged, b"12345679", "loc_prot_err"), (tagged, bytes(8), "loc_prot_err"),
        (bench.dek, b"whatever", "success"),
    ):  # fmt: skip
        mkey = bench.coded(bench.memory(counter(512)), dek=dek, keytag=keytag)
        assert bench.transmit(mkey.lkey, 512)[0] == status
        bench.device.reconnect(bench.pair)


def test_a_later_setter_overrides_and_what_is_left_out_stays() -> None:
    """CRY-02, XCRY-11, CFG-09; RESET_SIG_ATTR has no part in it."""
    bench = Vault()
    mem = bench.memory(counter(512))
    mkey = bench.coded(mem, tweak=1)
    assert bench.configure(mkey, crypto(bench.device.dek(OTHER), tweak=2)) == 0
    for setters, reset in (((), False), ((SetAccess(1),), False), ((layout(mem),), False), ((), True)):
        assert bench.configure(mkey, *setters, reset=reset) == 0
        assert bench.transmit(mkey.lkey, 512) == ("success", encrypt(counter(512), OTHER, 2, 512))
    assert bench.configure(mkey, crypto(bench.dek, tweak=3, encrypt_on_tx=False)) == 0
    bench.device.write(mem, 0, encrypt(counter(512), KEY, 3, 512))
    assert bench.transmit(mkey.lkey, 512) == ("success", counter(512))


def test_local_inv_and_failed_sections_forget() -> None:
    """CFG-10, XCRY-12: after either the key needs its attributes again."""
    for spoil in ("invalidate", "abort", "fail"):
        bench = Vault()
        mem = bench.memory(counter(512))
        mkey = bench.coded(mem, flags=CRYPTO)
        if spoil == "invalidate":
            bench.post(LocalInv(1, SIGNALED, mkey.rkey))
        elif spoil == "abort":
            bench.post(Configure(1, CONFIGURES, mkey, 1, (crypto(bench.dek),)), abort=True)
        else:
            assert bench.configure(mkey, crypto(bench.dek), crypto(bench.dek)) == INVAL
        assert bench.configure(mkey, SetAccess(EVERYTHING), layout(mem)) == 0
        assert bench.transmit(mkey.lkey, 512)[0] == "loc_prot_err"
        bench.device.reconnect(bench.pair)
        assert bench.configure(mkey, crypto(bench.dek)) == 0
        assert bench.transmit(mkey.lkey, 512) == ("success", encrypt(counter(512), KEY, 0, 512))


# Rules -------------------------------------------------------------------------------------------


def test_rules_of_the_setter() -> None:
    """XCRY-01 to XCRY-05, CFG-07: EINVAL when the section is completed, and no completion."""
    bench = Vault()
    mkey, good = bench.mkey(BOTH), crypto(bench.dek)
    bad: list[dict[str, Any]] = [
        {"comp_mask": 1}, {"crypto_standard": 1}, {"signature_crypto_order": 2}, {"data_unit_size": 5},
        {"data_unit_size": -1}, {"dek": Dek(999)},
    ]  # fmt: skip
    for members in bad:
        assert bench.configure(mkey, SetCrypto(replace(good.attr, **members))) == INVAL
        assert bench.owner == []
    assert bench.configure(mkey, good, good) == INVAL
    for flags in (1, 3):
        assert bench.configure(bench.mkey(flags), good) == INVAL
    assert bench.configure(mkey, good) == 0


@pytest.mark.parametrize(("encrypt_on_tx", "order"), [(True, AFTER), (False, BEFORE)])
def test_orders_that_have_one_signature(encrypt_on_tx: bool, order: int) -> None:
    """XCRY-07: two are refused, whichever setter came first, in one request or in two."""
    bench = Vault()
    code = crypto(bench.dek, encrypt_on_tx=encrypt_on_tx, order=order)
    both, one = signature(DIF1, DIF2), signature(DIF1)
    assert bench.configure(bench.mkey(BOTH), both, code) == INVAL
    assert bench.configure(bench.mkey(BOTH), code, both) == INVAL
    for first, second in ((both, code), (code, both)):
        mkey = bench.mkey(BOTH)
        assert bench.configure(mkey, first) == 0
        assert bench.configure(mkey, second) == INVAL
    mkey = bench.mkey(BOTH)
    assert bench.configure(mkey, both) == 0
    assert bench.configure(mkey, code, reset=True) == 0
    assert bench.configure(bench.mkey(BOTH), one, code) == 0
    other = crypto(bench.dek, encrypt_on_tx=encrypt_on_tx, order=1 - order)
    assert bench.configure(bench.mkey(BOTH), both, other) == 0


def test_rows_that_the_table_leaves_out() -> None:
    """Encrypted under fields of memory alone, AFTER; of the wire alone, BEFORE: the fields stay outside, as in B, J."""
    bench = Vault()
    mkey = bench.coded(bench.memory(framed(DATA, 1)), sig=signature(DIF1), order=AFTER, tweak=3)
    assert bench.transmit(mkey.lkey, len(DATA)) == ("success", enc(DATA, 512))
    mkey = bench.coded(
        bench.memory(enc(DATA, 512)), sig=signature(None, DIF1), order=BEFORE, encrypt_on_tx=False, tweak=3
    )
    assert bench.transmit(mkey.lkey, 3 * 520) == ("success", framed(DATA, 1))


def test_room_in_the_work_request() -> None:
    """X-LIM-01: each of signature and crypto takes 64 bytes after the layout: 28 SGEs with both, of 512 bytes."""
    for n, with_sig, number in ((28, True, 0), (29, True, NOMEM), (32, False, 0), (33, False, NOMEM)):
        bench = Vault()
        mem = bench.memory(64)
        sges = layout(*[mem] * n)
        extra = [signature(DIF1)] if with_sig else []
        assert bench.configure(bench.mkey(BOTH, 64), sges, *extra, crypto(bench.dek)) == number


@pytest.mark.parametrize(
    ("key", "keytag"),
    [(b"", None), (bytes(range(16)), None), (bytes(range(48)), None), (bytes(range(65)), None),
     (KEY, b""), (KEY, bytes(7)), (KEY, bytes(9))],
)  # fmt: skip
def test_what_is_no_key(key: bytes, keytag: bytes | None) -> None:
    """mlx5dv_dek_create: two keys of 128 or of 256 bits, an 8-byte keytag."""
    with pytest.raises(Refused) as refused:
        Bench().device.dek(key, keytag)
    assert refused.value.errno == INVAL


@pytest.mark.parametrize("size", [32, 64])
def test_equal_halves_are_a_key(size: int) -> None:
    """IEEE 1619-2007 leaves the two keys free, and its vector 1 has both zero."""
    bench = Vault()
    mem = bench.memory(bytes(32))
    mkey = bench.mkey(CRYPTO)
    assert bench.configure(mkey, layout(mem), crypto(bench.device.dek(bytes(size)))) == 0
    status, wire = bench.transmit(mkey.lkey, 32)
    assert status == "success"
    assert wire == encrypt(bytes(32), bytes(size), 0, 32)


def test_a_device_without_crypto() -> None:
    device = Bench(Profile(without=("crypto", "crypto.plaintext"))).device
    assert not device.capabilities().offers & {"crypto", "crypto.plaintext"}
    for call in (lambda: device.dek(KEY), lambda: device.mkey("owner", create_flags=CRYPTO, max_entries=4)):
        with pytest.raises(Refused) as refused:
            call()
        assert refused.value.errno == NOTSUP
