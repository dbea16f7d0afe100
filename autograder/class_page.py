"""The page of `report`: how a class did, to be shown in class.

No name, no script, nothing that a student wrote. Bars are plain boxes
whose numbers stand beside them as text.
"""

import html
import math
from string import Template

from autograder.feedback import safe, typeset

COLUMNS = 12  # that fit on a phone, if one number stands below each
RANGES = 7  # that fit, if a range like 12–14 stands there
FEW = 5  # graded submissions; the figures of fewer point at persons
ROWS = 12  # messages shown for an exercise

PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<title>How the class did</title>
<style>
:root { color-scheme: light dark; --bar: #2f6f9f; --open: #8a8f98;
  --line: #0002; --soft: #555b66; }
@media (prefers-color-scheme: dark) {
  :root { --bar: #6cb2e0; --open: #7b818c; --line: #fff3;
    --soft: #b3b9c4; } }
body { max-width: 46rem; margin: auto; padding: 1rem;
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1.1rem; margin: 0; }
section { border-top: 1px solid var(--line); padding: 1rem 0; }
p { margin: .4rem 0; } .soft { color: var(--soft); }
.mean { float: right; font-weight: 600; padding-left: 1rem; }
.bars { display: flex; align-items: flex-end; gap: .25rem; margin: .8rem 0;
  padding: 0; list-style: none; max-width: 34rem; }
.bars + section { margin-top: 1.5rem; }
.bars li { flex: 1; min-width: 0; text-align: center; font-size: .85rem;
  line-height: 1.4; font-variant-numeric: tabular-nums; }
.bar { display: block; background: var(--bar); border-radius: 2px 2px 0 0; }
.open .bar { background: var(--open); }
.axis { display: block; border-top: 1px solid var(--soft);
  color: var(--soft); white-space: nowrap; }
ul.said { list-style: none; padding: 0; margin: .4rem 0; }
ul.said li { display: flex; gap: .75rem; padding: .15rem 0; }
.times { flex: 0 0 3.2rem; text-align: right; color: var(--soft);
  font-variant-numeric: tabular-nums; }
.said li > span + span { min-width: 0; }
</style>
</head>
<body>
<h1>How the class did</h1>
<p class="soft">Below each bar: points; above it: answers. A grey bar counts
the answers that were left as they were given. Means take those as zero.</p>
$notebooks
</body>
</html>
""")

TOO_FEW = (
    f"Fewer than {FEW} submissions were graded, so there are no figures "
    "here: they would show what one person did. <code>python -m autograder "
    "report</code> prints them."
)


def page_of(notebooks):
    """Return the page's HTML for a list of `class_figures.Notebook`."""
    parts = [notebook_part(book) for book in notebooks]
    return PAGE.substitute(notebooks="\n".join(parts))


def notebook_part(book):
    """Return the HTML of one notebook."""
    ends = [f"{count} {status}" for status, count in book.ended.items()]
    whole = sum(book.ended.values())
    lines = [
        f"<h2>{safe(book.name)}</h2>",
        f"<p>{number(whole, 'submission')}: {safe(', '.join(ends))}.</p>",
    ]
    if book.problem:
        lines.append(f"<p>{safe(book.problem)}</p>")
    lines += listed("Not graded, and in none of the figures", book.reasons)
    lines += listed("Mended before grading", book.repairs)
    if len(book.totals) < FEW:
        lines.append(f"<p>{TOO_FEW}</p>")
        return "\n".join(lines)
    lines += told_apart(book)
    lines.append('<p class="soft">Points of the whole notebook:</p>')
    lines.append(bars(book.totals, book.max_score))
    lines += [exercise_part(exercise) for exercise in book.exercises]
    return "\n".join(lines)


def told_apart(book):
    """Return what the checks of a notebook say about themselves."""
    lines = []
    for names, what in (
        (book.never_failed(), "Checks that no answer failed"),
        (book.always_failed(), "Checks that every answer failed"),
    ):
        shown = ", ".join(names) or "none"
        if book.checks():
            lines.append(f"<p>{what}: {safe(shown)}.</p>")
    return lines


def exercise_part(exercise):
    """Return the HTML of one exercise."""
    title = f"<h3>{typeset(exercise.title)}</h3>"
    lines = [f'<p class="soft">{safe(facts(exercise))}</p>']
    if exercise.mean is not None:
        title = f'<span class="mean">mean {exercise.mean:.0%}</span>{title}'
        lines.append(
            bars(exercise.points, exercise.max_score, exercise.untouched)
        )
    lines += listed("What the answers were told", exercise.messages)
    failed = [
        f"{name} {check.failed} of {check.tried}"
        for name, check in exercise.checks.items()
    ]
    if failed:
        lines.append(
            '<p class="soft">How many failed each check: '
            f"{safe(joined(failed))}</p>"
        )
    return f"<section>{title}{''.join(lines)}</section>"


def facts(exercise):
    """Return the counts of one exercise as a line."""
    most = f"{exercise.max_score:g} points"
    parts = [most]
    if exercise.points:
        mean = sum(exercise.points) / len(exercise.points)
        parts = [
            number(len(exercise.points), "answer"),
            f"on average {mean:.3g} of {most}",
            f"{exercise.full} with full marks",
            f"{exercise.zero} with zero",
        ]
    parts.append(f"{exercise.untouched} untouched")
    if exercise.waiting:
        parts.append(f"{exercise.waiting} still to be marked by hand")
    return joined(parts)


def joined(parts):
    """Return the parts as one line that breaks only between them."""
    return " · ".join(part.replace(" ", "\u00a0") for part in parts)


def listed(title, counts):
    """Return a list of texts, each with how many met it."""
    if not counts:
        return []
    rows = ranked(counts)
    items = [
        f'<li><span class="times">{count} ×</span><span>{safe(text)}'
        "</span></li>"
        for text, count in rows[:ROWS]
    ]
    if len(rows) > ROWS:
        more = f"and {len(rows) - ROWS} more kinds"
        items.append(
            f'<li><span class="times"></span><span>{more}</span></li>'
        )
    return [f'<p>{title}:</p><ul class="said">{"".join(items)}</ul>']


def bars(points, most, untouched=0):
    """Return the distribution of points as a row of bars."""
    columns = histogram(points, most)
    tallest = max([untouched, *(count for _, count in columns)])
    boxes = [box("", label, count, tallest) for label, count in columns]
    if untouched:
        boxes.insert(0, box("open", "–", untouched, tallest))
    said = [f"{label}: {count}" for label, count in columns if count]
    said += [f"untouched: {untouched}"] if untouched else []
    label = html.escape("Points: answers. " + ", ".join(said))
    return f'<ol class="bars" aria-label="{label}">{"".join(boxes)}</ol>'


def box(kind, label, count, tallest):
    """Return one bar, its number above and its points below."""
    height = 5.0 * count / max(tallest, 1)
    return (
        f'<li class="{kind}">{count or "&nbsp;"}'
        f'<span class="bar" style="height:{height:.2f}rem"></span>'
        f'<span class="axis">{label}</span></li>'
    )


def histogram(points, most):
    """Return (points or range of points, number of answers), in order."""
    top = math.ceil(most)
    step = 1 if top < COLUMNS else math.ceil((top + 1) / RANGES)
    counts = [0] * (top // step + 1)
    for value in points:
        counts[min(max(int(value // step), 0), len(counts) - 1)] += 1
    return [
        (column(i * step, min((i + 1) * step - 1, top)), count)
        for i, count in enumerate(counts)
    ]


def column(low, high):
    """Return a column's points as text."""
    return f"{low}" if low == high else f"{low}–{high}"


def number(count, word):
    """Return the number with its word: 1 answer, 2 answers."""
    return f"{count} {word}" + ("" if count == 1 else "s")


def ranked(counts):
    """Return (text, number), the most frequent first, then by alphabet."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
