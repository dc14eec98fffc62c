"""The page Models, for operators: connections made, changed, tried and removed; roles; what models were used
for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from crewsite.dashboard.model_forms import ConnectionForm, RolesForm
from crewsite.dashboard.model_lines import (
    NOBODY_WORDS,
    USE_DAYS,
    connection_lines,
    models_offered,
    names_to_choose,
)
from crewsite.dashboard.place import operators_only
from crewsite.llm.connections import Trial, connection_delete, connection_try
from crewsite.llm.constants import ROLES
from crewsite.llm.models import Connection
from crewsite.llm.offered import offer_of
from crewsite.llm.targets import endpoint_configured, target_from
from crewsite.llm.usage import usage_by_day
from crewsite.security.encryption import SecretLocked
from crewsite.security.text import number_of

if TYPE_CHECKING:
    from crewsite.llm.targets import Target


@require_GET
@operators_only
def models(request: HttpRequest) -> HttpResponse:
    return _page(request, RolesForm())


@sensitive_post_parameters("api_key")
@require_http_methods(["GET", "POST"])
@operators_only
def connection(request: HttpRequest, pk: int = 0) -> HttpResponse:
    """The form of one connection; 0 makes a new one."""
    row = get_object_or_404(Connection, pk=pk) if pk else Connection()
    form = ConnectionForm(request.POST if request.method == "POST" else None, connection=row)
    if request.method == "POST" and (saved := form.save()) is not None:
        messages.success(request, f"{saved.name} is saved. Test it to see whether it answers.")
        return redirect("dashboard:settings-models")
    context = {
        "form": form,
        "row": row,
        "is_new": not pk,
        "providers": Connection.Provider.choices,
        "offered": models_offered(row),
    }
    return render(request, "dashboard/model_connection.html", context)


@require_POST
@operators_only
def connection_remove(request: HttpRequest, pk: int) -> HttpResponse:
    row = get_object_or_404(Connection, pk=pk)
    connection_delete(connection=row)
    messages.success(request, f"{row.name} is removed.")
    return redirect("dashboard:settings-models")


@require_POST
@operators_only
def connection_test(request: HttpRequest, pk: int) -> HttpResponse:
    """One real call; 0 stands for the environment's connection."""
    try:
        target = _target(pk)
    except SecretLocked as locked:
        return _tried(request, Trial(ok=False, model="", seconds=0.0, error=str(locked)))
    return _tried(request, connection_try(target))


@require_POST
@operators_only
def connection_refresh(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask the endpoint which models it offers; 0 stands for the environment's connection."""
    try:
        target = _target(pk)
    except SecretLocked as locked:
        messages.error(request, str(locked))
        return redirect("dashboard:settings-models")
    offer = offer_of(target, max_age_s=0.0)
    if offer.is_known:
        count = number_of(len(offer.models), "model")
        messages.success(request, f"{target.connection} offers {count}.")
    else:
        messages.error(request, f"{target.connection} did not tell its models: {offer.problem}")
    return redirect("dashboard:settings-models")


@require_POST
@operators_only
def roles(request: HttpRequest) -> HttpResponse:
    form = RolesForm(request.POST)
    if form.save():
        messages.success(request, "Saved. It holds from the next message on.")
        return redirect("dashboard:settings-models")
    return _page(request, form)


def _target(pk: int) -> Target:
    """Raises Http404, SecretLocked."""
    target = target_from(get_object_or_404(Connection, pk=pk)) if pk else endpoint_configured()
    if target is None:
        raise Http404
    return target


def _page(request: HttpRequest, form: RolesForm) -> HttpResponse:
    context = {
        "lines": connection_lines(),
        "form": form,
        "roles": [(form[role], NOBODY_WORDS[role]) for role in ROLES],
        "names": names_to_choose(),
        "days": usage_by_day(days=USE_DAYS),
        "use_days": USE_DAYS,
    }
    return render(request, "dashboard/models.html", context)


def _tried(request: HttpRequest, trial: Trial) -> HttpResponse:
    took = f"{trial.seconds:.1f} s"
    said = f"{trial.model} answered in {took}: “{trial.text}”" if trial.ok else f"{trial.error} ({took})"
    if "X-Fragment" in request.headers:
        return JsonResponse({"ok": trial.ok, "message": said, "model": trial.model, "seconds": trial.seconds})
    messages.add_message(request, messages.SUCCESS if trial.ok else messages.ERROR, said)
    return redirect("dashboard:settings-models")
