"""Scenarios of two processes on one fabric: `python duo.py NAME…` forks a peer for each and prints JSON.

Nothing is judged here: test_wire.py holds the expected values. Runs where pyverbs is, without mkeyspec.
"""

import contextlib
import json
import os
import random
import resource
import signal
import socket
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import ucma
from peer import SGE, End, QPAttr, crc, e

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
    """What was rung before a modify to ERR goes out and is reported as it went; what comes later is flushed."""

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
    """Share of a processor that half a second of RNR retries with 4 MiB after them takes; then it arrives."""
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


def disconnect_after_receive():
    """How many of 60 sends have completed when the peer's DREQ is reported, which follows the last receive."""
    rounds, size = 60, 1 << 20

    def responder(line):
        end = meet(line)
        channel = ucma.Channel()
        for _ in range(rounds):
            end.receive(end.sge(0, 64))
            client = channel.ready(1, *line.hear())
            channel.connect(client, ucma.conn_param(qpn=5))
            channel.event(ucma.CONNECT_RESPONSE)
            channel.accept(client, ucma.conn_param(valid=0))
            end.poll(1, 20.0)
            channel.disconnect(client)
            line.hear()
            channel.event(ucma.DISCONNECTED)
            channel.destroy(client)

    def requester(line, _):
        end, busy, told = meet(line), End(size=2 * size), 0
        busy.connect(busy)
        passive = ucma.Channel()
        listener = passive.create(1)
        passive.bind(listener)
        passive.listen(listener)
        for _ in range(rounds):
            line.say(passive.source_port(listener))
            accepted = passive.event(ucma.CONNECT_REQUEST).id
            passive.accept(accepted, ucma.conn_param(qpn=6), uid=2)
            passive.event(ucma.ESTABLISHED)
            end.post(e.IBV_WR_SEND, end.sge(0, 64))
            for _ in range(4):  # the NIC has other things to do when the answer comes
                busy.post(e.IBV_WR_RDMA_WRITE, busy.sge(0, size), rkey=busy.mr.rkey, raddr=busy.mr.buf + size)
            passive.event(ucma.DISCONNECTED)
            at_once, _ = end.cq.poll(1)
            told += at_once
            if not at_once:
                statuses(end, 1, 5.0)
            statuses(busy, 4)
            passive.disconnect(accepted)
            passive.destroy(accepted)
            line.say("next")
        return told

    return play(requester, responder)


# Large messages ------------------------------------------------------------------------------

LARGE = 3 << 20


def pattern(seed, length):
    return random.Random(seed).randbytes(length)


def shared():
    """Whether this process has memory in common with another one of its fabric."""
    return "/memfd:softnic" in Path("/proc/self/maps").read_text()


def crossed(before=lambda: None):
    """Large writes, reads and sends, plain and through signatures, with their bytes compared; and who shares memory."""
    blocks, half = 256, LARGE // 2
    wire = blocks * 4100

    def both(end):
        key = end.signed()
        end.configure(key, [(0, blocks * 4096)], wire=crc("crc32c", 1), block=4096)
        return key

    def responder(line):
        end = meet(line, LARGE)
        key = both(end)
        end.mr.write(pattern(1, half), half)
        end.receive(end.sge(half, half))
        end.receive(SGE(0, wire, key.lkey))
        line.say(key.rkey)
        line.hear()
        seen = [statuses(end, 1), end.mr.read(half, half) == pattern(2, half)]
        line.say("first")
        line.hear()
        seen += [statuses(end, 1), end.mr.read(blocks * 4096, 0) == pattern(3, blocks * 4096)]
        line.say("second")
        line.hear()
        line.say(*seen, end.mr.read(half, half) == pattern(4, half), shared())
        line.hear()

    def requester(line, peer):
        before()
        end = meet(line, LARGE)
        [rkey] = line.hear()
        key, seen = both(end), {}

        def done(what, *sges, opcode=e.IBV_WR_SEND, **where):
            end.post(opcode, *sges, **where)
            seen[what] = statuses(end, 1)

        done("first, small", end.sge(0, 8), opcode=e.IBV_WR_RDMA_WRITE, rkey=end.rkey, raddr=end.there + half)
        done("read", end.sge(half, half), opcode=e.IBV_WR_RDMA_READ, rkey=end.rkey, raddr=end.there)
        seen["read, bytes"] = end.mr.read(half, half) == pattern(1, half)
        done("read through both keys", SGE(0, wire, key.lkey), opcode=e.IBV_WR_RDMA_READ, rkey=rkey, raddr=0)
        seen["read through both keys, bytes"] = end.mr.read(blocks * 4096, 0) == pattern(1, half)[: blocks * 4096]
        end.mr.write(pattern(2, half), half)
        done("send", end.sge(0, half))
        line.say("sent")
        line.hear()
        end.mr.write(pattern(3, half), half)
        end.mr.write(pattern(3, blocks * 4096), blocks * 4096)
        done("send through both keys", SGE(0, wire, key.lkey))
        line.say("sent")
        line.hear()
        end.mr.write(pattern(4, half), half)
        for _ in range(20):
            end.post(e.IBV_WR_RDMA_WRITE, end.sge(0, half), rkey=end.rkey, raddr=end.there + half, signaled=False)
        done("write", end.sge(0, half), opcode=e.IBV_WR_RDMA_WRITE, rkey=end.rkey, raddr=end.there + half)
        line.say("written")
        return [seen, line.hear(), shared()]

    return play(requester, responder)


