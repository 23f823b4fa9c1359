"""`info` and `capabilities`."""

from __future__ import annotations

from copy import deepcopy

from mkeyspec.abi.constants import ALWAYS_TOLD, CAPABILITIES, DEVICE_NUMBERS
from mkeyspec.device.kit.bench import Bench, fail


def test_info_names_the_device(bench: Bench) -> None:
    info = bench.device.info()
    texts = [info.device, info.firmware, *info.versions, *info.versions.values()]
    if not info.device or not all(isinstance(one, str) for one in texts):
        fail(f"info() gives {info}", "device, firmware and versions are texts, and device is not empty")


def test_info_stays(bench: Bench) -> None:
    before = deepcopy(bench.device.info())
    bench.device.release(healthy=True)
    if bench.device.info() != before:
        fail(f"info() gives {bench.device.info()}, and before {before}", "info() is of the device, not of the case")


def test_capabilities_exist(bench: Bench) -> None:
    found = bench.device.capabilities()
    unknown = {*found.offers} - CAPABILITIES | {*found.values} - {*DEVICE_NUMBERS}
    if unknown:
        fail(f"capabilities() has {', '.join(sorted(map(str, unknown)))}", "the names are those of `constants`")
    wrong = {name: value for name, value in found.values.items() if type(value) is not int or value < 0}
    if wrong:
        fail(f"capabilities() has the values {wrong}", "a value is a number from 0")


def test_capabilities_stay(bench: Bench) -> None:
    before = deepcopy(bench.device.capabilities())
    bench.transfer(bench.pair())
    bench.device.release(healthy=True)
    if bench.device.capabilities() != before:
        fail("capabilities() changes after a case", "what a device offers does not change while it is open")


def test_numbers_are_told(bench: Bench) -> None:
    values = bench.device.capabilities().values
    missing = [name for name in ALWAYS_TOLD if name not in values]
    if missing:
        fail(f"capabilities().values lacks {', '.join(missing)}", "each device reports these; 0 is a device without")
    if bench.offers("memcpy") and not values["max_wr_memcpy_length"]:
        fail("it offers memcpy, and max_wr_memcpy_length is 0", "the offers and the values agree")


def test_rc_is_offered(bench: Bench) -> None:
    if not bench.offers("qp.rc"):
        fail("it does not offer qp.rc", "the canary transfer after a failure is on an RC pair")
