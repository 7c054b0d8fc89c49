# SPDX-License-Identifier: BSD-3-Clause
"""A cluster without a cluster: tasks run at once, in this process."""

import pickle

import dask

from mrforest.dask import _cluster, _partitions, forest, private

# Bytes of a shard, and of the rows that a worker is sent at once
SMALL = 200


class Future:
    """The pickled result of a task. Whoever unpickles a future has the result."""

    def __init__(self, result):
        self._pickled = pickle.dumps(result)

    def __reduce__(self):
        return pickle.loads, (self._pickled,)


def received(thing):
    """Return what a worker gets: a copy, with results in the place of futures."""
    return pickle.loads(pickle.dumps(thing))


class Here:
    """Runs tasks when they are submitted.

    Arguments and results are pickled, as between workers, so a task can neither change
    what others are given nor depend on who else holds it. Only `gather` returns what is
    in a future.
    """

    def __init__(self, n_workers):
        self.n_workers = n_workers
        # Few trees grow together if their nodes have many counters, and else all.
        self.worker_bytes = 10**7

    def submit(self, function, *args, worker=None):
        return Future(function(*received(args)))

    def compute(self, lazy, worker=None):
        return list(
            map(Future, dask.compute(*received(list(lazy)), scheduler="synchronous"))
        )

    def gather(self, futures):
        return received(list(futures))


def use_here(monkeypatch):
    """Let a client be a number of workers, with several shards and messages each."""
    for module in (forest, private):
        monkeypatch.setattr(module, "DaskCluster", Here)
    monkeypatch.setattr(_partitions, "LARGEST_SHARD", SMALL)
    monkeypatch.setattr(_cluster, "SENT_BYTES", SMALL)
