# The commands of the course. README.md says what each is for.
include book.mk
.DEFAULT_GOAL := all
.PHONY: all check test notebooks grade sample mutants bench stress \
	faults student-edition

all: notebooks book sample
	@$(PY) -m autograder where

check: $(READY)
	$(BIN)/ruff check .
	$(PY) -m pytest -q -n 2 -m "not slow"

test: $(READY)
	$(BIN)/ruff check .
	$(PY) -m pytest -q -n 2

# Generated and committed, because Colab opens them from the repository.
notebooks: $(READY)
	$(PY) -m autograder release
	$(PY) -m autograder.pocket
	$(PY) -m autograder.sample_class.damage_table
	$(PY) -m book._ext.chapters

mutants: $(READY)
	$(PY) -m autograder mutants

# Side by side: students a minute against nbgrader as it ships, then the
# NumPy model against Hugging Face's Llama.
bench: $(READY)
	$(PY) -m autograder bench
	$(PY) -m experiments.bench_numpy

# The source notebooks, with answers and hidden tests, that grading uses.
SOURCE := _build/source/.made
$(SOURCE): $(READY) $(wildcard solutions/*/*.py solutions/*/releases/*.py) \
  $(wildcard solutions/*/releases.toml) autograder/checks.py
	$(PY) -m autograder release
	touch $@

# Everything in autograder/submitted -> gradebook, CSV, feedback.
grade: $(SOURCE)
	$(PY) -m autograder grade

# A small class, right, wrong, damaged and hostile: expected against given.
sample: $(SOURCE)
	$(PY) -m autograder sample

# A large class, every score as expected; then kills at random moments.
# `make stress SIZE=20 KILLS=5` is a small one.
stress: $(SOURCE)
	$(PY) -m tests.stress $(if $(SIZE),--size $(SIZE))
	$(PY) -m tests.chaos $(if $(SIZE),--size $(SIZE)) \
	  $(if $(KILLS),--kills $(KILLS))

# Puts faults into copies of the library, one at a time; each must make
# the test that is named for it fail. `make faults ONLY=rope` tries a few.
faults: $(READY)
	$(PY) tests/faults.py "$(ONLY)"

# A folder to publish: no answers, no hidden tests, no history.
student-edition: notebooks
	$(PY) -m autograder student-edition _build/student-edition
