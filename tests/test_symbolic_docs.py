"""Every public function of the symbolic face shows an example that runs."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import assembled.symbolic

NAMES = [m.name for m in pkgutil.iter_modules(assembled.symbolic.__path__)]


def module_of(name):
    """Import one module of the face."""
    return importlib.import_module(f"assembled.symbolic.{name}")


@pytest.mark.parametrize("name", NAMES)
def test_examples_run(name):
    result = doctest.testmod(module_of(name))
    assert result.failed == 0, f"{result.failed} examples of {name} fail"


@pytest.mark.parametrize("name", NAMES)
def test_every_public_function_has_an_example(name):
    module = module_of(name)
    functions = [
        function for word, function in vars(module).items()
        if inspect.isfunction(function) and not word.startswith("_")
        and function.__module__ == module.__name__
    ]
    assert functions
    bare = [f.__name__ for f in functions if ">>>" not in (f.__doc__ or "")]
    assert bare == [], f"{name}: these show no example"
