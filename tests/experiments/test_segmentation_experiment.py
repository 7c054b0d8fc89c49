# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on made-up images, and what is made of its results."""

import threading
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("skimage")
pytest.importorskip("typer")

from PIL import Image
from typer.testing import CliRunner

from mrforest.cli import app
from mrforest.experiments.segmentation import (
    ImageError,
    aerial,
    experiment,
    figures,
)
from tests.experiments.made_up import Server
from tests.experiments.test_segmentation import picture

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def place(monkeypatch, tmp_path):
    """A place with three images in a folder of data; and no cache."""
    folder = tmp_path / "data" / "aerial"
    folder.mkdir(parents=True)
    registry = {}
    for name, (image, mask) in {
        f"made_{i}": picture(i, 40, 50) for i in range(3)
    }.items():
        files = [f"{name}.png", f"{name}_mask.png"]
        Image.fromarray(image).save(folder / files[0])
        Image.fromarray(mask).save(folder / files[1])
        sums = [sha256((folder / file).read_bytes()).hexdigest() for file in files]
        registry[name] = aerial.Picture(name, "Nowhere", files, sums, "none")
    monkeypatch.setattr(aerial, "_registry", lambda: registry)
    monkeypatch.setitem(aerial.PLACES, "Nowhere", list(registry))
    monkeypatch.setattr(experiment, "QUICK_PLACES", ("Nowhere",))
    monkeypatch.setattr(experiment, "QUICK_PIXELS", 300)
    monkeypatch.setenv("MRFOREST_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(
        "mrforest.experiments.datasets.cache_folder", lambda: tmp_path / "cache"
    )
    experiment._pixels.cache_clear()
    yield folder
    experiment._pixels.cache_clear()


def test_the_whole_experiment():
    """Each image of Potsdam and of Kampala in turn, seven forests, five draws."""
    tasks = pd.DataFrame(experiment.tasks())
    assert len(tasks) == (3 + 2) * 7 * 5
    assert set(tasks["place"]) == {"Potsdam", "Kampala"}
    assert (tasks["n_pixels"] == 10_000).all()
    assert set(tasks["forest"]) == {
        "Denil14", "BRF", "CompRF-C", "MRF", "CompRF-I", "Breiman", "scikit-learn",
    }  # fmt: skip


def settings(forest="MRF", draw=0):
    return {
        "place": "Nowhere",
        "dataset": "made_1",
        "forest": forest,
        "draw": draw,
        "n_pixels": 300,
        "n_estimators": 5,
    }


def test_a_forest_does_not_see_the_image_it_is_tested_on(place, monkeypatch):
    """If the tested image has another truth, the map is the same."""
    first = experiment.measure(settings())
    image, mask = aerial.load("made_1")
    real = aerial.load

    def inverted(name, **options):
        return (image, ~mask) if name == "made_1" else real(name, **options)

    monkeypatch.setattr(aerial, "load", inverted)
    experiment._pixels.cache_clear()
    second = experiment.measure(settings())
    assert first["heat"] == second["heat"]
    assert first["pixel_accuracy"] > 80
    assert first["pixel_accuracy"] + second["pixel_accuracy"] == pytest.approx(100)


def test_draws_differ_and_are_the_same_again(place):
    once, again, other = (experiment.measure(settings(draw=d)) for d in (1, 1, 2))
    assert once["iou"] == again["iou"]
    assert once["iou"] != other["iou"]
    assert once["heat"] is None


def frame_of(accuracies):
    """Results of two images with five draws, all forests shifted by a number."""
    rows = [
        {
            "place": "Kampala",
            "dataset": image,
            "forest": forest,
            "draw": draw,
            "pixel_accuracy": base + shift + draw,
            "iou": base - 20 - shift + draw,
            "fit_seconds": 1.0,
            "predict_seconds": 2.0,
        }
        for image, base in (("kampala_a", 60), ("kampala_b", 70))
        for forest, shift in accuracies.items()
        for draw in range(5)
    ]
    return pd.DataFrame(rows)


def test_summary_and_comparison():
    frame = frame_of({"Breiman": -2, "MRF": 0, "BRF": 0})
    found = experiment.summary(frame).set_index(["image", "forest"])
    assert list(found.loc["kampala_a"].index) == ["BRF", "MRF", "Breiman"]
    row = found.loc["kampala_a", "Breiman"]
    assert row["pixel_accuracy"] == 60
    assert row["iou"] == 44
    assert row["iou_deviation"] == pytest.approx(np.std(range(5), ddof=1))
    gains = experiment.compared(frame).set_index(["forest", "against"])
    assert gains.index.tolist() == [
        ("MRF", "BRF"), ("MRF", "Breiman"), ("Breiman", "BRF"),
    ]  # fmt: skip
    row = gains.loc["MRF", "Breiman"]
    assert row["pixel_accuracy_gain"] == 2
    assert row["iou_gain"] == -2
    assert row["pairs"] == 10
    assert row["pixel_accuracy_p"] < 0.01
    assert gains.loc[("MRF", "BRF"), "pixel_accuracy_p"] == 1
    assert gains.loc[("Breiman", "BRF"), "pixel_accuracy_gain"] == -2


