# SPDX-License-Identifier: BSD-3-Clause
"""Fits forests and measures them; peers.py starts it in an environment that has them.

A task is a line of JSON on standard input, and so is its answer on standard output.
Nothing but NumPy and the forests is imported: environments differ.
"""

from __future__ import annotations

import gc
import logging
import pickle
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from answering import answer_tasks, version_of

N_TREES = 100
MANY_ROWS = 10_000  # at least so many are predicted at once
N_SINGLE = 50  # calls of one row
# Predict many rows up to three times, but not again after so many seconds.
N_PREDICTS, PREDICT_SECONDS = 3, 10.0


class Estimator:
    """A forest with scikit-learn's interface.

    Parameters
    ----------
    make : callable
        Takes the number of threads, returns the forest.
    """

    def __init__(self, make: Callable[[int], Any]) -> None:
        self._make = make
        self._model: Any = None

    def fit(self, X: Any, y: Any, n_jobs: int) -> None:
        """Fit a new forest."""
        self._model = self._make(n_jobs)
        self._model.fit(X, y)

    def use_threads(self, n_jobs: int) -> None:
        """Have predictions use so many."""
        self._model.set_params(n_jobs=n_jobs)

    def predict(self, X: Any) -> Any:
        """Return classes."""
        return self._model.predict(X)

    def size(self) -> int | None:
        """Bytes of the pickle; None if it cannot be written."""
        scale = Scale()
        pickle.Pickler(scale, pickle.HIGHEST_PROTOCOL).dump(self._model)
        return scale.n_bytes

    def reload(self) -> None:
        """Pickle the forest, and go on with what is read from the pickle."""
        self._model = pickle.loads(pickle.dumps(self._model, pickle.HIGHEST_PROTOCOL))

    def engine(self, X: Any) -> str:
        """Say what computed, where that is a question."""
        return ""


class FastForest(Estimator):
    """fastforest: its threads are those of the environment, and it has no pickle."""

    def size(self) -> int | None:
        """Return None."""
        return None

    def use_threads(self, n_jobs: int) -> None:
        """Do nothing: their number cannot be changed."""


class Intelex(Estimator):
    """scikit-learn-intelex, which hands over to scikit-learn what it does not know."""

    def engine(self, X: Any) -> str:
        """Say what fitted, and what predicts."""
        fits = "oneDAL" if hasattr(self._model, "_onedal_estimator") else "scikit-learn"
        messages = Messages()
        logger = logging.getLogger("sklearnex")
        level = logger.level
        logger.addHandler(messages)
        logger.setLevel(logging.INFO)
        self.predict(X)
        logger.setLevel(level)
        logger.removeHandler(messages)
        is_fast = any("accelerated version" in text for text in messages.texts)
        predicts = "oneDAL" if is_fast else "scikit-learn"
        return fits if fits == predicts else f"fit {fits}, predict {predicts}"


class Ydf:
    """YDF's forest, which has an interface of its own."""

    def __init__(self) -> None:
        self._n_jobs = 1
        self._model: Any = None

    def fit(self, X: Any, y: Any, n_jobs: int) -> None:
        """Fit a new forest; the columns of X are its features."""
        import ydf

        ydf.verbose(0)
        self._n_jobs = n_jobs
        learner = ydf.RandomForestLearner(
            label="label", num_trees=N_TREES, num_threads=n_jobs, random_seed=0
        )
        self._model = learner.train({"X": X, "label": y})

    def use_threads(self, n_jobs: int) -> None:
        """Have predictions use so many."""
        self._n_jobs = n_jobs

    def predict(self, X: Any) -> Any:
        """Return classes, as text."""
        return self._model.predict_class({"X": X}, num_threads=self._n_jobs)

    def size(self) -> int:
        """Bytes of its own format, which is the smaller one."""
        return len(self._model.serialize())

    def reload(self) -> None:
        """Write the forest in its own format, and go on with what is read from it."""
        import ydf

        self._model = ydf.deserialize_model(self._model.serialize())

    def engine(self, X: Any) -> str:
        """Say nothing: there is one only."""
        return ""


