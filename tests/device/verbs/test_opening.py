"""Opening by name: what is in the way is told in one line with its code, and nothing stays open."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.abi.constants import Access
from mkeyspec.device.protocol import PathChoice, QpAttributes, Unavailable
from mkeyspec.device.verbs import device_lock, names, native, opening, port_in_use, trial
from tests.device.verbs.fake import Fake, PyverbsRDMAError, PyverbsUserError


class Told:
    """A driver that can be asked, and reports nothing."""

    def __init__(self, context: Any) -> None:
        self.answer = native.Offload(None, None, None, None, None, None, None)

    def offload(self) -> native.Offload:
        return self.answer

    def has(self, call: str) -> bool:
        return False

    def events(self) -> list[native.Raw]:
        return []


HIDES = native.Native
"""The real one: the objects of the fake have no C pointers."""


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Fake:
    fake = Fake()
    monkeypatch.setattr(names, "load", lambda: fake.namespace)
    monkeypatch.setattr(native, "Native", Told)
    monkeypatch.setattr(trial, "DEADLINE", 0.0)
    monkeypatch.setattr(port_in_use, "in_use", lambda device, number: "")
    monkeypatch.setattr(device_lock, "folder", lambda: tmp_path)
    monkeypatch.setenv(device_lock.RUN, "this run")
    return fake


def refused(code: str, *names: Any, **named: Any) -> str:
    with pytest.raises(Unavailable) as told:
        opening.open_device(*(names or ("mlx5_0",)), **named)
    text = str(told.value)
    assert told.value.code == code
    assert text.startswith(f"error[{code}]: ")
    assert "\n" not in text
    return text


def test_it_opens_and_closes_in_order(fake: Fake) -> None:
    device = opening.open_device("mlx5_0", label="the lab's")
    assert device.info().device == "the lab's"
    assert device.info().firmware == "1.2.3"
    device.qp_pair(QpAttributes())
    device.mkey("owner", create_flags=1, max_entries=4)
    device.memory("owner", 64, access=1)
    fake.calls.clear()
    device.close()
    closes = [name.removesuffix(".close") for name in fake.said() if name.endswith(".close")]
    order = ["Mlx5Mkey", "Mlx5QP", "CQ", "MR", "PD", "Mlx5Context"]
    assert [name for name in dict.fromkeys(closes) if name in order] == order
    device_lock.take("mlx5_0").release()


def test_a_device_that_is_not_there(fake: Fake) -> None:
    assert "mlx5_0" in refused("MKS0915", "mlx5_7")
    fake.devices.clear()
    assert "this machine has none" in refused("MKS0915")
    fake.devices.append("mlx5_0")
    assert "has no port 2; it has 1" in refused("MKS0915", "mlx5_0", 2)


def test_no_rdma_in_the_kernel(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> list[Any]:
        raise PyverbsRDMAError("Failed to get devices list")

    monkeypatch.setattr(fake.namespace, "get_device_list", none)
    assert "this machine has none" in refused("MKS0915")


def test_another_vendors_device(fake: Fake) -> None:
    fake.raises["Mlx5Context"] = PyverbsUserError("This is not an MLX5 device")
    assert "not an mlx5 device" in refused("MKS0915")


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM])
def test_no_permission(fake: Fake, number: int) -> None:
    fake.refuse["Mlx5Context"] = number
    assert "/dev/infiniband" in refused("MKS0920")


@pytest.mark.parametrize(("number", "words"), [(errno.EOPNOTSUPP, "DEVX"), (errno.EIO, "EIO"), (-1, "refused")])
def test_a_context_that_does_not_open(fake: Fake, number: int, words: str) -> None:
    fake.refuse["Mlx5Context"] = number
    assert words in refused("MKS0919")


def test_memory_that_can_not_be_locked(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda which: (65536, 65536))
    fake.refuse["PD"] = errno.ENOMEM
    text = refused("MKS0919")
    assert "64 KiB" in text
    assert "ulimit -l unlimited" in text


def test_a_port_that_is_down_or_nameless(fake: Fake) -> None:
    fake.port["state"] = 1
    assert "not active" in refused("MKS0919")
    fake.port.update(state=4, link_layer=2)
    fake.gids[0] = "0000:0000:0000:0000:0000:0000:0000:0000"
    assert "no GID" in refused("MKS0919")


def test_a_port_in_use(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(port_in_use, "in_use", lambda device, number: "eth2 (192.0.2.7)")
    assert "eth2 (192.0.2.7)" in refused("MKS0917")
    opening.open_device("mlx5_0", allow_busy_port=True).close()


def test_what_failed_holds_nothing(fake: Fake) -> None:
    fake.refuse["PD"] = errno.EIO
    refused("MKS0919")
    assert fake.said("Mlx5Context.close") == ["Mlx5Context.close"]
    device_lock.take("mlx5_0").release()


def test_capabilities_that_can_not_be_asked_for_are_not_offered(fake: Fake) -> None:
    fake.refuse["Mlx5Mkey"] = errno.EOPNOTSUPP
    device = opening.open_device("mlx5_0", shared=True)
    offers = device.capabilities().offers
    assert {"qp.rc", "qp.dci", "pipelining", "atomic"} <= offers
    assert not {"update_tag", "remote_invalidate", "block_signature", "memcpy", "crypto"} & offers
    device.close()


def test_a_driver_that_can_not_be_asked_is_no_device_without_capabilities(
    fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two thirds of the cases would be skipped, and the run would end well."""
    monkeypatch.setattr(native, "Native", HIDES)
    assert "C pointer of the device's context is not found: the objects of this pyverbs" in refused("MKS0960")
    monkeypatch.setattr(native, "look", lambda address, length: None)
    assert "may not read its own memory" in refused("MKS0960")
    assert fake.said("Mlx5Context.close") == ["Mlx5Context.close"] * 2
    device_lock.take("mlx5_0").release()


