"""The ordered products, their paths, and the counts for any depth."""

from math import comb

import pytest
import sympy as sp

from assembled.symbolic import block
from assembled.symbolic.proof import prove_equal

DEPTHS = (1, 2, 3, 6)
b, z, n = block.taken, block.norms, block.n


def test_one_block_by_the_chain_rule():
    F, N, t = sp.Function("F"), sp.Function("N"), block.t
    pre = block.block_derivative("pre")
    prove_equal(pre, 1 + F(N(t)).diff(N(t)) * N(t).diff(t))
    post = block.block_derivative("post")
    outer = N(block.t + F(t)).diff(t) / (1 + F(t).diff(t))
    prove_equal(post, outer * (1 + F(t).diff(t)))


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("placement", ("pre", "post"))
def test_a_product_has_two_to_the_depth_paths(placement, depth):
    terms = block.paths(block.stack_jacobian(placement, depth))
    assert len(set(terms)) == 2**depth


@pytest.mark.parametrize("depth", DEPTHS)
def test_every_post_ln_path_meets_every_norm(depth):
    terms = block.paths(block.stack_jacobian("post", depth))
    assert {block.count_norms(p) for p in terms} == {depth}


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_pre_ln_path_meets_a_norm_a_branch_and_the_last(depth):
    terms = block.paths(block.stack_jacobian("pre", depth))
    for k in range(depth + 1):
        with_k = [p for p in terms
                  if sum(f.name.startswith("J") for f in block.factors(p))
                  == k]
        assert len(with_k) == comb(depth, k)
        assert {block.count_norms(p) for p in with_k} == {k + 1}


@pytest.mark.parametrize("depth", DEPTHS)
def test_the_pre_ln_identity_path_meets_the_final_norm_alone(depth):
    bare = block.paths(block.stack_jacobian("pre", depth, False))
    assert bare[0] == 1
    closed = block.paths(block.stack_jacobian("pre", depth))
    assert closed[0] == block.norm_jacobian("f")


@pytest.mark.parametrize("depth", DEPTHS)
def test_later_sublayers_stand_to_the_left(depth):
    for placement in ("pre", "post"):
        for path in block.paths(
            block.stack_jacobian(placement, depth, False)
        ):
            order = [int(f.name[2:]) for f in block.factors(path)]
            assert order == sorted(order, reverse=True)


@pytest.mark.parametrize("placement", ("pre", "post"))
def test_the_count_for_any_depth_by_induction(placement):
    prove_equal(
        block.path_claim(placement, 0), block.path_polynomial(placement, 0)
    )
    prove_equal(*block.induction_step(placement))


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("placement", ("pre", "post"))
def test_the_polynomial_counts_the_listed_paths(placement, depth):
    product = block.stack_jacobian(placement, depth)
    listed = sum(
        z ** block.count_norms(p)
        * b ** sum(f.name.startswith("J") for f in block.factors(p))
        for p in block.paths(product)
    )
    prove_equal(block.path_polynomial(placement, depth), listed)
    prove_equal(listed, block.path_claim(placement, depth))


def test_the_first_order_sum_is_not_the_product():
    product = block.stack_jacobian("pre", 2, final_norm=False)
    with pytest.raises(AssertionError, match="false"):
        prove_equal(product, block.first_order_sum(2))
    p, q = sp.symbols("p q")
    scalar = {block.branch_jacobian(1): p, block.branch_jacobian(2): q,
              block.norm_jacobian(1): 1, block.norm_jacobian(2): 1}
    prove_equal(product.subs(scalar), 1 + p + q + p * q)


def test_an_unknown_placement_is_named():
    with pytest.raises(ValueError, match="sandwich"):
        block.stack_jacobian("sandwich", 2)
