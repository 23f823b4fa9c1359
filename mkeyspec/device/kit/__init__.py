"""The conformance kit of the device protocol: tests that the author of a device runs on it.

    pytest --pyargs mkeyspec.device.kit --device acme:slot=1

Each test checks one sentence of the protocol (`mkeyspec.device.protocol`): what a call returns, what it raises and
when, that it doesn't wait, that the device carries out what it offers, and that it can be used again after an error,
after `release` and after `close`. What comes out of a NIC byte by byte is what the shipped cases check, which come
next.
"""
