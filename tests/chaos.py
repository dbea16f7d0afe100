"""A class graded while processes, clusters and the database are killed.

    python -m tests.chaos [--size 40] [--kills 20] [--seed 1]

Runs are killed at random moments and started again until all is graded.
Then every score in the gradebook, those by hand too, must be that of a
class that nobody disturbed, and nothing may have been graded twice.
Prints the kills and the comparison; exit code 1 at any difference.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from autograder import Refusal, gradebook, jobs, sandbox
from autograder.course import ROOT, Course
from autograder.identity import released_notebooks
from autograder.intake import Intake
from autograder.release import release
from autograder.sample_class.make import make
from tests.dask_cluster import DaskCluster
from tests.database import BIN, MISSING, Server
from tests.stress import class_of, workers_of

SCRATCH = ROOT / "_build" / "chaos"
SEED = 20260130  # of the checks' inputs
SECONDS = 900  # for one run
WORDS = "does-it-follow"  # the exercise that is marked by hand
ENDS = ("the run", "the run on Dask", "the Dask scheduler")
POOL = ("a worker of the pool", "the run", "the database")
DASK = ("a Dask worker", "the Dask scheduler", "the run on Dask",
        "the database")  # fmt: skip


def class_in(folder, everyone, address=""):
    """Make and collect the class; return its Course."""
    place = Course(folder / "class", SCRATCH / "source", SCRATCH / "notebooks")
    make(folder / "inbox", place.released, place.source, everyone=everyone)
    known = released_notebooks(place.released)
    intake = Intake(place.classroom, known)
    intake.collect(sorted((folder / "inbox").iterdir()))
    if address:
        text = f'[gradebook]\nurl = "{address}"\n'
        (place.classroom / "course.toml").write_text(text)
    return place


def command(place, *more):
    """Return the command line that grades the class."""
    return [
        sys.executable, "-m", "autograder", "grade", "--seed", str(SEED),
        "--classroom", str(place.classroom), "--source", str(place.source),
        "-j2", *more,
    ]  # fmt: skip


class Run:
    """One `grade`, in a process of its own."""

    def __init__(self, place, *more):
        self.process = subprocess.Popen(
            command(place, *more), cwd=ROOT, text=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    def alive(self):
        """Say whether it still runs."""
        return self.process.poll() is None

    def end(self):
        """Wait for its end; return the exit code and what it complained."""
        said = self.process.communicate(timeout=SECONDS)[1]
        if "Traceback" in said:
            raise RuntimeError(f"a run ended without a sentence:\n{said}")
        return self.process.returncode, " ".join(said.split())


# --- what is graded ---------------------------------------------------------


def graded(place):
    """Return {file: (date, text)} of the results that a rerun must keep."""
    found = {}
    for path in sorted(place.grades.glob("results/*/*/*.json")):
        text = path.read_text()
        if json.loads(text)["status"] != jobs.FAILED:
            found[path] = path.stat().st_mtime_ns, text
    return found


def marks(place):
    """Return {(student, exercise): (automatic, by hand)} of the gradebook."""
    with gradebook.opened(place) as book:
        return {
            (sub.student.id, grade.name): (
                grade.auto_score, grade.manual_score,
            )
            for sub in book.assignment_submissions("symbols")
            for notebook in sub.notebooks
            for grade in notebook.grades
            if notebook.name == "beginner"
        }  # fmt: skip


def mark(place, students):
    """Give the answers in words of these students a mark by hand."""
    with gradebook.opened(place) as book:
        for number, student in enumerate(students):
            names = WORDS, "beginner", "symbols", student
            book.find_grade(*names).manual_score = number % 5
        book.db.commit()


# --- kills ------------------------------------------------------------------


class Storm:
    """A class, its database and its cluster, and what was killed so far."""

    def __init__(self, folder, everyone, rng, server, bag):
        self.rng, self.server, self.folder, self.bag = rng, server, folder, bag
        address = server.create(folder.name)
        self.place = class_in(folder, everyone, address)
        self.cluster = self.run = self.suits = None
        self.rows, self.kept, self.twice = [], {}, []

    def strike(self, hits):
        """Kill something in the run, or in a new one; say if it lived."""
        if self.run is None:
            self.suits = self.rng.choice([POOL, DASK])
            self.run = Run(self.place, *self.options())
        kind = next(kind for kind in self.bag if kind in self.suits)
        before = len(graded(self.place))
        if self.rng.random() < 0.75:  # else perhaps while it starts
            wait_for(lambda: len(graded(self.place)) > before, self.run)
        time.sleep(self.rng.uniform(0, 6))
        hit = self.run.alive() and self.kill(kind)
        if hit:
            self.bag.remove(kind)
            self.rows.append([kind, len(graded(self.place)), "", ""])
            print(f"kill {hits + 1}: {kind}", file=sys.stderr)
        elif not self.run.alive():
            self.rows.append(["(too late)", len(self.kept), "", ""])
        if not self.run.alive() or kind in ENDS:
            self.end()
        return hit

    def options(self):
        """Return the options of a run, with a living cluster if need be."""
        if self.suits is POOL:
            return []
        if self.cluster and self.cluster.scheduler.poll() is not None:
            self.stop()
        if self.cluster is None:
            folder = self.folder / f"dask-{len(self.rows)}"
            folder.mkdir()
            self.cluster = DaskCluster(folder)
            self.cluster.wait()
        return ["--scheduler", self.cluster.address]

    def kill(self, kind):
        """Kill it; return whether it was there."""
        if kind in ("the run", "the run on Dask"):
            self.run.process.kill()
        elif kind == "the Dask scheduler":
            self.cluster.scheduler.kill()
        elif kind == "the database":
            self.server.stop(self.rng.choice(["fast", "immediate"]))
            time.sleep(self.rng.uniform(0, 5))
            self.server.start()
        else:
            found = workers_of(self.run.process.pid)
            if kind == "a Dask worker":
                found = [c for n in self.cluster.workers for c in spawned(n)]
            for pid in self.rng.sample(found, min(1, len(found))):
                os.kill(pid, signal.SIGKILL)
            return bool(found)
        return True

    def end(self):
        """Wait for the run's end; note what it said."""
        code, said = self.run.end()
        self.rows[-1][2:] = code, said
        self.run = None
        self.look()

    def whole(self):
        """Say whether a run got to its end by itself."""
        row = self.rows[-1] if self.rows else [0, 0, "", ""]
        return row[2] in (0, 1) and "autograder:" not in row[3]

    def look(self):
        """Note what has been graded again; keep what is graded now."""
        now = graded(self.place)
        self.twice += [p for p, was in self.kept.items() if now.get(p) != was]
        self.kept = now

    def stop(self):
        """End the cluster."""
        if self.cluster:
            self.cluster.stop()
        self.cluster = None


