"""The sandbox's self-test: try from inside what must not work.

`grade` runs it before the first notebook; `doctor --sandbox` shows it.
"""

import json
import time
from pathlib import Path

from autograder import Refusal, nursery, sandbox
from autograder.course import ROOT

SECONDS = 60.0
ORPHAN = "sleep 987654"  # outlives its sandbox only if the walls leak

PROBE = r"""
import os, pathlib, socket, subprocess, sys

def refused(action):
    try:
        action()
    except (OSError, ImportError, MemoryError):
        return True
    return False

def fork_many():
    children = []
    try:
        for _ in range(200):
            children.append(subprocess.Popen(["sleep", "30"]))
    finally:
        for child in children:
            child.kill()
            child.wait()

def fill(path):
    try:
        with open(path, "wb") as file:
            for _ in range(100):
                file.write(bytes(1 << 20))
    finally:
        os.remove(path)

def new_namespace():
    done = subprocess.run(["unshare", "-Ur", "true"], capture_output=True)
    if done.returncode:
        raise OSError("refused")

def reference():
    import assembled

user = os.getuid()
findings = {
    "runs as another user, not root": user != 0,
    "has a home to write in": not refused(
        lambda: pathlib.Path.home().joinpath("x").write_text("x")
    ),
    "cannot write to the system": refused(lambda: open("/usr/x", "w")),
    "cannot write to Python's packages": refused(
        lambda: open(os.path.join(sys.prefix, "x"), "w")
    ),
    "cannot write to /": refused(lambda: open("/x", "w")),
    "does not see the course": not os.path.exists(COURSE),
    "cannot import the reference library": refused(reference),
    "has no network": [n for _, n in socket.if_nameindex()] == ["lo"],
    "sees only its own processes": len(
        [p for p in os.listdir("/proc") if p.isdigit()]
    ) < 5,
    "cannot start processes without end": refused(fork_many),
    "cannot take all memory": refused(lambda: bytearray(3 << 30)),
    "cannot fill the disk": refused(lambda: fill("/tmp/x")),
    "cannot make a new namespace": refused(new_namespace),
    "has an environment without secrets": set(os.environ) <= ALLOWED,
}
subprocess.Popen("exec ORPHAN", shell=True, start_new_session=True)
"""


def findings(cold=False):
    """Return {claim: whether it holds} as seen from inside."""
    students = nursery.students(cold=cold)
    try:
        box = students.fresh()
        allowed = {*sandbox.environment(), "PWD", "LC_CTYPE", "COLUMNS"}
        source = PROBE.replace("COURSE", repr(str(ROOT)))
        source = source.replace("ALLOWED", repr(allowed))
        ask(box, op="run", source=source.replace("ORPHAN", ORPHAN))
        value = ask(box, op="names", names=["findings"])["value"]
        pairs = json.loads(value["findings"])[1:]
        found = {claim: holds is True for claim, holds in pairs}
    finally:
        students.close()
    found["leaves no process behind"] = not orphans()
    return found


def ask(box, **request):
    """Send one request to the student program; return its reply."""
    deadline = time.monotonic() + SECONDS
    data = json.dumps({**request, "seconds": SECONDS}).encode()
    sandbox.send(box, b"P", data, deadline)
    return json.loads(sandbox.receive(box, deadline)[1])


def orphans():
    """Return the processes that survived the sandbox, after a moment."""
    wanted = ORPHAN.replace(" ", "\0").encode() + b"\0"
    for _ in range(20):
        left = [p for p in Path("/proc").glob("[0-9]*") if runs(p, wanted)]
        if not left:
            return []
        time.sleep(0.1)
    return left


def runs(folder, wanted):
    """Return whether this process was started with these words."""
    try:
        return (folder / "cmdline").read_bytes() == wanted
    except OSError:
        return False


def require_sound():
    """Raise a Refusal that names what the sandbox does not keep."""
    try:
        found = findings()
    except (sandbox.Gone, sandbox.Late, KeyError, ValueError) as problem:
        raise Refusal(f"the sandbox's self-test broke: {problem!r}") from None
    broken = [claim for claim, holds in found.items() if not holds]
    if broken:
        raise Refusal(
            "the sandbox does not hold, so nothing was run; a process "
            f"inside it fails this: {'; '.join(broken)}"
        )


if __name__ == "__main__":
    require_sound()
