"""Plain data crosses whole; nothing else crosses at all."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
import torch

from autograder import wire
from autograder.wire import WireError, dumps, loads

x, y = sp.symbols("x y")
n = sp.Symbol("n", integer=True)
A, B = sp.MatrixSymbol("A", 3, n), sp.MatrixSymbol("B", n, 3)
J, K = sp.symbols("J K", commutative=False)
f = sp.Function("f")
base = sp.IndexedBase("b", shape=(3,))

EXPRESSIONS = [
    x + y, x * y, x**2, sp.sqrt(sp.Symbol("p", positive=True)), -x, 1 / x,
    sp.Rational(1, 3), sp.Float(0.1), sp.Float("0.1", 40), sp.Float(0),
    sp.pi, sp.I, sp.E**x, -sp.oo, sp.zoo, sp.Integer(10) ** 100,
    J * K + K * J, (1 + J) * (1 + K), sp.exp(0, evaluate=False),
    sp.Mul(2, x + y, evaluate=False), sp.Add(x, x, evaluate=False),
    sp.Sum(f(n), (n, 0, x)), sp.Integral(sp.exp(-(x**2)), (x, 0, sp.oo)),
    sp.Derivative(f(x), x, 2), sp.Subs(f(x).diff(x), x, 0),
    sp.KroneckerDelta(n, sp.Symbol("m", integer=True)),
    sp.Piecewise((x, x > 0), (0, True)), sp.Eq(x, y), sp.Not(sp.Eq(x, 1)),
    sp.And(x > 0, y < 1), sp.true, sp.Max(x, y), sp.Lambda(x, x**2),
    sp.Tuple(x, y), sp.FiniteSet(x, 1), sp.Interval(0, 1), sp.S.Reals,
    sp.Matrix([[x, 1], [y, 2]]).inv(), sp.ImmutableMatrix([[x]]),
    sp.zeros(0, 3), A * B, A.T, (A * B)[0, 1], sp.Identity(3), sp.Trace(A * B),
    base[n], base[sp.Idx("k", 3)], sp.Dummy("d"), sp.Array([[1, x]]),
    sp.Symbol("x_{1}^+"), sp.Product(f(n), (n, 1, 3)), sp.Dict({x: 1}),
    sp.Symbol("r", real=True) ** 2, sp.tanh(x), sp.conjugate(x), sp.Mod(n, 2),
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_expressions_cross_whole(expression):
    crossed = loads(dumps(expression))
    assert crossed == expression
    assert type(crossed) is type(expression)


@pytest.mark.parametrize(
    "value",
    [
        None, True, 0, -(10**40), 1.5, math.inf, "ü\ud800", b"\0\xff", 1 - 2j,
        [1, (2, {3}, {"a": [frozenset({4})]})], {(1, 2): None},
    ],
    ids=repr,
)  # fmt: skip
def test_plain_data_crosses_whole(value):
    crossed = loads(dumps(value))
    assert crossed == value
    assert type(crossed) is type(value)


def test_nan_crosses():
    assert math.isnan(loads(dumps(math.nan)))
    assert loads(dumps(sp.nan)) is sp.nan


@pytest.mark.parametrize("dtype", sorted(wire.DTYPES))
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_arrays_cross_with_dtype_and_shape(dtype, shape, rng):
    array = rng.integers(0, 2, size=shape).astype(dtype)
    for value in (array, array.T, np.asfortranarray(array)):
        crossed = loads(dumps(value))
        assert crossed.dtype == value.dtype
        np.testing.assert_array_equal(crossed, value, strict=True)


def test_numbers_of_more_digits_cross():
    third = np.longdouble(1) / 3
    assert loads(dumps(third)) == third
    assert loads(dumps(np.full(2, third)))[1] == third


def test_a_mask_is_not_dropped():
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    crossed = loads(dumps(masked))
    assert isinstance(crossed, np.ma.MaskedArray)
    assert crossed.mask.tolist() == [False, True]


@pytest.mark.parametrize("name", sorted(wire.TORCH_DTYPES))
def test_tensors_cross_with_dtype_and_shape(name):
    for shape in [(), (0, 3), (2, 3)]:
        tensor = torch.ones(shape).to(getattr(torch, name))
        crossed = loads(dumps(tensor))
        assert crossed.dtype == tensor.dtype
        assert crossed.shape == tensor.shape
        assert torch.equal(crossed, tensor)


def test_a_generator_crosses_as_a_copy(rng):
    crossed = loads(dumps(rng))
    assert crossed.normal() == rng.normal()


def test_what_has_no_plain_form_is_opaque():
    class Thing:
        pass

    data = dumps([Thing()], lambda thing: [7, "Thing", "thing"])
    assert loads(data, lambda *parts: parts) == [(7, "Thing", "thing")]
    with pytest.raises(WireError, match="Thing cannot cross"):
        dumps(Thing())
    with pytest.raises(WireError, match="no handle"):
        loads(data)


def nested(depth):
    return b'["list",' * depth + b"0" + b"]" * depth


COMMAND = "__import__('os').system('touch /tmp/owned-by-wire')"
SYMBOL = ["Symbol", "x", {}]
HOSTILE = {
    "no JSON": b"\xff{",
    "deep": nested(500),
    "very deep": nested(200_000),
    "many": json.dumps(["list"] + [0] * (wire.MAX_NODES + 1)).encode(),
    "object": b'{"a": 1}',
    "empty": b"[]",
    "tag": b'["pickle", "gASVBQ=="]',
    "tag of another type": b'[["list"]]',
    "int": json.dumps(["int", "f" * 100_000]).encode(),
    "int of text": b'["int", "__import__"]',
    "unhashable key": b'["dict", [["list"], 1]]',
    "unhashable member": b'["set", ["list"]]',
    "bad pair": b'["dict", [1]]',
    "base64": b'["bytes", "***"]',
    "object dtype": b'["array", "object", [1], "AAAAAAAAAAA="]',
    "structured dtype": b'["array", "i4,O", [1], "AAAAAAAAAAA="]',
    "array too short": b'["array", "float64", [1000000], "AAAA"]',
    "array of no size": b'["array", "float64", [-1, -1], "AAAAAAAAAAA="]',
    "huge empty array": b'["array", "float64", [9999999999999, 0.5], ""]',
    "shape of text": b'["array", "float64", "ab", ""]',
    "tensor": b'["tensor", "os", [1], "AAAA"]',
    "tensor too short": b'["tensor", "float32", [1000], "AAAA"]',
    "generator": b'["rng", ["dict", ["bit_generator", "MT19937"]]]',
    "handle": b'["handle", 1, "a", "b"]',
    "string for exp": json.dumps(["sympy", ["exp", COMMAND]]).encode(),
    "string in Symbol's facts": json.dumps(
        ["sympy", ["Symbol", "x", {"positive": COMMAND}]]
    ).encode(),
    "string in a Matrix": json.dumps(
        ["sympy", ["Matrix", True, 1, 1, COMMAND]]
    ).encode(),
    "string as a size": json.dumps(
        ["sympy", ["Matrix", True, COMMAND, 1, SYMBOL]]
    ).encode(),
    "string in a Float": json.dumps(
        ["sympy", ["Float", 0, COMMAND, 0, 53]]
    ).encode(),
    "string as a Float": json.dumps(
        ["sympy", ["Float", COMMAND, "0x1", 0, 53]]
    ).encode(),
    "string in a Rational": json.dumps(
        ["sympy", ["Rational", COMMAND, "0x1"]]
    ).encode(),
    "Str for exp": json.dumps(
        ["sympy", ["exp", ["Str", COMMAND]]]
    ).encode(),
    "class that is not listed": json.dumps(
        ["sympy", ["parse_expr", ["Str", COMMAND]]]
    ).encode(),
    "module": json.dumps(["sympy", ["sys"]]).encode(),
    "contradiction": json.dumps(
        ["sympy", ["Symbol", "x", {"positive": True, "negative": True}]]
    ).encode(),
    "wrong arity": json.dumps(["sympy", ["Pow", SYMBOL]]).encode(),
    "name that is code": json.dumps(
        ["sympy", ["Symbol", COMMAND, {}]]
    ).encode(),
    "matrix name that is code": json.dumps(
        ["sympy", ["MatrixSymbol", COMMAND, SYMBOL, SYMBOL]]
    ).encode(),
    "function that Python has": json.dumps(
        ["sympy", ["Applied", "exec", {}, SYMBOL]]
    ).encode(),
    "Dummy": json.dumps(["sympy", ["Dummy", "d", COMMAND, {}]]).encode(),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bytes_are_refused(name):
    with pytest.raises(WireError):
        loads(HOSTILE[name])
    assert not Path("/tmp/owned-by-wire").exists()


def test_a_huge_value_is_not_encoded():
    with pytest.raises(WireError, match="bytes"):
        dumps(np.zeros(1 << 20))
    endless = []
    endless.append(endless)
    with pytest.raises(WireError, match="deeply"):
        dumps(endless)
