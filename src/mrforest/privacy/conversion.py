# SPDX-License-Identifier: BSD-3-Clause
"""Zero-concentrated differential privacy (zCDP) to (epsilon, delta), and back.

A mechanism of rho-zCDP is (epsilon, delta)-private if, for some order alpha > 1,

    delta >= exp((alpha-1) (alpha rho - epsilon)) / (alpha-1) * (1-1/alpha)^alpha,

which is Corollary 13 of [1]_. The best order has a simple equation (`best_order`). It
may be found roughly, since any order gives a true bound; the bound itself is computed
to 80 digits and rounded to the safe side.

References
----------
.. [1] Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy",
   NeurIPS 2020.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

from mrforest.privacy._floats import as_cost, as_delta, largest, round_up

DIGITS = 80
# Far above the rounding errors of a dozen operations with so many digits
SLACK = Decimal("1e-70")


def zcdp_to_epsilon(rho: float, delta: float) -> float:
    """Return an epsilon such that rho-zCDP is (epsilon, delta)-private.

    Parameters
    ----------
    rho : float
        At least 0.
    delta : float
        At least 0, below 1.

    Returns
    -------
    float
        The smallest that Corollary 13 gives, or slightly more, never less; inf if
        `delta` is 0 and `rho` is not.

    Examples
    --------
    >>> round(zcdp_to_epsilon(0.1, 1e-6), 3)
    2.142
    """
    rho, delta = as_cost("rho", rho), as_delta("delta", delta)
    if rho == 0:
        return 0.0
    if delta == 0 or rho == math.inf:
        return math.inf
    return epsilon_at_order(rho, delta, best_order(rho, delta))


def epsilon_to_zcdp(epsilon: float, delta: float) -> float:
    """Return the largest rho such that rho-zCDP is (epsilon, delta)-private.

    Not to be mixed up with what a mechanism of pure epsilon costs: that is epsilon²/2.

    Parameters
    ----------
    epsilon : float
        At least 0.
    delta : float
        At least 0, below 1; if it is 0, no rho above 0 will do.

    Returns
    -------
    float
        A rho with ``zcdp_to_epsilon(rho, delta) <= epsilon``.

    Examples
    --------
    >>> rho = epsilon_to_zcdp(1.0, 1e-6)
    >>> round(rho, 4)
    0.0244
    >>> zcdp_to_epsilon(rho, 1e-6) <= 1.0
    True
    """
    epsilon, delta = as_cost("epsilon", epsilon), as_delta("delta", delta)
    return largest(lambda rho: zcdp_to_epsilon(rho, delta) <= epsilon)


def best_order(rho: float, delta: float) -> float:
    """Return alpha - 1 for the order alpha whose epsilon is smallest.

    The derivative of `epsilon_at_order` by alpha is rho - log(1/(alpha delta)) /
    (alpha-1)^2. It has one root, to the left of it epsilon falls, to the right it
    rises.
    """
    failure = -math.log(delta)
    return largest(lambda above: rho * above * above + math.log1p(above) <= failure)


def epsilon_at_order(rho: float, delta: float, above: float) -> float:
    """Solve the inequality for epsilon at alpha = 1 + `above`; rounded up."""
    with localcontext() as context:
        context.prec = DIGITS
        t = Decimal(above)
        log_t, log_alpha = t.ln(), (1 + t).ln()
        terms = [
            Decimal(rho) * (1 + t),
            log_t,
            -log_alpha,
            -Decimal(delta).ln() / t,
            -log_alpha / t,
        ]
        # 1 + t is rounded too, which may move the last term by 1/t units.
        error = SLACK * (sum(map(abs, terms)) + 1 / t)
        return round_up(Fraction(max(sum(terms) + error, Decimal(0))))
