"""A folder to publish: the course without answers or hidden tests.

It is made from tracked files, so it holds no history, no cache and
nothing that lies about. It is searched for secrets before it counts.
"""

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from autograder import Refusal
from autograder.course import ROOT

KEPT = (
    "assembled", "book", "experiments", "notebooks", "_config.yml",
    "_toc.yml", "book.mk", "pyproject.toml", "requirements.txt", "LICENSE",
    ".gitignore", ".github/workflows/pages.yml",
    ".github/workflows/colab.yml",
)  # fmt: skip
RENAMED = {"book.mk": "Makefile"}
README = """\
# The Transformer, Assembled

A course that builds one small transformer in symbols, in NumPy and in
PyTorch, and measures it. `make serve` builds the site and shows it at
http://localhost:8000; it needs Python 3.11 or newer. The notebooks in
`notebooks/` open in Google Colab as they are. Before you hand one in,
`python book/doctor.py my.ipynb` tells what grading will find in it.

Code is under the MIT License, text under CC BY 4.0: see `LICENSE`.
"""
SECRET = re.compile(
    r"### BEGIN (?:SOLUTION|HIDDEN TESTS)\n(.*?)### END", re.DOTALL
)
IN_WORDS = re.compile(
    r'^# %% \[markdown\] nbgrader=.*"solution": true.*\n((?:#.*\n)+)',
    re.MULTILINE,
)
TELLING = 45  # characters; a shorter line may stand in a page by chance


def add_arguments(parser):
    """Options of `student-edition`."""
    parser.add_argument(
        "folder", type=Path, help="where to; must not exist, or be one of ours"
    )


def run(args):
    """Write the edition; say where it is."""
    files = write(args.folder.resolve())
    facts = {"files": files, "folder": str(args.folder)}
    text = "student edition: {files} files in {folder}, no answers"
    print(json.dumps(facts) if args.json else text.format(**facts))
    return 0


def write(folder):
    """Write the edition into `folder`; return the number of files.

    An earlier edition there is replaced, another folder is not. Raises
    Refusal, and leaves what was there, if a secret would be published.
    """
    label = folder / "README.md"
    ours = label.exists() and label.read_text("utf-8") == README
    if folder.exists() and not ours:
        raise Refusal(
            f"{folder} exists and is no student edition; name a folder "
            "that does not exist yet."
        )
    with tempfile.TemporaryDirectory() as scratch:
        new = Path(scratch) / "edition"
        copy(tracked(), new)
        refuse_secrets(new, secrets())
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(new, folder)
        return sum(path.is_file() for path in new.rglob("*"))


def tracked():
    """Return the kept files that git tracks, relative to the root."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *KEPT],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        raise Refusal(
            "the student edition is made from the files that git tracks; "
            "run it in the course's git checkout."
        )
    return sorted(name for name in listed.stdout.split("\0") if name)


def copy(names, folder):
    """Copy files, a few under another name, and add the README."""
    for name in names:
        target = folder / RENAMED.get(name, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    (folder / "README.md").write_text(README, encoding="utf-8")


def secrets():
    """Return the telling lines of every answer and hidden test."""
    lines = set()
    for path in (ROOT / "solutions").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for region in SECRET.findall(text) + IN_WORDS.findall(text):
            lines |= {line.strip(" #") for line in region.splitlines()}
    return {line for line in lines if len(line) >= TELLING}


def refuse_secrets(folder, lines):
    """Raise Refusal if a file under `folder` holds one of the lines."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        text = path.read_text(encoding="utf-8", errors="replace")
        found = next((line for line in lines if line in text), None)
        if found or SECRET.search(text):
            raise Refusal(
                f"{path.relative_to(folder)} holds a line of an answer or "
                f"hidden test ({(found or 'a marked region')[:60]!r}); "
                "nothing was written."
            )
