# make run    sets everything up and runs the main job
# make run-slurm   the same job on a throw-away Slurm, where one may start
# make test   sets everything up and runs every check and test
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
REQUEST ?= 4 tasks on one node for 5 minutes: python3 pi.py, needs input.csv
APPROVE := $(shell if [ -t 0 ] && [ -t 2 ]; then echo ask; else echo auto; fi)
ROOMS := dragoman providers tools graph checkpoints continuation simulation interfaces
CODE := $(ROOMS) tests benchmarks campaign
FAULTS ?= 500
JOBS ?= 200
SEED ?= 1
WORKERS ?= 2

.PHONY: run run-slurm slurm-faults test lint unit bench campaign clean

run: $(VENV)/.run
	cd examples/pi && $(BIN)/dragoman run "$(subst ",\",$(REQUEST))" --sites ../fleet.yaml --approve $(APPROVE)

run-slurm: $(VENV)/.run
	tests/slurm/run-main.sh $(BIN)/dragoman "$(subst ",\",$(REQUEST))" $(APPROVE)

test: lint unit

lint: $(VENV)/.dev
	$(BIN)/ruff check --quiet $(CODE)
	$(BIN)/ruff format --check --quiet $(CODE)
	$(BIN)/lint-imports
	$(BIN)/pyright --warnings & $(BIN)/mypy; mypy=$$?; wait $$! && exit $$mypy

# Tests of pure code run once. Those that meet real processes, clocks and networks may be run again when they fail, and
# the summary names each that was. WORKERS=0 runs one test at a time.
unit: $(VENV)/.dev
	$(BIN)/pytest tests/unit tests/contracts tests/structure -n $(WORKERS) --dist worksteal
	$(BIN)/pytest tests/integration tests/acceptance -n $(WORKERS) --dist loadfile --no-loadscope-reorder \
	  --reruns 2 --reruns-delay 2

slurm-faults: $(VENV)/.dev
	$(BIN)/pytest tests/integration/slurm -m "slurm and (campaign or not campaign)"

campaign: $(VENV)/.dev
	$(BIN)/python -m campaign --faults $(FAULTS) --jobs $(JOBS) --seed $(SEED)

bench: $(VENV)/.dev
	for each in benchmarks/bench_*.py; do $(BIN)/python $$each; done

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[embedded,ssh]"
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@ $(VENV)/.run

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
