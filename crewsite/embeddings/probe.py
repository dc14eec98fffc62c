"""`python -m crewsite.embeddings.probe FILE`: loads a model, embeds a word and prints its dim as JSON. It is
a process of its own, because a damaged file can take the library down and the process with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(name: str) -> int:
    from crewsite.embeddings.llama_session import InferenceError, LlamaSession, ModelLoadError
    from crewsite.embeddings.models_catalog import spec_for_file
    from crewsite.embeddings.windows import normalised

    path = Path(name)
    try:
        session = LlamaSession(path, max_tokens=spec_for_file(path.stem).max_tokens)
        vector = normalised(session.embed(session.tokenize("memory"), threads=1))
    except (ModelLoadError, InferenceError) as error:
        answer: dict[str, object] = {"error": str(error)}
    else:
        answer = {"dim": session.dim} if vector is not None else {"error": "It gives no usable vector."}
    sys.stdout.write(json.dumps(answer))
    return int("error" in answer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
