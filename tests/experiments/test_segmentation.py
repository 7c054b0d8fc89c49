# SPDX-License-Identifier: BSD-3-Clause
"""Features of pixels, and a forest that is told of them."""

import pickle

import numpy as np
import pytest
from joblib import parallel_config

pytest.importorskip("skimage")

from skimage.color import rgb2gray
from skimage.feature import local_binary_pattern
from skimage.util import img_as_ubyte
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from mrforest import MultinomialForestClassifier
from mrforest.experiments.segmentation import (
    ForestSegmenter,
    ImageError,
    PixelFeatures,
    haralick,
    intersection_over_union,
    pixel_accuracy,
    segmenter,
)

SMALL = PixelFeatures(window=5, radius=3)


def picture(seed=0, height=60, width=70):
    """Two materials of the same colours: one smooth, one rough."""
    random = np.random.default_rng(seed)
    mask = np.zeros((height, width), dtype=bool)
    mask[height // 4 : -height // 4, width // 3 :] = True
    smooth = np.full((height, width, 3), 120.0)
    rough = 120 + 60 * random.choice([-1, 1], (height, width, 1))
    image = np.where(mask[..., None], rough, smooth) + random.normal(0, 3, smooth.shape)
    return image.clip(0, 255).astype(np.uint8), mask


# ---- features ------------------------------------------------------------------------


def test_features_are_colours_pattern_and_texture():
    image, _ = picture()
    features = SMALL.fit_transform(image).reshape(60, 70, 12)
    assert (features[..., :3] == image).all()
    grey = img_as_ubyte(rgb2gray(image))
    pattern = local_binary_pattern(grey, 24, 3, "uniform")
    # Beyond the edges there is a mirror here, and nothing there.
    assert (features[4:-4, 4:-4, 3] == pattern[4:-4, 4:-4]).all()
    assert list(SMALL.get_feature_names_out())[:5] == [
        "red", "green", "blue", "local binary pattern", "angular second moment",
    ]  # fmt: skip
    assert len(SMALL.get_feature_names_out()) == 12


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (3, 4)])
def test_images_smaller_than_the_window(shape):
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3)).astype(np.uint8)
    features = PixelFeatures().transform(image)
    assert features.shape == (shape[0] * shape[1], 12)
    assert np.isfinite(features).all()


@pytest.mark.parametrize(
    ("pattern", "most"),
    [("default", 31), ("ror", 31), ("nri_uniform", 127), ("uniform", 1024)],
)
def test_all_points_of_a_pattern_count(pattern, most):
    """Turning one half of the surroundings dark changes the pattern of the middle."""
    features = PixelFeatures(window=3, radius=6, n_points=most, pattern=pattern)

    def told(*dark):
        image = np.full((21, 21, 3), 200, dtype=np.uint8)
        for rows, columns in dark:
            image[rows, columns] = 0
        image[10, 10] = 100
        return features.transform(image)[10 * 21 + 10, 3]

    whole, half = slice(None), (slice(0, 8), slice(13, None))
    halves = [(half[0], whole), (half[1], whole), (whole, half[0]), (whole, half[1])]
    patterns = {told(), *(told(dark) for dark in halves), told(*halves)}
    # Rotations are the same to some kinds, and all of them know light from dark.
    assert len(patterns) >= (6 if pattern in ("default", "nri_uniform") else 3)
    with pytest.raises(ValueError, match=f"n_points={most + 1} must be"):
        features.set_params(n_points=most + 1).transform(picture()[0])


