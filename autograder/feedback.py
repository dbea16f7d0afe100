"""`feedback`: one small page of HTML for each graded notebook.

It says per exercise: points, what went wrong, the hint, the chapter to
reread. It holds no test source, no expected value, no path, no other
student, no script; whatever a student wrote is escaped.
"""

import html
import json
import re
from string import Template

import yaml
from latex2mathml.converter import convert

from autograder import (
    course,
    files,
    gradebook,
    groups,
    policy,
    preprocessors,
    releases,
)
from autograder.course import ROOT

HEADING = re.compile(r"^##\s+(.+)$", re.MULTILINE)
CHAPTER = re.compile(r'chapters?\s+((?:(?:,|\s|and)*"[^"]+")+)')
HINT = re.compile(r"<summary>Hint</summary>(.*?)</details>", re.DOTALL)
PATH = re.compile(r"(?<![\w)/.])(?:/[\w.+-]+){2,}/?")

PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<title>$title</title>
<style>
:root { color-scheme: light dark; }
body { max-width: 42rem; margin: auto; padding: 1rem;
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 0; }
section { border-top: 1px solid #8886; padding: 1rem 0; }
.points { float: right; font-weight: 600; padding-left: 1rem; }
.wrong { border-left: 4px solid #c43; padding-left: .75rem; }
code { font-size: .9em; white-space: pre-wrap; }
</style>
</head>
<body>
<h1>$title</h1>
<p><strong>$total</strong></p>
$notes
$sections
</body>
</html>
""")


def add_arguments(parser):
    """Options of `feedback`."""
    course.add_course_arguments(parser)


def run(args):
    """Write every page anew, with the scores and comments given by hand."""
    from autograder.export import read_results
    from autograder.pool import bar

    place = course.course_from(args)
    results = read_results(place)
    for result in bar(results, len(results)):
        write(place, result)
    facts = {"pages": len(results), "folder": str(place.feedback)}
    text = "{pages} pages in {folder}".format(**facts)
    print(json.dumps(facts, indent=1) if args.json else text)
    return 0


def write(place, result):
    """Write the page of one result, for each member of a group."""
    teams = groups.read(place)
    for each in groups.shared(place, teams, [result]):
        write_page(place, each)


def write_page(place, result):
    """Write one student's page; return its path."""
    names = result["student"], result["assignment"], result["notebook"]
    owner = result.get("file_of", names[0])
    remarks = {}
    if result["exercises"]:
        remarks = gradebook.persist(comments, place, owner, *names[1:])
    result = policy.marked(place, policy.read(place), result)
    page = page_of(place, result, remarks)
    path = place.feedback / names[0] / names[1] / f"{names[2]}.html"
    files.write_whole(path, page)
    return path


def comments(place, student, assignment, notebook):
    """Return what the instructor wrote by hand, by cell."""
    with gradebook.opened(place) as book:
        found = book.find_submission_notebook(notebook, assignment, student)
        return {c.name: c.comment for c in found.comments if c.comment}


def page_of(place, result, remarks):
    """Return the page's HTML."""
    title = f"{result['assignment']} · {result['notebook']}"
    parts = []
    if result["exercises"]:
        names = result["assignment"], result["notebook"]
        master = releases.master_of(place, *names, result.get("release"))
        parts = [
            section(heading, text, cells, result["answers"], remarks)
            for heading, text, cells in grouped(master, result["exercises"])
        ]
    return PAGE.substitute(
        title=html.escape(title),
        total=html.escape(total_line(result)),
        notes=notes(result),
        sections="\n".join(parts),
    )


def total_line(result):
    """Return the sentence with the total."""
    line = f"{result['score']:g} of {result['max_score']:g} points"
    waiting = sum(e["max_score"] for e in result["exercises"] if e["manual"])
    if waiting:
        line += f"; {waiting:g} points are still to be marked by hand"
    late = policy.remark(result)
    return f"{line}; {late}" if late else line


def notes(result):
    """Return what concerns the whole notebook: failure, repairs."""
    lines = []
    if "file_of" in result:
        lines.append("Your group shares this mark. It is for the latest file.")
    if result["reason"]:
        lines.append(f"Not graded: {result['reason']}.")
    lines += [f"Mended in your file: {text}." for text in result["repairs"]]
    for trouble in result["answers"]:
        if trouble["id"] is None:
            lines.append(f"A cell of your own stopped: {trouble['error']}")
    if not lines:
        return ""
    items = "".join(f"<li>{safe(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>"


def grouped(master, exercises):
    """Yield (heading, text, graded cells) for each exercise, in order."""
    by_id = {exercise["id"]: exercise for exercise in exercises}
    heading, text, cells = "", "", []
    for cell in master.cells:
        found = cell.cell_type == "markdown" and HEADING.search(cell.source)
        if found and preprocessors.grade_id(cell) is None:
            if cells:
                yield heading, text, cells
            heading, text, cells = found[1].strip(), cell.source, []
        name = preprocessors.grade_id(cell)
        if name is not None:
            cells.append(by_id.get(name, {"id": name, "max_score": 0}))
    if cells:
        yield heading, text, cells


def section(heading, text, cells, answers, remarks):
    """Return the HTML of one exercise; empty if it carries no points."""
    graded = [cell for cell in cells if cell["max_score"]]
    if not graded:
        return ""
    score = sum(cell["score"] for cell in graded)
    most = sum(cell["max_score"] for cell in graded)
    names = {cell["id"] for cell in cells}
    lines = []
    for trouble in answers:
        if trouble["id"] in names:
            lines.append(wrong(where(trouble)))
    for message in dict.fromkeys(cell["message"] for cell in graded):
        if message:
            lines.append(wrong(message))
    if any(cell["manual"] for cell in graded):
        lines.append("<p>Marked by hand.</p>")
    for name in names & set(remarks):
        lines.append(f"<p>Comment: {safe(remarks[name])}</p>")
    if score < most:
        lines += help_for(text)
    return (
        f'<section><span class="points">{score:g} / {most:g}</span>'
        f"<h2>{safe(heading)}</h2>{''.join(lines)}</section>"
    )


def where(trouble):
    """Return the sentence about an answer that stopped with an error."""
    line = f" in line {trouble['line']}" if trouble["line"] else ""
    return f"Your answer stopped{line}: {trouble['error']}"


def wrong(text):
    """Return a paragraph that says what went wrong."""
    return f'<p class="wrong">{safe(text)}</p>'


def safe(text):
    """Return escaped text without paths of the grading machine."""
    return html.escape(PATH.sub("(a path)", str(text)))


def typeset(text):
    """Escape the course's own text; $TeX$ becomes MathML, `code` code."""
    parts = re.split(r"\$([^$]+)\$", text)
    return "".join(
        convert(part) if i % 2
        else re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(part))
        for i, part in enumerate(parts)
    )


def help_for(text):
    """Return the exercise's hint and the chapters to reread."""
    lines = []
    hint = HINT.search(text)
    if hint:
        lines.append(f"<p>Hint: {typeset(' '.join(hint[1].split()))}</p>")
    named = CHAPTER.search(text)
    for title in re.findall(r'"([^"]+)"', named[1] if named else ""):
        lines.append(f"<p>Reread: {chapter_link(' '.join(title.split()))}</p>")
    return lines


def chapter_link(title):
    """Return a link to the chapter's notebook; the bare title if unknown.

    A chapter's short name is what stands before the colon of its title.
    """
    shown = html.escape(title)
    for page in sorted((ROOT / "book").glob("*/*.md")):
        found = re.search(r"(?m)^# (.+)$", page.read_text(encoding="utf-8"))
        name = found[1].strip().casefold() if found else ""
        if title.casefold() in (name, name.split(":")[0]):
            config = yaml.safe_load((ROOT / "_config.yml").read_text())
            place = config["repository"]
            path = page.relative_to(ROOT / "book").with_suffix(".ipynb")
            url = (
                f"{place['url']}/blob/{place['branch']}"
                f"/notebooks/chapters/{path}"
            )
            return f'<a href="{html.escape(url)}">{shown}</a>'
    return shown
