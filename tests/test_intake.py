"""Every file that arrives finds its place, or its reason is said."""

import io
import json
import os
import stat
import zipfile

import pytest

from autograder import Refusal, archives
from autograder.__main__ import main
from autograder.identity import Unreadable, parse, released_notebooks
from autograder.intake import Intake, exit_code, read_roster
from autograder.naming import own_name, read_name, safe_id

NOW = (2026, 1, 30, 15, 0, 0)
LONG = "Derive the Jacobian of this block, term by term, for a depth of "


def notebook(level="beginner", answer="x = 1", metadata=True, locked=True):
    """Bytes of a small notebook, as a student would save it."""
    cells = [f"{LONG}{level} {i}" for i in range(3)] + [answer]
    if locked:
        cells.insert(0, f"Assignment symbols/{level}, version 1")
    ours = {"assignment": "symbols", "notebook": level}
    meta = {"assembled": ours} if metadata else {}
    body = [{"cell_type": "raw", "source": [c]} for c in cells]
    return json.dumps({"metadata": meta, "cells": body}).encode()


def packed(members, date=NOW):
    """Bytes of a zip archive of {name: bytes}."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name, date), data)
    return buffer.getvalue()


@pytest.fixture
def collect(tmp_path):
    """Write files into a fresh inbox, collect it; entries by file."""
    for level in ("beginner", "advanced"):
        path = tmp_path / "notebooks" / "symbols" / f"{level}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(notebook(level, answer=""))
    known = released_notebooks(tmp_path / "notebooks")

    def run(files, folder="inbox", roster=None):
        for name, data in files.items():
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        intake = Intake(tmp_path / "class", known, roster)
        return intake.collect([tmp_path / folder])

    run.classroom = tmp_path / "class"
    return run


def graded(classroom):
    """Every submission to be graded, as "student/assignment/level"."""
    root = classroom / "submitted"
    found = root.rglob("*.ipynb") if root.exists() else ()
    return sorted(str(p.relative_to(root))[:-6] for p in found)


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("doejane_1234_5678_beginner-1.ipynb", "doejane"),
        ("doejane_LATE_1234_5678_Copy of beginner.ipynb", "doejane"),
        ("Jane Doe_77_assignsubmission_file_/b.ipynb", "jane-doe"),
        ("Jane Doe_77_assignsubmission_file_beginner.ipynb", "jane-doe"),
        ("PS 1_jdoe.2_attempt_2026-01-30-15-00-00_b.ipynb", "jdoe.2"),
        ("12-34 - Jane Doe - Jan 30, 2026 300 PM/b.ipynb", "jane-doe"),
        ("12-34 - Jane Doe-Roe - Sept 3, 2026 11:05 AM/b.ipynb",
         "jane-doe-roe"),
        ("Jane Doe - Copy of beginner.ipynb", "jane-doe"),
        ("José Núñez/beginner (1).ipynb", "jose-nunez"),
        ("李雷/Kopie von beginner.ipynb", "李雷"),
        ("jdoe/symbols/beginner/Untitled.ipynb", "jdoe"),
        ("beginner_jane_doe (2).ipynb", "jane-doe"),
    ],
)  # fmt: skip
def test_student_from_the_names(collect, name, student):
    collect({name: notebook()}, folder="Downloads")
    assert graded(collect.classroom) == [f"{student}/symbols/beginner"]


@pytest.mark.parametrize(
    "data",
    [
        notebook("advanced"),
        notebook("advanced", metadata=False),
        notebook("advanced", metadata=False).replace(b"Derive", b"Find"),
        notebook("advanced", metadata=False, locked=False),
    ],
    ids=["metadata", "with a locked cell", "locked cell alone", "cells alone"],
)
def test_the_content_tells_the_notebook_not_the_name(collect, data):
    (entry,) = collect({"ann/Copy of beginner.ipynb": data})
    assert graded(collect.classroom) == ["ann/symbols/advanced"]
    assert "inside it is symbols/advanced" in entry.note


@pytest.mark.parametrize(
    "code", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_encodings(collect, code):
    data = notebook(answer="# ∂y/∂x").decode().encode(code)
    collect({"ann/beginner.ipynb": data})
    kept = collect.classroom / "submitted/ann/symbols/beginner.ipynb"
    assert json.loads(kept.read_text("utf-8"))["cells"][-1]["source"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty file"),
        (b"\n\0\n", "empty file"),
        (b"<!DOCTYPE html><p>sign in", "web page"),
        (notebook()[:200], "cut off"),
        (b"import numpy", "a program, not the notebook"),
        (b"\xff\x01\xfe\x80", "not JSON"),
        (b"\xff\xfe\x00\xd8", "not text"),
        (b"[1, 2]", "no list of cells"),
        (b"[" * 200_000, "too deep"),
        (b"[" + b"0," * 2_000_001 + b"0]", "too many"),
    ],
)
def test_unreadable_notebooks_are_named(data, words):
    with pytest.raises(Unreadable, match=words):
        parse(data)


def test_an_unreadable_notebook_reaches_grading_but_replaces_nothing(collect):
    entries = collect({"ann/beginner.ipynb": b"", "bob/x.ipynb": b""})
    assert [e.fate for e in entries] == ["taken", "refused"]
    assert all("empty file" in e.note for e in entries)
    collect({"ann/beginner.ipynb": notebook(), "ann/beginner (1).ipynb": b""})
    (entry, *_) = collect({"ann/beginner.ipynb": b"{"})
    assert entry.fate == "kept"
    kept = collect.classroom / "submitted/ann/symbols/beginner.ipynb"
    assert kept.read_bytes() == notebook()


def test_a_platform_archive_with_archives_inside(collect):
    inner = packed({"work/beginner.ipynb": notebook()})
    deep = packed({"deeper.zip": inner})
    moodle = packed(
        {
            "Ann Lee_1_assignsubmission_file_/all.zip": inner,
            "Bob Ray_2_assignsubmission_file_/all.zip": deep,
            "Cy Moe_3_assignsubmission_file_/b.ipynb": notebook("advanced"),
        }
    )
    entries = collect({"symbols.zip": moodle})
    assert graded(collect.classroom) == [
        "ann-lee/symbols/beginner",
        "cy-moe/symbols/advanced",
    ]
    assert "archive in an archive in an archive" in entries[1].note


def test_hostile_archives_stop_nothing_and_write_nothing(collect, tmp_path):
    link = zipfile.ZipInfo("eve/link.ipynb", NOW)
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    bad = {
        "../../out.ipynb": "climbs out",
        "eve/..\\..\\out.ipynb": "climbs out",
        "/etc/out.ipynb": "absolute",
        "C:\\out.ipynb": "absolute",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in bad:
            archive.writestr(zipfile.ZipInfo(name, NOW), notebook())
        archive.writestr(link, "/etc/passwd")
        bomb = zipfile.ZipInfo("eve/bomb.ipynb", NOW)
        archive.writestr(bomb, bytes(8 * 2**20), zipfile.ZIP_DEFLATED)
        archive.writestr("ann/beginner.ipynb", notebook())
    damaged = bytearray(packed({"bob/beginner.ipynb": notebook()}))
    damaged[60] ^= 0xFF
    entries = collect(
        {
            "a.zip": buffer.getvalue(),
            "b.zip": bytes(damaged),
            "c.zip": b"PK\3\4 no archive",
            "zoe/beginner.ipynb": notebook(),
        }
    )
    notes = [e.note for e in entries if e.fate == "refused"]
    for words in (*bad.values(), "a link", "expands", "damaged inside",
                  "not a zip archive"):  # fmt: skip
        assert any(words in note for note in notes), words
    assert graded(collect.classroom) == [
        "ann/symbols/beginner",
        "zoe/symbols/beginner",
    ]
    assert not list(tmp_path.rglob("out.ipynb"))


def test_caps(collect, monkeypatch):
    monkeypatch.setattr(archives, "MAX_FILE", 2000)
    monkeypatch.setattr(archives, "MAX_MEMBERS", 3)
    big = notebook(answer="y" * 3000)
    few = packed({"ann/beginner.ipynb": big, "bob/b.ipynb": notebook()})
    many = packed({f"s{i}/b.ipynb": notebook() for i in range(4)})
    entries = collect({"a.zip": few, "b.zip": many, "cy/beginner.ipynb": big})
    assert graded(collect.classroom) == ["bob/symbols/beginner"]
    assert "MiB; at most" in entries[0].note
    assert "4 members" in entries[2].note
    assert "MiB; at most" in entries[3].note


def test_an_archive_has_one_budget_with_those_inside(collect, monkeypatch):
    monkeypatch.setattr(archives, "MAX_ARCHIVE", 9000)
    inner = packed({f"s{i}/b.ipynb": notebook() for i in range(9)})
    collect({"a.zip": packed({"x.zip": inner})})
    assert 1 <= len(graded(collect.classroom)) < 9


def test_the_latest_attempt_is_graded_and_none_is_lost(collect):
    tries = [notebook(answer=f"x = {i}") for i in range(3)]
    canvas = {
        "doejane_1_11_beginner.ipynb": tries[0],
        "doejane_1_13_beginner-2.ipynb": tries[2],
        "doejane_1_12_beginner-1.ipynb": tries[1],
    }
    entries = collect({"canvas.zip": packed(canvas)})
    assert sorted(e.fate for e in entries) == ["kept", "kept", "taken"]
    kept = collect.classroom / "submitted/doejane/symbols/beginner.ipynb"
    assert kept.read_bytes() == tries[2]
    stored = (collect.classroom / "attempts").rglob("*.ipynb")
    assert {p.read_bytes() for p in stored} == set(tries)


def test_a_later_collection_replaces_an_earlier_one_only_if_later(collect):
    first, second, third = (notebook(answer=f"x = {i}") for i in range(3))
    where = collect.classroom / "submitted/ann/symbols/beginner.ipynb"
    for folder, data, date, best in (
        ("one", first, (2026, 1, 2, 0, 0, 0), first),
        ("two", second, (2026, 1, 3, 0, 0, 0), second),
        ("old", third, (2026, 1, 1, 0, 0, 0), second),
        ("two", second, (2026, 1, 3, 0, 0, 0), second),
    ):
        collect({"a.zip": packed({"ann/beginner.ipynb": data}, date)}, folder)
        assert where.read_bytes() == best
    stored = (collect.classroom / "attempts").rglob("*.ipynb")
    assert {p.read_bytes() for p in stored} == {first, second, third}


def test_two_students_of_one_name_stay_two(collect):
    for number, answer in (("1", "x = 1"), ("2", "x = 2"), ("1", "x = 3")):
        name = f"Ann Lee_{number}_assignsubmission_file_/b.ipynb"
        data = notebook(answer=answer)
        collect({f"m{answer[-1]}.zip": packed({name: data})}, answer)
    collect({"Añn Lee/b.ipynb": notebook()}, "accent")
    students = {place.split("/")[0] for place in graded(collect.classroom)}
    assert {"ann-lee", "ann-lee-2"} < students
    assert len(students) == 3


def test_a_roster_has_the_last_word(collect, tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text("id,name,mail\nu7,Jane Doe,jd@x.org\n", "utf-8-sig")
    files = {"Jane  DOE/b.ipynb": notebook(), "eve/b.ipynb": notebook()}
    entries = collect(files, roster=read_roster(path))
    assert graded(collect.classroom) == ["u7/symbols/beginner"]
    assert "not in the roster" in entries[1].note


@pytest.mark.parametrize(
    ("file", "student"),
    [
        ("eve/bob/b.ipynb", "u8"),
        ("eve/Bob Roe - b.ipynb", "u8"),
        ("eve/my - b.ipynb", "u8"),
        ("eve.zip/bob/b.ipynb", "u8"),
        ("Eve Poe_12_assignsubmission_file_/bob/b.ipynb", "u8"),
        ("Stranger_12_assignsubmission_file_/bob/b.ipynb", None),
        ("Stranger_9_assignsubmission_file_/b.ipynb", "u9"),
        ("bob_11_22_b.ipynb", "u9"),
    ],
)
def test_no_student_hands_in_as_another(collect, tmp_path, file, student):
    path = tmp_path / "roster.csv"
    path.write_text("id,name,login,n\nu8,Eve Poe,eve,8\nu9,Bob Roe,bob,9\n")
    (entry,) = collect({file: notebook()}, roster=read_roster(path))
    assert entry.student == (student or "")


def test_a_student_named_like_our_own_file_stops_nothing(collect):
    (entry,) = collect({"students.json/b.ipynb": notebook()})
    assert (entry.fate, entry.student) == ("taken", "students.json")


def test_an_id_fits_into_a_files_name():
    assert len(safe_id("\U00020000" * 90).encode()) == 200


def test_links_on_disk_are_not_followed(collect, tmp_path):
    (tmp_path / "secret.ipynb").write_bytes(notebook())
    (tmp_path / "inbox" / "eve").mkdir(parents=True)
    os.symlink(tmp_path / "secret.ipynb", tmp_path / "inbox/eve/b.ipynb")
    (tmp_path / "other" / "ann").mkdir(parents=True)
    (tmp_path / "other" / "ann" / "b.ipynb").write_bytes(notebook())
    os.symlink(tmp_path / "other", tmp_path / "inbox" / "folder")
    entries = collect({})
    assert [e.fate for e in entries] == ["refused", "refused"]
    assert all("a link" in e.note for e in entries)


def test_other_files_are_reported(collect):
    entries = collect(
        {
            "ann/notes.txt": b"hello",
            "ann/__MACOSX/._b.ipynb": b"\0",
            "ann/all.rar": b"Rar!",
            "ann/other.ipynb": b'{"cells": []}',
            "ann/far.ipynb": notebook().replace(b"symbols", b"poetry"),
        }
    )
    notes = sorted(e.note for e in entries)
    assert notes == [
        "a notebook, but none of this course's",
        "an archive of another kind: unpack it, or use .zip",
        "not a notebook",
        "poetry/beginner is not released by this course",
        "the operating system's, not a submission",
    ]
    assert exit_code(entries) == 2


def test_no_name_no_guess(collect):
    (entry,) = collect({"beginner.ipynb": notebook()}, folder="Downloads")
    assert "pass --roster" in entry.note
    assert graded(collect.classroom) == []


def test_names_are_stripped_and_made_safe():
    assert own_name("Copy of Kopie von b (2).ipynb") == ("b.ipynb", 2)
    for words in ("Copia di", "Copie de", "Kopie van", "Kopia av"):
        assert own_name(f"{words} b.ipynb") == ("b.ipynb", 0)
    assert safe_id("../../Ann\n Lee.") == "ann-lee"
    assert safe_id("ﬁ…/🙂") == "fi"
    blackboard = "A_jd_attempt_2026-01-30-15-00-00_b.ipynb"
    bright = "1-2 - J D - Jan 30, 2026 300 PM"
    ours = frozenset({"b"})
    assert (
        read_name((blackboard,), ours).date
        == read_name((bright, "b.ipynb"), ours).date
    )


def test_command_refuses_in_one_sentence(tmp_path, capsys):
    assert main(["collect", str(tmp_path / "nowhere")]) == 2
    said = capsys.readouterr().err
    assert "no such file or folder" in said
    assert said.count("\n") == 1
    (tmp_path / "roster.csv").write_text("id,name\n")
    with pytest.raises(Refusal, match="no roster"):
        read_roster(tmp_path / "roster.csv")
