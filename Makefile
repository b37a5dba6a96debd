# make demo: see what hushtable does. make test: what CI runs. make help: the rest.
VENV ?= .venv
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := $(VENV)/bin
# constraints.txt has one version of everything, so that a release overnight changes nothing here
PIP := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt
INSTALL := $(PIP) -q setuptools && $(PIP) --no-build-isolation -e
# hundreds of processes import the package in the tests; they should not compile it each time
unexport PYTHONDONTWRITEBYTECODE
CASES ?= 100000
SECONDS ?= 3600

.PHONY: help demo studio screenshots recordings papers test quick lint generated docs properties fuzz bench pipelines lock dist try-dist try-bounds clean

help:
	@echo "demo        anonymize generated patients into demo/"
	@echo "studio      open the studio, a local web app"
	@echo "screenshots pictures of its pages, into docs/screenshots"
	@echo "recordings  pictures of terminals, into docs/recordings"
	@echo "papers      the papers' experiments, into docs/papers: some minutes"
	@echo "test        lint, types and tests, as CI runs them"
	@echo "quick       ruff and the quickest tests: two minutes"
	@echo "lint        ruff, codespell and mypy"
	@echo "generated   the files that are made from the code: the type stub and the drawing of the architecture"
	@echo "docs        build the documentation into site/"
	@echo "properties  the long property tests"
	@echo "fuzz        random releases and histories, damaged files, kill -9, canaries and a hostile page, bounded in time"
	@echo "            (CASES=100000 SECONDS=3600)"
	@echo "bench       the benchmarks, into docs/benchmarks.md: an hour, or some of them (ONLY=mondrian,speed)"
	@echo "            fails if a figure got worse, and keeps the old one (ACCEPT=1: store it all the same)"
	@echo "pipelines   Airflow, Dagster, dbt and Prefect run our modules for them, in environments of their own: some minutes"
	@echo "lock        constraints.txt from pyproject.toml; versions stay as they are if they can (UPGRADE=1: newest versions)"
	@echo "dist        the wheel, the sdist and the bill of materials of the last commit, into dist/"
	@echo "try-dist    install that wheel into a new environment and use it: command line, Python, studio, Spark"
	@echo "try-bounds  the same and some tests, with the oldest versions that pyproject.toml allows, and with the newest"
	@echo "clean       remove everything that make made"

demo: $(VENV)/.installed
	$(BIN)/hushtable demo --output demo
	@echo "Written to demo/:" && ls demo

studio: $(VENV)/.installed-studio
	$(BIN)/hushtable studio

screenshots: $(VENV)/.installed-dev
	$(BIN)/python -m docs.generator.screenshots

recordings: $(VENV)/.installed-dev
	$(BIN)/python docs/generator/recordings.py

papers: $(VENV)/.installed-dev
	$(BIN)/python docs/generator/papers.py

test: $(VENV)/.installed-dev lint
	@$(BIN)/python -m hushtable.datasets.fetch || echo "Tests that need Adult will be skipped."
	$(BIN)/python -m pytest -n 3 --dist worksteal

quick: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/python -m pytest -n 2 -q -p no:cacheprovider tests/hierarchy tests/models tests/policy tests/risk tests/schema \
		tests/table tests/treatments tests/utility tests/test_api.py tests/test_docs.py tests/test_imports.py \
		tests/test_maintenance.py tests/test_registry.py

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check -q
	$(BIN)/codespell src docs tests README.md CHANGELOG.md CONTRIBUTING.md
	$(BIN)/mypy

generated: $(VENV)/.installed-dev
	$(BIN)/python docs/generator/stub.py
	$(BIN)/python docs/generator/architecture.py

docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

properties: $(VENV)/.installed-dev
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -m slow -n 2

fuzz: $(VENV)/.installed-dev
	@$(PIP) atheris
	$(BIN)/python -m fuzz.campaign --cases $(CASES) --seconds $(SECONDS)
	$(BIN)/python -m fuzz.ledger --seconds 600
	$(BIN)/python -m fuzz.readers all --seconds 60
	$(BIN)/python -m fuzz.kills all --kills 20 --seconds 120
	$(BIN)/python -m fuzz.studio_kills --kills 10 --seconds 300
	$(BIN)/python -m fuzz.leaks --spark --seconds 1200
	$(BIN)/python -m fuzz.api --seconds 300
	$(BIN)/python -m fuzz.hostile
	$(BIN)/python -m fuzz.storage

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/_page.py $(if $(ONLY),--only $(ONLY)) $(if $(ACCEPT),--accept)

# each scheduler in an environment of its own: they do not go together, and take more time than CI has
SCHEDULERS := airflow dagster dbt prefect
PACKAGES_airflow := "apache-airflow>=3,<4"
PACKAGES_dagster := "dagster>=1.10,<2"
PACKAGES_dbt := "dbt-core<1.12" "dbt-duckdb>=1.9"
PACKAGES_prefect := "prefect>=3,<4" "fastapi<0.120" # prefect 3.8 does not import with the newest FastAPI

pipelines: $(SCHEDULERS:%=.venv-pipelines/%/.installed)
	set -e; for name in $(SCHEDULERS); do .venv-pipelines/$$name/bin/python -m pytest -q -W default \
		--override-ini=filterwarnings= tests/pipelines/test_pipelines_$$name.py; done

.venv-pipelines/%/.installed: pyproject.toml Makefile $(VENV)/.uv
	$(BIN)/uv venv -q --clear --python $(BIN)/python .venv-pipelines/$*
	VIRTUAL_ENV=.venv-pipelines/$* $(BIN)/uv pip install -q $(PACKAGES_$*) pytest hypothesis -e '.[sql]'
	@touch $@

try-bounds: dist $(VENV)/.uv
	PATH="$(abspath $(BIN)):$$PATH" .ci/try-bounds dist/*.whl

lock: $(VENV)/.uv
	$(BIN)/uv pip compile -q pyproject.toml --extra dev --universal --python-version 3.11 --no-annotate --strip-extras \
		--custom-compile-command "make lock" $(if $(UPGRADE),--upgrade) -o constraints.txt

dist: $(VENV)/.installed-dev
	rm -rf dist
	PYTHON=$(BIN)/python .ci/dist dist
	$(BIN)/python .ci/sbom.py dist/*.whl > dist/hushtable.cdx.json

try-dist: dist
	.ci/try-dist dist/*.whl

clean:
	rm -rf $(VENV) .venv-pipelines demo build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# stamps, so that a second call installs nothing unless the dependencies changed
$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "hushtable needs Python 3.11 or later; none was found." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.uv: | $(VENV)/bin/python
	@$(BIN)/python -m pip install --disable-pip-version-check -q uv
	@touch $@

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing hushtable into $(VENV): a minute or two, the first time ..."
	@$(INSTALL) .
	@touch $@

$(VENV)/.installed-studio: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing hushtable and its studio into $(VENV): a minute or two, the first time ..."
	@$(INSTALL) '.[studio,excel,sql]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing hushtable and its development tools into $(VENV): a minute or two, the first time ..."
	@$(INSTALL) '.[dev]'
	@touch $@ $(VENV)/.installed
