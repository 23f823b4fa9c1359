"""Restarts the process of a command on the software NIC."""

from __future__ import annotations

from mkeyspec.cli.session import Failure


def start_on(device: str, *, whole: bool) -> None:
    """Nothing, unless `device` is the software NIC and this process is not on it: then it starts itself again if its
    own command line has it all. Raises Failure for a device that can't be named."""
    from mkeyspec.device.protocol import Unavailable
    from mkeyspec.device.select import parse

    try:
        choice = parse(device)
        if choice.kind == "soft" and whole:
            from mkeyspec.device.soft import preload

            preload.ensure(choice.personality, whole=True)
    except Unavailable as error:
        raise Failure(error.code, error.message) from None
