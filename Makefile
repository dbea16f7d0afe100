# The commands of the course. README.md says what each is for.
PYTHON ?= python3
VENV := .venv
BIN := $(abspath $(VENV))/bin
PY := $(BIN)/python
export PATH := $(BIN):$(PATH)
READY := $(VENV)/.ready

# One thread a process: the matrix products here are small and several
# processes run side by side, where BLAS threads wait for one another.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: all env check test book links colab serve notebooks grade sample mutants faults bench clean

all: notebooks book sample
	@$(PY) -m autograder where

env: $(READY)
$(READY): requirements.txt pyproject.toml
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	if command -v uv >/dev/null; \
	then uv pip install --python $(PY) -r requirements.txt; \
	else $(PY) -m pip install --quiet -r requirements.txt; fi
	touch $@

check: $(READY)
	$(BIN)/ruff check .
	$(PY) -m pytest -q -n 2 -m "not slow"

test: $(READY)
	$(BIN)/ruff check .
	$(PY) -m pytest -q -n 2

# The first build is strict: -n -W turns an unknown reference or any other
# warning into a failure, and names them all before it stops.
book: $(READY)
	$(BIN)/jupyter-book build . -n -W --keep-going

# Every link inside the built site leads somewhere.
links: $(READY)
	$(PY) -m book._ext.links

# The chapters' notebooks as released, in whatever Jupyter runs this: Colab's.
colab:
	python3 -m jupyter nbconvert --to notebook --execute \
	  --output-dir _build/colab $$(find notebooks/chapters -name "*.ipynb")

serve: book
	$(PY) -m http.server --bind 127.0.0.1 --directory _build/html 8000

clean:
	rm -rf _build

# Generated and committed, because Colab opens them from the repository.
notebooks: $(READY)
	$(PY) -m autograder release
	$(PY) -m book._ext.chapters

mutants: $(READY)
	$(PY) -m autograder mutants

# The source notebooks, with answers and hidden tests, that grading uses.
SOURCE := _build/source/.made
$(SOURCE): $(READY) $(wildcard solutions/*/*.py) autograder/checks.py
	$(PY) -m autograder release
	touch $@

# Everything in autograder/submitted -> gradebook, CSV, feedback.
grade: $(SOURCE)
	$(PY) -m autograder grade

# A small class, right, wrong, damaged and hostile: expected against given.
sample: $(SOURCE)
	$(PY) -m autograder sample

# Puts faults into copies of the library, one at a time; each must make
# the test that is named for it fail. `make faults ONLY=rope` tries a few.
faults: $(READY)
	$(PY) tests/faults.py "$(ONLY)"
