# Short verbs. The first that needs it makes .venv and installs the tested versions into it.

PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help fuzz quick reference leaderboard picture questions quickstart test test-cluster check format bench check-lowest check-wheel clean

help:  ## what there is to do
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 24

quickstart: .venv/installed  ## install, generate, train, a short tournament, and how to go on
	@PATH="$(CURDIR)/$(BIN):$$PATH" selfplay quickstart
	@echo
	@echo "To have the command at hand in this shell:  . .venv/bin/activate"

test: .venv/test  ## run the tests
	$(BIN)/pytest -q -n auto --dist worksteal

quick: .venv/test  ## the tests that need no Ray, no object store and no process: a minute
	$(BIN)/pytest -q -n auto --dist worksteal -m "not (ray or s3 or process)" --durations=10

reference: .venv/dev  ## write docs/cli.md and the list in docs/architecture.md anew
	$(BIN)/python -m scripts.reference

test-cluster: .venv/test  ## a run on several hosts, of which some are lost: a minute, as root
	$(BIN)/pytest -q tests/hosts

fuzz: .venv/test  ## COUNT=100000 SEED=1: broken and forged files through every command
	$(BIN)/python -m tests.fuzz --count $(or $(COUNT),100000) --seed $(or $(SEED),1)

check: .venv/dev  ## lint, types and tests: what has to pass
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -q -n auto --dist worksteal

picture: .venv/installed  ## draw the game that the README shows
	$(BIN)/python -m scripts.picture docs/play.svg

questions: .venv/installed  ## judge the questions of `selfplay evaluate` anew: some minutes
	$(BIN)/python -m selfplay.train.evaluation.positions train/evaluation/data/positions-7x6.npz

format: .venv/dev  ## put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/bench  ## benchmarks, beside OpenSpiel's C++
	$(BIN)/python -m bench

leaderboard: .venv/installed  ## measure all players, and write their table into the README
	$(BIN)/python -m scripts.leaderboard

check-lowest:  ## the tests with the lowest versions that pyproject.toml allows
	rm -rf .venv-lowest
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/pip install -q -c constraints-lowest.txt -e '.[test]'
	.venv-lowest/bin/pytest -q -n auto --dist worksteal

check-wheel: .venv/test  ## build the wheel and use it from an empty folder
	rm -rf .venv-wheel dist
	$(BIN)/pip wheel -q --no-deps -w dist .
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/pip install -q -c constraints.txt dist/selfplay-*.whl
	mkdir dist/cwd && cd dist/cwd && mkdir storage cli && \
		for name in train workers pipeline selfplay numpy; do echo "raise SystemExit" > $$name.py; done && \
		echo 44352 | ../../.venv-wheel/bin/selfplay analyse --player tree --json && \
		../../.venv-wheel/bin/selfplay generate run --games 2 --teacher mcts:20 --workers 1

clean:  ## remove what the verbs above have made
	rm -rf .venv .venv-lowest .venv-wheel dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp per set of extras; a change of either file installs anew.
.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed; this is $$($(PYTHON) --version)."; \
		  echo "Name another one:  make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e .
	@touch $@

.venv/test .venv/dev .venv/bench: .venv/%: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[$*]'
	@touch $@
