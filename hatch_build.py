"""Build hook: puts the software NIC into the wheel, and the pages of the documentation for `mkeyspec explain`.

Its library when there is a C compiler, which makes the wheel one of this machine's kind
(py3-none-linux_x86_64), and its C sources always, so that an installation without it can build it at first
use. A missing compiler is a warning and no more: everything but `--device soft` works without. An editable
installation builds into softnic/build/, where `make -C softnic` does.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

INSIDE = "mkeyspec/_data/softnic"


def _softnic(root: Path) -> ModuleType:
    """mkeyspec/device/soft/softnic.py, without importing mkeyspec: its dependencies are not there when it is built."""
    spec = importlib.util.spec_from_file_location("softnic", root / "mkeyspec" / "device" / "soft" / "softnic.py")
    if spec is None or spec.loader is None:
        raise ImportError("mkeyspec/device/soft/softnic.py can't be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class SoftnicHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        root = Path(self.root)
        softnic = _softnic(root)
        directory = root / "softnic"
        editable = version == "editable"
        if editable and os.environ.get("MKEYSPEC_SOFTNIC_BUILD") == "later":
            return  # `--device soft` builds it at its first use
        if not editable:
            for path in softnic.sources(directory, faults=True):
                build_data["force_include"][str(path)] = f"{INSIDE}/{path.relative_to(directory)}"
            for path in sorted((root / "docs").rglob("*.md")):  # not the pictures
                build_data["force_include"][str(path)] = f"mkeyspec/_data/{path.relative_to(root)}"
        if not sys.platform.startswith("linux"):
            return
        command = softnic.compiler()
        if command is None:
            self.app.display_warning("mkeyspec: no C compiler (cc, gcc, clang): the software NIC is not built")
            return
        if editable:
            output = directory / "build" / softnic.NAME
        else:
            self._work = tempfile.TemporaryDirectory(prefix="mkeyspec-wheel-")
            output = Path(self._work.name) / softnic.NAME
        try:
            softnic.build(directory, output, command)
        except (softnic.BuildError, OSError) as error:
            self.app.display_warning(f"mkeyspec: the software NIC is not built: {error}")
            return
        if not editable:
            build_data["force_include"][str(output)] = f"{INSIDE}/{softnic.NAME}"
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        work = getattr(self, "_work", None)
        if work is not None:
            work.cleanup()
