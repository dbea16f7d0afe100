"""A large class, made of the sample class, graded to the end.

    python -m tests.stress [--size 500]

One in ten is hostile. Every student must end as the sample class says;
a difference is printed, and the exit code is 1.
"""

import argparse
import dataclasses
import itertools
import os
import shutil
import sys
import threading
import time
import tomllib
from pathlib import Path
from string import ascii_lowercase

from autograder.course import ROOT
from autograder.sample_class.command import LIMITS, grade_sample, table
from autograder.sample_class.make import STUDENTS, students
from autograder.split import Limits

SCRATCH = ROOT / "_build" / "stress"
HOSTILE = ("hostile", "tampering")  # files of the sample class


def class_of(size, hostile=HOSTILE):
    """Return students of the sample class under new names, in a cycle."""
    bad = {
        key
        for name in hostile
        for key in tomllib.loads((STUDENTS / f"{name}.toml").read_text())
    }
    shy = {*tomllib.loads((STUDENTS / "hostile.toml").read_text())} - bad
    known = [s for s in students() if s.status != "not taken"]
    honest = itertools.cycle(s for s in known if s.key not in bad | shy)
    tricks = itertools.cycle(s for s in known if s.key in bad)
    chosen = [
        next(tricks if number % 10 == 9 else honest) for number in range(size)
    ]
    endings = itertools.product(ascii_lowercase, repeat=3)
    endings = itertools.islice(endings, size)  # 26**3 students at most
    return [
        dataclasses.replace(
            student, key=f"{student.key}-{''.join(letters)}",
            arrives="folder", file="", earlier="",
        )
        for student, letters in zip(chosen, endings, strict=True)
    ]  # fmt: skip


class Memory(threading.Thread):
    """Watches the peak memory of this process and of its workers."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peaks, self.over = {}, threading.Event()

    def run(self):
        """Look twice a second; the kernel keeps the peak of a process."""
        while not self.over.wait(0.5):
            for pid in (os.getpid(), *workers_of(os.getpid())):
                self.peaks[pid] = max(peak(pid), self.peaks.get(pid, 0))


def workers_of(pid):
    """Return the processes below this one that run the same program."""
    try:
        text = Path(f"/proc/{pid}/cmdline").read_bytes()
        tasks = Path(f"/proc/{pid}/task").glob("*/children")
        below = [int(p) for task in tasks for p in task.read_text().split()]
        return [
            p for p in below
            if Path(f"/proc/{p}/cmdline").read_bytes() == text
        ]  # fmt: skip
    except OSError:
        return []


def peak(pid):
    """Return the largest memory that a process had, in MB; 0 if gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    lines = [line for line in text.splitlines() if "VmHWM" in line]
    return int(lines[0].split()[1]) / 1024 if lines else 0


def main(argv=None):
    """Grade the class; 1 at any difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args(argv)
    shutil.rmtree(SCRATCH, ignore_errors=True)
    memory, began = Memory(), time.monotonic()
    memory.start()
    # short limits, which grow on a busy machine as those of `grade` do
    limits = dataclasses.replace(LIMITS, busy=Limits.busy)
    everyone = class_of(args.size)
    rows = grade_sample(SCRATCH, args.jobs, everyone=everyone, limits=limits)
    minutes = (time.monotonic() - began) / 60
    memory.over.set()
    wrong = [row for row in rows if row["faults"]]
    if wrong:
        print(table(wrong))
    own = memory.peaks.pop(os.getpid())
    facts = {
        "students": len(rows),
        "of them hostile": args.size // 10,
        "processes": args.jobs,
        "minutes, intake to reports": f"{minutes:.1f}",
        "students a minute": f"{len(rows) / minutes:.1f}",
        "peak memory, main process": f"{own:.0f} MB",
        "peak memory, one worker": f"{max(memory.peaks.values()):.0f} MB",
        "not as expected": len(wrong),
    }
    for name, value in facts.items():
        print(f"{name:28}{value:>10}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
