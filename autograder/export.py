"""`export`: the gradebook as CSV, total, per exercise, and for an LMS."""

import csv
import io
import json

from nbgrader.api import MissingEntry

from autograder import course, files, gradebook, groups, policy


def add_arguments(parser):
    """Options of `export`."""
    course.add_course_arguments(parser)


def run(args):
    """Write the CSV files, with the scores that the gradebook has now."""
    paths = [str(path) for path in write_csv(course.course_from(args))]
    print(json.dumps(paths, indent=1) if args.json else "\n".join(paths))
    return 0


def read_results(place):
    """Return the stored results, with what was marked by hand since."""
    found = sorted((place.grades / "results").glob("*/*/*.json"))
    results = [json.loads(path.read_text()) for path in found]
    rules = policy.read(place)
    if results:
        numbers = canvas_ids(place)
        gradebook.persist(refresh_all, place, results)
        results = list(groups.shared(place, groups.read(place), results))
        results.sort(key=lambda r: [r[name] for name in NAMES])
        for result in results:
            result["canvas"] = numbers.get(result["student"], "")
    return [policy.marked(place, rules, result) for result in results]


def canvas_ids(place):
    """Return {student: Canvas's number}, as intake read it in file names."""
    path = place.classroom / "attempts" / "_students.json"
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return {who: facts.get("canvas", "") for who, facts in known.items()}


def refresh_all(place, results):
    """Take the scores of the gradebook for each result."""
    with gradebook.opened(place) as book:
        for result in results:
            refresh(book, result)


def refresh(book, result):
    """Take the scores of the gradebook, where instructors change them."""
    try:
        rows = gradebook.scores(book, *(result[key] for key in NAMES))
    except MissingEntry:
        return
    by_id = {row["id"]: row for row in rows}
    for part in result["exercises"]:
        part |= by_id.get(part["id"], {})
    result["score"] = sum(row["score"] for row in rows)
    result["max_score"] = sum(row["max_score"] for row in rows)


def write_csv(place):
    """Write every CSV file; return the paths."""
    results = read_results(place)
    gradebook.enter_penalties(place, results)
    return [
        write(place.grades / f"{name}.csv", table(results))
        for name, table in TABLES.items()
    ]


def totals(results):
    """Return one row for each notebook."""
    head = [*NAMES, "score", "max_score", "status", "reason",
            "days_late", "mark"]
    return [head, *([r[key] for key in head] for r in results)]


def exercises(results):
    """Return one row for each exercise."""
    head = [*NAMES, "exercise", "score", "max_score", "graded"]
    rows = [
        [*(r[key] for key in NAMES), e["id"], e["score"], e["max_score"],
         "by hand" if e["manual"] else "automatic"]
        for r in results
        for e in r["exercises"]
    ]
    return [head, *rows]


def by_student(results):
    """Return the columns' names, their maxima, and marks by student."""
    maxima, scores = {}, {}
    for r in results:
        column = f"{r['assignment']} {r['notebook']}"
        most = max(r["max_score"], maxima.get(column, 0))
        maxima[column] = most
        scores.setdefault(r["student"], {})[column] = r["mark"]
    return sorted(maxima), maxima, scores


def canvas(results):
    """Return Canvas's shape; number or login decide whose row it is."""
    columns, maxima, scores = by_student(results)
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    most = ["    Points Possible", "", "", "", ""]
    numbers = {r["student"]: r.get("canvas", "") for r in results}
    rows = [
        [who, numbers[who], "", "" if numbers[who] else who, "",
         *(row.get(c, "") for c in columns)]
        for who, row in sorted(scores.items())
    ]
    return [[*head, *columns], [*most, *(maxima[c] for c in columns)], *rows]


def moodle(results):
    """Return Moodle's shape: one row a user, mapped by user name."""
    columns, _, scores = by_student(results)
    rows = [
        [student, *(row.get(c, "") for c in columns)]
        for student, row in sorted(scores.items())
    ]
    return [["username", *columns], *rows]


NAMES = ("student", "assignment", "notebook")
TABLES = {
    "grades": totals, "exercises": exercises, "canvas": canvas,
    "moodle": moodle,
}  # fmt: skip


def write(path, rows):
    """Write one CSV file; a spreadsheet must not run what a cell says."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([[harmless(cell) for cell in row] for row in rows])
    files.write_whole(path, text.getvalue())
    return path


def harmless(cell):
    """Return the cell; text that a spreadsheet would run is quoted."""
    if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t"):
        return "'" + cell
    return cell
