# SPDX-License-Identifier: BSD-3-Clause
"""Differential privacy: randomness, mechanisms, and what they cost.

The mechanisms are in `mechanisms`, their scores in `sensitivity`, audits in `audit`.
"""

from mrforest.privacy.accountant import Accountant, BudgetExceeded, Charge, Cost
from mrforest.privacy.allocation import Budgets, allocate
from mrforest.privacy.conversion import epsilon_to_zcdp, zcdp_to_epsilon
from mrforest.privacy.ledger import Ledger, split_budget
from mrforest.privacy.public import PrivacyLeakWarning
from mrforest.privacy.release import Item, Parallel, Sequential
from mrforest.privacy.report import Leak, PrivacyReport

__all__ = [
    "Accountant",
    "BudgetExceeded",
    "Budgets",
    "Charge",
    "Cost",
    "Item",
    "Leak",
    "Ledger",
    "Parallel",
    "PrivacyLeakWarning",
    "PrivacyReport",
    "Sequential",
    "allocate",
    "epsilon_to_zcdp",
    "split_budget",
    "zcdp_to_epsilon",
]
