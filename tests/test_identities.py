"""A false identity in the place of a true one stops its page, each time.

Every proof of a page, a call in a loop included, gets a mistake that people
make: a sign, a factor of two or a lost term, in one entry.
"""

from pathlib import Path

import pytest
import sympy as sp

from assembled.symbolic.proof import prove_equal
from book._ext import identities

ROOT = Path(__file__).parent.parent


def mistakes(claim):
    """Return false variants of a claim."""
    if isinstance(claim, sp.MatrixBase):
        places = [i for i, entry in enumerate(claim) if entry != 0] or [0]
        return [with_entry(claim, places[-1], wrong)
                for wrong in mistakes(claim[places[-1]])]
    if isinstance(claim, tuple | sp.Tuple):
        return [claim[:-1]]
    if claim == 0:
        return [sp.Integer(1)]
    lost = [claim - claim.args[-1]] if isinstance(claim, sp.Add) else []
    return [-claim, 2 * claim, *lost]


def with_entry(matrix, place, entry):
    """Return a copy with one entry changed."""
    entries = list(matrix)
    entries[place] = entry
    return sp.Matrix(*matrix.shape, entries)


class Sceptic:
    """Falsifies proof number `target` of a step, waves the others through."""

    def __init__(self, sites):
        self.sites, self.reached, self.doubts = sites, set(), 0
        self.swallowed = set()  # true claims where a false one would pass

    def begin(self, target):
        self.target, self.calls, self.site = target, 0, None

    def doubt(self, site, claim):
        """Return a false claim if this is the target, else None."""
        self.calls += 1
        self.reached.add(site)
        if self.calls != self.target + 1 or self.sites[site].refused:
            return None
        self.site = site
        self.doubts += 1
        wrong = mistakes(claim)
        return wrong[self.doubts % len(wrong)]

    def proved(self, site, computed, claimed):
        wrong = self.doubt(site, claimed)
        if self.sites[site].refused:
            prove_equal(computed, claimed)
            self.swallowed.add(site)
        return computed if wrong is None else prove_equal(computed, wrong)

    def equal(self, site, left, right):
        wrong = self.doubt(site, right)
        return left == (right if wrong is None else wrong)


def faults(root, page):
    """Return what is wrong with the page's proofs, and how many ran."""
    steps, sites = identities.watched(root, page)
    sceptic = Sceptic(sites)
    space = {identities.PROVED: sceptic.proved,
             identities.EQUAL: sceptic.equal}
    found = []
    for step in steps:
        target, more = 0, True
        while more:
            before, stopped = dict(space), False
            sceptic.begin(target)
            try:
                identities.execute(step, space)
            except AssertionError:
                if sceptic.site is None:
                    raise  # the page stops as it stands
                stopped = True
            more = sceptic.calls > target
            if sceptic.site is not None and not stopped:
                found.append(("the page goes on", sceptic.site))
            if more:  # as it was before the step
                space.clear()
                space.update(before)
            target += 1
    found += [("a try around it", site) for site in sceptic.swallowed]
    found += [("never reached", site) for site in range(len(sites))
              if site not in sceptic.reached]
    found = [(what, sites[site].source) for what, site in found]
    return found, sceptic.doubts


@pytest.mark.slow
@pytest.mark.parametrize("page", identities.pages(ROOT))
def test_a_false_identity_stops_the_page(page):
    found, proofs = faults(ROOT, page)
    assert found == []
    assert proofs > 0


SAMPLE = """---
kernelspec:
  name: python3
  display_name: Python 3
---

# A page

```{code-cell} python3
import sympy as sp
from assembled.symbolic.proof import prove_equal

x = sp.Symbol("x")
```

## A loop

```{code-cell} python3
terms = []
for power in (1, 2):
    terms.append(prove_equal(x**power * x, x ** (power + 1)))


def twice(term):
    return prove_equal(2 * term, term + term)
```

```{code-cell} python3
raise RuntimeError("a measurement that no proof needs")
```

## Its use

```{code-cell} python3
twice(terms[0])
assert sp.eye(2) * sp.eye(2) == sp.eye(2)
%s
```
"""


def sample(root, more=""):
    """Write the page with one more statement."""
    (root / "book/symbols").mkdir(parents=True)
    (root / "book/symbols/sample.md").write_text(SAMPLE % more)
    return "book/symbols/sample"


def test_every_call_of_a_loop_and_of_a_helper_is_doubted(tmp_path):
    assert faults(tmp_path, sample(tmp_path)) == ([], 4)


@pytest.mark.parametrize(("more", "fault"), [
    ("try:\n    prove_equal(x, x)\nexcept AssertionError:\n    pass",
     "a try around it"),
    ("from contextlib import suppress\nwith suppress(AssertionError):\n"
     "    prove_equal(x, x)", "the page goes on"),
    ("if x == 1:\n    prove_equal(x, x)", "never reached"),
])  # fmt: skip
def test_a_proof_that_stops_nothing_is_seen(tmp_path, more, fault):
    found, _ = faults(tmp_path, sample(tmp_path, more))
    assert found == [(fault, "prove_equal(x, x)")]


def test_a_refusal_that_the_page_shows_is_no_proof(tmp_path):
    page = sample(tmp_path, "try:\n    prove_equal(x, 2 * x)\n"
                            "except AssertionError as no:\n    print(no)")
    sites, count = identities.proved_in_a_run(tmp_path, page)
    assert [(s.section, s.refused, count[n]) for n, s in enumerate(sites)] \
        == [("A loop", False, 2), ("A loop", False, 1),
            ("Its use", False, 1), ("Its use", True, 1)]


def test_only_what_a_proof_needs_is_run():
    steps, _ = identities.watched(ROOT, "book/symbols/pre-ln-post-ln")
    made = set().union(*(step.writes for step in steps))
    assert {"bl", "md", "linear_case", "rise"} <= made
    assert not {"runs", "branch"} & made
