"""`/v1/chat/completions` and `/v1/models`: any OpenAI client gets memory by changing its base URL and its
key."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.views.decorators.csrf import csrf_exempt

from crewsite.api.constants import STREAM_PING_S
from crewsite.api.openai.answers import chunks, completion
from crewsite.api.openai.callers import Caller, caller_of, model_ids, transcript_note, turn_of
from crewsite.api.openai.requests import Asked, OpenAIError, parse
from crewsite.chat.following import CLOSING, turn_frames, turn_submit
from crewsite.chat.runner import runner
from crewsite.chat.threads import in_database, in_tool_thread
from crewsite.jobs.constants import MAINTENANCE_RETRY_AFTER_SECONDS
from crewsite.jobs.storage import store_refusal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from crewsite.chat.models import Turn
    from crewsite.chat.payloads import Frame

logger = logging.getLogger(__name__)

CONVERSATION = "X-Crew-Conversation"
View = Callable[..., Coroutine[Any, Any, HttpResponseBase]]


def _answering(method: str = "") -> Callable[[View], View]:
    """The method a view answers, any if none is named, and every refusal in OpenAI's shape. A token is no
    cookie, so no page of another site can make a browser send it."""

    def wrap(view: View) -> View:
        @csrf_exempt
        @wraps(view)
        async def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            try:
                if method and request.method != method:
                    raise OpenAIError(405, f"Send {method}.", code="method_not_allowed")
                return await view(request, *args, **kwargs)
            except OpenAIError as error:
                return _refused(error)
            except RequestDataTooBig:
                return _refused(OpenAIError(413, "The body is too large.", code="too_large"))
            except Exception as error:
                return _refused(_failed(request, error))

        return answer

    return wrap


@_answering("GET")
async def models(request: HttpRequest) -> HttpResponseBase:
    await _caller(request, "read")
    rows = [_model(name) for name in await in_tool_thread(model_ids)]
    return JsonResponse({"object": "list", "data": rows})


@_answering("GET")
async def model(request: HttpRequest, name: str) -> HttpResponseBase:
    await _caller(request, "read")
    if name not in await in_tool_thread(model_ids):
        raise OpenAIError(
            404, f"There is no model {name[:100]!r} here.", code="model_not_found", param="model"
        )
    return JsonResponse(_model(name))


@_answering("POST")
async def chat_completions(request: HttpRequest) -> HttpResponseBase:
    caller = await _caller(request, "write")
    asked = parse(request.body)
    # A model may be asked of its endpoint here, and a long story rendered.
    turn = await in_tool_thread(turn_of, caller, asked, request.headers.get(CONVERSATION, "").strip())
    await turn_submit(turn, user_id=caller.user.pk, options=asked.options)
    frames = _frames(turn, asked)
    if asked.stream:
        events = chunks(turn, frames, include_usage=asked.include_usage)
        answer: HttpResponseBase = StreamingHttpResponse(
            events, content_type="text/event-stream; charset=utf-8"
        )
        answer["X-Accel-Buffering"] = "no"
    else:
        closed = [item async for item in frames if item["type"] in CLOSING][-1]
        try:
            answer = JsonResponse(completion(turn, closed))
        except OpenAIError as error:
            answer = _refused(error)
    answer[CONVERSATION] = str(turn.conversation_id)
    answer["Cache-Control"] = "no-store"
    return answer


@_answering()
async def nowhere(request: HttpRequest, rest: str = "") -> HttpResponseBase:
    raise OpenAIError(404, f"There is nothing at {request.path}.", code="not_found")


async def _frames(turn: Turn, asked: Asked) -> AsyncIterator[Frame]:
    """The turn to its end. A client that leaves has stopped it, as at OpenAI: nobody is left to read on."""
    is_over = False
    try:
        async for item in turn_frames(turn.conversation, turn.pk, ping_s=STREAM_PING_S):
            if item["type"] == "turn.started":
                turn.model = item["model"]
            if item["type"] in CLOSING:
                is_over = True
                message = item.get("message") or {}
                await in_database(transcript_note, turn, asked, message.get("content", ""))
            yield item
    finally:
        if not is_over:
            _stopping.add(task := asyncio.ensure_future(runner.stop(turn.pk)))
            task.add_done_callback(_stopping.discard)


_stopping: set[asyncio.Future[bool]] = set()  # a loop keeps only weak references to its tasks


async def _caller(request: HttpRequest, scope: str) -> Caller:
    authorization, address = request.headers.get("Authorization", ""), request.META.get("REMOTE_ADDR", "")
    return await in_database(caller_of, authorization, scope=scope, address=address)


def _failed(request: HttpRequest, error: Exception) -> OpenAIError:
    refusal = store_refusal(error)
    if refusal is None:
        logger.error("%s failed.", request.path, exc_info=error)
        said = "The server failed. Its log names this request."
        return OpenAIError(500, said, code="error", kind="server_error")
    wait = refusal.retry_after_seconds(at_most=MAINTENANCE_RETRY_AFTER_SECONDS)
    return OpenAIError(503, str(refusal), code=refusal.code, kind="server_error", retry_after_s=wait)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "crewsite"}


def _refused(error: OpenAIError) -> JsonResponse:
    """OpenAI's clients send a refused question again by themselves; of an answer that failed here, the
    question is kept, so they are told not to."""
    answer = JsonResponse(error.body, status=error.status)
    answer["Cache-Control"] = "no-store"
    if error.retry_after_s:
        answer["Retry-After"] = str(error.retry_after_s)
    elif error.status >= 500:  # noqa: PLR2004 - the server errors
        answer["X-Should-Retry"] = "false"
    return answer
