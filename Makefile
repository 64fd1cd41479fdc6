# `make demo` and `make test` set themselves up. They need git, make and Python 3.11 or newer.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test test-slow lint format bench clean

demo: $(VENV)/.installed
	$(BIN)/python examples/digits/demo.py

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -q -n auto -m "not (slow and cosim)"

# The benches that Verilator has to be built for, half a minute each.
test-slow: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -q -n auto -m "slow and cosim"

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.installed
	$(BIN)/python benchmarks/simulation_speed.py
	$(BIN)/python benchmarks/compile_speed.py
	$(BIN)/python benchmarks/engine_speed.py
	$(BIN)/python benchmarks/verilog_size.py

clean:
	rm -rf $(VENV) build

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@
