# The commands that need no answers: environment, site, links. The student
# edition has this file alone, as its Makefile.
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

.PHONY: env book links colab serve clean
.DEFAULT_GOAL := book

env: $(READY)
$(READY): requirements.txt pyproject.toml
	test -x $(PY) || $(PYTHON) -m venv $(VENV)
	if command -v uv >/dev/null; \
	then uv pip install --python $(PY) -r requirements.txt; \
	else $(PY) -m pip install --quiet -r requirements.txt; fi
	touch $@

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
