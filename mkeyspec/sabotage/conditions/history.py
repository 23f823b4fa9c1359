"""What happened to a key since it was created: the part of a moment's facts that the model itself does not keep."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from mkeyspec.abi.constants import ConfFlag
from mkeyspec.device.model.key import IndirectKey, Layout, ListLayout, StridedLayout
from mkeyspec.device.model.signature import Signature, same_structure
from mkeyspec.device.protocol import (
    Configure,
    MrInterleaved,
    MrList,
    SetAccess,
    SetCrypto,
    SetInterleaved,
    SetList,
    SetSignature,
)

RESET = int(ConfFlag.RESET_SIG_ATTR)
SETTERS: dict[type, str] = {
    SetAccess: "access", SetList: "layout", SetInterleaved: "layout", SetSignature: "signature", SetCrypto: "crypto",
}  # fmt: skip
Configuring = Configure | MrList | MrInterleaved


def setters_of(request: Configuring) -> tuple[str, ...]:
    """The kinds of its setters, in the order of their calls."""
    if isinstance(request, Configure):
        return tuple(SETTERS[setter.__class__] for setter in request.setters)
    return "access", "layout"


def layout_kind(layout: Layout | None) -> str:
    if layout is None:
        return "none"
    return "interleaved" if isinstance(layout, StridedLayout) else "list"


@dataclass(slots=True)
class Setting:
    """One configuration of a key: the call that made it, its setters, what it replaces."""

    configured_by: str = "configure"
    setters: tuple[str, ...] = ()
    reset: bool = False
    configuration: int = 1
    life: str = "created"
    signature_before: str = "none"
    layout_before: str = "none"

    @property
    def subset(self) -> str:
        return "+".join(sorted(set(self.setters))) or "none"


@dataclass(slots=True)
class History:
    """Of one key. `setting`: its last configuration, None before the first. `messages` since then."""

    key: IndirectKey
    setting: Setting | None = None
    count: int = 0
    messages: int = 0
    error: str = "none"
    event: str = "created"
    """What last happened to the key, besides messages."""
    settings: list[Setting] = field(default_factory=list)

    def next(self, request: Configuring) -> Setting:
        """What the key's configuration by this request would be."""
        by = {Configure: "configure", MrList: "mr_list", MrInterleaved: "mr_interleaved"}[request.__class__]
        reset = isinstance(request, Configure) and bool(request.conf_flags & RESET)
        setters = setters_of(request)
        before = self.setting or Setting()
        made = Setting(by, setters, reset, self.count + 1, self.event, before.signature_before, before.layout_before)
        if "layout" in setters:
            made.layout_before = layout_kind(self.key.layout)
        return made

    def configured(self, setting: Setting, signature: Signature | None) -> None:
        """The configuration is being carried out; `signature` is the one that it sets."""
        if signature is not None:
            setting = replace(setting, signature_before=_relation(self.key.signature, signature))
        self.count += 1
        self.setting = replace(setting, configuration=self.count, life=self.event)
        self.messages = 0
        self.event = "configured"


def _relation(before: Signature | None, now: Signature) -> str:
    if before is None:
        return "none"
    if before == now:
        return "equal"
    pairs = ((before.mem, now.mem), (before.wire, now.wire))
    alike = all((old is None) == (new is None) and (old is None or same_structure(old, new)) for old, new in pairs)
    return "same_type" if alike else "other_type"


def regions(layout: Layout) -> int:
    """How many keys the entries name."""
    return len({entry[0] for entry in layout.entries})


def entry_sizes(layout: Layout) -> list[int]:
    return [entry[2] for entry in layout.entries]


def entry_skips(layout: Layout) -> list[int]:
    if isinstance(layout, ListLayout):
        return [0] * len(layout.entries)
    return [stride - count for _, _, count, stride in layout.entries]
