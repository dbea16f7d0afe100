"""SymPy expressions as trees of whitelisted nodes.

A node is [class name, argument, ...]; only symbols, functions and
numbers carry anything but further nodes. SymPy's constructors
evaluate strings they are handed, so none is ever handed one.
"""

import builtins
import re

import sympy as sp
from sympy.core.function import AppliedUndef, UndefinedFunction
from sympy.functions.elementary.piecewise import ExprCondPair
from sympy.matrices.expressions.matexpr import MatrixElement

from autograder.wire import MAX_DEPTH, WireError

ASSUMPTIONS = frozenset(sp.Symbol("x", positive=True).assumptions0) | {
    "even", "odd", "prime", "composite", "integer", "rational", "irrational",
    "algebraic", "transcendental", "noninteger", "infinite", "imaginary",
    "nonnegative", "nonpositive", "negative", "zero", "nonzero",
}  # fmt: skip

SINGLETONS = {
    type(value).__name__: value
    for value in (
        sp.pi, sp.E, sp.I, sp.oo, -sp.oo, sp.zoo, sp.nan, sp.EulerGamma,
        sp.GoldenRatio, sp.Catalan, sp.true, sp.false, sp.S.EmptySet,
        sp.S.Reals, sp.S.Complexes, sp.S.UniversalSet,
    )
}  # fmt: skip
NUMBER_SETS = {
    "Naturals": sp.S.Naturals, "Naturals0": sp.S.Naturals0,
    "Integers": sp.S.Integers, "Rationals": sp.S.Rationals,
}  # fmt: skip
SINGLETONS |= NUMBER_SETS

KEPT = {  # rebuilt with evaluate=False, so the tree stays as it was
    cls.__name__: cls
    for cls in (
        sp.Add, sp.Mul, sp.Pow, sp.exp, sp.log, sp.sin, sp.cos, sp.tan,
        sp.cot, sp.sec, sp.csc, sp.asin, sp.acos, sp.atan, sp.acot, sp.atan2,
        sp.sinh, sp.cosh, sp.tanh, sp.coth, sp.sech, sp.csch, sp.asinh,
        sp.acosh, sp.atanh, sp.sinc, sp.Abs, sp.sign, sp.re, sp.im,
        sp.conjugate, sp.arg, sp.Max, sp.Min, sp.factorial, sp.binomial,
        sp.gamma, sp.loggamma, sp.digamma, sp.polygamma, sp.erf, sp.erfc,
        sp.Heaviside, sp.DiracDelta, sp.KroneckerDelta, sp.LeviCivita,
        sp.floor, sp.ceiling, sp.frac, sp.Mod, sp.harmonic, sp.LambertW,
        sp.Eq, sp.Ne, sp.Lt, sp.Le, sp.Gt, sp.Ge, sp.And, sp.Or, sp.Not,
        sp.Xor, sp.Implies, sp.Piecewise, sp.polylog, sp.zeta, sp.expint,
    )
}  # fmt: skip
PLAIN = {
    cls.__name__: cls
    for cls in (
        sp.Tuple, sp.Dict, sp.Lambda, sp.Sum, sp.Product, sp.Integral,
        sp.Derivative, sp.Subs, sp.Limit, ExprCondPair, sp.Indexed,
        sp.IndexedBase, sp.Idx, sp.FiniteSet, sp.Interval, sp.Union,
        sp.Intersection, sp.Complement, sp.Contains, sp.ProductSet, sp.Range,
        MatrixElement, sp.MatMul, sp.MatAdd, sp.MatPow,
        sp.Transpose, sp.Inverse, sp.Trace, sp.Determinant, sp.Adjoint,
        sp.HadamardProduct, sp.HadamardPower, sp.KroneckerProduct,
        sp.Identity, sp.ZeroMatrix, sp.OneMatrix, sp.DiagMatrix,
        sp.UnevaluatedExpr,
    )
}  # fmt: skip
CLASSES = KEPT | PLAIN
NAME = re.compile(r"[\w ^{}\\'+*,|/-]+")


