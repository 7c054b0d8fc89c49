# SPDX-License-Identifier: BSD-3-Clause
"""Every small dataset, every neighbour, every output: the exact loss of a mechanism."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mrforest.privacy.ledger import NEIGHBOURS

Distribution = Callable[[tuple[Any, ...]], Mapping[Hashable, float]]
Members = tuple[int, ...]  # of a dataset, by their place in the domain, ascending

SUM_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Witness:
    """Where a loss was seen.

    Attributes
    ----------
    dataset, neighbour : tuple
        Records of both; the output is likelier under the first.
    output : hashable
        What the mechanism tells.

    Examples
    --------
    >>> from mrforest.privacy import audit
    >>> def coin(records):  # tells the number of records, and hides nothing
    ...     return {len(records): 0.0}
    >>> found = audit.exhaustive(coin, [0], 1)
    >>> sorted([found.witness.dataset, found.witness.neighbour])
    [(), (0,)]
    """

    dataset: tuple[Any, ...]
    neighbour: tuple[Any, ...]
    output: Hashable


@dataclass(frozen=True)
class ExhaustiveAudit:
    """The largest loss of a mechanism on small datasets.

    Attributes
    ----------
    largest : float
        The largest ``|log P(output | D) - log P(output | D')|``: no smaller epsilon
        holds.
        inf if an output is possible under one of two neighbours only.
    witness : Witness or None
        Where it is reached; None if there are no neighbours to compare.
    n_one_sided : int
        Pairs of neighbours and an output that only one of them can give.
    n_datasets, n_pairs, n_outputs : int
        Datasets and pairs of neighbours that were looked at, and different outputs.

    Examples
    --------
    >>> import math
    >>> from mrforest.privacy import audit
    >>> def answer(records):  # "is anybody there?", with a lie in four
    ...     there, gone = math.log(0.75), math.log(0.25)
    ...     return {True: there, False: gone} if records else {True: gone, False: there}
    >>> found = audit.exhaustive(answer, [0], 1)
    >>> round(found.largest, 3), round(math.log(3), 3)
    (1.099, 1.099)
    """

    largest: float
    witness: Witness | None
    n_one_sided: int
    n_datasets: int
    n_pairs: int
    n_outputs: int

    def __str__(self) -> str:
        lines = [
            f"largest loss {self.largest:.6g} over {self.n_datasets:,} datasets, "
            f"{self.n_pairs:,} pairs of neighbours and {self.n_outputs:,} outputs"
        ]
        if self.n_one_sided:
            lines.append(
                f"not private: {self.n_one_sided:,} times an output is possible under "
                "one of two neighbours only"
            )
        if self.witness is not None:
            lines += [
                f"  output {self.witness.output}",
                f"  likelier under {self.witness.dataset}",
                f"  than under     {self.witness.neighbour}",
            ]
        return "\n".join(lines)


def exhaustive(
    distribution: Distribution,
    domain: Sequence[Hashable],
    n_most: int,
    *,
    neighbours: Literal["add-remove", "replace-one"] = "add-remove",
) -> ExhaustiveAudit:
    """Compare the distribution of a mechanism on all small datasets and neighbours.

    The loss is exact, up to the rounding of the probabilities that are given. A
    dataset is a multiset: the mechanism must not look at the order of its records. It
    is no proof for larger datasets or domains, but what it refutes is refuted.

    Parameters
    ----------
    distribution : callable
        Takes a tuple of records, returns a mapping from every output to the log of its
        probability. See `subtree_distribution` and `split_distribution`.
    domain : sequence of hashable
        The records that a dataset may have, each as often as it likes.
    n_most : int
        Records of the largest dataset; there is one of none too.
    neighbours : {"add-remove", "replace-one"}, default="add-remove"
        Datasets that are to look alike: one has a record more than the other, or one
        record of it is another.

    Returns
    -------
    ExhaustiveAudit

    Examples
    --------
    A vote of two parties that is told by the exponential mechanism, and by one that
    reads its epsilon as twice what it is:

    >>> from mrforest.privacy.mechanisms import Exponential
    >>> def told_by(mechanism):
    ...     def distribution(votes):
    ...         probabilities = mechanism.probabilities([votes.count(k) for k in "ab"])
    ...         return dict(zip("ab", np.log(probabilities)))
    ...     return distribution
    >>> print(exhaustive(told_by(Exponential(1.0)), "ab", 8))
    largest loss 0.999424 over 45 datasets, 72 pairs of neighbours and 2 outputs
      output b
      likelier under ('a', 'a', 'a', 'a', 'a', 'a', 'a')
      than under     ('a', 'a', 'a', 'a', 'a', 'a', 'a', 'a')
    >>> exhaustive(told_by(Exponential(2.0)), "ab", 8).largest <= 1.0
    False
    """
    if neighbours not in NEIGHBOURS:
        raise ValueError(f"neighbours must be one of {NEIGHBOURS}; got {neighbours!r}")
    records = list(dict.fromkeys(domain))
    if not records:
        raise ValueError("domain must have at least one record")
    if n_most < 1:
        raise ValueError(f"n_most must be at least 1; got {n_most!r}")

    datasets = [
        members
        for n in range(n_most + 1)
        for members in itertools.combinations_with_replacement(range(len(records)), n)
    ]
    place = {members: i for i, members in enumerate(datasets)}

    def records_of(members: Members) -> tuple[Hashable, ...]:
        return tuple(records[member] for member in members)

    table = _Table()
    for members in datasets:
        table.add(records_of(members), distribution(records_of(members)))

    largest, found, n_one_sided, n_pairs = -1.0, None, 0, 0
    kind = _one_more if neighbours == "add-remove" else _one_other
    for one, others in kind(datasets, len(records)):
        log_p = table.dense(place[one])
        for other in others:
            losses = _losses(log_p, table.dense(place[other]))
            sizes = np.abs(losses)
            n_pairs += 1
            n_one_sided += int(np.count_nonzero(sizes == math.inf))
            output = int(np.argmax(sizes))
            if sizes[output] > largest:
                largest = float(sizes[output])
                likelier = losses[output] >= 0
                found = ((one, other) if likelier else (other, one)), output
    witness = None
    if found is not None:
        (likely, unlikely), output = found
        witness = Witness(
            records_of(likely), records_of(unlikely), table.outputs[output]
        )
    return ExhaustiveAudit(
        largest=max(largest, 0.0),
        witness=witness,
        n_one_sided=n_one_sided,
        n_datasets=len(datasets),
        n_pairs=n_pairs,
        n_outputs=len(table.outputs),
    )


class _Table:
    """Distributions of many datasets; outputs are numbered as they are met."""

    def __init__(self) -> None:
        self.number: dict[Hashable, int] = {}
        self.rows: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []

    @property
    def outputs(self) -> list[Hashable]:
        return list(self.number)

    def add(self, dataset: tuple[Any, ...], given: Mapping[Hashable, float]) -> None:
        number = self.number
        places = [number.setdefault(output, len(number)) for output in given]
        values = np.array(list(given.values()), dtype=np.float64)
        total = float(np.exp(values).sum())
        # False for NaN too
        if not abs(total - 1) <= SUM_TOLERANCE:
            raise ValueError(
                f"distribution: the probabilities of {dataset} sum to {total}, not to 1"
            )
        self.rows.append((np.array(places, dtype=np.int64), values))

    def dense(self, i: int) -> NDArray[np.float64]:
        """Log probabilities of all outputs, -inf for those that cannot be."""
        out = np.full(len(self.number), -math.inf)
        places, values = self.rows[i]
        out[places] = values
        return out


def _losses(
    log_p: NDArray[np.float64], log_q: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Losses of the outputs; 0 where neither is possible."""
    with np.errstate(invalid="ignore"):
        losses = log_p - log_q
    return np.where(np.isnan(losses), 0.0, losses)


def _one_more(
    datasets: Sequence[Members], n_records: int
) -> Iterator[tuple[Members, list[Members]]]:
    """Each dataset with those that lack one of its records."""
    for members in datasets:
        yield members, _without_one(members)


def _one_other(
    datasets: Sequence[Members], n_records: int
) -> Iterator[tuple[Members, list[Members]]]:
    """Each dataset with those that have one later record in place of one of its."""
    for members in datasets:
        yield (
            members,
            [
                tuple(sorted((*rest, other)))
                for rest, gone in zip(
                    _without_one(members), sorted(set(members)), strict=True
                )
                for other in range(gone + 1, n_records)
            ],
        )


def _without_one(members: Members) -> list[Members]:
    """Return the datasets of one record less, by the record that is gone."""
    first = [i for i, m in enumerate(members) if i == 0 or members[i - 1] != m]
    return [members[:i] + members[i + 1 :] for i in first]
