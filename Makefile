# crewsite: `make run` is all a newcomer needs.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run install dev test bench lint fmt

run:  ## from nothing to a running site
	@$(PYTHON) crewsite/bootstrap.py
	@$(BIN)/crew run

install:  ## environment, dependencies, model, database, owner; starts nothing
	@$(PYTHON) crewsite/bootstrap.py
	@$(BIN)/crew setup

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
