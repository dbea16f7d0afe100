"""`course.toml`: what a class sets once, and what is refused in it."""

import re

import pytest
import small_course

from autograder import Refusal, classfile, grade, settings
from autograder.__main__ import build_parser, main
from autograder.course import ROOT, Course
from autograder.policy import LATE
from autograder.policy import read as rules_of
from autograder.split import Limits

GUIDE = (ROOT / "autograder" / "README.md").read_text("utf-8")
(EXAMPLE,) = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)


def class_with(tmp_path, text):
    course = small_course.make(tmp_path)
    course.classroom.mkdir(exist_ok=True)
    (course.classroom / classfile.FILE).write_text(text)
    return course


def test_the_guide_s_example_sets_every_key(tmp_path):
    (tmp_path / classfile.FILE).write_text(EXAMPLE)
    course = Course(tmp_path, source=tmp_path / "none")
    chosen, rules = settings.read(course), rules_of(course)
    assert chosen == settings.Settings(4, Limits(60.0, 45.0, 600.0))
    assert rules.percent_a_day == 10 and "symbols" in rules.due
    facts = classfile.load(course)
    assert set(facts) == set(classfile.KEYS)
    assert set(facts["seconds"]) == set(settings.SECONDS)
    assert set(facts["late"]) == set(LATE)


def test_no_file_no_change(tmp_path):
    assert settings.read(Course(tmp_path)) == settings.Settings()
    assert settings.Settings().limits == Limits()


BAD = {
    "unknown key": ("jobs = 3", "no key jobs; there is due, gradebook, late"),
    "unknown limit": ("[seconds]\nhour = 3", "no key seconds.hour; there is"),
    "a word": ('processes = "4"', "processes is '4'; it needs a number from"),
    "half a process": ("processes = 1.5", "needs a whole number"),
    "no process": ("processes = 0", "a number from 1 to 1024"),
    "yes": ("[seconds]\ncell = true", "seconds.cell is True; it needs"),
    "no time": ("[seconds]\ntest = 0", "seconds.test is 0; it needs"),
    "endless": ("[seconds]\nnotebook = inf", "notebook is inf; it needs"),
    "no number": ("[seconds]\nnotebook = nan", "notebook is nan; it needs"),
    "no table": ("seconds = 30", "must be a table, as in [seconds]"),
    "no toml": ("processes: 3", "README.md has an example"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gets_one_sentence(tmp_path, name, capsys):
    text, told = BAD[name]
    course = class_with(tmp_path, text)
    with pytest.raises(Refusal) as refused:
        settings.read(course)
    path = str(course.classroom / classfile.FILE)
    assert told in str(refused.value)
    assert path in str(refused.value)
    assert "\n" not in str(refused.value)
    for command in ("grade", "where", "status"):
        places = ["--classroom", str(course.classroom)]
        places += ["--source", str(course.source)]
        assert main([command, *places]) == 2
        assert path in capsys.readouterr().err


def chosen(course, *options):
    """Return the settings that a call of `grade` works with."""
    args = build_parser("grade").parse_args(["grade", *options])
    return grade.settings_from(course, args)


def test_an_option_wins_over_the_file(tmp_path):
    course = class_with(
        tmp_path, "processes = 3\n[seconds]\ncell = 5\ntest = 6\n"
    )
    assert chosen(course) == settings.Settings(3, Limits(5, 6))
    options = ("-j", "7", "--cell-seconds", "8")
    assert chosen(course, *options) == settings.Settings(7, Limits(8, 6))
    for option in (("-j", "0"), ("--test-seconds", "-1")):
        with pytest.raises(Refusal, match="more than 0"):
            chosen(course, *option)


def test_where_shows_what_is_in_force(tmp_path, capsys):
    text = EXAMPLE.replace("symbols = ", "tiny = ")
    course = class_with(tmp_path, text)
    places = ["--classroom", str(course.classroom)]
    assert main(["where", *places, "--source", str(course.source)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"in force, from {course.classroom / classfile.FILE}" in said
    assert "processes 4" in said
    assert "seconds cell 60, test 45, notebook 600" in said
    assert "due tiny 2026-03-01 22:59:00 UTC" in said
    assert "late grace_minutes 15, percent_a_day 10, most_percent 50" in said