def is_tree(value):
    """Return whether this is a SymPy object that may have a tree."""
    return isinstance(value, sp.Basic | sp.MatrixBase | sp.NDimArray)


# --- encode -----------------------------------------------------------------


def encode(value, depth=0):
    """Return the tree of a SymPy object."""
    if depth > MAX_DEPTH:
        raise WireError("the expression is nested too deeply")
    if isinstance(value, sp.MatrixBase):
        mutable = not isinstance(value, sp.ImmutableDenseMatrix)
        entries = [encode(x, depth + 1) for x in value.flat()]
        return ["Matrix", mutable, *value.shape, *entries]
    if isinstance(value, sp.NDimArray):
        flat = sp.flatten(value.tolist()) if value.shape else [value[()]]
        entries = [encode(x, depth + 1) for x in flat]
        return ["Array", [int(n) for n in value.shape], *entries]
    name = type(value).__name__
    if SINGLETONS.get(name) is not None and value == SINGLETONS[name]:
        return [name]
    if name in LEAVES or isinstance(value, sp.Rational):
        return encode_leaf(value)
    if name == "MatrixSymbol":
        shape = [encode(n, depth + 1) for n in value.shape]
        return ["MatrixSymbol", str(value.name), *shape]
    args = [encode(x, depth + 1) for x in value.args]
    if isinstance(value, AppliedUndef):
        kind = value.func
        return ["Applied", kind.name, given(kind._kwargs), *args]
    if CLASSES.get(name) is not type(value):
        raise WireError(f"SymPy's {name} cannot cross")
    return [name, *args]


LEAVES = frozenset({"Symbol", "Dummy", "Float"})


def encode_leaf(value):
    """Encode symbols, numbers and names."""
    name = type(value).__name__
    if isinstance(value, sp.Rational):
        return ["Rational", hex(int(value.p)), hex(int(value.q))]
    if name == "Float":
        sign, man, exponent, _ = value._mpf_
        return ["Float", sign, hex(int(man)), int(exponent), value._prec]
    if name == "Dummy":
        facts = given(value._assumptions_orig)
        return ["Dummy", str(value.name), value.dummy_index, facts]
    return ["Symbol", str(value.name), given(value._assumptions_orig)]


def given(facts):
    """Return the assumptions that say something."""
    return {k: v for k, v in facts.items() if type(v) is bool}


# --- decode -----------------------------------------------------------------


def decode(node, budget, depth):
    """Return the SymPy object of a tree."""
    budget.spend(depth)
    if not isinstance(node, list) or not node or type(node[0]) is not str:
        raise WireError("a SymPy node is a list that starts with a name")
    name, *parts = node
    if name in SINGLETONS and not parts:
        return SINGLETONS[name]
    if name in SPECIAL:
        return SPECIAL[name](parts, budget, depth)
    if name not in CLASSES:
        raise WireError("this SymPy class cannot cross")
    args = [decode(part, budget, depth + 1) for part in parts]
    return build(name, args)


def build(name, args):
    """Call a whitelisted constructor on decoded arguments only."""
    options = {"evaluate": False} if name in KEPT else {}
    try:
        return CLASSES[name](*args, **options)
    except RecursionError:
        raise WireError(f"malformed SymPy {name}") from None
    except Exception as error:  # SymPy raises many kinds; all mean the same
        kind = type(error).__name__
        raise WireError(f"malformed SymPy {name} ({kind})") from None


def name_of(text):
    """Return a name that is harmless even as source code.

    lambdify writes names into source code and executes it. Without
    brackets, dots, quotes and the like, no name can call anything.
    """
    if type(text) is not str or not 0 < len(text) <= 200:
        raise WireError("malformed SymPy name")
    if not NAME.fullmatch(text):
        raise WireError("a SymPy name with brackets, dots or quotes")
    return text


def function_name(text):
    """Return the name of an undefined function, none that Python has."""
    if not name_of(text).isidentifier() or text.startswith("_"):
        raise WireError("a SymPy function whose name is no identifier")
    if hasattr(builtins, text):
        raise WireError(f"a SymPy function called {text}, as Python's own")
    return text


