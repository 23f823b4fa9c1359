"""The server of tests/forked.py: has imported what a command needs, and forks for each that is asked for."""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from _pytest.assertion.rewrite import AssertionRewritingHook
from _pytest.config import default_plugins
from xdist import workermanage  # type: ignore[import-untyped]

import mkeyspec
from mkeyspec.syntax.parser import reserved_words
from tests import forked_spare as spare

SEARCH = sys.path[1:]
"""Where a new process looks for modules, after its own folder and those of PYTHONPATH."""
OTHERS = frozenset({"device", "language_server", "lab", "search", "sabotage", "calibrate"})
"""Packages of mkeyspec that are imported as far as the rest needs them: few commands want them."""


def serve(descriptor: int) -> None:
    """Tell which modules are imported; then, for each request, the number of a process, and its status when it has
    ended. A request is a line, and has the files for standard output and standard error at its first byte."""
    connection = socket.socket(fileno=descriptor)
    _import()
    for name in [name for name in sys.modules if name.split(".")[0] == "tests"]:
        del sys.modules[name]
    connection.sendall(json.dumps(sorted({name.split(".")[0] for name in sys.modules})).encode() + b"\n")
    with connection.makefile("rb") as requests:
        while True:
            first, files, _, _ = socket.recv_fds(connection, 1, 2)
            if not first:
                return
            request = json.loads(first + requests.readline())
            child = os.fork()
            if not child:
                os.close(descriptor)
                _become(request, files)
            for file in files:
                os.close(file)
            connection.sendall(b"%d\n" % child)
            connection.sendall(b"%d\n" % os.waitpid(child, 0)[1])


def _import() -> None:
    for name in ("jinja2", "xdist.plugin", *(f"_pytest.{one}" for one in default_plugins)):
        importlib.import_module(name)
    for module in pkgutil.walk_packages(mkeyspec.__path__, "mkeyspec."):
        if module.name.split(".")[1] not in OTHERS and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    reserved_words()  # the grammar's tables
    gc.collect()
    gc.freeze()


def _become(request: dict[str, Any], files: Sequence[int]) -> NoReturn:
    """The process that was asked for."""
    words: list[str] = request["words"]
    os.dup2(files[0], 1)
    os.dup2(files[1], 2)
    for file in files:
        os.close(file)
    if words[1] == "pytest" and any(word.startswith(("-n", "--numprocesses")) for word in words):
        spare.make(_be)
    _are(request["environment"], request["folder"], [sys.executable, *words])
    sys.argv[:] = ["-m", *words[2:]]
    _end_with(lambda: runpy._run_module_as_main(words[1]))  # type: ignore[attr-defined]


def _be(code: str, environment: dict[str, str], folder: str) -> NoReturn:
    """A worker of pytest-xdist: `python -u -c CODE`."""
    _are(environment, folder, [sys.executable, "-u", "-c", code], unbuffered=True)
    sys.path[0] = ""
    sys.argv[:] = ["-c"]
    _end_with(lambda: exec(code, sys.modules["__main__"].__dict__))


def _are(environment: dict[str, str], folder: str, command: list[str], *, unbuffered: bool = False) -> None:
    """What a new process finds before its first module is run. `command`: its own."""
    os.environ.clear()
    os.environ.update(environment)
    _standard_files(unbuffered or bool(environment.get("PYTHONUNBUFFERED")))
    os.chdir(folder)
    places = [one for one in environment.get("PYTHONPATH", "").split(os.pathsep) if one]
    sys.path[:] = [folder, *places, *(one for one in SEARCH if one not in places)]
    sys.path_importer_cache.clear()
    workermanage._sys_path[:] = sys.path  # which xdist has noted when it was imported, for its workers
    sys.orig_argv[:] = command
    sys.modules["__main__"] = type(sys)("__main__")
    _are_rewritten()


def _end_with(body: Callable[[], object]) -> NoReturn:
    """Run it, and end as Python does."""
    code: object = None
    try:
        body()
    except SystemExit as leave:
        code = leave.code
    except KeyboardInterrupt:
        sys.excepthook(*sys.exc_info())
        _end(None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        _end(1)
    if code is None or isinstance(code, int):
        _end((code or 0) & 0xFF)
    print(code, file=sys.stderr)
    _end(1)


def _are_rewritten() -> None:
    """pytest warns of packages with plugins of which it can't rewrite the asserts, since they are imported."""
    for name in ("xdist", "xdist.plugin", "mkeyspec", "mkeyspec.plugin"):
        sys.modules[name].__loader__ = AssertionRewritingHook.__new__(AssertionRewritingHook)


def _standard_files(unbuffered: bool) -> None:
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = getattr(sys, name)
        mode = "r" if not number else "w"
        raw = io.FileIO(number, mode, closefd=False)
        raw.name = f"<{name}>"
        whole: Any = io.BufferedReader(raw) if not number else raw if unbuffered else io.BufferedWriter(raw)
        new: Any = io.TextIOWrapper(
            whole,
            encoding=old.encoding,
            errors="backslashreplace" if number == 2 else old.errors,
            line_buffering=not unbuffered and (number == 2 or raw.isatty()),
            write_through=unbuffered,
        )
        new.mode = mode
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


def _end(code: int | None) -> NoReturn:
    """What Python does at its end; None: by the signal of an interruption."""
    with suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
    with suppress(BaseException):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code if stream is sys.stderr else 120
    if code is None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code or 0)
