"""The codec between student and checker: plain data, nothing that runs.

None, bool, int, float and str are themselves in JSON; all else is a list
that starts with a tag. Decoding trusts nothing: unknown tags, too many
nodes, too deep nesting and wrong lengths raise WireError. No pickle, no
eval, no sympify: a string never becomes anything but a string or a name.
"""

import base64
import json
import sys

import numpy as np

MAX_NODES = 200_000
MAX_DEPTH = 120
MAX_BYTES = 4 << 20  # of one encoded value
MAX_INT_BITS = 1 << 16

DTYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "float16 float32 float64 complex64 complex128".split()
) | {np.dtype(np.longdouble).name}
TORCH_DTYPES = frozenset(
    "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 "
    "complex64 complex128".split()
)


class WireError(ValueError):
    """A value that cannot cross, or bytes that are not a value."""


def dumps(value, opaque=None):
    """Encode a value; `opaque(obj)` names what has no plain form."""
    try:
        text = json.dumps(encode(value, opaque, 0))
    except RecursionError:
        raise WireError("the value is nested too deeply") from None
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > MAX_BYTES:
        raise WireError(f"the value takes more than {MAX_BYTES} bytes")
    return data


def loads(data, handle=None):
    """Decode bytes; `handle(number, kind, name)` stands for the opaque."""
    if len(data) > 2 * MAX_BYTES:
        raise WireError("too many bytes")
    try:
        node = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WireError(f"not JSON: {type(error).__name__}") from None
    return decode(node, Budget(handle), 0)


class Budget:
    """What is left of one decoding: nodes; and how handles are made."""

    def __init__(self, handle=None):
        self.handle = handle
        self.nodes = MAX_NODES

    def spend(self, depth):
        """Count one node at this depth."""
        self.nodes -= 1
        if self.nodes < 0:
            raise WireError("the value has too many parts")
        if depth > MAX_DEPTH:
            raise WireError("the value is nested too deeply")


# --- encode -----------------------------------------------------------------


def encode(value, opaque, depth):
    """Return the JSON form of a value."""
    if depth > MAX_DEPTH:
        raise WireError("the value is nested too deeply")
    if value is None or type(value) in (bool, float):
        return value
    if type(value) is int:
        return value if abs(value) < 1 << 62 else ["int", hex(value)]
    if isinstance(value, np.generic | np.ndarray | np.dtype):
        return encode_numpy(value, opaque, depth)
    if isinstance(value, str):
        return str.__str__(value)
    for tag, kind in (("complex", complex), ("bytes", bytes)):
        if isinstance(value, kind):
            return encode_scalar(tag, value)
    for tag, kind in CONTAINERS.items():
        if isinstance(value, kind):
            return [tag, *(encode(x, opaque, depth + 1) for x in value)]
    if isinstance(value, dict):
        pairs = [
            [encode(k, opaque, depth + 1), encode(v, opaque, depth + 1)]
            for k, v in value.items()
        ]
        return ["dict", *pairs]
    return encode_library(value, opaque, depth)


CONTAINERS = {
    "list": list, "tuple": tuple, "set": set, "frozenset": frozenset,
}  # fmt: skip


def encode_scalar(tag, value):
    """Encode complex numbers and bytes."""
    if tag == "complex":
        return ["complex", value.real, value.imag]
    return ["bytes", base64.b64encode(value).decode()]


def encode_numpy(value, opaque, depth):
    """Encode arrays, scalars and dtypes; masks are kept, not dropped."""
    if getattr(value, "nbytes", 0) > MAX_BYTES:
        raise WireError(f"the array takes more than {MAX_BYTES} bytes")
    if isinstance(value, np.dtype):
        return ["dtype", value.name]
    if value.dtype.name not in DTYPES:
        if isinstance(value, np.str_):
            return str(value)
        return encode_objects(value, opaque, depth)
    if isinstance(value, np.generic):
        return ["scalar", value.dtype.name, raw(value)]
    form = [value.dtype.name, list(value.shape)]
    if isinstance(value, np.ma.MaskedArray):
        mask = np.broadcast_to(np.ma.getmaskarray(value), value.shape)
        return ["masked", *form, raw(value.data), raw(mask)]
    return ["array", *form, raw(value)]


