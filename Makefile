# Needs make and Python 3.11 or newer; everything else is installed into .venv from a lock with hashes.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

PYTHON ?= python3
REPO ?= examples/harbor
SCALE ?= 1
SEED ?= 1
JOBS ?= 2
TARGET ?= all
RUNS ?= 10000
SEED ?= 1

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
UV := $(BIN)/uv
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps

# One step of a longer target: a heading, the command, and the time it took.
define step
@printf '\n== %s\n' '$(1)'; TIMEFORMAT='   $(1): %R s'; time $(2)
endef

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(STAMP) ## Index the example repository and ask it questions
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/demo.sh

.PHONY: test
test: lint unit ## Run every check: format, lint, types, import contracts, tests

.PHONY: lint
lint: $(STAMP) ## Run the checks that read the code: format, lint, types, import contracts
	$(call step,format,$(BIN)/ruff format --check)
	$(call step,lint,$(BIN)/ruff check)
	$(call step,types,$(BIN)/mypy)
	$(call step,imports,$(BIN)/lint-imports --no-logo)

.PHONY: unit
unit: $(STAMP) ## Run the tests only, tidy and documentation drift included
	$(call step,tests,$(BIN)/pytest -q -n $(JOBS) --inline-snapshot=disable)

.PHONY: fix
fix: $(STAMP) ## Format, mend what ruff can mend, and rewrite generated documentation
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	$(BIN)/python -m scripts.write_docs

.PHONY: bench
bench: $(STAMP) ## Measure parsing, indexing and the store; REPO=path chooses the repository
	$(BIN)/python -m benchmarks.parse $(REPO)
	$(BIN)/python -m benchmarks.index $(REPO)
	$(BIN)/python -m benchmarks.store

.PHONY: faults
faults: $(STAMP) ## Kill, fill the disk, fail calls and damage files: hours; SCALE=0.1 is a tenth
	$(BIN)/python -m tests.faults.campaign --scale $(SCALE) --seed $(SEED)

.PHONY: fuzz
fuzz: $(STAMP) ## Fuzz TARGET (one or all) with RUNS cases each from SEED in JOBS processes; goes on where it was ended
	@VIRTUAL_ENV='$(CURDIR)/$(VENV)' $(UV) pip install --quiet --require-hashes -r requirements-fuzz.lock || \
		echo 'atheris cannot be installed here; cases come from seeds alone' >&2
	$(BIN)/python -m tests.fuzz $(TARGET) --runs $(RUNS) --seed $(SEED) --jobs $(JOBS) --guided

.PHONY: conformance
conformance: $(STAMP) ## Run the MCP inspector and conformance suite against our server; npm brings them
	@VIRTUAL_ENV='$(CURDIR)/$(VENV)' $(UV) pip install --quiet --require-hashes -r requirements-node.lock
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m tests.conformance.checks

.PHONY: lock
lock: $(STAMP) ## Resolve the dependencies anew and write both locks
	$(UV) lock --upgrade --quiet
	$(UV) export --frozen --quiet --no-header --no-emit-project --no-default-groups -o requirements.lock > /dev/null
	$(UV) export --frozen --quiet --no-header --no-emit-project --all-groups --no-group node --no-group fuzz --no-group training -o requirements-dev.lock > /dev/null
	$(UV) export --frozen --quiet --no-header --only-group node -o requirements-node.lock > /dev/null
	$(UV) export --frozen --quiet --no-header --only-group fuzz -o requirements-fuzz.lock > /dev/null

.PHONY: clean
clean: ## Remove the environment, caches and build results
	rm -rf $(VENV) build dist .benchmarks .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests scripts benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2> /dev/null || true

# pip installs only uv, from its own lines of the lock; uv installs the rest, and the project without
# build isolation, so nothing arrives that has no hash. The stamp is written last: a half-made
# environment is made again.
$(STAMP): requirements-dev.lock requirements-node.lock pyproject.toml scripts/build_hook.py compiler/package-lock.json
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed, this is %d.%d: make PYTHON=python3.11" % sys.version_info[:2])'
	@printf 'Setting up %s\n' '$(VENV)'
	@rm -f $@
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); echo 'Cannot create a virtual environment; on Debian: apt install python3-venv' >&2; exit 1; }
	@sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.lock > $(VENV)/uv.txt
	@$(PIP_INSTALL) -r $(VENV)/uv.txt
	@VIRTUAL_ENV='$(CURDIR)/$(VENV)' $(UV) pip sync --quiet --require-hashes requirements-dev.lock || { \
		echo 'uv could not install the lock; pip, which may know another index, tries it' >&2; \
		$(PIP_INSTALL) -r requirements-dev.lock; }
	@command -v npm > /dev/null || VIRTUAL_ENV='$(CURDIR)/$(VENV)' $(UV) pip install --quiet --require-hashes -r requirements-node.lock || true
	@VIRTUAL_ENV='$(CURDIR)/$(VENV)' $(UV) pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@