def facts_of(facts):
    """Return checked assumptions."""
    if not isinstance(facts, dict) or not set(facts) <= ASSUMPTIONS:
        raise WireError("malformed assumptions")
    if any(type(v) is not bool for v in facts.values()):
        raise WireError("malformed assumptions")
    return facts


def with_facts(make, facts):
    """Call a symbol's constructor; SymPy refuses contradictory facts."""
    try:
        return make(**facts_of(facts))
    except sp.core.facts.InconsistentAssumptions:
        raise WireError("contradictory assumptions") from None


def decode_symbol(parts, budget, depth):
    """Decode [name, assumptions]."""
    name, facts = parts
    name = name_of(name)
    return with_facts(lambda **kw: sp.Symbol(name, **kw), facts)


def decode_dummy(parts, budget, depth):
    """Decode [name, index, assumptions]."""
    name, index, facts = parts
    if type(index) is not int:
        raise WireError("malformed Dummy")
    name = name_of(name)
    return with_facts(
        lambda **kw: sp.Dummy(name, dummy_index=index, **kw), facts
    )


def decode_applied(parts, budget, depth):
    """Decode an applied undefined function: [name, assumptions, args]."""
    name, facts, *args = parts
    name = function_name(name)
    kind = with_facts(lambda **kw: UndefinedFunction(name, **kw), facts)
    return kind(*(decode(arg, budget, depth + 1) for arg in args))


def decode_matrix_symbol(parts, budget, depth):
    """Decode [name, rows, columns]."""
    name, *shape = parts
    rows, columns = (decode(n, budget, depth + 1) for n in shape)
    if not isinstance(rows, sp.Expr) or not isinstance(columns, sp.Expr):
        raise WireError("malformed MatrixSymbol")
    return sp.MatrixSymbol(name_of(name), rows, columns)


def whole(text):
    """Return an integer from bounded hexadecimal text."""
    if type(text) is not str or len(text) > 1 << 14:
        raise WireError("malformed integer")
    return int(text, 16)


def decode_rational(parts, budget, depth):
    """Decode [numerator, denominator], both hexadecimal."""
    p, q = (whole(text) for text in parts)
    return sp.Rational(p, q)


def decode_float(parts, budget, depth):
    """Decode [sign, mantissa, exponent, precision]."""
    sign, mantissa, exponent, precision = parts
    if any(type(n) is not int for n in (sign, exponent, precision)):
        raise WireError("malformed Float")
    if not 0 < precision <= 1 << 14 or abs(exponent) > 1 << 20:
        raise WireError("malformed Float")
    if whole(mantissa) == 0:
        return sp.Float(0, precision=precision)
    value = (sign & 1, whole(mantissa), exponent)
    return sp.Float(value, precision=precision)


def decode_matrix(parts, budget, depth):
    """Decode [mutable, rows, columns, entries]."""
    mutable, rows, columns, *entries = parts
    if type(rows) is not int or type(columns) is not int:
        raise WireError("malformed Matrix")
    if min(rows, columns) < 0 or rows * columns != len(entries):
        raise WireError("the entries do not fill the Matrix")
    kind = sp.Matrix if mutable else sp.ImmutableMatrix
    values = [decode(entry, budget, depth + 1) for entry in entries]
    if not all(isinstance(value, sp.Expr) for value in values):
        raise WireError("malformed Matrix entry")
    return kind(rows, columns, values)


def decode_ndarray(parts, budget, depth):
    """Decode [shape, entries]."""
    shape, *entries = parts
    size = 1
    for n in shape:
        if type(n) is not int or n < 0:
            raise WireError("malformed Array")
        size *= n
    if size != len(entries) or len(shape) > 8:
        raise WireError("the entries do not fill the Array")
    values = [decode(entry, budget, depth + 1) for entry in entries]
    return sp.ImmutableDenseNDimArray(values, tuple(shape))


SPECIAL = {
    "Symbol": decode_symbol,
    "Dummy": decode_dummy,
    "Applied": decode_applied,
    "MatrixSymbol": decode_matrix_symbol,
    "Rational": decode_rational,
    "Float": decode_float,
    "Matrix": decode_matrix,
    "Array": decode_ndarray,
}
