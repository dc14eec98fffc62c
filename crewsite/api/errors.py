"""Errors as RFC 9457 problem JSON. The one place where refusals of the domain become HTTP statuses."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, TypedDict

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import Resolver404, resolve
from django.views import defaults
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.views import exception_handler

from crewsite.accounts.errors import AccountsError, RoleTooLow, SharingNeedsDecision, WorkspaceNotFound
from crewsite.jobs.constants import MAINTENANCE_RETRY_AFTER_SECONDS
from crewsite.jobs.storage import store_refusal

if TYPE_CHECKING:
    from rest_framework.response import Response

    from crewsite.jobs.errors import MaintenanceInProgress, StoreUnavailable

logger = logging.getLogger(__name__)

MEDIA_TYPE: Final = "application/problem+json"
API_PREFIX: Final = "/api/"


class Problem(TypedDict):
    """What every error answer holds: `code` for programs, `detail` for people, `errors` by field."""

    type: str
    title: str
    status: int
    detail: str
    errors: dict[str, list[str]]
    code: str


class Refused(exceptions.APIException):
    """A service refused the write for a reason of its own: 422 with that reason's code."""

    status_code = HTTPStatus.UNPROCESSABLE_ENTITY
    default_code = "refused"


class Conflict(exceptions.APIException):
    status_code = HTTPStatus.CONFLICT
    default_code = "conflict"


class TooLarge(exceptions.APIException):
    status_code = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    default_detail = "The body is too large."
    default_code = "too_large"


class Unavailable(exceptions.APIException):
    """Nothing can be written just now. `wait` becomes `Retry-After`."""

    status_code = HTTPStatus.SERVICE_UNAVAILABLE
    default_code = "maintenance"

    def __init__(self, refusal: MaintenanceInProgress | StoreUnavailable) -> None:
        super().__init__(str(refusal), code=refusal.code)
        self.wait = refusal.retry_after_seconds(at_most=MAINTENANCE_RETRY_AFTER_SECONDS)


class LengthRequired(exceptions.APIException):
    status_code = HTTPStatus.LENGTH_REQUIRED
    default_detail = "Send the body with a Content-Length; chunked bodies are not read."
    default_code = "length_required"


def problem(
    status: int, *, code: str, detail: str = "", errors: dict[str, list[str]] | None = None
) -> Problem:
    return {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail or HTTPStatus(status).phrase,
        "errors": errors or {},
        "code": code,
    }


def problem_handler(exc: Exception, context: dict[str, Any]) -> Response | None:
    """REST framework's `EXCEPTION_HANDLER`. None, for what nobody foresaw, leads to `server_error`."""
    response = exception_handler(_translated(exc), context)
    if response is None:
        return None
    errors = field_errors(response.data) if isinstance(exc, exceptions.ValidationError) else {}
    response.data = problem(
        response.status_code, code=_code(exc, errors), detail=_detail(response.data, errors), errors=errors
    )
    response.content_type = MEDIA_TYPE
    return response


def _translated(exc: Exception) -> Exception:
    if isinstance(exc, WorkspaceNotFound):
        return exceptions.NotFound(str(exc))
    if isinstance(exc, RoleTooLow):
        return exceptions.PermissionDenied(str(exc), code="role_too_low")
    if isinstance(exc, SharingNeedsDecision):
        return Conflict(str(exc), code="sharing_needs_decision")
    if isinstance(exc, AccountsError):
        return Refused(str(exc))
    if (refusal := store_refusal(exc)) is not None:
        return Unavailable(refusal)
    if isinstance(exc, RequestDataTooBig):
        return TooLarge()
    return exc


def _code(exc: Exception, errors: Mapping[str, Any]) -> str:
    if errors:
        return "invalid"
    translated = _translated(exc)
    codes = translated.get_codes() if isinstance(translated, exceptions.APIException) else None
    if isinstance(codes, str):
        return codes
    return "not_found" if type(exc).__name__ == "Http404" else "error"


def _detail(data: Any, errors: Mapping[str, Any]) -> str:
    if errors:
        return f"Not valid: {', '.join(errors)}."
    return str(data.get("detail", "")) if isinstance(data, Mapping) else ""


def field_errors(data: Any, name: str = "") -> dict[str, list[str]]:
    """REST framework's nested errors as one level: `messages.0.text` for the text of the first message."""
    if isinstance(data, Mapping):
        parts = [field_errors(value, f"{name}.{key}" if name else str(key)) for key, value in data.items()]
    elif not isinstance(data, list):
        return {name or "body": [str(data)]}
    elif any(isinstance(value, Mapping) for value in data):
        parts = [field_errors(value, f"{name}.{at}") for at, value in enumerate(data) if value]
    else:
        return {name or "body": [str(value) for value in data]}
    return {key: texts for part in parts for key, texts in part.items()}


@csrf_exempt
def api_not_found(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Whatever no route of the API answers."""
    other = request.path.removesuffix("/") if request.path.endswith("/") else f"{request.path}/"
    hint = f" There is {other}, though." if _answers(other) else ""
    return _json(HTTPStatus.NOT_FOUND, code="not_found", detail=f"There is nothing at {request.path}.{hint}")


def _answers(path: str) -> bool:
    try:
        return resolve(path).func is not api_not_found
    except Resolver404:
        return False


def store_problem(refusal: MaintenanceInProgress | StoreUnavailable) -> HttpResponse:
    """The same answer for a view outside REST framework."""
    response = _json(HTTPStatus.SERVICE_UNAVAILABLE, code=refusal.code, detail=str(refusal))
    response["Retry-After"] = refusal.retry_after_seconds(at_most=MAINTENANCE_RETRY_AFTER_SECONDS)
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    """`handler500` of the site: problem JSON for API clients, the site's page for people."""
    if request.path.startswith(API_PREFIX):
        return _json(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            code="error",
            detail="The server failed. Its log names this request.",
        )
    return defaults.server_error(request)


def _json(status: HTTPStatus, *, code: str, detail: str) -> JsonResponse:
    return JsonResponse(problem(status, code=code, detail=detail), status=status, content_type=MEDIA_TYPE)
