# crewsite: `make run` is all a newcomer needs.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.crewsite-installed

.PHONY: run install dev test bench lint fmt

run: $(STAMP)  ## from nothing to a running site
	@$(BIN)/crew run

install: $(STAMP)  ## environment, dependencies, model, database, owner; starts nothing
	@$(BIN)/crew setup

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) crewsite/bootstrap.py

dev:
	@$(PYTHON) crewsite/bootstrap.py --extras dev

test: dev lint  ## everything CI checks
	$(BIN)/python -m tests.run

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fmt: dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: dev  ## every benchmark; one alone: .venv/bin/python -m bench recall
	$(BIN)/python -m bench all
