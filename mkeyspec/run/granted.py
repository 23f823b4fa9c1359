"""What a device gives, against what was asked for."""

from __future__ import annotations


class Less(Exception):
    """The device gave less than was requested, or something else; `str()` names what."""


def granted_as(what: str, granted: object, bits: int) -> None:
    """Raises Less if a number that a device grants is none that a member of so many bits can hold."""
    match granted:
        case bool():
            pass
        case int() if 0 <= granted < 1 << bits:  # also the recorder's, which know their name
            return
        case _:
            pass
    shown = hex(granted) if type(granted) is int and granted >= 0 else repr(granted)
    raise Less(f"{what} is {shown}, and its member has {bits} bits")
