# `make demo` and `make test` do everything on a fresh machine that has make and a python3 of 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test quick check bench soak docs course wheel clean

demo: $(VENV)/installed
	$(BIN)/sfumato demo

# The whole suite and every check.
test: check wheel
	$(BIN)/python tests/programs.py
	$(BIN)/pytest -n 2 --durations=40

# For every save: no statistics, no servers, no browser, no programs. About half a minute.
quick: $(VENV)/developing
	$(BIN)/pytest -n 2 -m "not statistical and not engine and not browser and not program"

# Style, types and the floors of the house.
check: $(VENV)/developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini tests bench examples
	$(BIN)/lint-imports

# The reference pages, from the docstrings.
docs: $(VENV)/developing
	$(BIN)/python docs/build.py

# The course's lessons as notebooks, in build/course.
course:
	$(PYTHON) docs/course/notebooks.py build/course

# The wheel, built from the sdist and installed into a clean environment, must give the same first answer, and hold the
# survey's page; wheel and sdist must hold the license.
wheel: $(VENV)/developing
	rm -rf build
	$(PYTHON) -m venv build/builder
	build/builder/bin/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt hatchling
	build/builder/bin/python -m hatchling build --target sdist --directory build/sdist
	$(PIP) wheel --no-deps --wheel-dir build/wheel build/sdist/*.tar.gz
	$(PYTHON) tests/packed.py build/sdist build/wheel
	$(PYTHON) -m venv build/clean
	build/clean/bin/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt build/wheel/*.whl
	cd build && clean/bin/sfumato demo >/dev/null && clean/bin/sfumato --version
	cd build && clean/bin/sfumato survey design --question smoker=yes-no --epsilon 1 --quiet && clean/bin/sfumato survey page

bench: $(VENV)/developing
	$(PIP) install --constraint constraints.txt --editable ".[bench]"
	mkdir -p bench/results
	$(BIN)/python bench/start.py --json bench/results/start.json
	$(BIN)/python bench/noise.py --json bench/results/noise.json
	$(BIN)/python bench/timing.py --json bench/results/timing.json
	$(BIN)/python bench/accounting.py --json bench/results/accounting.json
	$(BIN)/python bench/accuracy.py --json bench/results/accuracy.json
	$(BIN)/python bench/query.py --json bench/results/query.json
	$(BIN)/python bench/joins.py --json bench/results/joins.json
	$(BIN)/python bench/survey.py --json bench/results/survey.json
	$(BIN)/python bench/risk.py --json bench/results/risk.json
	$(BIN)/python bench/ledger.py --json bench/results/ledger.json
	$(BIN)/python bench/engines.py --json bench/results/engines.json

# What the ledger withstands, at length: races, kills, flipped bits, faults of PostgreSQL; and 20,000 random statements that are
# compared with DuckDB's own answers. About an hour on two cores.
# docs/concepts/reliability.md shows what came out.
SOAK := tests/ledger/test_race.py tests/ledger/test_threads.py tests/ledger/test_kill.py tests/ledger/test_flips.py \
	tests/ledger/test_postgres_faults.py tests/differential tests/fuzz
soak: $(VENV)/developing
	SFUMATO_SOAK=1 $(BIN)/pytest -n 2 --dist worksteal -rP --durations=0 -o faulthandler_timeout=7200 $(SOAK)

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Sfumato needs Python 3.11 or newer: make PYTHON=python3.11 demo")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --constraint constraints.txt --editable .
	touch $@

$(VENV)/developing: $(VENV)/installed
	$(PIP) install --constraint constraints.txt --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
