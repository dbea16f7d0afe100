"""The checker's side: runs locked cells and tests, never student code.

NumPy and SymPy are imported once; zygote.py forks a child for each
notebook. In the child, a name that the reference solution defines stands for
the student's: plain data, or a Remote whose call goes to the student's
process and comes back as plain data.
"""

import ast
import contextlib
import io
import json
import re
import sys
import traceback
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import sympy as sp
import sympy.parsing.sympy_parser as sympy_parser

from autograder import wire, zygote
from autograder.remote import (
    Line,
    Misuse,
    Remote,
    StudentError,
    decode,
    number_of,
)

sys.path.pop(0)

PLAIN_TEXT = re.compile(r"[A-Za-z0-9_.]*")
MAGIC = re.compile(r"^\s*[%!].*$", re.MULTILINE)


# --- before the first notebook ----------------------------------------------


def guard_sympy():
    """Keep text from being run: SymPy's parser and lambdify execute it.

    Names and numbers still parse; SymPy needs those for its own units.
    """
    parse, compile_ = sympy_parser.parse_expr, sp.lambdify

    def guarded_parse(text, *args, **kwargs):
        if not PLAIN_TEXT.fullmatch(str(text)):
            raise ValueError("SymPy is not given text to parse here")
        return parse(text, *args, **kwargs)

    def guarded_lambdify(args, expr, *more, **kwargs):
        if holds_text(expr):
            raise ValueError("lambdify is not given text here")
        return compile_(args, expr, *more, **kwargs)

    sympy_parser.parse_expr = guarded_parse
    sp.lambdify = sp.utilities.lambdify = guarded_lambdify
    sys.modules["sympy.utilities.lambdify"].lambdify = guarded_lambdify


def holds_text(value):
    """Return whether there is a string anywhere in a nest of containers."""
    if isinstance(value, str):
        return True
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, np.ndarray):
        value = value.ravel().tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return any(holds_text(part) for part in value)
    return False


# --- the child: one notebook ------------------------------------------------


def serve(sock):
    """Run what the grader sends until it hangs up."""
    line = Line(sock)
    scope = {"__name__": "__main__", "display": lambda *args: None}
    while True:
        kind, payload = line.read()
        if not kind:
            return
        task = json.loads(payload)
        scope["CHECK_SEED"] = task["seed"]
        with contextlib.redirect_stdout(io.StringIO()):
            verdict = perform(line, scope, task)
        line.write(b"V", verdict)


def perform(line, scope, task):
    """Run one cell; return the verdict on it."""
    np.random.seed(task["seed"] % 2**32)  # noqa: NPY002
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if task["names"]:
                bind(line, scope, task["names"])
            scope["student_run"] = snippet_runner(line)
            credit = run_cell(task["source"], scope, task["label"])
            scope["CHECK_SEED"] = task["seed"]
    except BaseException as error:  # a test may exit or be interrupted too
        return {"passed": False, "credit": None, **explain(error)}
    return {"passed": True, "credit": credit, "message": "", "public": True}


def bind(line, scope, names):
    """Let the student's values stand for the names; unbind what is gone."""
    found = line.ask(op="names", names=names)
    for name in names:
        scope.pop(name, None)
        if name in found:
            value = decode(line, found[name])
            if isinstance(value, Remote):
                value.__name__ = name
            scope[name] = value


def snippet_runner(line):
    """Return `student_run`: a trusted snippet, run beside the answers."""

    def student_run(source, **values):
        data = wire.dumps(values, number_of)
        text = data.decode("utf-8", "surrogatepass")
        value = line.ask(op="snippet", source=source, values=text)
        return decode(line, value)

    return student_run


def run_cell(source, scope, label):
    """Run a trusted cell; return the number its last line gives, if any."""
    tree = ast.parse(MAGIC.sub("pass", source))
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, f"<cell {label}>", "exec"), scope)
    if last is None:
        return None
    value = eval(compile(last, f"<cell {label}>", "eval"), scope)
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, int | float | np.integer | np.floating):
        return float(value)
    return None


def explain(error):
    """Return the message, and whether the student may read it.

    Messages that the course wrote, and errors of the student's own code,
    are public. Those of libraries may show expected values, so are not.
    """
    if isinstance(error, StudentError):
        text = str(error.args[0]) if error.args else ""
        return {"message": text[:600], "public": True}
    frames = traceback.extract_tb(error.__traceback__)
    ours = bool(frames) and frames[-1].filename.startswith("<cell ")
    kind = type(error).__name__
    text = str(error)[:600]
    if isinstance(error, AssertionError) and ours and text:
        return {"message": text, "public": True}
    if isinstance(error, NameError) and ours:
        text = f"{text}; its cell is missing, stopped, or uses another name"
        return {"message": text, "public": True}
    if isinstance(error, Misuse):
        return {"message": text, "public": True}
    return {"message": f"{kind}: {text}"[:600], "public": False}


if __name__ == "__main__":
    zygote.main(**json.loads(sys.argv[1]), prepare=guard_sympy, serve=serve)
