"""Fixtures and options come from the plugin `mkeyspec.plugin`, which pytest finds by its entry point.

This file makes the checkout importable where the package is not installed, and loads the plugin then.
"""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    if not config.pluginmanager.hasplugin("mkeyspec"):
        raise pytest.UsageError("mkeyspec is not installed in this Python: run `make run`, or `pip install -e .`")
