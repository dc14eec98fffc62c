"""The models: whether the embedder's file loads and the language model's address answers. No text is sent to
one."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.db import DatabaseError, connection

from crewsite.doctor.findings import Finding, fail, ok, warn

if TYPE_CHECKING:
    from crewsite.llm.targets import Target

LOAD_S: Final = 3.0
ANSWER_S: Final = 2.0
UNAUTHORISED: Final = frozenset({401, 403})


def embedder() -> Iterator[Finding]:
    from crewsite.embeddings.errors import ModelUnusable
    from crewsite.embeddings.selection import compact_path, named_path
    from crewsite.embeddings.services import model_check

    if settings.CREW_EMBED_BASE_URL and not settings.CREW_EMBED_MODEL_PATH:
        yield from _answers("embedder", settings.CREW_EMBED_BASE_URL, settings.CREW_EMBED_API_KEY)
        return
    pinned = settings.CREW_EMBED_MODEL_PATH
    path = named_path()
    remedy = (
        "crew embeddings install"
        if path == compact_path()
        else "Put it back, or: crew embeddings use compact"
    )
    if pinned:
        remedy = "Let CREW_EMBED_MODEL_PATH name a GGUF file, or unset it."
    if not path.is_file():
        yield warn("embedder", f"{path} is not there: search goes by words, not by meaning", remedy)
        return
    try:
        found = model_check(model=str(path), seconds=LOAD_S)
    except ModelUnusable as error:
        state = warn if error.code == "model_slow" else fail
        yield state("embedder", str(error), remedy)
    else:
        yield ok("embedder", f"{found.model_id} loads, dim {found.dim}, {found.size_bytes / 1e6:.0f} MB")


def language_model() -> Iterator[Finding]:
    from crewsite.llm.targets import endpoint_configured, target_of

    try:
        target = target_of()
    except DatabaseError:
        target = endpoint_configured()  # connections are rows; what the environment names is not
    finally:
        connection.close()
    if target is None:
        remedy = "Connect one under Models on the dashboard, or set CREW_LLM_BASE_URL and CREW_LLM_MODEL."
        yield warn("language model", "none is connected: chat answers from memory alone", remedy)
    elif target.is_remote:
        yield from _answers("language model", target.base_url, target.api_key, model=target.model)
    else:
        yield _local(target)


def _local(target: Target) -> Finding:
    if target.provider == "llama":
        found = Path(target.model).expanduser().is_file()
        remedy = "Put it back, or choose another model."
    else:
        program = (shlex.split(target.model) or [""])[0]
        found, remedy = shutil.which(program) is not None, "Install it, or choose another model."
    if found:
        return ok("language model", f"{target.label} is there")
    return fail("language model", f"{target.label} is not there", remedy)


def _answers(name: str, base_url: str, key: str, *, model: str = "") -> Iterator[Finding]:
    import httpx

    # Both makers' ways to say a key; each ignores the other's.
    headers = (
        {"Authorization": f"Bearer {key}", "x-api-key": key, "anthropic-version": "2023-06-01"} if key else {}
    )
    url = f"{base_url.rstrip('/')}/models"
    try:
        answer = httpx.get(url, headers=headers, timeout=ANSWER_S)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = str(error) or type(error).__name__
        yield fail(
            name, f"{base_url} does not answer: {reason}", "Start it, or mend its address and the network."
        )
        return
    if answer.status_code in UNAUTHORISED:
        yield fail(name, f"{base_url} refuses the key", "Give it a valid key.")
    else:
        yield ok(name, f"{model or 'an endpoint'} at {base_url} answers")
