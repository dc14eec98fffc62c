"""From a role or model name to a model that can be called: any OpenAI-compatible endpoint named by the
environment, guarded by timeouts, retries and a circuit breaker. Who calls it, and with what, is not decided
here."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from crewsite.llm.breaker import breaker_for
from crewsite.llm.constants import (
    CONNECT_HINT,
    CONNECT_TIMEOUT_S,
    FIRST_TOKEN_TIMEOUT_S,
    MAX_RETRIES,
    MEMORY_MODEL,
    OPENAI_BASE_URL,
    ROLES,
    TOTAL_TIMEOUT_S,
)
from crewsite.llm.errors import html_answer, redirected

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where models are called. `model` is the name of the role `default`."""

    base_url: str
    api_key: str
    model: str


def endpoint_configured() -> Endpoint | None:
    """The endpoint of the environment, or None when no model is connected. A key alone means OpenAI
    itself."""
    from django.conf import settings

    base_url = settings.CREW_LLM_BASE_URL or (OPENAI_BASE_URL if settings.CREW_LLM_API_KEY else "")
    if not base_url or not settings.CREW_LLM_MODEL or settings.CREW_LLM_MODEL == MEMORY_MODEL:
        return None
    return Endpoint(base_url.rstrip("/"), settings.CREW_LLM_API_KEY, settings.CREW_LLM_MODEL)


def model_name(role_or_name: str = "default") -> str:
    """The name a role stands for; any other text is a name already. Empty when no model is connected.

    `smol` and `judge` are live settings and fall back to `default`; reads the database for them.
    """
    endpoint = endpoint_configured()
    if endpoint is None or role_or_name == MEMORY_MODEL:
        return ""
    if role_or_name not in ROLES:
        return role_or_name or endpoint.model
    if role_or_name == "default":
        return endpoint.model
    from constance import config

    return str(getattr(config, f"LLM_{role_or_name.upper()}_MODEL", "")).strip() or endpoint.model


def resolve_model(role_or_name: str = "default") -> Model | None:
    """The guarded model of a role or name; None when no model is connected. Loads pydantic-ai."""
    endpoint = endpoint_configured()
    name = model_name(role_or_name)
    if endpoint is None or not name:
        return None
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    from crewsite.llm.guard import GuardedModel

    provider = OpenAICompatibleProvider(
        "endpoint", base_url=endpoint.base_url, api_key=endpoint.api_key or None, http_client=_http_client()
    )
    # A stream that ends without saying why was cut somewhere on its way: half an answer is no answer.
    profile = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    model = OpenAIChatModel(name, provider=provider, profile=profile, settings=call_settings())
    return GuardedModel(model, breaker_for(endpoint.base_url))


def load_library() -> None:
    """Import what a call needs, which takes seconds: done on a thread, never on an event loop."""

    import crewsite.llm.guard  # noqa: F401


def call_settings() -> ModelSettings:
    """Deadlines and retries of one call. Retries on 429 and 5xx, honouring Retry-After, are the OpenAI
    client's own."""
    from pydantic_ai.settings import ModelSettings

    return ModelSettings(
        first_event_timeout=FIRST_TOKEN_TIMEOUT_S, request_timeout=TOTAL_TIMEOUT_S, max_retries=MAX_RETRIES
    )


# A connection belongs to the event loop it was opened in, so each loop keeps its own client.
_clients: WeakKeyDictionary[Any, httpx2.AsyncClient] = WeakKeyDictionary()


def _http_client() -> httpx2.AsyncClient:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return _new_http_client()
    client = _clients.get(loop)
    if client is None or client.is_closed:
        client = _clients[loop] = _new_http_client()
    return client


async def close_http_client() -> None:
    """Close the running loop's client. For a loop that ends after one call."""
    client = _clients.pop(asyncio.get_running_loop(), None)
    if client is not None:
        await client.aclose()


def _new_http_client() -> httpx2.AsyncClient:
    """No redirects: an endpoint that moves is a wrong setting, and a key must not follow it."""
    import httpx2

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(TOTAL_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
        follow_redirects=False,
        event_hooks={"response": [_refuse_detours]},
    )


async def _refuse_detours(response: httpx2.Response) -> None:
    """A redirect, or a 200 with HTML: a login or landing page, which read as a stream looks like an empty
    answer."""
    if response.has_redirect_location:
        await response.aclose()
        raise redirected()
    if response.is_success and response.headers.get("content-type", "").startswith("text/html"):
        await response.aclose()
        raise html_answer()


def llm_status() -> dict[str, Any]:
    """For `crew status` and pages: `provider` memory or endpoint, `model`, `state` absent, ready or failing,
    `hint`."""
    endpoint = endpoint_configured()
    if endpoint is None:
        return {"provider": MEMORY_MODEL, "model": "", "state": "absent", "hint": CONNECT_HINT}
    breaker = breaker_for(endpoint.base_url)
    wait = breaker.open_for_s
    hint = "The last call to the endpoint failed." if breaker.failures else ""
    if wait:
        hint = f"The endpoint failed repeatedly; it is tried again in {wait:.0f} s."
    return {
        "provider": "endpoint",
        "model": endpoint.model,
        "state": "failing" if breaker.failures else "ready",
        "hint": hint,
    }
