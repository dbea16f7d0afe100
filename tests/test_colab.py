"""The notebooks run where only Colab's own packages are installed."""

import json
import re
import shutil
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.course import ROOT
from autograder.release import assignments
from autograder.source import source_notebook

PACKAGES = ("numpy", "sympy", "torch", "matplotlib", "ipykernel")
NEWER = [f"python3.{minor}" for minor in range(20, 11, -1)]


def _pins():
    text = (ROOT / "requirements.txt").read_text()
    return re.findall(rf"(?m)^(?:{'|'.join(PACKAGES)})==\S+$", text)


def _newer():
    """Return the newest working interpreter on the PATH, from 3.12 up."""
    for found in filter(None, map(shutil.which, NEWER)):
        run = subprocess.run([found, "-c", ""], capture_output=True)
        if run.returncode == 0:
            return found
    return None


def _environment(python, version):
    """Return the interpreter of a venv with PACKAGES alone, made once."""
    folder = ROOT / "_build" / f"colab-venv-{version}"
    inside, mark = folder / "bin" / "python", folder / "pins.txt"
    wanted = "\n".join(_pins())
    if not mark.exists() or mark.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", folder], check=True)
        done = subprocess.run(
            [inside, "-m", "pip", "install", "--quiet", *_pins()],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            pytest.fail(
                f"pip could not install {', '.join(_pins())} for Python "
                f"{version}: {done.stderr[-600:]}"
            )
        mark.write_text(wanted)
    return inside


def _answered(path):
    """Return the released notebook with the reference answers put in."""
    notebook = nbformat.read(path, as_version=4)
    source = ROOT / "solutions" / path.parent.name / f"{path.stem}.py"
    answers = {c.id: c.source for c in source_notebook(source).cells}
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = answers[cell.id]
    return notebook


def _no_library(python, folder):
    """The library is an answer key, so it must not be there."""
    code = "import importlib.util as u; print(u.find_spec('assembled'))"
    found = subprocess.check_output([python, "-c", code], cwd=folder)
    assert found.strip() == b"None"


def _version(python):
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.check_output([python, "-c", code], text=True).strip()


@pytest.mark.slow
@pytest.mark.parametrize("which", ["this Python", "a newer Python"])
def test_the_answered_notebooks_run(which, tmp_path, monkeypatch):
    python = sys.executable if which == "this Python" else _newer()
    if python is None:
        pytest.skip("there is no working Python 3.12 or newer on the PATH")
    inside = _environment(python, _version(python))
    _no_library(inside, tmp_path)
    spec = tmp_path / "kernels" / "colab"
    spec.mkdir(parents=True)
    argv = [str(inside), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.joinpath("kernel.json").write_text(
        json.dumps({"argv": argv, "display_name": "c", "language": "python"})
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    for assignment in assignments():
        for path in sorted((ROOT / "notebooks" / assignment).glob("*.ipynb")):
            client = NotebookClient(
                _answered(path), kernel_name="colab", timeout=120,
                resources={"metadata": {"path": str(tmp_path)}},
            )
            client.execute()


@pytest.mark.slow
def test_a_wrong_answer_shows_its_sentence_alone():
    notebook = _answered(ROOT / "notebooks" / "symbols" / "beginner.ipynb")
    for cell in notebook.cells:
        if cell.id == "rms-norm-push":
            cell.source = "def rms_norm_push(x, gain, eps, v):\n    pass"
    NotebookClient(notebook, kernel_name="python3", allow_errors=True
                   ).execute()
    shown = {c.id: c.get("outputs") for c in notebook.cells}
    error = shown["rms-norm-push-check"][0]
    assert error.traceback == [
        "Not yet: rms_norm_push of the small case is None: does the "
        "function end in `return`?"
    ]
