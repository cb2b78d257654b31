"""How often any attacker can guess right against a private release, whatever he asks and computes.

Claim. A secret of one unit is one of several values, to which the attacker gives the chances p_1 >= p_2 >= ...; all
else he may know. If the odds between any two of these values move by at most e^x, then whatever he guesses is right
with probability at most

    max over j of (p_1 + ... + p_j) e^x / (e^x + j - 1).

Proof. Let S_v be the outputs at which he guesses v, and m_v = Pr[S_v] if v is true. The S_v are disjoint, so for each
w: m_w + sum over v != w of Pr[S_v | w] <= 1, and Pr[S_v | w] >= e^-x m_v. With r = e^-x and M = sum of m_v this reads
m_w <= (1 - r M) / (1 - r). For a given M the sum of p_v m_v is largest when the likeliest values have as much as they
may, and it is linear in M between the places where a whole number j of them does; there m = 1 / (1 - r + r j) for the
first j and 0 for the others.

Membership under add-remove: x = epsilon. A value under add-remove: x = 2 epsilon, for a removal and an addition; under
replace: x = epsilon. For two equally likely values this is the point of the trade-off curve (`Guarantee.tradeoff`) at
which false alarms and misses together are fewest: success = 1 - (alpha + beta) / 2.

Many secrets. If those of n units are independent and one release is made of all, then at least t of n guesses are right
no more often than at least t of n independent ones which are right with this probability, b. So an interval over them
holds. Paper, for even chances: Steinke, Nasr and Jagielski 2023.

Proof, by induction. Let B_s be the binomial chance of s or more of n - 1. Set one unit apart; if w is its value, let
A_w be the chance of t or more right guesses about the others, and m_w that of t - 1 with this one right as well. Given
w the release keeps the promise to the others, so A_w <= B_t, and at least t - 1 are right with chance at most B_(t-1):

    m_w + r (sum over v != w of m_v) <= B_(t-1) - A_w.

The bound above is the largest sum of p_w m_w where B_(t-1) - A_w is 1 for all w. It is certified by weights y_w >= 0
that sum to b, with (1 - r) y_w + r b = p_w where y_w > 0; and y_w <= p_w, because b >= p_w. Hence

    sum of p_w (A_w + m_w) <= sum of p_w A_w + y_w (B_(t-1) - A_w) = b B_(t-1) + sum of (p_w - y_w) A_w,

which is at most b B_(t-1) + (1 - b) B_t, the binomial chance of t or more of n.

>>> promise = Guarantee(epsilon=1)
>>> round(most_right(promise, "membership"), 4), round(most_right(promise, "value"), 4)
(0.7311, 0.8808)
>>> round(most_right(promise, "value", (0.25, 0.25, 0.25, 0.25)), 4)
0.7112
>>> most_right(Guarantee(epsilon=0.1), "value", (0.9, 0.1))     # the guess that needs no release
0.9
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

from sfumato.errors import InvalidArgument
from sfumato.privacy.guarantee import About, Guarantee

EVEN = (0.5, 0.5)


def most_right(guarantee: Guarantee, about: About, beliefs: Sequence[float] = EVEN) -> float:
    """The largest share of right guesses, for an attacker who holds the values for as likely as `beliefs` says."""
    if guarantee.delta:
        raise InvalidArgument(f"the promise must be pure; got delta {float(guarantee.delta):g}; leave delta out")
    sums = itertools.accumulate(sorted(beliefs, reverse=True))
    # the posterior of one of j equally likely values is e^x / (e^x + j - 1), rounded up
    return min(1.0, max(top * guarantee.posterior(Fraction(1, j), about)[1] for j, top in enumerate(sums, start=1)))
