# SPDX-License-Identifier: BSD-3-Clause
"""A forest in a file is the same forest; a file that is not whole is an error."""

import json
import os
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError

import mrforest
from mrforest import (
    BreimanForestClassifier,
    BreimanForestRegressor,
    ComparisonForestClassifier,
    MultinomialForestClassifier,
    PrivateForestClassifier,
    PrivateForestRegressor,
)
from mrforest.files import ForestFileError
from mrforest.files._container import METADATA, canonical, checksum, parted
from mrforest.privacy import Accountant

X, Y = load_iris(return_X_y=True)
PUBLIC = {"bounds": (0.0, 8.0), "classes": [0, 1, 2]}


def of_name(name):
    kind = getattr(mrforest, name)
    if name == "PrivateForestClassifier":
        return kind(**PUBLIC)
    if name == "PrivateForestRegressor":
        return kind(bounds=(0.0, 8.0), target_bounds=(0, 2))
    return kind(n_estimators=5, random_state=0)


FORESTS = [
    *(
        of_name(name)
        for name in mrforest.__all__
        if "Forest" in name and "Rule" not in name
    ),
    BreimanForestClassifier(20, oob_score=True, random_state=0),
    BreimanForestRegressor(20, oob_score=True, random_state=0),
    MultinomialForestClassifier(
        3, voting="soft", class_weight={0: 1.0, 1: 2.5, 2: 1}, feature_budget=np.inf
    ),
    ComparisonForestClassifier(3, metric="manhattan", random_state=0),
    ComparisonForestClassifier(3, honest=False, random_state=0),
    PrivateForestClassifier(leaf="counts", delta=1e-6, n_estimators=3, **PUBLIC),
    PrivateForestClassifier(neighbours="replace-one", honest=True, **PUBLIC),
]


def predictions(forest, rows=X):
    is_classifier = hasattr(forest, "classes_")
    return forest.predict_proba(rows) if is_classifier else forest.predict(rows)


def round_trip(forest, folder):
    path = folder / "forest.mrf"
    mrforest.save(forest, path)
    return mrforest.load(path)


@pytest.mark.filterwarnings("ignore:.*in the bag of every tree")
@pytest.mark.parametrize("forest", FORESTS, ids=str)
def test_same_forest(forest, tmp_path):
    forest.fit(X, Y)
    again = round_trip(forest, tmp_path)
    assert type(again) is type(forest)
    assert predictions(again).tobytes() == predictions(forest).tobytes()
    for name in forest._forest.names():
        one, other = getattr(again._forest, name), getattr(forest._forest, name)
        if name != "comparison":
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes()
    assert repr(again.get_params()) == repr(forest.get_params())
    for name in vars(forest):
        if name.endswith("_"):
            assert repr(getattr(again, name)) == repr(getattr(forest, name))
    # The same forest is the same file, whatever has been asked of it.
    first = (tmp_path / "forest.mrf").read_bytes()
    mrforest.save(again, tmp_path / "again.mrf")
    assert (tmp_path / "again.mrf").read_bytes() == first


def test_what_else_a_loaded_forest_can_do(tmp_path):
    forest = MultinomialForestClassifier(4, random_state=0, warm_start=True).fit(X, Y)
    again = round_trip(forest, tmp_path)
    np.testing.assert_array_equal(
        again.feature_importances_, forest.feature_importances_
    )
    assert pickle.loads(pickle.dumps(again)).predict(X).tolist()
    more = [f.set_params(n_estimators=9).fit(X, Y) for f in (forest, again)]
    assert predictions(more[0]).tobytes() == predictions(more[1]).tobytes()
    private = PrivateForestClassifier(**PUBLIC).fit(X, Y)
    other = round_trip(private, tmp_path)
    assert other.log_probability(X, Y) == private.log_probability(X, Y)
    assert str(other.ledger_) == str(private.ledger_)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["setosa", "a much longer name", "x"]),
        np.array(["a", "b", "c"], dtype=object),
        np.array([3, 5, 9], dtype=np.int16),
        np.array([-1.0, 0.0, 2.0]),
        np.array(["ä", "€", "\U0001f332"], dtype="<U9"),
    ],
    ids=str,
)
def test_classes(labels, tmp_path):
    forest = BreimanForestClassifier(3, random_state=0).fit(X, labels[Y])
    again = round_trip(forest, tmp_path)
    assert again.classes_.dtype == forest.classes_.dtype
    found, expected = again.predict(X), forest.predict(X)
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()


def test_frames(tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "size": pd.Categorical(rng.choice(["s", "m", "l"], 200), ordered=True),
            "shop": pd.Categorical(rng.choice(["ä", "b"], 200)),
            "number": rng.integers(0, 9, 200),
        }
    )
    y = (rows["size"] == "m") ^ (rng.random(200) < 0.2)
    forest = MultinomialForestClassifier(5, random_state=0).fit(rows, y)
    again = round_trip(forest, tmp_path)
    assert again.feature_names_in_.tolist() == list(rows.columns)
    assert again._schema == forest._schema
    np.testing.assert_array_equal(again.predict(rows), forest.predict(rows))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(rows.rename(columns={"shop": "store"}))


def test_what_stays_behind(tmp_path):
    watched = MultinomialForestClassifier(2, random_state=0).fit(X, Y)
    watched._skl_callbacks = [print]  # as scikit-learn's set_callbacks leaves them
    again = round_trip(watched, tmp_path)
    assert not getattr(again, "_skl_callbacks", [])
    generator = np.random.RandomState(0)
    forest = MultinomialForestClassifier(2, random_state=generator).fit(X, Y)
    assert round_trip(forest, tmp_path).random_state is None
    accountant = Accountant(epsilon=3.0)
    forest = PrivateForestClassifier(accountant=accountant, **PUBLIC).fit(X, Y)
    assert round_trip(forest, tmp_path).accountant is None


