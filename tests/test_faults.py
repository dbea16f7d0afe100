"""The table of faults stays current; `make faults` tries them all."""

import ast
from collections import Counter

import pytest

from tests.faults import FAULTS, LIBRARY, ROOT, Outcome, is_caught

PACKAGES = ("reference", "gpu", "symbolic", "fast")


def source(path):
    return (ROOT / LIBRARY / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f"{f.path} {f.name}")
def test_each_fault_has_its_place_and_its_test(fault):
    assert source(fault.path).count(fault.old) == 1
    assert fault.new != fault.old
    changed = source(fault.path).replace(fault.old, fault.new)
    ast.parse(changed)  # a fault, not a program that is broken
    file, function = fault.test.split("::")
    text = (ROOT / "tests" / file).read_text(encoding="utf-8")
    assert f"def {function}(" in text


def test_every_module_of_every_package_has_a_fault():
    with_fault = {fault.path for fault in FAULTS}
    for package in PACKAGES:
        for file in (ROOT / LIBRARY / package).glob("*.py"):
            path = f"{package}/{file.name}"
            if file.name not in ("__init__.py", "proof.py"):
                assert path in with_fault, path


def test_every_upcast_of_the_gpu_face_has_a_fault():
    for file in (ROOT / LIBRARY / "gpu").glob("*.py"):
        path = f"gpu/{file.name}"
        calls = [
            line.strip()
            for line in source(path).splitlines()
            if ("widen(" in line or "wide_dtype(" in line)
            and not line.startswith("def ")
        ]
        touched = Counter()
        for fault in FAULTS:
            for line in calls:
                touched[line] += fault.path == path and line in fault.old
        for line in calls:
            assert touched[line] >= calls.count(line), (path, line)


def test_names_are_not_repeated():
    names = Counter((fault.path, fault.name) for fault in FAULTS)
    assert max(names.values()) == 1


def test_a_broken_program_does_not_count_as_caught():
    assert is_caught(Outcome(1, "AssertionError"))
    assert not is_caught(Outcome(0, ""))
    assert not is_caught(Outcome(1, "NameError"))
    assert not is_caught(Outcome(2, "SyntaxError"))