def encode_objects(value, opaque, depth):
    """Encode an array of SymPy expressions, strings or the like."""
    if value.dtype.kind not in "OU":
        raise WireError(f"arrays of dtype {value.dtype} cannot cross")
    items = [encode(x, opaque, depth + 1) for x in np.ravel(value).tolist()]
    return ["objects", list(value.shape), *items]


def raw(value):
    """Return the bytes of an array in C order, little-endian, as text."""
    value = np.asarray(value)
    value = value.astype(value.dtype.newbyteorder("<"))
    return base64.b64encode(value.tobytes()).decode()


def encode_library(value, opaque, depth):
    """Encode tensors, SymPy trees, generators; the rest is opaque."""
    torch = sys.modules.get("torch")
    if torch and isinstance(value, torch.Tensor):
        return encode_tensor(torch, value)
    if torch and isinstance(value, torch.dtype):
        return ["torch.dtype", str(value).removeprefix("torch.")]
    if isinstance(value, type) and issubclass(value, np.generic):
        return ["dtype", np.dtype(value).name]
    if isinstance(value, np.random.Generator):
        return ["rng", encode(value.bit_generator.state, opaque, depth + 1)]
    if "sympy" in sys.modules:
        from autograder import wire_sympy

        if wire_sympy.is_tree(value):
            return ["sympy", wire_sympy.encode(value, depth)]
    if opaque is None:
        raise WireError(f"a {type(value).__name__} cannot cross")
    return ["handle", *opaque(value)]


def encode_tensor(torch, value):
    """Encode a dense tensor as its bytes."""
    if value.numel() * value.element_size() > MAX_BYTES:
        raise WireError(f"the tensor takes more than {MAX_BYTES} bytes")
    plain = value.detach().cpu().contiguous()
    name = str(plain.dtype).removeprefix("torch.")
    if name not in TORCH_DTYPES:
        raise WireError(f"tensors of dtype {name} cannot cross")
    flat = plain.reshape(-1).view(torch.uint8).numpy().tobytes()
    text = base64.b64encode(flat).decode()
    return ["tensor", name, list(plain.shape), text]


# --- decode -----------------------------------------------------------------


# torch says RuntimeError of a shape that has no size
UNFIT = (TypeError, ValueError, KeyError, OverflowError, RuntimeError)


def decode(node, budget, depth):
    """Return the value of one JSON node."""
    budget.spend(depth)
    if not isinstance(node, list):
        if isinstance(node, dict):
            raise WireError("a bare JSON object is no value")
        return node
    if not node or not isinstance(node[0], str) or node[0] not in DECODERS:
        raise WireError("unknown tag")
    try:
        return DECODERS[node[0]](node[1:], budget, depth + 1)
    except WireError:
        raise
    except UNFIT as error:
        name = type(error).__name__
        raise WireError(f"malformed {node[0]} ({name})") from None


def decode_all(parts, budget, depth):
    """Decode every part."""
    return [decode(part, budget, depth) for part in parts]


def decode_int(parts, budget, depth):
    """Decode a big integer from hexadecimal text."""
    (text,) = parts
    if len(text) > MAX_INT_BITS // 4:
        raise WireError("the integer is too long")
    return int(text, 16)


def decode_complex(parts, budget, depth):
    """Decode a complex number from its two floats."""
    real, imag = parts
    return complex(float(real), float(imag))


def decode_bytes(parts, budget, depth):
    """Decode bytes from base64."""
    (text,) = parts
    return base64.b64decode(text, validate=True)


def decode_dict(parts, budget, depth):
    """Decode a dictionary from its pairs."""
    pairs = [decode_all(pair, budget, depth) for pair in parts]
    return {key: value for key, value in pairs}


