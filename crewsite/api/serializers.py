"""What the API takes and gives. Nothing here decides anything; services validate what only they know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rest_framework import serializers

from crewsite.conversations.models import Conversation, Message
from lessons.models import Lesson

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

QUERY_MAX_CHARS = 2_000  # as long as what `memory_recall` takes (chapter 06, 6.4)


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses fields it does not know: a misspelt one must not be ignored in silence."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = [name for name in data if name not in self.fields]
            if unknown:
                raise serializers.ValidationError({str(name): ["Unknown field."] for name in unknown})
        return super().to_internal_value(data)


class WorkspaceQuery(StrictSerializer):
    workspace = serializers.SlugField(
        required=False, default="", help_text="Slug. Default: the token's workspace, else `default`."
    )


class PageQuery(WorkspaceQuery):
    cursor = serializers.CharField(required=False, help_text="From `next` or `previous`.")
    limit = serializers.IntegerField(required=False, min_value=1, max_value=200, help_text="Rows a page.")


class RowQuery(PageQuery):
    """Of rows that leave a tombstone behind."""

    deleted = serializers.BooleanField(
        required=False, default=False, help_text="Those removed or superseded instead."
    )


class PreviewQuery(WorkspaceQuery):
    q = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=100_000,
        help_text="The message that would be sent.",
    )
    conversation = serializers.UUIDField(required=False, help_text="Default: a new conversation.")
    window = serializers.IntegerField(
        required=False, min_value=1_000, max_value=10_000_000, help_text="The model's window in tokens."
    )


class SearchQuery(WorkspaceQuery):
    q = serializers.CharField(max_length=QUERY_MAX_CHARS, allow_blank=True, help_text="What to look for.")
    kinds = serializers.CharField(
        required=False, default="", help_text="Separated by commas: semantic, episodic, lesson. Default: all."
    )
    limit = serializers.IntegerField(required=False, default=20, min_value=1, max_value=100)


class SearchHit(serializers.Serializer[Any]):
    kind = serializers.CharField()
    id = serializers.IntegerField(source="object_id")
    citation = serializers.CharField()
    text = serializers.CharField()
    at = serializers.DateTimeField(allow_null=True)
    score = serializers.FloatField()
    legs = serializers.ListField(child=serializers.CharField())
    highlight = serializers.CharField()


class SearchAnswer(serializers.Serializer[Any]):
    hits = SearchHit(many=True)
    degraded = serializers.ListField(child=serializers.CharField())


class PacketSource(serializers.Serializer[Any]):
    kind = serializers.CharField()
    object_id = serializers.IntegerField()
    citation = serializers.CharField()
    score = serializers.FloatField(allow_null=True)


class PacketBlock(serializers.Serializer[Any]):
    name = serializers.CharField()
    marker = serializers.CharField(allow_blank=True)
    authority = serializers.IntegerField()
    placement = serializers.ChoiceField(["opening", "message"])
    state = serializers.ChoiceField(["admitted", "trimmed", "omitted"])
    reason = serializers.CharField(allow_blank=True)
    chars = serializers.IntegerField()
    cap = serializers.IntegerField(allow_null=True)
    text = serializers.CharField(allow_blank=True)
    sources = PacketSource(many=True)
    left_out = PacketSource(many=True)
    left_out_count = serializers.IntegerField()


class Packet(serializers.Serializer[Any]):
    mode = serializers.CharField()
    model_window = serializers.IntegerField(allow_null=True)
    ceiling_chars = serializers.IntegerField()
    total_chars = serializers.IntegerField()
    degraded = serializers.ListField(child=serializers.CharField())
    blocks = PacketBlock(many=True)


class ConversationRow(serializers.ModelSerializer[Conversation]):
    workspace: serializers.SlugRelatedField[Workspace] = serializers.SlugRelatedField(
        slug_field="slug", read_only=True
    )

    class Meta:
        model = Conversation
        fields = [
            "id",
            "workspace",
            "title",
            "surface",
            "mode",
            "model",
            "project",
            "pinned",
            "created_at",
            "last_activity_at",
        ]


class MessageRow(serializers.ModelSerializer[Message]):
    author = serializers.CharField(source="author_label", read_only=True)

    class Meta:
        model = Message
        fields = [
            "seq",
            "role",
            "author",
            "content",
            "tool_calls",
            "finish_reason",
            "private",
            "created_at",
        ]


class LessonRow(serializers.ModelSerializer[Lesson]):
    superseded_by = serializers.IntegerField(source="superseded_by_id", allow_null=True)

    class Meta:
        model = Lesson
        fields = [
            "id",
            "uid",
            "rule",
            "negative",
            "category",
            "scope",
            "confidence",
            "source",
            "pinned",
            "times_applied",
            "created_at",
            "updated_at",
            "deleted_at",
            "deleted_reason",
            "superseded_by",
        ]


class Text(serializers.CharField):
    """A JSON string: a number or a boolean is not turned into one."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class LessonWrite(StrictSerializer):
    """The rules of content (length, screening, volatile facts) are the service's; a refusal names them."""

    rule = Text(help_text="3 to 1,000 characters.")
    negative = Text(required=False, default="", allow_blank=True, help_text="What not to do instead.")
    category = serializers.ChoiceField(
        Lesson.Category.choices, required=False, default=Lesson.Category.KNOWLEDGE
    )
    scope = Text(
        required=False, default="", allow_blank=True, help_text="Path fragment of the projects it reaches."
    )
    pinned = serializers.BooleanField(required=False, default=False)


class LessonAnswer(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(["inserted", "unchanged", "enriched", "replaced"])
    lesson = LessonRow()
    superseded = serializers.ListField(child=serializers.IntegerField())


class ProblemBody(serializers.Serializer[Any]):
    """Every error, as `application/problem+json`."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    errors = serializers.DictField(  # type: ignore[assignment]  # a field here, not the property of serializers
        child=serializers.ListField(child=serializers.CharField())
    )
    code = serializers.CharField()
