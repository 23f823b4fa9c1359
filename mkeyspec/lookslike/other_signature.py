"""Of which signature the fields of a message are, if one member of the declared one is another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mkeyspec.abi.constants import BgType, CrcType, T10difFlag
from mkeyspec.lookslike.evaluation import Budget, Evaluation
from mkeyspec.lookslike.hypothesis import USUAL, FieldsJob
from mkeyspec.lookslike.transfer import Arrival
from mkeyspec.value.signature import Crc, Signature


def other_signature(arrival: Arrival, most: int) -> Signature | None:
    """The signature that gives all fields; None if none does. `most`: bytes that are computed for each that is tried;
    of a longer message nothing is said."""
    if len(arrival.data) > most:
        return None
    for one in _others_than(arrival):
        fields = Evaluation(USUAL, Budget(most)).fields(FieldsJob(one, arrival.data, arrival.domain.block))
        if (fields == arrival.fields).all():
            return one
    return None


def _others_than(arrival: Arrival) -> Iterator[Signature]:
    """Signatures with one other member, which the fields of a message may be of. A tag is that of the first field."""
    signature = arrival.domain.signature
    if isinstance(signature, Crc):
        yield from (replace(signature, seed=seed) for seed in (0, (1 << 64) - 1))
        kinds = [replace(signature, type=int(kind)) for kind in CrcType]
        yield from (one for one in kinds if one.field_size == signature.field_size)
        return
    first = arrival.fields[0].tobytes()
    yield from (replace(signature, bg=seed) for seed in (0, 0xFFFF))
    yield from (replace(signature, bg_type=int(kind)) for kind in BgType)
    yield replace(signature, app_tag=int.from_bytes(first[2:4], "big"))
    yield replace(signature, ref_tag=int.from_bytes(first[4:8], "big"))
    yield replace(signature, flags=signature.flags ^ int(T10difFlag.REF_REMAP))
