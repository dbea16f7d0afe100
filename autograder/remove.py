"""`remove`: takes every trace of one student out of the classroom.

Rows, files and pages go; the CSV files are written anew without them.
submitted/ goes last, so that a run that was killed can be repeated.
"""

import csv
import json
import re
import shutil

import sqlalchemy
from nbgrader.api import MissingEntry

from autograder import Refusal, course, export, files, gradebook, groups
from autograder.worker import LOG

TEXT = (".csv", ".json", ".log", ".toml", ".txt", ".yml")


def add_arguments(parser):
    """Options of `remove`."""
    course.add_course_arguments(parser)
    parser.add_argument("student", help="the id, as in submitted/")
    parser.add_argument(
        "--yes", action="store_true", help="remove; without it, only list"
    )


def run(args):
    """Remove; 1 if a file of your own still names the student."""
    place = course.course_from(args)
    student = args.student
    gradebook.require_unlocked(place)
    found = holdings(place, student)
    if not found:
        raise Refusal(f"{place.classroom} holds nothing of {student!r}")
    if args.yes:
        remove(place, student)
    left = named_in(place, student) if args.yes else []
    if args.json:
        facts = {"student": student, "removed": args.yes, "holdings": found}
        print(json.dumps({**facts, "left": left}, indent=1))
    else:
        show(found, left, args.yes)
    if not args.yes:
        raise Refusal("nothing was removed yet; add --yes to remove this")
    return int(bool(left))


def show(found, left, removed):
    """Print one line for each place."""
    for line in found:
        print(f"{'removed' if removed else 'found'}: {line}")
    for line in left:
        print(f"still there, yours to change: {line}")


def holdings(place, student):
    """Return a line for each place that holds something of the student."""
    lines = []
    count = submissions(place, student)
    if count is not None:
        lines.append(f"gradebook: the student and {count} submissions")
    for folder in folders(place, student):
        number = sum(p.is_file() for p in folder.rglob("*"))
        lines.append(f"{folder} ({number} files)")
    for path in names_files(place):
        if student in names(path):
            lines.append(f"{path}: the name and the platform's ids")
    mates = pages_of_mates(place, student)
    lines += [f"{p}: it is about this student's file" for p in mates]
    teams = place.classroom / groups.FILE
    if student in groups.read(place):
        lines.append(f"{teams}: the row")
    if place.report.exists() and lines:
        lines.append(f"{place.report}: `report --html` writes it anew")
    log = place.grades / LOG
    if logged(log, student):
        lines.append(f"{log}: all of it, tracebacks cannot be told apart")
    lines += [f"{p}: the rows" for p in tables(place) if row_in(p, student)]
    return lines


def remove(place, student):
    """Remove all that `holdings` lists; safe to repeat."""
    remove_rows(place, student)
    log = place.grades / LOG
    if logged(log, student):
        log.unlink()
    place.report.unlink(missing_ok=True)
    for page in pages_of_mates(place, student):
        page.unlink()
    leave_group(place, student)
    *earlier, submitted = homes(place)
    for home in earlier:
        remove_folder(home, student)
    export.write_csv(place)
    for path in names_files(place):
        remove_name(path, student)
    remove_folder(submitted, student)


# --- folders ----------------------------------------------------------------


def homes(place):
    """Return the folders that hold one folder a student."""
    return (
        place.grades / "results",
        place.feedback,
        place.autograded,
        place.classroom / "attempts",
        place.submitted,
    )


def folders(place, student):
    """Return the student's folders; a name such as ".." is nobody's."""
    return [
        path
        for home in homes(place)
        if home.is_dir()
        for path in home.iterdir()
        if path.name == student and (path.is_dir() or path.is_symlink())
    ]


def remove_folder(home, student):
    """Remove the student's folder in `home`; of a link only the link."""
    for path in home.iterdir() if home.is_dir() else ():
        if path.name == student and path.is_symlink():
            path.unlink()
        elif path.name == student and path.is_dir():
            shutil.rmtree(path)


# --- groups -----------------------------------------------------------------


def pages_of_mates(place, student):
    """Return the pages of others that tell of this student's file."""
    teams = groups.read(place)
    if student not in teams:
        return []
    found = []
    for path in sorted((place.submitted / student).glob("*/*.ipynb")):
        names = path.parent.name, path.stem
        if groups.counting(place, teams, student, *names) == student:
            found += [
                place.feedback / mate / names[0] / f"{names[1]}.html"
                for mate in teams[student].members
                if mate != student
            ]
    return [page for page in found if page.exists()]


def leave_group(place, student):
    """Take the student's row out of groups.csv."""
    if student not in groups.read(place):
        return
    path = place.classroom / groups.FILE
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    kept = [
        line
        for line, row in zip(lines, csv.reader(lines), strict=True)
        if groups.stripped(row)[1:] != [student]
    ]
    files.write_whole(path, "".join(f"{line}\n" for line in kept))


# --- the gradebook ----------------------------------------------------------


def has_gradebook(place):
    """Say whether there is one; looking must not create it."""
    path = gradebook.file_of(place)
    return path is None or path.exists()


def submissions(place, student):
    """Return how many submissions the gradebook has, None if no student."""
    if not has_gradebook(place):
        return None
    with gradebook.opened(place) as book:
        try:
            return len(book.find_student(student).submissions)
        except MissingEntry:
            return None


def remove_rows(place, student):
    """Take the student out of the gradebook, free pages too."""
    if not has_gradebook(place):
        return
    with gradebook.quiet(), gradebook.opened(place) as book:
        try:
            book.remove_student(student)
        except MissingEntry:
            pass  # a run that was killed got further than this
        book.db.commit()
        engine = book.engine
        if engine.dialect.name == "sqlite":
            # SQLite leaves deleted text in the file until it is rewritten
            with engine.connect() as connection:
                connection.execute(sqlalchemy.text("VACUUM"))


# --- files of text ----------------------------------------------------------


def names_files(place):
    """Return where `collect` keeps who is who."""
    found = (place.classroom / "attempts").glob("*.json")
    return sorted(path for path in found if path.is_file())


def names(path):
    """Return what `collect` knows of each student."""
    return json.loads(path.read_text("utf-8"))


def remove_name(path, student):
    """Write the names anew without the student, in one step."""
    known = names(path)
    if known.pop(student, None) is not None:
        text = json.dumps(known, indent=1, sort_keys=True)
        files.write_whole(path, text)


def tables(place):
    """Return the CSV files that `export` writes."""
    return [place.grades / f"{name}.csv" for name in export.TABLES]


def row_in(path, student):
    """Say whether a CSV file of ours has a row of the student."""
    if not path.exists():
        return False
    rows = csv.reader(path.read_text("utf-8").splitlines())
    return any(row[:1] == [export.harmless(student)] for row in rows)


def logged(path, student):
    """Say whether the log has an entry of the student."""
    head = f"({student!r}, ".encode()
    return path.exists() and head in path.read_bytes()


def named_in(place, student):
    """Return files beside ours, such as a roster, that name the student."""
    word = rb"(?<![\w.-])%b(?![\w-])" % re.escape(student.encode())
    found = []
    for folder in (place.classroom, place.grades):
        for path in sorted(folder.iterdir()):
            copy = path.name.startswith("gradebook.db.")
            text = path.suffix in TEXT and path not in tables(place)
            pattern = re.escape(student.encode()) if copy else word
            if (copy or text) and re.search(pattern, path.read_bytes()):
                found.append(str(path))
    return found
