"""The Memory pages: six tabs, one row's story, and the small answers of inline editing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from crewsite.accounts.console import row_number
from crewsite.conversations.models import Conversation
from crewsite.dashboard.edits import FORMS, SAVES, Outcome, lesson_take_back, row_delete, row_restore
from crewsite.dashboard.place import in_place, is_fragment, page
from crewsite.dashboard.tables import ROWS_A_PAGE, TAB_OF_LAYER, TABLES, prefix_of, query_of
from crewsite.dashboard.workspaces import SESSION_KEY
from memory.documents import line_diff
from memory.explain import memory_explain
from memory.layers import layer_of, row_cited

if TYPE_CHECKING:
    from uuid import UUID

    from django.core.paginator import Page

    from crewsite.dashboard.place import Place
    from crewsite.dashboard.tables import Table
    from memory.explain import Injection

REFUSED = 422


@require_GET
def memory_home(request: HttpRequest) -> HttpResponse:
    return redirect("dashboard:memory", tab="facts")


@require_GET
@in_place
def memory(request: HttpRequest, place: Place, tab: str) -> HttpResponse:
    return _memory_page(request, place, _table(tab))


@require_GET
@in_place
def row_story(request: HttpRequest, place: Place, tab: str, pk: int) -> HttpResponse:
    """Explained: in the drawer, or as a page of its own for a link from elsewhere."""
    return _story_page(request, place, *_row(place, tab, pk))


@require_GET
@in_place
def row_of_citation(request: HttpRequest, place: Place, citation: str) -> HttpResponse:
    """Where a citation leads: a row of memory, or the conversation of one's own that a message stands in.

    `?workspace=` says whose memory was cited; without it, the one shown, then the person's others.
    """
    asked = request.GET.get("workspace")
    first = [place.workspace, *(one for one in place.workspaces if one != place.workspace)]
    readable = [one for one in first if asked in {None, one.slug}]
    cited = ((workspace, row_cited(workspace, citation)) for workspace in readable)
    workspace, found = next((pair for pair in cited if pair[1]), (None, None))
    if workspace is None or found is None:
        return redirect("chat:conversation", conversation_id=_talk_cited(place, citation).pk)
    if workspace != place.workspace:
        request.session[SESSION_KEY] = workspace.slug
    return redirect("dashboard:row", tab=TAB_OF_LAYER[found[0].name], pk=found[1].pk)


@require_GET
@in_place
def row_line(request: HttpRequest, place: Place, tab: str, pk: int) -> HttpResponse:
    table, row = _row(place, tab, pk)
    if not is_fragment(request):
        return redirect("dashboard:row", tab=tab, pk=pk)
    return page(request, place, "dashboard/_row.html", {"line": table.line(place, row)})


@require_http_methods(["GET", "POST"])
@in_place
def row_new(request: HttpRequest, place: Place, tab: str) -> HttpResponse:
    table = _table(tab)
    place.require_writing()
    if not table.can_add:
        raise Http404
    return _edit(request, place, table, None)


@require_http_methods(["GET", "POST"])
@in_place
def row_edit(request: HttpRequest, place: Place, tab: str, pk: int) -> HttpResponse:
    table, row = _row(place, tab, pk)
    place.require_writing()
    if not table.line(place, row).can_edit:
        raise Http404
    return _edit(request, place, table, row)


@require_POST
@in_place
def row_act(request: HttpRequest, place: Place, tab: str, pk: int, action: str) -> HttpResponse:
    """Delete, restore, or take a lesson back."""
    table, row = _row(place, tab, pk)
    place.require_writing()
    line = table.line(place, row)
    if action == "restore" and table.layer != "history":
        return _answer(request, place, table, row, row_restore(place, table, row))
    if action == "delete" and tab in {"facts", "episodes", "lessons"}:
        if not place.may_delete(row):
            raise PermissionDenied
        return _answer(request, place, table, row, row_delete(place, table, row))
    if action == "undo" and tab == "lessons" and line.state == "":
        if not place.may_delete(row):
            raise PermissionDenied
        return _answer(request, place, table, row, lesson_take_back(place, row))
    raise Http404


def _memory_page(
    request: HttpRequest,
    place: Place,
    table: Table,
    *,
    form: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The tab; with `form` its form for a new row is open."""
    shown = _shown(place, table, request.GET)
    asked = {name: value for name, value in request.GET.items() if value and name != "page"}
    context: dict[str, Any] = {
        "table": table,
        "tables": list(TABLES.values()),
        "shown": shown,
        "lines": [table.line(place, row) for row in shown.object_list],
        "filters": table.filters(request.GET),
        "query": query_of(request.GET),
        "prefix": prefix_of(request.GET) if table.tab == "facts" else "",
        "asked": urlencode(asked),
        "is_filtered": set(asked) - {"q"},
        "can_add": place.may_write and table.can_add,
    }
    # A document is added only while there is none; later it is edited.
    if table.tab in {"preferences", "projects"} and shown.paginator.count:
        context["can_add"] = False
    context["is_document"] = table.tab in {"preferences", "projects"}
    template = "dashboard/_rows.html" if is_fragment(request) else "dashboard/memory.html"
    return page(request, place, template, context | (form or {}), status=status)


