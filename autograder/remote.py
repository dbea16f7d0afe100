"""What stands in the checker for the student's objects.

A Remote is a function, class or object that stays in the student's
process. It can be called and has attributes; it refuses to be data.
"""

import json

from autograder import wire


class StudentError(Exception):
    """The student's function raised, or its process has ended."""


# A test may expect the student's function to raise one of these.
EXPECTED = {
    kind.__name__: type(f"Student{kind.__name__}", (StudentError, kind), {})
    for kind in (
        ArithmeticError, AttributeError, FloatingPointError, IndexError,
        KeyError, LookupError, NotImplementedError, OverflowError,
        RuntimeError, TypeError, ValueError, ZeroDivisionError,
    )
}  # fmt: skip


# How NumPy and math refuse a SymPy expression; neither names the cause.
NOT_FOR_SYMBOLS = (
    "loop of ufunc does not support argument",
    "Cannot convert expression to float",
)


class Misuse(TypeError):
    """A test treated an opaque object as data."""


class Line:
    """The child's line to the grader: frames in, frames out."""

    def __init__(self, sock):
        self.stream = sock.makefile("rwb")

    def read(self):
        """Return (kind, payload); kind is empty at the end."""
        head = self.stream.read(5)
        size = int.from_bytes(head[1:], "big")
        return head[:1], self.stream.read(size)

    def write(self, kind, message):
        """Send one message."""
        data = json.dumps(message).encode("utf-8", "surrogatepass")
        self.stream.write(kind + len(data).to_bytes(4, "big") + data)
        self.stream.flush()

    def ask(self, **request):
        """Ask the student's process; return the reply's value."""
        self.write(b"Q", request)
        kind, payload = self.read()
        if kind != b"R":  # the grader says why there is no reply
            raise StudentError(payload.decode(errors="replace"))
        reply = json.loads(payload)
        error = reply.get("error")
        if error:
            kind = EXPECTED.get(str(error["type"]), StudentError)
            raise kind(told(request, error))
        return reply["value"]


def told(request, error):
    """Return the sentence for an error that the student's code raised."""
    name = request.get("label") or "your code"
    kind, text = str(error["type"]), str(error["text"])
    if kind == "Overtime":
        return f"{name} took too long"
    if text.startswith(NOT_FOR_SYMBOLS):
        text += " (functions of NumPy and math take no SymPy expression: "
        text += "use SymPy's, such as sp.sqrt)"
    return f"{name} raised {kind}: {text}" if text else f"{name} raised {kind}"


def refuse(self, *args, **kwargs):
    """Say that an opaque object is no data."""
    raise Misuse(f"{self} is a {self._kind}, not plain data")


class Remote:
    """A function, class or object that stays in the student's process."""

    def __init__(self, line, number, kind, name):
        self._line, self._number = line, number
        self._kind, self.__name__ = kind, name

    def __repr__(self):
        return f"<the student's {self.__name__}>"

    def __call__(self, *args, **kwargs):
        """Call the student's function with encoded arguments."""
        data = wire.dumps((args, kwargs), number_of)
        arguments = data.decode("utf-8", "surrogatepass")
        return self._ask(None, arguments)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._ask(name, None)

    def _ask(self, attribute, arguments):
        value = self._line.ask(
            op="call",
            handle=self._number,
            attribute=attribute,
            arguments=arguments,
            label=self.__name__,
        )
        return decode(self._line, value)

    __hash__ = object.__hash__
    __array_ufunc__ = None


REFUSED = (
    "bool eq ne lt le gt ge len iter next contains getitem setitem delitem "
    "int float complex index array array_function torch_function add radd "
    "sub rsub mul rmul truediv rtruediv matmul rmatmul pow rpow neg abs "
    "reversed enter exit instancecheck"
)
for word in REFUSED.split():
    setattr(Remote, f"__{word}__", refuse)
Remote._sympy_ = refuse


def number_of(thing):
    """Return how a Remote goes back to the student; others may not go."""
    if type(thing) is not Remote:
        raise wire.WireError(
            f"a {type(thing).__name__} cannot go to the student's process; "
            "use student_run"
        )
    return [thing._number, thing._kind, thing.__name__]


def decode(line, text):
    """Return the value of an encoded reply, opaque parts as Remotes."""
    data = str(text).encode("utf-8", "surrogatepass")

    def handle(number, kind, name):
        return Remote(line, number, kind, name)

    try:
        return wire.loads(data, handle)
    except wire.WireError as error:
        raise StudentError(f"the value cannot be read: {error}") from None