def crossed_without_files():
    """A limit on the size of files leaves no memory to share."""
    return crossed(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))


def many_wait():
    """Messages for which no receive is there take no room from others."""
    count, size = 8, 4 << 20

    def responder(line):
        ends = [meet(line, 8192) for _ in range(count)]
        last = meet(line, LARGE)
        line.hear()
        line.say(last.mr.read(LARGE, 0) == pattern(5, LARGE), shared())
        line.hear()
        del ends

    def requester(line, peer):
        ends = [meet(line, size) for _ in range(count)]
        last = meet(line, LARGE)
        write(last)
        statuses(last, 1)
        for end in ends:
            end.post(e.IBV_WR_SEND, end.sge(0, size))
        last.mr.write(pattern(5, LARGE), LARGE)
        write(last, LARGE)
        seen = statuses(last, 1)
        line.say("written")
        return [seen, line.hear()]

    return play(requester, responder)


def killed_among_large_messages():
    """The end of a peer that uses memory of both: the write is reported as failed, and the next peer works."""

    def requester(line, peer):
        end = meet(line, LARGE, timeout=10, retry=1)
        line.hear()
        write(end)
        seen = statuses(end, 1)
        stop(peer)
        write(end, LARGE)
        os.kill(peer, signal.SIGKILL)
        return [seen, statuses(end, 1)]

    return [play(requester, receiver(0)) for _ in range(3)]


# One after the other ------------------------------------------------------------------------


def receives_come_late():
    return [late(size) for size in (64, 8192)]


def late(size):
    """Sends for which receives come one by one, much later than they are posted: each arrives once, and in order."""
    count = 12

    def responder(line):
        end = meet(line, count * size)
        for n in range(3):
            end.receive(end.sge(n * size, size))
        line.say("posted")
        line.hear()
        seen = statuses(end, 3)
        for n in range(3, count):
            end.receive(end.sge(n * size, size))
            seen += statuses(end, 1)
        whole = [end.mr.read(size, n * size) == pattern(n, size) for n in range(count)]
        line.say(seen, whole, statuses(end, 1, 0.05))
        line.hear()

    def requester(line, peer):
        end = meet(line, count * size)
        line.hear()
        for n in range(count):
            end.mr.write(pattern(n, size), size, n * size)
        for n in range(count):
            end.post(e.IBV_WR_SEND, end.sge(n * size, size))
        line.say("sent")
        return [statuses(end, count), *line.hear()]

    return play(requester, responder)


def a_bad_key_among_writes():
    """What was posted after a write that is refused does not land, though it was rung with it."""
    size = 1 << 16

    def responder(line):
        end = meet(line, 4 * size)
        line.hear()
        line.say([end.mr.read(size, n * size) == pattern(n, size) for n in range(4)])
        line.hear()

    def requester(line, peer):
        end = meet(line, 4 * size)
        for n in range(4):
            end.mr.write(pattern(n, size), size, n * size)
        write(end)
        early = statuses(end, 1)
        stop(peer)
        for n in range(4):
            end.post(
                e.IBV_WR_RDMA_WRITE,
                end.sge(n * size, size),
                rkey=end.rkey ^ (0x10000 if n == 2 else 0),
                raddr=end.there + n * size,
            )
        os.kill(peer, signal.SIGCONT)
        seen = statuses(end, 4)
        line.say("written")
        return [early, seen, *line.hear()]

    return play(requester, responder)


def drained():
    """A send queue is drained when the last of what was sent has its answer."""

    def requester(line, peer):
        end = meet(line)
        line.hear()
        write(end)
        seen = [statuses(end, 1)]
        stop(peer)
        for n in range(6):
            write(end, 4096, wr_id=n)
        end.qp.modify(QPAttr(qp_state=e.IBV_QPS_SQD), e.IBV_QP_STATE)
        time.sleep(0.1)
        attr, _ = end.qp.query(e.IBV_QP_STATE)
        seen += [attr.sq_draining, statuses(end, 1, 0.1)]
        os.kill(peer, signal.SIGCONT)
        # What the device had not begun yet waits until the queue is in RTS again.
        begun = statuses(end, 6, 2.0)
        attr, _ = end.qp.query(e.IBV_QP_STATE)
        end.qp.modify(QPAttr(qp_state=e.IBV_QPS_RTS), e.IBV_QP_STATE)
        return [*seen, len(begun) > 0, begun + statuses(end, 6 - len(begun)), attr.sq_draining]

    return play(requester, receiver(0))


def writes_around_a_read():
    """A read sees what was written before it, and nothing that was posted after it."""

    def requester(line, peer):
        end = meet(line)
        line.hear()
        seen = []
        for _ in range(50):
            for at, byte in ((0, b"a"), (8192, b"b")):
                end.mr.write(byte * 4096, 4096, at)
            for at in (0, 4096, 8192):
                end.post(
                    e.IBV_WR_RDMA_READ if at == 4096 else e.IBV_WR_RDMA_WRITE,
                    end.sge(at, 4096),
                    rkey=end.rkey,
                    raddr=end.there,
                    signaled=at == 8192,
                )
            seen += statuses(end, 1)
            seen.append(end.mr.read(4096, 4096) == b"a" * 4096)
        return seen

    return play(requester, receiver(0))


def spent(pid):
    """Seconds of processor time of another process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    print(json.dumps({name: globals()[name]() for name in sys.argv[1:]}))
