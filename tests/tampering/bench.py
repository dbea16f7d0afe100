"""What the corpus is tried on: a process without guards, a scene, a line.

`alone` forks this process and lets the student's own program run the
cells in it: no sandbox, no limits, no checker. That is plain nbgrader.
"""

import faulthandler
import json
import os
import re
import secrets
import select
import signal
import socket
import struct
import subprocess
import time
import types
import warnings
from pathlib import Path

from autograder import split, student
from autograder.sandbox import Box, Gone, Late

CANARY = "canary-of-the-scene"
OPEN = "unlocked"  # printed when a door was open
GROWN = 150 << 20  # bytes of memory beyond the start


# --- a process without guards -----------------------------------------------


def alone(sources, folder, seconds=30.0, interrupted=False):
    """Run cells one after another; return (replies, how it ended).

    It ended well, or "hangs" (after an interrupt too), or "grows", or
    "dies". The process and all it started in its session are killed.
    """
    ours, theirs = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads, from Python 3.12 on
        child = os.fork()
    if child == 0:
        serve_alone(sources, folder, theirs)
    os.close(theirs)
    try:
        return watch(child, ours, len(sources), seconds, interrupted)
    finally:
        end_session(child)
        os.close(ours)


def serve_alone(sources, folder, fd):
    """Be the student's process (in the child); never return."""
    write, leave = os.write, os._exit
    try:
        faulthandler.disable()
        os.setsid()
        os.chdir(folder)
        signal.alarm(60)  # whatever happens to whoever watches
        nowhere = os.open(os.devnull, os.O_RDWR)
        for old in (0, 1, 2):
            os.dup2(nowhere, old)
        warnings.simplefilter("ignore")
        signal.signal(signal.SIGALRM, student.overtime)
        student.make_shell()
        shell = student.InteractiveShell.instance()
        for source in sources:
            request = {"op": "run", "source": source, "seconds": 50}
            reply = student.answer(shell, {}, request)
            data = struct.pack("<I", len(reply)) + reply
            while data:
                data = data[write(fd, data) :]
    finally:
        leave(0)


def watch(child, fd, count, seconds, interrupted):
    """Collect the replies; interrupt at half time, give up at the end."""
    start, end = size_of(child), time.monotonic() + seconds
    data = bytearray()
    while time.monotonic() < end:
        if select.select([fd], [], [], 0.02)[0]:
            chunk = os.read(fd, 1 << 20)
            if not chunk:
                found = replies(data)
                return found, "" if len(found) == count else "dies"
            data += chunk
        if size_of(child) - start > GROWN:
            return replies(data), "grows"
        if interrupted and time.monotonic() > end - seconds / 2:
            interrupted = False
            os.kill(child, signal.SIGINT)
    return replies(data), "hangs"


def replies(data):
    """Return the whole replies among these bytes."""
    found = []
    while len(data) >= 4:
        (size,) = struct.unpack_from("<I", data)
        if len(data) < 4 + size:
            break
        found.append(bytes(data[4 : 4 + size]))
        del data[: 4 + size]
    return found


def size_of(pid):
    """Return the resident bytes of a process; 0 once it is gone."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def end_session(child):
    """Kill the child and whatever stayed in its session."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[3]) == child:
                os.kill(int(path.parent.name), signal.SIGKILL)
        except (OSError, IndexError):
            continue
    os.waitpid(child, 0)


MAX_GROWTH_MIB = 200  # a flood of half a gigabyte would show


def memory_mib(field):
    """Return this process's VmRSS (now) or VmHWM (its peak), in MiB."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status)[1]) / 1024


def forget_peak():
    """Let VmHWM start anew: other tests may have needed more."""
    Path("/proc/self/clear_refs").write_text("5")


# --- a scene with things to steal, break and visit ---------------------------


class Scene:
    """A folder of the grader's, a server, and a process beside it."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("gradebook.db", "neighbour.ipynb", "source.ipynb"):
            (folder / name).write_text(CANARY)
        (folder / "script.py").write_text(f"print({CANARY!r})\n")
        # its own: a child of the scene before may still hold that one's
        self.name = f"tampering-{secrets.token_hex(8)}"
        self.servers = [listener("127.0.0.1", 0)]
        self.servers.append(listener(f"\0{self.name}"))
        self.servers.append(listener(str(folder / "socket")))
        self.victim = subprocess.Popen(["sleep", "600"])
        self.left_open = os.open(folder / "source.ipynb", os.O_RDONLY)
        os.set_inheritable(self.left_open, True)
        os.environ["GRADER_SECRET"] = CANARY
        self.before = self.files()

    def files(self):
        """Return every file of the folder and what is in it."""
        return {
            str(path): path.read_bytes() if path.is_file() else None
            for path in self.folder.rglob("*")
            if not path.name.endswith(".pyc") and "__pycache__" != path.name
        }

    def dressed(self, code):
        """Return the code with this scene's places in it."""
        port = self.servers[0].getsockname()[1]
        places = {
            "FOLDER": self.folder, "PORT": port, "NAME": self.name,
            "VICTIM": self.victim.pid,
        }  # fmt: skip
        for word, place in places.items():
            code = code.replace(word, str(place))
        return code

    def harmed(self, text):
        """Return whether something was read, changed, visited or killed."""
        visited = any(select.select(self.servers, [], [], 0)[0])
        for _ in range(20):  # a sandbox ends a moment after it is told
            left = stragglers()
            if not left:
                break
            time.sleep(0.1)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return (
            CANARY in text
            or OPEN in text
            or self.files() != self.before
            or visited
            or self.victim.poll() is not None
            or bool(left)
        )

    def close(self):
        """Take the scene down."""
        os.environ.pop("GRADER_SECRET")
        os.close(self.left_open)
        for server in self.servers:
            server.close()
        self.victim.kill()
        self.victim.wait()


def listener(*address):
    """Return a listening socket: TCP, or of a path."""
    if len(address) == 1:
        server = socket.socket(socket.AF_UNIX)
        server.bind(address[0])
    else:
        server = socket.socket()
        server.bind(address)
    server.listen()
    return server


def stragglers():
    """Return the processes that the corpus tries to leave behind."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes() == b"sleep\0987653\0":
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


# --- a line with somebody hostile at the other end ---------------------------


def spoken(make, number=7):
    """Return what a request meets: honest, forged, Gone, Late or grown."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    here = types.SimpleNamespace(pid=os.getpid())
    box = Box(here, ours)
    person = split.Student(None, None, box=box, number=number - 1)
    child = os.fork()
    if child == 0:
        speak(theirs, ours, make(number))
    theirs.close()
    try:
        deadline = time.monotonic() + 0.6
        reply = person.exchange({"op": "run"}, deadline)
        return json.loads(reply)["printed"]
    except (Gone, Late) as problem:
        big = len(box.buffer) > 8 << 20
        return "grown" if big else type(problem).__name__
    finally:
        ours.close()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def speak(sock, other, data):
    """Write the bytes, then say no more; hang up in the end."""
    try:
        other.close()
        sock.sendall(data)
        time.sleep(1.5)
    finally:
        os._exit(0)
