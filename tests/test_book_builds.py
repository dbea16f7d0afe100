"""A small book through the course's own extensions: what runs again, what
fails, and what the build says. And the workflows that publish the real one.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from book._ext import freshness
from book._ext.links import dead_links

ROOT = Path(__file__).parent.parent
FRONT = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  name: python3
  display_name: Python 3
---

# A page

```{code-cell} python3
%s
```
"""


@pytest.fixture
def tree(tmp_path):
    """A library of three modules, one data file, a page that uses them."""
    files = {
        "requirements.txt": "# pins\nnumpy==2\n",
        "assembled/__init__.py": "",
        "assembled/inner.py": "def two():\n    return 2\n",
        "assembled/outer.py": "from .inner import two\n\nFOUR = 2 * two()\n",
        "assembled/apart.py": "UNUSED = 1\n",
        "assembled/records/table.json": "[1, 2]\n",
        "book/_data/seen.json": "[3]\n",
        "book/_static/course.css": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(("changed", "again"), [
    ("assembled/inner.py", True),  # imported by what the page imports
    ("assembled/__init__.py", True),
    ("assembled/apart.py", False),
    ("book/_data/seen.json", True),  # named in a cell
    ("assembled/records/table.json", False),
    ("requirements.txt", True),
])  # fmt: skip
def test_a_page_depends_on_what_it_imports_and_reads(tree, changed, again):
    page = FRONT % (
        "from assembled import outer\nopen('../_data/seen.json')\nouter.FOUR"
    )
    before = freshness.digest(page, tree)
    assert freshness.digest(page, tree) == before
    path = tree / changed
    path.write_text(path.read_text() + "more==1\n")
    if path.suffix == ".py":
        path.write_text(path.read_text().replace("more==1", "MORE = 1"))
    assert (freshness.digest(page, tree) != before) == again


def test_a_page_depends_on_data_that_its_modules_name(tree):
    page = FRONT % "import assembled.reads"
    (tree / "assembled/reads.py").write_text("NAME = 'records/table.json'\n")
    before = freshness.digest(page, tree)
    (tree / "assembled/records/table.json").write_text("[9]\n")
    assert freshness.digest(page, tree) != before


def test_the_stamp_moves_no_line():
    page = FRONT % "1 + 1"
    stamped = freshness.stamp(page, "abc", "page")
    assert "display_name: Python 3 (abc)" in stamped
    assert len(stamped.splitlines()) == len(page.splitlines())


def test_every_page_of_the_course_has_a_closure_in_the_library():
    page = (ROOT / "book/numbers/training.md").read_text("utf-8")
    found = {p.relative_to(ROOT).as_posix()
             for p in freshness.closure(page, ROOT)}
    assert {"assembled/config.py", "assembled/reference/norm.py",
            "assembled/reference/model.py"} <= found
    assert not any(name.startswith("assembled/gpu") for name in found)


CONFIG = f"""
title: Small
author: Tests
copyright: "2026"
repository: {{url: "https://github.com/example/book", branch: main}}
launch_buttons: {{colab_url: "https://colab.research.google.com"}}
execute: {{execute_notebooks: cache, show_tb: true}}
latex: {{use_jupyterbook_latex: false}}
sphinx:
  local_extensions: {{freshness: {ROOT}/book/_ext, course: {ROOT}/book/_ext}}
  config: {{include_patterns: ["book/**"]}}
"""


def build(tree):
    """Build as `make book` does; the exit code and all it printed."""
    done = subprocess.run(
        [Path(sys.executable).with_name("jupyter-book"), "build", tree, "-n",
         "-W", "--keep-going"],
        capture_output=True, text=True, cwd=tree,
        env={"PYTHONPATH": str(tree), "PATH": str(Path(sys.executable).parent),
             "HOME": str(tree), "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


BAR = """\
import os
from tqdm.auto import tqdm
from assembled import outer
for number in tqdm([outer.FOUR], disable="TQDM_DISABLE" in os.environ):
    print(number)
"""


@pytest.mark.slow
def test_what_changed_runs_again_and_what_failed_fails_again(tree):
    page = tree / "book/page.md"
    page.write_text(FRONT % BAR + "\nOpen {colab}`it <chapters/page>`.\n")
    (tree / "_config.yml").write_text(CONFIG)
    (tree / "_toc.yml").write_text("format: jb-book\nroot: book/page\n")
    notebook = tree / "notebooks/chapters/page.ipynb"
    notebook.parent.mkdir(parents=True)
    notebook.write_text("{}")
    html = tree / "_build/html/book/page.html"

    def shown():
        return re.search(r"</span>(\d+)\n</pre>", html.read_text())[1]

    code, said = build(tree)
    assert code == 0, said
    assert shown() == "4"
    assert "seconds in the kernel" in said and "all pages together" in said
    assert ("https://colab.research.google.com/github/example/book/blob/"
            "main/notebooks/chapters/page.ipynb") in html.read_text()
    assert "page.md" not in re.findall(r'href="([^"]*colab[^"]*)"',
                                       html.read_text())[0]
    assert "unpkg" not in html.read_text()
    assert "widget" not in html.read_text()
    address = r"https://colab\S+/page\.ipynb(?=\">it</a>)"
    assert re.search(address, html.read_text())[0].endswith(
        "/example/book/blob/main/notebooks/chapters/page.ipynb")

    code, said = build(tree)
    assert code == 0 and "no targets are out of date" in said

    inner = tree / "assembled/inner.py"
    inner.write_text(inner.read_text().replace("return 2", "return 5"))
    code, said = build(tree)
    assert (code, shown()) == (0, "10")

    page.write_text(FRONT % "print(1)\nraise ValueError('gain is zero')")
    for _ in range(2):  # the second build must not pass over the failure
        code, said = build(tree)
        assert code != 0
        assert "gain is zero" in said and "book/page.md" in said
        assert "FAILED: CellExecutionError" in said

    page.write_text(FRONT % "print(6)" + "\nSee {ref}`nowhere`.\n")
    for _ in range(2):
        code, said = build(tree)
        assert code != 0 and "nowhere" in said

    page.write_text(FRONT % "print(6)" + "\nOpen {colab}`it <none>`.\n")
    code, said = build(tree)
    assert code != 0 and "there is no notebooks/none.ipynb" in said

    (tree / "_config.yml").write_text(CONFIG.replace("example", "moved"))
    page.write_text(FRONT % "print(6)" + "\nOpen {colab}`it <chapters/page>`.")
    code, said = build(tree)
    (tree / "_config.yml").write_text(CONFIG)
    code, said = build(tree)  # the page is not read again, and yet right
    assert code == 0, said
    assert "moved/book" not in html.read_text()


def test_dead_links_are_named(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">x</a><a href="b.html#gone">y</a>'
        '<img src="no.png"><a href="https://example.org/none">z</a>'
    )
    (tmp_path / "b.html").write_text('<p id="here"></p>')
    assert dead_links(tmp_path) == [
        "a.html: b.html#gone leads nowhere", "a.html: no.png leads nowhere",
    ]


def workflow_steps():
    """Every shell command of every workflow, with its file's name."""
    for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
        for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values():
            for step in job["steps"]:
                assert ("uses" in step) != ("run" in step), path
                if "run" in step:
                    yield path.name, step["run"]


def test_workflows_run_targets_that_the_makefile_has():
    makefile = "".join(
        (ROOT / name).read_text("utf-8") for name in ("Makefile", "book.mk")
    )
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    named = [
        (name, target)
        for name, run in workflow_steps()
        for target in re.findall(r"^make ([a-z -]+)$", run, re.MULTILINE)
    ]
    assert {name for name, _ in named} == {
        "colab.yml", "pages.yml", "tests.yml",
    }  # fmt: skip
    assert [t for _, run in named for t in run.split()
            if t not in targets] == []


def test_the_workflows_cover_the_supported_pythons():
    text = (ROOT / ".github/workflows/tests.yml").read_text("utf-8")
    matrix = yaml.safe_load(text)["jobs"]["test"]["strategy"]["matrix"]
    pyproject = (ROOT / "pyproject.toml").read_text("utf-8")
    oldest = re.search(r'requires-python = ">=([\d.]+)"', pyproject)[1]
    assert matrix["python"] == [oldest, "3.12", "3.13"]
