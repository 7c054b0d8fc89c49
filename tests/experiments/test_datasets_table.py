# SPDX-License-Identifier: BSD-3-Clause
"""Stored tables are read to the last bit, and a difference is told."""

import re
import struct
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pooch")

from mrforest.experiments.datasets import (
    Dataset,
    DatasetError,
    column_checks,
    fingerprint,
)
from mrforest.experiments.datasets._table import check, read
from tests.experiments import made_up

# ---- the fingerprint -----------------------------------------------------------------


def dataset():
    X = pd.DataFrame({"a": [1.0, np.nan, -2.5], "b": pd.Categorical(["x", None, "y"])})
    return Dataset("made up", X, np.array(["p", "q", "p"]))


def test_a_fingerprint_is_what_its_description_says():
    # Computed by hand from the description: independent of pandas and of its version
    missing = bytes.fromhex("7ff8000000000000")[::-1]
    a = sha256(struct.pack("<d", 1.0) + missing + struct.pack("<d", -2.5)).hexdigest()
    b = sha256(b"x\n\0\ny\n").hexdigest()
    label = sha256(b"p\nq\np\n").hexdigest()
    lines = f"numeric\ta\t{a}\ncategorical\tb\t{b}\nlabel\t\t{label}\n"
    assert fingerprint(dataset()) == sha256(lines.encode()).hexdigest()


def test_a_fingerprint_does_not_see_how_a_table_is_held():
    told = dataset()
    X = told.X.assign(
        a=told.X["a"].replace(0.0, -0.0),
        b=told.X["b"].cat.reorder_categories(["y", "x"]),
    )
    assert fingerprint(replace(told, X=X[["a", "b"]].copy())) == fingerprint(told)
    zero = Dataset("", pd.DataFrame({"a": [0.0]}), np.array(["p"]))
    minus = Dataset("", pd.DataFrame({"a": [-0.0]}), np.array(["p"]))
    assert fingerprint(zero) == fingerprint(minus)


def changed(change):
    told = dataset()
    X, y = told.X.copy(), told.y.copy()
    if change == "number":
        X.loc[2, "a"] = np.nextafter(-2.5, 0)
    elif change == "number gone":
        X.loc[2, "a"] = np.nan
    elif change == "category":
        X.loc[2, "b"] = "x"
    elif change == "rows of X":
        X = X.iloc[[1, 0, 2]]
    elif change == "rows":
        X, y = X.iloc[[1, 0, 2]], y[[1, 0, 2]]
    elif change == "label":
        y[2] = "q"
    elif change == "class renamed":
        y = np.where(y == "q", "Q", y)
    elif change == "columns":
        X = X[["b", "a"]]
    elif change == "name":
        X = X.rename(columns={"a": "A"})
    elif change == "kind":
        X["a"] = X["a"].astype(str).astype("category")
    return Dataset("made up", X, y)


CHANGES = [
    "number", "number gone", "category", "rows of X", "rows", "label", "class renamed",
    "columns", "name", "kind",
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_fingerprint_sees_every_change(change):
    assert fingerprint(changed(change)) != fingerprint(dataset())


@given(st.lists(st.floats(allow_infinity=False), min_size=1, max_size=9))
def test_numbers_survive_a_file_to_the_last_bit(tmp_path_factory, numbers):
    path = tmp_path_factory.mktemp("table") / "numbers.csv"
    lines = [f"{'' if np.isnan(x) else repr(x)},p\n" for x in numbers]
    path.write_text("".join(["x,target\n", *lines]))
    entry = made_up.entry(path.with_name("other.csv"), columns=("x",), drop={})
    found = read(path, replace(entry, categorical=()))
    np.testing.assert_array_equal(found.X["x"], numbers)


# ---- what a mismatch says ------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("1.5,", "1.25,", "column 'height': checksum 5a37 expected, "),
        ("2,blue", "2,red", "column 'colour': checksum"),
        ("yes\n2,blue,b,no\n", "no\n2,blue,b,yes\n", "the labels: checksum"),
        ("4,blue,e,no\n", "", "5 rows expected, 4 found; class 'no': 3 rows"),
        ("yes", "Yes", "class 'Yes': 0 rows expected, 2 found; class 'yes': 2 rows"),
        ("height", "width", "columns 'height' expected, not found; columns 'width'"),
        ("height,colour", "colour,height", "columns in another order: 'colour'"),
        ("name,", "size,", "columns 'name' expected, not found"),
        ("target", "label", "columns 'target' expected, not found"),
        ("-0.25", "small", "column 'height', row 3: 'small' is no number"),
    ],
)  # fmt: skip
def test_a_mismatch_says_what_differs(tmp_path, old, new, reason):
    entry = made_up.entry(tmp_path / "expected.csv")
    path = tmp_path / "shapes.csv"
    path.write_text(made_up.TABLE.replace(old, new))
    with pytest.raises(DatasetError, match=re.escape(reason)):
        check(read(path, entry), entry)