def unpack(name, shape, text):
    """Return the array of this dtype and shape, its length checked."""
    if name not in DTYPES:
        raise WireError("this dtype cannot cross")
    dtype = np.dtype(name).newbyteorder("<")
    data = base64.b64decode(text, validate=True)
    if count(shape) * dtype.itemsize != len(data):
        raise WireError("the array's bytes do not fill its shape")
    flat = np.frombuffer(data, dtype).astype(np.dtype(name))
    return flat.reshape(shape)


def count(shape):
    """Return the number of entries of a shape, checked."""
    if len(shape) > 16 or any(type(n) is not int or n < 0 for n in shape):
        raise WireError("malformed shape")
    total = 1
    for n in shape:
        total *= n
    return total


def decode_array(parts, budget, depth):
    """Decode an array: dtype, shape, bytes."""
    name, shape, text = parts
    return unpack(name, shape, text)


def decode_scalar(parts, budget, depth):
    """Decode a NumPy scalar: dtype, bytes."""
    name, text = parts
    return unpack(name, [1], text)[0]


def decode_masked(parts, budget, depth):
    """Decode a masked array: dtype, shape, bytes, mask."""
    name, shape, text, mask = parts
    return np.ma.MaskedArray(
        unpack(name, shape, text), unpack("bool", shape, mask)
    )


def decode_objects(parts, budget, depth):
    """Decode an array of objects: shape, then every entry."""
    shape, *items = parts
    if count(shape) != len(items):
        raise WireError("the array's entries do not fill its shape")
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(decode_all(items, budget, depth)):
        array[i] = item
    return array.reshape(shape)


def decode_dtype(parts, budget, depth):
    """Decode a NumPy dtype from its name."""
    (name,) = parts
    if name not in DTYPES:
        raise WireError("this dtype cannot cross")
    return np.dtype(name)


def decode_torch_dtype(parts, budget, depth):
    """Decode a torch dtype from its name."""
    (name,) = parts
    if name not in TORCH_DTYPES:
        raise WireError("this dtype cannot cross")
    import torch

    return getattr(torch, name)


def decode_tensor(parts, budget, depth):
    """Decode a tensor: dtype, shape, bytes."""
    name, shape, text = parts
    dtype = decode_torch_dtype([name], budget, depth)
    data = bytearray(base64.b64decode(text, validate=True))
    if count(shape) * dtype.itemsize != len(data):
        raise WireError("the tensor's bytes do not fill its shape")
    import torch

    if not data:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(data, dtype=dtype).reshape(shape)


def decode_rng(parts, budget, depth):
    """Decode a random generator (PCG64 only): a copy, not a link."""
    (state,) = decode_all(parts, budget, depth)
    generator = np.random.Generator(np.random.PCG64(0))
    generator.bit_generator.state = state
    return generator


def decode_sympy(parts, budget, depth):
    """Decode a SymPy tree through the whitelist."""
    from autograder import wire_sympy

    (tree,) = parts
    return wire_sympy.decode(tree, budget, depth)


def decode_handle(parts, budget, depth):
    """Decode a handle: number, kind, name."""
    number, kind, name = parts
    if budget.handle is None or type(number) is not int:
        raise WireError("no handle is expected here")
    return budget.handle(number, str(kind)[:80], str(name)[:80])


DECODERS = {
    "int": decode_int,
    "complex": decode_complex,
    "bytes": decode_bytes,
    "list": lambda *a: decode_all(*a),
    "tuple": lambda *a: tuple(decode_all(*a)),
    "set": lambda *a: set(decode_all(*a)),
    "frozenset": lambda *a: frozenset(decode_all(*a)),
    "dict": decode_dict,
    "array": decode_array,
    "scalar": decode_scalar,
    "masked": decode_masked,
    "objects": decode_objects,
    "dtype": decode_dtype,
    "tensor": decode_tensor,
    "torch.dtype": decode_torch_dtype,
    "rng": decode_rng,
    "sympy": decode_sympy,
    "handle": decode_handle,
}
