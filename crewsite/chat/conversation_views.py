"""What a person does to a whole conversation: rename, pin, archive, delete, export; and one message to copy.
Each form works without scripts too; the page asks for the fresh list instead of a redirect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from crewsite.chat.views import list_context
from crewsite.conversations.exports import conversation_json, conversation_markdown
from crewsite.conversations.models import Conversation
from crewsite.conversations.services import (
    conversation_archive,
    conversation_delete,
    conversation_pin,
    conversation_rename,
)
from crewsite.security.origin import Origin, Source, Surface

if TYPE_CHECKING:
    from uuid import UUID

    from django.http import HttpRequest

EXPORTS = {"md": (conversation_markdown, "text/markdown"), "json": (conversation_json, "application/json")}


def _mine(request: HttpRequest, conversation_id: UUID) -> Conversation:
    rows = Conversation.objects.for_user(request.user).select_related("workspace")
    return get_object_or_404(rows, pk=conversation_id)


def _done(request: HttpRequest, conversation: Conversation | None = None) -> HttpResponse:
    if request.headers.get("X-Fragment"):
        return render(request, "chat/_list.html", list_context(request))
    if conversation is None:
        return redirect("chat:home")
    return redirect("chat:conversation", conversation_id=conversation.pk)


@require_POST
@login_required
def rename(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    found = _mine(request, conversation_id)
    if title := request.POST.get("title", "").strip():
        conversation_rename(conversation=found, title=title)
    return _done(request, found)


@require_POST
@login_required
def pin(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    found = _mine(request, conversation_id)
    conversation_pin(conversation=found, pinned=request.POST.get("on") != "0")
    return _done(request, found)


@require_POST
@login_required
def archive(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    found = _mine(request, conversation_id)
    archived = request.POST.get("on") != "0"
    conversation_archive(conversation=found, archived=archived)
    return _done(request, None if archived else found)


@require_http_methods(["GET", "POST"])
@login_required
def delete(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Asks first; the page asks in a dialog of its own."""
    found = _mine(request, conversation_id)
    if request.method == "GET":
        return render(request, "chat/delete.html", {"conversation": found})
    origin = Origin(
        source=Source.USER_EXPLICIT,
        surface=Surface.WEB,
        actor=request.user.get_username(),
        conversation_id=found.pk,
    )
    conversation_delete(conversation=found, origin=origin)
    return _done(request)


@require_GET
@login_required
def export(request: HttpRequest, conversation_id: UUID, form: str) -> HttpResponse:
    found = _mine(request, conversation_id)
    write, media_type = EXPORTS[form]
    name = f"{slugify(found.title)[:60] or 'conversation'}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(write(found), content_type=f"{media_type}; charset=utf-8", headers=headers)


@require_GET
@login_required
def message_text(request: HttpRequest, conversation_id: UUID, seq: int) -> HttpResponse:
    """A message as it was written, for copying: its Markdown, not what was made of it."""
    message = get_object_or_404(_mine(request, conversation_id).messages, seq=seq)
    return HttpResponse(message.content, content_type="text/plain; charset=utf-8")
