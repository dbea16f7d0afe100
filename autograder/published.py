"""What students have been given: the sources of published releases.

solutions/<assignment>/releases.toml lists the versions, releases/ beside it
holds their text. Both belong to the repository, so they outlive a build.
"""

import shutil
import tomllib

from autograder import Refusal
from autograder.source import source_notebook

KEYS = {"published", "corrects", "retired"}


def read(folder):
    """Return {notebook: {version: its entry}} of an assignment's folder."""
    path = folder / "releases.toml"
    if not path.exists():
        return {}
    try:
        book = tomllib.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Refusal(f"{path} is not TOML: {error}") from None
    for notebook, entries in book.items():
        for version, entry in entries.items():
            _check_entry(entry, entries, f"{path}: {notebook}.{version}")
    return book


def _check_entry(entry, entries, where):
    unknown = sorted(set(entry) - KEYS)
    if unknown:
        raise Refusal(
            f"{where}: unknown key {unknown[0]!r}; there is "
            f"{', '.join(sorted(KEYS))}"
        )
    for old in entry.get("corrects", []):
        if old not in entries:
            raise Refusal(f"{where} corrects {old}, which is not listed")


def source_of(folder, notebook, version):
    """Return where the text of a published release lies."""
    return folder / "releases" / f"{notebook}-{version}.py"


def masters(folder, current):
    """Return {file name: master} of the earlier releases in use.

    `current` is {notebook: its current master}. A published release that
    is still the current one gets the current text, so that a mended hidden
    test is not lost when the next release comes.
    """
    found = {}
    for notebook, entries in read(folder).items():
        if notebook not in current:
            raise Refusal(
                f"{folder}/releases.toml lists {notebook}, but there is no "
                f"source {notebook}.py; retire its releases"
            )
        now = current[notebook].metadata.assembled.version
        for version in entries:
            path = source_of(folder, notebook, version)
            if version == now:
                path.parent.mkdir(exist_ok=True)
                shutil.copyfile(folder / f"{notebook}.py", path)
            elif not entries[version].get("retired"):
                master = _master(folder, notebook, version)
                by = graded_by(entries, version)
                if by == version:
                    _check_cells(master, current[notebook], notebook)
                else:
                    master.metadata.assembled.graded_by = by
                found[f"{notebook}-{version}"] = master
    return found


def graded_by(entries, version):
    """Return the last release of those that correct this one in turn."""
    seen = []
    while version not in seen:
        seen.append(version)
        for newer, entry in entries.items():
            if version in entry.get("corrects", []):
                version = newer
    return version


def _master(folder, notebook, version):
    """Build the master of one earlier release from the text kept of it."""
    path = source_of(folder, notebook, version)
    if not path.exists():
        raise Refusal(
            f"the text of release {version} is gone; restore {path}, or "
            f"write `retired = true` under it in {folder}/releases.toml"
        )
    master = source_notebook(path, folder.name, notebook)
    seen = master.metadata.assembled.version
    if seen != version:
        raise Refusal(
            f"{path} shows students something else than release {version} "
            "did: in it, change only answers and hidden tests; a mistake "
            f"that students saw is mended in {notebook}.py and published "
            f"with --corrects {version}"
        )
    return master


def _check_cells(master, current, notebook):
    """Refuse a release that the current gradebook has no cells for."""
    version = master.metadata.assembled.version
    unlike = _graded_cells(master) ^ _graded_cells(current)
    if unlike:
        names = ", ".join(sorted({name for name, _ in unlike}))
        raise Refusal(
            f"{notebook}.py and its release {version} differ in graded "
            f"cells or their points ({names}), and one gradebook has one "
            "set: give the new source the old ids and points, or write "
            f"`retired = true` under {version} in releases.toml; then the "
            "current release grades whoever hands it in"
        )


def _graded_cells(notebook):
    tags = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
    return {
        (each["grade_id"], each.get("points"))
        for each in tags
        if each.get("grade") or each.get("solution")
    }
