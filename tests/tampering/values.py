"""Hostile values on the wire, and what each does when its guard is gone.

A row is (mechanism, guard, JSON). With the guard, `wire.loads` raises a
WireError; without it the value is let in, runs code, or never ends.
"""

import json

from autograder import wire

COMMAND = "__import__('os').mkdir('owned')"
SYMBOL = ["Symbol", "x", {}]


def text(*node):
    """Return the bytes of a value."""
    return json.dumps(list(node)).encode()


def tree(*node):
    """Return the bytes of a SymPy tree."""
    return text("sympy", list(node))


def nested(depth):
    """Return lists in lists, or trees in trees."""
    return b'["list",' * depth + b"0" + b"]" * depth


def whole(n):
    """Return the tree of an integer."""
    return ["Rational", hex(n), "0x1"]


HOSTILE, CODE = "hostile values", "text that becomes code"
VALUES = {
    "many parts": (
        HOSTILE, "limit of parts", text("list", *[0] * wire.MAX_NODES),
    ),
    "deep lists": (HOSTILE, "limit of depth", nested(150)),
    "deep tree": (
        HOSTILE, "limit of depth",
        b'["sympy", ' + b'["exp", ' * 150 + json.dumps(SYMBOL).encode()
        + b"]" * 151,
    ),
    "too many bytes": (
        HOSTILE, "limit of bytes", json.dumps("x" * (9 << 20)).encode(),
    ),
    "huge integer": (
        HOSTILE, "limit of digits", text("int", "f" * 100_000),
    ),
    "huge fraction": (
        HOSTILE, "limit of digits", tree("Rational", "f" * 50_000, "0x1"),
    ),
    "dates as numbers": (
        HOSTILE, "list of dtypes",
        text("array", "datetime64[s]", [1], "AAAAAAAAAAA="),
    ),
    "pieces of memory as numbers": (
        HOSTILE, "list of dtypes", text("array", "V8", [1], "AAAAAAAAAAA="),
    ),
    "structured dtype": (
        HOSTILE, "list of dtypes",
        text("array", "i4,i4", [1], "AAAAAAAAAAA="),
    ),
    "text as an array": (
        HOSTILE, "list of dtypes", text("array", "U2", [1], "AAAAAAAAAAA="),
    ),
    "negative shape": (
        HOSTILE, "shape checked",
        text("array", "float64", [-1], "AAAAAAAAAAA="),
    ),
    "tensor of negative shape": (
        HOSTILE, "shape checked",
        text("tensor", "float64", [-1], "AAAAAAAAAAA="),
    ),
    "objects of negative shape": (
        HOSTILE, "shape checked", text("objects", [-1], 1),
    ),
    "bare object": (HOSTILE, "objects refused", b'{"a": 1}'),
    "object with two keys alike": (
        HOSTILE, "objects refused", b'{"a": 1, "a": [2]}',
    ),
    "handle where none belongs": (
        HOSTILE, "handles refused", text("handle", 1, "a", "b"),
    ),
    "handle of text": (
        HOSTILE, "handles refused", text("handle", "1", "a", "b"),
    ),
    "size that no tensor has": (
        HOSTILE, "errors caught",
        text("tensor", "float32", [1 << 62, 4, 0], ""),
    ),
    "unhashable member": (
        HOSTILE, "errors caught", text("set", ["list"]),
    ),
    "pair of three": (HOSTILE, "errors caught", text("dict", [1, 2, 3])),
    "base64 that is none": (HOSTILE, "errors caught", text("bytes", "***")),
    "state of another generator": (
        HOSTILE, "errors caught",
        text("rng", ["dict", ["bit_generator", "MT19937"]]),
    ),
    "facts that are no truth": (
        HOSTILE, "facts checked", tree("Symbol", "x", {"real": "no"}),
    ),
    "power tower": (
        HOSTILE, "trees left as they are",
        tree("Pow", whole(9), ["Pow", whole(9), whole(9)]),
    ),
    "factorial": (
        HOSTILE, "trees left as they are", tree("factorial", whole(10**8)),
    ),
    "binomial": (
        HOSTILE, "trees left as they are",
        tree("binomial", whole(10**8), whole(10**7)),
    ),
    "string for exp": (CODE, "no strings for SymPy", tree("exp", COMMAND)),
    "string in a set": (
        CODE, "no strings for SymPy", tree("FiniteSet", COMMAND),
    ),
    "symbol that is a call": (
        CODE, "harmless names", tree("Symbol", COMMAND, {}),
    ),
    "name with a dot": (
        CODE, "harmless names", tree("Symbol", "x.__class__", {}),
    ),
    "function called exit": (
        CODE, "harmless functions", tree("Applied", "exit", {}),
    ),
    "function called quit": (
        CODE, "harmless functions", tree("Applied", "quit", {}),
    ),
    "function that is not listed": (
        HOSTILE, "list of SymPy's classes",
        tree("factorint", whole((2**107 - 1) * (2**127 - 1))),
    ),
    "string for sin": (CODE, "no strings for SymPy", tree("sin", COMMAND)),
    "string in a maximum": (
        CODE, "no strings for SymPy", tree("Max", COMMAND, SYMBOL),
    ),
    "dummy that is a call": (
        CODE, "harmless names", tree("Dummy", f"{COMMAND}#", 1, {}),
    ),
}  # fmt: skip
SLOW = {"trees left as they are", "list of SymPy's classes"}  # never end
