"""`Idempotency-Key` on POST: the first request is answered and its answer kept, a repeat gets the same answer
and changes nothing. Another body under the key is refused (422), a repeat that comes too early waits (409).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from django.utils import timezone
from rest_framework import exceptions
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from crewsite.api.constants import (
    IDEMPOTENCY_KEEP_HOURS,
    IDEMPOTENCY_KEY_MAX_CHARS,
    IDEMPOTENCY_STALE_MINUTES,
)
from crewsite.api.errors import MEDIA_TYPE, Conflict, Refused
from crewsite.api.models import KeptAnswer

if TYPE_CHECKING:
    from rest_framework.request import Request

    from crewsite.api.base import CrewView

HEADER: Final = "Idempotency-Key"
KEPT_HEADERS: Final = ("ETag", "Location")
_KEY: Final = re.compile(rf"[\x21-\x7e]{{1,{IDEMPOTENCY_KEY_MAX_CHARS}}}")

Handler = Callable[..., Response]


def key_of(request: Request) -> str:
    """The client's key, or empty. Raises ValidationError for one that cannot be kept."""
    key = request.headers.get(HEADER)
    if key is None:
        return ""
    if not _KEY.fullmatch(key):
        rule = f"1 to {IDEMPOTENCY_KEY_MAX_CHARS} visible ASCII characters."
        raise exceptions.ValidationError({HEADER: [rule]})
    return key


def answer_once(view: CrewView, handler: Handler, request: Request, *args: Any, **kwargs: Any) -> Response:
    """The handler's answer, or the one it gave when this request was made before."""
    key = key_of(request) if view.keeps_answers else ""
    if not key:
        return handler(request, *args, **kwargs)
    asked = _fingerprint(view, request)
    row, is_new = KeptAnswer.objects.get_or_create(
        user=view.person,
        key=key,
        defaults={"fingerprint": asked, "operation": f"{request.method} {request.path}"[:300]},
    )
    if not is_new and not _take_over(row, asked):
        return _again(row, asked)
    try:
        response = _handled(view, handler, request, *args, **kwargs)
    except BaseException:
        row.delete()
        raise
    _keep(row, response)
    return response


def answers_prune(*, now: datetime | None = None) -> int:
    """Delete the answers whose keys are too old to come again."""
    before = (now or timezone.now()) - timedelta(hours=IDEMPOTENCY_KEEP_HOURS)
    return KeptAnswer.objects.filter(created_at__lt=before).delete()[0]


def _fingerprint(view: CrewView, request: Request) -> str:
    workspace = getattr(view, "workspace", None)
    parts = [
        request.method,
        request.path,
        sorted(request.query_params.lists()),
        workspace.pk if workspace else None,
        request.data,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def _take_over(row: KeptAnswer, asked: str) -> bool:
    """Whether the key is free after all: whoever was answering under it died."""
    before = timezone.now() - timedelta(minutes=IDEMPOTENCY_STALE_MINUTES)
    stale = KeptAnswer.objects.filter(pk=row.pk, status__isnull=True, created_at__lt=before)
    return bool(stale.update(created_at=timezone.now(), fingerprint=asked))


def _again(row: KeptAnswer, asked: str) -> Response:
    if row.fingerprint != asked:
        raise Refused("This key was used for another request.", code="idempotency_mismatch")
    if row.status is None:
        raise Conflict("A request with this key is being answered.", code="idempotency_in_progress")
    kind = "application/json" if row.status < HTTPStatus.BAD_REQUEST else MEDIA_TYPE
    headers = {**row.headers, "Idempotent-Replayed": "true"}
    return Response(
        json.loads(row.body) if row.body else None, status=row.status, headers=headers, content_type=kind
    )


def _handled(view: CrewView, handler: Handler, request: Request, *args: Any, **kwargs: Any) -> Response:
    """Refusals become answers here, so that they can be kept; what nobody foresaw goes on."""
    try:
        return handler(request, *args, **kwargs)
    except Exception as error:
        return view.handle_exception(error)


def _keep(row: KeptAnswer, response: Response) -> None:
    """What a service decided, be it a refusal (422). A request that never reached one may come again."""
    if response.status_code >= HTTPStatus.BAD_REQUEST and response.status_code != Refused.status_code:
        row.delete()
        return
    body = "" if response.data is None else JSONRenderer().render(response.data).decode()
    headers = {name: response[name] for name in KEPT_HEADERS if name in response}
    KeptAnswer.objects.filter(pk=row.pk).update(status=response.status_code, body=body, headers=headers)
