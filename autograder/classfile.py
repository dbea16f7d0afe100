"""`course.toml` in the classroom: what a class sets once, for all commands.

This module reads the file and refuses what it does not know. settings.py
takes from it how grading runs, policy.py what late work costs, address.py
where the gradebook is.
"""

import math
import tomllib

from autograder import Refusal

FILE = "course.toml"
KEYS = ("due", "gradebook", "late", "processes", "seconds", "time_zone")


def load(place):
    """Return the file's content as a dict, empty if there is no file."""
    path = place.classroom / FILE
    try:
        facts = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Refusal(
            f"{path} cannot be read: {error}; autograder/README.md has an "
            "example"
        ) from None
    known(path, "key ", facts, KEYS)
    return facts


def known(path, kind, given, names):
    """Raise a Refusal for a name that is not among the known ones."""
    for name in given:
        if name not in names:
            raise Refusal(
                f"{path}: there is no {kind}{name}; there is "
                f"{', '.join(sorted(names)) or 'none'}"
            )


def table(path, facts, name):
    """Return a table of the file, empty if it is not there."""
    found = facts.get(name, {})
    if not isinstance(found, dict):
        raise Refusal(f"{path}: {name} must be a table, as in [{name}]")
    return found


def number(path, key, value, least=0, most=math.inf):
    """Return a number of the file; Refusal if it is none or out of range."""
    real = isinstance(value, int | float) and not isinstance(value, bool)
    if not real or not least <= value <= most or math.isinf(value):
        end = "" if most == math.inf else f" to {most}"
        raise Refusal(
            f"{path}: {key} is {value!r}; it needs a number from {least}{end}"
        )
    return value