def test_the_command(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    # In this process, which knows the made-up images.
    monkeypatch.setattr(
        "mrforest.cli._reproduce.run",
        lambda tasks, store, **_: [
            store.add(t.experiment, t.settings, t.measure(t.settings), seconds=1.0)
            for t in tasks
        ],
    )
    monkeypatch.setattr(experiment, "FORESTS", {"MRF": "stop", "Breiman": "floor"})
    result = CliRunner().invoke(app, ["reproduce", "segmentation", "--quick"])
    assert result.exit_code == 0, result.output
    assert "Forests against each other" in result.output
    output = tmp_path / "reproduce"
    for name in ("", "-made_0", "-made_1", "-made_2"):
        assert (output / f"segmentation{name}.png").read_bytes()[:8] == PNG
    table = pd.read_csv(output / "segmentation.csv")
    assert len(table) == 3 * 2
    assert (table["draws"] == 2).all()
    assert "Breiman" in (output / "segmentation.md").read_text()
    assert "Breiman" in (output / "segmentation.tex").read_text()
    report = CliRunner().invoke(app, ["reproduce", "report"])
    assert report.exit_code == 0, report.output
    assert "data:image/png;base64," in (output / "report.html").read_text()


def test_maps_are_kept(place):
    row = settings() | experiment.measure(settings())
    frame = pd.DataFrame([row])
    heat = experiment.heat_map(frame, "made_1", "MRF")
    truth = aerial.load("made_1")[1]
    assert heat.shape == truth.shape
    assert heat[truth].mean() > 0.8 > 0.2 > heat[~truth].mean()
    assert experiment.heat_map(frame, "made_1", "BRF") is None
    assert len(figures.draw_maps(frame, "made_1").axes) >= 4


# ---- where images come from ----------------------------------------------------------


def test_the_registry():
    assert aerial.PLACES["Potsdam"] == [
        "pots_block_2_27", "pots_block_2_28", "pots_block_3_14",
    ]  # fmt: skip
    for names in aerial.PLACES.values():
        for name in names:
            found = aerial.picture(name)
            assert len(found.files) == len(found.sha256) == 2
            assert len(found.addresses) in (0, 2)
    with pytest.raises(ValueError, match=r"name='zoo' must be one of"):
        aerial.picture("zoo")


def test_another_file_of_that_name_is_refused(place):
    (place / "made_0.png").write_bytes(b"another")
    with pytest.raises(ImageError, match="is not the file of that name that was used"):
        aerial.load("made_0")


def test_images_without_an_address_must_be_there(place):
    (place / "made_0.png").unlink()
    with pytest.raises(ImageError, match="no address to download it from"):
        aerial.load("made_0")
    runner = CliRunner()
    result = runner.invoke(app, ["reproduce", "segmentation", "--quick"])
    assert result.exit_code == 1
    assert "Nowhere is left out" in result.output
    result = runner.invoke(app, ["reproduce", "segmentation", "--places", "Nowhere"])
    assert result.exit_code == 1
    assert "cannot load the images of Nowhere" in result.output


def test_images_are_downloaded_whole(place, tmp_path, monkeypatch):
    """From a server of our own that fails at first; then they are in the cache."""
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    content = {f"/{p.name}": p.read_bytes() for p in place.iterdir()}
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            wanted = aerial.picture("made_0")
            addresses = tuple(
                server.address(f"/{file}", 503, content[f"/{file}"])
                for file in wanted.files
            )
            changed = aerial.Picture(**(vars(wanted) | {"addresses": addresses}))
            monkeypatch.setattr(aerial, "_registry", lambda: {"made_0": changed})
            expected = aerial.load("made_0")
            for file in wanted.files:
                (place / file).unlink()
            found = aerial.load("made_0")
        finally:
            server.shutdown()
            thread.join()
    assert all((a == b).all() for a, b in zip(expected, found, strict=True))
    cached = {p.name for p in (tmp_path / "cache" / "aerial").iterdir()}
    assert cached == set(wanted.files)
    again = aerial.load("made_0")  # the server is gone
    assert (again[0] == expected[0]).all()
