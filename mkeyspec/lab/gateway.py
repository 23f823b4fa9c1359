"""A gateway to a host: opened within a deadline, asked who it is, lost when it says nothing for too long.

The processes of popen and ssh are started here, not by execnet, so that one that does not answer can be ended, and what
it says on standard error is kept for the message.
"""

from __future__ import annotations

import contextlib
import inspect
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import IO, Any

import execnet
from execnet import gateway_bootstrap, gateway_io
from execnet.gateway_base import Popen2IO
from execnet.xspec import XSpec

from mkeyspec import __version__
from mkeyspec.lab import far
from mkeyspec.lab.digest import package_digest
from mkeyspec.lab.file import Host

_SSH = "-o BatchMode=yes -o ConnectTimeout={seconds} -o ServerAliveInterval=5 -o ServerAliveCountMax=3"
"""After the user's own options, of which ssh takes the first: no password is asked for, and a host that is gone is
noticed."""
_SAID = 300
"""Characters of standard error in a message."""


class NoHost(Exception):
    """A host can't be used; `str()` is one line without its code: MKS0971, or MKS0972 for another mkeyspec."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Lost(Exception):
    """The gateway has gone, or says nothing any more; `str()` is how."""


class _Io(Popen2IO):
    """Of a process that is ours: `kill` ends it."""

    def __init__(self, process: subprocess.Popen[bytes], address: str, group: Any) -> None:
        super().__init__(process.stdin, process.stdout, execmodel=group.execmodel)
        self.process = process
        self.remoteaddress = address

    def wait(self) -> int:
        return self.process.wait()

    def kill(self) -> None:
        self.process.kill()


class Gateway:
    """To one host. Raises NoHost when it is made."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._group = execnet.Group()
        self._errors: IO[bytes] = tempfile.TemporaryFile(prefix="mkeyspec-")  # noqa: SIM115  # closed in `close`
        self._process: subprocess.Popen[bytes] | None = None
        self._gateway: Any = None
        self._open()
        try:
            self.about = self._hello()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        """The gateway, within the deadline of the host."""
        failed: list[BaseException] = []

        def make() -> None:
            try:
                self._gateway = self._make()
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=make, daemon=True)
        thread.start()
        thread.join(self.host.deadline)
        if thread.is_alive():
            self._kill()
            raise NoHost("MKS0971", f"it does not answer within {self.host.deadline:g} s")
        if failed or self._gateway is None:
            self._kill()
            raise NoHost("MKS0971", self._why(failed[0] if failed else None))

    def _make(self) -> Any:
        spec, group = XSpec(self.host.reach.spec), self._group
        if not (spec.popen or spec.ssh or spec.vagrant_ssh):
            return group.makegateway(spec)
        group.allocate_id(spec)
        spec.execmodel = spec.execmodel or "thread"
        if spec.popen:
            words = gateway_io.popen_args(spec)
        elif spec.vagrant_ssh:
            words = gateway_io.vagrant_ssh_args(spec)
        else:
            spec.ssh = f"{spec.ssh} {_SSH.format(seconds=max(1, int(self.host.deadline)))}"
            words = gateway_io.ssh_args(spec)
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=self._errors, start_new_session=True)
        address = str(spec.ssh or spec.vagrant_ssh or "popen")
        gateway = gateway_bootstrap.bootstrap(_Io(self._process, address, group), spec)
        gateway.spec = spec
        group._register(gateway)
        if spec.chdir or spec.nice or spec.env:
            channel = gateway.remote_exec(_SETTLE)
            channel.send((spec.chdir, int(spec.nice or 0), spec.env))
            channel.waitclose(self.host.deadline)
        return gateway

    def _why(self, error: BaseException | None) -> str:
        said = self.said()
        if error is not None and not isinstance(error, (EOFError, AssertionError)) and not said:
            said = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(": ")
        if not said and isinstance(error, AssertionError):
            said = "it prints something before Python starts; a login shell there must print nothing"
        return f"it can't be reached: {said or 'it ends at once'}"

    def said(self) -> str:
        """The last line of the host's standard error."""
        self._errors.seek(0)
        lines = self._errors.read()[-(1 << 16) :].decode(errors="backslashreplace").strip().splitlines()
        return lines[-1].strip()[:_SAID] if lines else ""

    def _hello(self) -> dict[str, Any]:
        try:
            about: dict[str, Any] = self.answer(self.ask({"what": "hello"}), self.host.deadline)
        except Lost as lost:
            what = "reached" if self._has_ended() else "used"
            raise NoHost("MKS0971", f"it can't be {what}: {self.said() or lost}") from None
        where = f"Python {about['python']}"
        if not about["mkeyspec"]:
            fix = f"pip install mkeyspec=={__version__}, or name `python`"
            text = f"{where} there has no mkeyspec: {about['error']}; {fix}"
            raise NoHost("MKS0972", text)
        if about["mkeyspec"] != __version__:
            raise NoHost("MKS0972", f"it has mkeyspec {about['mkeyspec']}, and this is {__version__} ({where})")
        if about["digest"] != package_digest():
            text = (
                f"its mkeyspec is called {__version__} too, and its modules are others ({where}); install the same one"
            )
            raise NoHost("MKS0972", text)
        return about

    def _has_ended(self) -> bool:
        """Whether the process that serves the gateway, or ssh to it, is gone."""
        if self._process is None:
            return False
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        return self._process.poll() is not None

    def ask(self, request: dict[str, Any]) -> Any:
        """A channel to the far end, which has this request. Raises Lost."""
        try:
            channel = self._gateway.remote_exec(inspect.getsource(far))
            channel.send(request)
        except (OSError, EOFError, ValueError) as error:
            raise Lost(str(error) or "the connection is closed") from None
        return channel

    def answer(self, channel: Any, seconds: float) -> Any:
        """The next thing that a channel gives. Raises Lost."""
        try:
            return channel.receive(timeout=seconds)
        except channel.TimeoutError:
            raise Lost(f"the host says nothing for {seconds:g} s") from None
        except channel.RemoteError as error:
            raise Lost(f"an error there: {str(error.formatted).strip().splitlines()[-1]}") from None
        except (EOFError, OSError):
            raise Lost(self.said() or "the connection is closed") from None

    def messages(self, channel: Any, silence: float) -> Iterator[Any]:
        """What a channel gives until it is closed. Raises Lost after so many seconds of silence."""
        while True:
            message = self.answer(channel, silence)
            yield message
            if message[0] == "end":
                return

    def close(self) -> None:
        """End the gateway, and the process that serves it."""
        with contextlib.suppress(Exception):
            self._group.terminate(timeout=1.0)
        self._kill()
        self._errors.close()

    def _kill(self) -> None:
        process = self._process
        if process is None:
            return
        end = time.monotonic() + 1
        while process.poll() is None and time.monotonic() < end and self._gateway is not None:
            time.sleep(0.02)
        with contextlib.suppress(OSError):
            process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1)


_SETTLE = """
import os
path, nice, env = channel.receive()
if path:
    os.makedirs(path, exist_ok=True)
    os.chdir(path)
if nice:
    os.nice(nice)
os.environ.update(env or {})
"""
