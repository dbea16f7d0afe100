"""The part of a page's code on which some of its statements depend."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from symtable import SymbolTable, symtable


@dataclass
class Step:
    """One top-level statement of a page, and the heading above it."""

    tree: ast.stmt
    section: str

    def __post_init__(self) -> None:
        self.reads, self.writes = names_of(self.tree)


def names_of(tree: ast.stmt) -> tuple[set[str], set[str]]:
    """The page's names that a statement reads, and those it changes."""
    reads, writes = set(), set()

    def visit(table: SymbolTable, top: bool) -> None:
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (top or symbol.is_global()):
                reads.add(symbol.get_name())
            if top and (symbol.is_assigned() or symbol.is_imported()):
                writes.add(symbol.get_name())
        for child in table.get_children():
            visit(child, False)

    visit(symtable(ast.unparse(tree), "page", "exec"), True)
    first: dict[str, bool] = {}
    for name, read in uses(tree):
        first.setdefault(name, read)
    reads = {x for x in reads if x not in writes or first.get(x, True)}
    return reads, writes | changed_in_place(tree)


def uses(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Each name in the order of its use, and whether it is read there."""
    if isinstance(node, ast.Name):
        yield node.id, isinstance(node.ctx, ast.Load)
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield node.target.id, True
    if isinstance(node, ast.Assign | ast.For):  # the value comes first
        values = [getattr(node, "value", None), getattr(node, "iter", None)]
        children.sort(key=lambda child: child not in values)
    for child in children:
        yield from uses(child)


def changed_in_place(tree: ast.stmt) -> set[str]:
    """x in x[0] = 1, x.y = 1 and x.append(1)."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            node = node.value.func
        elif not isinstance(getattr(node, "ctx", None), ast.Store):
            continue
        while isinstance(node, ast.Subscript | ast.Attribute):
            node = node.value
            if isinstance(node, ast.Name):
                found.add(node.id)
    return found


def needed(steps: list[Step], wanted: list[Step]) -> list[Step]:
    """The wanted steps and all that they depend on, in order."""
    modules = {
        name for step in steps for name in step.writes
        if isinstance(step.tree, ast.Import | ast.ImportFrom)
    }
    chosen, missing = [], set()
    for step in reversed(steps):
        imports = isinstance(step.tree, ast.Import | ast.ImportFrom)
        made = step.writes if imports else step.writes - modules
        if step in wanted or made & missing:
            chosen.append(step)
            if imports or isinstance(step.tree, ast.FunctionDef) or (
                isinstance(step.tree, ast.Assign)
                and not changed_in_place(step.tree)
            ):
                missing -= made
            missing |= step.reads
    return chosen[::-1]
