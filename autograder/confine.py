"""What a sandboxed process does to itself before anything else runs.

Needs only the standard library: it is bound alone into the sandbox.
"""

import os
import resource

MIB = 1 << 20

LIMITS = {  # per process, except NPROC, which counts the whole sandbox
    "RLIMIT_DATA": 2048 * MIB,
    "RLIMIT_AS": 16 << 30,  # tables of an empty map take memory too
    "RLIMIT_NPROC": 48,  # processes and threads
    "RLIMIT_FSIZE": 64 * MIB,
    "RLIMIT_NOFILE": 256,
    "RLIMIT_CPU": 600,  # seconds
    "RLIMIT_CORE": 0,
}


def confine(user):
    """Set the limits, silence fds 0 to 2, become `user` (None: stay)."""
    for name, value in LIMITS.items():
        if user is None and name == "RLIMIT_NPROC" and os.getuid() == 0:
            continue  # without a sandbox, root is not bound by it anyway
        set_limit(getattr(resource, name), value)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    os.umask(0o077)


def set_limit(which, value):
    """Lower one limit, never above the hard limit that is in force."""
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))
