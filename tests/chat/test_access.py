"""Who may listen and who may write, and that a socket notices when that ends."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from channels.testing import WebsocketCommunicator
from django.contrib.sessions.models import Session
from django.db import OperationalError

from crewsite.accounts.models import ApiToken, Membership, Role, User, Workspace
from crewsite.accounts.services import token_create
from crewsite.chat import consumers, sockets
from crewsite.chat.selectors import conversation_for, may_write
from crewsite.chat.threads import in_database
from crewsite.routing import websockets
from tests.factories import make_conversation

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django.fixtures import SettingsWrapper

    from crewsite.conversations.models import Conversation

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def conversation(alice: User, home: Workspace) -> Conversation:
    return make_conversation(alice, home)


def token(user: User, **fields: object) -> ApiToken:
    made, _ = token_create(user=user, name=f"test {uuid4()}", **fields)  # type: ignore[arg-type]
    return made


def test_only_the_owner_opens_a_conversation(
    conversation: Conversation, alice: User, bob: User, charlie: User
) -> None:
    assert conversation_for(alice, conversation.pk) == conversation
    assert conversation_for(bob, conversation.pk) is None
    assert conversation_for(charlie, conversation.pk) is None


def test_an_owner_who_left_the_workspace_is_shut_out(conversation: Conversation, alice: User) -> None:
    Membership.objects.filter(user=alice).delete()
    assert conversation_for(alice, conversation.pk) is None


def test_a_token_of_another_workspace_opens_nothing_here(
    conversation: Conversation, alice: User, other_home: Workspace
) -> None:
    Membership.objects.create(user=alice, workspace=other_home, role=Role.OWNER)
    assert conversation_for(alice, conversation.pk, token=token(alice, workspace=other_home)) is None
    assert conversation_for(alice, conversation.pk, token=token(alice)) == conversation


def test_a_token_that_may_only_read_does_not_write(conversation: Conversation, alice: User) -> None:
    reader = token(alice, scopes=("read",))
    assert conversation_for(alice, conversation.pk, token=reader) == conversation
    assert not may_write(alice, conversation, token=reader)
    assert may_write(alice, conversation)


async def code_of_its_close(socket: WebsocketCommunicator) -> int:
    for _ in range(50):
        message = await socket.receive_output(timeout=10)
        if message["type"] == "websocket.close":
            break
    code: int = message["code"]
    return code


async def test_a_logout_closes_the_socket_at_the_next_beat(
    conversation: Conversation,
    alice: User,
    client: Client,
    settings: SettingsWrapper,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sockets, "HEARTBEAT_S", 0.05)
    await in_database(client.force_login, alice, backend="django.contrib.auth.backends.ModelBackend")
    headers = [
        (b"origin", settings.CREW_PUBLIC_URL.encode()),
        (b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode()),
    ]
    socket = WebsocketCommunicator(websockets, f"/ws/chat/{conversation.pk}/", headers=headers)
    assert (await socket.connect(timeout=10))[0]
    assert (await socket.receive_json_from(timeout=10))["type"] == "hello"
    assert (await socket.receive_json_from(timeout=10))["type"] == "ping"
    await in_database(Session.objects.all().delete)
    assert await code_of_its_close(socket) == 4401
    await socket.disconnect()


async def test_a_socket_whose_right_cannot_be_looked_up_is_closed(
    conversation: Conversation, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would be told what a revoked token may not read."""

    def failing(*_: object, **__: object) -> None:
        msg = "disk I/O error"
        raise OperationalError(msg)

    _, plaintext = await in_database(token_create, user=alice, name="socket")
    monkeypatch.setattr(sockets, "HEARTBEAT_S", 0.05)
    headers = [(b"authorization", f"Bearer {plaintext}".encode())]
    socket = WebsocketCommunicator(websockets, f"/ws/chat/{conversation.pk}/", headers=headers)
    assert (await socket.connect(timeout=10))[0]
    assert (await socket.receive_json_from(timeout=10))["type"] == "hello"
    monkeypatch.setattr(consumers, "admission", failing)
    assert await code_of_its_close(socket) == 4500
    await socket.disconnect()
