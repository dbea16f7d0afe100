"""The gradebook in PostgreSQL, and what happens when it goes away."""

import database
import pytest
import small_course
from small_course import submission

from autograder import Refusal, address, grade, gradebook, worker
from autograder.__main__ import main

NEEDS = pytest.mark.skipif(database.BIN is None, reason=database.MISSING)


@pytest.fixture
def server():
    """A running server with an empty database."""
    server = database.Server()
    yield server
    server.remove()


def class_in(server, folder, **submissions):
    """Return a small class whose course.toml names the server."""
    course = small_course.make(folder, **submissions)
    course.classroom.mkdir(exist_ok=True)
    write(course, server.url())
    return course


def write(course, url):
    text = f'[gradebook]\nurl = "{url}"\n'
    (course.classroom / "course.toml").write_text(text)


def run(course, *words):
    """Run a command on this classroom; return its exit code."""
    places = ["--classroom", str(course.classroom)]
    return main([*words, *places, "--source", str(course.source)])


@NEEDS
@pytest.mark.slow
def test_every_command_takes_the_address_of_the_file(
    server, tmp_path, capsys
):
    course = class_in(server, tmp_path, ann=submission(), bob=submission())
    assert run(course, "grade", "-j2") == 0
    with gradebook.opened(course) as book:
        assert book.engine.dialect.name == "postgresql"
        assert book.find_submission("tiny", "ann").score == 4
        grade_of_words = book.find_grade("why", "beginner", "tiny", "ann")
        grade_of_words.manual_score = 3
        book.db.commit()
    assert run(course, "export") == 0
    text = (course.grades / "grades.csv").read_text()
    assert "ann,tiny,beginner,7.0,7.0,graded" in text
    assert run(course, "grade", "--force", "--student", "ann") == 0
    (result,) = (r for r in grade.grade(course) if r["student"] == "ann")
    assert result["score"] == 7
    assert run(course, "remove", "bob", "--yes") == 0
    with gradebook.opened(course) as book:
        assert [s.id for s in book.students] == ["ann"]
    assert not list(course.classroom.glob("gradebook.db*"))
    said = capsys.readouterr()
    files = [p for p in course.grades.rglob("*") if p.is_file()]
    told = said.out + said.err + "".join(p.read_text() for p in files)
    assert "canary-password" not in told


@NEEDS
@pytest.mark.slow
def test_a_short_outage_costs_nothing(server, tmp_path, monkeypatch):
    course = class_in(server, tmp_path, ann=submission(), bob=submission())
    honest, slept = gradebook.scores_once, []

    def stopped(*args):
        if not slept:
            server.stop("immediate")
        return honest(*args)

    def sleep(seconds):
        slept.append(seconds)
        if len(slept) == 2:
            server.start()

    monkeypatch.setattr(gradebook, "scores_once", stopped)
    monkeypatch.setattr(gradebook, "sleep", sleep)
    results = grade.grade(course)
    assert [(r["status"], r["score"]) for r in results] == [("graded", 4)] * 2
    assert len(slept) == 2


@NEEDS
@pytest.mark.slow
def test_a_long_outage_fails_with_a_reason_and_a_rerun_mends_it(
    server, tmp_path, monkeypatch
):
    names = ("ann", "bob", "cat")
    course = class_in(server, tmp_path, **{n: submission() for n in names})
    monkeypatch.setattr(gradebook, "PAUSES_S", (0.01,))
    honest = worker.autograde

    def lost(place, job, notebook):
        if job.student == "bob":
            server.stop()
        honest(place, job, notebook)

    monkeypatch.setattr(worker, "autograde", lost)
    first = grade.grade(course)
    assert [r["status"] for r in first] == ["graded", "failed", "failed"]
    for result in first[1:]:
        assert "the gradebook postgresql+psycopg2" in result["reason"]
        assert "cannot be used" in result["reason"]
        assert "canary-password" not in result["reason"]
    with pytest.raises(Refusal, match="cannot be used"):
        grade.grade(course)
    server.start()
    monkeypatch.setattr(worker, "autograde", honest)
    second = grade.grade(course)
    assert [r["score"] for r in second] == [4] * 3
    assert second[0] == first[0]


@NEEDS
@pytest.mark.slow
def test_a_connection_that_breaks_while_it_is_used(server, tmp_path):
    course = class_in(server, tmp_path, ann=submission())
    gradebook.prepare(course, "tiny", ["ann"])
    with pytest.raises(gradebook.Away), gradebook.opened(course) as book:
        server.stop("immediate")
        book.find_student("ann")


BAD = {
    "bare": ("postgresql://u:canary@h/d", "starts with postgresql;"),
    "another": ("mysql://u:canary@h/d", "starts with mysql;"),
    "no address": ("u:canary@h", "gradebook.url is no address;"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_address_gets_one_sentence(name, tmp_path, capsys):
    url, told = BAD[name]
    course = small_course.make(tmp_path, ann=submission())
    write(course, url)
    for words in (["grade"], ["remove", "ann"]):
        assert run(course, *words) == 2
        err = capsys.readouterr().err
        assert told in err
        assert address.FORM in err
        assert "canary" not in err
        assert err.count("\n") == 1


def test_an_unknown_key_is_refused(tmp_path, capsys):
    course = small_course.make(tmp_path, ann=submission())
    (course.classroom / "course.toml").write_text('[gradebook]\nuri = "x"\n')
    assert run(course, "grade") == 2
    assert "no key gradebook.uri; there is url" in capsys.readouterr().err


def test_no_password_is_shown():
    base = "postgresql+psycopg2://ann:secret@host/marks"
    for url in (base, f"{base}?password=secret&host=h"):
        assert "secret" not in address.shown(url)
        assert "host" in address.shown(url)


def test_patience_ends_once_and_comes_back(monkeypatch):
    slept, away = [], [True]

    def ask():
        if away[0]:
            raise gradebook.Away("gone")
        return "here"

    monkeypatch.setattr(gradebook, "sleep", slept.append)
    for _ in range(2):  # the second time it does not wait
        with pytest.raises(gradebook.Away):
            gradebook.persist(ask)
        assert slept == list(gradebook.PAUSES_S)
    away[0] = False
    assert gradebook.persist(ask) == "here"
    assert not gradebook.given_up.is_set()


def test_only_what_may_pass_is_tried_again(tmp_path):
    course = small_course.make(tmp_path, ann=submission())
    with pytest.raises(Refusal) as caught, gradebook.opened(course):
        raise gradebook.sqlalchemy.exc.OperationalError(
            "INSERT", {}, Exception("database or disk is full")
        )
    assert not isinstance(caught.value, gradebook.Away)
    assert "cannot be used: database or disk is full" in str(caught.value)