def spawned(nanny):
    """Return the worker that a Dask nanny watches over."""
    tasks = Path(f"/proc/{nanny.pid}/task").glob("*/children")
    text = " ".join(path.read_text() for path in tasks)
    return [
        int(p) for p in text.split()
        if b"spawn_main" in Path(f"/proc/{p}/cmdline").read_bytes()
    ]  # fmt: skip


def wait_for(done, run):
    """Wait until something is done, or the run has ended."""
    while run.alive() and not done():
        time.sleep(0.05)


# --- the comparison ---------------------------------------------------------


def unlike(calm, found):
    """Return the scores that differ, and of them those given by hand."""
    other = [k for k in calm if found.get(k) != calm[k]]
    by_hand = {key: found.get(key, (None, None))[1] for key in other}
    return other, [key for key in other if by_hand[key] != calm[key][1]]


def undisturbed(folder, everyone):
    """Return the marks of the class when nothing happens to it."""
    place = class_in(folder, everyone)
    code, said = Run(place).end()
    if code not in (0, 1):
        raise RuntimeError(said)
    mark(place, sorted(s.key for s in everyone))
    return marks(place), len(graded(place))


def weather(storm, names, kills):
    """Strike a class until it is graded, or so often; return the hits.

    Half of the marks by hand are there before it begins, half come later.
    """
    hits, place = 0, storm.place
    with gradebook.quiet():
        gradebook.prepare(place, "symbols", names)
    mark(place, names[: len(names) // 2])
    while hits < kills and not storm.whole():
        hits += storm.strike(hits)
    if storm.run:
        storm.end()
    storm.stop()
    mark(place, names)
    storm.run = Run(place)
    storm.rows.append(["(the last run)", len(storm.kept), "", ""])
    storm.end()
    return hits


def main(argv=None):
    """Print the kills and the comparison; 1 at any difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=40)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(argv)
    sandbox.require()
    if BIN is None:
        raise Refusal(MISSING)
    shutil.rmtree(SCRATCH, ignore_errors=True)
    release("symbols", SCRATCH / "notebooks", SCRATCH / "source")
    everyone = class_of(args.size, hostile=("tampering",))
    calm, whole = undisturbed(SCRATCH / "calm", everyone)
    print(f"undisturbed: {whole} of {len(everyone)} students graded")
    rng, server = random.Random(args.seed), Server()
    try:
        return storms(args.kills, everyone, rng, server, calm, whole)
    finally:
        server.remove()


def storms(kills, everyone, rng, server, calm, whole):
    """Disturb one class after the other until all kills have hit."""
    hits = wrong = number = 0
    bag = sorted({*POOL, *DASK}) * kills
    rng.shuffle(bag)
    print(f"{'class':>5}  {'killed':22}{'graded':>7}{'exit':>6}  said")
    while hits < kills:
        number += 1
        folder = SCRATCH / f"storm{number}"
        storm = Storm(folder, everyone, rng, server, bag)
        hits += weather(storm, sorted(s.key for s in everyone), kills - hits)
        for kind, before, code, said in storm.rows:
            print(f"{number:5}  {kind:22}{before:7}{code:>6}  {said[:90]}")
        other, lost = unlike(calm, marks(storm.place))
        missing = whole - len(storm.kept)
        wrong += len(other) + len(storm.twice) + abs(missing)
        print(
            f"{number:5}  {len(calm)} scores: {len(other)} differ, "
            f"{len(lost)} marks by hand lost; {missing} students not graded, "
            f"{len(storm.twice)} graded twice",
            flush=True,
        )
    print(f"{hits} kills, {number} classes, {wrong} differences")
    return int(bool(wrong))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refusal as refusal:
        sys.exit(f"stress: {refusal}")
