"""How grading runs, as `course.toml` says: processes and limits of time."""

import os
from dataclasses import dataclass, field

from autograder import Refusal
from autograder.classfile import FILE, known, load, number, table
from autograder.split import Limits

SECONDS = {"cell": "cell_s", "test": "test_s", "notebook": "notebook_s"}


@dataclass(frozen=True)
class Settings:
    """How grading runs; an option of the command line wins over it."""

    processes: int = field(default_factory=lambda: os.cpu_count() or 1)
    limits: Limits = field(default_factory=Limits)


def read(place):
    """Return the class's Settings; Refusal names what is wrong."""
    path, facts = place.classroom / FILE, load(place)
    given = table(path, facts, "seconds")
    known(path, "key seconds.", given, SECONDS)
    limits = {
        SECONDS[key]: number(path, f"seconds.{key}", value, 0.1)
        for key, value in given.items()
    }
    settings = Settings(limits=Limits(**limits))
    if "processes" not in facts:
        return settings
    count = number(path, "processes", facts["processes"], 1, 1024)
    if count != int(count):
        raise Refusal(
            f"{path}: processes is {count!r}; it needs a whole number"
        )
    return Settings(int(count), settings.limits)
