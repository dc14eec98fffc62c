"""The chat page: list, transcript, new conversation, and the context drawer of a turn. Answers stream over
the websocket; what changes or exports a conversation is `conversation_views`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Case, When
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from crewsite.accounts.models import DEFAULT_SLUG, Role, Workspace
from crewsite.chat.commands import completions
from crewsite.chat.connected import connected
from crewsite.chat.listing import LIST_ROWS, conversation_list, surfaces_of
from crewsite.chat.model_choice import model_menu, model_named
from crewsite.chat.models import Turn
from crewsite.chat.packet_page import packet_page
from crewsite.chat.payloads import branch_mark
from crewsite.chat.transcript import transcript
from crewsite.conversations.constants import MODEL_MAX_CHARS
from crewsite.conversations.models import Conversation
from crewsite.conversations.services import conversation_create
from crewsite.search.constants import QUERY_CHARS_MAX
from crewsite.security.origin import Surface
from crewsite.security.text import clean

if TYPE_CHECKING:
    from typing import Any
    from uuid import UUID

    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

    from crewsite.accounts.models import User


def _writable(request: HttpRequest) -> list[Workspace]:
    return list(_default_first(Workspace.objects.for_user(request.user, at_least=Role.MEMBER)))


def _default_first(workspaces: QuerySet[Workspace]) -> QuerySet[Workspace]:
    is_default = Case(When(slug=DEFAULT_SLUG, then=0), default=1)
    return workspaces.order_by(is_default, "name")


def list_context(request: HttpRequest) -> dict[str, Any]:
    query = clean(request.GET.get("q", "")).strip()[:QUERY_CHARS_MAX]
    rows = request.GET.get("rows", "")[:4]
    count = int(rows) if rows.isascii() and rows.isdigit() and int(rows) else LIST_ROWS
    archived = "archived" in request.GET
    surface = request.GET.get("from", "")
    surface = surface if surface in Surface.values else ""
    listing = conversation_list(request.user, query, archived=archived, rows=count, surface=surface)
    return {"query": query, "listing": listing, "archived": archived, "surface": surface}


@require_GET
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """The empty state: pick a mode and a model, see three examples and what is connected, start."""
    models = model_menu()
    context = {
        **list_context(request),
        "workspaces": _writable(request),
        "modes": Conversation.Mode,
        "models": models,
        "picked": "",
        "surfaces": surfaces_of(request.user),
        "connected": connected(request.user),
        "completions": completions(models),
    }
    return render(request, "chat/home.html", context)


@require_GET
@login_required
def conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    found = get_object_or_404(
        Conversation.objects.for_user(request.user).select_related("workspace"), pk=conversation_id
    )
    lines = {
        "conversation": found,
        "branch": branch_mark(found),
        "transcript": transcript(found, whole="all" in request.GET),
    }
    if request.headers.get("X-Fragment"):
        return render(request, "chat/_lines.html", lines)
    models = model_menu(current=found.model)
    context = {
        **lines,
        **list_context(request),
        "modes": Conversation.Mode,
        "models": models,
        "picked": found.model,
        "surfaces": surfaces_of(request.user),
        "completions": completions(models),
    }
    return render(request, "chat/conversation.html", context)


@require_GET
@login_required
def model_options(request: HttpRequest) -> HttpResponse:
    """What the picker offers, with the endpoints' own lists; `fresh` asks them whatever is known."""
    current = clean(request.GET.get("current", ""))[:MODEL_MAX_CHARS]
    menu = model_menu(current=current, ask=True, fresh="fresh" in request.GET)
    return render(request, "chat/_models.html", {"models": menu, "picked": current})


@require_GET
@login_required
def conversation_rows(request: HttpRequest) -> HttpResponse:
    return render(request, "chat/_list.html", list_context(request))


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
    model = model_named(clean(request.POST.get("model", "")))
    created = conversation_create(
        owner=cast("User", request.user),
        workspace=workspace,
        surface=Surface.WEB,
        mode=mode if mode in Conversation.Mode.values else Conversation.Mode.PERSISTENT,
        model=model.value if model else "",
    )
    return redirect("chat:conversation", conversation_id=created.pk)


@require_GET
@login_required
def turn_context(request: HttpRequest, turn_id: UUID) -> HttpResponse:
    """What was injected for one turn, as a fragment for the drawer, or a page of its own without scripts."""
    mine = Conversation.objects.for_user(request.user)
    turn = get_object_or_404(
        Turn.objects.filter(conversation__in=mine).select_related("conversation__workspace"), pk=turn_id
    )
    packet = packet_page(turn.packet, workspace=turn.conversation.workspace) if turn.packet else None
    template = "chat/_packet.html" if request.headers.get("X-Fragment") else "chat/packet.html"
    return render(request, template, {"turn": turn, "packet": packet})
