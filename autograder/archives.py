"""Walks folders, zip archives and zips inside them, one file at a time.

Nothing is unpacked to disk, so a member's name can harm nothing; names
that try to are refused all the same. Every file yields one `Found`, read
or with the reason why not, and no fault stops the walk. What its name alone
shows to be no notebook is not read.
"""

from __future__ import annotations

import io
import os
import stat
import time
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from autograder.identity import MAX_FILE
from autograder.naming import no_submission
from autograder.outputs import without_outputs

MAX_READ = 128 * 2**20  # bytes of a notebook with its outputs
SLIM = 2 * 2**20  # bytes; below, outputs are not worth leaving out
MAX_ARCHIVE = 4 * 2**30  # bytes read out of one archive, nested ones too
MAX_MEMBERS = 50_000  # of one archive
MAX_INDEX = 100 * MAX_MEMBERS  # bytes of an archive's list of members
MAX_RATIO = 200  # expansion; JSON text reaches 50
RATIO_FLOOR = 2**20  # below one MiB any expansion is harmless


@dataclass(frozen=True)
class Found:
    """One file: where it lay, its bytes, or the reason it has none."""

    where: str  # for people: "class.zip › Jane Doe/beginner.ipynb"
    names: tuple[str, ...]  # folders, archives and file, outermost first
    data: bytes | None
    date: float  # seconds since 1970, from the archive or the disk
    reason: str = ""  # why there are no bytes
    note: str = ""  # what was odd about it


@dataclass
class Budget:
    """What one archive, with the archives inside it, may still expand to."""

    left: int = field(default_factory=lambda: MAX_ARCHIVE)


def walk(path: Path) -> Iterator[Found]:
    """Yield every file of a folder, an archive, or the file itself."""
    if path.is_dir():
        home = path.resolve()
        yield from _walk_folder(path, (home.name,))
    elif path.exists():
        folder = path.resolve().parent.name
        yield from _walk_file(path, (folder, path.name))
    else:
        yield _refused(path, (path.name,), "no such file or folder")


def _walk_folder(folder: Path, names: tuple[str, ...]) -> Iterator[Found]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        yield _refused(folder, names, f"cannot be listed: {error.strerror}")
        return
    for entry in entries:
        inside = (*names, entry.name)
        if entry.is_symlink():
            yield _refused(entry, inside, "a link, which intake never follows")
        elif entry.is_dir():
            yield from _walk_folder(entry, inside)
        else:
            yield from _walk_file(entry, inside)


def _walk_file(path: Path, names: tuple[str, ...]) -> Iterator[Found]:
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            yield _refused(path, names, "not a regular file")
        elif reason := no_submission(names):
            yield _refused(path, names, reason)
        elif path.suffix.lower() == ".zip":
            with path.open("rb") as file:
                yield from _walk_zip(file, str(path), names, state.st_mtime)
        elif state.st_size > MAX_READ:
            yield _refused(path, names, _too_big(state.st_size))
        else:
            with path.open("rb") as file:
                data, said = _slim(_whole(file, MAX_READ), path.name)
            note = "" if data is None else said
            reason = said if data is None else ""
            yield Found(
                str(path), names, data, state.st_mtime, reason, note
            )
    except OSError as error:
        yield _refused(path, names, f"cannot be read: {error.strerror}")


def _walk_zip(
    file: io.BufferedIOBase,
    where: str,
    names: tuple[str, ...],
    date: float,
    budget: Budget | None = None,
) -> Iterator[Found]:
    """Yield the members of one archive; `budget` is set for inner ones."""
    try:
        reason = _no_zip(file)
        archive = None if reason else zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        reason = "not a zip archive, or damaged"
    if not reason:
        members = [info for info in archive.infolist() if not info.is_dir()]
        if len(members) > MAX_MEMBERS:
            reason = f"{len(members)} members; at most {MAX_MEMBERS} are read"
        elif not members:
            reason = "an archive without a file in it"
    if reason:
        yield Found(where, names, None, date, reason)
        return
    shared = _overlapping(members)
    for info in members:
        if info.header_offset in shared:
            name = _member_name(info)
            inside = names + PurePosixPath(name.replace("\\", "/")).parts
            reason = "it overlaps another member, as in a zip bomb"
            yield Found(f"{where} › {name}", inside, None, date, reason)
        else:
            yield from _walk_member(archive, info, where, names, budget)


def _no_zip(file: io.BufferedIOBase) -> str:
    """Say why a file is not opened as a zip archive; empty if it is.

    zipfile reads the whole list of members at once, so its length is
    looked up first, with zipfile's own reading of where it stands.
    """
    start = file.read(6)
    for mark, kind in ((b"7z\xbc\xaf", "7z"), (b"Rar!", "rar")):
        if start.startswith(mark):
            return f"a {kind} archive named .zip: unpack it, or make a zip"
    end = zipfile._EndRecData(file)
    if end and end[zipfile._ECD_SIZE] > MAX_INDEX:
        return f"more members than the {MAX_MEMBERS} that are read"
    return ""


