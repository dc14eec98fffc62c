"""What a role or a name stands for: the connections of the environment and of the rows, and which of them is
meant. Calls no model and loads no library."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from crewsite.llm.constants import (
    ANTHROPIC_BASE_URL,
    ENVIRONMENT,
    LLAMA_WINDOW_TOKENS,
    MEMORY_MODEL,
    OPENAI_BASE_URL,
    PROVIDER_NAMES,
    ROLES,
)
from crewsite.security.encryption import SecretLocked

if TYPE_CHECKING:
    from crewsite.llm.models import Connection

logger = logging.getLogger(__name__)

OWN_URLS: Final = {"openai": OPENAI_BASE_URL, "anthropic": ANTHROPIC_BASE_URL}


@dataclass(frozen=True, slots=True)
class Target:
    """A model that can be called. `name` is what people, turns and settings call it, and finds it again.
    `model` is the name at the endpoint, the path of a GGUF file, or the command of an agent."""

    name: str
    connection: str
    provider: str
    model: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)

    @property
    def is_remote(self) -> bool:
        """Called over HTTP, where any number of models may have one address."""
        return self.provider in OWN_URLS

    @property
    def endpoint(self) -> str:
        """What fails or works as a whole: the key of the circuit breaker."""
        return self.base_url if self.is_remote else f"{self.provider}:{self.model}"

    @property
    def window_tokens(self) -> int | None:
        """The window, where it is known whatever the model's name says."""
        return LLAMA_WINDOW_TOKENS if self.provider == "llama" else None

    @property
    def label(self) -> str:
        """What is told of the model: a file by its name, a command by its program."""
        if self.provider == "llama":
            return Path(self.model).name
        return self.model


def endpoint_configured() -> Target | None:
    """The connection of the environment, or None. A key alone means OpenAI itself; a model may say its
    provider: `anthropic:NAME`, `llama:PATH`, `acp:COMMAND`."""
    from django.conf import settings

    model = settings.CREW_LLM_MODEL
    if not model or model == MEMORY_MODEL:
        return None
    provider, rest = _split_provider(model)
    if provider in {"llama", "acp"}:
        return Target(ENVIRONMENT, ENVIRONMENT, provider, rest)
    base_url = settings.CREW_LLM_BASE_URL or (
        OWN_URLS[provider or "openai"] if settings.CREW_LLM_API_KEY else ""
    )
    if not base_url:
        return None
    name = rest if provider else model
    url = base_url.rstrip("/")
    return Target(name, ENVIRONMENT, provider or "openai", name, url, settings.CREW_LLM_API_KEY)


def targets() -> list[Target]:
    """Every connection with its own model, that of the environment first. One whose key is locked is left
    out."""
    from crewsite.llm.models import Connection

    found = [target for target in [endpoint_configured()] if target is not None]
    for row in Connection.objects.all():
        try:
            found.append(target_from(row))
        except SecretLocked as locked:
            logger.warning("The connection %s is left out. %s", row.name, locked)
    return found


def target_from(row: Connection) -> Target:
    """Raises SecretLocked."""
    base_url = (row.base_url or OWN_URLS.get(row.provider, "")).rstrip("/")
    api_key = row.api_key if row.key_set_at is not None else ""
    return Target(row.name, row.name, row.provider, row.model, base_url, api_key)


def target_of(role_or_name: str = "default") -> Target | None:
    """The model of a role or of a name that people may choose; None when there is no such model.

    `smol` and `judge` fall back to `default`; `default` is the live setting, else the environment's
    connection, else the oldest row. Reads the database.
    """
    text = role_or_name.strip()
    if text == MEMORY_MODEL:
        return None
    known = targets()
    if text and text not in ROLES:
        return _named(text, known)
    for role in dict.fromkeys([text or "default", "default"]):
        chosen = role_setting(role)
        found = _named(chosen, known) if chosen else None
        if found is not None:
            return found
        if chosen:
            logger.warning("The role %s names %s, which is no connection.", role, chosen)
    return _first(known)


def role_setting(role: str) -> str:
    from crewsite.live import live_value

    return str(live_value(f"LLM_{role.upper()}_MODEL")).strip()


def model_name(role_or_name: str = "default") -> str:
    """The name of the model a role or name stands for. Empty when there is none."""
    target = target_of(role_or_name)
    return target.name if target is not None else ""


def _first(known: list[Target]) -> Target | None:
    return known[0] if known else None


def _named(text: str, known: list[Target]) -> Target | None:
    """A connection by name; `connection:model`; `provider:model` at the first connection of that provider; or
    a bare model name at the default connection. Files and commands are never taken from a name: only
    operators say what this machine opens and runs."""
    by_name = {target.name: target for target in known} | {target.connection: target for target in known}
    if text in by_name:
        return by_name[text]
    before, colon, model = text.partition(":")
    if colon and model and before in by_name:
        return other_model(by_name[before], model)
    if colon and before in PROVIDER_NAMES:
        of_provider = [target for target in known if target.provider == before]
        return other_model(of_provider[0], model) if of_provider and model else None
    default = _named_default(known)
    return other_model(default, text) if default is not None and text else None


def _named_default(known: list[Target]) -> Target | None:
    chosen = role_setting("default").partition(":")[0]
    return next((target for target in known if target.connection == chosen), None) or _first(known)


def other_model(target: Target, model: str) -> Target | None:
    """Another model at the same endpoint; None where a connection is one file or one agent."""
    if not target.is_remote:
        return None
    name = model if target.connection == ENVIRONMENT else f"{target.connection}:{model}"
    return target if model == target.model else replace(target, name=name, model=model)


def _split_provider(model: str) -> tuple[str, str]:
    provider, colon, rest = model.partition(":")
    return (provider, rest.strip()) if colon and rest and provider in PROVIDER_NAMES else ("", model)
