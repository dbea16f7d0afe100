"""`bench`: students per minute, ours against nbgrader as it ships.

Side by side in one run, over the same honest submissions: a class made
from the answers to `symbols`, one whose notebooks import torch, one whose
cells are heavy, and one class size after another.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder import Refusal, bench_classes, sandbox
from autograder.bench_classes import make

PLAIN = Path(__file__).with_name("bench_plain.py")
SPIN_S = 1.0  # of the heavy notebook


@dataclass(frozen=True)
class Measured:
    """How a class went: wall seconds, and peak memory in MiB."""

    students: int
    seconds: float
    whole: float = 0.0  # of all processes, shared pages once
    largest: float = 0.0  # of one of the grader's own processes

    @property
    def each(self):
        """Wall seconds a student."""
        return self.seconds / self.students


def add_arguments(parser):
    """Options of `bench`."""
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument(
        "--plain", type=int, default=12,
        help="of them graded by plain nbgrader too, half before, half after",
    )
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=[10, 100, 500]
    )


def run(args):
    """Print the tables."""
    sandbox.require(False)
    tables = sys.stderr if args.json else sys.stdout
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        with contextlib.redirect_stdout(tables):
            facts = measure(folder, args)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if args.json:
        print(json.dumps(facts, indent=1))
    return 0


def measure(folder, args):
    """Print the tables; return their figures."""
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f} at the start")
    return {
        "cores": os.cpu_count(),
        "load": load,
        "classes": against_nbgrader(folder, args),
        "heavy": heavy(folder),
        "growth": growth(folder, args.sizes),
    }


def against_nbgrader(folder, args):
    """Print students per minute of both, and the ratio; return them."""
    found = {}
    print(f"\n{'class':10}{'nbgrader':>10}{'ours':>8}{'ratio':>7}"
          f"{'memory':>9}{'grader':>8}   students/min, MiB")
    classes = {
        "symbols": bench_classes.symbols_class(),
        "torch": bench_classes.torch_class(),
    }
    for name, sources in classes.items():
        course, students = make(folder / name, name, sources, args.students)
        peers = students[: args.plain]
        half = len(peers) // 2
        before = plain(course, name, peers[:half])
        ours = graded(course)
        after = plain(course, name, peers[half:])
        theirs = (before + after) / len(peers)
        found[name] = {"nbgrader_seconds": theirs, "ours": asdict(ours)}
        print(f"{name:10}{60 / theirs:10.0f}{60 / ours.each:8.0f}"
              f"{theirs / ours.each:7.1f}{ours.whole:9.0f}{ours.largest:8.0f}")
    return found


def heavy(folder, few=6, many=30):
    """Print what grading adds to cells that take time; return figures.

    Ours from the difference between two sizes of a class: what a command
    takes once, to start and to prove its sandbox, is in the other tables.
    """
    sources = bench_classes.heavy_class(SPIN_S)
    took = []
    for size in (few, many):
        course, names = make(folder / "heavy", "heavy", sources, size)
        took.append(graded(course).seconds)
    theirs = plain(course, "heavy", names[:few]) / few - SPIN_S
    cores = min(os.cpu_count(), few)
    ours = (took[1] - took[0]) * cores / (many - few) - SPIN_S
    print(f"\ncells of {SPIN_S:g} s: nbgrader adds {theirs:.2f} s a "
          f"submission, ours {ours:.2f} s a submission and core")
    return {"nbgrader_adds": theirs, "ours_adds": ours, "seconds": took}


def growth(folder, sizes):
    """Print the cost of a student as the class grows; return figures."""
    print(f"\n{'students':>8}{'s each':>8}{'memory':>9}{'grader':>8}   MiB")
    found = []
    for size in sizes:
        sources = bench_classes.torch_class()
        course, _ = make(folder / "growth", "torch", sources, size)
        ours = graded(course)
        print(f"{size:8}{ours.each:8.2f}{ours.whole:9.0f}{ours.largest:8.0f}")
        found.append(asdict(ours))
    return found


def plain(course, assignment, students):
    """Return nbgrader's seconds; Refusal if one of them gets no points."""
    root = course.classroom / "plain"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(course.source, root / "source")
    for student in students:
        shutil.copytree(course.submitted / student,
                        root / "submitted" / student)
    command = [sys.executable, str(PLAIN), str(root), assignment, *students]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    if not all(found["scores"]):
        raise Refusal(f"nbgrader gave no points to right answers: {found}")
    return found["seconds"]


def graded(course):
    """Grade a class by our command; return what it took."""
    command = [
        *(sys.executable, "-m", "autograder", "grade", "--json"),
        *("--classroom", str(course.classroom)),
        *("--source", str(course.source)),
    ]
    began = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    peaks = [0.0, 0.0]
    watcher = threading.Thread(target=watch, args=(process, peaks))
    watcher.start()
    out = process.communicate()[0]
    seconds = time.perf_counter() - began
    watcher.join()
    results = json.loads(out)
    low = next(filter(missing, results), None)
    if low:
        raise Refusal(f"a right answer lost points, so no rate: {low}")
    return Measured(len(results), seconds, *peaks)


def missing(result):
    """Return whether an exercise graded by code lacks points."""
    return result["reason"] or any(
        row["score"] < row["max_score"] and not row["manual"]
        for row in result["exercises"]
    )


def watch(process, peaks):
    """Keep the most memory seen, of all and of one grader, in MiB."""
    while process.poll() is None:
        whole = sandbox.memory_of(process.pid, sandbox.proportional)
        peaks[0] = max(peaks[0], whole / (1 << 20))
        for pid in (process.pid, *children(process.pid)):
            own = resident_of(pid) / (1 << 20)
            peaks[1] = max(peaks[1], own)
        time.sleep(0.5)


def children(pid):
    """Return the processes that this one has started."""
    try:
        path = Path(f"/proc/{pid}/task/{pid}/children")
        return [int(word) for word in path.read_text().split()]
    except OSError:
        return []


def resident_of(pid):
    """Return the resident bytes of one process; 0 once it is gone."""
    try:
        return sandbox.resident(Path(f"/proc/{pid}"))
    except (OSError, IndexError):
        return 0
