"""The full embedding model on the page Status, for operators: downloaded with one click, then taken into use
with another. Both are background jobs with their progress on the page Jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from django.conf import settings
from django.contrib import messages
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from crewsite.dashboard.place import operators_only
from crewsite.embeddings.errors import ModelRefused
from crewsite.embeddings.models_catalog import DOWNLOADED
from crewsite.embeddings.selection import chosen_path, models_folder, pinned_by
from crewsite.embeddings.services import model_use
from crewsite.embeddings.tasks import install_start

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

Offer = Literal["", "download", "use"]


def full_model_offer() -> Offer:
    """What may be clicked; nothing where it is in use, or where the environment says otherwise."""
    path = models_folder() / DOWNLOADED.filename
    if pinned_by() or chosen_path() == path:
        return ""
    if path.is_file():
        return "use"
    return "" if settings.CREW_SKIP_MODEL_DOWNLOAD else "download"


@require_POST
@operators_only
def full_model(request: HttpRequest) -> HttpResponse:
    offer = full_model_offer()
    if offer == "download":
        install_start(DOWNLOADED.model_id)
        messages.success(
            request, "The full model is being downloaded. Then take it into use on the page Status."
        )
    elif offer == "use":
        try:
            model_use(model=DOWNLOADED.model_id)
        except ModelRefused as refusal:
            messages.error(request, str(refusal))
        else:
            messages.success(request, "Everything is embedded anew; until that is done the old model serves.")
    else:
        messages.error(request, "There is nothing to do: it is in use, or this site may not fetch it.")
    return redirect("dashboard:jobs")
