# Two commands do everything on a machine that has git, make and Python >= 3.10 with venv:
#
#     make run     environment, package, the shipped cases on the model on all cores (the quick profile first, then all),
#                  reports/quick.xml, reports/junit.xml
#     make test    what the tests need beside it, linters, and the tests; what this machine can't run is listed at the end
#
# `make format` writes Python and C in the form that `make lint` demands.
# Neither needs root, a network card, or anything installed by hand. PYTHON=python3.12 chooses another Python,
# ARGS="-k crc" goes to pytest.

PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
READY   = $(VENV)/.mkeyspec-ready
STAMP   = $(VENV)/.mkeyspec-installed
TOOK    = $(VENV)/.mkeyspec-test-minutes
CORES  := $(shell nproc 2>/dev/null || echo 1)
C_FILES = $(wildcard softnic/*/*.[ch] tests/softnic/*.[ch])
ARGS   ?=

# Images of Python set it. Then each worker, and each process that a test starts, compiles every module that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test announce lint format types arrows check-python clean help

WORKERS = -n $(if $(filter 1,$(CORES)),0,$(CORES))

# The quick profile first: a verdict in a fraction of the time, and one that fails early. ARGS choose what runs by themselves.
run: $(READY)
	$(if $(ARGS),,$(BIN)/mkeyspec run cases $(WORKERS) --profile quick --junit reports/quick.xml)
	$(BIN)/mkeyspec run cases $(WORKERS) $(ARGS)

# The quick ones first: a typing slip should not wait for the tests.
test: announce lint arrows types
	@began=`date +%s`; $(BIN)/python -m pytest tests -n auto $(ARGS) || exit $$?; \
	  echo $$(((`date +%s` - began) / 60 + 1)) >$(TOOK)

announce:
	@if [ -s $(TOOK) ]; then echo "make: linters and tests; the last tests here took `cat $(TOOK)` minutes"; \
	  else echo "make: linters and tests; up to 45 minutes on two cores"; fi

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/clang-format --dry-run --Werror $(C_FILES)
	@! LC_ALL=C.UTF-8 grep -nE '^.{101}' $(C_FILES) /dev/null  # clang-format leaves long strings

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(C_FILES)

arrows: $(STAMP)
	$(BIN)/lint-imports

types: $(STAMP)
	$(BIN)/mypy

# Built again when the dependencies change; a half-made environment has no stamp and is tried again. Running needs the
# package and its dependencies only: no checkers, and the software NIC is built at its first use. Modules are compiled when
# they are first imported, not all of them at the installation.
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
$(READY): pyproject.toml hatch_build.py
	@$(MAKE) --no-print-directory $(BIN)/python
	MKEYSPEC_SOFTNIC_BUILD=later $(PIP) -e .
	@touch $@

$(STAMP): pyproject.toml hatch_build.py
	@$(MAKE) --no-print-directory $(BIN)/python
	$(PIP) -e '.[test]'
	@$(BIN)/mkeyspec doctor | sed -n 's/^\(--device soft: lacks .*\)/make: \1; `mkeyspec doctor` says what to install/p'
	@touch $(READY) $@

$(BIN)/python:
	@$(MAKE) --no-print-directory check-python
	@$(PYTHON) -m venv $(VENV) || { \
	  rm -rf $(VENV); \
	  echo "make: this Python can't make an environment; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }

check-python:
	@command -v $(PYTHON) >/dev/null || { echo "make: there is no $(PYTHON); install Python 3.10 or later, or name one: make PYTHON=/path/to/python3 run" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "make: mkeyspec needs Python 3.10 or later, and $(PYTHON) is `$(PYTHON) --version 2>&1`; name another: make PYTHON=python3.12 run" >&2; exit 1; }

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache softnic/build
	find generated reports -mindepth 1 ! -name README.md -delete

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile
