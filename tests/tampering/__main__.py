"""Write autograder/TAMPERING.md from the corpus."""

import sys
from importlib import import_module
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent)]
corpus = import_module("tampering.corpus")
corpus.PAGE.write_text(corpus.page(), encoding="utf-8")
