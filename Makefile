# Each verb installs what it needs, in the versions of constraints.txt, into .venv.

PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help quickstart test quick test-cluster fuzz check coverage check-lowest check-wheel format reference picture evaluation-set \
	bench leaderboard constraints clean browser web-pictures

help:  ## list the verbs
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 24

quickstart: .venv/installed  ## install, generate, train, play a short tournament
	@PATH="$(CURDIR)/$(BIN):$$PATH" selfplay quickstart
	@echo
	@echo "To put selfplay on the path of this shell:  . .venv/bin/activate"

test: .venv/test  ## run all tests
	$(BIN)/pytest -q -n auto --dist worksteal

quick: .venv/test  ## run the tests without Ray, an S3 server or processes: a minute
	$(BIN)/pytest -q -n auto --dist worksteal -m "not (ray or s3 or process)" --durations=10

browser: .venv/test  ## run the tests in Chromium, where it is installed with Playwright
	@$(BIN)/python -c 'import playwright' 2>/dev/null || \
		{ echo "Playwright is missing:  $(BIN)/pip install -e '.[browser]'"; exit 1; }
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || \
		{ echo "Chromium is missing, such as:  apt-get install chromium"; exit 1; }
	$(BIN)/pytest -q -m browser tests/web

reference: .venv/dev  ## update docs/cli.md and the file list in docs/architecture.md
	$(BIN)/python -m scripts.reference

test-cluster: .venv/test  ## test a run that loses some of its hosts: a minute, as root
	$(BIN)/pytest -q tests/hosts

fuzz: .venv/test  ## feed broken and forged files to every command (COUNT=100000 SEED=1)
	$(BIN)/python -m tests.fuzz --count $(or $(COUNT),100000) --seed $(or $(SEED),1)

check: .venv/dev  ## lint, check types, run all tests: what has to pass
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -q -n auto --dist worksteal --durations=10

coverage: .venv/test  ## run all tests, and refuse less coverage than pyproject.toml asks for
	$(BIN)/pytest -q -n auto --dist worksteal --cov

picture: .venv/installed  ## draw the game in the README
	$(BIN)/python -m scripts.picture docs/play.svg

web-pictures: .venv/installed  ## take the pictures of the browser's pages, with Playwright and Chromium
	$(BIN)/python -m scripts.web_pictures docs

evaluation-set: .venv/installed  ## build the evaluation set of 7x6 with new positions: hours
	$(BIN)/selfplay evaluation build --positions 20000 --plies 8-30 --seed 2001 --out train/evaluation/data/new-7x6.npz
	mv train/evaluation/data/new-7x6.npz train/evaluation/data/positions-7x6.npz

format: .venv/dev  ## format the code, fix lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/bench  ## run the benchmarks, against OpenSpiel's C++
	$(BIN)/python -m bench

leaderboard: .venv/installed  ## measure all players for the table in the README
	$(BIN)/python -m scripts.leaderboard

check-lowest:  ## run all tests with the lowest versions that pyproject.toml allows
	rm -rf .venv-lowest
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/pip install -q -c constraints-lowest.txt -e '.[test]'
	.venv-lowest/bin/pytest -q -n auto --dist worksteal

check-wheel: .venv/test  ## build the wheel, use it in a folder of colliding names
	rm -rf .venv-wheel dist
	$(BIN)/pip wheel -q --no-deps -w dist .
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/pip install -q -c constraints.txt dist/selfplay-*.whl
	mkdir dist/cwd && cd dist/cwd && mkdir storage cli && \
		for name in train workers pipeline selfplay numpy; do echo "raise SystemExit" > $$name.py; done && \
		echo 44352 | ../../.venv-wheel/bin/selfplay analyse --player tree --json && \
		../../.venv-wheel/bin/selfplay generate run --games 2 --teacher mcts:20 --workers 1

constraints:  ## resolve the newest versions into constraints.txt, with the oldest Python supported
	rm -rf .venv-constraints
	$(PYTHON) -m venv .venv-constraints
	.venv-constraints/bin/pip install -q -e '.[dev,bench]' hatchling
	head -1 constraints.txt > .venv-constraints/new
	.venv-constraints/bin/pip freeze --exclude-editable >> .venv-constraints/new
	mv .venv-constraints/new constraints.txt

clean:  ## remove everything that the verbs made
	rm -rf .venv .venv-lowest .venv-wheel .venv-constraints dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp per set of extras; a change of pyproject.toml or constraints.txt installs again.
.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed; this is $$($(PYTHON) --version)."; \
		  echo "Use another one:  make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e .
	@touch $@

.venv/test .venv/dev .venv/bench: .venv/%: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[$*]'
	@touch $@
