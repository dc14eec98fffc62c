"""A working embedding model of any width with random weights, small enough to be made in a test."""

from __future__ import annotations

from pathlib import Path
from string import ascii_lowercase
from unittest import mock

import numpy as np

from crewsite.embeddings import compact

LETTERS = [*ascii_lowercase, *(f"##{letter}" for letter in ascii_lowercase)]


def tiny_embedder(path: Path, *, width: int = 768, seed: int = 1) -> Path:
    """Writes a BERT of one layer to `path`."""
    tokens = [f"[unused{index}]" for index in range(104)]
    tokens[0] = "[PAD]"
    tokens[100:104] = ["[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens += LETTERS
    facts = {"LAYERS": 1, "WIDTH": width, "FEED_FORWARD": width, "HEADS": 12, "VOCABULARY": len(tokens)}
    with mock.patch.multiple(compact, **facts):
        compact.gguf_write(_weights(len(tokens), width, seed), tokens, path)
    return path


def _weights(vocabulary: int, width: int, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (vocabulary, width),
        "embeddings.position_embeddings.weight": (compact.POSITIONS, width),
        "embeddings.token_type_embeddings.weight": (2, width),
        "embeddings.LayerNorm.weight": (width,),
        "embeddings.LayerNorm.bias": (width,),
    }
    for name in compact.LAYER_TENSORS:
        shapes[f"encoder.layer.0.{name}.weight"] = (width,) if "LayerNorm" in name else (width, width)
        shapes[f"encoder.layer.0.{name}.bias"] = (width,)
    return {
        name: (random.standard_normal(shape) * 0.1).astype(np.float32) + ("LayerNorm.weight" in name)
        for name, shape in shapes.items()
    }