def test_a_pattern_of_variances():
    features = PixelFeatures(window=3, radius=2, pattern="var")
    assert np.isfinite(features.transform(np.zeros((5, 6, 3), dtype=np.uint8))).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"window": 4}, "window=4 must be odd"),
        ({"window": 1}, "window=1 must be a whole number from 3 to 255"),
        ({"window": 5.0}, "window=5.0 must be a whole number"),
        ({"n_levels": 1}, "n_levels=1 must be a whole number from 2 to 256"),
        ({"n_levels": 257}, "n_levels=257"),
        ({"distance": 11}, "distance=11 must be a whole number from 1 to 10"),
        ({"distance": True}, "distance=True"),
        ({"radius": 0}, "radius=0 must be a positive number"),
        ({"radius": float("nan")}, "radius=nan must be a positive number"),
        ({"radius": "3"}, "radius='3' must be a positive number"),
        ({"radius": 200}, "radius=200 has 1600 points, pattern='uniform' at most 1024"),
        ({"pattern": "default"}, "radius=24 has 192 points, pattern='default' at most"),
        ({"n_points": 0}, "n_points=0 must be a whole number from 1 to 1024"),
        ({"pattern": "no"}, "pattern='no' must be one of"),
    ],
)
@pytest.mark.parametrize("call", ["fit", "transform"])
def test_bad_parameters(parameters, message, call):
    with pytest.raises(ValueError, match=message):
        getattr(PixelFeatures(**parameters), call)(picture()[0])


@pytest.mark.parametrize(
    "grey",
    [
        np.full((9, 9), 300, dtype=np.uint16),
        np.full((9, 9), 0.5),
        np.ones((9, 9), dtype=bool),
        np.zeros((9, 9, 3), dtype=np.uint8),
        np.zeros((0, 9), dtype=np.uint8),
    ],
)
def test_texture_is_of_grey_images(grey):
    with pytest.raises(ImageError, match="it must be a grey image with 8 bits"):
        haralick(grey)


def test_texture_under_other_backends():
    grey = picture()[0][..., 0]
    expected = haralick(grey)
    with parallel_config(backend="loky", n_jobs=2):
        assert (haralick(grey) == expected).all()


# ---- the segmenter -------------------------------------------------------------------


@pytest.mark.parametrize(
    "forest", [None, RandomForestClassifier(20, random_state=0)], ids=["MRF", "sklearn"]
)
def test_textures_are_told_apart(forest):
    learner = ForestSegmenter(
        forest, features=SMALL, n_pixels=1000, stratified=True, random_state=0
    )
    learner.fit(*picture(0))
    image, mask = picture(1, 50, 90)
    told = learner.predict(image)
    assert told.shape == mask.shape
    assert pixel_accuracy(mask, told) > 0.93
    assert intersection_over_union(mask, told) > 0.85
    assert learner.score(image, mask) == pixel_accuracy(mask, told)
    probabilities = learner.predict_proba(image)
    assert probabilities.shape == (50, 90, 2)
    np.testing.assert_allclose(probabilities.sum(axis=2), 1)
    assert (learner.classes_ == [False, True]).all()


def learner(**options):
    forest = MultinomialForestClassifier(5, random_state=0)
    options = {"n_pixels": 300, "random_state": 0, "features": SMALL} | options
    return ForestSegmenter(forest, **options)


def test_strips_make_no_difference(monkeypatch):
    first, second = picture(0), picture(1, 41, 66)
    whole = learner().fit([first[0], second[0]], [first[1], second[1]])
    monkeypatch.setattr(segmenter, "STRIP_PIXELS", 300)
    monkeypatch.setattr(segmenter, "STRIP_MARGINS", 1)
    strips = learner().fit([first[0], second[0]], [first[1], second[1]])
    image = picture(2, 55, 43)[0]
    assert len(list(segmenter.strips_of(image, 4))) > 5
    assert (whole.predict_proba(image) == strips.predict_proba(image)).all()


