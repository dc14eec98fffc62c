"""What is known about each model: its prompts, its window and where its file lies. Data, without
behaviour."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One model. `max_tokens` is the window it was trained for; None takes the default. `url` and `sha256`
    are those of its published file, if it is downloaded as it is."""

    model_id: str
    filename: str
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int | None = None
    url: str = ""
    sha256: str = ""

    def prefix(self, kind: str) -> str:
        return self.query_prefix if kind == "query" else self.document_prefix

    @property
    def prompt_tag(self) -> str:
        """The part of a signature that changes with the prompts: under another prompt a text has another
        vector."""
        prompts = f"{self.query_prefix}\0{self.document_prefix}"
        return "none" if prompts == "\0" else hashlib.sha256(prompts.encode()).hexdigest()[:8]


# sentence-transformers/all-MiniLM-L6-v2: no prompts; "input text longer than 256 word pieces is truncated".
COMPACT: Final = ModelSpec(model_id="minilm-l6-v2", filename="minilm-l6-v2.gguf", max_tokens=256)

# Qwen/Qwen3-Embedding-0.6B, model card: queries carry an instruction, documents nothing. 1,024 of its
# 32,768 tokens: longer windows cost seconds on two cores.
QWEN3: Final = ModelSpec(
    model_id="qwen3-embedding-0.6b",
    filename="qwen3-embedding-0.6b.gguf",
    query_prefix=(
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
    ),
    max_tokens=1_024,
    # Chapter 03, 3.2: 610 MB, from its makers' own GGUF repository.
    url=("https://huggingface.co/Qwen/Qwen3-Embedding-0.6B-GGUF/resolve/main/Qwen3-Embedding-0.6B-Q8_0.gguf"),
    sha256="06507c7b42688469c4e7298b0a1e16deff06caf291cf0a5b278c308249c3e439",
)

DOWNLOADED: Final = QWEN3  # what is installed beside the compact model
CATALOG: Final[dict[str, ModelSpec]] = {spec.model_id: spec for spec in (COMPACT, QWEN3)}


def spec_for_file(stem: str) -> ModelSpec:
    """The catalogue entry whose id begins the file's name, or one without prompts named after the file."""
    folded = stem.lower()
    for spec in CATALOG.values():
        if folded.startswith(spec.model_id):
            return spec
    return ModelSpec(model_id=stem[:80], filename=f"{stem}.gguf")
