"""The options of a command that opens an RDMA device: how its port is addressed, and where its peer is."""

from __future__ import annotations

import argparse

from mkeyspec.abi.constants import MTUS


def add(parser: argparse.ArgumentParser) -> None:
    text = "which GID of the port the QPs have (default: RoCE v2 and a routed address first)"
    parser.add_argument("--gid-index", type=int, metavar="N", help=text)
    text = "the path MTU of the QPs, 256 to 4096 (default: 1024, or the port's if that is less)"
    parser.add_argument("--path-mtu", type=int, choices=MTUS, metavar="BYTES", help=text)
    text = "the peer in a process of its own: popen or ssh=HOST, then //DEVICE[:PORT], //python=COMMAND"
    parser.add_argument("--peer", metavar="SPEC", help=text)
