"""Bytes that a student's process puts on its line to the grader.

With the guard the grader says at once what is wrong, or waits no longer
than it must, or finds the honest reply among the forged ones.
"""

import json

REPLY = json.dumps({"printed": "honest"}).encode()
FORGED = json.dumps({"printed": "forged", "value": {}}).encode()
MECHANISM = "the line to the grader"


def frame(number, payload, size=None):
    """Return a frame, of a length that may be a lie."""
    size = len(payload) if size is None else size
    return bytes([number]) + size.to_bytes(4, "big") + payload


MUCH = bytes(16 << 20)
LINES = {  # name: (guard, number -> bytes, what comes of it, what without)
    "garbage": (
        "limit of a frame", lambda n: b"\xff" * len(MUCH), "Gone", "grown",
    ),
    "frame of four gigabytes": (
        "limit of a frame", lambda n: frame(n, MUCH, 0xFFFFFFFF),
        "Gone", "grown",
    ),
    "half a frame": (
        "deadline of a frame", lambda n: frame(n, b"x", 100), "Late", "Gone",
    ),
    "half a head": (
        "deadline of a frame", lambda n: b"\0\0", "Late", "Gone",
    ),
    "silence": ("deadline of a frame", lambda n: b"", "Late", "Gone"),
    "reply to another request": (
        "numbered requests", lambda n: frame(n + 1, FORGED) + frame(n, REPLY),
        "honest", "forged",
    ),
    "replies sent in advance": (
        "numbered requests",
        lambda n: frame(n - 1, FORGED) * 50 + frame(n, REPLY),
        "honest", "forged",
    ),
    "verdict of its own": (
        "numbered requests",
        lambda n: frame(ord("V"), FORGED) + frame(n, REPLY),
        "honest", "forged",
    ),
    "flood of stale replies": (
        "limit of stale replies", lambda n: frame(n + 9, b"") * 5000,
        "Gone", "Late",
    ),
}  # fmt: skip

REPORTS = {  # what comes as the report on a cell
    "no JSON": b"{",
    "no UTF-8": b"\xff\xfe",
    "a list": b"[]",
    "a number": b"1e999",
    "nothing": b"",
    "no printed text": b'{"error": null}',
    "an error of text": b'{"printed": "", "error": "x"}',
    "nested deep": b"[" * 100_000,
}