def _overlapping(members: list[zipfile.ZipInfo]) -> set[int]:
    """Return where members start that share their bytes with another."""
    found, end, last = set(), 0, -1
    for info in sorted(members, key=lambda m: m.header_offset):
        if info.header_offset < end:
            found |= {last, info.header_offset}
        here = info.header_offset + 30 + info.compress_size
        if here >= end:
            end, last = here, info.header_offset
    return found


def _walk_member(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    where: str,
    names: tuple[str, ...],
    outer: Budget | None,
) -> Iterator[Found]:
    """Yield one member: read, opened if it is an archive, or refused."""
    name = _member_name(info)
    place = f"{where} › {name}"
    inside = names + PurePosixPath(name.replace("\\", "/")).parts
    date = _member_date(info)
    budget = Budget() if outer is None else outer
    reason = _unsafe(name, info) or no_submission(inside)
    reason = reason or _over_the_caps(name, info, budget)
    data, said = None, reason
    if not reason:
        data, said = _read(archive, info)
        budget.left -= info.file_size
    if data is None:
        yield Found(place, inside, None, date, said)
    elif not name.lower().endswith(".zip"):
        note = said or _odd_letters(info, name)
        yield Found(place, inside, data, date, note=note)
    elif outer is not None:
        reason = "an archive in an archive in an archive; unpack it first"
        yield Found(place, inside, None, date, reason)
    else:
        yield from _walk_zip(io.BytesIO(data), place, inside, date, budget)


def _read(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo
) -> tuple[bytes | None, str]:
    """Read one member; return its bytes and a note, or None and why not."""
    try:
        with archive.open(info) as file:
            data = _whole(file, _cap(info.filename))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError):
        return None, "damaged inside the archive"
    except (RuntimeError, NotImplementedError) as error:
        return None, f"cannot be unpacked: {error}"
    return _slim(data, info.filename)


def _whole(file: io.BufferedIOBase, cap: int) -> bytearray:
    """Read up to `cap` bytes and one more, never holding them twice."""
    data = bytearray()
    while len(data) <= cap and (piece := file.read(2**20)):
        data += piece
    return data


def _cap(name: str) -> int:
    """Return how many bytes of a file are read: more, if it is a notebook."""
    return MAX_FILE if name.lower().endswith(".zip") else MAX_READ


def _slim(data: bytearray, name: str) -> tuple[bytes | None, str]:
    """Return a big notebook without its outputs, and what was left out."""
    size = len(data)
    if size <= min(SLIM, MAX_FILE):
        return bytes(data), ""
    if size > _cap(name):
        return None, _too_big(size)
    if name.lower().endswith(".zip"):
        return bytes(data), ""
    left = without_outputs(data, MAX_FILE)
    if left is None:
        return None, _too_big(size)
    saved = (size - len(left)) / 2**20
    return left, f"its outputs, {saved:.0f} MiB, left out" if saved else ""


def _unsafe(name: str, info: zipfile.ZipInfo) -> str:
    """Say why a member's name or kind is refused; empty if it is fine."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if ".." in parts:
        return "its name climbs out of the archive ('..')"
    if name.startswith(("/", "\\")) or name[1:2] == ":" or not parts:
        return "its name is an absolute path"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "a link, which intake never follows"
    if info.flag_bits & 1:
        return "protected by a password"
    return ""


def _over_the_caps(name: str, info: zipfile.ZipInfo, budget: Budget) -> str:
    size, packed = info.file_size, max(info.compress_size, 1)
    if size > _cap(name):
        return _too_big(size)
    if size > RATIO_FLOOR and size > MAX_RATIO * packed:
        return f"expands {size // packed} times; at most {MAX_RATIO} is read"
    if size > budget.left:
        return f"its archive holds more than {MAX_ARCHIVE // 2**20} MiB"
    return ""


def _member_name(info: zipfile.ZipInfo) -> str:
    """Return the name; archives that forget the UTF-8 flag are common."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _odd_letters(info: zipfile.ZipInfo, name: str) -> str:
    """Say when an archive does not tell in which letters its names are."""
    if info.flag_bits & 0x800 or name.isascii() or name != info.filename:
        return ""
    return "its archive's names are not in UTF-8, so they may be misread"


def _member_date(info: zipfile.ZipInfo) -> float:
    try:
        return time.mktime((*info.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0


def _too_big(size: int) -> str:
    return (
        f"{size / 2**20:.1f} MiB; at most {MAX_FILE // 2**20} are read, and "
        f"{MAX_READ // 2**20} of a notebook with outputs: clear its outputs"
    )


def _refused(path: Path, names: tuple[str, ...], reason: str) -> Found:
    date = os.lstat(path).st_mtime if os.path.lexists(path) else 0.0
    return Found(str(path), names, None, date, reason)
