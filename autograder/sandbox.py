"""Start a Python program in a bubblewrap sandbox, talk to it in frames.

Inside: another user, no network, a read-only system, a throw-away home,
its own processes, limits (confine.py), no course, no gradebook. A frame
is one byte of kind, four of length, then that many bytes of payload.
"""

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from autograder import Refusal, seccomp

HERE = Path(__file__).resolve().parent
INSIDE = Path("/grader/autograder")  # our own files, in the sandbox
OURS = ("__init__.py", "confine.py", "lockdown.py", "seccomp.py", "zygote.py")
HELPERS = ("wire.py", "wire_sympy.py")  # that both programs import
USERS = 0x60000000  # nobody's, on any machine; children draw from these up
WARM = b"W"  # the zygote's hello, if it can build walls between children
MAX_FRAME = 8 << 20  # bytes
MAX_MEMORY = 3 << 30  # bytes, all processes of one sandbox together
TMPFS = 64 << 20  # bytes of each writable folder
POLL_S = 0.2

MISSING = (
    "the sandbox is not installed, and student code must not run without "
    "it; install it with `apt-get install bubblewrap` (Debian, Ubuntu), or "
    "say --unsafe-no-sandbox for notebooks that you trust"
)


class Gone(Exception):
    """The sandboxed process has ended; the text says what it did."""


class Late(Exception):
    """No frame came before the deadline."""


@dataclass
class Box:
    """A running sandbox: its process and our end of its socket."""

    process: subprocess.Popen
    sock: socket.socket
    warm: bool = False  # whether its zygote may serve several submissions
    buffer: bytearray = field(default_factory=bytearray)
    looked: float = 0.0  # when its memory was last measured


def installed():
    """Return the path of bubblewrap, or None."""
    return shutil.which("bwrap")


def require(unsafe=False):
    """Raise a Refusal unless student code may run here."""
    if not unsafe and installed() is None:
        raise Refusal(MISSING)


def start(program, helpers=(), unsafe=False, warm=True, wait_s=60.0):
    """Run `program` (a file of this folder) sandboxed; wait for hello.

    A warm one keeps the rights with which its zygote locks up its children.
    """
    require(unsafe)
    ours, theirs = socket.socketpair()
    fd = theirs.fileno()
    if unsafe:
        command, fds = unconfined_command(program, fd), [fd]
    else:
        command, fds = sandboxed_command(program, helpers, fd, warm)
    process = subprocess.Popen(
        command,
        pass_fds=fds,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={"PATH": os.environ.get("PATH", ""), **environment()},
    )
    theirs.close()
    for extra in fds[1:]:
        os.close(extra)
    ours.setblocking(False)
    box = Box(process, ours)
    try:
        box.warm = receive(box, time.monotonic() + wait_s)[0] == WARM
    except (Gone, Late):
        raise Refusal(f"the sandbox did not start: {epitaph(box)}") from None
    process.stderr.close()
    return box


def epitaph(box):
    """Stop the box; return the last line that it wrote to stderr."""
    box.process.kill()
    text = box.process.communicate()[1].decode(errors="replace").strip()
    box.sock.close()
    return text.splitlines()[-1] if text else "no message"


def stop(box):
    """End every process of the box; safe to call twice."""
    box.sock.close()
    box.process.kill()
    box.process.wait()


def environment():
    """The environment inside, the same for every student."""
    threads = ("OMP", "OPENBLAS", "MKL")
    return {
        "HOME": "/home/student",
        "LANG": "C.UTF-8",
        "MPLBACKEND": "agg",
        "PYTHONHASHSEED": "0",
        **{f"{name}_NUM_THREADS": "1" for name in threads},
    }


def unconfined_command(program, fd):
    """The command line without a sandbox: limits, but no walls."""
    start_with = json.dumps({"fd": fd, "user": None, "walls": False})
    return [sys.executable, "-I", str(HERE / program), start_with]


def sandboxed_command(program, helpers, fd, warm):
    """Return bubblewrap's command line and the descriptors it needs."""
    root = os.geteuid() == 0
    passwd_fd = data_fd(b"student:x:1000:1000::/home/student:/bin/sh\n")
    command = [
        installed(),
        *("--unshare-pid", "--unshare-net", "--unshare-ipc"),
        *("--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox"),
        *("--die-with-parent", "--new-session", "--clearenv"),
        *privileges(root, warm),
        *mounts(program, helpers, passwd_fd),
    ]
    fds = [fd, passwd_fd]
    if not warm:  # it would keep the zygote from making new namespaces
        fds.append(data_fd(seccomp.program()))
        command += ["--seccomp", str(fds[-1])]
    for name, value in environment().items():
        command += ["--setenv", name, value]
    start_with = {"fd": fd, "user": USERS if root else None, "walls": warm}
    inside = ["-I", str(INSIDE / program), json.dumps(start_with)]
    return [*command, "--", python_inside(), *inside], fds


def privileges(root, warm):
    """Arguments that take privileges away.

    As root no user namespace is made: RLIMIT_NPROC does not bind user 0,
    whatever it is called inside. confine.py changes to a real other user.
    What a zygote keeps to make namespaces, its children drop.
    """
    keep = ["CAP_SYS_ADMIN"] if warm else []
    if root:
        keep += ["CAP_SETUID", "CAP_SETGID"]
    dropped = ["--cap-drop", "ALL"]
    dropped += [word for name in keep for word in ("--cap-add", name)]
    if root:
        return dropped
    door = [] if warm else ["--disable-userns"]
    return ["--unshare-user", *door, "--uid", "1000", "--gid", "1000",
            *dropped]


