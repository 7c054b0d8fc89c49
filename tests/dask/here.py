# SPDX-License-Identifier: BSD-3-Clause
"""A cluster without a cluster: tasks run at once, in this process."""

import pickle

import dask


class Here:
    """Runs tasks when they are submitted.

    Arguments and results are pickled, as between workers, so a task can neither change
    what others are given nor depend on who else holds it.
    """

    def __init__(self, n_workers):
        self.n_workers = n_workers
        self.worker_bytes = 1000 * n_workers  # several shards a worker

    def submit(self, function, *args, worker=None):
        result = function(*pickle.loads(pickle.dumps(args)))
        return pickle.loads(pickle.dumps(result))

    def compute(self, lazy, worker=None):
        return list(dask.compute(*lazy, scheduler="synchronous"))

    def gather(self, futures):
        return list(futures)
