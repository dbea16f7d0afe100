"""Leaves the outputs out of a notebook's bytes, before anything parses it.

Outputs are never graded, and plots or videos in them can weigh a hundred
times what the notebook weighs. So they cost no memory and are not kept.
"""

import re

# never inside a string: there the second quote would have a backslash
KEY = re.compile(rb'"outputs"\s*:\s*\[')
PIECE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]]', re.DOTALL)
STEP = {ord("["): 1, ord("]"): -1}
MAX_PIECES = 5_000_000  # strings and brackets to walk through, about 5 s


def without_outputs(data: bytearray, most: int) -> bytes | None:
    """Return UTF-8 JSON with every list of outputs emptied.

    Text that is no notebook comes back as it is, or cut off where a list
    never ends; parsing says what is wrong with it. None if more than
    `most` bytes are left, or there are more parts than in any notebook.
    """
    if data.count(b'"') // 2 + data.count(b"[") > MAX_PIECES:
        return None
    spans, start = [], 0
    while found := KEY.search(data, start):
        spans.append((start, found.end()))
        start = _end_of_list(data, found.end())
    spans.append((start, len(data)))
    if sum(end - start for start, end in spans) > most:
        return None  # nothing was copied yet
    return b"".join(memoryview(data)[start:end] for start, end in spans)


def _end_of_list(data: bytearray, start: int) -> int:
    """Return where the bracket stands that closes the list."""
    depth = 1
    for piece in PIECE.finditer(data, start):
        depth += STEP.get(data[piece.start()], 0)  # a string may have 100 MB
        if depth == 0:
            return piece.start()
    return len(data)
