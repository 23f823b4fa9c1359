"""Scenarios of two processes on one fabric: `python duo.py NAME…` forks a peer for each and prints JSON.

Nothing is judged here: test_wire.py holds the expected values. Runs where pyverbs is, without mkeyspec.
"""

import contextlib
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path
from types import SimpleNamespace

from peer import End, QPAttr, e

ERROR = QPAttr(qp_state=e.IBV_QPS_ERR)


class Line:
    """What the two processes tell one another, beside the fabric."""

    def __init__(self, end):
        self.out, self.back = end.makefile("w"), end.makefile("r")

    def say(self, *words):
        self.out.write(json.dumps(words) + "\n")
        self.out.flush()

    def hear(self):
        return json.loads(self.back.readline() or "null")


def play(requester, responder):
    """Both in a process of their own; the requester gets the responder's pid. What the requester saw."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if not child:
        ours.close()
        try:
            responder(Line(theirs))
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
    theirs.close()
    try:
        return requester(Line(ours), child)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def meet(line, size=1 << 16, **connection):
    """An end that is connected with the one at the other end of the line."""
    end = End(size=size)
    line.say(end.qp.qp_num, end.mr.buf, end.mr.rkey)
    number, end.there, end.rkey = line.hear()
    end.connect(SimpleNamespace(qp=SimpleNamespace(qp_num=number)), **connection)
    line.say("connected")
    line.hear()
    return end


def stop(peer):
    os.kill(peer, signal.SIGSTOP)
    os.waitpid(peer, os.WUNTRACED)


def write(end, length=64, wr_id=0):
    end.post(e.IBV_WR_RDMA_WRITE, end.sge(0, length), rkey=end.rkey, raddr=end.there, wr_id=wr_id)


def statuses(end, count, seconds=10.0):
    return [status for status, _ in end.poll(count, seconds)]


def receiver(count, size=1 << 16):
    """Posts that many receives; says how they ended when it is asked."""

    def responder(line):
        end = meet(line, size)
        for _ in range(count):
            end.receive(end.sge(0, 4096))
        line.say("posted")
        line.hear()
        line.say(*statuses(end, count, 3.0))
        line.hear()

    return responder


def error_after_sends():
    """What was rung before a modify to ERR goes out and is told as it went; what comes behind is flushed."""

    def requester(line, peer):
        end = meet(line)
        line.hear()
        stop(peer)
        for n in range(8):
            end.post(e.IBV_WR_SEND, end.sge(0, 4096), wr_id=n)
        end.qp.modify(ERROR, e.IBV_QP_STATE)
        os.kill(peer, signal.SIGCONT)
        state = end.qp.query(e.IBV_QP_STATE)[0].qp_state
        end.post(e.IBV_WR_SEND, end.sge(0, 4))
        seen = statuses(end, 9)
        line.say("done")
        return [state, seen, line.hear()]

    return play(requester, receiver(8))


def error_without_receives():
    """Seven retries for ever end with the QP: nothing hangs, all of it is flushed."""

    def requester(line, _):
        end = meet(line, rnr=7)
        line.hear()
        for n in range(3):
            end.post(e.IBV_WR_SEND, end.sge(0, 4096), wr_id=n)
        end.qp.modify(ERROR, e.IBV_QP_STATE)
        return statuses(end, 3)

    return play(requester, receiver(0))


def error_with_a_stopped_peer():
    """A peer that does not answer holds the flush up for a bounded time."""

    def requester(line, peer):
        end = meet(line)
        line.hear()
        stop(peer)
        for n in range(3):
            write(end, wr_id=n)
        end.qp.modify(ERROR, e.IBV_QP_STATE)
        return statuses(end, 3)

    return play(requester, receiver(0))


def destroy_after_sends():
    """What was rung before the QP is destroyed goes out."""

    def requester(line, peer):
        end = meet(line)
        line.hear()
        stop(peer)
        for n in range(8):
            end.post(e.IBV_WR_SEND, end.sge(0, 4096), wr_id=n)
        end.qp.close()
        os.kill(peer, signal.SIGCONT)
        line.say("done")
        return line.hear()

    return play(requester, receiver(8))


def stopped():
    """A peer that is stopped is not silent, whatever the timer: the write ends well when it goes on."""

    def requester(line, peer):
        end = meet(line, timeout=1, retry=0)
        line.hear()
        stop(peer)
        write(end)
        early = statuses(end, 1, 2.5)
        os.kill(peer, signal.SIGCONT)
        return [early, statuses(end, 1)]

    return play(requester, receiver(0))


def killed(timeout):
    def requester(line, peer):
        end = meet(line, timeout=timeout, retry=1)
        line.hear()
        write(end)
        alive = statuses(end, 1)
        os.kill(peer, signal.SIGKILL)
        write(end)
        return [alive, statuses(end, 1, 1.5 if timeout == 0 else 10.0)]

    return play(requester, receiver(0))


def closed_link():
    """The end of the peer is silence: the timer counts from then on; timeout 0 is for ever."""
    return [killed(10), killed(0)]


def receiver_not_ready():
    """Share of a processor that half a second of RNR retries with 4 MiB behind them takes; then it arrives."""
    size = 4 << 20

    def responder(line):
        end = meet(line, size)
        line.say("ready")
        line.hear()
        end.receive(end.sge(0, size))
        line.say(*statuses(end, 1), end.mr.read(5, size - 5).decode("latin1"))
        line.hear()

    def requester(line, peer):
        end = meet(line, size, rnr=7)
        line.hear()
        end.mr.write(b"whole", 5, size - 5)
        end.post(e.IBV_WR_SEND, end.sge(0, size))
        time.sleep(0.1)
        used = time.process_time() + spent(peer)
        time.sleep(0.5)
        share = (time.process_time() + spent(peer) - used) / 0.5
        line.say("now")
        return [share, line.hear(), statuses(end, 1)]

    return play(requester, responder)


def spent(pid):
    """Seconds of processor time of another process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    print(json.dumps({name: globals()[name]() for name in sys.argv[1:]}))
