"""Objects of a case under pyverbs: protection domains, memories, mkeys and DEKs, by the handles that the rig knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.device.protocol import (
    Dek,
    DekAttr,
    Login,
    Memory,
    Mkey,
    NoSuchCall,
    Pd,
    Refused,
    Side,
    SignatureError,
    Unsupported,
)
from mkeyspec.device.verbs import native, requests
from mkeyspec.device.verbs.memory import Arena, RegionKey, VerbsRegion

SIDES: tuple[Side, Side] = ("owner", "peer")
FIRST_HANDLE = 16
LONGEST_MEMORY = 1 << 30
WRAPPED_BYTES = (40, 48, 72, 80)
"""Of a wrapped key: two AES keys, perhaps a keytag, and the 8 bytes that AES key wrap adds."""

_T = TypeVar("_T")


class Objects:
    """Everything of one context that is not a queue. `default_pds` and the arena live as long as the device."""

    def __init__(self, pyverbs: Any, context: Any, first_handle: int = FIRST_HANDLE) -> None:
        self.pyverbs = pyverbs
        self.context = context
        self.arena = Arena(pyverbs.MR)
        self.default_pds: dict[Side, Any] = {}
        self.signed = 0
        """How many mkeys of the case can have a signature error waiting in a CQ."""
        self._handle = first_handle
        self._memories: dict[int, VerbsRegion] = {}
        self._pds: dict[int, Any] = {}
        self._mkeys: dict[int, Any] = {}
        self._deks: dict[int, Any] = {}
        self.logins: dict[int, Any] = {}
        for side in SIDES:
            self.default_pds[side] = self.call("ibv_alloc_pd", lambda: pyverbs.PD(context))

    def next(self) -> int:
        """A handle that no object of this device had."""
        self._handle += 1
        return self._handle

    def call(self, what: str, call: Callable[[], _T]) -> _T:
        """A call of pyverbs that may be refused."""
        try:
            return call()
        except self.pyverbs.PyverbsRDMAError as error:
            raise requests.refused(what, error) from None
        except OverflowError as error:
            raise NoSuchCall(f"{what}: a number is more than its C type holds ({error})") from None

    def pd(self, side: Side) -> Pd:
        made = Pd(self.next(), side)
        self._pds[made.handle] = self.call("ibv_alloc_pd", lambda: self.pyverbs.PD(self.context))
        return made

    def pd_of(self, side: Side, pd: Pd | None) -> Any:
        if pd is None:
            return self.default_pds[side]
        found = self._pds.get(pd.handle)
        if found is None:
            raise NoSuchCall("a protection domain of another case")
        return found

    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Pd | None = None) -> Memory:
        if not 0 <= length <= LONGEST_MEMORY or not 0 <= misaligned < 4096:
            raise Refused("ibv_reg_mr", 22)
        key = RegionKey(side, length, access, misaligned)
        owner = self.pd_of(side, pd)
        region = self.call("ibv_reg_mr", lambda: self.arena.take(owner, key, pooled=pd is None))
        handle = self.next()
        self._memories[handle] = region
        return Memory(handle, side, region.addr, length, int(region.mr.lkey), int(region.mr.rkey))

    def _stored(self, memory: Memory, offset: int, length: int, call: str) -> npt.NDArray[np.uint8]:
        region = self._memories.get(memory.handle)
        if region is None or offset < 0 or length < 0 or offset + length > len(region.data):
            raise Refused(call, 14)
        piece: npt.NDArray[np.uint8] = region.data[offset : offset + length]
        return piece

    def write(self, memory: Memory, offset: int, data: bytes | npt.NDArray[np.uint8]) -> None:
        source = data if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
        self._stored(memory, offset, len(source), "write")[:] = source

    def read(self, memory: Memory, offset: int, length: int) -> npt.NDArray[np.uint8]:
        # A copy: what a device still writes must not change what is being judged.
        return np.array(self._stored(memory, offset, length, "read"), dtype=np.uint8)

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        flags = requests.fit(create_flags, requests.U32, "create_flags")
        entries = requests.fit(max_entries, requests.U16, "max_entries")
        owner = self.pd_of(side, pd)
        made = self.call("mlx5dv_create_mkey", lambda: self.pyverbs.Mlx5Mkey(owner, flags, entries))
        handle = self.next()
        self._mkeys[handle] = made
        self.signed += bool(create_flags & MkeyFlag.BLOCK_SIGNATURE)
        return Mkey(handle, side, int(made.lkey), int(made.rkey), int(made.max_entries))

    def mkey_of(self, mkey: Mkey) -> Any:
        found = self._mkeys.get(mkey.handle)
        if found is None:
            raise NoSuchCall("an mkey of another case")
        return found

    def retag(self, mkey: Mkey, tag: int) -> Mkey:
        found = self.mkey_of(mkey)
        pointer = native.mkey_pointer(found)
        if pointer is None:
            raise Unsupported("this pyverbs hides its mkeys' keys: no tag can be set")
        lkey, rkey = native.retag(pointer, tag)
        return Mkey(mkey.handle, mkey.side, lkey, rkey, mkey.max_entries)

    def destroy(self, mkey: Mkey) -> None:
        self.call("mlx5dv_destroy_mkey", self.mkey_of(mkey).close)
        del self._mkeys[mkey.handle]

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        found = self.mkey_of(mkey)
        answer = self.call("mlx5dv_mkey_check", found.mkey_check)
        kind = int(answer.err_type)
        if kind == 0:
            return None
        told = answer.sig_err
        return SignatureError(kind, int(told.actual_value), int(told.expected_value), int(told.offset))

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        pyverbs, given = self.pyverbs, attr or DekAttr()
        if len(key) not in (WRAPPED_BYTES if given.wrapped else (32, 64)):
            raise NoSuchCall("an AES-XTS key has 32 or 64 bytes")
        size = requests.enum_fit(len(key) // 64 if given.key_size is None else given.key_size, "key_size")
        login = {} if given.login is None else {"crypto_login": self.login_of(given.login)}
        purpose = requests.enum_fit(given.key_purpose, "key_purpose")
        mask = requests.fit(given.comp_mask, requests.U64, "comp_mask")

        def make() -> Any:
            # pyverbs copies 128 bytes of key and 8 of opaque, whatever it is given.
            attr = pyverbs.Mlx5DEKInitAttr(
                self.pd_of("owner", given.pd),
                size,
                given.has_keytag or keytag is not None,
                purpose,
                given.opaque[:8].ljust(8, b"\0"),
                (key + (keytag or b"")).ljust(128, b"\0"),
                mask,
                **login,
            )
            return pyverbs.Mlx5DEK(self.context, attr)

        made = Dek(self.next())
        self._deks[made.handle] = self.call("mlx5dv_dek_create", make)
        return made

    def dek_of(self, dek: Dek) -> Any:
        found = self._deks.get(dek.handle)
        if found is None:
            raise NoSuchCall("a DEK of another case")
        return found

    def login_of(self, login: Login) -> Any:
        found = self.logins.get(login.handle)
        if found is None:
            raise NoSuchCall("a login of another case")
        return found

    def destroy_dek(self, dek: Dek) -> None:
        self.call("mlx5dv_dek_destroy", self.dek_of(dek).close)
        del self._deks[dek.handle]

    # End -------------------------------------------------------------------------------------

    def close_keys(self) -> None:
        """Close first what a QP may still use."""
        close_all([*self._mkeys.values(), *self._deks.values()])
        self._mkeys.clear()
        self._deks.clear()
        self.signed = 0

    def give_back(self, *, keep: bool) -> None:
        """Close after the QPs: memory, and the case's protection domains."""
        for region in self._memories.values():
            self.arena.give_back(region, keep=keep)
        self._memories.clear()
        if not keep:
            self.arena.close()
        close_all(self._pds.values())
        self._pds.clear()

    def close(self) -> None:
        close_all(self.default_pds.values())
        self.default_pds.clear()


def close_all(objects: Iterable[Any]) -> None:
    """Close each, also if others fail; then raise the first error."""
    first: Exception | None = None
    for item in objects:
        try:
            item.close()
        except Exception as error:
            first = first or error
    if first is not None:
        raise first
