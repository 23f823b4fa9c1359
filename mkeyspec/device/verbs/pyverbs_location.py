"""Finds the system's pyverbs for a virtual environment, which does not see the system's packages.

Only pyverbs is loaded from there, and only one that was built for this kind of Python. It consists of C extensions
and uses only the standard library.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

PLACES = (
    "/usr/lib/python3/dist-packages",
    "/usr/lib/python3*/site-packages",
    "/usr/lib64/python3*/site-packages",
    "/usr/local/lib*/python3*/site-packages",
    "/opt/mellanox/*/lib*/python3*/site-packages",
)
"""Directories where distributions and vendors' drivers install pyverbs."""


def elsewhere(places: tuple[str, ...], suffix: str, own: str) -> tuple[tuple[str, bool], ...]:
    """Directories called pyverbs with extension modules, except the environment's own, and whether those end in
    `suffix`."""
    found: dict[str, bool] = {}
    mine = Path(own).resolve() if own else None
    for place in places:
        for here in sorted(Path("/").glob(f"{place.lstrip('/')}/pyverbs")):
            if here.resolve() != mine and any(here.glob("*.so")):
                found[str(here)] = any(here.glob(f"device{suffix}"))
    return tuple(found.items())


def adopt() -> None:
    """Load the system's pyverbs if this Python has none; does nothing if none fits."""
    if "pyverbs" in sys.modules or importlib.util.find_spec("pyverbs") is not None:
        return
    for folder, fits in elsewhere(PLACES, EXTENSION_SUFFIXES[0], ""):
        init = Path(folder) / "__init__.py"
        spec = importlib.util.spec_from_file_location("pyverbs", init, submodule_search_locations=[folder])
        if fits and init.is_file() and spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            sys.modules["pyverbs"] = module
            spec.loader.exec_module(module)
            return


def adopted() -> bool:
    """Whether the pyverbs of this process is one that only `adopt` finds."""
    module = sys.modules.get("pyverbs")
    places = list(getattr(module, "__path__", ()))
    return bool(places) and not any(Path(place).parent == Path(entry) for place in places for entry in sys.path)
