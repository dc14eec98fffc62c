"""Whose key it is, which conversation a request continues, and what it leaves behind. Reads and writes rows
through their services."""

from __future__ import annotations

import contextlib
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.db import IntegrityError, transaction

from crewsite.accounts.errors import AccountsError, RoleTooLow
from crewsite.accounts.models import ApiToken, Role, User, Workspace
from crewsite.accounts.selectors import workspace_resolve
from crewsite.accounts.tokens import HEADER_WORDS, token_find, token_touch
from crewsite.api.openai.requests import Asked, OpenAIError
from crewsite.chat.constants import TURNS_PER_MINUTE
from crewsite.chat.limits import wait_for_nobody, wait_for_turn
from crewsite.chat.model_choice import model_checked, model_menu
from crewsite.chat.selectors import conversation_for, may_write
from crewsite.chat.services import turn_start
from crewsite.conversations.models import Conversation
from crewsite.conversations.transcripts import conversation_continue
from crewsite.llm.constants import MEMORY_MODEL, ROLES
from crewsite.llm.targets import targets
from crewsite.security.origin import Surface

if TYPE_CHECKING:
    from crewsite.chat.models import Turn

SITE_MODELS: Final = frozenset({"", "crewsite", *ROLES[:1]})  # the model of the site, whichever that is


@dataclass(frozen=True, slots=True)
class Caller:
    user: User
    token: ApiToken


def caller_of(authorization: str, *, scope: str, address: str) -> Caller:
    """Raises OpenAIError. `address` is what a request without a known token is counted by."""
    word, _, plaintext = authorization.partition(" ")
    token = token_find(plaintext.strip()) if word.lower().encode() in HEADER_WORDS else None
    if token is None:
        if wait := wait_for_nobody(address):
            said = "Too many requests without a known API key."
            raise OpenAIError(429, said, code="rate_limit_exceeded", kind="requests", retry_after_s=wait)
        said = (
            "The API key is unknown, expired or revoked." if word else "Send a token of this site as API key."
        )
        raise OpenAIError(401, said, code="invalid_api_key")
    if scope not in token.scopes:
        raise OpenAIError(403, f"The token lacks the scope {scope}.", code="insufficient_scope")
    token_touch(token)
    return Caller(token.user, token)


def model_ids() -> list[str]:
    """What `model` may say: the site's default, every connection and what it offers, and memory alone."""
    offered = model_menu(ask=True).offered
    return ["default", *(target.name for target in targets()), *offered, MEMORY_MODEL]


def turn_of(caller: Caller, asked: Asked, conversation_id: str) -> Turn:
    """A new turn for the question, in the conversation it continues. Raises OpenAIError."""
    wait = wait_for_turn(caller.user.pk)
    if wait:
        said = f"At most {TURNS_PER_MINUTE} messages a minute."
        raise OpenAIError(429, said, code="rate_limit_exceeded", kind="requests", retry_after_s=wait)
    model = _model(asked.model)
    if conversation_id:
        conversation = _continued(caller, conversation_id)
    else:
        workspace = _workspace(caller)
        conversation = _known(caller, workspace, asked) or conversation_continue(
            owner=caller.user,
            workspace=workspace,
            surface=Surface.API,
            agent_prompt=asked.system,
            said=asked.earlier,
        )
    _follow(conversation, asked, model)
    turn, _ = turn_start(
        conversation=conversation,
        user=caller.user,
        text=asked.text,
        client_key=uuid.uuid4().hex,
        surface=Surface.API,
    )
    return turn


def transcript_note(turn: Turn, asked: Asked, answer: str) -> None:
    """Remember what the client will send as the story so far if it goes on, so that it comes back here."""
    conversation = turn.conversation
    if conversation.surface != Surface.API:
        return
    ref = asked.fingerprint(_whose(conversation), ("user", asked.text), ("assistant", answer))
    # Another conversation may be given the same name at this very moment; either may be gone on with.
    with contextlib.suppress(IntegrityError), transaction.atomic():
        Conversation.objects.filter(surface=Surface.API, external_ref=ref).update(external_ref="")
        Conversation.objects.filter(pk=conversation.pk).update(external_ref=ref)


def _model(name: str) -> str:
    """What the conversation keeps as its model; empty for the site's own."""
    if name in SITE_MODELS:
        return ""
    named = model_checked(name)
    if named.choice is None:
        raise OpenAIError(404, named.refusal, code="model_not_found", param="model")
    return named.choice.value


def _workspace(caller: Caller) -> Workspace:
    try:
        return workspace_resolve(caller.user, token=caller.token, at_least=Role.MEMBER)
    except RoleTooLow as error:
        raise OpenAIError(403, str(error), code="role_too_low") from None
    except AccountsError as error:
        raise OpenAIError(404, str(error), code="workspace_not_found") from None


def _continued(caller: Caller, conversation_id: str) -> Conversation:
    try:
        found = conversation_for(caller.user, uuid.UUID(conversation_id), token=caller.token)
    except ValueError:
        found = None
    if found is None:
        raise OpenAIError(404, "There is no such conversation.", code="conversation_not_found")
    if not may_write(caller.user, found, token=caller.token):
        raise OpenAIError(403, "You may read this conversation, not write to it.", code="forbidden")
    return found


def _known(caller: Caller, workspace: Workspace, asked: Asked) -> Conversation | None:
    if not asked.earlier:
        return None
    ref = asked.fingerprint(f"{caller.user.pk}:{workspace.pk}")
    mine = Conversation.objects.for_user(caller.user).filter(workspace=workspace, surface=Surface.API)
    return mine.filter(external_ref=ref).first()


def _follow(conversation: Conversation, asked: Asked, model: str) -> None:
    """The model and the system message hold as the newest request says."""
    changed = {}
    if conversation.model != model:
        changed["model"] = model
    if asked.system and conversation.agent_prompt != asked.system:
        changed["agent_prompt"] = asked.system
    if changed:
        Conversation.objects.filter(pk=conversation.pk).update(**changed)


def _whose(conversation: Conversation) -> str:
    return f"{conversation.owner_id}:{conversation.workspace_id}"
