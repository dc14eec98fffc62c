"""From a target to a model that can be called, guarded by timeouts, retries and a circuit breaker. Who calls
it, and with what, is not decided here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crewsite.llm.breaker import breaker_for
from crewsite.llm.clients import http_client
from crewsite.llm.constants import (
    ANTHROPIC_MAX_TOKENS,
    CONNECT_HINT,
    FIRST_TOKEN_TIMEOUT_S,
    MAX_RETRIES,
    MEMORY_MODEL,
    TOTAL_TIMEOUT_S,
)
from crewsite.llm.targets import Target, target_of

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

    from crewsite.llm.acp_agent import Watcher
    from crewsite.llm.ahead import TextAhead


def model_for(
    target: Target, *, owner: str = "", watcher: Watcher | None = None, ahead: TextAhead | None = None
) -> Model:
    """The guarded model of a target. `owner` names the conversation it is called for; `watcher` is told what
    an agent does, and asked what it may do; `ahead` is told text as it is read. Loads pydantic-ai; reads no
    row."""
    from crewsite.llm.guard import GuardedModel

    makers = {"openai": _openai, "anthropic": _anthropic, "llama": _llama}
    if target.provider == "acp":
        from crewsite.llm.acp_model import acp_model

        model: Model = acp_model(target, owner=owner, watcher=watcher)
    else:
        model = makers[target.provider](target, owner)
    return GuardedModel(model, breaker_for(target.endpoint), target, ahead)


def _openai(target: Target, owner: str) -> Model:
    return _openai_over(target, http_client(owner), base_url=target.base_url)


def _openai_over(target: Target, client: httpx2.AsyncClient, *, base_url: str) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    provider = OpenAICompatibleProvider(
        "endpoint", base_url=base_url, api_key=target.api_key or None, http_client=client
    )
    # A stream that ends without saying why was cut somewhere on its way: half an answer is no answer.
    profile = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    return OpenAIChatModel(target.model, provider=provider, profile=profile, settings=call_settings())


def _anthropic(target: Target, owner: str) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    # Made here so that the library looks for no key in the environment.
    client = AsyncAnthropic(
        api_key=target.api_key, base_url=target.base_url.removesuffix("/v1"), http_client=http_client(owner)
    )
    settings = call_settings()
    settings["max_tokens"] = ANTHROPIC_MAX_TOKENS
    return AnthropicModel(
        target.model, provider=AnthropicProvider(anthropic_client=client), settings=settings
    )


def _llama(target: Target, _owner: str) -> Model:
    from crewsite.llm.llama_chat import llama_client

    return _openai_over(target, llama_client(target.model), base_url="http://llama.invalid/v1")


def load_library() -> None:
    """Import what a call needs, which takes seconds: done on a thread, never on an event loop."""
    import pydantic_ai.models.anthropic
    import pydantic_ai.models.openai  # noqa: F401


def call_settings() -> ModelSettings:
    """Deadlines and retries of one call. Retries on 429 and 5xx, honouring Retry-After, are those of the
    providers' own clients."""
    from pydantic_ai.settings import ModelSettings

    return ModelSettings(
        first_event_timeout=FIRST_TOKEN_TIMEOUT_S, request_timeout=TOTAL_TIMEOUT_S, max_retries=MAX_RETRIES
    )


def llm_status() -> dict[str, Any]:
    """For `crew status` and pages: `provider` memory, endpoint, llama or acp; `model`; `state` absent, ready
    or failing; `hint`."""
    target = target_of()
    if target is None:
        return {"provider": MEMORY_MODEL, "model": "", "state": "absent", "hint": CONNECT_HINT}
    breaker = breaker_for(target.endpoint)
    wait = breaker.open_for_s
    hint = "The last call to the endpoint failed." if breaker.failures else ""
    if wait:
        hint = f"The endpoint failed repeatedly; it is tried again in {wait:.0f} s."
    return {
        "provider": "endpoint" if target.is_remote else target.provider,
        "model": target.label,
        "state": "failing" if breaker.failures else "ready",
        "hint": hint,
    }
