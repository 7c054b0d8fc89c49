# SPDX-License-Identifier: BSD-3-Clause
"""Audits: what a mechanism or a fitted model tells, beside what it claims to tell.

=============== ======================================= ==========================
`exact`         losses of one fitted private forest     exact, for that forest
`exhaustive`    every output on every small dataset     exact, for that domain
`empirical`     many fits of two neighbouring tables    a lower bound on epsilon
`membership`    an attacker who looks for training rows beside the bound of epsilon
`leftovers`     what a fitted object keeps              seeds, counts, rows
=============== ======================================= ==========================

Audits refute; none of them proves a guarantee. Their results depend on the data and
are not private.
"""

from mrforest.privacy.audit._distributions import (
    records_of,
    split_distribution,
    subtree_distribution,
)
from mrforest.privacy.audit._empirical import EmpiricalAudit, Event, empirical
from mrforest.privacy.audit._exact import ExactAudit, Neighbour, exact
from mrforest.privacy.audit._exhaustive import ExhaustiveAudit, Witness, exhaustive
from mrforest.privacy.audit._leftovers import LeftoversAudit, leftovers
from mrforest.privacy.audit._membership import (
    MembershipAudit,
    membership,
    membership_bound,
)
from mrforest.privacy.audit._traces import Finding

__all__ = [
    "EmpiricalAudit",
    "Event",
    "ExactAudit",
    "ExhaustiveAudit",
    "Finding",
    "LeftoversAudit",
    "MembershipAudit",
    "Neighbour",
    "Witness",
    "empirical",
    "exact",
    "exhaustive",
    "leftovers",
    "membership",
    "membership_bound",
    "records_of",
    "split_distribution",
    "subtree_distribution",
]
