"""Rules of an mkey's state: created, configured, unknown after an abort, invalidated."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.compiler.check.context import Context, place
from mkeyspec.compiler.check.state import ACCESS, ALL, CRYPTO, LAYOUT, SIGNATURE, AbstractMkey, may_be_refused
from mkeyspec.value.layout import Part


def check_exists(context: Context, request: object, name: str, use: plan.Use | None = None) -> bool:
    """False, and recorded, if the creation of the object was claimed to fail, or if it was destroyed. `use`: of its key
    in a request, which is a number and refused; else the object itself is wanted."""
    thing = context.state.things.get(name)
    destroyed = getattr(thing, "destroyed", None)
    if destroyed is not None:
        where = f"`{name}` was destroyed at {place(destroyed)}"
        if use is None:
            context.broken("destroyed", where, request, help="create another one, or destroy it later")
        else:
            context.broken("destroyed_key", f"{where}: its keys are of nothing", request, reason=use.reason)
        return False
    if thing is None or getattr(thing, "created", True):
        return True
    context.broken(
        "not_created",
        f"`{name}` does not exist: its creation is claimed to be rejected",
        request,
        notes=context.declared(name),
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


def check_state(context: Context, request: object, part: Part, key: AbstractMkey, use: plan.Use | None) -> bool:
    """Whether the state of the mkey allows its use; if not, that is the only fault.

    "The next configuration of it should not assume any previous state of the MKey, i.e. signature/crypto should be
    re-configured or reset, as required" (sig_block(3), Notes): property by property, only what the use relies on.
    """
    lost = key.unknown & needed(key, use)
    if lost and not is_as_open(context, key):
        context.broken(
            "unknown_state",
            f"`{part.name}` is in an unknown state {since(key)}"
            if lost == needed(key, use) or key.unknown == ALL
            else f"{_names(lost)} of `{part.name}` {'is' if lost & (lost - 1) == 0 else 'are'} unknown {since(key)}",
            part,
            fallback=request,
            help=how_to_fix(part.name, key, use),
        )
        return False
    if key.invalidated is not None:
        context.broken(
            "invalidated_key",
            f"`{part.name}` is invalidated at {place(key.invalidated)} and not configured since",
            part,
            fallback=request,
            reason=None if use is None else use.reason,
        )
        return False
    return True


def is_as_open(context: Context, key: AbstractMkey) -> bool:
    """Whether the step may be refused, and the key is unknown since a statement that may be refused."""
    return key.unknown_by == "undecided" and may_be_refused(getattr(context.step, "claim", ()))


def since(key: AbstractMkey) -> str:
    words = {"abort": "the abort", "undecided": "the statement that may be refused", "failure": "the failure"}
    what = words.get(key.unknown_by, "the section refused")
    return "" if key.unknown_at is None else f"after {what} at {place(key.unknown_at)}"


def _names(properties: int) -> str:
    names = [
        n
        for bit, n in ((ACCESS, "access"), (LAYOUT, "layout"), (SIGNATURE, "signature"), (CRYPTO, "crypto"))
        if properties & bit
    ]
    return " and ".join(names)


def how_to_fix(name: str, key: AbstractMkey, use: plan.Use | None) -> str:
    reset = ", reset_signature" if key.has(MkeyFlag.BLOCK_SIGNATURE) else ""
    access = "access …; " if use is None or use.right else ""
    crypto = "; crypto { … }" if key.has(MkeyFlag.CRYPTO) else ""
    return f"configure {name}{reset} {{ {access}layout …{crypto} }}"
