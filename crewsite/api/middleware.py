"""The request id: taken from a proxy that set one, else made here, and echoed for people to quote."""

from __future__ import annotations

import re
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, Final

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

HEADER: Final = "X-Request-ID"
# Anything else could forge log lines or headers further on.
_ACCEPTED: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")

GetResponse = Callable[[HttpRequest], HttpResponseBase] | Callable[[HttpRequest], Awaitable[HttpResponseBase]]


def request_id(request: HttpRequest) -> str:
    given = request.headers.get(HEADER, "")
    return given if _ACCEPTED.fullmatch(given) else uuid.uuid4().hex


@sync_and_async_middleware
def request_id_middleware(get_response: Any) -> Any:
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            request.META["CREW_REQUEST_ID"] = request_id(request)
            response: HttpResponseBase = await get_response(request)
            response[HEADER] = request.META["CREW_REQUEST_ID"]
            return response

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        request.META["CREW_REQUEST_ID"] = request_id(request)
        response: HttpResponseBase = get_response(request)
        response[HEADER] = request.META["CREW_REQUEST_ID"]
        return response

    return answer
