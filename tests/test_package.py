"""The house: three faces with one list of files, that stay apart."""

import ast
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import assembled

PACKAGE = Path(assembled.__file__).parent
ROOT = PACKAGE.parent
FACES = ("symbolic", "reference", "gpu")
OWN = {  # what one face has and the others do not
    "symbolic": {"proof"},
    "reference": {"optimizer", "training"},
    "gpu": {"precision"},
}
NEEDED = ("numpy", "jaxtyping")


def modules(face):
    """Return the names of a face's files, its own ones left out."""
    names = {path.stem for path in (PACKAGE / face).glob("*.py")}
    return names - {"__init__"} - OWN[face]


def imported(path):
    """Return every module that a file imports, by its full name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            names.add(node.module)
    return names


def strangers(face, names):
    """Return those of `names` that lie in another face."""
    others = tuple(f"assembled.{f}" for f in FACES if f != face)
    return sorted(n for n in names if n.startswith(others))


def test_the_faces_hold_the_same_files():
    assert modules("symbolic") == modules("reference") == modules("gpu")
    for face, names in OWN.items():
        assert all((PACKAGE / face / f"{n}.py").exists() for n in names)


@pytest.mark.parametrize("face", FACES)
def test_no_face_imports_another(face):
    for path in (PACKAGE / face).glob("*.py"):
        assert not strangers(face, imported(path)), path.name


def test_an_import_of_another_face_is_seen():
    assert strangers("gpu", {"assembled.reference.norm", "assembled.gpu.norm"})


def test_nothing_in_the_library_imports_grading_or_exercises():
    forbidden = {"nbgrader", "autograder", "solutions", "book"}
    for path in PACKAGE.rglob("*.py"):
        roots = {name.split(".")[0] for name in imported(path)}
        assert not roots & forbidden, path


@pytest.mark.slow
def test_the_library_installs_with_numpy_and_jaxtyping_alone(tmp_path):
    """In an environment that holds nothing else, the NumPy face runs."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    source = tmp_path / "source"  # a build leaves files beside its source
    shutil.copytree(PACKAGE, source / "assembled")
    shutil.copy(ROOT / "pyproject.toml", source)
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    subprocess.run([*wheel, "-w", tmp_path, source], check=True)
    install = [python, "-m", "pip", "install", "--quiet"]
    pins = (ROOT / "requirements.txt").read_text().splitlines()
    pins = [p for p in pins if p.split("==")[0] in NEEDED]
    (built,) = tmp_path.glob("assembled-*.whl")
    subprocess.run([*install, *pins, built], check=True)
    run = (
        "import numpy as np\n"
        "from assembled import Config\n"
        "from assembled.reference.model import init_params, model_forward\n"
        "config = Config()\n"
        "params = init_params(config, np.random.default_rng(0))\n"
        "tokens = np.arange(5)[None]\n"
        "print(model_forward(params, tokens, config)[0].shape)\n"
    )
    result = subprocess.run(
        [python, "-I", "-c", run],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert result.stdout.strip() == "(1, 5, 256)"
