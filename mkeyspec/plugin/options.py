"""Options and marks. Errors in them are reported in one line before anything runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from mkeyspec.abi.constants import MTUS
from mkeyspec.files.project import OtherCheckout, refuse_other_checkout
from mkeyspec.plugin import (
    early_end,
    processes,
    quarantine,
    recording,
    registered,
    result_stream,
    settings_defaults,
    soak,
)
from mkeyspec.plugin.option_values import (
    SELECTED,
    SHARD,
    read_balance,
    read_choice,
    read_expectations,
    read_fault,
    read_levels,
    read_peer,
    read_profile,
    read_selection,
    read_shard,
)
from mkeyspec.plugin.shards import SECONDS
from mkeyspec.syntax.labels import LEVELS

MARKS = (
    "requirement(*ids): ids of the requirement ledger that a .mks case verifies; also selected by -k, as in -k CRC-02",
    "positive: a .mks case in which everything goes through",
    "negative: a .mks case that claims a rejection or a reported error",
    "isolated: a .mks case that needs objects of its own",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mkeyspec", "mkeyspec: .mks cases for mlx5 memory keys")
    group.addoption(
        "--device",
        metavar="NAME",
        help="what the cases run on: model, soft[:PERSONALITY] (the real driver on a software NIC), or an RDMA device "
        "as mlx5_0[:PORT] (default: model, which needs no hardware)",
    )
    group.addoption(
        "--allow-busy-port",
        action="store_true",
        help="use a port of an RDMA device although its network interface carries an IP address",
    )
    group.addoption(
        "--wait-for-device",
        type=float,
        metavar="S",
        help="how long to wait for an RDMA device that another run has, in seconds (default: not at all)",
    )
    group.addoption(
        "--gid-index",
        type=int,
        metavar="N",
        help="of an RDMA device: which GID of the port the QPs have (default: RoCE v2 and a routed address first)",
    )
    group.addoption(
        "--path-mtu",
        type=int,
        choices=MTUS,
        metavar="BYTES",
        help="of an RDMA device: the path MTU of the QPs, 256 to 4096 (default: 1024, or the port's if that is less)",
    )
    group.addoption(
        "--peer",
        metavar="SPEC",
        help="the peer's side in a process of its own, with its own device: popen (on this host) or ssh=[USER@]HOST, "
        "then //DEVICE[:PORT], //python=COMMAND, //gid-index=N, as in ssh=host2//mlx5_1 (default: this process)",
    )
    group.addoption(
        "--device-profile",
        metavar="FILE",
        help="TOML file with the implementation-defined points of the device",
    )
    group.addoption(
        "--expectations",
        action="append",
        default=[],
        metavar="FILE",
        help="TOML file of known departures of a device or driver from the pages; may be repeated",
    )
    group.addoption(
        "--waivers",
        action="append",
        default=[],
        metavar="FILE",
        help="TOML file of rows that are known to fail, flaky or not to be run; may be repeated",
    )
    group.addoption(
        "--deadline",
        type=float,
        metavar="S",
        help="longest wait for anything a device owes, in seconds (default: 5, on an RDMA device of this machine 30)",
    )
    group.addoption(
        "--case-profile",
        metavar="NAME",
        help="the cases of this profile, whose file is cases/NAME.toml in the root directory, e.g. quick, deep",
    )
    group.addoption(
        "--allow",
        action="append",
        default=[],
        metavar="MKS06nn",
        help="don't show this warning of the compiler; may be repeated",
    )
    group.addoption(
        "--deny",
        action="append",
        default=[],
        metavar="MKS06nn|warnings",
        help="make this warning of the compiler an error, or each of them; may be repeated",
    )
    group.addoption(
        "--require",
        action="append",
        default=[],
        metavar="NAME",
        help="a capability that the device must have, e.g. crypto: rows that lack it fail instead of being skipped; "
        "may be repeated",
    )
    group.addoption(
        "--tag",
        action="append",
        default=[],
        metavar="NAME",
        help="only cases with this tag of their `tags` line; several: with any of them",
    )
    group.addoption(
        "--level",
        action="append",
        default=[],
        choices=LEVELS,
        help="only cases of this level; may be repeated",
    )
    group.addoption(
        "--shard",
        metavar="K/N",
        help="the K-th of N parts of what is selected, each with about as many rows of each case; K counts from 1",
    )
    group.addoption(
        "--vary",
        metavar="SEED",
        help="carry out each row in other surroundings: other mkeys, histories of its keys, requests beside its own, "
        "flags, operations of the same direction; what is around it follows from the seed and the row's id",
    )
    group.addoption(
        "--balance",
        action="append",
        default=[],
        metavar="FILE",
        help="the results of an earlier run, by whose durations --shard makes parts that take about as long; may be "
        "repeated, for the results of its parts",
    )
    quarantine.add_option(group)
    soak.add_options(group)
    result_stream.add_option(group)
    recording.add_options(group)
    # For `mkeyspec run`, which reports on the process that runs pytest.
    group.addoption("--processes", type=int, default=0, metavar="N", help=argparse.SUPPRESS)
    group.addoption("--isolate", action="store_true", help=argparse.SUPPRESS)  # `isolated` rows in processes
    group.addoption("--journal", metavar="FILE", help=argparse.SUPPRESS)
    group.addoption("--replay", metavar="FILE", help=argparse.SUPPRESS)
    group.addoption("--row-ids", metavar="FILE", help=argparse.SUPPRESS)  # for `mkeyspec run --lab`
    group.addoption("--drawn-from", metavar="SEED", help=argparse.SUPPRESS)  # the cases are those of this seed
    group.addoption("--fault", "--defect", metavar="NAME", help=argparse.SUPPRESS)  # see docs/sabotage.md
    group.addoption(
        "--generated",
        metavar="DIR",
        help="where the modules made from .mks files are kept (default: generated/ in the root directory)",
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    """`--device soft` needs a process that was started under the software NIC: restart this one if it was not. At
    this point nothing has run and pytest has not captured the terminal yet; a wrapper runs before the hook that
    captures it.
    """
    options = early_config.known_args_namespace
    settings_defaults.settle_device(options, early_config.invocation_params.dir)
    early_config.option.device = named = options.device
    fault = early_config.known_args_namespace.fault
    if named.startswith("soft"):
        if fault is not None:
            os.environ[read_fault(fault)] = fault
        from mkeyspec.device.protocol import Unavailable
        from mkeyspec.device.soft import preload

        choice = read_choice(named)
        arguments = [str(argument) for argument in early_config.invocation_params.args]
        # sys.argv alone won't do: a worker of xdist has the controller's, but not its command.
        command = sys.orig_argv[len(sys.orig_argv) - len(arguments) :]
        try:
            preload.ensure(choice.personality, whole=arguments == sys.argv[1:] == command)
        except Unavailable as error:
            raise pytest.UsageError(str(error)) from None
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    return early_end.run_in_child(config)


def pytest_configure(config: pytest.Config) -> None:
    try:
        refuse_other_checkout(config.rootpath)
    except OtherCheckout as error:
        raise pytest.UsageError(str(error)) from None
    settings_defaults.settle(config)
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    option = config.option
    choice = read_choice(option.device)
    if option.peer is not None:
        read_peer(option.peer, choice)
    if option.fault is not None:
        read_fault(option.fault)
        if choice.kind not in ("model", "soft"):
            raise pytest.UsageError("error[MKS0905]: --fault: only the model and the software NIC can be given one")
    if option.case_profile is not None:
        chosen = read_selection(option.case_profile, config.rootpath)
        if chosen is not None:
            config.stash[SELECTED] = chosen
    if option.shard is not None:
        config.stash[SHARD] = read_shard(option.shard)
    if option.balance:
        config.stash[SECONDS] = read_balance(option.balance, option.shard)
    if option.wait_for_device is not None and not 0 <= option.wait_for_device < float("inf"):
        raise pytest.UsageError(f"error[MKS0905]: --wait-for-device {option.wait_for_device:g}: say seconds, from 0")
    if not option.deadline > 0:
        raise pytest.UsageError(f"error[MKS0905]: --deadline {option.deadline:g}: a wait takes more than 0 seconds")
    if option.allow or option.deny:
        read_levels(option.allow, option.deny)
    for name in (option.device_profile, *option.expectations, *option.waivers):
        if name is not None and not Path(name).is_file():
            raise pytest.UsageError(f"error[MKS0903]: no such file: {name}")
    if option.device_profile is not None:
        read_profile(option.device_profile)
    if option.expectations:
        read_expectations(option.expectations, choice, None)
    if option.vary is not None and (option.bundle or option.bundle_parts):
        raise pytest.UsageError(
            "error[MKS0905]: --vary and --bundle: `mkeyspec judge` takes the rows as they are written"
        )
    registered.register(config)
    soak.register(config)
    if option.soak is not None:
        option.isolate = False  # all rows are of this process
    if (option.processes or option.isolate) and not option.collectonly:
        processes.register(config)
