"""The model under observation, and with a fault that acts where a condition holds.

Each part is a class made of three: the observer, the gate, and the faulty class or the model's own. The gate runs the
faulty method where the condition holds, else the one that it overrides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mkeyspec.device.model.components import Parts
from mkeyspec.device.model.configuration import Builder, Configuration
from mkeyspec.device.model.crypto import Crypto
from mkeyspec.device.model.device import Model
from mkeyspec.device.model.key import Bytes, KeyTable, ListLayout, StridedLayout
from mkeyspec.device.model.queue import Queue
from mkeyspec.device.model.signature import Arithmetic, Between
from mkeyspec.device.model.transfer import Transfer
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import CryptoAttr, DcAddress
from mkeyspec.sabotage.conditions import arithmetic
from mkeyspec.sabotage.conditions.condition import Condition
from mkeyspec.sabotage.conditions.data_observers import ArithmeticObserver, MovementObserver, TableObserver
from mkeyspec.sabotage.conditions.driver_observers import BuilderObserver, ModelObserver, SectionObserver
from mkeyspec.sabotage.conditions.facts import fact, some
from mkeyspec.sabotage.conditions.moment import Moment
from mkeyspec.sabotage.conditions.observers import ExecutionObserver, QueueObserver, TransferObserver
from mkeyspec.sabotage.fault import FAULTY, PLACES, Faulty

OBSERVERS: dict[str, type[Any]] = {
    "arithmetic": ArithmeticObserver, "table": TableObserver, "movement": MovementObserver,
    "transfer": TransferObserver, "execution": ExecutionObserver, "builder": BuilderObserver,
    "section": SectionObserver, "queue": QueueObserver, "model": ModelObserver,
}  # fmt: skip

_OF_DEKS = (
    "dek_state_error", "dek_opaque_lost", "dek_opaque_reversed", "dek_opaque_shared", "dek_key_size_unchecked",
    "dek_purpose_unchecked", "dek_comp_mask_unchecked", "dek_login_unchecked", "dek_pd_refused", "dek_destroy_refused",
    "dek_destroy_takes_all", "dek_256_refused", "dek_purpose_refused", "dek_plaintext_refused",
)  # fmt: skip

_OF_LOGINS = (
    "login_credential_unchecked", "login_ids_unchecked", "login_state_invalid", "login_objects_unchecked",
    "wrapped_key_unchecked", "wrapped_keys_swapped", "wrapped_keytag_lost", "wrapped_dek_dies",
    "wrapped_query_unchecked", "login_twice_accepted", "login_comp_mask_unchecked", "login_state_always_valid",
    "logout_ignored", "logout_of_none_accepted", "dek_session_unchecked", "login_refused", "login_object_once",
    "wrapped_dek_refused", "wrapped_query_refused",
)  # fmt: skip

LEFT_OUT = {
    **dict.fromkeys(_OF_LOGINS, "a call on a login has no moment that a dimension speaks of"),
    **dict.fromkeys(_OF_DEKS, "a call on a DEK has no moment that a dimension speaks of"),
    "dci_without_builders": "a point of the profile, which has one answer",
    "destroy_refused": "the end of a case has no moment that a dimension speaks of",
    "destroyed_mkey_lives": "what is destroyed has no moment that a dimension speaks of",
    "destroyed_mkeys_kept": "it has a condition of its own: how many were destroyed",
    "ref_tag_never_restarts": "where the second message of one configuration begins is open (X-OPEN-07)",
}
"""Faults without conditions, and why."""

_ALWAYS: dict[str, frozenset[str]] = {
    "write_behind": frozenset({"_reach_strided"}),
    "write_before": frozenset({"_reach_strided"}),
    "write_gap": frozenset({"_reach_strided"}),
    "configuration_late": frozenset({"_run"}),
    "local_inv_for_good": frozenset({"_configure"}),
    "pipelining_stops_late": frozenset({"resume"}),
    "error_to_initiator": frozenset({"poll"}),
    "crypto_job_unchecked": frozenset({"cipher"}),
    "error_fails_request": frozenset({"_after"}),
}
"""Methods of a fault that only keep its books: they run whether the condition holds or not."""
_BOOKS = frozenset({"_columns", "kept"})
_INSTEAD = {"error_stops_data": ("absorb",), "error_stops_behind_block": ("absorb",)}
"""Methods of a base class of the fault that have the effect."""
LATE_CIPHERS = frozenset(
    {
        "xts_tweak_big_endian", "xts_tweak_ignored", "xts_tweak_early", "xts_keys_swapped", "xts_direction_swapped",
        "xts_unit_512",
    }
)  # fmt: skip
"""Faults of crypto attributes that act where the cipher works."""
_BY_ENTRY = frozenset({"entry", "entry_size", "skip"})


class _PriorityReversed(Arithmetic):
    """error_priority_reversed, which is a point of the profile, as a class."""

    def _part(self, source: Any, differs: Any) -> str:
        if source.crc is None:
            for part, first, end in sorted(self.parts, key=lambda one: -int(one[1])):
                if differs[first:end].any():
                    return part
        return "guard"


class _AnyDcKey(Transfer):
    """dc_key_unchecked, which acts where a target is created, where it is addressed."""

    def _responder(self, queue: Queue, dc: DcAddress | None) -> tuple[Queue | None, str]:
        if dc is not None and dc.dct in self.targets.keys:
            dc = replace(dc, key=self.targets.keys[dc.dct])
        return super()._responder(queue, dc)


_AS_CLASSES = {
    "error_priority_reversed": Faulty({"arithmetic": _PriorityReversed}),
    "dc_key_unchecked": Faulty({"transfer": _AnyDcKey}),
}


def _faulty(name: str) -> Faulty:
    return _AS_CLASSES.get(name) or FAULTY[name]


def faulty_parts(name: str) -> dict[str, type[Any]]:
    """The faulty classes of a fault, by their place."""
    faulty = _faulty(name)
    found = dict(faulty.parts)
    if faulty.model is not Model:
        found["model"] = faulty.model
    return found


def _gated(name: str, faulty: type[Any]) -> list[str]:
    """The methods that act where the condition holds."""
    own = [key for key, value in vars(faulty).items() if callable(value) and not key.startswith("__")]
    books = _BOOKS | _ALWAYS.get(name, frozenset())
    return [*(key for key in own if key not in books), *_INSTEAD.get(name, ())]


def hooks(name: str) -> frozenset[str]:
    """Where the condition of a fault is looked at, as the observers name it."""
    if name in LATE_CIPHERS:
        return frozenset({"movement.cipher"})
    found: set[str] = set()
    for place, faulty in faulty_parts(name).items():
        if place == "arithmetic":
            found |= arithmetic.hooks(faulty)
        else:
            found |= {f"{place}.{method}" for method in _gated(name, faulty)}
    return frozenset(found)


def observed(profile: Profile, moment: Moment) -> Model:
    """The model without a fault, watched."""
    return _made(profile, moment, {}, {})


def conditional(name: str, condition: Condition, profile: Profile) -> Model:
    """The model with a fault of the catalogue that acts where the condition holds."""
    moment = Moment()
    faulty = faulty_parts(name)
    gates: dict[str, list[type[Any]]] = {}
    for place, part in faulty.items():
        if place == "arithmetic":
            gates[place] = [arithmetic.gate(part, moment, condition)]
            continue
        if name not in LATE_CIPHERS:
            gates[place] = [_gate(_gated(name, part), part, moment, condition), part]
    if name in LATE_CIPHERS:
        gates = {
            "builder": [_twin_crypto(faulty["builder"], moment)],
            "movement": [_late_cipher(moment, condition)],
        }
    if "table" in gates and condition.dimension in _BY_ENTRY:
        gates["table"].append(_mixed_entries(moment, condition))
    if "movement" in gates and condition.dimension == "unit" and name not in LATE_CIPHERS:
        gates["movement"][0] = _unit_gate(faulty["movement"], condition)
    return _made(profile, moment, gates, faulty)


def _made(
    profile: Profile, moment: Moment, gates: Mapping[str, list[type[Any]]], faulty: Mapping[str, type[Any]]
) -> Model:
    def part(place: str, straight: type[Any]) -> type[Any]:
        between = gates.get(place, [])
        base = () if any(issubclass(one, straight) for one in between) else (straight,)
        return type(f"Observed{straight.__name__}", (OBSERVERS[place], *between, *base), {"moment": moment})

    parts = Parts(**{place: part(place, straight) for place, straight in PLACES.items()})
    made: Model = part("model", Model)(profile, parts)
    moment.tables = dict(made.tables)
    return made


# Gates -----------------------------------------------------------------------------------------


def _gate(methods: list[str], faulty: type[Any], moment: Moment, condition: Condition) -> type[Any]:
    def gated(name: str) -> Callable[..., Any]:
        owner = next(one for one in faulty.__mro__ if name in vars(one))
        wrong = vars(owner)[name]

        def method(self: Any, *given: Any, **named: Any) -> Any:
            if not condition.holds(fact(moment, condition.dimension)):
                return getattr(super(owner, self), name)(*given, **named)
            before, moment.straight = moment.straight, moment.layout
            try:
                return wrong(self, *given, **named)
            finally:
                moment.straight = before

        return method

    return type("Gate", (), {name: gated(name) for name in methods})


def _mixed_entries(moment: Moment, condition: Condition) -> type[Any]:
    """Between the faulty table and the model's: a faulty layout is taken entry by entry, where the condition holds."""

    def mixed(wrong: Any) -> Any:
        right: Any = moment.straight
        if right is None or right.__class__ is not wrong.__class__ or right is wrong:
            return wrong
        if len(right.entries) != len(wrong.entries):
            return right  # no entry of the one is an entry of the other
        acts = [condition.holds_for(value) for value in some(fact(moment, condition.dimension))]
        entries = tuple(bad if act else good for act, bad, good in zip(acts, wrong.entries, right.entries, strict=True))
        if isinstance(right, ListLayout):
            return replace(right, entries=entries)
        width = sum(entry[2] for entry in entries)
        return replace(right, entries=entries, width=width, length=right.repeat * width)

    class Mixed(KeyTable):
        def _reach_list(self, pd: int, layout: ListLayout, *given: Any) -> None:
            super()._reach_list(pd, mixed(layout), *given)

        def _reach_strided(self, pd: int, layout: StridedLayout, *given: Any) -> None:
            super()._reach_strided(pd, mixed(layout), *given)

    return Mixed