def test_a_table_without_a_label_is_refused(tmp_path):
    entry = made_up.entry(tmp_path / "expected.csv")
    path = tmp_path / "shapes.csv"
    path.write_text("height,width\n1,2\n")
    with pytest.raises(DatasetError, match=r"no column 'target'.*'height', 'width'"):
        read(path, entry)


def test_columns_in_another_order_are_told(tmp_path):
    entry = made_up.entry(tmp_path / "expected.csv")
    path = tmp_path / "shapes.csv"
    pd.read_csv(tmp_path / "expected.csv")[
        ["colour", "height", "name", "target"]
    ].to_csv(path, index=False)
    with pytest.raises(DatasetError, match="columns in another order: 'colour', 'hei"):
        check(read(path, entry), entry)


def test_few_of_many_differences_are_told(tmp_path):
    entry = made_up.entry(tmp_path / "expected.csv")
    path = tmp_path / "shapes.csv"
    rows = "".join(f"1,red,a,class {i}\n" for i in range(9))
    path.write_text("height,colour,name,target\n" + rows)
    with pytest.raises(DatasetError, match=r"; and \d+ more$"):
        check(read(path, entry), entry)


def test_a_dataset_without_column_checks_shows_fingerprints(tmp_path):
    entry = made_up.entry(tmp_path / "expected.csv")
    entry = replace(entry, column_checks=())
    path = tmp_path / "shapes.csv"
    path.write_text(made_up.TABLE.replace("1.5", "1.75"))
    with pytest.raises(
        DatasetError, match=f"{entry.fingerprint} expected, [0-9a-f]+ f"
    ):
        check(read(path, entry), entry)


# ---- what is read -----------------------------------------------------------------


def test_categories_that_are_numbers_are_ordered_as_numbers(tmp_path):
    entry = made_up.entry(tmp_path / "expected.csv", columns=("size",), drop={})
    path = tmp_path / "sizes.csv"
    path.write_text("size,target\n10,p\n9,q\n,p\n-1,q\n")
    X = read(path, replace(entry, categorical=("size",))).X
    assert X["size"].cat.categories.tolist() == ["-1", "9", "10"]
    assert X["size"].isna().tolist() == [False, False, True, False]


def test_words_for_missing_are_words(tmp_path):
    entry = made_up.entry(tmp_path / "expected.csv", columns=("word",), drop={})
    path = tmp_path / "words.csv"
    path.write_text("word,target\nNA,None\nnull,nan\n")
    found = read(path, replace(entry, categorical=("word",)))
    assert found.X["word"].tolist() == ["NA", "null"]
    assert found.y.tolist() == ["None", "nan"]


def test_rows_without_a_label_are_left_out(tmp_path):
    entry = made_up.entry(tmp_path / "expected.csv", label="colour", drop={})
    found = read(tmp_path / "expected.csv", entry)
    assert found.y.tolist() == ["red", "blue", "red", "blue"]
    # What was the label is a feature then, and not called so.
    assert found.X.columns.tolist() == ["height", "name", "class"]
    assert found.X["class"].tolist() == ["yes", "no", "no", "no"]
    assert len(column_checks(found)) == 4
