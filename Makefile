# Two commands do everything on a machine that has git, make and Python >= 3.10 with venv:
#
#     make run     environment, package, the shipped cases on the model, reports/junit.xml
#     make test    the same environment, and the tests; what this machine can't run is listed at the end
#
# Neither needs root, a network card, or anything installed by hand. PYTHON=python3.12 chooses another Python,
# ARGS="-k crc" goes to pytest.

PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
STAMP   = $(VENV)/.mkeyspec-installed
ARGS   ?=

.PHONY: run test lint types arrows check-python clean help

run: $(STAMP)
	$(BIN)/mkeyspec run cases $(ARGS)

# The quick ones first: a typing slip should not wait for the tests.
test: lint arrows types
	$(BIN)/python -m pytest tests -n auto $(ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .

arrows: $(STAMP)
	$(BIN)/lint-imports

types: $(STAMP)
	$(BIN)/mypy

# Built anew when the dependencies change; a half-made environment has no stamp and is tried again.
$(STAMP): pyproject.toml hatch_build.py
	@$(MAKE) --no-print-directory check-python
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	  rm -rf $(VENV); \
	  echo "make: this Python can't make an environment; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@$(BIN)/mkeyspec doctor | sed -n 's/^\(--device soft: lacks .*\)/make: \1; `mkeyspec doctor` says what to install/p'
	@touch $@

check-python:
	@command -v $(PYTHON) >/dev/null || { echo "make: there is no $(PYTHON); install Python 3.10 or later, or name one: make PYTHON=/path/to/python3 run" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "make: mkeyspec needs Python 3.10 or later, and $(PYTHON) is `$(PYTHON) --version 2>&1`; name another: make PYTHON=python3.12 run" >&2; exit 1; }

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache softnic/build
	find generated reports -mindepth 1 ! -name README.md -delete

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile
