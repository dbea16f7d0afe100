"""The guards of the corpus: what each is, and how it is taken away."""

import re

import sympy as sp

from autograder import (
    checker,
    class_figures,
    export,
    feedback,
    identity,
    preprocessors,
    sandbox,
    shown,
    split,
    student,
    wire,
    wire_sympy,
)

NEVER = re.compile(r"(?!)")
ALWAYS = re.compile(r".*", re.DOTALL)
HUGE = 1 << 40
KEPT = "trees left as they are"  # a legal value, which must not grow


class Everything:
    """A set that has every member."""

    def __contains__(self, thing):
        return True


def without_deadline(box, deadline, writing=False):
    """Wait for the line as long as it takes."""
    sides = ([], [box.sock]) if writing else ([box.sock], [])
    sandbox.select.select(*sides, [])


def any_number(box, deadline, receive=sandbox.receive):
    """Take the first frame for the reply to request 7."""
    return bytes([7]), receive(box, deadline)[1]


def careless(payload):
    """Read a report as if it were honest."""
    reply = split.json.loads(payload)
    error = reply["error"] if "error" in reply else None
    return split.Outcome(
        not error, error and error["type"], printed=reply["printed"]
    )


def whole_error(error):
    """Describe an error in full."""
    return {"type": type(error).__name__, "text": str(error), "line": None}


def told_all(error):
    """Let the student read every message."""
    return {"message": str(error), "public": True}


def dict_too(node, budget, depth, decode=wire.decode):
    """Let JSON objects through."""
    return node if isinstance(node, dict) else decode(node, budget, depth)


def text_too(node, budget, depth, decode=wire_sympy.decode):
    """Hand strings to SymPy's constructors."""
    return node if isinstance(node, str) else decode(node, budget, depth)


def as_given(text, *args):
    """Return the text."""
    return text


# Where nothing is listed, the unguarded run is one that never had the guard:
# plain nbgrader's, in a process of the grader's own.
GUARDS = {
    "tests run in the checker": [],
    "sandbox": [],
    "empty environment": [],
    "descriptors closed": [],
    "kernel doors closed": [],
    "limit of memory": [],
    "limit of addresses": [],
    "watch over memory": [],
    "limit of processes": [],
    "limit of a file": [],
    "small folders": [],
    "limit of descriptors": [],
    "limit of files": [],
    "deadline of a cell": [],
    "kill from outside": [],
    "answers replayed": [],
    "the instructor's own notebook": [],
    "limit of printed text": [(student, "MAX_PRINTED", HUGE)],
    "limit of an error": [(student, "describe", whole_error)],
    "limit of a value": [(wire, "MAX_BYTES", HUGE)],
    "limit of a frame": [(sandbox, "MAX_FRAME", HUGE)],
    "deadline of a frame": [(sandbox, "wait_for", without_deadline)],
    "numbered requests": [(sandbox, "receive", any_number)],
    "limit of stale replies": [(split, "MAX_STALE", HUGE)],
    "reports not believed": [(split, "report", careless)],
    "limit of parts": [(wire, "MAX_NODES", HUGE)],
    "limit of depth": [(wire, "MAX_DEPTH", HUGE)],
    "limit of bytes": [(wire, "MAX_BYTES", HUGE)],
    "limit of digits": [
        (wire, "MAX_INT_BITS", HUGE),
        (wire_sympy, "whole", lambda text: int(text, 16)),
    ],
    "list of dtypes": [(wire, "DTYPES", Everything())],
    "shape checked": [(wire, "count", lambda shape: abs(sp.prod(shape)))],
    "objects refused": [(wire, "decode", dict_too)],
    "handles refused": [
        (wire, "DECODERS", {**wire.DECODERS, "handle": as_given}),
    ],
    "errors caught": [(wire, "UNFIT", ())],
    "facts checked": [(wire_sympy, "facts_of", as_given)],
    KEPT: [(wire_sympy, "KEPT", {})],
    "list of SymPy's classes": [
        (wire_sympy, "CLASSES", {"factorint": sp.factorint}),
    ],
    "no strings for SymPy": [(wire_sympy, "decode", text_too)],
    "harmless names": [(wire_sympy, "NAME", ALWAYS)],
    "harmless functions": [(wire_sympy, "function_name", as_given)],
    "links and pipes refused": [
        (identity.Path, "is_symlink", lambda path: False),
        (identity.Path, "is_file", lambda path: True),
    ],
    "limit of a submission": [(identity, "MAX_FILE", HUGE)],
    "escaped HTML": [(feedback.html, "escape", as_given)],
    "paths left out": [(feedback, "PATH", NEVER)],
    "cleaned markdown": [(shown.bleach, "clean", as_given)],
    "cleaned formulas": [(shown, "REACHING", NEVER)],
    "quoted cells": [(export, "harmless", as_given)],
    "letters cut": [(class_figures, "ODD", NEVER)],
    "words cut": [(class_figures, "WORD", NEVER)],
    "whole characters": [(split, "clean", as_given)],
    "private messages": [(checker, "explain", told_all)],
    "credit within the points": [(preprocessors, "min", max)],
}


def take_away(name, patch):
    """Take one guard away until the test ends."""
    for module, attribute, instead in GUARDS[name]:
        patch.setattr(module, attribute, instead, raising=False)
