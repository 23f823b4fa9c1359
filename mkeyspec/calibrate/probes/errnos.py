"""The errno of each rule that is checked when a call is made, each by breaking it."""

from __future__ import annotations

from functools import partial

from mkeyspec.calibrate.bench import SIGNALED, crc, signature, t10
from mkeyspec.calibrate.point import Point, Side
from mkeyspec.calibrate.probes.breaks import (
    ACCESS,
    BOTH,
    Break,
    address_without_streams,
    attr,
    called,
    cancelled,
    configuration,
    created,
    crypto,
    crypto_broken,
    damaged,
    dek,
    destroyed_in_use,
    dif,
    domain,
    full_queue,
    in_and_out,
    listed,
    login_again,
    login_with,
    many_sges,
    memcpy_too_long,
    other_tag,
    paired,
    posted,
    queried_after_logout,
    second_login_object,
    small,
    strided,
    too_much_inline,
    with_buffer,
    with_copy_mask,
    with_crypto,
    with_dif,
    with_signature,
    without_address,
    without_header,
    wrapped,
)
from mkeyspec.device.protocol import Configure, SetAccess, SetList, Sge, SigCrc, StraySetter

SIGNATURE = ("block_signature", "signature.crc32", "block.512")
DIF = ("block_signature", "signature.t10dif", "block.512")
UNREACHED = {
    "qp_not_ready": "no call of the protocol leaves a QP in another state",
    "crypto_dek": "the driver would read a DEK that was freed",
}
"""Rules that no probe breaks, and why."""

