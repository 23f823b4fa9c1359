"""The rows of a session in processes of their own, whose reports come together here.

This process compiles and collects, and never opens the device. It forks a worker for each of N shards, the K-th of
which has the rows of `--shard K/N` in their order; one that has finished its own takes rows from the end of the
longest rest. A worker's reports go through the hooks of this process, so that whatever reports on a session (the
stream of results, pytest's terminal, waivers, departures) sees the whole of it. If a worker ends in the middle of a
row, the row is lost, and another worker takes the rest of the shard.

Rows that are to run alone come last, one at a time, each in a process that has run nothing before.

pytest-xdist does this in processes that collect for themselves, which costs more than a case; see docs/benchmarks.md.
"""

from __future__ import annotations

import math
import os
import selectors
import signal
import sys
import time
import uuid
import warnings
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.plugin.gateway import Gateway, Node, Shard
from mkeyspec.plugin.journal import NOTE, lose_process, note_in
from mkeyspec.plugin.messages import ALL, Message, report_of_data
from mkeyspec.plugin.quarantine import quarantined
from mkeyspec.plugin.report_properties import SESSION
from mkeyspec.plugin.row_report import blocked_row
from mkeyspec.plugin.same_device import NAME as SAME
from mkeyspec.plugin.same_device import SameDevice
from mkeyspec.plugin.shards import parts
from mkeyspec.plugin.worker import serve

_RESTARTS = 4
"""For each worker: how many may take the place of those that ended in a row, all together, without a quarantine."""
_PATIENCE = 2.0
"""Seconds that workers have for the rows they are at when a key is pressed."""
_BETWEEN = 0.2
"""Seconds, at most, until a key is seen."""
_MOST, _LEAST = 32, 2
"""Rows that a worker has been given and has not finished. It needs the next row to end one: see `Worker._next`."""


class WorkerError(Exception):
    """An error outside of any test; `str()` is its traceback."""


