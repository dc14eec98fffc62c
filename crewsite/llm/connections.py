"""Writes of connections and roles, and the one real call that tries a connection. Who may is the door's to
check: operators."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from crewsite.llm.acp_agent import close_agents
from crewsite.llm.clients import close_http_client
from crewsite.llm.constants import ROLES, TRIAL_PROMPT, TRIAL_TIMEOUT_S
from crewsite.llm.errors import explain
from crewsite.llm.models import Connection
from crewsite.llm.offered import name_check
from crewsite.llm.providers import load_library, model_for
from crewsite.llm.targets import role_setting, target_of, targets
from crewsite.llm.usage import price_of, usage_record
from crewsite.security.text import clean
from crewsite.settings.env import is_web_address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crewsite.llm.targets import Target

HINT_FROM_CHARS = 12  # of a shorter key, four characters would tell too much
TRIAL_TEXT_CHARS = 200


@dataclass(frozen=True, slots=True)
class Trial:
    """What one real call came to: how long it took, and either what was answered or why not."""

    ok: bool
    model: str
    seconds: float
    text: str = ""
    error: str = ""


def connection_save(
    *,
    connection: Connection,
    name: str,
    provider: str,
    model: str,
    base_url: str = "",
    api_key: str | None = None,
    forget_key: bool = False,
) -> Connection:
    """Create or change a connection. `api_key`: None or empty keeps the stored one, unless it is to be
    forgotten or the address changed: a key is sent only to where it was entered for. Raises
    ValidationError."""
    old_url = connection.base_url if connection.pk else ""
    connection.name, connection.provider = clean(name).strip().lower(), provider
    connection.model, connection.base_url = clean(model).strip(), clean(base_url).strip()
    connection.full_clean(exclude=["api_key"])
    _check_place(connection)
    key = (api_key or "").strip()
    if key:
        connection.api_key = key
        connection.key_hint = key[-4:] if len(key) >= HINT_FROM_CHARS else ""
        connection.key_set_at = timezone.now()
    elif forget_key or not connection.pk or connection.base_url != old_url:
        connection.api_key, connection.key_hint, connection.key_set_at = "", "", None
    connection.save()
    return connection


def connection_delete(*, connection: Connection) -> None:
    """Roles that named it go back to what stands without a choice."""
    with transaction.atomic():
        for role in ROLES:
            if role_setting(role).partition(":")[0] == connection.name:
                _role_write(role, "")
        connection.delete()


def roles_save(*, roles: Mapping[str, str]) -> None:
    """Raises ValidationError naming the role whose model does not exist."""
    chosen = {role: clean(roles.get(role, "")).strip() for role in ROLES}
    wrong = {role: refusal for role, text in chosen.items() if text and (refusal := _role_refusal(text))}
    if wrong:
        raise ValidationError(wrong)
    with transaction.atomic():
        for role, text in chosen.items():
            _role_write(role, text)


def connection_try(target: Target) -> Trial:
    """One real call, blocking. Never raises."""
    load_library()  # seconds the first time, which are not the model's
    started = time.monotonic()
    try:
        text, usage = asyncio.run(_try(target))
    except Exception as error:
        seconds = time.monotonic() - started
        usage_record(model=target.name, purpose="test", seconds=seconds, failed=True)
        return Trial(ok=False, model=target.label, seconds=seconds, error=explain(error).reason)
    seconds = time.monotonic() - started
    cost = price_of(target, usage)
    usage_record(
        model=target.name,
        purpose="test",
        seconds=seconds,
        cost_usd=cost,
        input_tokens=usage["input_tokens"],
        output_tokens=usage["output_tokens"],
    )
    return Trial(ok=True, model=target.label, seconds=seconds, text=text[:TRIAL_TEXT_CHARS])


async def _try(target: Target) -> tuple[str, dict[str, int]]:
    from pydantic_ai import Agent

    try:
        async with asyncio.timeout(TRIAL_TIMEOUT_S):
            # An address that is wrong shows at the first attempt; a person waits for the answer.
            result = await Agent(model_for(target)).run(TRIAL_PROMPT, model_settings={"max_retries": 0})
    finally:
        await close_http_client()
        await close_agents()
    return result.output, {
        "input_tokens": result.usage.input_tokens,
        "output_tokens": result.usage.output_tokens,
    }


def _role_refusal(text: str) -> str:
    target = target_of(text)
    if target is None:
        return f"There is no model “{text}”."
    return "" if target in targets() else name_check(target)[0]


def _role_write(role: str, text: str) -> None:
    from constance import config

    setattr(config, f"LLM_{role.upper()}_MODEL", text)


def _check_place(connection: Connection) -> None:
    """What can be said without a call about a file, a command or an address."""
    match connection.provider:
        case Connection.Provider.LLAMA if not Path(connection.model).expanduser().is_file():
            raise ValidationError({"model": "There is no such file on this machine."})
        case Connection.Provider.ACP:
            _check_command(connection.model)
        case Connection.Provider.OPENAI | Connection.Provider.ANTHROPIC if connection.base_url:
            _check_address(connection.base_url)
        case _:
            pass
    if connection.provider in {Connection.Provider.LLAMA, Connection.Provider.ACP}:
        connection.base_url = ""


def _check_address(url: str) -> None:
    """Names without a dot are fine: that is what containers call each other."""
    parts = urlsplit(url) if is_web_address(url) else None
    if parts is None or parts.username or parts.password or parts.query or parts.fragment:
        raise ValidationError(
            {"base_url": "Use an http or https address, without a name, a password or a query in it."}
        )


def _check_command(command: str) -> None:
    if not settings.CREW_LOCAL_COMMANDS:
        raise ValidationError(
            {"provider": "This site runs no commands of its machine. CREW_LOCAL_COMMANDS=1 allows it."}
        )
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValidationError({"model": f"The command cannot be read: {error}."}) from None
    if not words or shutil.which(words[0]) is None:
        raise ValidationError({"model": "There is no such program on this machine."})