class Scale:
    """A file that keeps nothing but its size."""

    def __init__(self) -> None:
        self.n_bytes = 0

    def write(self, data: Any) -> int:
        """Weigh the data."""
        n_bytes = memoryview(data).nbytes
        self.n_bytes += n_bytes
        return n_bytes


class Messages(logging.Handler):
    """What is written to a log."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message."""
        self.texts.append(record.getMessage())


# ---- forests -------------------------------------------------------------------------


def default_forest() -> Estimator:
    """Return our forest that tunes itself."""
    from mrforest import ForestClassifier as Forest

    return Estimator(lambda n: Forest(N_TREES, n_jobs=n, random_state=0))


def mrf() -> Estimator:
    """Return the multinomial forest."""
    from mrforest import MultinomialForestClassifier as Forest

    return Estimator(lambda n: Forest(N_TREES, n_jobs=n, random_state=0))


def breiman() -> Estimator:
    """Return our forest of Breiman's kind; its defaults are those of scikit-learn."""
    from mrforest import BreimanForestClassifier as Forest

    return Estimator(
        lambda n: Forest(
            N_TREES, max_features="sqrt", min_samples_leaf=1, n_jobs=n, random_state=0
        )
    )


def random_forest() -> Estimator:
    """Return scikit-learn's forest."""
    from sklearn.ensemble import RandomForestClassifier as Forest

    return Estimator(lambda n: Forest(N_TREES, n_jobs=n, random_state=0))


def extra_trees() -> Estimator:
    """Return scikit-learn's forest whose cuts are drawn."""
    from sklearn.ensemble import ExtraTreesClassifier as Forest

    return Estimator(lambda n: Forest(N_TREES, n_jobs=n, random_state=0))


def intelex() -> Estimator:
    """Return scikit-learn's forest as oneDAL computes it."""
    from sklearnex.ensemble import RandomForestClassifier as Forest

    return Intelex(lambda n: Forest(N_TREES, n_jobs=n, random_state=0))


def fastforest() -> Estimator:
    """Return fast.ai's forest."""
    from fastforest import FastForestClassifier

    return FastForest(lambda n: FastForestClassifier(n_trees=N_TREES, seed=0))


def lightgbm() -> Estimator:
    """Return LightGBM's forest, which has to be told a share of the rows.

    A bag has as many different rows as a bootstrap.
    """
    from lightgbm import LGBMClassifier

    return Estimator(
        lambda n: LGBMClassifier(
            boosting_type="rf",
            n_estimators=N_TREES,
            bagging_freq=1,
            bagging_fraction=0.632,
            n_jobs=n,
            random_state=0,
            verbose=-1,
        )
    )


def xgboost() -> Estimator:
    """Return XGBoost's forest."""
    from xgboost import XGBRFClassifier

    return Estimator(
        lambda n: XGBRFClassifier(n_estimators=N_TREES, n_jobs=n, random_state=0)
    )


def treeple() -> Estimator:
    """Return treeple's forest of honest trees."""
    from treeple.ensemble import HonestForestClassifier as Forest

    return Estimator(lambda n: Forest(N_TREES, n_jobs=n, random_state=0))


# Forest: how to make it, and the package whose version counts
MAKERS: dict[str, tuple[Callable[[], Any], str]] = {
    "forest": (default_forest, "mrforest"),
    "mrf": (mrf, "mrforest"),
    "breiman": (breiman, "mrforest"),
    "random-forest": (random_forest, "scikit-learn"),
    "extra-trees": (extra_trees, "scikit-learn"),
    "intelex": (intelex, "scikit-learn-intelex"),
    "fastforest": (fastforest, "fastforest"),
    "lightgbm": (lightgbm, "lightgbm"),
    "xgboost": (xgboost, "xgboost-cpu"),
    "ydf": (Ydf, "ydf"),
    "treeple": (treeple, "treeple"),
}


# ---- measuring -----------------------------------------------------------------------


