#!/usr/bin/env python3
"""Two uses of argmax as a picture: the label map of an image, and the peaks of heat maps.

    pip install ./integrations/python matplotlib
    python examples/pictures/draw.py                 writes pictures.png beside this file

The image is a section through a head, which comes with matplotlib. Heat maps are those of a made-up pose.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

import argreduce
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.cbook
import matplotlib.colors
import matplotlib.pyplot as plt

# What is in the section, how bright each is (of 1), and how much that varies; a colour for each.
TISSUES = {
    "air": (0.0, 0.05, "#1b1b2f"),
    "bone, fluid": (0.2, 0.1, "#3a7ca5"),
    "muscle": (0.48, 0.1, "#81b29a"),
    "grey matter": (0.74, 0.08, "#f2cc8f"),
    "white matter, fat": (0.98, 0.1, "#e07a5f"),
}
# Joints as (row, column) of heat maps of 64 by 48, and which of them a line joins.
JOINTS = {
    "head": (8, 24), "neck": (16, 24), "left elbow": (24, 12), "left hand": (14, 6), "right elbow": (25, 36),
    "right hand": (36, 42), "hip": (34, 24), "left knee": (46, 16), "left foot": (58, 18), "right knee": (45, 33),
    "right foot": (58, 36),
}
BONES = [(0, 1), (1, 2), (2, 3), (1, 4), (4, 5), (1, 6), (6, 7), (7, 8), (6, 9), (9, 10)]


def section() -> np.ndarray:
    """An image of 256 by 256, dark to bright as 0 to 1."""
    with matplotlib.cbook.get_sample_data("s1045.ima.gz") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    image = np.frombuffer(data, np.uint16).reshape(256, 256).astype(np.float32)
    return np.minimum(image / np.quantile(image, 0.995), 1)


def scores(image: np.ndarray) -> np.ndarray:
    """How well each tissue explains each pixel and those around it: [tissue, row, column]."""
    means, widths = (np.array([tissue[n] for tissue in TISSUES.values()]).reshape(-1, 1, 1) for n in (0, 1))
    likelihood = -(((image - means) / widths) ** 2) / 2 - np.log(widths)
    for axis in (1, 2):
        likelihood = (np.roll(likelihood, 1, axis) + 2 * likelihood + np.roll(likelihood, -1, axis)) / 4
    return likelihood.astype(np.float32)


def heat_maps(rng: np.random.Generator) -> np.ndarray:
    """What a network would say: [joint, row, column], with noise and a second, lower peak."""
    rows, columns = np.mgrid[:64, :48]

    def peak(row: float, column: float) -> np.ndarray:
        return np.exp(-((rows - row) ** 2 + (columns - column) ** 2) / 14)

    maps = [peak(*joint) + 0.4 * peak(*rng.uniform((6, 6), (58, 42))) for joint in JOINTS.values()]
    return np.array(maps) + rng.normal(0, 0.04, (len(maps), 64, 48))


def draw() -> plt.Figure:
    figure, axes = plt.subplots(1, 4, figsize=(11, 3.4), layout="constrained")
    code = {"family": "monospace", "size": 9}
    image = section()
    labels = argreduce.argmax(scores(image), axis=0, dtype=np.uint8)
    axes[0].imshow(image, cmap="gray", interpolation="nearest")
    axes[0].set_title("an image", size=10)
    colours = matplotlib.colors.ListedColormap([tissue[2] for tissue in TISSUES.values()])
    axes[1].imshow(labels, cmap=colours, vmin=-0.5, vmax=len(TISSUES) - 0.5, interpolation="nearest")
    axes[1].set_title("argmax(scores, axis=0)", **code)
    handles = [plt.Rectangle((0, 0), 1, 1, color=tissue[2]) for tissue in TISSUES.values()]
    axes[1].legend(handles, TISSUES, loc="lower right", fontsize=6, labelcolor="white", frameon=False)

    maps = heat_maps(np.random.default_rng(17))
    rows, columns = argreduce.unravel(argreduce.argmax(maps, axis=(1, 2)), maps.shape, axis=(1, 2))
    axes[2].imshow(maps.max(axis=0), cmap="magma", interpolation="nearest")
    axes[2].set_title(f"{len(maps)} heat maps, one on the other", size=10)
    axes[3].imshow(maps.max(axis=0), cmap="gray_r", interpolation="nearest", alpha=0.4)
    axes[3].set_title("unravel(argmax(maps, (1, 2)), ..)", **code)
    for bone in BONES:
        axes[3].plot(columns[list(bone)], rows[list(bone)], color="#3a7ca5", linewidth=2)
    axes[3].plot(columns, rows, "o", color="#e07a5f", markersize=5)
    for axis in axes:
        axis.set_axis_off()
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("pictures.png"))
    output = parser.parse_args().output
    # No date and no version in it: the same picture is the same file.
    draw().savefig(output, dpi=80, metadata={"Software": None})
    print(f"{output}: {output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
