# SPDX-License-Identifier: BSD-3-Clause
"""No bit of a forest changes but by decision."""

import os
import subprocess
import sys

import pytest

from mrforest import _core
from mrforest.dask import forest as dask_forests
from tests.characterisation.cases import Case, cases, estimator_of
from tests.characterisation.digests import (
    arrays_of_trees,
    difference,
    digest,
    digests_of,
    stored,
    table_of,
)
from tests.characterisation.tables import TABLES
from tests.dask.here import use_here
from tests.dask.parted import as_array
from tests.forests.every import TUNED

FAR = {
    "forest": dask_forests.DaskForestClassifier,
    "multinomial": dask_forests.DaskMultinomialForestClassifier,
    "breiman": dask_forests.DaskBreimanForestClassifier,
    "bernoulli": dask_forests.DaskBernoulliForestClassifier,
    "denil": dask_forests.DaskDenilForestClassifier,
}
# Tables that all options meet in the default run; forests that choose their settings
# take long, and meet one of them.
OPTION_TABLES = ("40 codes", "categories")
# Tables that a few forests meet in the default run
LARGE_TABLES = (
    *("28,000 rows", "28,000 rows, 5 classes", "96,000 rows", "230,000 rows"),
    "2000 features",
)
FEW_FORESTS = ("multinomial", "breiman", "breiman-r")
FAR_OPTIONS = ("as it is", "entropy", "floor", "few bins", "class weights")
FAR_TABLES = (
    pytest.param("3 classes", marks=pytest.mark.long),
    "3 codes",
    "40 codes",
)
# Rows of a node that one worker grows; the default forest grows many trees.
GATHER_ROWS = dict.fromkeys(FAR, 50) | {"forest": 300}


def test_all_cases_are_stored():
    assert set(stored()) == set(cases())


def assert_same(some: list[Case], n_jobs: int) -> None:
    """No digest differs from the stored one."""
    differences = [
        difference(case, digests_of(case, n_jobs), stored()[case]) for case in some
    ]
    assert not any(differences), "\n".join(filter(None, differences))


def is_quick(case: Case) -> bool:
    """Whether the default run has a case; the next test has all."""
    if case.table in LARGE_TABLES:
        return case.forest in FEW_FORESTS
    if case.options == "as it is":
        return True
    tables = OPTION_TABLES[:1] if case.forest in TUNED else OPTION_TABLES
    return case.table in tables


@pytest.mark.parametrize("table", TABLES)
def test_digests(table):
    some = [case for case in cases() if case.table == table and is_quick(case)]
    assert_same(some, n_jobs=1)


@pytest.mark.long
@pytest.mark.parametrize("table", TABLES)
def test_digests_of_threads(table):
    assert_same([case for case in cases() if case.table == table], n_jobs=2)


@pytest.mark.long
@pytest.mark.parametrize("kernels", _core.KERNEL_NAMES)
def test_kernels(kernels):
    if kernels == _core.kernel_name():
        pytest.skip("the other tests have run them")
    if kernels not in _core.available_kernels():
        pytest.skip(f"this machine has no kernels called {kernels}")
    subprocess.run(
        [sys.executable, "-m", "tests.characterisation.digests"],
        env=os.environ | {"MRFOREST_KERNELS": kernels},
        check=True,
    )


@pytest.mark.parametrize("name", FAR)
@pytest.mark.parametrize("table", FAR_TABLES)
def test_cluster(name, table, monkeypatch):
    """Trees of rows on a cluster are those of the case, to the bit."""
    use_here(monkeypatch)
    X, y, _ = table_of(table)
    lengths = [len(X) // 3, 0, len(X) - len(X) // 3]
    if (name in TUNED) != (table == "3 codes"):
        pytest.skip("the forest that chooses its settings takes long: one table")
    for options in FAR_OPTIONS[:1] if name in TUNED else FAR_OPTIONS:
        case = Case(name, options, table)
        if case in stored():
            local = estimator_of(case, table_of(table))
            far = FAR[name](
                client=3, gather_rows=GATHER_ROWS[name], **local.get_params()
            )
            far.fit(as_array(X, lengths), as_array(y, lengths))
            assert digest(arrays_of_trees(far)) == stored()[case].split()[0], case
