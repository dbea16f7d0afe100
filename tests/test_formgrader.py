"""Marking by hand, in nbgrader's formgrader and a real browser."""

import csv
import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from playwright.sync_api import sync_playwright
from test_site import FLAGS, NAMES, without_browser
from traitlets.config import Config

from autograder import preprocessors, sandbox
from autograder.__main__ import main
from autograder.course import ROOT, Course
from autograder.release import release
from autograder.sample_class.command import grade_sample
from autograder.source import source_notebook

TOKEN, ANSWER = "a-token-for-one-test", "does-it-follow"
STUDENT = "ada-moss"
SOURCES = sorted((ROOT / "solutions").glob("*/*.py"))
MODEL = "every Post-LN path meets L"  # stands in the course's own answer
PAGE = "The course's answer"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_a_question_in_words_states_its_rubric(path):
    """The statement, which formgrader shows above the answer, has it."""
    cells = source_notebook(path).cells
    by_hand = [
        (above.source, cell.metadata.nbgrader.points)
        for above, cell in itertools.pairwise(cells)
        if cell.cell_type == "markdown"
        and cell.metadata.get("nbgrader", {}).get("grade")
    ]
    assert by_hand
    for statement, points in by_hand:
        rows = re.findall(r"(?m)^\| (\d+) \| .+ \|$", statement)
        assert sum(map(int, rows)) == points


def test_only_formgrader_shows_the_course_s_answer(tmp_path, monkeypatch):
    course = Course(tmp_path, tmp_path / "source", tmp_path / "notebooks")
    release("symbols", course.released, course.source)
    monkeypatch.setattr(preprocessors.session, "course", course)
    config = preprocessors.configure_autograde(Config())
    exporter = HTMLExporter(config=config)
    path = course.released / "symbols" / "beginner.ipynb"
    notebook = nbformat.read(path, as_version=4)
    names = {"assignment_id": "symbols", "notebook_id": "beginner"}
    page, _ = exporter.from_notebook_node(notebook, dict(names))
    assert PAGE not in page and MODEL not in page
    names["submission_id"] = "1"  # formgrader's handler sets this
    page, _ = exporter.from_notebook_node(notebook, names)
    assert PAGE in page and MODEL in page
    assert page.index(PAGE) > page.index("Which measurement would settle it")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A class of one, graded, with an answer in words that waits."""
    if not sandbox.installed():
        pytest.skip("bubblewrap is not installed")
    home = tmp_path_factory.mktemp("marking")
    release("symbols", home / "notebooks", home / "source")
    grade_sample(
        home, 1, [STUDENT], source=home / "source",
        released=home / "notebooks",
    )  # fmt: skip
    return Course(home / "class", home / "source", home / "notebooks")


CONFIG = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from autograder import preprocessors
from autograder.course import Course, configure
place = Course(Path({classroom!r}), Path({source!r}))
preprocessors.session.course = place
preprocessors.configure_autograde(configure(get_config(), place))
"""


@pytest.fixture(scope="module")
def server(place, tmp_path_factory):
    """Start Jupyter as the guide says; give its address."""
    shutil.copy(ROOT / "autograder/jupyter_server_config.py", place.classroom)
    (place.classroom / "nbgrader_config.py").write_text(
        CONFIG.format(
            root=str(ROOT), classroom=str(place.classroom),
            source=str(place.source),
        )
    )  # fmt: skip
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = str(tmp_path_factory.mktemp("home"))
    process = subprocess.Popen(
        [Path(sys.prefix) / "bin" / "jupyter", "server", "--no-browser",
         "--allow-root", "--ip=127.0.0.1", f"--port={port}"],
        cwd=place.classroom, start_new_session=True,
        env={**os.environ, "HOME": home, "JUPYTER_TOKEN": TOKEN},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_for(port)
        yield f"http://localhost:{port}"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(port):
    """Wait until somebody listens."""
    deadline = time.monotonic() + 120
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert time.monotonic() < deadline, "jupyter did not start"
            time.sleep(0.1)


@pytest.mark.slow
def test_a_mark_given_in_the_browser_reaches_csv_and_student(
    place, server, capsys
):
    found = [path for path in map(shutil.which, NAMES) if path]
    if not found:
        without_browser(f"none of {', '.join(NAMES)} is on the PATH")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found[0], args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(60_000)
        page.goto(f"{server}/formgrader")
        page.fill("input[name=password]", TOKEN)
        page.click("#login_submit")
        page.click("text=Manual Grading")
        page.click("text=symbols")
        page.click("text=beginner")
        page.click("text=Submission #1")
        card = page.locator(f".nbgrader_cell:has(#{ANSWER})")
        card.wait_for()
        shown = page.locator("main").inner_text()
        rubric = shown.index("a measurement that can be carried out")
        model = shown.index(PAGE)
        assert rubric < shown.index("Student's answer", rubric) < model
        assert MODEL in shown[model:]
        with page.expect_response("**/api/grade/*") as reply:
            card.locator("input.score").fill("3")
            card.locator("textarea.comment").focus()
        assert reply.value.ok
        with page.expect_response("**/api/comment/*") as reply:
            card.locator("textarea.comment").fill("The scope is right.")
            card.locator("input.score").focus()
        assert reply.value.ok
        browser.close()
    options = ["--classroom", str(place.classroom)]
    options += ["--source", str(place.source)]
    for command in ("export", "feedback"):
        assert main([command, *options]) == 0
    capsys.readouterr()
    with (place.grades / "exercises.csv").open() as file:
        rows = {row["exercise"]: row for row in csv.DictReader(file)}
    assert float(rows[ANSWER]["score"]) == 3
    html = (place.feedback / STUDENT / "symbols/beginner.html").read_text()
    assert ">3 / 4</span>" in html
    assert "The scope is right." in html
    assert PAGE not in html and MODEL not in html
    for path in place.autograded.rglob("*.ipynb"):
        assert MODEL not in path.read_text("utf-8")
