"""`export`: the gradebook as CSV, total, per exercise, and for an LMS."""

import csv
import json

from autograder import course


def add_arguments(parser):
    """Options of `export`."""
    course.add_course_arguments(parser)


def run(args):
    """Write the CSV files; print their paths."""
    for path in write_csv(course.course_from(args)):
        print(path)
    return 0


def read_results(place):
    """Return the stored results, sorted."""
    found = sorted((place.grades / "results").glob("*/*/*.json"))
    return [json.loads(path.read_text()) for path in found]


def write_csv(place):
    """Write grades.csv and exercises.csv; return their paths."""
    results = read_results(place)
    totals = [
        [r["student"], r["assignment"], r["notebook"], r["score"],
         r["max_score"], r["status"], r["reason"]]
        for r in results
    ]
    parts = [
        [r["student"], r["assignment"], r["notebook"], e["id"], e["score"],
         e["max_score"], "by hand" if e["manual"] else "automatic"]
        for r in results
        for e in r["exercises"]
    ]
    head = ["student", "assignment", "notebook"]
    place.grades.mkdir(parents=True, exist_ok=True)
    return [
        write(place.grades / "grades.csv",
              [*head, "score", "max_score", "status", "reason"], totals),
        write(place.grades / "exercises.csv",
              [*head, "exercise", "score", "max_score", "graded"], parts),
    ]


def write(path, head, rows):
    """Write one CSV file; a spreadsheet must not run what a cell says."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows([[harmless(cell) for cell in row] for row in rows])
    return path


def harmless(cell):
    """Return the cell; text that a spreadsheet would run is quoted."""
    if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t"):
        return "'" + cell
    return cell