V1, V2 = 0, 1
LINK_LOCAL, ROUTED, NO_GID = "fe80::e42:a1ff:fe01:1", "::ffff:192.0.2.1", "::"


@pytest.mark.parametrize(
    ("gids", "types", "chosen"),
    [
        ([LINK_LOCAL, LINK_LOCAL, ROUTED, ROUTED], [V1, V2, V1, V2], 3),
        ([LINK_LOCAL, LINK_LOCAL, ROUTED], [V1, V2, V1], 1),
        ([LINK_LOCAL, "2001:db8::1"], [V2, V2], 1),
        ([NO_GID, LINK_LOCAL], [V1, V1], 1),
        ([LINK_LOCAL, ROUTED], [], 1),
        ([NO_GID, LINK_LOCAL, LINK_LOCAL], [], 1),
    ],
)
def test_the_gid_is_of_what_people_run(fake: Fake, gids: list[str], types: list[int], chosen: int) -> None:
    """A kernel has v1 first, which may be off; and the link-local address first, which no router takes."""
    fake.port.update(link_layer=2, gid_tbl_len=len(gids))
    fake.gids, fake.gid_types = gids, types
    device = opening.open_device("mlx5_0", shared=True)
    device.qp_pair(QpAttributes())
    assert fake.given("GlobalRoute")["sgid_index"] == chosen
    assert fake.given("GID") == {"val": gids[chosen]}
    device.close()


def test_a_gid_that_was_asked_for(fake: Fake) -> None:
    fake.port.update(link_layer=2, gid_tbl_len=3)
    fake.gids, fake.gid_types = [LINK_LOCAL, NO_GID, ROUTED], [V1, V1, V2]
    device = opening.open_device("mlx5_0", shared=True, path=PathChoice(gid_index=0))
    device.qp_pair(QpAttributes())
    assert fake.given("GlobalRoute")["sgid_index"] == 0
    device.close()
    for index in (1, 7, -1):
        text = refused("MKS0919", "mlx5_0", path=PathChoice(gid_index=index))
        assert f"--gid-index {index}: port 1 of mlx5_0 has no GID there; it has GIDs at 0, 2" in text


@pytest.mark.parametrize(("flags", "is_global"), [(1, True), (0, False)])
def test_an_infiniband_port_may_want_a_global_route(fake: Fake, flags: int, is_global: bool) -> None:
    """IBV_QPF_GRH_REQUIRED, as with SR-IOV."""
    fake.port["flags"] = flags
    device = opening.open_device("mlx5_0", shared=True)
    device.qp_pair(QpAttributes())
    assert bool(fake.given("AHAttr").get("is_global")) is is_global
    assert fake.given("AHAttr")["dlid"] == 7
    device.close()


@pytest.mark.parametrize(
    ("active", "asked", "mtu"), [(5, None, 3), (1, None, 1), (2, None, 2), (5, 4096, 5), (5, 256, 1)]
)
def test_the_mtu_of_the_path_fits_the_port(fake: Fake, active: int, asked: int | None, mtu: int) -> None:
    fake.port["active_mtu"] = active
    device = opening.open_device("mlx5_0", shared=True, path=PathChoice(mtu=asked))
    device.qp_pair(QpAttributes())
    assert fake.given("QPAttr")["path_mtu"] == mtu
    device.close()


def test_an_mtu_that_the_port_has_not(fake: Fake) -> None:
    fake.port["active_mtu"] = 3
    text = refused("MKS0919", "mlx5_0", path=PathChoice(mtu=4096))
    assert "--path-mtu 4096: the active MTU of port 1 of mlx5_0 is 1024" in text


@pytest.mark.parametrize("atomics", [0, 1])
def test_atomics_are_asked_for_where_there_are_some(fake: Fake, atomics: int) -> None:
    """libmlx5 refuses a QP with these operations on a function without them; the kernel, the QP's right."""
    fake.device["atomic_caps"] = atomics
    device = opening.open_device("mlx5_0", shared=True)
    device.qp_pair(QpAttributes())
    flags = fake.given("QPInitAttrEx")["send_ops_flags"]
    assert bool(flags & (names.EX_CMP_SWP | names.EX_FETCH_ADD)) is bool(atomics)
    assert bool(fake.set["QPAttr"]["qp_access_flags"] & Access.REMOTE_ATOMIC) is bool(atomics)
    device.close()
