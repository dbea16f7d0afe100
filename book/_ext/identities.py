"""The identities that the pages prove: python -m book._ext.identities

A proof is a call of prove_equal or, in Part I, an asserted equation. To
reach the proofs without a page's measurements, run what they depend on.
"""

import ast
import contextlib
import io
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from myst_nb.core.read import read_myst_markdown_notebook

from book._ext.chapters import chapters
from book._ext.slices import Step, needed

ROOT = Path(__file__).resolve().parents[2]
PROVED, EQUAL = "_proved", "_equal"  # what a watched page calls


@dataclass(frozen=True)
class Site:
    """A place where a proof stands."""

    section: str
    source: str
    refused: bool  # shown to be false, inside a try


def pages(root: Path) -> list[str]:
    """Part I, and every other page with a proof, in the book's order."""
    return [
        name for name in chapters(root)
        if name.startswith("book/symbols/")
        or "prove_equal(" in (root / f"{name}.md").read_text("utf-8")
    ]


def watched(root: Path, name: str) -> tuple[list[Step], list[Site]]:
    """The steps that a page's proofs need, and the places of the proofs.

    In these steps prove_equal(a, b) has become _proved(site, a, b), and
    `assert a == b` has become `assert _equal(site, a, b)`.
    """
    text = (root / f"{name}.md").read_text("utf-8")
    watcher = Watcher(equations=name.startswith("book/symbols/"))
    steps = steps_of(text)
    provers, wanted = set(), []
    for step in steps:
        before = len(watcher.sites)
        step.tree = watcher.watch(step)
        if len(watcher.sites) > before or step.reads & provers:
            wanted.append(step)
            if isinstance(step.tree, ast.FunctionDef):
                provers.add(step.tree.name)
    return needed(steps, wanted), watcher.sites


def steps_of(text: str) -> list[Step]:
    """Every statement of a page's code cells."""
    section, found = "", []
    for cell in read_myst_markdown_notebook(text).cells:
        if cell.cell_type == "markdown":
            titles = re.findall(r"^#+ (.+)$", cell.source, re.MULTILINE)
            section = titles[-1] if titles else section
        elif cell.cell_type == "code":
            body = ast.parse(cell.source).body
            found += [Step(tree, section) for tree in body]
    return found


class Watcher(ast.NodeTransformer):
    """Puts the watched calls in the place of the proofs."""

    def __init__(self, equations: bool):
        self.equations, self.trying = equations, False
        self.sites: list[Site] = []

    def watch(self, step: Step) -> ast.stmt:
        """The statement with its proofs numbered."""
        self.section = step.section
        return ast.fix_missing_locations(self.visit(step.tree))

    def call(self, name: str, node: ast.AST, *arguments) -> ast.Call:
        """A watched call, numbered by the place of `node`."""
        site = Site(self.section, ast.unparse(node), self.trying)
        self.sites.append(site)
        number = ast.Constant(len(self.sites) - 1)
        return ast.Call(ast.Name(name, ast.Load()), [number, *arguments], [])

    def visit_Try(self, node: ast.Try) -> ast.AST:
        """Know that what stands here may be refused."""
        self.trying = True
        node = self.generic_visit(node)
        self.trying = False
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Take over prove_equal."""
        if getattr(node.func, "id", "") != "prove_equal":
            return self.generic_visit(node)
        call = self.call(PROVED, node, *node.args)
        call.keywords = node.keywords
        return self.generic_visit(call)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """Take over an equation."""
        test = node.test
        if (
            self.equations and isinstance(test, ast.Compare)
            and [type(op) for op in test.ops] == [ast.Eq]
        ):
            node.test = self.call(EQUAL, node, test.left, *test.comparators)
        return self.generic_visit(node)


def execute(step: Step, space: dict) -> None:
    """Run one step, and let it print and draw nothing."""
    code = compile(ast.Module([step.tree], []), step.section, "exec")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, space)


def proved_in_a_run(root: Path, name: str) -> tuple[list[Site], Counter]:
    """The page's sites, and how many identities each of them holds.

    A call in a loop holds several; a matrix is one.
    """
    steps, sites = watched(root, name)
    count: Counter = Counter()

    def proved(site: int, computed, claimed):
        count[site] += 1
        return computed

    def equal(site: int, left, right) -> bool:
        count[site] += 1
        return left == right

    space = {PROVED: proved, EQUAL: equal}
    for step in steps:
        execute(step, space)
    return sites, count


def main() -> int:
    """Print page and section, with the identities proved and refused."""
    total: Counter = Counter()
    for name in pages(ROOT):
        sites, count = proved_in_a_run(ROOT, name)
        rows: dict[str, Counter] = {}
        for number, site in enumerate(sites):
            row = rows.setdefault(site.section, Counter())
            row[site.refused] += count[number]
        whole = sum(rows.values(), Counter())
        total += whole
        print(line(name, whole))
        for section, row in rows.items():
            print(line(f"  {section}", row))
    print(line("all pages together", total))
    return 0


def line(what: str, row: Counter) -> str:
    """One line of the table."""
    refused = f", {row[True]} shown to be false" if row[True] else ""
    return f"{what:48} {row[False]:4} proved{refused}"


if __name__ == "__main__":
    sys.exit(main())
