"""Grading when the disk is full: one sentence, and a rerun completes."""

import errno
import os
import subprocess

import pytest
import small_course
from small_course import submission

from autograder import files, grade, gradebook
from autograder.__main__ import main

SENTENCE = f"autograder: {files.NO_ROOM}\n"


def run(course):
    """Grade the classroom; return the exit code."""
    return main([
        "grade", "-j2", "--classroom", str(course.classroom),
        "--source", str(course.source),
    ])  # fmt: skip


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 4 MB, in memory."""
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"needs the right to mount: {done.stderr.strip()}")
    yield disk
    subprocess.run(["umount", disk], check=True)


def fill(disk, spare):
    """Fill the disk up to `spare` bytes; return the file that does it."""
    path = disk / "full"
    free = os.statvfs(disk)
    path.write_bytes(bytes(free.f_bavail * free.f_frsize - spare))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("spare", [0, 20_000, 60_000])
def test_a_full_disk_ends_the_run_and_a_rerun_completes(
    spare, small_disk, capsys
):
    course = small_course.make(
        small_disk, **{f"s{i}": submission() for i in range(3)}
    )
    gradebook.prepare(course, "tiny", ["s0", "s1", "s2"])
    filler = fill(small_disk, spare)
    code, err = run(course), capsys.readouterr().err
    assert code in (1, 2)
    assert err.count("\n") == 1
    assert "disk" in err
    assert "full" in err
    filler.unlink()
    assert run(course) == 0
    assert [r["score"] for r in grade.grade(course)] == [4] * 3
    assert not list(course.classroom.rglob("*.part"))
    for name in ("s0", "s1", "s2"):
        assert (course.feedback / name / "tiny" / "beginner.html").stat()


def no_room(*args):
    raise OSError(errno.ENOSPC, "No space left on device")


WRITERS = {
    "the notebook": "autograder.worker.autograde",
    "the page": "autograder.feedback.write_page",
    "any file": "autograder.files.write_whole",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", WRITERS)
def test_whatever_does_not_fit_nothing_counts_as_graded(
    what, tmp_path, capsys, monkeypatch
):
    course = small_course.make(tmp_path, ann=submission())
    with monkeypatch.context() as patch:
        patch.setattr(WRITERS[what], no_room)
        patch.setattr(files, "require_room", no_room)
        assert run(course) == 1
    assert capsys.readouterr().err == SENTENCE
    (result,) = grade.grade(course)
    assert (result["status"], result["score"]) == ("graded", 4)
    assert (course.feedback / "ann/tiny/beginner.html").exists()


def test_a_file_is_there_in_full_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    files.write_whole(path, "old")
    monkeypatch.setattr(files.os, "fsync", no_room)
    with pytest.raises(OSError, match="No space"):
        files.write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
