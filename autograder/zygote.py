"""Forks one single-use child for each submission, inside the sandbox.

The zygote has imported what the children need, so none waits for it. It
never runs student code: what it passes on is what it was born with.
"""

import contextlib
import gc
import importlib
import os
import random
import signal
import socket

import sympy as sp

from autograder import lockdown, seccomp
from autograder.confine import confine

WARM, COLD = b"W", b"C"
SOME = 2  # submissions, after which more are likely to come
EXTRAS = ("torch", "matplotlib.pyplot")  # imported once they are asked for


def main(fd, user, walls, prepare, serve):
    """Fork a child for every socket that the grader passes.

    The bits of the byte that comes with it say which EXTRAS to import.
    `prepare()` does what all children need; `serve(sock)` is the work
    of one. `user` begins a range of users, from which each child draws one;
    None: all stay who they are. Without `walls` a child is only limited,
    and the zygote is good for one submission.
    """
    confine(None)
    control = socket.socket(fileno=fd)
    walls = walls and walls_can_be_built()
    prepare()
    control.sendall((WARM if walls else COLD) + bytes(4))
    child, served = None, 0
    while True:
        word, fds, _, _ = socket.recv_fds(control, 1, 1)
        if child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)  # and with it all of its namespace
            child = None
        if not word:
            return
        if not fds:  # the grader waits until nothing is left
            control.sendall(b"E" + bytes(4))
            continue
        import_extras(word[0])
        if served == SOME:
            warm_up_sympy()
        served += 1
        gc.freeze()
        child = spawn(control, fds[0], user, walls, serve)
        os.close(fds[0])


def warm_up_sympy():
    """Let SymPy load now what it would load at its first use."""
    x, y = sp.symbols("x y", positive=True)
    sp.simplify(sp.sin(x) ** 2 + sp.cos(x) ** 2 - sp.exp(-x) / sp.sqrt(y))
    sp.lambdify((x, y), sp.diff(sp.tanh(x * y), x))(1.0, 2.0)


def import_extras(bits):
    """Import those of EXTRAS whose bit is set and which are installed."""
    for place, name in enumerate(EXTRAS):
        if bits >> place & 1:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def walls_can_be_built():
    """Return whether a child can lock itself in here; try it."""
    if not seccomp.program():
        return False
    try:
        child = lockdown.fork_apart()
    except OSError:
        return False
    if child == 0:
        status = 1
        try:
            lockdown.rebuild_walls()
            lockdown.drop_capabilities()
            lockdown.close_kernel_doors()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def spawn(control, fd, user, walls, serve):
    """Fork the child that serves this socket; return its process id."""
    child = lockdown.fork_apart() if walls else os.fork()
    if child:
        return child
    try:
        control.close()
        if walls:
            lockdown.rebuild_walls()
            worker = os.fork()
            if worker:
                os.close(fd)
                lockdown.drop_capabilities()
                lockdown.reap_until(worker)
                os._exit(0)
        lockdown.close_all_but(fd)
        confine(user and user + random.SystemRandom().getrandbits(24))
        if walls:
            lockdown.drop_capabilities()
            lockdown.close_kernel_doors()
        random.seed()
        serve(socket.socket(fileno=fd))
    finally:
        os._exit(0)
