"""Finds the library of the software NIC: in the checkout, in the wheel, or built once into the user's cache.

`hatch_build.py` loads this file by its path when a wheel is built, so it uses nothing but the standard library.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

NAME = "libmkeyspec_softnic.so"
FOLDERS = ("pure", "engine", "shim", "cm")
FAULTS = "faults"
"""The folder that only the library of faults has (`mkeyspec sabotage --device soft`)."""
FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-fvisibility=hidden", "-I.", "-pthread")
"""As in softnic/Makefile, which adds debug information."""
STRICT = ("-Wall", "-Wextra", "-Werror")
"""As there too, but only in a checkout: what `make` refuses is refused here, and no other library is used instead. An
installed mkeyspec may be built with an untested compiler; its warnings are not errors."""

_PACKAGE = Path(__file__).resolve().parents[2]
_CHECKOUT = _PACKAGE.parent / "softnic"
_PACKAGED = _PACKAGE / "_data" / "softnic"


class BuildError(RuntimeError):
    """The compiler failed; the message ends with its output."""


def library(*, faults: bool = False) -> Path | None:
    """The library to preload, built if it has to be; None where there is none, and `missing()` says why.

    `faults`: the one that can be given a fault, which is never shipped built. `MKEYSPEC_SOFTNIC_LIBRARY` names
    another one, such as a build with sanitizers.
    """
    named = os.environ.get("MKEYSPEC_SOFTNIC_LIBRARY")
    if named:
        return Path(named).resolve() if Path(named).is_file() else None
    if _is_checkout():
        built = _CHECKOUT / "build" / (FAULTS if faults else "") / NAME
        newest = max(path.stat().st_mtime for path in sources(_CHECKOUT, faults=faults))
        if built.is_file() and built.stat().st_mtime >= newest:
            return built
    elif (_PACKAGED / NAME).is_file() and not faults:
        return _PACKAGED / NAME
    try:
        return _cached(faults=faults)
    except (BuildError, OSError):
        return None


def missing(*, faults: bool = False) -> str | None:
    """Why `library()` is None, in one line; None if it is not."""
    named = os.environ.get("MKEYSPEC_SOFTNIC_LIBRARY")
    if library(faults=faults) is not None:
        return None
    if named:
        return f"MKEYSPEC_SOFTNIC_LIBRARY names {named}, which is not a file"
    if not sys.platform.startswith("linux"):
        return f"the software NIC needs Linux; this is {sys.platform}"
    if _source_directory() is None:
        return "mkeyspec was installed without the software NIC's library and without its C sources"
    if compiler() is None:
        return "the software NIC's library has to be built, and there is no C compiler (cc, gcc or clang)"
    try:
        _cached(faults=faults)
    except (BuildError, OSError) as error:
        return f"the software NIC's library could not be built: {error}"
    return None


def compiler() -> list[str] | None:
    """The command of a C compiler: $CC, cc, gcc or clang."""
    named = os.environ.get("CC", "").split()
    for command in (named, ["cc"], ["gcc"], ["clang"]):
        if command and shutil.which(command[0]):
            return command
    return None


def sources(directory: Path, *, faults: bool = False) -> list[Path]:
    """The C files and headers of `directory`, which has the layout of softnic/, in a fixed order."""
    folders = (*FOLDERS, FAULTS) if faults else FOLDERS
    return sorted(path for folder in folders for path in (directory / folder).glob("*.[ch]"))


def build(directory: Path, output: Path, command: Sequence[str], *, faults: bool = False, strict: bool = False) -> None:
    """Compiles the sources of `directory` with the compiler `command` into the library `output`.

    `strict`: a warning is an error.

    `output` is replaced at once: a process that has the old one loaded keeps it. Raises BuildError, or
    OSError where `output` can't be written.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".softnic-", dir=output.parent) as work:
        jobs = [
            (path, Path(work) / f"{path.parent.name}_{path.stem}.o")
            for path in sources(directory, faults=faults)
            if path.suffix == ".c"
        ]
        if not jobs:
            raise BuildError(f"no C sources in {directory}")

        flags = _flags(faults, strict)

        def compile_one(job: tuple[Path, Path]) -> None:
            _run([*command, *flags, "-c", "-o", str(job[1]), str(job[0])], directory)

        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            list(pool.map(compile_one, jobs))
        linked = Path(work) / NAME
        objects = [str(target) for _, target in jobs]
        _run([*command, *FLAGS, "-shared", "-s", "-o", str(linked), *objects], directory)
        linked.replace(output)


def _flags(faults: bool, strict: bool) -> tuple[str, ...]:
    return (*FLAGS, *(STRICT if strict else ()), *(("-include", f"{FAULTS}/overlay.h") if faults else ()))


def _run(command: Sequence[str], directory: Path) -> None:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, errors="replace", env=_plain())
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"{command[0]} ended with {done.returncode}"]
        raise BuildError(next((line for line in said if "error" in line), said[-1]))


def _plain() -> dict[str, str]:
    """The environment without the preload: a compiler does not need the software NIC."""
    return {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def _is_checkout() -> bool:
    return (_CHECKOUT / "Makefile").is_file()


def _source_directory() -> Path | None:
    for directory in (_CHECKOUT, _PACKAGED):
        if sources(directory):
            return directory
    return None


def _fingerprint(directory: Path, faults: bool) -> str:
    digest = hashlib.sha256(" ".join(_flags(faults, _is_checkout())).encode())
    for path in sources(directory, faults=faults):
        digest.update(f"\0{path.parent.name}/{path.name}\0".encode())
        digest.update(path.read_bytes())
    return f"{digest.hexdigest()[:16]}-{platform.machine()}-{platform.libc_ver()[1] or 'libc'}"


def _cached(*, faults: bool) -> Path | None:
    directory = _source_directory()
    if directory is None or not sys.platform.startswith("linux"):
        return None
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    output = Path(home) / "mkeyspec" / f"softnic-{_fingerprint(directory, faults)}" / NAME
    if output.is_file():
        return output
    command = compiler()
    if command is None:
        return None
    output.parent.mkdir(parents=True, exist_ok=True)
    import fcntl  # Linux is certain only here

    # The workers of one run start together; one builds, the others wait for it.
    with (output.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not output.is_file():
            build(directory, output, command, faults=faults, strict=_is_checkout())
    return output
