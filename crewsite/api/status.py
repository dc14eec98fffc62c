"""How the site and its memory are: health, counts and caps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.cache import cache
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from crewsite.api.base import PROBLEMS, CrewView
from crewsite.api.health import readiness
from crewsite.api.serializers import WorkspaceQuery
from lessons.models import Lesson
from memory.constants import HISTORY_MAX_CHARS, PREFERENCES_MAX_CHARS, PROJECTS_MAX_CHARS
from memory.documents import document_in_force
from memory.models import PreferencesDocument, ProjectsDocument

if TYPE_CHECKING:
    from rest_framework.request import Request

    from crewsite.accounts.models import Workspace

READY_KEEP_SECONDS = 3


class HealthAnswer(serializers.Serializer[Any]):
    status = serializers.ChoiceField(["ok"])


class ReadyAnswer(serializers.Serializer[Any]):
    """`degraded` names what is amiss; the others are the states of the parts."""

    status = serializers.ChoiceField(["ok", "degraded", "unavailable"])
    degraded = serializers.ListField(child=serializers.CharField())
    embedder = serializers.CharField()
    index = serializers.CharField()
    database = serializers.CharField()
    llm = serializers.CharField()
    worker = serializers.CharField()


class OpenView(APIView):
    """For anybody."""

    authentication_classes = []
    permission_classes = []
    metadata_class = None


class HealthLive(OpenView):
    @extend_schema(operation_id="health_live", auth=[], responses={200: HealthAnswer})
    def get(self, request: Request) -> Response:
        """The process answers. Asks nothing else: a slow database does not restart a healthy process."""
        return Response({"status": "ok"})


class HealthReady(OpenView):
    @extend_schema(operation_id="health_ready", auth=[], responses={200: ReadyAnswer, 503: ReadyAnswer})
    def get(self, request: Request) -> Response:
        """Whether to send traffic here: 503 without a database. Names what is degraded, without details."""
        # Anybody may ask as often as they like, and must not slow the site by it: counting rows costs.
        report = cache.get_or_set("api.health.ready", readiness, READY_KEEP_SECONDS) or {}
        serves = report["database"]["state"] == "ready"
        states = {name: part["state"] for name, part in report.items() if name != "degraded"}
        word = ("degraded" if report["degraded"] else "ok") if serves else "unavailable"
        return Response(
            {"status": word, "degraded": report["degraded"], **states}, status=200 if serves else 503
        )


class LayerStats(serializers.Serializer[Any]):
    live = serializers.IntegerField()
    deleted = serializers.IntegerField(help_text="Tombstones, or earlier versions.")
    newest = serializers.DateTimeField(allow_null=True)


class CapUsed(serializers.Serializer[Any]):
    used = serializers.IntegerField()
    cap = serializers.IntegerField()
    unit = serializers.ChoiceField(["chars", "rows"])


class StatsAnswer(serializers.Serializer[Any]):
    layers = serializers.DictField(child=LayerStats())
    caps = serializers.DictField(child=CapUsed())
    open_reviews = serializers.IntegerField()
    index = serializers.DictField(help_text="Documents, vectors, lag, engines.")
    embedder = serializers.DictField()
    llm = serializers.DictField()
    degraded = serializers.ListField(child=serializers.CharField())


class Stats(CrewView):
    @extend_schema(
        operation_id="memory_stats", parameters=[WorkspaceQuery], responses={200: StatsAnswer, **PROBLEMS}
    )
    def get(self, request: Request) -> Response:
        """Rows of every layer this workspace reads, the caps they use, the index and the providers."""
        from memory.selectors import memory_stats

        self.query(WorkspaceQuery)
        stats = memory_stats(self.workspace)
        report = readiness()
        told = {
            "layers": {**stats.layers, "lesson": lesson_count(self.workspace)},
            "caps": {
                **_prompt_caps(self.workspace),
                "episodic": {
                    "used": stats.layers["episodic"].live,
                    "cap": stats.episodic_cap,
                    "unit": "rows",
                },
            },
            "open_reviews": stats.open_reviews,
            **{name: report[name] for name in ("index", "embedder", "llm", "degraded")},
        }
        return Response(StatsAnswer(told).data)


def lesson_count(workspace: Workspace) -> dict[str, Any]:
    rows = Lesson.all_objects.filter(home=workspace.home)
    newest = rows.live().order_by("-id").values_list("created_at", flat=True).first()
    return {"live": rows.live().count(), "deleted": rows.deleted().count(), "newest": newest}


def _prompt_caps(workspace: Workspace) -> dict[str, Any]:
    """How much of its place in a prompt each part would fill, at the reference window."""
    from django.utils import timezone

    from memory.history import history_render

    history = history_render(workspace=workspace, now=timezone.now(), cap=HISTORY_MAX_CHARS).text
    used = {"history": (len(history), HISTORY_MAX_CHARS)}
    for name, model, cap in (
        ("preferences", PreferencesDocument, PREFERENCES_MAX_CHARS),
        ("projects", ProjectsDocument, PROJECTS_MAX_CHARS),
    ):
        row = document_in_force(model, workspace)
        used[name] = (len(row.text) if row else 0, cap)
    return {name: {"used": chars, "cap": cap, "unit": "chars"} for name, (chars, cap) in used.items()}
