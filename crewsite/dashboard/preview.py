"""The context packet for a text that nobody has sent: built like a real one, stored nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone

from crewsite.chat.packet_page import PacketPage, packet_page
from crewsite.conversations.models import Conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace


def preview_packet(
    *, user: User, workspace: Workspace, text: str, window: int, conversation: Conversation | None
) -> PacketPage:
    """With a conversation: its next message. Without: the first message of a new one, which is not saved."""
    from memory.context.build import context_build

    is_new = conversation is None or not conversation.messages.exists()
    target = conversation or Conversation(owner=user, workspace=workspace)
    packet = context_build(
        target, text, is_new=is_new, resumed=not is_new, model_window=window, now=timezone.now()
    )
    return packet_page(packet.as_json(), show_links=bool(user.is_staff))
