"""Files as platforms, systems and attackers make them, and what is said.

The guide's table is the corpus of names; CORPUS below is that of contents.
"""

import io
import json
import random
import re
import struct
import subprocess
import sys
import zipfile

import pytest
from test_intake import notebook, packed

from autograder import archives, outputs
from autograder.__main__ import main
from autograder.course import ROOT
from autograder.identity import released_notebooks
from autograder.intake import Intake, read_roster
from autograder.naming import safe_id

GUIDE = (ROOT / "autograder" / "README.md").read_text("utf-8")
SECTION = GUIDE.split("## What `collect` takes")[1].split("\n## ")[0]
ROWS = re.findall(r"(?m)^\| (.+?) \| `(.+)` \| (\w+): (.+) \|$", SECTION)


@pytest.fixture
def collect(tmp_path):
    """Collect an inbox of {path: bytes}; return its entries."""
    folder = tmp_path / "notebooks" / "symbols"
    folder.mkdir(parents=True)
    for level in ("beginner", "advanced"):
        path = folder / f"{level}.ipynb"
        path.write_bytes(notebook(level, answer=""))
    known = released_notebooks(tmp_path / "notebooks")

    def run(files, **options):
        for name, data in files.items():
            path = tmp_path / "inbox" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        intake = Intake(tmp_path / "class", known, **options)
        return intake.collect(sorted((tmp_path / "inbox").iterdir()))

    run.classroom = tmp_path / "class"
    return run


def file_at(path, data):
    """Return {file: bytes}; a part of the path that ends in .zip is packed."""
    before, mark, inside = path.partition(".zip/")
    if not mark:
        return {path: data}
    return {f"{before}.zip": packed(file_at(inside, data))}


def test_the_table_is_read():
    assert len(ROWS) == SECTION.count("\n|") - 2 >= 22


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_guide_s_table_is_true(collect, row):
    _, path, fate, words = row
    (entry,) = collect(file_at(path, notebook()), teams={"red": "ann"})
    assert entry.fate == fate
    if fate == "taken":
        assert (entry.student, entry.level) == (words, "beginner")
    else:
        assert words in entry.note


# --- contents ---------------------------------------------------------------