def _story_page(
    request: HttpRequest,
    place: Place,
    table: Table,
    row: Any,
    *,
    form: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The row and its story; with `form` the row's form is open."""
    layer = layer_of(table.layer)
    if layer is None:
        raise Http404
    told = memory_explain(layer=layer, row=row, viewer=place.user)
    before = told.replaces[0].text if told.replaces else ""
    context = {
        "table": table,
        "line": table.line(place, row),
        "told": told,
        "injections": _last_in_each(told.injections),
        "diff": line_diff(before, told.text) if before else (),
    }
    template = f"dashboard/{'_story' if is_fragment(request) else 'story'}.html"
    return page(request, place, template, context | (form or {}), status=status)


def _edit(request: HttpRequest, place: Place, table: Table, row: Any) -> HttpResponse:
    form: dict[str, Any] = {"table": table, "row": row, "message": "", "form_url": request.path}
    if request.method == "POST":
        outcome = SAVES[table.tab](place, row, request.POST.dict())
        if outcome.ok:
            return _answer(request, place, table, row, outcome)
        form["message"] = outcome.message
    form["fields"] = FORMS[table.tab](row, request.POST.dict())
    status = REFUSED if form["message"] else 200
    if is_fragment(request):
        return page(request, place, "dashboard/_row_form.html", form, status=status)
    if row is None:
        return _memory_page(request, place, table, form=form, status=status)
    return _story_page(request, place, table, row, form=form, status=status)


def _answer(request: HttpRequest, place: Place, table: Table, row: Any, outcome: Outcome) -> HttpResponse:
    """The row as it stands now, with what was done and the button that takes it back; on a table's page also
    how many rows it has now. Without the script, its page."""
    stands = outcome.row or table.base(place).filter(pk=row.pk).first() or row
    if not is_fragment(request):
        messages.add_message(request, messages.SUCCESS if outcome.ok else messages.WARNING, outcome.message)
        return redirect("dashboard:row", tab=table.tab, pk=stands.pk)
    context = {"line": table.line(place, stands), "outcome": outcome}
    shows = urlsplit(request.headers.get("HX-Current-URL", ""))
    if shows.path.removesuffix("new/") == reverse("dashboard:memory", args=[table.tab]):
        context["shown"] = _shown(place, table, QueryDict(shows.query))
    return page(request, place, "dashboard/_row.html", context, status=200 if outcome.ok else REFUSED)


def _shown(place: Place, table: Table, asked: QueryDict) -> Page[Any]:
    return Paginator(table.rows(place, asked), ROWS_A_PAGE).get_page(asked.get("page"))


def _talk_cited(place: Place, citation: str) -> Conversation:
    number = row_number(citation.removeprefix("msg:")) if citation.startswith("msg:") else None
    if number is None:
        raise Http404
    return get_object_or_404(Conversation.objects.for_user(place.user), messages__pk=number)


def _last_in_each(injections: tuple[Injection, ...]) -> list[Injection]:
    """The newest of each conversation: one that goes on is given the same row every turn."""
    newest: dict[UUID, Injection] = {}
    for one in injections:
        newest.setdefault(one.conversation.id, one)
    return list(newest.values())


def _table(tab: str) -> Table:
    if tab not in TABLES:
        raise Http404
    return TABLES[tab]


def _row(place: Place, tab: str, pk: int) -> tuple[Table, Any]:
    """Rows that this workspace does not read are as if they did not exist."""
    table = _table(tab)
    row = table.base(place).filter(pk=pk).first()
    if row is None:
        raise Http404
    return table, row
