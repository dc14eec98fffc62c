"""Episodes over HTTP (layer 5): list, write, search with scores and legs, look, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import TextField
from django.db.models.functions import Cast
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from crewsite.api import versions
from crewsite.api.base import PROBLEMS, CrewView, paged
from crewsite.api.errors import Refused
from crewsite.api.pagination import NewestFirst
from crewsite.api.semantic import refuse_others
from crewsite.api.serializers import QUERY_MAX_CHARS, RowQuery, StrictSerializer, Text, WorkspaceQuery
from crewsite.security.origin import Source
from memory.constants import DEFAULT_IMPORTANCE
from memory.models import EpisodicMemory
from memory.services import episodic_delete, episodic_write

if TYPE_CHECKING:
    from rest_framework.request import Request

TAGS_SENT_MAX = 100  # over the ten that are kept, so that the answer can name those dropped


class EpisodeQuery(RowQuery):
    source = serializers.ChoiceField(  # type: ignore[assignment]  # a field here, not what DRF calls by it
        choices=Source.choices, required=False
    )
    tag = serializers.RegexField(r"^[a-z0-9_-]{1,32}$", required=False)
    since = serializers.DateTimeField(required=False, help_text="Created then or later.")
    q = serializers.CharField(required=False, max_length=QUERY_MAX_CHARS, help_text="Characters it holds.")


class EpisodeRow(serializers.ModelSerializer[EpisodicMemory]):
    tags = serializers.ListField(child=serializers.CharField())
    author = serializers.CharField(allow_null=True)
    conversation = serializers.UUIDField(source="conversation_id", allow_null=True)
    possibly_supersedes = serializers.IntegerField(source="possibly_supersedes_id", allow_null=True)

    class Meta:
        model = EpisodicMemory
        fields = [
            "id",
            "uid",
            "text",
            "importance",
            "tags",
            "source",
            "author",
            "conversation",
            "times_seen",
            "confirmed_at",
            "access_count",
            "last_accessed_at",
            "possibly_supersedes",
            "created_at",
            "updated_at",
            "deleted_at",
            "deleted_reason",
        ]


class EpisodeWrite(StrictSerializer):
    """The rules of content are the service's; a refusal names them."""

    text = Text(help_text="10 to 2,000 characters.")
    importance = serializers.FloatField(required=False, default=DEFAULT_IMPORTANCE, min_value=0, max_value=1)
    tags = serializers.ListField(
        child=Text(allow_blank=True),
        required=False,
        default=list,
        max_length=TAGS_SENT_MAX,
        help_text="At most 10 of a-z, 0-9, _ and -; others are dropped and named in the answer.",
    )
    created_at = serializers.DateTimeField(required=False, help_text="When it happened. Default: now.")


