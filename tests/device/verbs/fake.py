"""A pyverbs of our own, for what needs no library: every call is written down, and refused where a test says so."""

from __future__ import annotations

import enum
import gc
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from mkeyspec.device.verbs import names


class PyverbsError(Exception):
    """As pyverbs.pyverbs_error has it."""


class PyverbsRDMAError(PyverbsError):
    def __init__(self, text: str, number: int = -1) -> None:
        super().__init__(text)
        self.error_code = number


class PyverbsUserError(PyverbsError):
    """A wrong argument."""


class Fake:
    """The package: `calls` in order, `refuse[name] = errno`, `raises[name] = exception`."""

    def __init__(self) -> None:
        self.last: dict[str, dict[str, Any]] = {}
        self.set: dict[str, dict[str, Any]] = {}
        """Members that were set afterwards, by class: of the last such object."""
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.refuse: dict[str, int] = {}
        self.raises: dict[str, Exception] = {}
        self.wcs: list[Any] = []
        self.devices = ["mlx5_0"]
        self.port: dict[str, int] = {
            "state": 4,
            "link_layer": 1,
            "lid": 7,
            "gid_tbl_len": 1,
            "active_mtu": 5,
            "max_msg_sz": 1 << 30,
            "flags": 0,
        }
        self.device: dict[str, Any] = {
            "atomic_caps": 1, "phys_port_cnt": 1, "fw_version": "1.2.3", "max_qp_wr": 1 << 15, "max_sge": 30,
        }  # fmt: skip
        self.gid_types: list[int] = []
        self.gids = ["fe80:0000:0000:0000:0000:0000:0000:0001"]
        self.keys = 0x100
        self.watched: list[weakref.ref[Any]] = []
        self.namespace = types.SimpleNamespace(
            **{
                name: getattr(self, name, None) or self._class(name)
                for names in names.CLASSES.values()
                for name in names
            }
        )

    PyverbsError, PyverbsRDMAError, PyverbsUserError = PyverbsError, PyverbsRDMAError, PyverbsUserError

    def get_device_list(self) -> list[Any]:
        return [types.SimpleNamespace(name=name.encode()) for name in self.devices]

    def said(self, *names: str) -> list[str]:
        """The calls so far, or those of these names, by name."""
        return [name for name, _ in self.calls if not names or name in names]

    def call(self, name: str, *arguments: Any) -> None:
        # Numbers as they are, objects by their class: a fake that kept them would keep alive what pyverbs doesn't.
        plain = tuple(item if isinstance(item, (int, str, bytes)) else type(item).__name__ for item in arguments)
        self.calls.append((name, plain))
        if name in self.raises:
            raise self.raises[name]
        if name in self.refuse:
            raise PyverbsRDMAError(f"{name} was refused", self.refuse[name])

    def given(self, name: str) -> dict[str, Any]:
        """The named arguments of the last object of a class."""
        return self.last[name]

    def alive(self) -> int:
        """How many of the watched attributes are still there."""
        gc.collect()
        return sum(reference() is not None for reference in self.watched)

    def _class(self, name: str) -> type:
        fake = self
        watched = name.startswith("Mlx5Sig") or name in ("Mlx5CryptoAttr", "Mlx5MkeyConfAttr")

        class Thing:
            """One class of pyverbs."""

            def __init__(self, *arguments: Any, **named: Any) -> None:
                fake.call(name, *arguments, *named.values())
                fake.last[name] = {key: value for key, value in named.items() if isinstance(value, (int, str))}
                fake.keys += 1
                self.lkey = self.rkey = fake.keys << 8
                self.qp_num = fake.keys
                self.max_entries = arguments[2] if len(arguments) > 2 else 0
                self.max_inline_data = 64
                self.num_sge = named.get("num_sge", 0)
                if watched:
                    fake.watched.append(weakref.ref(self))

            def __setattr__(self, member: str, value: Any) -> None:
                fake.set.setdefault(name, {})[member] = value
                object.__setattr__(self, member, value)

            def close(self) -> None:
                fake.call(f"{name}.close")

            def poll(self, count: int) -> tuple[int, list[Any]]:
                if fake.wcs and fake.wcs[0] is None:  # a signature error's entry: swallowed
                    fake.wcs.pop(0)
                    return 0, []
                found = [fake.wcs.pop(0)] if fake.wcs else []
                return len(found), found

            def post_recv(self, wr: Any) -> None:
                fake.call("post_recv", wr.num_sge)

            def post_send(self, wr: Any) -> None:
                fake.call("post_send", wr)

            def query_device(self) -> Any:
                return types.SimpleNamespace(**fake.device)

            def query_port(self, number: int) -> Any:
                return types.SimpleNamespace(**fake.port)

            def query_gid(self, number: int, index: int) -> str:
                return fake.gids[index]

            def query_gid_type(self, number: int, index: int) -> int:
                if index >= len(fake.gid_types):
                    raise PyverbsRDMAError("nothing tells")
                return fake.gid_types[index]

            cmd_fd = 3
            num_comp_vectors = 1

            def __getattr__(self, method: str) -> Callable[..., None]:
                if method.startswith(("wr_", "to_", "cancel", "modify")):
                    return lambda *arguments, **named: fake.call(method, *arguments, *named.values())
                raise AttributeError(method)

        Thing.__name__ = name
        return Thing


def modules(monkeypatch: pytest.MonkeyPatch, fake: Fake, enums: dict[str, dict[str, int]], *, scoped: bool) -> None:
    """Put a pyverbs of some generation where it is imported from: `enums` is module to names."""
    for name in [name for name in sys.modules if name == "pyverbs" or name.startswith("pyverbs.")]:
        monkeypatch.delitem(sys.modules, name)
    for package in ("pyverbs", "pyverbs.providers", "pyverbs.providers.mlx5"):
        module = types.ModuleType(package)
        module.__path__ = []
        monkeypatch.setitem(sys.modules, package, module)
    for name, classes in names.CLASSES.items():
        module = types.ModuleType(name)
        for item in classes:
            setattr(module, item, getattr(fake.namespace, item))
        monkeypatch.setitem(sys.modules, name, module)
    for name, values in enums.items():
        module = types.ModuleType(name)
        if scoped:
            # By its base's call: the type checker wants the members of an enumeration written out.
            vars(module)["all_of_them"] = type(enum.IntFlag).__call__(enum.IntFlag, "all_of_them", values)
        else:
            vars(module).update(values)
        monkeypatch.setitem(sys.modules, name, module)
