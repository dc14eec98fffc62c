"""ETags of single rows, so that a lost update is refused (412) and a known row is not sent again (304)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from rest_framework import exceptions
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

if TYPE_CHECKING:
    from rest_framework.request import Request

# Statistics that change while nobody changes the row.
COUNTERS: Final = frozenset({"times_applied", "access_count", "last_accessed_at"})
TAG_CHARS: Final = 32

Describe = Callable[[Any], dict[str, Any]]
"""A row as the API shows it."""


class PreconditionFailed(exceptions.APIException):
    status_code = HTTPStatus.PRECONDITION_FAILED
    default_detail = "The row has changed since. Read it again; nothing was written."
    default_code = "precondition_failed"


def etag(shown: dict[str, Any]) -> str:
    """Equal for equal content, quoted as the header has it."""
    told = {name: value for name, value in shown.items() if name not in COUNTERS}
    return f'"{hashlib.sha256(JSONRenderer().render(told)).hexdigest()[:TAG_CHARS]}"'


def guard(request: Request, describe: Describe) -> Callable[[Any], None]:
    """For a service, which calls it with the row in force, or None, under its lock: raises
    PreconditionFailed when the client's `If-Match` or `If-None-Match` does not hold.
    """
    wanted, unwanted = request.headers.get("If-Match"), request.headers.get("If-None-Match")

    def check(row: Any) -> None:
        if wanted is None and unwanted is None:
            return
        found = None if row is None else etag(describe(row))
        if wanted is not None and not _holds(found, wanted):
            raise PreconditionFailed
        if unwanted is not None and _holds(found, unwanted):
            raise PreconditionFailed("There is such a row already; nothing was written.")

    return check


def answer(request: Request, shown: dict[str, Any], *, status: int = 200) -> Response:
    """One row with its ETag; without a body when the client has this very one."""
    tag = etag(shown)
    known = request.headers.get("If-None-Match")
    if request.method == "GET" and known is not None and _holds(tag, known):
        return Response(status=HTTPStatus.NOT_MODIFIED, headers={"ETag": tag})
    return Response(shown, status=status, headers={"ETag": tag})


def _holds(found: str | None, wanted: str) -> bool:
    if found is None:
        return False
    listed = [part.strip().removeprefix("W/") for part in wanted.split(",")]
    return "*" in listed or found in listed