class EpisodeAnswer(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(["stored", "deduped"])
    episode = EpisodeRow()
    dropped_tags = serializers.ListField(child=serializers.CharField())


class EpisodeSearchQuery(WorkspaceQuery):
    q = serializers.CharField(max_length=QUERY_MAX_CHARS, allow_blank=True, help_text="What to look for.")
    limit = serializers.IntegerField(required=False, default=8, min_value=1, max_value=100)
    mode = serializers.ChoiceField(
        ["auto", "relevance", "keyword", "vector"],
        required=False,
        default="relevance",
        help_text="`auto` ranks as a prompt does, by importance and age too; the others by relevance alone.",
    )
    relevance_filter = serializers.BooleanField(
        required=False, default=False, help_text="Only rows near enough to be worth a place in a prompt."
    )
    mmr = serializers.BooleanField(required=False, default=True, help_text="Spread over different texts.")


class EpisodeHit(serializers.Serializer[Any]):
    citation = serializers.CharField()
    score = serializers.FloatField(help_text="Orders within this answer only.")
    cosine = serializers.FloatField(allow_null=True)
    keyword = serializers.FloatField(allow_null=True)
    legs = serializers.ListField(child=serializers.CharField())
    episode = EpisodeRow(source="row")


class EpisodeSearchAnswer(serializers.Serializer[Any]):
    hits = EpisodeHit(many=True)
    rung = serializers.CharField(allow_blank=True, help_text="The step of the ladder that answered.")
    degraded = serializers.ListField(child=serializers.CharField())


def shown(row: EpisodicMemory) -> dict[str, Any]:
    return dict(EpisodeRow(row).data)


class Episodes(CrewView):
    @extend_schema(
        operation_id="memory_episodic_list",
        parameters=[EpisodeQuery],
        responses={200: paged(EpisodeRow), **PROBLEMS},
    )
    def get(self, request: Request) -> Response:
        """The episodes of the workspace's memory home, the last written first."""
        query = self.query(EpisodeQuery)
        rows = EpisodicMemory.all_objects.filter(home=self.workspace.home, is_deleted=query["deleted"])
        rows = rows.select_related("author")
        filters = {
            "source": ("source", query.get("source")),
            "since": ("created_at__gte", query.get("since")),
            "q": ("text__icontains", query.get("q")),
        }
        rows = rows.filter(**{lookup: value for name, (lookup, value) in filters.items() if name in query})
        if "tag" in query:
            named = Cast("tags", TextField())
            rows = rows.annotate(tags_text=named).filter(tags_text__contains=f'"{query["tag"]}"')
        return self.page(NewestFirst(), rows, EpisodeRow)

    @extend_schema(
        operation_id="memory_episodic_write",
        parameters=[WorkspaceQuery],
        request=EpisodeWrite,
        responses={200: EpisodeAnswer, 201: EpisodeAnswer, **PROBLEMS},
    )
    def post(self, request: Request) -> Response:
        """Remember something: 201 when it is new, 200 when a live episode says it, 422 when refused."""
        self.query(WorkspaceQuery)
        result = episodic_write(
            home=self.workspace.home, origin=self.origin, author=self.person, **self.body(EpisodeWrite)
        )
        if result.outcome == "refused" or result.row is None:
            raise Refused(result.message, code=result.code)
        episode = shown(result.row)
        answer = {
            "outcome": result.outcome,
            "episode": episode,
            "dropped_tags": list(result.dropped_tags),
        }
        status = 201 if result.outcome == "stored" else 200
        return Response(answer, status=status, headers={"ETag": versions.etag(episode)})


class EpisodeSearch(CrewView):
    @extend_schema(
        operation_id="memory_episodic_search",
        parameters=[EpisodeSearchQuery],
        responses={200: EpisodeSearchAnswer, **PROBLEMS},
    )
    def get(self, request: Request) -> Response:
        """Search by meaning and words, with scores and the legs that found each row."""
        from memory.selectors import episodic_search

        query = self.query(EpisodeSearchQuery)
        found = episodic_search(
            home=self.workspace.home,
            query=query["q"],
            limit=query["limit"],
            mode=query["mode"],
            relevance_filter=query["relevance_filter"],
            mmr=query["mmr"],
        )
        return Response(EpisodeSearchAnswer(found).data)


class Episode(CrewView):
    has_versions = ("GET", "DELETE")

    def row(self, row_id: int) -> EpisodicMemory:
        rows = EpisodicMemory.objects.filter(home=self.workspace.home).select_related("author")
        row: EpisodicMemory = self.row_or_404(rows, row_id)
        return row

    @extend_schema(
        operation_id="memory_episodic_retrieve",
        parameters=[WorkspaceQuery],
        responses={200: EpisodeRow, 304: None, **PROBLEMS},
    )
    def get(self, request: Request, row_id: int) -> Response:
        """One episode, with its ETag."""
        self.query(WorkspaceQuery)
        return versions.answer(request, shown(self.row(row_id)))

    @extend_schema(
        operation_id="memory_episodic_delete",
        parameters=[WorkspaceQuery],
        request=None,
        responses={204: None, **PROBLEMS},
    )
    def delete(self, request: Request, row_id: int) -> Response:
        """Tombstone the episode; `restore` brings it back. One's own, or any as an owner of the home."""
        self.query(WorkspaceQuery)
        row = self.row(row_id)
        refuse_others(self, row)
        episodic_delete(row=row, origin=self.origin, guard=versions.guard(request, shown))
        return Response(status=204)
