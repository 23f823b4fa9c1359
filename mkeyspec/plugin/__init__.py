"""The pytest plugin: `.mks` files are test files.

A `.mks` file is collected through the module that is generated from it, so that fixtures, marks, parametrization and
selection are pytest's own. pytest loads the plugin in every session of an environment, so it imports devices and the
language only when they are needed.
"""

from mkeyspec.plugin.case_report import pytest_report_teststatus, pytest_runtest_makereport, pytest_terminal_summary
from mkeyspec.plugin.collect import (
    pytest_collect_file,
    pytest_ignore_collect,
    pytest_pycollect_makemodule,
    pytest_report_header,
)
from mkeyspec.plugin.compilation import pytest_configure_node, pytest_xdist_setupnodes
from mkeyspec.plugin.device_opening import pytest_sessionstart, pytest_unconfigure
from mkeyspec.plugin.fixtures import device, pytest_pyfunc_call, pytest_runtest_setup, pytest_runtest_teardown, rig
from mkeyspec.plugin.irregular_files import pytest_make_collect_report
from mkeyspec.plugin.options import (
    pytest_addoption,
    pytest_cmdline_main,
    pytest_configure,
    pytest_load_initial_conftests,
)
from mkeyspec.plugin.report_properties import pytest_sessionfinish, pytest_testnodedown
from mkeyspec.plugin.selected import pytest_collection_modifyitems

__all__ = [
    "device",
    "pytest_addoption",
    "pytest_cmdline_main",
    "pytest_collect_file",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_configure_node",
    "pytest_ignore_collect",
    "pytest_load_initial_conftests",
    "pytest_make_collect_report",
    "pytest_pycollect_makemodule",
    "pytest_pyfunc_call",
    "pytest_report_header",
    "pytest_report_teststatus",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
    "pytest_runtest_teardown",
    "pytest_sessionfinish",
    "pytest_sessionstart",
    "pytest_terminal_summary",
    "pytest_testnodedown",
    "pytest_unconfigure",
    "pytest_xdist_setupnodes",
    "rig",
]
