"""Devices of other packages, by entry points of the group `mkeyspec.devices`.

    [project.entry-points."mkeyspec.devices"]
    acme = "acme_nic.device:open"

`--device acme:slot=1` calls `open("slot=1", profile)`, which returns an open object with the calls of
`protocol.Device`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, cast

from mkeyspec.device.protocol import Capabilities, Device, Info, Unavailable

if TYPE_CHECKING:
    from mkeyspec.device.profile.profile import Profile

GROUP = "mkeyspec.devices"
CODE = "MKS0944"

_OF_LOGINS = ("lab_login", "login", "login_state", "logout", "login_object", "query_login", "destroy_login")
OPTIONAL = {"query_dek": "dek_query", "destroy_dek": "dek_query", **dict.fromkeys(_OF_LOGINS, "crypto.login")}
"""Calls that a device has if it offers the capability."""

CALLS = tuple(name for name in vars(Device) if not name.startswith("_") and name not in OPTIONAL)
"""What the rig calls of every device."""


@lru_cache(maxsize=1)
def outside_devices() -> dict[str, EntryPoint]:
    """By name, those of the packages that are installed; of two with one name, the first."""
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        found.setdefault(entry.name, entry)
    return found


def open_outside(name: str, argument: str, profile: Profile) -> Device:
    """The device `name`, open. Raises Unavailable (MKS0944) for one that raises, or is not what the protocol says."""
    entry = outside_devices()[name]
    package = "another package" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"
    try:
        device = entry.load()(argument, profile)
    except (Unavailable, KeyboardInterrupt):
        raise
    except BaseException as error:  # whatever another package raises is its own defect
        raise Unavailable(CODE, f"device {name} of {package} can't be opened: {_line(error)}; {_FIX}") from None
    wrong = list(_wrong(device))
    if wrong:
        raise Unavailable(CODE, f"device {name} of {package} is not a device: {'; '.join(wrong)}; {_FIX}")
    return cast(Device, device)


_FIX = "correct that package (docs/howto/add_a_device.md, devices of other packages)"


def _line(error: BaseException) -> str:
    text = str(error).split("\n", 1)[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _wrong(device: Any) -> Iterable[str]:
    """What of a device is not as the protocol says, as far as it can be seen before a row."""
    missing = [call for call in CALLS if not callable(getattr(device, call, None))]
    if missing:
        yield f"it lacks {', '.join(missing)}"
        return
    for call, check in (("info", _wrong_info), ("capabilities", _wrong_capabilities)):
        try:
            answer = getattr(device, call)()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # as above
            yield f"{call}() raises {_line(error)}"
        else:
            yield from check(answer)
            if call == "capabilities":
                yield from _missing(device, answer)


def _missing(device: Any, capabilities: Any) -> Iterable[str]:
    offers: frozenset[str] = getattr(capabilities, "offers", frozenset())
    for call, need in OPTIONAL.items():
        if need in offers and not callable(getattr(device, call, None)):
            yield f"it offers {need} and lacks {call}"


def _wrong_info(info: Any) -> Iterable[str]:
    if not isinstance(info, Info):
        yield f"info() gives {type(info).__name__}, not Info"
        return
    versions = info.versions.items() if isinstance(info.versions, dict) else [(0, 0)]
    texts = [info.device, info.firmware, *(one for pair in versions for one in pair)]
    if not info.device or not all(isinstance(one, str) for one in texts):
        yield "info(): device, firmware and versions are texts, and device is not empty"


def _wrong_capabilities(capabilities: Any) -> Iterable[str]:
    from mkeyspec.abi.constants import CAPABILITIES

    if not isinstance(capabilities, Capabilities):
        yield f"capabilities() gives {type(capabilities).__name__}, not Capabilities"
        return
    unknown = sorted(str(one) for one in capabilities.offers if one not in CAPABILITIES)
    if unknown:
        yield f"it offers {', '.join(unknown)}, and no case can need that"
    for name, value in capabilities.values.items():
        if type(value) is not int or value < 0:
            yield f"the value of {name} is not a number"
