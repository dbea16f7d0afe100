"""The student's side: runs answers and calls, inside the sandbox.

It reads requests from one inherited socket and sends back plain data.
Nothing it says is trusted, so nothing here needs to be protected from
the code that it runs: a forged reply is only another wrong answer.
"""

import ast
import contextlib
import io
import json
import signal
import sys
import types
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder import wire, wire_sympy, zygote  # noqa: F401  before forks

sys.path.pop(0)

MAX_PRINTED = 20_000  # characters of a cell's output that are kept


class Overtime(KeyboardInterrupt):
    """The time for this request is over."""


class Tap(io.TextIOBase):
    """A stream that keeps the beginning of what is printed."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        """Keep what still fits; count nothing, store nothing else."""
        self.text += str(text)[: MAX_PRINTED - len(self.text)]
        return len(text)


def serve(sock):
    """Serve requests until the grader hangs up."""
    signal.signal(signal.SIGALRM, overtime)
    stream = sock.makefile("rwb")
    shell = InteractiveShell.instance()
    sys.modules["google.colab"] = colab_stub()
    handles = {}
    while frame := read_frame(stream):
        kind, request = frame  # the kind numbers the request
        reply = answer(shell, handles, json.loads(request))
        write_frame(stream, kind, reply)


def read_frame(stream):
    """Return (kind, payload) of the next frame, or None at the end."""
    head = stream.read(5)
    if not head:
        return None
    return head[:1], stream.read(int.from_bytes(head[1:], "big"))


def write_frame(stream, kind, payload):
    """Send one frame."""
    stream.write(kind + len(payload).to_bytes(4, "big") + payload)
    stream.flush()


def overtime(signum, frame):
    """Interrupt the request that runs (signal handler)."""
    raise Overtime("it took too long")


def make_shell():
    """Make the IPython shell: cells may hold magics and display()."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor"
    shell = InteractiveShell.instance(config=config)
    shell.showtraceback = lambda *args, **kwargs: None
    shell.showsyntaxerror = lambda *args, **kwargs: None
    shell.register_magic_function(lambda line: None, "line", "matplotlib")


def colab_stub():
    """Return a `google.colab` whose every part is callable and silent."""

    class Silent(types.ModuleType):
        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return self

        def __call__(self, *args, **kwargs):
            return self

    package = types.ModuleType("google")
    package.colab = Silent("google.colab")
    sys.modules["google"] = package
    return package.colab


# --- one request ------------------------------------------------------------


def answer(shell, handles, request):
    """Serve one request; always return the bytes of a reply."""
    tap = Tap()
    try:
        with contextlib.redirect_stdout(tap), contextlib.redirect_stderr(tap):
            signal.setitimer(signal.ITIMER_REAL, request["seconds"], 1.0)
            try:
                reply = OPERATIONS[request["op"]](shell, handles, request)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    except BaseException as error:  # sys.exit, interrupts, anything
        reply = {"error": describe(error)}
    reply["printed"] = tap.text
    return json.dumps(reply).encode("utf-8", "surrogatepass")


def describe(error):
    """Return the error as data: its type, its text, the line in the cell."""
    try:
        text = error.msg if isinstance(error, SyntaxError) else error
        text = str(text)[:500]
    except BaseException:  # whatever a student's own exception does
        text = ""
    return {
        "type": type(error).__name__[:80],
        "text": text,
        "line": line_of(error),
    }


def line_of(error):
    """Return the last line number inside a cell that the error passed."""
    if isinstance(error, SyntaxError):
        return error.lineno
    line, trace = None, error.__traceback__
    while trace:
        if "ipython-input" in trace.tb_frame.f_code.co_filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def run_cell(shell, handles, request):
    """Run the text of a cell as a notebook would."""
    result = shell.run_cell(request["source"], store_history=False)
    error = result.error_before_exec or result.error_in_exec
    return {"error": describe(error)} if error else {}


def read_names(shell, handles, request):
    """Return the values of the names that exist, encoded."""
    found = {
        name: encode(shell.user_ns[name], handles, name)
        for name in request["names"]
        if name in shell.user_ns
    }
    return {"value": found}


def call(shell, handles, request):
    """Call a handle, or read an attribute of it."""
    target = handles[request["handle"]]
    if request["attribute"] is not None:
        value = getattr(target, request["attribute"])
        return {"value": encode(value, handles, request["attribute"])}
    arguments = request["arguments"].encode("utf-8", "surrogatepass")
    args, kwargs = wire.loads(arguments, lambda n, *_: handles[n])
    value = target(*args, **kwargs)
    return {"value": encode(value, handles, "result")}


def run_snippet(shell, handles, request):
    """Run a trusted snippet beside the student's names; return its value."""
    values = request["values"].encode("utf-8", "surrogatepass")
    values = wire.loads(values, lambda n, *_: handles[n])
    scope = {**shell.user_ns, **values}
    tree = ast.parse(request["source"])
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, "<snippet>", "exec"), scope)
    value = eval(compile(last, "<snippet>", "eval"), scope) if last else None
    return {"value": encode(value, handles, "result")}


OPERATIONS = {
    "run": run_cell, "names": read_names, "call": call,
    "snippet": run_snippet,
}  # fmt: skip


def encode(value, handles, name):
    """Encode a value; what has no plain form stays here, as a handle."""

    def opaque(thing):
        handles[id(thing)] = thing  # kept alive, so the id stays its own
        kind = type(thing).__name__
        return [id(thing), kind, getattr(thing, "__name__", name)]

    try:
        return wire.dumps(value, opaque).decode("utf-8", "surrogatepass")
    except wire.WireError:
        return json.dumps(["handle", *opaque(value)])


if __name__ == "__main__":
    zygote.main(**json.loads(sys.argv[1]), prepare=make_shell, serve=serve)
