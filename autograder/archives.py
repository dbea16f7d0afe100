"""Walks folders, zip archives and zips inside them, one file at a time.

Nothing is unpacked to disk, so a member's name can harm nothing; names
that try to are refused all the same. Every file yields one `Found`, read
or with the reason why not, and no fault stops the walk.
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

MAX_FILE = 20 * 2**20  # bytes of one file; a notebook full of plots has 5
MAX_ARCHIVE = 4 * 2**30  # bytes read out of one archive, nested ones too
MAX_MEMBERS = 50_000  # of one archive
MAX_RATIO = 200  # expansion; JSON text reaches 50
RATIO_FLOOR = 2**20  # below one MiB any expansion is harmless


@dataclass(frozen=True)
class Found:
    """One file: where it lay, its bytes, or the reason it has none."""

    where: str  # for people: "class.zip › Jane Doe/beginner.ipynb"
    names: tuple[str, ...]  # folders, archives and file, outermost first
    data: bytes | None
    date: float  # seconds since 1970, from the archive or the disk
    reason: str = ""


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
        elif path.suffix.lower() == ".zip":
            with path.open("rb") as file:
                yield from _walk_zip(file, str(path), names, state.st_mtime)
        elif state.st_size > MAX_FILE:
            yield _refused(path, names, _too_big(state.st_size))
        else:
            data = path.read_bytes()
            yield Found(str(path), names, data, state.st_mtime)
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
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        yield Found(where, names, None, date, "not a zip archive, or damaged")
        return
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        reason = f"{len(members)} members; at most {MAX_MEMBERS} are read"
        yield Found(where, names, None, date, reason)
        return
    for info in members:
        if not info.is_dir():
            yield from _walk_member(archive, info, where, names, budget)


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
    reason = _unsafe(name, info) or _over_the_caps(info, budget)
    data = None
    if not reason:
        data, reason = _read(archive, info)
    if data is None:
        yield Found(place, inside, None, date, reason)
        return
    budget.left -= len(data)
    if not name.lower().endswith(".zip"):
        yield Found(place, inside, data, date)
    elif outer is not None:
        reason = "an archive in an archive in an archive; unpack it first"
        yield Found(place, inside, None, date, reason)
    else:
        yield from _walk_zip(io.BytesIO(data), place, inside, date, budget)


def _read(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo
) -> tuple[bytes | None, str]:
    """Read one member; return its bytes, or None and the reason."""
    try:
        with archive.open(info) as file:
            data = file.read(MAX_FILE + 1)  # headers lie about sizes
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError):
        return None, "damaged inside the archive"
    except (RuntimeError, NotImplementedError) as error:
        return None, f"cannot be unpacked: {error}"
    if len(data) > MAX_FILE:
        return None, _too_big(len(data))
    return data, ""


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


def _over_the_caps(info: zipfile.ZipInfo, budget: Budget) -> str:
    size, packed = info.file_size, max(info.compress_size, 1)
    if size > MAX_FILE:
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


def _member_date(info: zipfile.ZipInfo) -> float:
    try:
        return time.mktime((*info.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0


def _too_big(size: int) -> str:
    return (
        f"{size / 2**20:.1f} MiB; at most {MAX_FILE // 2**20} are read: "
        "clear the notebook's outputs"
    )


def _refused(path: Path, names: tuple[str, ...], reason: str) -> Found:
    date = os.lstat(path).st_mtime if os.path.lexists(path) else 0.0
    return Found(str(path), names, None, date, reason)
