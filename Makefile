# `make demo` and `make test` set themselves up. They need git, make and Python 3.11 or newer.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Each worker begins with half of the folders, whose tests share what they make.
PYTEST := $(BIN)/python -m pytest -q -n auto --dist worksteal

.PHONY: demo test test-slow lint format bench bitstream bitstream-quick clean

demo: $(VENV)/.installed
	$(BIN)/python examples/digits/demo.py

# Every room has tests here: each engine, each kind of proof, each board, each obligation.
test: $(VENV)/.installed-dev
	$(PYTEST) -m "not slow"

# All that `make test` leaves out: larger machines, the other points of each grid of parameters, the
# other faults put into the Verilog, and what g++ and Verilator have to build.
test-slow: $(VENV)/.installed-dev
	$(PYTEST) -m slow

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

# The chip of a tree of four that receives and sends, for a ULX3S: some minutes.
bitstream: $(VENV)/.installed-fpga
	rm -rf build/ulx3s-85f
	$(BIN)/shardwright build --m 32 --n 32 --k 2048 --chips 4 --board ulx3s-85f --chip 2 \
		--seeds 2 -o build/ulx3s-85f
	cat build/ulx3s-85f/chip_2/report.txt

# Every board's pins, and small chips as far as synthesis.
bitstream-quick: $(VENV)/.installed-dev
	$(PYTEST) tests/constraints tests/hw/board tests/bitstream tests/shardwright/test_build.py

clean:
	rm -rf $(VENV) build

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@

$(VENV)/.installed-fpga: $(VENV)/.installed
	$(BIN)/pip install --quiet --editable '.[fpga]'
	touch $@
