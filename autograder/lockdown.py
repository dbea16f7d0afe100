"""What a forked child does to itself before student code runs in it.

Needs only the standard library: it is bound into the sandbox. The zygote
that forks is inside bubblewrap's walls already; these are the walls
between one submission and the next. Sources: unshare(2), mount(2),
capabilities(7), pid_namespaces(7), seccomp(2).
"""

import ctypes
import os
import platform
import signal

from autograder import seccomp
from autograder.confine import MIB

# what a submission may write to; gone with it
FOLDERS = {"/tmp": 64, "/home/student": 64, "/dev/shm": 64}  # MiB
FILES = 16384  # in each

NEW_MOUNTS, NEW_HOST, NEW_IPC = 0x20000, 0x4000000, 0x8000000
NEW_PIDS, NEW_NETWORK = 0x20000000, 0x40000000
FORK_WITH_OWN_PIDS = (
    ctypes.c_ulong(NEW_PIDS | signal.SIGCHLD), *[ctypes.c_void_p()] * 4,
)  # fmt: skip
CLONE = {name: row[1] for name, row in seccomp.MACHINES.items()}
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC = 1, 2, 4, 8
RECURSIVE, PRIVATE = 0x4000, 0x40000
NO_NEW_PRIVILEGES, SET_FILTER, FILTER = 38, 22, 2
CAPABILITY_VERSION = 0x20080522

libc = ctypes.CDLL(None, use_errno=True)


def must(result):
    """Raise OSError if a call of the C library failed."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def fork_apart():
    """Fork; the child is the first process of a namespace of its own.

    Nothing in it can see or signal another; when it ends, all end. The
    kernel's call, between what Python does around its own: unshare(2)
    would serve for one child only.
    """
    python = ctypes.pythonapi  # holds the interpreter's lock, as fork does
    python.PyOS_BeforeFork()
    child = python.syscall(CLONE[platform.machine()], *FORK_WITH_OWN_PIDS)
    if child == 0:
        python.PyOS_AfterFork_Child()
        return 0
    python.PyOS_AfterFork_Parent()
    if child < 0:
        raise OSError("the kernel makes no new namespace of processes here")
    return child


def rebuild_walls():
    """Give this process its own mounts, network, IPC and empty folders."""
    must(libc.unshare(NEW_MOUNTS | NEW_NETWORK | NEW_IPC | NEW_HOST))
    mount("none", "/", None, RECURSIVE | PRIVATE, None)
    for folder, size in FOLDERS.items():
        options = f"size={size * MIB},nr_inodes={FILES},mode=1777"
        mount("tmpfs", folder, "tmpfs", NO_SUID | NO_DEVICES, options)
    hard = READ_ONLY | NO_SUID | NO_DEVICES | NO_EXEC
    mount("proc", "/proc", "proc", hard, None)
    os.chdir("/home/student")


def mount(source, target, kind, flags, options):
    """Mount a file system; OSError names the place."""
    words = [w and w.encode() for w in (source, target, kind, options)]
    source, target, kind, options = words
    if libc.mount(source, target, kind, ctypes.c_ulong(flags), options):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target.decode())


def drop_capabilities():
    """Give up every capability, and the ways to get one back."""
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    must(libc.capset(header, (ctypes.c_uint32 * 6)()))
    must(libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))


class Program(ctypes.Structure):
    """The kernel's struct sock_fprog."""

    _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_char_p)]


def close_kernel_doors():
    """Load the system call filter; it can never be taken off again."""
    lines = seccomp.program()
    program = Program(len(lines) // 8, lines)
    must(libc.prctl(SET_FILTER, FILTER, ctypes.byref(program), 0, 0))


def close_all_but(keep):
    """Close every descriptor above 2 except one."""
    os.closerange(3, keep)
    os.closerange(keep + 1, os.sysconf("SC_OPEN_MAX"))


def reap_until(child):
    """As the first process: bury orphans; return when `child` has ended."""
    while os.waitpid(-1, 0)[0] != child:
        pass