def test_pixels_are_drawn_without_replacement_by_their_shares():
    labels = np.array(700 * ["a"] + 200 * ["b"] + 100 * ["unknown"])
    drawn = segmenter.draw_pixels(
        labels, 90, stratified=True, unknown="unknown", random_state=0
    )
    assert len(set(drawn.tolist())) == 90
    names, counts = np.unique(labels[drawn], return_counts=True)
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == {"a": 70, "b": 20}
    everything = segmenter.draw_pixels(labels, 1000)
    assert everything.tolist() == list(range(1000))
    once, again = (segmenter.draw_pixels(labels, 50, random_state=3) for _ in range(2))
    assert (once == again).all()
    assert (once != segmenter.draw_pixels(labels, 50, random_state=4)).any()


def test_labels_may_be_unknown():
    image, mask = picture()
    strokes = np.full(mask.shape, "", dtype="<U6")
    strokes[:5] = "smooth"
    strokes[25:35, 30:] = "rough"
    told = learner(unknown="").fit(image, strokes).predict(image)
    assert set(np.unique(told)) == {"smooth", "rough"}
    assert pixel_accuracy(np.where(mask, "rough", "smooth"), told) > 0.85
    fitted = learner(unknown="").fit(image, strokes)
    assert fitted.score(image, strokes) > 0.95


def test_the_default_forest_has_the_seed():
    image, mask = picture()
    once, again = (
        ForestSegmenter(features=SMALL, n_pixels=300, random_state=3).fit(image, mask)
        for _ in range(2)
    )
    assert (once.predict_proba(image) == again.predict_proba(image)).all()


def test_a_class_that_is_not_drawn_is_told():
    image, mask = picture()
    labels = mask.astype(int)
    labels[0, 0] = 2
    with pytest.warns(UserWarning, match=r"no pixel of \[2\] is among the 300"):
        fitted = learner(stratified=True).fit(image, labels)
    assert fitted.classes_.tolist() == [0, 1]


def test_a_segmenter_is_an_estimator():
    image, mask = picture()
    fitted = learner().fit(image, mask)
    again = clone(fitted).fit(image, mask)
    assert (again.predict(image) == fitted.predict(image)).all()
    kept = pickle.loads(pickle.dumps(fitted))
    assert (kept.predict_proba(image) == fitted.predict_proba(image)).all()
    assert fitted.get_params()["features__window"] == 5


@pytest.mark.parametrize(
    ("images", "masks", "message"),
    [
        (picture()[0], picture()[1][1:], r"shape \(59, 70\), its image \(60, 70\)"),
        (picture()[0], np.zeros((60, 70), int), "all have the one class 0; there"),
        (picture()[0], np.zeros((60, 70), bool), "all have the one class False; there"),
        (picture()[0], picture()[1].astype(float), "float64; it must be an array with"),
        (picture()[0], picture()[1].astype(object), "object; it must be an array with"),
        (picture()[0][..., 0], picture()[1], "image is grey"),
        ([], [], "0 images and 0 masks"),
        ([picture()[0]], [], "1 images and 0 masks"),
        (
            [picture()[0], picture()[0][1:]],
            2 * [picture()[1]],
            r"mask 1 has the shape \(60, 70\)",
        ),
    ],
)
def test_bad_images(images, masks, message):
    with pytest.raises(ImageError, match=message):
        learner().fit(images, masks)


@pytest.mark.parametrize("n_pixels", [0, 4201, 10.0, True])
def test_bad_numbers_of_pixels(n_pixels):
    with pytest.raises(ValueError, match=f"n_pixels={n_pixels} must be"):
        learner(n_pixels=n_pixels).fit(*picture())


def test_measures():
    truth, told = np.array([[1, 1, 0, 0]]), np.array([[1, 0, 1, 0]])
    assert pixel_accuracy(truth, told) == 0.5
    assert intersection_over_union(truth, told, 1) == pytest.approx(1 / 3)
    assert np.isnan(intersection_over_union(truth, told, 2))
    for measure in (pixel_accuracy, intersection_over_union):
        with pytest.raises(
            ValueError, match=r"truth has the shape \(1, 4\), told \(4,"
        ):
            measure(truth, told[0])