def data_fd(content):
    """Return a readable descriptor that holds these bytes."""
    fd = os.memfd_create("data")
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def mounts(program, helpers, passwd_fd):
    """Arguments for the file system: system read-only, the rest empty."""
    words = ["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"]
    for name in ("bin", "lib", "lib32", "lib64", "sbin"):
        words += like_the_system(Path("/") / name)
    words += parents(Path("/etc/passwd"))
    if Path("/etc/ld.so.cache").exists():
        words += ["--ro-bind", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    words += ["--ro-bind-data", str(passwd_fd), "/etc/passwd"]
    words += python_mounts()
    for folder in ("/tmp", "/home/student", "/dev/shm"):
        words += parents(Path(folder))
        words += ["--perms", "1777", "--size", str(TMPFS), "--tmpfs", folder]
    words += parents(INSIDE / program)
    for name in (*OURS, program, *helpers):
        words += ["--ro-bind", str(HERE / name), str(INSIDE / name)]
    words += ["--remount-ro", "/dev", "--remount-ro", "/"]
    return [*words, "--chdir", "/home/student"]


def like_the_system(path):
    """Arguments that give /bin, /lib and so on as the host has them."""
    if path.is_symlink():
        return ["--symlink", os.readlink(path), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.exists() else []


def python_mounts():
    """Arguments that bind this interpreter and its packages.

    The environment appears as /venv, so that no path tells where the
    course lies; an installed `assembled` is covered: it is an answer key.
    """
    base = Path(sys.base_prefix).resolve()
    words = []
    if not base.is_relative_to("/usr"):
        words += [*parents(base), "--ro-bind", str(base), str(base)]
    if sys.prefix != sys.base_prefix:
        words += ["--ro-bind", sys.prefix, "/venv"]
    for folder in sys.path:
        package = Path(folder) / "assembled"
        if folder.endswith("-packages") and package.is_dir():
            words += ["--tmpfs", inside_path(package)]
    return words


def inside_path(path):
    """Return the place in the sandbox of a path of this environment."""
    if sys.prefix != sys.base_prefix and path.is_relative_to(sys.prefix):
        return str(Path("/venv") / path.relative_to(sys.prefix))
    return str(path)


def python_inside():
    """Return the interpreter's path in the sandbox."""
    return inside_path(Path(sys.executable))


def parents(path):
    """Arguments that make the folders above path, open to other users."""
    above = list(path.parents)[-2::-1]
    return [w for p in above for w in ("--perms", "0755", "--dir", str(p))]


def send(box, kind, payload, deadline):
    """Send one frame; Gone if the other side has ended."""
    data = kind + len(payload).to_bytes(4, "big") + payload
    view = memoryview(data)
    while view:
        wait_for(box, deadline, writing=True)
        try:
            view = view[box.sock.send(view) :]
        except OSError:
            raise Gone("ended Python's process") from None


def receive(box, deadline):
    """Return (kind, payload) of the next frame; Late or Gone otherwise."""
    head = read_exactly(box, 5, deadline)
    size = int.from_bytes(head[1:], "big")
    if size > MAX_FRAME:
        raise Gone(f"sent {size} bytes at once, over the limit")
    return head[:1], read_exactly(box, size, deadline)


def read_exactly(box, size, deadline):
    """Return `size` bytes from the box."""
    while len(box.buffer) < size:
        wait_for(box, deadline)
        try:
            chunk = box.sock.recv(1 << 16)
        except OSError:
            chunk = b""
        if not chunk:
            raise Gone("ended Python's process")
        box.buffer += chunk
    data = bytes(box.buffer[:size])
    del box.buffer[:size]
    return data


def wait_for(box, deadline, writing=False):
    """Wait until the socket is ready; watch the clock and the memory."""
    sides = ([], [box.sock]) if writing else ([box.sock], [])
    while True:
        now = time.monotonic()
        if now >= deadline:
            raise Late
        if now - box.looked > POLL_S:
            box.looked = now
            if uses_too_much(box.process.pid):
                raise Gone("used too much memory")
        ready = select.select(*sides, [], min(POLL_S, deadline - now))
        if ready[0] or ready[1]:
            return


def uses_too_much(pid):
    """Return whether a process and all below it hold too much memory.

    Pages that forked children share count once: looked at only when the
    quick sum, which counts them for each, is over the limit.
    """
    if memory_of(pid) <= MAX_MEMORY:
        return False
    return memory_of(pid, proportional) > MAX_MEMORY


def resident(folder):
    """Resident bytes of one process; OSError or IndexError once gone."""
    pages = int((folder / "statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def proportional(folder):
    """Resident bytes, of shared pages only this process's part."""
    try:
        lines = (folder / "smaps_rollup").read_text().splitlines()
    except PermissionError:
        return resident(folder)
    return sum(int(t.split()[1]) << 10 for t in lines if t.startswith("Pss:"))


def memory_of(pid, measure=resident):
    """Bytes of a process and all below it; 0 once it is gone."""
    try:
        folder = Path(f"/proc/{pid}")
        own = measure(folder)
        below = [
            child
            for thread in (folder / "task").iterdir()
            for child in (thread / "children").read_text().split()
        ]
    except (OSError, IndexError):
        return 0
    return own + sum(memory_of(child, measure) for child in below)
