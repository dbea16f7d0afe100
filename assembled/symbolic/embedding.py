"""Embedding: a lookup is one-hot @ table, so its gradient scatter-adds.

Axes: T, V, D. The output projection, x @ W, needs no file of its own.
"""

import sympy as sp


def one_hot(tokens, vocab_size):
    """Return the matrix (T, V) with a one at (t, tokens[t]).

    >>> one_hot([1, 0, 1], 2)
    Matrix([
    [0, 1],
    [1, 0],
    [0, 1]])
    """
    return sp.Matrix(
        len(tokens), vocab_size, lambda r, v: int(tokens[r] == v)
    )


def embedding(tokens, table):
    """Return the rows table[tokens], (T, D), as one_hot @ table.

    >>> embedding([1, 0, 1], sp.Matrix([3, 5])).T
    Matrix([[5, 3, 5]])
    """
    return one_hot(tokens, table.rows) * table


def embedding_gradient(tokens, table, dy):
    """Return d⟨dy, embedding⟩/d table (V, D), differentiated.

    >>> table = sp.Matrix(2, 1, sp.symbols("e:2"))
    >>> embedding_gradient([1, 0, 1], table, sp.Matrix([3, 5, 7]))
    Matrix([
    [ 5],
    [10]])
    """
    pairing = sum(dy.multiply_elementwise(embedding(tokens, table)))
    return table.applyfunc(lambda entry: sp.diff(pairing, entry))


def scatter_add(tokens, vocab_size, dy):
    """Return (V, D): each row of dy added at its token's row.

    >>> scatter_add([1, 0, 1], 2, sp.Matrix([3, 5, 7])).T
    Matrix([[5, 10]])
    """
    rows = sp.zeros(vocab_size, dy.cols)
    for r, token in enumerate(tokens):
        rows[token, :] += dy.row(r)
    return rows
