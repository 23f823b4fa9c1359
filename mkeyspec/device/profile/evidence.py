"""What a measured profile says of its measurement: `[measured]`, on which device, and `[evidence]`, how each point was
seen. `mkeyspec calibrate` writes both. A profile that a person wrote has neither.

    [measured]
    device = "mlx5_0"
    firmware = "28.39.1002"

    [evidence]
    err_actual = { value = "field", confidence = "sure", sides = ["crc32, sent: actual_value is the field"] }
    [evidence.errno]
    crc_seed = { value = "EINVAL", confidence = "single", sides = ["seed 1: EINVAL"] }
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from mkeyspec.device.protocol import Info

TABLES = ("measured", "evidence")
DECIDED = ("sure", "single", "told")
"""The point was seen from several sides, which agree; from one; or the device alone tells it."""
OPEN = ("undecided", "contradicts", "nothing")
"""Nothing could be seen; sides disagree, or the device did what no choice explains; there is nothing to see."""
GROUPS = ("errno", "published")
"""Tables of `[evidence]` whose keys are no members: rules, and what published sources settle."""

Fault = tuple[tuple[str, ...], str]
"""The keys that lead to a place of the file, and what is wrong there."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The device that a profile was measured on."""

    device: str
    firmware: str = ""
    mkeyspec: str = ""
    date: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)

    def unlike(self, info: Info) -> str | None:
        """How this device is another one than the measured one; None if it may be the same."""
        if self.device != info.device:
            return f"it was measured on {self.device}, and this is {info.device}"
        if self.firmware != info.firmware:
            return (
                f"it was measured with firmware {self.firmware or 'unknown'}, and this is {info.firmware or 'unknown'}"
            )
        return None


def measured(table: Mapping[str, Any]) -> Measured | None:
    """What `[measured]` of a profile without `faults` says."""
    given = table.get("measured")
    return None if given is None else Measured(**given)


def faults(table: Mapping[str, Any], values: Mapping[str, Any], defaults: Mapping[str, Any]) -> Iterator[Fault]:
    """What is wrong with both tables. `values`: the members that the file sets; `defaults`: those of all members."""
    yield from _of_measured(table.get("measured"))
    evidence = table.get("evidence", {})
    if not isinstance(evidence, dict):
        yield ("evidence",), "`evidence` is a table"
        return
    for name, entry in evidence.items():
        if name not in GROUPS:
            if name not in defaults:
                yield ("evidence", name), f"a device profile has no member `{name}`{_near(name, defaults)}"
            else:
                yield from _of_entry(("evidence", name), entry, values.get(name, defaults[name]), name in values)
        elif not isinstance(entry, dict):
            yield ("evidence", name), f"`evidence.{name}` is a table"
        else:
            rules = dict(values.get("errno", ()))
            for rule, one in entry.items():
                yield from _of_entry(("evidence", name, rule), one, rules.get(rule), rule in rules and name == "errno")


def _of_measured(given: object) -> Iterator[Fault]:
    if given is None:
        return
    if not isinstance(given, dict):
        yield ("measured",), "`measured` is a table"
        return
    known = ("device", "firmware", "mkeyspec", "date", "versions")
    for name, value in given.items():
        if name not in known:
            yield ("measured", name), f"`measured` has no `{name}`{_near(name, known)}"
        elif name == "versions":
            if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
                yield ("measured", name), "`measured.versions` is a table of texts"
        elif not isinstance(value, str):
            yield ("measured", name), f"`measured.{name}` is a text"
    if "device" not in given:
        yield ("measured",), '`measured` names the device: device = "mlx5_0"'


def _of_entry(at: tuple[str, ...], entry: object, value: object, is_set: bool) -> Iterator[Fault]:
    name = ".".join(at[1:])
    if not isinstance(entry, dict):
        yield at, f"the evidence of `{name}` is a table with `confidence`"
        return
    for key, one in entry.items():
        if key == "sides" and not (isinstance(one, list) and all(isinstance(side, str) for side in one)):
            yield (*at, key), f"the sides of `{name}` are a list of texts"
        elif key == "reason" and not isinstance(one, str):
            yield (*at, key), f"the reason of `{name}` is a text"
        elif key not in ("value", "confidence", "sides", "reason"):
            yield (*at, key), f"the evidence of `{name}` has no `{key}`"
    confidence = entry.get("confidence")
    if confidence not in (*DECIDED, *OPEN):
        yield at, f"the confidence of `{name}` is one of {', '.join((*DECIDED, *OPEN))}"
        return
    if confidence in OPEN:
        if "value" in entry:
            yield at, f"`{name}` is {confidence}, and has a value: it can't be both; calibrate again"
        return
    seen = entry.get("value")
    seen = tuple(seen) if isinstance(seen, list) else seen
    if seen is None:
        yield at, f"`{name}` is {confidence}, and has no value; calibrate again"
    elif (at[1] not in GROUPS or is_set) and (seen != value or type(seen) is not type(value)):
        said = "this profile" if is_set else "the default, which counts here,"
        contrast = f"{said} says {_text(value)}, and its evidence {_text(seen)}"
        yield at, f"`{name}`: {contrast}; calibrate again, or take the evidence away"


def _near(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, list(known), n=1)
    return f"; did you mean `{near[0]}`?" if near else ""


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
