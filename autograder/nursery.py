"""The grader's side of a zygote: one fresh child a submission.

Where a zygote can't build walls between its children (zygote.py says so),
each submission gets a sandbox of its own: slower, and as safe.
"""

import re
import socket
import time
from dataclasses import dataclass

from autograder import sandbox
from autograder.sandbox import Box, Gone, Late

END_S = 30.0  # for a zygote that may be importing torch


@dataclass
class Nursery:
    """A sandboxed program, and the child of it that is at work."""

    program: str
    helpers: tuple[str, ...] = sandbox.HELPERS
    unsafe: bool = False
    cold: bool = False  # a sandbox for each child, whatever could be
    zygote: Box | None = None
    child: Box | None = None

    def fresh(self, extras=0):
        """Return a child with nothing in it; the former one is ended.

        `extras` are bits: the libraries it needs, see extras_of.
        """
        self.end()
        if self.zygote is None or self.zygote.process.poll() is not None:
            self.start()
        ours, theirs = socket.socketpair()
        self.zygote.sock.setblocking(True)
        socket.send_fds(self.zygote.sock, [bytes([extras])], [theirs.fileno()])
        theirs.close()
        ours.setblocking(False)
        self.child = Box(self.zygote.process, ours)
        return self.child

    def start(self):
        """Start a zygote; a warm one, unless it says that it can't be."""
        how = self.program, self.helpers, self.unsafe
        self.zygote = sandbox.start(*how, warm=not self.cold)
        if self.cold or self.zygote.warm:
            return
        self.cold = True
        if not self.unsafe:  # its children would keep a zygote's rights
            sandbox.stop(self.zygote)
            self.zygote = sandbox.start(*how, warm=False)

    def end(self):
        """End the child and every process below it; safe to call twice."""
        if self.child is None:
            return
        self.child.sock.close()
        self.child = None
        if self.cold:
            self.close()
            return
        try:
            self.zygote.sock.sendall(b"E")
            sandbox.receive(self.zygote, time.monotonic() + END_S)
        except (OSError, Gone, Late):
            self.close()

    def close(self):
        """End the zygote, and with it all that it has forked."""
        if self.child:
            self.child.sock.close()
        if self.zygote:
            sandbox.stop(self.zygote)
        self.zygote = self.child = None


def extras_of(sources):
    """Return the bits of the extra libraries that these cells import."""
    text = "\n".join(sources)
    return sum(
        1 << place
        for place, name in enumerate(("torch", "matplotlib"))
        if re.search(rf"\b(import|from) {name}\b", text)
    )


def students(unsafe=False, cold=False):
    """Return a nursery whose children run answers."""
    return Nursery("student.py", unsafe=unsafe, cold=cold)


def checkers(unsafe=False):
    """Return a nursery whose children run tests."""
    helpers = (*sandbox.HELPERS, "remote.py")
    return Nursery("checker.py", helpers, unsafe)