# ---- what is not saved ---------------------------------------------------------------


def test_python_code_is_not_saved(tmp_path):
    forest = ComparisonForestClassifier(2, metric=lambda a, b: abs(a - b).sum())
    with pytest.raises(
        TypeError, match=r"ComparisonForestClassifier, metric=.*no code"
    ):
        mrforest.save(forest.fit(X[::5], Y[::5]), tmp_path / "forest.mrf")
    assert os.listdir(tmp_path) == []


def test_only_our_forests(tmp_path):
    class Mine(MultinomialForestClassifier):
        pass

    with pytest.raises(TypeError, match="Mine is no forest that can be saved"):
        mrforest.save(Mine(2).fit(X, Y), tmp_path / "forest.mrf")
    with pytest.raises(NotFittedError):
        mrforest.save(MultinomialForestClassifier(), tmp_path / "forest.mrf")


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "forest.mrf"
    forest = MultinomialForestClassifier(2, random_state=0).fit(X, Y)
    mrforest.save(forest, path)
    before = path.read_bytes()

    def fails(source, target):
        raise OSError("no room")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="no room"):
        mrforest.save(forest.fit(X, 2 - Y), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["forest.mrf"]


# ---- files that are not whole --------------------------------------------------------


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "forest.mrf"
    mrforest.save(BreimanForestClassifier(3, random_state=0).fit(X, Y), path)
    return path.read_bytes()


def read(content, folder):
    path = folder / "other.mrf"
    path.write_bytes(content)
    return mrforest.load(path)


@pytest.mark.parametrize("n_bytes", [0, 3, 8, 9, 100, 1000, -1])
def test_cut_short(content, n_bytes, tmp_path):
    with pytest.raises(ForestFileError, match=r"other\.mrf: .*(cut short|altered)"):
        read(content[:n_bytes], tmp_path)


def test_every_altered_byte_is_found(content, tmp_path):
    for place in range(0, len(content), 17):
        altered = bytearray(content)
        altered[place] ^= 1 << place % 8
        with pytest.raises(ForestFileError):
            read(bytes(altered), tmp_path)


def test_bytes_too_many(content, tmp_path):
    with pytest.raises(ForestFileError, match="altered"):
        read(content + b"\0", tmp_path)


def signed(header, data):
    """Return a file with a checksum that is right."""
    header[METADATA]["sha256"] = checksum(header, data)
    encoded = canonical(header)
    return len(encoded).to_bytes(8, "little") + encoded + data


def test_a_newer_version(content, tmp_path):
    header, data = parted(content)
    header[METADATA]["version"] = "2"
    with pytest.raises(ForestFileError, match="a newer mrforest wrote it"):
        read(signed(header, data), tmp_path)


def test_other_files(tmp_path):
    other = pickle.dumps({"a": 1})
    with pytest.raises(ForestFileError, match="no forest"):
        read(other, tmp_path)
    with pytest.raises(ForestFileError, match="no forest"):
        read((2).to_bytes(8, "little") + b"{}", tmp_path)
    with pytest.raises(FileNotFoundError):
        mrforest.load(tmp_path / "nothing.mrf")


def test_other_tools_can_look_at_it(content):
    """It is in the safetensors format: names, dtypes and shapes are in the header."""
    header, data = parted(content)
    arrays = {name: place for name, place in header.items() if name != METADATA}
    assert max(place["data_offsets"][1] for place in arrays.values()) == len(data)
    forest = json.loads(header[METADATA]["forest"])
    assert forest["class"] == "BreimanForestClassifier"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update({"class": "os"}), "no forest 'os'"),
        (lambda d: d.update({"class": ["list"]}), "no forest"),
        (lambda d: d["params"].update(n_estimators="many"), "n_estimators"),
        (lambda d: d["params"].update(nothing=1), "nothing"),
        (lambda d: d["fitted"].update(_forest=1), "_forest"),
        (lambda d: d["fitted"].update(n_features_in_=10**6), "categories"),
        (lambda d: d["fitted"].update(n_classes_=2), "classes_"),
        (lambda d: d["fitted"].pop("_schema"), "_schema"),
        (lambda d: d["fitted"].update(_seed={"float": "0x1p0"}), "_seed"),
        (lambda d: d["fitted"].update(_seed={"system": "ls"}), "unknown kind"),
        (lambda d: d["trees"].pop("mass"), "missing"),
        (lambda d: d["trees"].update(mass=d["trees"]["is_inner"]), "mass"),
        (lambda d: d["trees"].update(tree_start={"array": "99"}), "99"),
        (lambda d: d.update(kind="ValueForest"), "no trees of a ValueForest"),
    ],
)
def test_what_a_forest_cannot_be(content, change, message, tmp_path):
    header, data = parted(content)
    document = json.loads(header[METADATA]["forest"])
    change(document)
    header[METADATA]["forest"] = json.dumps(document)
    with pytest.raises(ForestFileError, match=message):
        read(signed(header, data), tmp_path)


def test_regressions(tmp_path):
    rows, y = load_diabetes(return_X_y=True)
    forest = PrivateForestRegressor(2.0, bounds=(-0.2, 0.2), target_bounds=(25, 350))
    again = round_trip(forest.fit(rows, y), tmp_path)
    np.testing.assert_array_equal(again.predict(rows), forest.predict(rows))