class Workers:
    """The workers of a session."""

    def __init__(self, session: pytest.Session, number: int, alone: Sequence[int] = ()) -> None:
        """`alone`: the places of the items that have a process of their own each."""
        self.session = session
        self.config = session.config
        places = sorted({*range(len(session.items))} - {*alone})
        ids = [session.items[place].nodeid for place in places]
        split = parts(ids, min(number, len(ids)), {})
        self.shards = [Shard(k, deque(places[row] for row in rows)) for k, rows in enumerate(split)]
        self._alone = deque(alone)
        self._left = len(session.items)
        self._restarts = _RESTARTS * max(1, len(self.shards))
        self._run = uuid.uuid4().hex
        self._selector = selectors.DefaultSelector()
        self._stopped = False
        self._until = math.inf
        """When it ends, at the latest: a key was pressed."""
        self._raised: BaseException | None = None
        self._terminal: Any = self.config.pluginmanager.getplugin("terminalreporter")
        hide = [] if self._terminal is None else [self._terminal]
        self._begin = self.config.pluginmanager.subset_hook_caller("pytest_runtest_logstart", hide)
        """The terminal names a row only when its reports come: several rows are under way."""
        self._named: int | None = None

    def run(self) -> None:
        session = self.session
        before = signal.getsignal(signal.SIGINT)
        try:
            if before is not signal.SIG_IGN:  # as of a job in the background
                signal.signal(signal.SIGINT, self._pressed)
            self._run_all()
            if self._alone and not self._stopped:
                self.shards = [Shard(len(self.shards), self._alone, alone=True)]
                self._alone = deque()
                self._run_all()
            self._block_the_rest()
        finally:
            signal.signal(signal.SIGINT, before)
            self._kill()
        if self._until < math.inf:
            raise KeyboardInterrupt
        if self._raised is not None:
            raise self._raised
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)

    def _run_all(self) -> None:
        for shard in self.shards:
            self._start(shard)
        for others in (False, True):  # each has a row of its own before anyone takes one of it
            for shard in self.shards:
                self._feed(shard, others=others)
        self._listen()

    def _pressed(self, *_: object) -> None:
        """A key: not raised in the middle of a report, which would be lost. The second one ends the patience; the third
        one is raised, wherever that is."""
        now = time.monotonic()
        if self._until < math.inf:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._until = now
        else:
            self._until = now + _PATIENCE

    # Processes -------------------------------------------------------------------------------

    def _start(self, shard: Shard) -> None:
        config = self.config
        node = Node(config, Gateway(f"gw{shard.number}"))
        config.hook.pytest_configure_node(node=node)
        number = len(self.shards)
        node.workerinput.update(workerid=node.gateway.id, workercount=number, testrunuid=self._run)
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        try:
            orders, node.orders = os.pipe()
            node.answers, answers = os.pipe()
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            node.pid = os.fork()
        except OSError as error:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            text = f"error[MKS0905]: -n: there can't be {number} processes: {error.strerror}; take fewer"
            raise pytest.UsageError(text) from None
        if not node.pid:
            for other in (node, *(one.node for one in self.shards if one.node is not None)):
                os.close(other.orders)
                os.close(other.answers)
            serve(self.session, node.workerinput, orders, answers, parent)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        os.close(orders)
        os.close(answers)
        shard.node = node
        self._selector.register(node.answers, selectors.EVENT_READ, shard)

    def _listen(self) -> None:
        """Until all workers have ended, or a key was pressed and they take too long."""
        while self._selector.get_map() and time.monotonic() < self._until:
            told = self._selector.select(_BETWEEN)
            if not told:
                ended = [shard for shard in self.shards if shard.node is not None and _has_ended(shard.node.pid)]
                told = self._selector.select(0)  # what they wrote before they ended
                for shard in ended:
                    if shard.node is not None and all(key.data is not shard for key, _ in told):
                        self._gone(shard, shard.node)
            for key, _ in told:
                self._read(key.data)
            self._stop_if_over()

    def _read(self, shard: Shard) -> None:
        node = shard.node
        assert node is not None
        data = os.read(node.answers, 1 << 18)
        if not data:
            self._gone(shard, node)
        for message in node.reader.messages(data):
            if shard.node is node:
                self._told(shard, node, message)

    def _stop_if_over(self) -> None:
        over = self._until < math.inf or self._cut_short or quarantined(self.config) is not None
        if over and not self._stopped:
            self._stop()

    def _stop(self) -> None:
        """The rows that have begun are the last ones."""
        self._stopped = True
        for shard in self.shards:
            if shard.node is not None and shard.node.orders >= 0:
                os.close(shard.node.orders)
                shard.node.orders = -1

    def _kill(self) -> None:
        for shard in self.shards:
            if shard.node is not None:
                self._forget(shard, shard.node)

    def _forget(self, shard: Shard, node: Node) -> None:
        self._selector.unregister(node.answers)
        for end in (node.orders, node.answers):
            if end >= 0:
                os.close(end)
        with suppress(ProcessLookupError):
            os.kill(node.pid, signal.SIGKILL)  # it has ended, or what it has to say has no way to come
        os.waitpid(node.pid, 0)
        shard.node = None

    def _gone(self, shard: Shard, node: Node) -> None:
        """The worker has ended."""
        self._forget(shard, node)
        if not node.ended and self._raised is None:
            self._lose(node)
            self._stop_if_over()
        self.config.hook.pytest_testnodedown(node=node, error=None if node.ended else "it ended")
        shard.rest.extendleft(reversed(node.given))
        if shard.alone:
            self._next_alone(shard, node)
            return
        if not node.ended and not self._stopped and self._left and self._restarts:
            self._restarts -= 1
            self._start(shard)
            self._feed(shard)
        self._take_up()

    def _next_alone(self, shard: Shard, node: Node) -> None:
        """Another process for the next row. One that ended before its row began has taken none of them."""
        idle = not node.ended and node.row is None
        if not shard.rest or self._stopped or (idle and not self._restarts):
            return
        self._restarts -= idle
        self._start(shard)
        self._feed(shard)

    def _refuse(self, shard: Shard, node: Node) -> None:
        """The device of this worker is another one: nothing that it says counts, and its rows are for the others."""
        self._forget(shard, node)
        self.config.hook.pytest_testnodedown(node=node, error=None)
        shard.rest.extendleft(reversed([*([] if node.row is None else [node.row]), *node.given]))
        shard.refused = True
        for other in self.shards:
            self._feed(other)
        self._take_up()

    def _take_up(self) -> None:
        """Rows came back after the other workers got the message that there are no more, and all have ended."""
        rest = next((one for one in self.shards if not one.refused), None)
        waiting = any(one.rest for one in self.shards) and all(one.node is None for one in self.shards)
        if waiting and rest is not None and self._restarts and not self._stopped:
            self._restarts -= 1
            self._start(rest)
            self._feed(rest)

    def _lose(self, node: Node) -> None:
        hook = self.config.hook
        if node.row is None:
            lose_process(self.config, note_in(Path(node.workerinput[NOTE])))
            return
        item = self.session.items[node.row]
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", None, "teardown")
        report.node = node  # type: ignore[attr-defined]
        hook.pytest_handlecrashitem(crashitem=item.nodeid, report=report, sched=None)
        del report.node
        self._name(node.row)
        hook.pytest_runtest_logreport(report=report)
        self._finished(node.row)

    # Rows ------------------------------------------------------------------------------------

    def _feed(self, shard: Shard, *, others: bool = True) -> None:
        """Give its worker more rows, of `others` too, or say that there are none."""
        node = shard.node
        if node is None or self._stopped:
            return
        if shard.alone:
            if not node.fed:
                node.fed = True
                self._give(node, [shard.rest.popleft()], is_all=True)
            return
        wanted = max(_LEAST, min(_MOST, self._left // (4 * len(self.shards))))
        if len(node.given) > wanted // 2:
            return
        rows: list[int] = []
        while len(node.given) + len(rows) < wanted and (row := self._next(shard, others)) is not None:
            rows.append(row)
        self._give(node, rows, is_all=others and len(node.given) + len(rows) < wanted)

    def _give(self, node: Node, rows: list[int], *, is_all: bool) -> None:
        node.given += rows
        line = " ".join(map(str, rows)).encode() + b"\n" if rows else b""
        if is_all:
            line += ALL + b"\n"
        if line:
            with suppress(BrokenPipeError):  # it has ended: that comes by the other pipe
                os.write(node.orders, line)

    def _next(self, shard: Shard, others: bool) -> int | None:
        if shard.rest:
            return shard.rest.popleft()
        longest = max(self.shards, key=lambda one: len(one.rest))
        return longest.rest.pop() if longest.rest and others and not shard.blocked else None

    def _name(self, row: int) -> None:
        if self._named != row and self._terminal is not None:
            item = self.session.items[row]
            self._terminal.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        self._named = row

    def _finished(self, row: int) -> None:
        item = self.session.items[row]
        self._left -= 1
        self.config.hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _block_the_rest(self) -> None:
        """The rows that the device is not given any more."""
        stopped = quarantined(self.config)
        if stopped is None or self._until < math.inf or self._raised is not None or self._cut_short:
            return
        for row in sorted([*self._alone, *(row for shard in self.shards for row in shard.rest)]):
            item = self.session.items[row]
            self._begin(nodeid=item.nodeid, location=item.location)
            self._name(row)
            self.config.hook.pytest_runtest_logreport(report=blocked_row(item, stopped))
            self._finished(row)

    @property
    def _cut_short(self) -> bool:
        return bool(self.session.shouldfail or self.session.shouldstop)

    def _told(self, shard: Shard, node: Node, message: Message) -> None:
        match message:
            case ("report", report):
                self._reported(shard, node, report)
            case ("data", text):
                self._reported(shard, node, report_of_data(text, self.config))
            case ("start", int(row)):
                node.given.remove(row)
                node.row = row
                item = self.session.items[row]
                self._begin(nodeid=item.nodeid, location=item.location)
            case ("finish", int(row)):
                node.row = None
                self._finished(row)
                self._feed(shard)
            case ("device", about):
                same: SameDevice = self.config.pluginmanager.getplugin(SAME)
                if same.is_other(about, node.gateway.id):
                    self._refuse(shard, node)
            case ("session", values):
                self.config.stash.setdefault(SESSION, {}).update(values)
            case ("warning", text, category, file, line, when, nodeid, location):
                told = warnings.WarningMessage(text, category, file, line)
                self.config.hook.pytest_warning_recorded.call_historic(
                    kwargs={"warning_message": told, "when": when, "nodeid": nodeid, "location": location}
                )
            case ("end", output):
                node.workeroutput, node.ended = output, True
            case ("stop", reason):
                self.session.shouldstop = reason
            case ("exit", text, code):
                self._raise(pytest.exit.Exception(text, code))
            case ("interrupt", text):
                self._raise(KeyboardInterrupt(text))
            case ("internal", text):
                self._raise(WorkerError(text))

    def _raise(self, error: BaseException) -> None:
        self._raised = self._raised or error
        if not self._stopped:
            self._stop()

    def _reported(self, shard: Shard, node: Node, report: pytest.TestReport) -> None:
        if getattr(report, "blocked", None):
            shard.blocked = True
        if node.row is not None:
            self._name(node.row)
        self.config.hook.pytest_runtest_logreport(report=report)


def _has_ended(pid: int) -> bool:
    """Its pipe does not say so if a process that it has forked still has it open."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
