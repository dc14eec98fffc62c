"""The chat page: list, transcript, new conversation, and the context drawer of a turn. Answers stream over
the websocket."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Case, When
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from crewsite.accounts.models import DEFAULT_SLUG, Role, Workspace
from crewsite.chat.models import Turn
from crewsite.chat.packet_page import packet_page
from crewsite.chat.transcript import conversation_groups, transcript
from crewsite.conversations.models import Conversation
from crewsite.conversations.services import conversation_archive, conversation_create, conversation_rename
from crewsite.security.origin import Surface
from crewsite.security.text import clean

if TYPE_CHECKING:
    from typing import Any
    from uuid import UUID

    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

    from crewsite.accounts.models import User


def _writable(request: HttpRequest) -> list[Workspace]:
    return list(Workspace.objects.for_user(request.user, at_least=Role.MEMBER))


def _default_first(workspaces: QuerySet[Workspace]) -> QuerySet[Workspace]:
    is_default = Case(When(slug=DEFAULT_SLUG, then=0), default=1)
    return workspaces.order_by(is_default, "name")


def _list_context(request: HttpRequest) -> dict[str, Any]:
    query = clean(request.GET.get("q", "")).strip()
    return {"query": query, "groups": conversation_groups(request.user, query)}


@require_GET
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """The empty state: pick a mode, see three examples, start a conversation."""
    context = {**_list_context(request), "workspaces": _writable(request), "modes": Conversation.Mode}
    return render(request, "chat/home.html", context)


@require_GET
@login_required
def conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    found = get_object_or_404(
        Conversation.objects.for_user(request.user).select_related("workspace"), pk=conversation_id
    )
    lines = transcript(found, whole="all" in request.GET)
    return render(
        request,
        "chat/conversation.html",
        {**_list_context(request), "conversation": found, "transcript": lines},
    )


@require_GET
@login_required
def conversation_list(request: HttpRequest) -> HttpResponse:
    return render(request, "chat/_list.html", _list_context(request))


@require_POST
@login_required
def conversation_new(request: HttpRequest) -> HttpResponse:
    workspaces = Workspace.objects.for_user(request.user, at_least=Role.MEMBER)
    if not workspaces.exists() and Workspace.objects.for_user(request.user).exists():
        raise PermissionDenied
    slug = clean(request.POST.get("workspace", ""))
    chosen = workspaces.filter(slug=slug) if slug else _default_first(workspaces)
    workspace = get_object_or_404(chosen[:1])
    mode = request.POST.get("mode", "")
    created = conversation_create(
        owner=cast("User", request.user),
        workspace=workspace,
        surface=Surface.WEB,
        mode=mode if mode in Conversation.Mode.values else Conversation.Mode.PERSISTENT,
    )
    return redirect("chat:conversation", conversation_id=created.pk)


@require_POST
@login_required
def rename(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    found = get_object_or_404(Conversation.objects.for_user(request.user), pk=conversation_id)
    if title := request.POST.get("title", "").strip():
        conversation_rename(conversation=found, title=title)
    return redirect("chat:conversation", conversation_id=found.pk)


@require_POST
@login_required
def archive(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    conversation_archive(
        conversation=get_object_or_404(Conversation.objects.for_user(request.user), pk=conversation_id)
    )
    return redirect("chat:home")


@require_GET
@login_required
def turn_context(request: HttpRequest, turn_id: UUID) -> HttpResponse:
    """What was injected for one turn, as a fragment for the drawer, or a page of its own without scripts."""
    mine = Conversation.objects.for_user(request.user)
    turn = get_object_or_404(
        Turn.objects.filter(conversation__in=mine).select_related("conversation"), pk=turn_id
    )
    packet = packet_page(turn.packet, show_links=request.user.is_staff) if turn.packet else None
    template = "chat/_packet.html" if request.headers.get("X-Fragment") else "chat/packet.html"
    return render(request, template, {"turn": turn, "packet": packet})
