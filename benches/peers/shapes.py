"""The shapes of the table of speed. Needs nothing but Python."""

from __future__ import annotations

from typing import NamedTuple


class Shape(NamedTuple):
    """An array, and along which axis; none is all of it."""

    dtype: str
    sizes: tuple[int, ...]
    axis: int | None

    def text(self) -> str:
        short = {"float32": "f32", "float16": "f16", "uint8": "u8"}[self.dtype]
        return f"{short} {list(self.sizes)} | {'all' if self.axis is None else self.axis}"


SHAPES = {
    "LLM logits": Shape("float32", (1, 128256), 1),
    "LLM logits, half": Shape("float16", (1, 128256), 1),
    "classifier": Shape("float32", (1024, 1000), 1),
    "segmentation, NCHW": Shape("float32", (1, 21, 512, 512), 1),
    "segmentation, NHWC": Shape("float32", (8, 512, 512, 21), 3),
    "RGB image": Shape("uint8", (4096, 4096, 3), 2),
    "whole tensor": Shape("float32", (64, 64, 64, 64), None),
}
