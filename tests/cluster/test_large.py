# SPDX-License-Identifier: BSD-3-Clause
"""A table that is larger than the memory of the workers, but for its codes."""

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

from mrforest.dask import DaskMultinomialForestClassifier

N_PARTS, N_ROWS, N_FEATURES = 80, 25_000, 100
LIMIT = 700 << 20  # Python, scikit-learn and Dask alone take some 200 MB


def rows_of(block_info=None):
    """Make a part of the table where it is needed."""
    number = block_info[None]["chunk-location"][0]
    rng = np.random.default_rng(number)
    # Few values, so that no sorting takes longer than the rest
    return rng.integers(0, 200, (N_ROWS, N_FEATURES)).astype(np.float64)


def labels_of(rows):
    return (rows[:, 0] > rows[:, 1]).astype(np.int64)


@pytest.mark.long
def test_table_is_several_times_the_memory():
    chunks = ((N_ROWS,) * N_PARTS, (N_FEATURES,))
    X = da.map_blocks(rows_of, chunks=chunks, dtype=np.float64, meta=np.empty((0, 0)))
    y = X.map_blocks(labels_of, drop_axis=1, dtype=np.int64, meta=np.empty(0, int))
    assert X.nbytes > 2.1 * LIMIT
    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            memory_limit=LIMIT,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        forest = DaskMultinomialForestClassifier(
            client=client,
            n_estimators=2,
            max_depth=4,
            random_state=0,
            gather_rows=20_000,
        )
        forest.fit(X, y)
        part = X.blocks[0].compute()
        assert (forest.predict(part) == labels_of(part)).mean() > 0.75
