"""The examples in the symbolic face's docstrings run and are right."""

import doctest
import importlib
import pkgutil

import pytest

import assembled.symbolic

NAMES = [m.name for m in pkgutil.iter_modules(assembled.symbolic.__path__)]


@pytest.mark.parametrize("name", NAMES)
def test_examples_run(name):
    module = importlib.import_module(f"assembled.symbolic.{name}")
    result = doctest.testmod(module)
    assert result.failed == 0, f"{result.failed} examples of {name} fail"


def test_every_module_but_the_proof_has_examples():
    finder = doctest.DocTestFinder()
    for name in NAMES:
        module = importlib.import_module(f"assembled.symbolic.{name}")
        examples = [e for t in finder.find(module) for e in t.examples]
        assert examples or name == "proof", f"{name} shows no example"
