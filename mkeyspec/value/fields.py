"""The fields of signed blocks, computed by the references, whole buffers at a time."""

from __future__ import annotations

from mkeyspec.abi.constants import BgType, CrcType
from mkeyspec.reference.buffer import Buffer, Octets
from mkeyspec.reference.crc import CRC32, CRC32C, CRC64_XP10, T10, CrcParameters, crc_blocks
from mkeyspec.reference.dif import CSUM, Guard, dif_blocks
from mkeyspec.value.signature import Crc, Signature

CRC_PARAMETERS: dict[int, CrcParameters] = {
    int(CrcType.CRC32): CRC32,
    int(CrcType.CRC32C): CRC32C,
    int(CrcType.CRC64_XP10): CRC64_XP10,
}
GUARD_PARAMETERS: dict[int, Guard] = {int(BgType.CRC): T10, int(BgType.CSUM): CSUM}


def stored_fields(
    signature: Signature, data: Buffer, block: int, index: int = 0, app_tags: tuple[int, ...] = ()
) -> Octets:
    """The fields of all blocks of `data`, (blocks, field_size) of uint8, as they are in memory and on the wire.

    `index`: the number of the first block, for REF_REMAP. `app_tags`: one a block, instead of the signature's.
    ValueError for a type the pages do not have, and unless `data` is whole blocks.
    """
    if isinstance(signature, Crc):
        parameters = CRC_PARAMETERS.get(signature.type)
        if parameters is None:
            raise ValueError(f"there is no CRC of type {signature.type}")
        return crc_blocks(parameters, data, block, signature.seed)
    guard = GUARD_PARAMETERS.get(signature.bg_type)
    if guard is None:
        raise ValueError(f"there is no block guard of type {signature.bg_type}")
    return dif_blocks(
        data,
        block,
        guard=guard,
        bg=signature.bg & 0xFFFF,
        app_tags=app_tags or signature.app_tag & 0xFFFF,
        ref_tag=signature.ref_tag,
        step=int(signature.remap),
        index=index,
    )
