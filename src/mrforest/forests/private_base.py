# SPDX-License-Identifier: BSD-3-Clause
"""What private forests share: public information, budgets, drawing, what is kept.

A fit goes through these steps, and an error in one leaves the budget as it is before
the fourth:

    parameters -> public information -> does the accountant allow it? -> rows are read
    -> the budget is charged -> trees are drawn

A noisy number of rows is charged and drawn by itself, for the plan depends on it.
"""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from mrforest._progress import progress_bar
from mrforest._sklearn import fit_context
from mrforest._threads import in_threads
from mrforest.data.table import read_predict, read_target
from mrforest.forests.sampling import seed_from
from mrforest.model.fitted import FittedForest
from mrforest.privacy.accountant import Accountant, Cost
from mrforest.privacy.conversion import epsilon_to_zcdp
from mrforest.privacy.ledger import Ledger
from mrforest.privacy.mechanisms import Geometric
from mrforest.privacy.plan import (
    ROWS_SHARE,
    Budget,
    Plan,
    Size,
    make_plan,
    rows_item,
)
from mrforest.privacy.public import Columns, KnownColumns, PrivacyLeakWarning
from mrforest.privacy.randomness import RandomBits
from mrforest.privacy.sensitivity import check_norm
from mrforest.privacy.subtree import Tree
from mrforest.privacy.tree import Coded, TreeMechanism


