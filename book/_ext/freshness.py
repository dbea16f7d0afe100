"""A page runs again when anything that its numbers depend on has changed.

jupyter-cache keys a page's run by its cells and its kernelspec. Here the
kernelspec's display name gains a digest of everything else: the modules
that the page imports, the data they name, the pins, the Python version.
"""

import ast
import hashlib
import re
import sys
from pathlib import Path

from myst_nb.core.read import (
    is_myst_markdown_notebook,
    read_myst_markdown_notebook,
)
from sphinx.errors import ExtensionError

DATA_FOLDERS = ("assembled", "book", "experiments")
NO_DATA = {".py", ".pyc", ".md", ".ipynb", ".bib", ".css"}
DISPLAY_NAME = re.compile(r"^(\s+display_name:\s*)(.+?)\s*$", re.MULTILINE)


def code_of_page(text: str) -> str:
    """All code cells of a MyST page as one Python text, magics left out."""
    if not is_myst_markdown_notebook(text):
        return ""
    cells = read_myst_markdown_notebook(text).cells
    lines = [
        line
        for cell in cells
        if cell.cell_type == "code"
        for line in cell.source.splitlines()
    ]
    return "\n".join(x for x in lines if not x.lstrip().startswith(("%", "!")))


def imported_names(tree: ast.AST, package: str = "") -> set[str]:
    """Every dotted name that might be a module imported by this code."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            base = parents[: len(parents) - node.level + 1]
            stem = ".".join([*base, node.module or ""] if node.level
                            else [node.module or ""]).strip(".")
            names |= {stem} | {f"{stem}.{a.name}" for a in node.names}
    return names


def module_files(name: str, root: Path) -> list[Path]:
    """The files under root that importing `name` runs, packages first."""
    parts, found = name.split("."), []
    for end in range(1, len(parts) + 1):
        here = root.joinpath(*parts[:end])
        found += [here.with_suffix(".py"), here / "__init__.py"]
    return [path for path in found if path.is_file()]


def data_files(root: Path) -> dict[str, set[Path]]:
    """Recorded data by file name, and by the name of a folder above it."""
    index: dict[str, set[Path]] = {}
    for folder in DATA_FOLDERS:
        for path in (root / folder).rglob("*"):
            if path.suffix in NO_DATA or not path.is_file():
                continue
            inner = path.relative_to(root / folder).parts
            for name in inner:
                index.setdefault(name, set()).add(path)
    return index


def named_data(tree: ast.AST, index: dict[str, set[Path]]) -> set[Path]:
    """Data files whose name, or folder's name, this code spells out."""
    strings = {
        node.value.strip("/").split("/")[-1]
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return set().union(*(index.get(name, set()) for name in strings))


def closure(text: str, root: Path) -> set[Path]:
    """The files that the page's numbers depend on, its own text aside."""
    index = data_files(root)
    tree = ast.parse(code_of_page(text))
    seen = named_data(tree, index)
    waiting = imported_names(tree)
    while waiting:
        name = waiting.pop()
        for path in module_files(name, root):
            if path in seen:
                continue
            seen.add(path)
            tree = ast.parse(path.read_text("utf-8"))
            folder = path.parent.relative_to(root)
            waiting |= imported_names(tree, ".".join(folder.parts))
            seen |= named_data(tree, index)
    return seen


def machine(root: Path) -> str:
    """The pins without their comments, and the running Python."""
    pins = (root / "requirements.txt").read_text("utf-8").splitlines()
    kept = [line for line in pins if line and not line.startswith("#")]
    return "\n".join([*kept, sys.version.split()[0]])


def digest(text: str, root: Path) -> str:
    """Twelve hex digits that change when a dependency's content does."""
    total = hashlib.sha256(machine(root).encode())
    for path in sorted(closure(text, root)):
        total.update(path.relative_to(root).as_posix().encode() + b"\0")
        total.update(path.read_bytes())
    return total.hexdigest()[:12]


def stamp(text: str, value: str, page: str) -> str:
    """Put the digest into the kernelspec's display name, lines unmoved."""
    head, rule, rest = text[3:].partition("\n---")
    if not DISPLAY_NAME.search(head):
        raise ExtensionError(
            f"{page} has no kernelspec.display_name in its front matter; "
            "add `display_name: Python 3` below the kernel's name"
        )
    head = DISPLAY_NAME.sub(rf"\g<1>Python 3 ({value})", head, count=1)
    return text[:3] + head + rule + rest


def on_source_read(app, docname, source) -> None:
    """Stamp a notebook page before it is parsed and looked up."""
    if is_myst_markdown_notebook(source[0]):
        value = digest(source[0], Path(app.srcdir))
        source[0] = stamp(source[0], value, docname)
        digests(app.env)[docname] = value


def on_get_outdated(app, env, added, changed, removed) -> list[str]:
    """Name the pages whose dependencies changed since they were read."""
    known = digests(env)
    return [
        name
        for name in sorted(env.found_docs & known.keys())
        if digest(text_of(env, name), Path(app.srcdir)) != known[name]
    ]


def text_of(env, name: str) -> str:
    """The page as it stands on disk."""
    return Path(env.doc2path(name)).read_text("utf-8")


def digests(env) -> dict[str, str]:
    """The digests of the last build, kept in Sphinx's environment."""
    if not hasattr(env, "page_digests"):
        env.page_digests = {}
    return env.page_digests


def setup(app) -> dict:
    """Connect the two hooks."""
    app.connect("source-read", on_source_read)
    app.connect("env-get-outdated", on_get_outdated)
    return {"version": "1", "parallel_read_safe": False}