LOGIN, CRYPTO, QUERY = ("crypto", "crypto.login"), ("crypto",), ("crypto", "dek_query")
_Row = tuple[str, tuple[tuple[str, Break], ...], tuple[str, ...]]
BROKEN: tuple[_Row, ...] = (
    ("create_flags", (
        ("a flag that nobody knows", called("mlx5dv_create_mkey", partial(created, 1 << 20), partial(created, 1))),
        ("no flag", called("mlx5dv_create_mkey", partial(created, 0), partial(created, 1))),
    ), ()),
    ("qp_operations", (
        ("mkey_configure on a UC QP", called(
            "mlx5dv_create_qp", partial(paired, type="uc"), partial(paired, type="uc", send_ops=0))),
    ), ("qp.uc",)),
    ("inline_missing", (
        ("without INLINE", posted(lambda bench: (Configure(bench.id(), SIGNALED, bench.mkey(), 1, (ACCESS,)),))),
    ), ()),
    ("conf_comp_mask", (
        ("bit 0", configuration(ACCESS, comp_mask=1)), ("bit 63", configuration(ACCESS, comp_mask=1 << 63)),
    ), ()),
    ("conf_flags", (("bit 1", configuration(ACCESS, conf_flags=2)),), ()),
    ("too_few_setters", (("one of two", configuration(ACCESS, num_setters=2)),), ()),
    ("too_many_setters", (("one of none", configuration(ACCESS, num_setters=0)),), ()),
    ("setter_outside", (("in an empty section", posted(lambda bench: (StraySetter(ACCESS),))),), ()),
    ("setter_called_twice", (
        ("access", configuration(ACCESS, ACCESS)),
        ("signature", configuration(attr(), attr(), right=with_signature)),
    ), SIGNATURE),
    ("two_layouts", (
        ("a list, twice", with_buffer(lambda bench: (listed(bench, 1), listed(bench, 1)))),
        ("a list, then interleaved", with_buffer(lambda bench: (listed(bench, 1), strided(bench, 1)))),
        ("interleaved, then a list", with_buffer(lambda bench: (strided(bench, 1), listed(bench, 1)))),
    ), ()),
    ("access_bits", (("bit 30", configuration(SetAccess(1 << 30))),), ()),
    ("list_room", (
        ("one entry too many", with_buffer(lambda bench: (listed(bench, small(bench) + 1),), entries=128)),
    ), ()),
    ("interleaved_room", (
        ("one entry too many", with_buffer(lambda bench: (strided(bench, small(bench)),), entries=128)),
    ), ()),
    ("mkey_entries", (("twice as many and more", with_buffer(lambda bench: (listed(bench, 33),), entries=1)),), ()),
    ("strided_entry", (("no entry for the header", posted(without_header)),), ()),
    ("mkey_without_signature", (
        ("an mkey for layouts", with_buffer(lambda bench: (signature(crc("crc32")),), right=with_signature)),
    ), SIGNATURE),
    ("sig_flags", (("bit 1", configuration(attr(flags=2), right=with_signature)),), SIGNATURE),
    ("sig_comp_mask", (("bit 0", configuration(attr(comp_mask=1), right=with_signature)),), SIGNATURE),
    ("domain_comp_mask", (("bit 0", configuration(domain(comp_mask=1), right=with_signature)),), SIGNATURE),
    ("sig_type", (("type 2", configuration(domain(sig_type=2), right=with_signature)),), SIGNATURE),
    ("block_size", (("number 5", configuration(domain(block_size=5), right=with_signature)),), SIGNATURE),
    ("crc_type", (("type 3", configuration(domain(sig=SigCrc(3, 0)), right=with_signature)),), SIGNATURE),
    ("crc_seed", (("seed 1", configuration(domain(sig=SigCrc(0, 1)), right=with_signature)),), SIGNATURE),
    ("dif_bg_type", (("type 2", configuration(dif(bg_type=2), right=with_dif)),), DIF),
    ("dif_bg", (("bg 1", configuration(dif(bg=1), right=with_dif)),), DIF),
    ("dif_flags", (("bit 3", configuration(dif(flags=8), right=with_dif)),), DIF),
    ("copy_mask_structure", (
        ("CRC32 and T10-DIF", configuration(signature(crc("crc32"), t10(), copy=0xFF), right=with_copy_mask)),
    ), (*SIGNATURE, "signature.t10dif")),
    ("both_domains_none", (("no domain", configuration(attr(mem=None), right=with_signature)),), SIGNATURE),
    ("mixed_block_sizes", (
        ("512 and 4096", configuration(signature(crc("crc32"), crc("crc32", block=4096)), right=with_signature)),
    ), (*SIGNATURE, "block.4096")),
    ("mkey_length", (
        ("more than 32 bits", configuration(SetList((Sge(0, 0xFFFFFFFF, 0),) * 2), attr(), right=with_signature)),
    ), SIGNATURE),
    ("update_tag_flag", (("another tag", posted(other_tag)),), ()),
    ("inline_room", (("a byte too many", posted(too_much_inline)),), ()),
    ("memcpy_length", (("a byte too many", posted(memcpy_too_long)),), ("memcpy",)),
    ("check_without_signature", (
        ("an mkey for layouts", called("mlx5dv_mkey_check", lambda bench: bench.device.mkey_check(bench.mkey(1)))),
    ), ()),
    ("cancel_state", (("a QP in RTS", cancelled),), ("pipelining",)),
    ("send_queue_full", (("512 requests", posted(full_queue)),), ()),
    ("send_sges", (("64 SGEs", posted(many_sges)),), ()),
    ("dc_address", (
        ("none on a DCI", posted(without_address)),
        ("a stream on a DCI without streams", posted(address_without_streams)),
    ), ("qp.dci",)),
    ("qp_streams", (
        ("2^17 streams", called(
            "mlx5dv_create_qp",
            partial(paired, type="dci", send_ops=0, streams=1 << 17),
            partial(paired, type="dci", send_ops=0, streams=2),
        )),
    ), ("qp.dci", "qp.dci_streams")),
    ("mkey_without_crypto", (("an mkey for layouts", crypto_broken(1)),), CRYPTO),
    ("crypto_comp_mask", (("bit 0", crypto_broken(comp_mask=1)),), CRYPTO),
    ("crypto_standard", (("number 1", crypto_broken(crypto_standard=1)),), CRYPTO),
    ("crypto_order", (("number 2", crypto_broken(signature_crypto_order=2)),), CRYPTO),
    ("crypto_data_unit", (("number 5", crypto_broken(data_unit_size=5)),), CRYPTO),
    ("crypto_order_domains", (
        ("two domains, the cipher between", with_buffer(
            lambda bench: (signature(crc("crc32"), crc("crc32")), crypto(bench)), BOTH, right=with_crypto)),
    ), (*CRYPTO, *SIGNATURE)),
    ("dek_key_size", (("number 2", dek(key_size=2)),), QUERY),
    ("dek_purpose", (("number 1", dek(key_purpose=1)),), QUERY),
    ("dek_comp_mask", (("bit 1", dek(comp_mask=3)),), QUERY),
    ("dek_login", (
        ("a wrapped key without a login", dek(bytes(40), key_size=0, comp_mask=0, wrapped=True)),
    ), (*LOGIN, *QUERY)),
    ("dek_import", (("a key in plaintext", dek()),), QUERY),
    ("dek_wrapped", (("a key that does not unwrap", called("mlx5dv_dek_create", damaged, wrapped)),), (*LOGIN, *QUERY)),
    ("dek_key", (("32 bytes as a key of 64", dek(key_size=1)),), (*QUERY, "crypto.plaintext")),
    ("dek_query_login", (("after the logout", called("mlx5dv_dek_query", queried_after_logout)),), (*LOGIN, *QUERY)),
    ("dek_in_use", (("while an mkey has it", called("mlx5dv_dek_destroy", destroyed_in_use)),), QUERY),
    ("login_twice", (("a second login", called("mlx5dv_crypto_login", login_again)),), LOGIN),
    ("login_comp_mask", (
        ("bit 0", called("mlx5dv_crypto_login", partial(login_with, comp_mask=1), in_and_out)),
    ), LOGIN),
    ("login_credential", (
        ("another credential", called("mlx5dv_crypto_login", partial(login_with, credential=bytes(48)), in_and_out)),
        ("an id of nothing", called("mlx5dv_crypto_login", partial(login_with, credential_id=0xFEDCBA), in_and_out)),
    ), LOGIN),
    ("logout_without_login", (
        ("at once", called("mlx5dv_crypto_logout", lambda bench: bench.device.logout(), in_and_out)),
    ), LOGIN),
    ("login_objects", (("a second login object", called("mlx5dv_crypto_login_create", second_login_object)),), LOGIN),
)  # fmt: skip


POINTS = tuple(
    Point("errno", tuple(Side(name, look, None, needs) for name, look in sides), rule) for rule, sides, needs in BROKEN
)