@lru_cache(maxsize=1)
def held_out(folder: Path) -> tuple[Any, Any]:
    """Return held-out rows, repeated until they are many, and classes of each once."""
    X, y = np.load(folder / "X_test.npy"), np.load(folder / "y_test.npy")
    return np.tile(X, (-(-MANY_ROWS // len(X)), 1)), y


@lru_cache(maxsize=1)
def to_fit(folder: Path) -> tuple[Any, Any]:
    """Return rows and classes."""
    return np.load(folder / "X.npy"), np.load(folder / "y.npy")


def warm_up(forest: Any, X: Any, y: Any, n_jobs: int) -> None:
    """Fit 100 rows of two classes: what is imported or started then is no data."""
    frequent = np.argsort(np.bincount(y), kind="stable")[-2:]
    rows = np.concatenate([np.flatnonzero(y == k)[:50] for k in frequent])
    forest.fit(X[rows], (y[rows] == frequent[1]).astype(np.int64), n_jobs)
    forest.predict(X[:1])


def measure_time(name: str, folder: Path, n_jobs: int) -> dict[str, Any]:
    """Fit, predict many rows, predict one."""
    X, y = to_fit(folder)
    many, y_test = held_out(folder)
    make, package = MAKERS[name]
    forest = make()
    warm_up(forest, X, y, n_jobs)
    gc.collect()
    fit = seconds(lambda: forest.fit(X, y, n_jobs))
    told: Any = None

    def predict() -> None:
        nonlocal told
        told = forest.predict(many)[: len(y_test)]

    first = seconds(predict) / len(many)
    times = {
        "predict": predict_time(forest, many),
        **one_row_times(forest, many[:1], n_jobs),
    }
    size, loaded = forest.size(), None
    if size is not None:
        forest.use_threads(n_jobs)
        forest.reload()
        loaded = seconds(predict) / len(many)
    return {
        "fit": fit,
        "first": first,
        "loaded": loaded,
        **times,
        "size": size,
        "accuracy": float(np.mean(np.asarray(told).astype(np.int64) == y_test)),
        "engine": forest.engine(many[:1]),
        "version": version_of(package),
    }


def predict_time(forest: Any, X: Any) -> float:
    """Seconds a row, the best of a few."""
    times: list[float] = []
    while len(times) < N_PREDICTS and sum(times) < PREDICT_SECONDS:
        times.append(seconds(lambda: forest.predict(X)))
    return min(times) / len(X)


def one_row_times(forest: Any, X: Any, n_jobs: int) -> dict[str, float]:
    """Seconds of a call with one row, with one thread and with all; medians."""
    result = {}
    for key, threads in {"one_row": 1, "one_row_threads": n_jobs}.items():
        forest.use_threads(threads)
        times = [seconds(lambda: forest.predict(X)) for _ in range(N_SINGLE)]
        result[key] = float(np.median(times))
    return result


def seconds(work: Callable[[], Any]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure_memory(name: str, folder: Path, n_jobs: int) -> dict[str, Any]:
    """Peak of the resident memory while fitting, less what there was before."""
    if not Path("/proc/self/status").exists():
        return {"memory": None}
    X, y = to_fit(folder)
    make, package = MAKERS[name]
    forest = make()
    warm_up(forest, X, y, n_jobs)
    gc.collect()
    with suppress(OSError):  # the peak so far, of imports, is forgotten if that may be
        Path("/proc/self/clear_refs").write_text("5")
    before = memory_status("VmRSS")
    forest.fit(X, y, n_jobs)
    return {
        "memory": memory_status("VmHWM") - before,
        "version": version_of(package),
    }


def memory_status(field: str) -> int:
    """Bytes, from the kernel; VmRSS is now, VmHWM the most so far."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"/proc/self/status has no {field}")


def main() -> None:
    """Answer until there are no more tasks."""
    kinds = {"time": measure_time, "weigh": measure_memory}
    answer_tasks(
        lambda task: kinds[task["do"]](
            task["forest"], Path(task["table"]), task["n_jobs"]
        )
    )


if __name__ == "__main__":
    main()
