"""The configurations of a scenario: signatures, layouts, crypto attributes (see `scenario.py`)."""

from __future__ import annotations

from dataclasses import replace

from mkeyspec.device.protocol import (
    Configure,
    CryptoAttr,
    Interleaved,
    Memory,
    MrInterleaved,
    MrList,
    SetAccess,
    SetCrypto,
    SetInterleaved,
    SetList,
    SetSignature,
    Setter,
    Sge,
    SigBlockAttr,
    SigBlockDomain,
    SigCrc,
    SigT10dif,
    WorkRequest,
)
from tests.quality.scenario_requests import Data
from tests.quality.scenario_world import (
    ARITHMETIC,
    CRYPTO,
    ENTRIES,
    INLINE,
    LENGTHS,
    M16,
    MODULES,
    RIGHTS,
    SIGNALED,
    SIGNATURE,
    Key,
    World,
)


class Configurations(World):
    """What keys are asked to be."""

    def _domain(self, size: int | None = None) -> SigBlockDomain:
        rng = self.rng
        block = rng.choice((0, 0, 0, 1, 2, 3, 4)) if size is None else size
        if rng.random() < (0.1 if self.focus == "escapes" else 0.5):
            type_ = rng.randrange(3)
            width = 64 if type_ == 2 else 32
            seed = rng.choice((0, (1 << width) - 1))
            if type_ != 2 and rng.random() < 0.2:
                seed |= rng.getrandbits(32) << 32
            return SigBlockDomain(1, SigCrc(type_, seed), block)
        csum = int(rng.random() < 0.35)
        ref = rng.choice((0, 5, 0x11223344, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFF0, rng.getrandbits(32)))
        flags = rng.choice((2, 3, 4, 5, 2, 4, 0) if self.focus == "escapes" else (0, 1, 1, 1, 2, 3, 4, 5, 0))
        bg = 0 if csum else rng.choice((0, M16))
        return SigBlockDomain(
            0, SigT10dif(csum, bg, rng.choice((0, 0x1234, 0xFF00, rng.getrandbits(16))), ref, flags), block
        )

    def _signature(self) -> SigBlockAttr:
        rng = self.rng
        first = self._domain()
        second = rng.choice((first, replace(first, sig=self._changed(first.sig)), self._domain(first.block_size)))
        mem, wire = rng.choice(((first, None), (None, first), (first, second), (first, second)))
        mask = rng.choice(
            (*[0xFF] * 6, 0xFF, 0xFF, 0xFF, 0xF0, 0xC0, 0x30, 0x0F, 0, 1 << rng.randrange(8), rng.getrandbits(8))
        )
        copied = mem is not None and wire is not None and Data.alike(mem, wire) and rng.random() < 0.3
        return SigBlockAttr(mem, wire, int(copied), mask, rng.choice((0, 0xFF, 0xC0, 0x30, 0x0F, rng.getrandbits(8))))

    def _changed(self, sig: SigCrc | SigT10dif) -> SigCrc | SigT10dif:
        rng = self.rng
        if isinstance(sig, SigCrc):
            return sig
        return replace(sig, **rng.choice(({"app_tag": 0x4321}, {"ref_tag": 99}, {"bg": 0}, {"flags": sig.flags ^ 1})))

    def _configured(self, key: Key, *, whole: bool) -> list[WorkRequest]:
        """In one request, or what is of the layout in one and the attributes in another."""
        made = self._configure(key, whole=whole)
        if not isinstance(made, Configure) or (self.inline and self.rng.random() < 0.7):
            return [made]
        parts = [
            tuple(one for one in made.setters if isinstance(one, kinds))
            for kinds in ((SetAccess, SetList, SetInterleaved), (SetSignature, SetCrypto))
        ]
        return [
            replace(
                made, wr_id=self._id(), setters=part, num_setters=len(part), conf_flags=made.conf_flags * (not number)
            )
            for number, part in enumerate(parts)
            if part or not number
        ]

    def _configure(self, key: Key, *, whole: bool) -> WorkRequest:
        """`whole`: access and layout at least, and what the key was created for."""
        rng = self.rng
        kinds = [kind for kind in ("access", "layout", "signature", "crypto") if whole or rng.random() < 0.4]
        signature = key.signature
        if "signature" in kinds and key.flags & SIGNATURE and (rng.random() < 0.85):
            before = key.signature
            signature = self._signature()
            if before is not None and rng.random() < 0.3:
                signature = replace(before, check_mask=rng.choice((0xFF, 0, 0xC0, before.check_mask)))
            if before is not None and before.mem is not None and rng.random() < 0.25:
                signature = replace(before, mem=replace(before.mem, sig=self._changed(before.mem.sig)), flags=0)
            key.signature = signature
            key.domains = Data.domains(ARITHMETIC, signature)
        else:
            kinds = [kind for kind in kinds if kind != "signature"]
        setters: list[Setter] = []
        flags = INLINE | rng.choice((0, SIGNALED, SIGNALED))
        conf_flags = int(rng.random() < 0.1)
        if conf_flags and "signature" not in kinds:
            key.signature, key.domains = None, (None, None)
        layout: SetList | SetInterleaved | None = None
        if "layout" in kinds:
            layout = self._layout(key)
            setters.append(layout)
        if "access" in kinds:
            setters.append(SetAccess(rng.choice(RIGHTS)))
        if "signature" in kinds and signature is not None:
            setters.append(SetSignature(signature))
        if "crypto" in kinds and key.flags & CRYPTO and rng.random() < 0.93:
            key.crypto = self._crypto()
            if key.crypto is not None:
                setters.append(SetCrypto(key.crypto))
        if len(setters) == 2 and layout is not None and {"access", "layout"} == set(kinds) and rng.random() < 0.6:
            access = next(one for one in setters if isinstance(one, SetAccess)).access_flags
            if isinstance(layout, SetList):
                return MrList(self._id(), flags, key.mkey, access, layout.sges)
            return MrInterleaved(self._id(), flags, key.mkey, access, layout.repeat_count, layout.entries)
        rng.shuffle(setters)
        return Configure(self._id(), flags, key.mkey, len(setters), tuple(setters), conf_flags)

    def _crypto(self) -> CryptoAttr | None:
        rng = self.rng
        tag = rng.randbytes(8) if rng.random() < 0.2 else None
        dek = self._try(self.device.dek, rng.randbytes(rng.choice((32, 64))), tag)
        if dek is None:
            return None
        tweak = rng.choice((bytes(16), rng.randbytes(16), b"\xff" * 8 + bytes(8), b"\xfe" + b"\xff" * 7 + bytes(8)))
        given = tag or bytes(8)
        if tag and rng.random() < 0.3:
            given = rng.randbytes(8)
        return CryptoAttr(0, rng.random() < 0.5, rng.randrange(2), rng.choice((0, 0, 1, 2, 3, 4)), tweak, dek, given)

    def _layout(self, key: Key) -> SetList | SetInterleaved:
        """Room for some blocks of the key's signature, in pieces of this end's memories and keys."""
        rng = self.rng
        domain = key.domains[0] or key.domains[1]
        side = key.mkey.side
        if domain is not None:
            frame = domain.block + (key.domains[0].field if key.domains[0] else 0)
            blocks = rng.choice(self.scale)
            total = frame * blocks + (rng.randrange(1, domain.block) if rng.random() < 0.15 else 0)
        elif key.flags & CRYPTO:
            total = rng.choice((512, 1024, 2048, 4096, 4160, 8192, 520 * 8))
        else:
            total = rng.choice(LENGTHS)
        most = min(rng.choice(ENTRIES), total)
        if rng.random() < 0.93:
            most = max(1, min(most, key.mkey.max_entries - 1, MODULES[self.inline]))
        memories = self.memories[side]
        if rng.random() < 0.6:
            return SetList(self._list(key, total, most, memories))
        repeat = rng.choice((1, 2, 3, 8, 9)) if rng.random() < 0.93 else rng.choice((256, 300))
        entries = []
        key.segments = []
        for number in range(max(1, min(most, 40))):
            count = max(1, -(-total // (repeat * max(1, most))))
            memory = memories[number % 4] if rng.random() < 0.8 else memories[0]
            if memory.length < (count + 128) * repeat:
                memory = memories[0]
            if rng.random() < 0.3:
                count += rng.choice((1, 7, 8, 64))
            skip = rng.choice((0, 0, 1, 2, 8, 64))
            room = memory.length - (count + skip) * repeat
            start = rng.randrange(room) if room > 0 else 0
            entries.append(Interleaved(memory.addr + start, count, skip, memory.lkey))
        for turn in range(repeat):
            for entry in entries:
                at = entry.addr + turn * (entry.bytes_count + entry.bytes_skip)
                memory = next(one for one in memories if one.lkey == entry.lkey)
                key.segments.append((memory, at - memory.addr, entry.bytes_count))
        key.length = sum(entry.bytes_count for entry in entries) * repeat
        return SetInterleaved(repeat, tuple(entries))

    def _list(self, key: Key, total: int, most: int, memories: list[Memory]) -> tuple[Sge, ...]:
        rng = self.rng
        cuts = sorted(rng.sample(range(1, total), min(most, total) - 1)) if most > 1 else []
        sges, segments = [], []
        others = [one for one in self.keys if one is not key and one.mkey.side == key.mkey.side and one.length > 64]
        for first, end in zip([0, *cuts], [*cuts, total], strict=True):
            size = end - first
            other = rng.choice(others) if others and rng.random() < 0.12 else None
            if other is not None and other.length >= size:
                sges.append(Sge(rng.randrange(other.length - size + 1), size, other.mkey.lkey))
                continue
            memory = rng.choice(memories if rng.random() < 0.1 else memories[:4])
            if memory.length <= size:
                memory = memories[0]
            start = rng.randrange(max(1, memory.length - size))
            sges.append(Sge(memory.addr + start, size, memory.lkey))
            segments.append((memory, start, size))
        key.length, key.segments = total, segments
        return tuple(sges)
