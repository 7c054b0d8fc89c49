# SPDX-License-Identifier: BSD-3-Clause
"""
Segment an image from a few strokes of a brush
==============================================

A slice of tissue, as scikit-image carries it: glands are stained brown, the tissue
around them blue, and there are empty places. A few rectangles are labelled by hand; a
multinomial forest learns from them and tells what every other pixel is.

    python examples/segment_an_image.py [FIGURE.png]
"""

import sys

import matplotlib
import numpy as np

if len(sys.argv) > 1:
    matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.colors import ListedColormap
from skimage.data import immunohistochemistry

from mrforest import MultinomialForestClassifier
from mrforest.experiments.segmentation import ForestSegmenter, PixelFeatures

image = immunohistochemistry()

# %%
# Strokes: labels of some pixels. Zero is "not known", and is not learned from.

NAMES = ["gland", "tissue", "empty"]
strokes = np.zeros(image.shape[:2], dtype=int)
strokes[60:120, 40:200] = 1
strokes[330:350, 90:130] = 1
strokes[280:300, 190:330] = 2
strokes[420:500, 180:230] = 2
strokes[300:400, 5:25] = 3
strokes[100:125, 334:344] = 3

# %%
# Colour, local binary pattern and Haralick's features of each pixel, and a forest.

segmenter = ForestSegmenter(
    MultinomialForestClassifier(100, n_jobs=-1, random_state=0),
    features=PixelFeatures(window=7, radius=8),
    n_pixels=5_000,
    unknown=0,
    random_state=0,
)
segmenter.fit(image, strokes)
told = segmenter.predict(image)
probabilities = segmenter.predict_proba(image)

for label, name in enumerate(NAMES, start=1):
    print(f"{name:>7}: {100 * np.mean(told == label):4.1f} % of the image")

# %%
# The image with the strokes, the most likely label, and how likely a gland is.

colours = ListedColormap(["#a0522d", "#4a78b5", "#f2efe6"])
figure, axes = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
axes[0].imshow(image)
known = np.ma.masked_equal(strokes, 0)
axes[0].imshow(known, cmap=colours, vmin=1, vmax=3, interpolation="nearest")
for label in (1, 2, 3):
    axes[0].contour(strokes == label, levels=[0.5], colors="black", linewidths=0.8)
axes[0].set_title("image and strokes")
axes[1].imshow(told, cmap=colours, vmin=1, vmax=3, interpolation="nearest")
axes[1].set_title("most likely label")
heat = axes[2].imshow(probabilities[..., 0], cmap="magma", vmin=0, vmax=1)
axes[2].set_title("probability of a gland")
figure.colorbar(heat, ax=axes[2], shrink=0.8)
for panel in axes:
    panel.set_axis_off()
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=110)
else:
    plt.show()
