"""Opens and closes the device of a session in a process of its own, so that this one can fork workers.

What a driver has set up in a process (threads, mapped registers) does not go through a fork.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import tempfile
import traceback
from pathlib import Path
from typing import NoReturn

import pytest

from mkeyspec.device.verbs.device_lock import be_one_run, notes
from mkeyspec.plugin.device_opening import not_closed, open_device
from mkeyspec.plugin.device_wait import tell
from mkeyspec.plugin.journal import note_in
from mkeyspec.plugin.watchdog import NAME, Watch
from mkeyspec.process.child import end_with


def of_device(config: pytest.Config) -> str | None:
    """None if the device can be opened and closed; if its process ended instead, the last message of its watchdog, or
    "". Raises UsageError with what is wrong."""
    be_one_run()
    with tempfile.TemporaryDirectory(prefix="mkeyspec-") as folder:
        note = Path(folder) / "note"
        parent = os.getpid()
        answers, answer = os.pipe()
        child = os.fork()
        if not child:
            os.close(answers)
            _try(config, answer, note, parent)
        os.close(answer)
        data = b""
        try:
            while more := os.read(answers, 1 << 16):
                data += more
        except BaseException:
            os.kill(child, 9)
            raise
        finally:
            os.close(answers)
            os.waitpid(child, 0)
        if not data:
            return note_in(note)
    kind, text = pickle.loads(data)
    if kind == "usage":
        raise pytest.UsageError(text)
    if kind == "internal":
        raise RuntimeError(text)
    tell(config, text.splitlines())
    return None


def _try(config: pytest.Config, answer: int, note: Path, parent: int) -> NoReturn:
    from mkeyspec.device.protocol import Unavailable

    try:
        if end_with(parent):
            config.pluginmanager.unregister(name=NAME)
            watch = Watch(config, note)
            config.pluginmanager.register(watch, NAME)
            try:
                device = open_device(config, recorded=False)  # no row is run here
                text = not_closed(config, device)
                found = ("usage", text) if text is not None else ("good", "\n".join(notes()))
            except Unavailable as error:
                found = ("usage", str(error))
            except BaseException:
                found = ("internal", traceback.format_exc())
            with contextlib.suppress(OSError):
                os.write(answer, pickle.dumps(found))
            watch.pytest_unconfigure()
    finally:
        os._exit(0)
