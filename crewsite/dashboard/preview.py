"""The context packet for a text that nobody has sent: built like a real one, stored nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crewsite.chat.packet_page import PacketPage, packet_page
from crewsite.conversations.models import Conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace


def preview_packet(
    *, user: User, workspace: Workspace, text: str, window: int | None, conversation: Conversation | None
) -> PacketPage:
    """With a conversation: its next message. Without: the first message of a new one, which is not saved."""
    from crewsite.chat.preparing import packet_ahead

    target = conversation or Conversation(owner=user, workspace=workspace)
    packet = packet_ahead(target, text, window=window)
    return packet_page(packet.as_json(), workspace=target.workspace)
