"""What the README promises is there."""

import re

from autograder.__main__ import COMMANDS
from autograder.course import ROOT

README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = "\n".join(README.split("```")[1::2])


def test_the_two_commands_stand_before_line_20():
    start = README.splitlines()[:19]
    assert any(re.match(r"make\s+#", line) for line in start)
    assert any(re.match(r"make test\s+#", line) for line in start)


def test_every_make_target_exists():
    rules = "".join((ROOT / n).read_text() for n in ("Makefile", "book.mk"))
    targets = re.findall(r"(?m)^([a-z-]+):", rules)
    named = set(re.findall(r"`make ([a-z-]+)`", README))
    named |= set(re.findall(r"(?m)^make ([a-z]+)", BLOCKS))
    assert {"test", "sample", "serve"} <= named <= set(targets)


def test_every_command_exists():
    named = set(re.findall(r"python -m autograder ([a-z]+)", README))
    assert {"collect", "grade", "export"} <= named <= set(COMMANDS)


def test_every_place_in_the_tree_exists():
    tree = README.split("## The tree")[1].split("```")[1]
    folder = ROOT
    for line in tree.strip().splitlines():
        below = line.startswith(("├", "└"))
        names = line[:21].lstrip("├└─ ").replace("GENERATED", "").split()
        folder = folder if below else ROOT / names[0]
        for name in names:
            place = folder / name if below else ROOT / name
            assert place.exists(), name


def test_licences_are_both_named():
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert "MIT License" in text
    assert "Creative Commons Attribution 4.0 International" in text
