"""What names a machine is replaced, the same by the same; times, PCI addresses and places stay."""

from __future__ import annotations

import pytest

from mkeyspec.ticket.redact import Redaction

STAYS = (
    "0000:08:00.0", "2026-11-24T15:20:10.132Z", "cases/a.mks:11:5", "12:30:45", "20:C0:1f", "1.14.44.0",
    "cases/a.mks::c[n=1]", "mlx5dv::x", "[   12.345678] mlx5_core", "0x7f2f4d800300", "::", "a::b::c", "28.43.1014",
)  # fmt: skip


@pytest.mark.parametrize(
    "secret",
    [
        "0c:42:a1:03:00:01", "0c42:a103:0001:0001", "fe80::e42:a1ff:fe03:1", "::ffff:192.0.2.7", "192.0.2.7",
        "fe80:0000:0000:0000:0e42:a1ff:fe03:0001", "2001:db8::1",
        "80:00:00:48:fe:80:00:00:00:00:00:00:0c:42:a1:03:00:00:00:01",
    ],
)  # fmt: skip
def test_an_address_is_replaced_everywhere_by_the_same(secret: str) -> None:
    redacted = Redaction([])
    assert redacted(f"gid {secret}, {secret.upper()} and {secret}.") == "gid address-1, address-1 and address-1."
    assert redacted("to 198.51.100.9") == "to address-2"


@pytest.mark.parametrize("text", STAYS)
def test_what_is_no_address_stays(text: str) -> None:
    assert Redaction(["lab7.example.org"])(f"at {text} it") == f"at {text} it"


def test_hosts_and_serial_numbers() -> None:
    redacted = Redaction(["lab7.example.org", ""])
    assert redacted("on Lab7.example.org, lab7: lab77") == "on host-1, host-1: lab77"
    assert redacted("serial_number MT2024X12345") == "serial_number serial-1"
    assert redacted('"Serial Number": "MT2024X12345"') == '"Serial Number": "serial-1"'
