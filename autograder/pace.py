"""How long grading takes, told from the seconds that results have kept."""

import json
import statistics

from tqdm import tqdm


def kept(place):
    """Return {(student, assignment, notebook): seconds} of all results."""
    found = {}
    for path in sorted((place.grades / "results").glob("*/*/*.json")):
        try:
            result = json.loads(path.read_text())
        except (OSError, ValueError):
            continue  # being written, or not ours
        if result.get("seconds") is not None:
            names = path.parts[-3], path.parts[-2], path.stem
            found[names] = result["seconds"]
    return found


def estimate(place, tasks, processes):
    """Return the seconds that the tasks need, None if nothing is known.

    A task is (student, assignment, notebook). Its time is the median of
    its notebook's, else of all. Notebooks beside each other slow down, and
    earlier ones ran beside each other too, so that is in the figures.
    """
    known = kept(place)
    if not known or not tasks:
        return 0.0 if not tasks else None
    by_notebook = {}
    for (_, *notebook), seconds in known.items():
        by_notebook.setdefault(tuple(notebook), []).append(seconds)
    each = [
        statistics.median(by_notebook.get(tuple(notebook), known.values()))
        for _, *notebook in tasks
    ]
    return round(max(sum(each) / min(processes, len(each)), max(each)), 1)


def middle(seconds):
    """Return the median of {names: seconds}, None if there are none."""
    return statistics.median(seconds.values()) if seconds else None


def duration(seconds):
    """Return seconds as text, such as 1:05 for people."""
    return "unknown" if seconds is None else tqdm.format_interval(seconds)
