"""The facts at a moment: what each dimension of requirements/space/dimensions.toml is while a part of the model acts.

A fact that has no meaning at a moment is None: no condition on it holds then. Facts of blocks, entries and data units
that are worked on together are lists, one value for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Union

from mkeyspec.abi.constants import MkeyFlag, SendFlag
from mkeyspec.device.model import crypto as ciphers
from mkeyspec.device.model.crypto import Crypto
from mkeyspec.device.model.key import IndirectKey, Layout, StridedLayout
from mkeyspec.device.model.queue import Queue
from mkeyspec.device.model.signature import APP_ESCAPE, APP_REF_ESCAPE, REF_REMAP, SigDomain, Signature, same_structure
from mkeyspec.device.protocol import QpAttributes
from mkeyspec.requirements.space import Fact
from mkeyspec.sabotage.conditions.history import Setting, entry_sizes, entry_skips, layout_kind, regions
from mkeyspec.sabotage.conditions.moment import Moment, Use

BLOCK_SIGNATURE, CRYPTO = int(MkeyFlag.BLOCK_SIGNATURE), int(MkeyFlag.CRYPTO)
SIGNALED, FENCE = int(SendFlag.SIGNALED), int(SendFlag.FENCE)
Facts = Union[Fact, list[int], None]


def _yes(value: object) -> str:
    return "yes" if value else "no"


def _setting(read: Callable[[Setting], Facts]) -> Callable[[Moment], Facts]:
    def fact(moment: Moment) -> Facts:
        setting = moment.setting
        if setting is None and moment.key is not None:
            setting = moment.history(moment.key).setting
        return None if setting is None else read(setting)

    return fact


def _use(read: Callable[[Use], Facts]) -> Callable[[Moment], Facts]:
    """Of a key; memory that a request names itself is none."""
    return lambda moment: None if moment.use is None or moment.use.key is None else read(moment.use)


def _domain(read: Callable[[SigDomain], Facts]) -> Callable[[Moment], Facts]:
    """Of the domain at work; before one is, of the only one that the key has."""

    def fact(moment: Moment) -> Facts:
        domain, signature = moment.domain, moment.signature
        if signature is None and moment.key is not None and not moment.building:
            signature = moment.key.signature
        if domain is None and signature is not None and None in (signature.mem, signature.wire):
            domain = signature.mem or signature.wire
        return None if domain is None else read(domain)

    return fact


def _signature(read: Callable[[Signature], Facts]) -> Callable[[Moment], Facts]:
    def fact(moment: Moment) -> Facts:
        signature = moment.signature
        if signature is None and moment.key is not None and not moment.building:
            signature = moment.key.signature
        return None if signature is None else read(signature)

    return fact


def _crypto(read: Callable[[Crypto], Facts]) -> Callable[[Moment], Facts]:
    def fact(moment: Moment) -> Facts:
        used = moment.crypto
        if used is None and moment.key is not None and not moment.building:
            used = moment.key.crypto
        return None if used is None else read(used)

    return fact


def _layout(read: Callable[[Layout], Facts]) -> Callable[[Moment], Facts]:
    def fact(moment: Moment) -> Facts:
        layout = moment.layout
        if layout is None and moment.key is not None and not moment.building:
            layout = moment.key.layout
        return None if layout is None else read(layout)

    return fact


def _queue(read: Callable[[Queue], Facts]) -> Callable[[Moment], Facts]:
    return lambda moment: None if moment.queue is None else read(moment.queue)


def _attributes(read: Callable[[QpAttributes], Facts]) -> Callable[[Moment], Facts]:
    def fact(moment: Moment) -> Facts:
        attributes = moment.attributes
        if attributes is None and moment.queue is not None:
            attributes = moment.queue.attributes
        return None if attributes is None else read(attributes)

    return fact


def _flag(bit: int) -> Callable[[Moment], Facts]:
    return lambda moment: None if moment.flags is None else _yes(moment.flags & bit)


def _create_flags(moment: Moment) -> Facts:
    flags = moment.create_flags
    if flags is None:
        if moment.key is None:
            return None
        flags = moment.key.flags
    names = [name for bit, name in ((BLOCK_SIGNATURE, "signature"), (CRYPTO, "crypto")) if flags & bit]
    return "+".join(names) or "plain"


def _keys(moment: Moment) -> Facts:
    if moment.key is None:
        return None
    for table in moment.tables.values():
        if table.keys.get(moment.key.index) is moment.key:
            others = (key for key in table.keys.values() if isinstance(key, IndirectKey) and key is not moment.key)
            return sum(not key.free for key in others)
    return None


def _entry(moment: Moment, values: Callable[[Layout], list[int]]) -> Facts:
    if moment.layout is None:
        return None
    everything = values(moment.layout)
    return everything if moment.entry is None else everything[moment.entry]


def _block(moment: Moment) -> Facts:
    if moment.bad_block is not None:
        return moment.bad_block
    if moment.some_blocks is None:
        return None
    return list(range(moment.first_block, moment.first_block + moment.some_blocks))


def _unit(moment: Moment) -> Facts:
    if moment.some_units is None:
        return None
    return list(range(moment.first_unit, moment.first_unit + moment.some_units))


def _kind(domain: SigDomain) -> Facts:
    return domain.kind if domain.crc is not None else ("t10dif_csum" if domain.bg_type else "t10dif_crc")


def _seed(domain: SigDomain) -> Facts:
    return "ones" if (domain.seed if domain.crc is not None else domain.bg) else "zeros"


def _escape(domain: SigDomain) -> Facts:
    if domain.crc is not None:
        return None
    return "app_ref" if domain.flags & APP_REF_ESCAPE else "app" if domain.flags & APP_ESCAPE else "none"


def _domains(signature: Signature) -> Facts:
    if signature.mem is not None and signature.wire is not None:
        return "both"
    return "mem" if signature.mem is not None else "wire"


def _structure(signature: Signature) -> Facts:
    if signature.mem is None or signature.wire is None:
        return "one"
    return "same" if same_structure(signature.mem, signature.wire) else "other"


def _check_mask(moment: Moment) -> Facts:
    signature, domain = moment.signature, moment.domain
    if signature is None or domain is None:
        return None
    bits = sum(bool(signature.check_mask & 0x80 >> byte) for byte in range(domain.field))
    return {0: "none", 1: "one", domain.field: "all"}.get(bits, "some")


def _copy(moment: Moment) -> Facts:
    signature = moment.signature
    if signature is None or signature.mem is None or not same_structure(signature.mem, signature.wire):
        return None
    return "mask" if id(signature) in moment.masks else "automatic"


def _order(used: Crypto) -> Facts:
    if used.encrypt_on_tx:
        return "before" if used.at == ciphers.WIRE else "after"
    return "before" if used.at == ciphers.RAW else "after"


def _with_signature(moment: Moment) -> Facts:
    key = moment.key
    if key is None or key.crypto is None:
        return None
    return "none" if key.signature is None else _domains(key.signature)


def _repeat(layout: Layout) -> Facts:
    return layout.repeat if isinstance(layout, StridedLayout) else 1


def _ends(setting: Setting, place: int) -> Facts:
    return setting.setters[place] if len(setting.setters) > 1 else None


FACTS: dict[str, Callable[[Moment], Facts]] = {
    "operation": lambda moment: moment.operation,
    "role": _use(lambda use: use.role),
    "direction": lambda moment: moment.direction,
    "service": _attributes(lambda attributes: attributes.type),
    "posted": lambda moment: None if moment.operation is None else "raw" if moment.raw else "builder",
    "size": lambda moment: moment.size,
    "offset": _use(lambda use: use.offset),
    "sges": _use(lambda use: use.sges),
    "sge": _use(lambda use: use.sge),
    "message": _use(lambda use: use.message),
    "end": lambda moment: moment.end or _use(lambda use: use.end)(moment),
    "wr": lambda moment: moment.wr,
    "wrs": lambda moment: moment.wrs,
    "signaled": _flag(SIGNALED),
    "fence": _flag(FENCE),
    "sq_sig_all": _attributes(lambda attributes: _yes(attributes.sq_sig_all)),
    "room": _attributes(lambda attributes: "enlarged" if attributes.max_inline_data else "default"),
    "pending": _queue(lambda queue: len(queue.pending)),
    "posts": _queue(lambda queue: queue.head),
    "create_flags": _create_flags,
    "max_entries": lambda moment: moment.max_entries or (moment.key.entries if moment.key else None),
    "configured_by": _setting(lambda setting: setting.configured_by),
    "configuration": _setting(lambda setting: setting.configuration),
    "setters": _setting(lambda setting: setting.subset),
    "first_setter": _setting(lambda setting: _ends(setting, 0)),
    "last_setter": _setting(lambda setting: _ends(setting, -1)),
    "setter": lambda moment: moment.setter,
    "reset": _setting(lambda setting: _yes(setting.reset)),
    "signature_before": _setting(lambda setting: setting.signature_before),
    "layout_before": _setting(lambda setting: setting.layout_before),
    "life": _setting(lambda setting: setting.life),
    "error": lambda moment: None if moment.key is None else moment.history(moment.key).error,
    "keys": _keys,
    "layout": _layout(lambda layout: layout_kind(layout)),
    "entries": _layout(lambda layout: len(layout.entries)),
    "entry": lambda moment: _entry(moment, lambda layout: list(range(len(layout.entries)))),
    "entry_size": lambda moment: _entry(moment, entry_sizes),
    "repeat": _layout(_repeat),
    "skip": lambda moment: _entry(moment, entry_skips),
    "nesting": lambda moment: moment.depth,
    "regions": _layout(regions),
    "kind": _domain(_kind),
    "seed": _domain(_seed),
    "block_size": _domain(lambda domain: str(domain.block)),
    "side": lambda moment: moment.side,
    "domains": _signature(_domains),
    "structure": _signature(_structure),
    "copy": _copy,
    "check_mask": _check_mask,
    "blocks": lambda moment: moment.blocks,
    "block": _block,
    "tail": lambda moment: moment.tail,
    "remap": _domain(lambda domain: None if domain.crc is not None else _yes(domain.flags & REF_REMAP)),
    "escape": _domain(_escape),
    "part": lambda moment: moment.part,
    "encrypt": _crypto(lambda used: _yes(used.encrypt_on_tx)),
    "crypto_order": _crypto(_order),
    "unit_size": _crypto(lambda used: str(used.unit)),
    "units": lambda moment: moment.units,
    "unit": _unit,
    "key_bits": _crypto(lambda used: str(len(used.key.key) * 4)),
    "with_signature": _with_signature,
}
"""By dimension."""


def some(values: Facts) -> Sequence[Fact]:
    """The facts as a list, none where there is none."""
    if values is None:
        return ()
    return values if isinstance(values, list) else (values,)


def fact(moment: Moment, dimension: str) -> Facts:
    """What a dimension is now."""
    return FACTS[dimension](moment)
