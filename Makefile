# Two commands, each does all its own set-up on a fresh machine:
#   make demo     simulated hardware, embedded broker, the display at a printed address (ARGS="--hands 1 --exit")
#   make test     everything that is checked (PYTEST_ARGS="tests/journal -x" for a part)
# and make install, which both do first: a .venv with the product in it. PYTHON=python3.12 chooses another Python.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
UV_VERSION := 0.13.9

.PHONY: help install dev demo test style format-check imports types tests system format bench lock clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^#  *make/  make/p' Makefile

install: $(VENV)/.product

demo: install
	$(BIN)/tabled demo $(ARGS)

test: dev system style format-check imports types tests

dev: $(VENV)/.dev

# Each check by itself; the pre-commit hooks call these same targets.
style: dev
	$(BIN)/ruff check .

format-check: dev
	$(BIN)/ruff format --check .

imports: dev
	$(BIN)/lint-imports

types: dev
	$(BIN)/mypy

tests: dev
	$(BIN)/pytest $(PYTEST_ARGS)

# Debian packages that some tests use: installed when we may, else named with what will be skipped.
system:
	@.ci/system

format: dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Every file tests/bench/bench_*.py, one after the other; some minutes in all.  BENCH=bridge for one of them.
BENCH ?= $(patsubst tests/bench/bench_%.py,%,$(sort $(wildcard tests/bench/bench_*.py)))

bench: dev
	@for one in $(BENCH); do echo "== $$one"; $(BIN)/python -m tests.bench.bench_$$one || exit 1; done

# The stamps lie inside .venv, so that deleting it forgets them too.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'tabled needs Python 3.11 or newer, and "$(PYTHON)" is not: try "make install PYTHON=python3.12"'; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
	  echo '"$(PYTHON)" cannot make virtual environments: on Debian or Ubuntu run "apt-get install python3-venv"'; \
	  exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.locked: requirements.lock | $(BIN)/python
	$(PIP) install --quiet --require-hashes -r requirements.lock
	@touch $@

$(VENV)/.product: $(VENV)/.locked pyproject.toml
	$(PIP) install --quiet --no-deps --no-build-isolation -e .
	@touch $@

# What the checks need besides the product: linters, types, browsers' driver, a second opinion on poker.
# And python-evdev as a wheel, which there is for x86-64 and glibc 2.34 or newer: elsewhere, or with one of its own
# (which needs a compiler and kernel headers), the keypad's tests run with what is there, or say that they are skipped.
$(VENV)/.dev: requirements-dev.lock requirements-evdev.lock $(VENV)/.product
	$(PIP) install --quiet --require-hashes -r requirements-dev.lock
	@$(BIN)/python -c 'import evdev' 2>/dev/null || \
	  $(PIP) install --quiet --require-hashes --only-binary :all: -r requirements-evdev.lock || \
	  echo 'python-evdev has no wheel for this machine: the tests of the real keypad will be skipped'
	@touch $@

# New pins, for every Python that pyproject.toml allows: run it after a change of dependencies there (or, with
# LOCK_ARGS=--upgrade, to move on), then look at the difference before it is committed.  The last line of input is
# the build backend, so that installing the product itself downloads nothing that is not pinned.
UV_COMPILE = $(VENV)/.uv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' $(LOCK_ARGS)

lock:
	$(PYTHON) -m venv $(VENV)/.uv
	$(VENV)/.uv/bin/python -m pip --disable-pip-version-check install --quiet uv==$(UV_VERSION)
	printf 'hatchling>=1.27,<2\neditables\n' | $(UV_COMPILE) pyproject.toml - -o requirements.lock
	printf 'hatchling>=1.27,<2\neditables\n' | $(UV_COMPILE) pyproject.toml - --extra dev -c requirements.lock \
	  -o requirements-dev.lock
	printf 'evdev-binary>=2,<3\n' | $(UV_COMPILE) - -o requirements-evdev.lock
	rm -rf $(VENV)/.uv

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
