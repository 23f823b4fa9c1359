"""The personality of the software NIC: a device's name, or a TOML file. It is passed to the library in one
environment variable.

A file overrides members of a known personality:

    base = "connectx6dx"            # connectx7 by default
    signatures = ["t10dif", "crc32"]
    roce = true

The library reads `name=…;member=value;…` from `MKEYSPEC_SOFTNIC_PERSONALITY` (softnic/engine/personality.h).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from mkeyspec.abi.constants import MTUS
from mkeyspec.files import resource

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEFAULT = "connectx7"
VARIABLE = "MKEYSPEC_SOFTNIC_PERSONALITY"
ALIASES = {
    "cx5": "connectx5", "cx6": "connectx6dx", "cx6dx": "connectx6dx", "connectx6": "connectx6dx", "cx7": "connectx7",
    "bf3": "bluefield3-plaintext", "bluefield3": "bluefield3-plaintext", "bf3-plaintext": "bluefield3-plaintext",
    "bf3-wrapped": "bluefield3-wrapped", "unkind": "unkind", "unkind-full": "unkind-full",
}  # fmt: skip
LONGEST = 2047
"""Bytes of the variable that the library takes."""


class PersonalityError(ValueError):
    """A personality that can't be used; the message is one line with the fix."""


@dataclass(frozen=True, slots=True)
class Personality:
    """The name of a base and the members that differ, both as the library reads them."""

    name: str
    members: tuple[tuple[str, str], ...]

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that make the library this device."""
        return {VARIABLE: ";".join(f"{name}={value}" for name, value in (("name", self.name), *self.members))}


def names() -> list[str]:
    """The known personalities; each also has a short name (`ALIASES`)."""
    return sorted(path.stem for path in resource.directory("personalities").glob("*.toml"))


def personality(given: str = DEFAULT) -> Personality:
    """By name, by short name, or by the path of a TOML file. PersonalityError for anything else."""
    name = ALIASES.get(given.lower(), given.lower())
    if name in names():
        return Personality(name, _members(_table(resource.directory("personalities") / f"{name}.toml"), name))
    path = Path(given)
    if path.suffix != ".toml" and not path.is_file():
        near = get_close_matches(name, [*names(), *ALIASES], n=2, cutoff=0.5)
        advice = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names())}"
        raise PersonalityError(f"no personality is called {given!r}; {advice}")
    table = _table(path)
    base = table.pop("base", DEFAULT)
    known = ALIASES.get(base, base) if isinstance(base, str) else None
    if known not in names():
        raise PersonalityError(f"{path}: base is {base!r}, not one of {', '.join(names())}")
    own = dict(_members(table, str(path)))
    whole = dict(personality(known).members) | own
    made = Personality(known, tuple(whole.items()))
    if len(made.environment[VARIABLE].encode()) > LONGEST:
        raise PersonalityError(f"{path}: more than the {LONGEST} bytes that the library takes; shorten fw_ver")
    return made


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PersonalityError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PersonalityError(f"{path} is not TOML: {str(error).splitlines()[0]}") from None


# Members -------------------------------------------------------------------------------------

Member = Callable[[Any], "str | None"]
"""A member's value as the library reads it; None if it can't be one."""


def _number(most: int) -> Member:
    return lambda value: str(value) if type(value) is int and 0 <= value <= most else None


def _positive(most: int) -> Member:
    return lambda value: str(value) if type(value) is int and 0 < value <= most else None


def _one_of_numbers(*numbers: int) -> Member:
    return lambda value: str(value) if type(value) is int and value in numbers else None


def _power_of_two(most: int) -> Member:
    return lambda value: str(value) if type(value) is int and 0 <= value <= most and not value & value - 1 else None


def _flag(value: Any) -> str | None:
    return str(int(value)) if isinstance(value, bool) else None


def _text(value: Any) -> str | None:
    fine = isinstance(value, str) and value.isascii() and value.isprintable() and ";" not in value
    return value if fine and 0 < len(value) < 32 else None


def _one_of(*words: str) -> Member:
    return lambda value: value if isinstance(value, str) and value in words else None


def _some_of(*words: object) -> Member:
    def chosen(value: Any) -> str | None:
        if not isinstance(value, list) or any(type(one) is bool or one not in words for one in value):
            return None
        return "+".join(map(str, value))

    return chosen


def _hex(*digits: int) -> Member:
    def key(value: Any) -> str | None:
        fine = isinstance(value, str) and len(value) in digits and set(value) <= set("0123456789abcdefABCDEF")
        return value if fine else None

    return key


MEMBERS: Mapping[str, tuple[Member, str]] = {
    "vendor_part_id": (_number(0xFFFF), "a PCI device id, 0 to 0xffff"),
    "fw_ver": (_text, "1 to 31 characters without `;`"),
    "board_id": (_text, "1 to 31 characters without `;`"),
    "signatures": (_some_of("t10dif", "crc32", "crc32c", "crc64_xp10"), "a list of t10dif, crc32, crc32c, crc64_xp10"),
    "block_sizes": (_some_of(512, 520, 4048, 4096, 4160), "a list of 512, 520, 4048, 4096, 4160"),
    "signature_pipelining": (_flag, "true or false"),
    "crypto": (_one_of("none", "plaintext", "wrapped"), "none, plaintext or wrapped"),
    "crypto_single_block": (_flag, "true or false"),
    "crypto_multi_block": (_flag, "true or false"),
    "log_max_deks": (_number(24), "0 to 24"),
    "kek": (_hex(32, 64), "32 or 64 hexadecimal digits"),
    "kek_id": (_number(0xFFFFFF), "0 to 0xffffff"),
    "credential": (_hex(80), "80 hexadecimal digits"),
    "credential_id": (_number(0xFFFFFF), "0 to 0xffffff"),
    "memcpy_max": (_power_of_two(1 << 31), "0 or a power of two up to 0x80000000"),
    "wait_on_data": (_flag, "true or false"),
    "transpose": (_flag, "true or false"),
    "dc": (_flag, "true or false"),
    "dc_log_streams": (_number(6), "0 to 6"),
    "dc_log_errored": (_number(6), "0 to 6"),
    "roce": (_flag, "true or false"),
    "clock_page": (_flag, "true or false"),
    "max_mkey_entries": (_number(1 << 20), "0 to 0x100000"),
    "trap": (_flag, "true or false"),
    "atomics": (_flag, "true or false"),
    "umr_atomic": (_flag, "true or false"),
    "ports": (_one_of_numbers(1, 2), "1 or 2"),
    "down": (_one_of_numbers(0, 1, 2), "0, or the number of a port"),
    "mtu": (_one_of_numbers(*MTUS), "256, 512, 1024, 2048 or 4096"),
    "max_qp_wr": (_positive(1 << 15), "1 to 0x8000"),
    "max_sge": (_positive(30), "1 to 30"),
    "max_msg_sz": (_positive(1 << 30), "1 to 0x40000000"),
    "late_us": (_number(100000), "0 to 100000"),
    "recycle": (_flag, "true or false"),
}


def _members(table: Mapping[str, Any], where: str) -> tuple[tuple[str, str], ...]:
    made = []
    for name, value in table.items():
        if name not in MEMBERS:
            near = get_close_matches(name, [*MEMBERS, "base"], n=2, cutoff=0.5)
            advice = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(MEMBERS)}"
            raise PersonalityError(f"{where}: a personality has no {name!r}; {advice}")
        read, allowed = MEMBERS[name]
        text = read(value)
        if text is None:
            raise PersonalityError(f"{where}: {name} is {value!r}; it takes {allowed}")
        made.append((name, text))
    return tuple(made)
