"""Rules of the crypto setter: mlx5dv_wr_set_mkey_crypto(3)."""

from __future__ import annotations

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.abi.constants import BLOCK_BYTES, BLOCK_ENUM, CryptoOrder, MkeyFlag
from mkeyspec.compiler.check.context import Context
from mkeyspec.compiler.check.mkey_state import check_exists
from mkeyspec.compiler.check.state import CRYPTO, SIGNATURE, AbstractMkey, overridden
from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.value.signature import PLAIN, Domain

AES_XTS = 0
KEYTAG_BYTES = 8
_AFTER = int(CryptoOrder.SIGNATURE_AFTER_CRYPTO_ON_TX)
_BEFORE = int(CryptoOrder.SIGNATURE_BEFORE_CRYPTO_ON_TX)

ONE_DOMAIN = {(True, _AFTER), (False, _BEFORE)}
"""(encrypt_on_tx, order) whose rows of the page's table have one signature domain only (XCRY-07)."""


def check_crypto(context: Context, request: plan.Configure, setter: plan.SetCrypto, key: AbstractMkey) -> None:
    """One call of mlx5dv_wr_set_mkey_crypto on `key`."""
    if not key.has(MkeyFlag.CRYPTO):
        context.broken(
            "mkey_without_crypto",
            f"`{request.mkey}` was created without CRYPTO",
            setter,
            fallback=request,
            notes=context.declared(request.mkey),
            help=f"mkey {request.mkey} {{ crypto }}",
        )
    dek = context.state.dek(setter.dek)
    if check_exists(context, request, setter.dek) and dek is not None and dek.pd != key.pd:
        context.broken(
            "dek_pd",
            f"`{setter.dek}` is of another protection domain than `{request.mkey}`",
            setter,
            "dek",
            fallback=request,
            notes=context.declared(setter.dek),
            help="give both of them the same `pd`",
        )
    if setter.keytag is not None:
        check_keytag(context, len(setter.keytag), setter, request)
    comp_mask, by_but = overridden(setter.but, "comp_mask", 0)
    if comp_mask != 0:
        context.broken(
            "crypto_comp_mask",
            "comp_mask is reserved and must be 0",
            setter,
            "comp_mask",
            fallback=request,
            by_but=by_but,
            definite=comp_mask is not None,
        )
    standard, by_but = overridden(setter.but, "crypto_standard", AES_XTS)
    if standard != AES_XTS:
        context.broken(
            "crypto_standard",
            "crypto_standard is AES_XTS (0) or nothing",
            setter,
            "crypto_standard",
            fallback=request,
            by_but=by_but,
            definite=standard is not None,
        )
    order, by_but = overridden(setter.but, "signature_crypto_order", setter.order)
    if order not in (_AFTER, _BEFORE):
        context.broken(
            "crypto_order",
            f"signature_crypto_order {order} is none of the page's two",
            setter,
            "order",
            fallback=request,
            by_but=by_but,
            definite=order is not None,
        )
    unit, by_but = overridden(setter.but, "data_unit_size", BLOCK_ENUM.get(setter.data_unit, -1))
    if unit not in BLOCK_BYTES:
        context.broken(
            "crypto_data_unit",
            f"data_unit_size {unit} is none of enum mlx5dv_block_size"
            if by_but
            else f"data units of {setter.data_unit} bytes: the pages have {', '.join(map(str, BLOCK_ENUM))}",
            setter,
            "data_unit",
            fallback=request,
            help="" if by_but else "to pass a value outside the enum: `crypto, but data_unit_size 5 { … }`",
            by_but=by_but,
            definite=unit is not None,
            # What no value of the enum says, no device can be asked to refuse.
            phases=None if by_but else (),
        )


def check_order(context: Context, request: plan.Configure, key: AbstractMkey) -> None:
    """The order against the signature domains as they are after this configuration, whoever set them (XCRY-07)."""
    crypto = None if key.lost(CRYPTO) else key.crypto
    mem, wire = PLAIN if key.lost(SIGNATURE) else key.domains
    touched: plan.Setter | None = None
    if request.reset_signature:
        mem, wire = None, None
    for setter in request.setters:
        match setter:
            case plan.SetCrypto():
                crypto, touched = setter, setter
            case plan.SetSignature():
                mem, wire = setter.mem, setter.wire
                touched = touched or setter
            case plan.SetAccess() | plan.SetLayout():
                pass
            case _:
                assert_never(setter)
    if touched is None or crypto is None or mem is None or wire is None:
        return
    encrypt, by_but = overridden(crypto.but, "encrypt_on_tx", int(crypto.encrypt_on_tx))
    order, forced_order = overridden(crypto.but, "signature_crypto_order", crypto.order)
    if (bool(encrypt), order) in ONE_DOMAIN:
        context.broken(
            "crypto_order_domains",
            f"signature {'after' if order == _AFTER else 'before'} crypto on TX, with "
            f"{'en' if encrypt else 'de'}cryption on TX, goes with one signature domain; here are two",
            touched,
            "order",
            fallback=request,
            notes=(Note(f"mem is {_text(mem)}, wire is {_text(wire)}"),),
            by_but=by_but or forced_order,
        )


def _text(domain: Domain) -> str:
    return f"{domain.signature.describe()} every {domain.block}"


def check_keytag(context: Context, length: int, thing: plan.Step | plan.Setter, fallback: object = None) -> None:
    """`char keytag[8]` of mlx5dv_dek_init_attr and of mlx5dv_crypto_attr."""
    if length != KEYTAG_BYTES:
        context.broken(
            "keytag_size",
            f"a keytag has {KEYTAG_BYTES} bytes, and this one {length}",
            thing,
            "keytag",
            fallback=fallback,
            help="keytag fill(1, 8)",
        )