def _by_unit(condition: Condition, used: Crypto, before: int, right: Between, wrong: Between) -> Between:
    """Each data unit by the one cipher or the other."""

    def cipher(stream: Bytes) -> Bytes:
        made: Bytes = np.array(right(stream))
        other = wrong(stream)
        for place, start in enumerate(range(0, len(stream), used.unit)):
            if condition.holds_for(before // used.unit + place):
                made[start : start + used.unit] = other[start : start + used.unit]
        return made

    return cipher


def _unit_gate(faulty: type[Any], condition: Condition) -> type[Any]:
    class Gate:
        def cipher(self, used: Crypto, transmit: bool, before: int) -> Between:
            right = super(faulty, self).cipher(used, transmit, before)  # type: ignore[misc]
            return _by_unit(condition, used, before, right, faulty.cipher(self, used, transmit, before))

    return Gate


def _twin_crypto(faulty: type[Any], moment: Moment) -> type[Any]:
    """The attributes as they should be; those that the fault makes are kept beside them."""

    class Gate:
        def _crypto(self: Any, configuration: Configuration, attr: CryptoAttr) -> None:
            Builder._crypto(self, configuration, attr)
            wrong = replace(configuration, crypto=None)
            faulty._crypto(self, wrong, attr)
            assert configuration.crypto is not None
            assert wrong.crypto is not None
            moment.ciphers[id(configuration.crypto)] = configuration.crypto, wrong.crypto

    return Gate


def _late_cipher(moment: Moment, condition: Condition) -> type[Any]:
    class Gate:
        def cipher(self, used: Crypto, transmit: bool, before: int) -> Between:
            right: Between = super().cipher(used, transmit, before)  # type: ignore[misc]
            _, twin = moment.ciphers.get(id(used), (None, None))
            if twin is None:
                return right
            wrong: Between = super().cipher(twin, transmit, before)  # type: ignore[misc]
            if condition.dimension == "unit":
                return _by_unit(condition, used, before, right, wrong)
            return wrong if condition.holds(fact(moment, condition.dimension)) else right

    return Gate
