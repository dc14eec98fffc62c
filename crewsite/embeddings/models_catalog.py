"""What is known about each model: its prompts and where its file lies. Data only; building files is `install`'s work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One model family. Prompts are part of the signature: the same text under another prompt is another vector."""

    model_id: str
    filename: str
    prompt_style: str = "none"
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int | None = None

    def prefix(self, kind: str) -> str:
        return self.query_prefix if kind == "query" else self.document_prefix


COMPACT: Final = ModelSpec(model_id="minilm-l6-v2", filename="minilm-l6-v2.gguf")

# Qwen/Qwen3-Embedding-0.6B, model card, "Usage": queries carry an instruction, documents nothing.
QWEN3: Final = ModelSpec(
    model_id="qwen3-embedding-0.6b",
    filename="qwen3-embedding-0.6b.gguf",
    prompt_style="qwen3-instruct",
    query_prefix=(
        "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
    ),
)

CATALOG: Final[dict[str, ModelSpec]] = {spec.model_id: spec for spec in (COMPACT, QWEN3)}


def spec_for_file(stem: str) -> ModelSpec:
    """The catalogue entry whose id begins the file's name, or a plain one without prompts named after the file."""
    folded = stem.lower()
    for spec in CATALOG.values():
        if folded.startswith(spec.model_id):
            return spec
    return ModelSpec(model_id=stem[:80], filename=f"{stem}.gguf")
