"""Opening a NIC by name: pyverbs, the context, its port, and whether it may be used at all."""

from __future__ import annotations

import errno
import platform
import resource
from collections.abc import Callable
from typing import Any

from mkeyspec.device.protocol import ANY_PATH, Info, LabLogin, PathChoice, Refused, Unavailable, Unsupported
from mkeyspec.device.verbs import device_lock, names, native, port_in_use, trial
from mkeyspec.device.verbs import port as ports
from mkeyspec.device.verbs.device import Verbs
from mkeyspec.device.verbs.objects import FIRST_HANDLE
from mkeyspec.device.verbs.station import Station


def open_device(
    name: str,
    number: int = 1,
    *,
    allow_busy_port: bool = False,
    shared: bool = False,
    label: str = "",
    lab: LabLogin | None = None,
    path: PathChoice = ANY_PATH,
) -> Verbs:
    """The device `name` on its port `number`, with both sides: see `open_station`."""
    return Verbs(
        open_station(name, number, allow_busy_port=allow_busy_port, shared=shared, label=label, lab=lab, path=path)
    )


def open_station(
    name: str,
    number: int = 1,
    *,
    allow_busy_port: bool = False,
    shared: bool = False,
    label: str = "",
    lab: LabLogin | None = None,
    path: PathChoice = ANY_PATH,
    first_handle: int = FIRST_HANDLE,
) -> Station:
    """The device `name` on its port `number`. Raises Unavailable with the fix. `shared`: the device belongs to this
    process alone, so it is not locked. `label` is its name in reports. `lab`: what to log in with.
    `path`: which GID and MTU its QPs have. `first_handle`: where the handles of its objects begin.
    """
    pyverbs = names.load()
    present = devices(pyverbs)
    if name not in present:
        there = f"there are: {', '.join(present)}" if present else "this machine has none"
        raise Unavailable("MKS0915", f"no RDMA device {name!r}; {there}")
    busy = "" if allow_busy_port else port_in_use.in_use(name, number)
    if busy:
        text = f"port {number} of {name} is in use: {busy}; name another port, or say --allow-busy-port"
        raise Unavailable("MKS0917", text)
    held = None if shared else device_lock.take(name)
    let_go: Callable[[], None] = held.release if held is not None else _nothing
    try:
        context = _open_context(pyverbs, name)
        try:
            found = ports.find(pyverbs, context, name, number, path)
            station = Station(pyverbs, context, found, _info(context, label or name), let_go, lab, first_handle)
            trial.tried(station)
            return station
        except (pyverbs.PyverbsError, Refused, Unsupported) as error:
            context.close()
            raise Unavailable("MKS0919", f"{name} can't be used: {_why(error)}") from None
        except BaseException:
            context.close()
            raise
    except BaseException:
        let_go()
        raise


def _nothing() -> None:
    """There is no lock to release."""


def devices(pyverbs: Any) -> list[str]:
    """The names of the RDMA devices, as libibverbs finds them, without opening any."""
    try:
        return sorted(_text(device.name) for device in pyverbs.get_device_list())
    except pyverbs.PyverbsError:
        return []  # no RDMA in this kernel at all


def _text(name: str | bytes) -> str:
    return name.decode(errors="replace") if isinstance(name, bytes) else name


def _open_context(pyverbs: Any, name: str) -> Any:
    attr = pyverbs.Mlx5DVContextAttr(flags=names.OPEN_DEVX)
    try:
        return pyverbs.Mlx5Context(attr, name)
    except pyverbs.PyverbsUserError:
        raise Unavailable("MKS0915", f"{name} is not an mlx5 device") from None
    except pyverbs.PyverbsRDMAError as error:
        number = abs(names.errno_of(error))
        if number in (errno.EACCES, errno.EPERM):
            text = f"no permission to open {name}; /dev/infiniband/uverbs* must be readable and writable for you"
            raise Unavailable("MKS0920", text) from None
        if number == errno.EOPNOTSUPP:
            text = f"{name} opens without DEVX only, which mkeys need: kernel and firmware must offer it"
            raise Unavailable("MKS0919", text) from None
        raise Unavailable("MKS0919", f"{name} can't be opened: {_why(error)}") from None


def _why(error: Exception) -> str:
    number = error.errno if isinstance(error, Refused) else abs(names.errno_of(error))
    text = (error.call if isinstance(error, Refused) else str(error).strip() or type(error).__name__).splitlines()[0]
    text = text.rstrip(".")
    if number == errno.ENOMEM:
        limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
        if limit != resource.RLIM_INFINITY:
            text += f"; locked memory is limited to {limit >> 10} KiB, `ulimit -l unlimited` lifts that"
    return f"{text} ({errno.errorcode.get(number, number)})"


def _info(context: Any, label: str) -> Info:
    libraries = native.loaded()
    versions = {library: version for library, (_, version) in libraries.items()}
    versions["rdma-core"] = native.rdma_core(libraries)
    versions["pyverbs"] = names.generation()
    versions["kernel"] = platform.release()
    return Info(label, str(context.query_device().fw_version), versions)
