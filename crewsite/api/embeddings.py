"""The embedding model over HTTP: how it is, its installation, the switch to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from crewsite.api.base import PROBLEMS, CrewView
from crewsite.api.errors import Conflict, Refused
from crewsite.api.health import readiness
from crewsite.api.lessons import NoFields
from crewsite.api.serializers import StrictSerializer, Text, WorkspaceQuery
from crewsite.embeddings.errors import ModelRefused, SwitchConflict
from crewsite.embeddings.models_catalog import CATALOG, COMPACT
from crewsite.embeddings.services import SWITCH_KIND, model_use
from crewsite.jobs.models import Job

if TYPE_CHECKING:
    from rest_framework.request import Request


class InstallRow(serializers.Serializer[Any]):
    """The last installation of a model: how many bytes there are of how many."""

    job = serializers.IntegerField(source="pk")
    state = serializers.CharField()
    model_id = serializers.SerializerMethodField()
    step = serializers.CharField(source="message", allow_blank=True)
    done = serializers.IntegerField()
    total = serializers.IntegerField(allow_null=True)
    error = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    def get_model_id(self, job: Job) -> str:
        return str(job.args[0]) if job.args else COMPACT.model_id


class InstallWrite(StrictSerializer):
    model = serializers.ChoiceField(list(CATALOG), required=False, default=COMPACT.model_id)


class SwitchRow(serializers.Serializer[Any]):
    """The last switch to another model: how many texts it has embedded anew."""

    job = serializers.IntegerField(source="pk")
    state = serializers.CharField()
    model_id = serializers.CharField(source="detail.model_id", default="")
    done = serializers.IntegerField()
    total = serializers.IntegerField(allow_null=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class EmbeddingsAnswer(serializers.Serializer[Any]):
    state = serializers.ChoiceField(["absent", "loading", "ready", "failed"])
    model_id = serializers.CharField(allow_blank=True)
    dim = serializers.IntegerField()
    error = serializers.CharField(allow_blank=True)
    index = serializers.DictField(help_text="State of the indexes: documents, vectors, lag.")
    install = InstallRow(allow_null=True)
    switch = SwitchRow(allow_null=True)


class EmbeddingsStatus(CrewView):
    @extend_schema(
        operation_id="embeddings_status",
        parameters=[WorkspaceQuery],
        responses={200: EmbeddingsAnswer, **PROBLEMS},
    )
    def get(self, request: Request) -> Response:
        """The embedding model, its index, and how its last installation and switch went."""
        from crewsite.embeddings.tasks import install_last

        self.query(WorkspaceQuery)
        report = readiness()
        told = {
            "error": "",
            **report["embedder"],
            "index": report["index"],
            "install": install_last(),
            "switch": Job.objects.of_kind(SWITCH_KIND).order_by("-id").first(),
        }
        return Response(EmbeddingsAnswer(told).data)


class EmbeddingsInstall(CrewView):
    @extend_schema(
        operation_id="embeddings_install", request=InstallWrite, responses={202: InstallRow, **PROBLEMS}
    )
    def post(self, request: Request) -> Response:
        """Start to install a model, or adopt its installation that runs. For operators."""
        from crewsite.embeddings.tasks import install_start

        self.query(NoFields)
        model = self.body(InstallWrite)["model"]
        if settings.CREW_SKIP_MODEL_DOWNLOAD:
            raise Conflict("CREW_SKIP_MODEL_DOWNLOAD forbids downloads here.", code="downloads_forbidden")
        job, _ = install_start("" if model == COMPACT.model_id else model)
        return Response(InstallRow(job).data, status=202)


class ModelWrite(StrictSerializer):
    model = Text(
        required=False,
        default="compact",
        max_length=1_000,
        help_text="`compact`, a name of the catalogue, or the path of a GGUF file on the server.",
    )


class EmbeddingsModel(CrewView):
    @extend_schema(
        operation_id="embeddings_model", request=ModelWrite, responses={202: SwitchRow, **PROBLEMS}
    )
    def post(self, request: Request) -> Response:
        """Start the switch to another model; the one in force serves until all is embedded anew. 422 where
        there is no such file, 409 while a switch runs or the environment names the model. For operators.
        """
        self.query(NoFields)
        try:
            job = model_use(**self.body(ModelWrite))
        except ModelRefused as refusal:
            kind = Conflict if isinstance(refusal, SwitchConflict) else Refused
            raise kind(str(refusal), code=refusal.code) from refusal
        return Response(SwitchRow(job).data, status=202)