class BasePrivateForest(FittedForest):
    """A forest drawn by private mechanisms."""

    # Fitted; all of it is public or paid for.
    _columns: Columns
    _plan: Plan
    _trees: tuple[tuple[NDArray[np.intp], Tree], ...]  # columns, and the tree
    ledger_: Ledger
    epsilon_: float
    delta_: float
    n_rows_: int | None

    # ---- what a subclass says -------------------------------------------------------

    @abstractmethod
    def _missing_target(self) -> str | None:
        """Say what public information about the target is missing."""

    @abstractmethod
    def _n_codes(self) -> int:
        """Return how many codes the target has."""

    @abstractmethod
    def _set_target(self, y: NDArray[Any] | None) -> None:
        """Keep public information about the target; read from y what is missing."""

    @abstractmethod
    def _code_target(self, y: NDArray[Any]) -> tuple[NDArray[np.int32], bool]:
        """Return codes of the target, and whether they are cells of a number.

        An error if a value of y is not allowed.
        """

    @abstractmethod
    def _leaf(self) -> Any:
        """Return what is told of leaves, "label" or "counts"."""

    @abstractmethod
    def _norm(self) -> float:
        """Return the norm of the score of splits without labels."""

    @abstractmethod
    def _set_forest(self) -> None:
        """Lay the drawn trees into flat arrays."""

    # ---- fit ------------------------------------------------------------------------

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Draw the forest.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers beyond their bounds count as the bound, categories that are not
            listed and missing ones as "other". A missing number goes left everywhere.
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : estimator
            The fitted forest.
        """
        with self._unchanged_by_errors():  # what was charged stays charged
            return self._fit(X, y)

    def _fit(self, X: Any, y: Any) -> Self:
        known = KnownColumns.of(self, self._header(X))
        missing = self._missing(known)
        seed = None if self.random_state is None else seed_from(self.random_state)
        reasons = self._reasons(missing, seed)
        accountant = self.accountant or Accountant.current()
        what = f"{type(self).__name__}.fit"
        if accountant is not None and reasons:
            accountant.check(Cost(math.inf), f"{what} ({'; '.join(reasons)})")
        target = read_target(y) if missing else None
        self._columns = known.columns(self, X, target)
        self._set_target(target)
        if accountant is not None:
            for cost in self._costs():
                accountant.check(cost, what)

        rows = self._read_fit(X, y)
        charge = partial(accountant.charge, what=what) if accountant else ignore
        self._draw(rows, reasons, seed, charge)
        self._set_forest()
        return self

    def _missing(self, known: KnownColumns) -> list[str]:
        """Say what public information is missing; an error unless that is allowed."""
        found = known.missing()
        if (target := self._missing_target()) is not None:
            found.append(target)
        if found and self.on_missing_public == "raise":
            listed = "\n- ".join(found)
            raise ValueError(
                "A private forest reads nothing from the rows that it does not pay "
                f"for. What must be known beforehand:\n- {listed}\nGive what is public "
                "knowledge, not what the rows say. on_missing_public='warn' reads it "
                "from the rows, and then no privacy is promised."
            )
        return found

    def _reasons(self, missing: Sequence[str], seed: int | None) -> tuple[str, ...]:
        """Say why the fit will not be private; warn of it."""
        reasons = [f"{what.split(':')[0]} read from the rows" for what in missing]
        if seed is not None:
            reasons.append("random_state was given: whoever knows it knows the noise")
        if reasons:
            warnings.warn(
                f"The forest is not private: {'; '.join(reasons)}.",
                PrivacyLeakWarning,
                stacklevel=5,
            )
        return tuple(reasons)

    def _budget(self) -> Budget:
        """Budget for a row that comes or goes."""
        epsilon, delta = float(self.epsilon), float(self.delta)
        rho = epsilon_to_zcdp(epsilon, delta) if delta and epsilon < math.inf else 0.0
        if self.neighbours == "replace-one":
            # A row that changes is one that goes and one that comes.
            return Budget(epsilon / 2, rho / 4)
        return Budget(epsilon, rho)

    def _costs(self) -> list[Ledger | Cost]:
        """Return what the fit may cost, before any row is read.

        If the plan depends on a noisy number of rows, either pure budgets or zCDP will
        have the sum that `epsilon` and `delta` allow.
        """
        budget = self._budget()
        if not self._needs_rows(budget):
            return [Ledger(self._make_plan(self.n_samples_public, 0.0).release)]
        in_zcdp = [Cost(math.inf, rho=budget.rho)] if budget.rho else []
        return [Cost(budget.epsilon), *in_zcdp]

    def _needs_rows(self, budget: Budget) -> bool:
        """Whether the plan depends on the number of rows, and that is not known."""
        several = self.n_estimators == "auto" and self._leaf() == "counts"
        uses = self.max_depth == "auto" or bool(several and budget.rho)
        return uses and self.n_samples_public is None

    def _make_plan(self, n_rows: int | None, rows_epsilon: float) -> Plan:
        return make_plan(
            self._budget(),
            self._size(),
            n_rows,
            rows_epsilon=rows_epsilon,
            leaf=self._leaf(),
            honest=self.honest,
            n_trees=self.n_estimators,
            depth=self.max_depth,
        )

    def _size(self) -> Size:
        grid = self._columns.grid
        return Size(len(grid.n_codes), grid.n_candidates, self._n_codes())

    # ---- what is read ---------------------------------------------------------------

    def _header(self, X: Any) -> Any:
        """Return what tells the columns of X, of which no row will be read."""
        return X

    def _read_fit(self, X: Any, y: Any) -> Any:
        """Read the rows that trees are drawn of; they know `n_points`."""
        return self._read_rows(X, read_target(y))

    def _read_rows(self, X: Any, y: NDArray[Any]) -> Coded:
        """Read the rows; an error if anything is wrong with them."""
        matrix = read_predict(self, X, self._columns.schema)
        codes, is_cells = self._code_target(y)
        check_consistent_length(matrix, codes)
        # What the kernels would refuse, before anything is charged
        check_norm(self._n_codes(), len(matrix))
        grid, coded = self._columns.grid, self._columns.encode(matrix)
        return Coded(coded, codes, self._n_codes(), grid, is_cells)

    # ---- what is drawn --------------------------------------------------------------

    def _draw(
        self,
        rows: Any,
        reasons: tuple[str, ...],
        seed: int | None,
        charge: Callable[[Ledger], object],
    ) -> None:
        budget, size = self._budget(), self._size()
        self.n_rows_, rows_epsilon = self.n_samples_public, 0.0
        if self._needs_rows(budget):
            rows_epsilon = budget.share(ROWS_SHARE)
            charge(Ledger(rows_item(rows_epsilon), reasons))
            random = RandomBits.of(seed, 0)
            noisy = Geometric(rows_epsilon).draw([rows.n_points], random)
            self.n_rows_ = int(noisy[0])
        self._plan = self._make_plan(self.n_rows_, rows_epsilon)
        charge(Ledger(self._plan.forest, reasons))
        if not size.is_joint:
            warnings.warn(
                f"{size.n_features} features with {size.n_candidates} candidate splits "
                "are too many to draw two levels of a tree at once; they are drawn "
                "one by one, which costs accuracy. Fewer columns, or fewer "
                "categories, would be drawn better.",
                stacklevel=5,
            )
        self._trees = self._draw_trees(rows, seed)
        self._schema = self._columns.schema
        ledger = Ledger(self._plan.release, reasons, delta=float(self.delta))
        if self.neighbours == "replace-one":
            ledger = ledger.replace_one
        self.ledger_, self.delta_ = ledger, float(self.delta)
        self.epsilon_ = ledger.epsilon_at(self.delta_)
        if self.epsilon_ > self.epsilon and not reasons:
            raise AssertionError(
                f"the ledger's total {self.epsilon_} is above epsilon={self.epsilon}"
            )

    def _draw_trees(
        self, rows: Any, seed: int | None
    ) -> tuple[tuple[NDArray[np.intp], Tree], ...]:
        n_trees = self._plan.n_trees
        # Threads over trees, or over the features of a single one.
        n_inner = self.n_jobs if n_trees == 1 else 1
        n_steps = n_trees * self._plan.n_regions
        with progress_bar("drawing trees", n_steps, visible=self.verbose > 0) as step:

            def draw(tree: int) -> tuple[NDArray[np.intp], Tree]:
                return self._draw_tree(rows, (seed, 1, tree), n_inner, step)

            n_threads = min(effective_n_jobs(self.n_jobs), n_trees)
            return tuple(in_threads(draw, range(n_trees), n_threads))

    def _draw_tree(
        self,
        rows: Coded,
        path: tuple[int | None, int, int],
        n_jobs: int | None,
        step: Callable[[], None],
    ) -> tuple[NDArray[np.intp], Tree]:
        random = RandomBits.of(*path)
        columns = draw_columns(self.n_features_in_, self._plan.n_features, random)
        mechanism = TreeMechanism(
            rows.only(columns), self._plan, self._norm(), n_jobs=n_jobs, step=step
        )
        return columns, mechanism.draw(partial(RandomBits.of, *path))

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        # A budget is not part of a fitted forest; where it is read, it may not exist.
        return state | ({"accountant": None} if "_forest" in state else {})

    # ---- how likely it was ----------------------------------------------------------

    def log_probability(self, X: Any, y: Any) -> float:
        """Log of the probability that a fit of these rows gives this very forest.

        All that the fitted forest holds: the noisy number of rows, splits, labels or
        counts; given which columns each tree looks at, which does not depend on the
        rows. For audits: whoever computes it needs the rows, and the result tells of
        them.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        float
            Not defined for ``honest=True``: a ValueError.
        """
        check_is_fitted(self)
        rows = self._read_rows(X, read_target(y))
        total = 0.0
        if self._plan.rows_epsilon:
            assert self.n_rows_ is not None
            noise = [self.n_rows_ - len(rows.y)]
            mechanism = Geometric(self._plan.rows_epsilon)
            total += float(mechanism.log_probabilities(noise)[0])
        for columns, tree in self._trees:
            trees = TreeMechanism(rows.only(columns), self._plan, self._norm())
            total += trees.log_probability(tree)
        return total


def ignore(ledger: Ledger) -> None:
    """Charge nobody."""


def draw_columns(n_features: int, n: int, random: RandomBits) -> NDArray[np.intp]:
    """Draw n of the columns."""
    columns = list(range(n_features))
    if n < n_features:
        for place in range(n):
            other = place + random.below(n_features - place)
            columns[place], columns[other] = columns[other], columns[place]
    return np.sort(np.array(columns[:n], dtype=np.intp))