def squeezed(members):
    """Bytes of a compressed zip archive of {name: bytes}."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def spelled(as_bytes):
    """An archive of one member whose name has these bytes and no flag."""
    ascii_name = "#" * len(as_bytes)
    data = packed({f"{ascii_name}/b.ipynb": notebook()})
    return data.replace(ascii_name.encode(), as_bytes)


def changed(value, central, local=None):
    """An archive of one member, some bytes of its headers overwritten."""
    data = bytearray(packed({"jane/b.ipynb": notebook()}))
    start = data.index(b"PK\1\2") + central
    data[start : start + len(value)] = value
    if local is not None:
        data[local : local + len(value)] = value
    return bytes(data)


def listed_twice():
    """An archive whose one member is listed twice, as bombs do."""
    data = packed({"jane/b.ipynb": notebook()})
    start, end = data.index(b"PK\1\2"), data.index(b"PK\5\6")
    entry, tail = data[start:end], bytearray(data[end:])
    tail[8:12] = struct.pack("<HH", 2, 2)
    tail[12:16] = struct.pack("<I", 2 * len(entry))
    return data[:start] + entry * 2 + bytes(tail)


def two_of_a_name():
    """An archive with two different members of the same name."""
    other = notebook(answer="x = 2")
    data = packed({"jane/a.ipynb": notebook(), "jane/b.ipynb": other})
    return data.replace(b"jane/b.ipynb", b"jane/a.ipynb")


ZIP = "s.zip"
JOSE = "Jose\u0301", "Jos\u00e9"
GOOD = notebook()
CORPUS = {
    "accents apart and composed": (
        {"a.zip": packed({f"{JOSE[0]}/b.ipynb": GOOD}),
         "b.zip": packed({f"{JOSE[1]}/b.ipynb": GOOD})},
        ["kept jose: a copy", "taken jose"],
    ),
    "from right to left": (
        {ZIP: packed({"سارة/b.ipynb": GOOD})}, ["taken سارة"],
    ),
    "a sign that turns text around": (
        {ZIP: packed({"jane\u202edoe/b.ipynb": GOOD})}, ["taken jane-doe"],
    ),
    "an emoji in the name": (
        {ZIP: packed({"Jane 🙂/b.ipynb": GOOD})}, ["taken jane"],
    ),
    "an emoji for a name": (
        {ZIP: packed({"🙂/b.ipynb": GOOD})}, ["refused: no student's name"],
    ),
    "a device of Windows": (
        {ZIP: packed({"CON/b.ipynb": GOOD, "nul.x/b.ipynb": GOOD})},
        ["taken student-con", "taken student-nul.x"],
    ),
    "letters that Windows forbids": (
        {ZIP: packed({'Jane: "Q" <x>|?*/b.ipynb': GOOD})}, ["taken jane-q-x"],
    ),
    "dots at the end": (
        {ZIP: packed({"jane.../b.ipynb": GOOD})}, ["taken jane"],
    ),
    "a name of 900 bytes": (
        {ZIP: packed({f"{'é' * 450}/b.ipynb": GOOD})}, [f"taken {'e' * 80}"],
    ),
    "UTF-8 without its flag": (
        {ZIP: spelled("José".encode())}, ["taken jose"],
    ),
    "the letters of DOS": (
        {ZIP: spelled(b"Jos\x82")}, ["taken jose: not in UTF-8"],
    ),
    "the letters of Japanese Windows": (
        {ZIP: spelled("田中".encode("cp932"))}, ["taken: not in UTF-8"],
    ),
    "names that lead elsewhere": (
        {ZIP: packed({
            "../../b.ipynb": GOOD, "jane\\..\\..\\b.ipynb": GOOD,
            "/etc/b.ipynb": GOOD, "C:\\b.ipynb": GOOD,
            "\\\\host\\b.ipynb": GOOD,
        })},
        ["refused: climbs out", "refused: climbs out", "refused: absolute",
         "refused: absolute", "refused: absolute"],
    ),
    "a password": (
        {ZIP: changed(b"\1", 8, 6)}, ["refused: a password"],
    ),
    "a size that lies low": (
        {ZIP: changed(struct.pack("<I", 99), 24)},
        ["refused: damaged inside"],
    ),
    "a size that lies high": (
        {ZIP: changed(struct.pack("<I", 2**30), 24)},
        ["refused: 1024.0 MiB"],
    ),
    "one member listed twice": (
        {ZIP: listed_twice()},
        ["refused: overlaps another", "refused: overlaps another"],
    ),
    "two members of one name": (
        {ZIP: two_of_a_name()},
        ["kept jane: an earlier attempt", "taken jane"],
    ),
    "a bomb": (
        {ZIP: squeezed({"jane/b.ipynb": bytes(2**23)})}, ["refused: expands"],
    ),
    "7z and rar by another name": (
        {"a.zip": b"7z\xbc\xaf'\x1c\0\4", "b.zip": b"Rar!\x1a\7\1\0"},
        ["refused: a 7z archive", "refused: a rar archive"],
    ),
    "an empty archive": (
        {"a.zip": packed({}), "b.zip": packed({"jane/": b""}), "c.zip": b""},
        ["refused: without a file", "refused: without a file",
         "refused: not a zip"],
    ),
    "an archive cut off": (
        {ZIP: packed({"jane/b.ipynb": GOOD})[:-40]}, ["refused: not a zip"],
    ),
    "folders of the system": (
        {ZIP: packed({"jane/desktop.ini": b"", "jane/.DS_Store": b"",
                      "__MACOSX/jane/._b.ipynb": GOOD})},
        ["refused: the operating system's"] * 3,
    ),
    "another course's notebook": (
        {ZIP: packed({"jane/b.ipynb": GOOD.replace(b"symbols", b"poetry"),
                      "jane/c.ipynb": b'{"cells": []}'})},
        ["refused: poetry/beginner is not released",
         "refused: none of this course's"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CORPUS)
def test_every_file_is_reported(collect, name):
    files, expected = CORPUS[name]
    entries = collect(files)
    assert len(entries) == len(expected)
    for entry, line in zip(entries, expected, strict=True):
        head, _, words = line.partition(": ")
        fate, _, student = head.partition(" ")
        assert entry.fate == fate, entry
        assert words in entry.note
        if student:
            assert entry.student == student


def test_ids_of_folders_are_safe_everywhere():
    for name in ("a" * 999, "com1", "..", "x.", "a/b", "a\0b", "-rf"):
        folder = safe_id(name)
        assert len(folder.encode()) <= 200
        assert folder in ("", "a-b") or folder[-1].isalnum()
        assert folder not in ("com1", "..")
        assert not folder.startswith("-")


def test_a_roster_names_gradescope_s_folders(collect, tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text("id,gradescope\njane,submission_345\n")
    file = "assignment_12_export/submission_345/b.ipynb"
    (entry,) = collect({file: GOOD}, roster=read_roster(path))
    assert (entry.fate, entry.student) == ("taken", "jane")


# --- big files --------------------------------------------------------------


def with_outputs(*texts):
    """A notebook with outputs that hold these texts."""
    document = json.loads(GOOD)
    for text in texts:
        document["cells"].append({
            "cell_type": "code", "source": ['print("outputs": [)', text[:99]],
            "outputs": [{"text": [text, "]", '"outputs": [']}],
        })  # fmt: skip
    return json.dumps(document).encode()


def test_outputs_are_left_out_and_nothing_else():
    data = with_outputs("]", '\\"]', "[[", "é" + "\\")
    left = json.loads(outputs.without_outputs(bytearray(data), 2**20))
    document = json.loads(data)
    for cell in document["cells"]:
        if "outputs" in cell:
            cell["outputs"] = []
    assert left == document


@pytest.mark.parametrize(
    "data", [b'{"outputs": [', b'{"outputs": ["a\\', b'{"outputs": ["a', b""]
)
def test_a_list_that_never_ends_is_cut_off(data):
    left = outputs.without_outputs(bytearray(data), 2**20)
    assert left == data[: len(b'{"outputs": [')]


def test_a_big_notebook_is_kept_without_its_outputs(collect):
    text = "A" * archives.SLIM
    (entry,) = collect({"jane/b.ipynb": with_outputs(text, "x")})
    assert entry.fate == "taken"
    assert "its outputs, 2 MiB, left out" in entry.note
    for path in collect.classroom.rglob("*.ipynb"):
        assert path.stat().st_size < 2 * archives.SLIM
        cells = json.loads(path.read_bytes())["cells"]
        assert not any(cell.get("outputs") for cell in cells)


# VmHWM, not getrusage: that counts what the parent had when it forked
MEASURED = """
import json, re, sys
from pathlib import Path
from autograder.identity import released_notebooks
from autograder.intake import Intake
home = Path(sys.argv[1])
intake = Intake(home / "class", released_notebooks(home / "notebooks"))
entries = intake.collect([home / "inbox"])
status = Path("/proc/self/status").read_text()
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1])
print(json.dumps([peak, [(e.file, e.fate, e.note) for e in entries]]))
"""
MIB = 2**20


def million_members(path):
    """An archive that lists a million empty members."""
    entry = bytearray(packed({"j/b.ipynb": b""}))
    start, end = entry.index(b"PK\1\2"), entry.index(b"PK\5\6")
    one, tail = entry[start:end], entry[end:]
    tail[8:12] = struct.pack("<HH", 0xFFFF, 0xFFFF)
    tail[12:16] = struct.pack("<I", 10**6 * len(one))
    path.write_bytes(entry[:start] + one * 10**6 + tail)


def big_inbox(inbox):
    """Files that cost memory if anything holds them twice, or expands."""
    block = random.Random(0).randbytes(8000).hex()  # expands 80 times
    picture = (block * (100 * MIB // len(block) + 1))[: 100 * MIB]
    plot = with_outputs(picture)
    for name, data in (
        ("ann/b.ipynb", plot),
        ("bob/b.ipynb", notebook(answer=picture)),
        ("cid/b.ipynb", b'{"cells": [{"outputs": [' + b"[" * (90 * MIB)),
        ("dee/b.ipynb", b'{"cells": [' + b"0," * (9 * MIB)),
    ):
        (inbox / name).parent.mkdir(parents=True)
        (inbox / name).write_bytes(data)
    with zipfile.ZipFile(inbox / "stored.zip", "w") as archive:
        archive.writestr("eve/b.ipynb", plot)
    inner = squeezed({"fay/b.ipynb": plot})
    nested = packed({"x.zip": inner, "y.zip": inner})
    (inbox / "nested.zip").write_bytes(nested)
    million_members(inbox / "million.zip")


@pytest.mark.slow
def test_big_files_and_bombs_cost_little_memory(tmp_path):
    folder = tmp_path / "notebooks" / "symbols"
    folder.mkdir(parents=True)
    (folder / "beginner.ipynb").write_bytes(notebook(answer=""))
    big_inbox(tmp_path / "inbox")
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, tmp_path],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    peak, entries = json.loads(done.stdout)
    told = {file.partition("inbox/")[2]: rest for file, *rest in entries}
    assert told["ann/b.ipynb"] == ["taken", "its outputs, 100 MiB, left out"]
    assert "100.0 MiB; at most 20" in told["bob/b.ipynb"][1]
    assert told["stored.zip › eve/b.ipynb"][0] == "taken"
    assert told["nested.zip › x.zip › fay/b.ipynb"][0] == "kept"
    assert told["nested.zip › y.zip › fay/b.ipynb"][0] == "taken"
    assert "more members" in told["million.zip"][1]
    assert peak / 1024 <= 300, f"{peak / 1024:.0f} MiB"


def test_the_command_reports_every_file_as_json(tmp_path, capsys):
    for name in ("a.zip", "notes.txt"):
        (tmp_path / name).write_bytes(packed({}))
    assert main(["collect", str(tmp_path), "--json", "--dry-run"]) == 2
    facts = json.loads(capsys.readouterr().out)
    assert [f["note"] for f in facts["files"]] == [
        "an archive without a file in it", "not a notebook",
    ]  # fmt: skip
