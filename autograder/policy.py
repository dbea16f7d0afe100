"""Due dates, and what late work costs, as `course.toml` says.

The raw score stays in the gradebook. The mark is computed from it where
marks are shown or exported, so a changed policy needs no regrading.
"""

import math
from dataclasses import dataclass, field
from datetime import date, datetime
from zoneinfo import ZoneInfo

from autograder import Refusal
from autograder.classfile import FILE, known, load, number, table

DAY = 86_400  # seconds
LATE = {  # key: the largest number that it may be
    "grace_minutes": math.inf, "percent_a_day": 100, "most_percent": 100,
}  # fmt: skip


@dataclass(frozen=True)
class Policy:
    """The rules of one class."""

    due: dict[str, float] = field(default_factory=dict)  # seconds since 1970
    grace_minutes: float = 0  # so late counts as in time
    percent_a_day: float = 0  # of the points reached, for each day begun
    most_percent: float = 100  # never more than this


def read(place):
    """Return the class's Policy; Refusal names what is wrong in the file."""
    path, facts = place.classroom / FILE, load(place)
    due, late = (table(path, facts, name) for name in ("due", "late"))
    known(path, "key late.", late, LATE)
    if place.source.is_dir():
        names = [p.name for p in place.source.iterdir() if p.is_dir()]
        known(path, "assignment ", due, names)
    zone = zone_of(path, facts.get("time_zone", "UTC"))
    return Policy(
        {name: moment(path, name, due[name], zone) for name in due},
        **{
            key: number(path, f"late.{key}", late[key], 0, LATE[key])
            for key in late
        },
    )


def zone_of(path, name):
    """Return the time zone of the dates that do not name their own."""
    try:
        return ZoneInfo(name)
    except (LookupError, OSError, TypeError, ValueError):
        raise Refusal(
            f"{path}: time_zone is {name!r}; it needs a name such as "
            '"Europe/Berlin"'
        ) from None


def moment(path, name, value, zone):
    """Return a due date as seconds since 1970."""
    if not isinstance(value, datetime):
        shown = value.isoformat() if isinstance(value, date) else repr(value)
        raise Refusal(
            f"{path}: {name} is due {shown}; it needs day and time without "
            "quotes, such as 2026-03-01 23:59:00"
        )
    if value.tzinfo is None:
        value = value.replace(tzinfo=zone)
    return value.timestamp()


def days_late(place, rules, result):
    """Return the days begun after the due date; 0 within the grace.

    The moment is the date of the submitted file, which `collect` sets to
    the attempt's. What the student's own files claim does not count.
    """
    owner = result.get("file_of", result["student"])  # in a group
    path = place.submitted / owner / result["assignment"]
    path = path / f"{result['notebook']}.ipynb"
    due = rules.due.get(result["assignment"])
    if due is None or not path.exists():
        return 0
    seconds = path.stat().st_mtime - due
    if seconds <= 60 * rules.grace_minutes:
        return 0
    return math.ceil(seconds / DAY)


def marked(place, rules, result):
    """Return the result with the days it is late and the mark that counts."""
    days = days_late(place, rules, result)
    share = min(days * rules.percent_a_day, rules.most_percent) / 100
    score = result["score"]
    mark = round(score * (1 - share), 2) if share else score
    return {**result, "days_late": days, "mark": mark}


def remark(result):
    """Return the sentence on lateness; empty for work in time."""
    days = result.get("days_late", 0)
    if not days:
        return ""
    unit = "day" if days == 1 else "days"
    return (
        f"{days} {unit} late: {result['mark']:g} of the "
        f"{result['score']:g} points reached count"
    )
