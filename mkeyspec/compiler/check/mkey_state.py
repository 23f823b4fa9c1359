"""Rules of what an mkey is in: created, configured, unknown after an abort, invalidated."""

from __future__ import annotations

from collections.abc import Iterator

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.compiler.check.context import Look, place
from mkeyspec.compiler.check.state import ACCESS, ALL, CRYPTO, LAYOUT, SIGNATURE, AbstractMkey, may_be_refused
from mkeyspec.value.layout import Chunk, Interleaved, Layout, Part, Repeated


def look_exists(look: Look, request: object, name: str) -> bool:
    """False, and put down, if the thing's creation was claimed to fail."""
    thing = look.world.things.get(name)
    if thing is None or getattr(thing, "created", True):
        return True
    look.broken(
        "not_created",
        f"`{name}` does not exist: its creation is claimed to be rejected",
        request,
        notes=look.declared(name),
    )
    return False


def needed(key: AbstractMkey, use: plan.Use | None) -> int:
    """The properties that a use of the mkey relies on; with `use` None: any."""
    properties = LAYOUT
    if key.has(MkeyFlag.BLOCK_SIGNATURE):
        properties |= SIGNATURE
    if key.has(MkeyFlag.CRYPTO):
        properties |= CRYPTO
    if use is None or use.right:
        properties |= ACCESS
    return properties


def look_state(look: Look, request: object, part: Part, key: AbstractMkey, use: plan.Use | None) -> bool:
    """Whether the mkey can be used as far as its state is concerned; if not, that is the one fault there is.

    "The next configuration of it should not assume any previous state of the MKey, i.e. signature/crypto should be
    re-configured or reset, as required" (sig_block(3), Notes): property by property, only what the use relies on.
    """
    lost = key.unknown & needed(key, use)
    if lost and not _is_as_open(look, key):
        look.broken(
            "unknown_state",
            f"`{part.name}` is in an unknown state {_since(key)}"
            if lost == needed(key, use) or key.unknown == ALL
            else f"{_names(lost)} of `{part.name}` {'is' if lost & (lost - 1) == 0 else 'are'} unknown {_since(key)}",
            part,
            fallback=request,
            help=_mend(part.name, key, use),
        )
        return False
    if key.invalidated is not None:
        look.broken(
            "invalidated_key",
            f"`{part.name}` is invalidated at {place(key.invalidated)} and not configured since",
            part,
            fallback=request,
            reason=None if use is None else use.reason,
        )
        return False
    return True


def _is_as_open(look: Look, key: AbstractMkey) -> bool:
    """Whether the step may be refused itself, and the key is unknown since a statement of which that is so."""
    return key.unknown_by == "undecided" and may_be_refused(getattr(look.step, "claim", ()))


def look_inside(look: Look, request: object, part: Part, key: AbstractMkey) -> bool:
    """False, and put down, if the layout leads through an mkey that has no layout that is known."""
    left, seen = [key], {part.name}
    while left:
        for name in _keys_of(left.pop().layout):
            inner = look.mkey(name)
            if inner is None or name in seen:
                continue
            seen.add(name)
            left.append(inner)
            if inner.unknown & LAYOUT and not _is_as_open(look, inner):
                look.broken(
                    "unknown_state",
                    f"`{name}`, to which the layout of `{part.name}` leads, is in an unknown state {_since(inner)}",
                    part,
                    fallback=request,
                    help=_mend(name, inner, None),
                )
                return False
    return True


def _keys_of(layout: Layout | None) -> Iterator[str]:
    entries: tuple[object, ...] = ()
    if layout is not None:
        entries = layout.entries if isinstance(layout, Interleaved) else layout.parts
    for entry in entries:
        inner = entry.part if isinstance(entry, Repeated) else entry
        target = inner.part if isinstance(inner, Chunk) else inner
        if isinstance(target, Part):
            yield target.name


def _since(key: AbstractMkey) -> str:
    words = {"abort": "the abort", "undecided": "the statement that may be refused"}
    what = words.get(key.unknown_by, "the section refused")
    return "" if key.unknown_at is None else f"after {what} at {place(key.unknown_at)}"


def _names(properties: int) -> str:
    names = [
        n
        for bit, n in ((ACCESS, "access"), (LAYOUT, "layout"), (SIGNATURE, "signature"), (CRYPTO, "crypto"))
        if properties & bit
    ]
    return " and ".join(names)


def _mend(name: str, key: AbstractMkey, use: plan.Use | None) -> str:
    reset = ", reset_signature" if key.has(MkeyFlag.BLOCK_SIGNATURE) else ""
    access = "access …; " if use is None or use.right else ""
    crypto = "; crypto { … }" if key.has(MkeyFlag.CRYPTO) else ""
    return f"configure {name}{reset} {{ {access}layout …{crypto} }}"


def look_check(look: Look, step: plan.Check) -> None:
    """mlx5dv_mkey_check of an mkey that can have no signature (XCHK-01)."""
    if not look_exists(look, step, step.mkey):
        return
    key = look.mkey(step.mkey)
    if key is not None and not key.has(MkeyFlag.BLOCK_SIGNATURE):
        look.broken(
            "check_without_signature",
            f"`{step.mkey}` was created without BLOCK_SIGNATURE",
            step,
            notes=look.declared(step.mkey),
            help=f"mkey {step.mkey} {{ block_signature }}",
        )
    elif key is not None and key.unknown_by == "undecided" and key.unknown and not _is_as_open(look, key):
        look.broken(
            "unknown_state",
            f"`{step.mkey}` is in an unknown state {_since(key)}",
            step,
            help=f"{_mend(step.mkey, key, None)}; or `accepted or rejected at mkey_check`",
        )


def look_cancel(look: Look, step: plan.Cancel) -> None:
    """A WR is cancelled on a QP in SQD; only a QP with signature pipelining gets there here (XCAN-01, XCAN-06)."""
    qp = look.world.qp(step.qp)
    look.broken(
        "cancel_state",
        "whether the QP is in SQD by now is seen at run time"
        if qp.sig_pipelining
        else "the QP cannot be in SQD: it has no sig_pipelining",
        step,
        help="" if qp.sig_pipelining else f"qp {step.qp or 'q'} {{ sig_pipelining }}",
        certain=not qp.sig_pipelining,
    )


def look_retag(look: Look, step: plan.Retag) -> None:
    """The tag can be set on mkeys with UPDATE_TAG (MKY-06)."""
    if not look_exists(look, step, step.mkey):
        return
    key = look.mkey(step.mkey)
    if key is not None and not key.has(MkeyFlag.UPDATE_TAG):
        look.broken(
            "update_tag_flag",
            f"`{step.mkey}` was created without UPDATE_TAG",
            step,
            notes=look.declared(step.mkey),
            help=f"mkey {step.mkey} {{ update_tag }}",
        )
