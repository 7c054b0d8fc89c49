# SPDX-License-Identifier: BSD-3-Clause
"""mrforest segment: a model is trained, written, read and used."""

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("skimage")

import joblib
from PIL import Image
from typer.testing import CliRunner

from mrforest.cli import app
from tests.experiments.test_segmentation import picture


@pytest.fixture
def call(monkeypatch, tmp_path):
    """Call the command line in an empty folder, on a wide terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.setenv("NO_COLOR", "1")
    return lambda *arguments: CliRunner().invoke(app, ["segment", *arguments])


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for i in range(3):
        image, mask = picture(i)
        Image.fromarray(image).save(folder / f"p{i}.png")
        Image.fromarray(mask).save(folder / f"p{i}_mask.png")
    return folder


SMALL = ("--pixels", "1000", "--n-estimators", "10", "--n-jobs", "1")


@pytest.mark.parametrize("forest", ["MRF", "CompRF-C", "scikit-learn"])
def test_train_and_predict(call, folder, tmp_path, forest):
    trained = call(
        "train",
        *("--images", f"{folder}/p0.png", "--masks", f"{folder}/p0_mask.png"),
        *("--images", f"{folder}/p1.png", "--masks", f"{folder}/p1_mask.png"),
        *("--model", "m/model", "--forest", forest, "--stratified", *SMALL),
    )
    assert trained.exit_code == 0, trained.output
    assert "Learned from 1,000 pixels of 2 images" in trained.output
    told = call(
        "predict",
        *("--model", "m/model", f"{folder}/p2.png", "-o", "heat.png"),
        *("--labels", "labels.png", "--truth", f"{folder}/p2_mask.png"),
    )
    assert told.exit_code == 0, told.output
    accuracy = float(told.output.split("Pixel accuracy ")[1].split(" ")[0])
    assert accuracy > 80
    heat = np.asarray(Image.open(tmp_path / "heat.png"))
    assert heat.shape == (60, 70, 3)
    labels = np.asarray(Image.open(tmp_path / "labels.png"))
    assert set(np.unique(labels)) <= {0, 255}
    truth = picture(2)[1]
    assert 100 * np.mean((labels > 0) == truth) == pytest.approx(accuracy, abs=0.06)
    # Yellow is likely, black is not.
    assert heat[truth].mean() > 2 * heat[~truth].mean()
    assert {path.name for path in tmp_path.iterdir()} == {
        "pictures", "m", "heat.png", "labels.png",
    }  # fmt: skip


def test_folders(call, folder, tmp_path):
    result = call(
        "train", "--images", str(folder), "--masks", str(folder), "--model", "m", *SMALL
    )
    assert result.exit_code == 0, result.output
    assert "of 3 images" in result.output
    masks = tmp_path / "masks"
    masks.mkdir()
    for path in list(folder.glob("*_mask.png")):
        path.rename(masks / path.name.replace("_mask", ""))
    again = call(
        "train", "--images", str(folder), "--masks", str(masks), "--model", "n", *SMALL
    )
    assert again.exit_code == 0, again.output
    first, second = (joblib.load(tmp_path / name)["segmenter"] for name in "mn")
    image = picture(7)[0]
    assert (first.predict_proba(image) == second.predict_proba(image)).all()
    (masks / "p1.png").unlink()
    missing = call("train", "--images", str(folder), "--masks", str(masks),
                   "--model", "o", *SMALL)  # fmt: skip
    assert missing.exit_code == 2
    assert "has no mask of p1.png" in missing.output


def test_bad_training_images(call, folder, tmp_path):
    def train(image, mask, *more):
        return call(
            "train", "--images", str(image), "--masks", str(mask), "--model", "m",
            *SMALL, *more,
        )  # fmt: skip

    small = tmp_path / "small.png"
    Image.fromarray(picture()[1][:30]).save(small)
    result = train(folder / "p0.png", small)
    assert result.exit_code == 1
    assert "has 70 x 30 pixels, its image" in result.output
    black = tmp_path / "black.png"
    Image.fromarray(np.zeros((60, 70), dtype=np.uint8)).save(black)
    result = train(folder / "p0.png", black)
    assert result.exit_code == 1
    assert "all have the one class" in result.output
    result = train(folder / "p0_mask.png", folder / "p0_mask.png")
    assert result.exit_code == 1
    assert "is grey" in result.output
    result = train(folder / "p0.png", folder / "p0_mask.png", "--pixels", "5000")
    assert result.exit_code == 1
    assert "n_pixels=5000 must be from 1 to 4,200" in result.output
    result = train(folder / "p0.png", folder / "p0_mask.png", "--forest", "oak")
    assert result.exit_code == 2
    assert "must be one of" in result.output
    result = train(folder / "p0.png", folder)
    assert result.exit_code == 2
    assert not (tmp_path / "m").exists()


def test_bad_models(call, folder, tmp_path):
    def predict():
        return call("predict", "--model", "m", str(folder / "p0.png"), "-o", "heat.png")

    (tmp_path / "m").write_text("no model")
    result = predict()
    assert result.exit_code == 1
    assert "is no model that mrforest segment train wrote" in result.output
    joblib.dump({"segmenter": None, "version": "0.0.1"}, tmp_path / "m")
    result = predict()
    assert result.exit_code == 1
    assert "was written by mrforest 0.0.1" in result.output
    assert not (tmp_path / "heat.png").exists()


def test_a_truth_of_another_size(call, folder, tmp_path):
    pair = ("--images", f"{folder}/p0.png", "--masks", f"{folder}/p0_mask.png")
    assert call("train", *pair, "--model", "m", *SMALL).exit_code == 0
    small = tmp_path / "small.png"
    Image.fromarray(picture()[1][:30]).save(small)
    result = call(
        "predict", "--model", "m", f"{folder}/p1.png", "-o", "heat.png",
        "--truth", str(small),
    )  # fmt: skip
    assert result.exit_code == 1
    assert "has 70 x 30 pixels" in result.output
    assert not (tmp_path / "heat.png").exists()


def test_outputs_are_checked_before_anything_is_computed(call, folder, tmp_path):
    image = str(folder / "p0.png")
    joblib.dump({"segmenter": None, "version": "0.0.1"}, tmp_path / "m")
    result = call("predict", "--model", "m", image, "-o", "heat.jpg")
    assert result.exit_code == 2
    assert "must end in .png" in result.output
    (tmp_path / "file").write_text("")
    result = call("predict", "--model", "m", image, "-o", "file/heat.png")
    assert result.exit_code == 2
    assert "cannot make the folder" in result.output
