"""What an OpenAI client asks for, checked: the question, what was said before it, and the settings that mean
something here. Knows no row."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from crewsite.chat.constants import MESSAGE_MAX_CHARS
from crewsite.security.text import clean

MESSAGES_MAX: Final = 2_000
STOPS_MAX: Final = 4  # what OpenAI takes


class OpenAIError(Exception):
    """A refusal as an OpenAI client reads it."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str,
        param: str | None = None,
        kind: str = "invalid_request_error",
        retry_after_s: int = 0,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_s = retry_after_s
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}


class _Part(BaseModel):
    type: str
    text: str = ""


class _Message(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[_Part] | None = None


class _StreamOptions(BaseModel):
    include_usage: bool = False


class _Body(BaseModel):
    """Fields that are not named here change nothing and are passed over, as OpenAI's own servers do."""

    model_config = ConfigDict(extra="ignore")

    model: str = ""
    messages: list[_Message] = Field(min_length=1, max_length=MESSAGES_MAX)
    stream: bool | None = False
    stream_options: _StreamOptions | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    seed: int | None = None
    stop: str | list[str] | None = None
    presence_penalty: float | None = Field(default=None, ge=-2, le=2)
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2)
    n: int | None = 1
    tools: list[Any] | None = None
    functions: list[Any] | None = None
    response_format: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """`earlier` holds (role, text) pairs of what was said before `text`."""

    model: str
    system: str
    earlier: tuple[tuple[str, str], ...]
    text: str
    stream: bool
    include_usage: bool
    options: dict[str, Any] = field(default_factory=dict)

    def fingerprint(self, whose: str, *more: tuple[str, str]) -> str:
        """Names the transcript so far, for a client that sends it whole each time and no id. Blanks do not
        count: clients trim."""
        said = [(role, " ".join(text.split())) for role, text in (*self.earlier, *more)]
        known = json.dumps([whose, " ".join(self.system.split()), said], ensure_ascii=False)
        return f"openai:{hashlib.sha256(known.encode('utf-8', 'replace')).hexdigest()}"


def parse(raw: bytes) -> Asked:
    """Raises OpenAIError."""
    try:
        body = _Body.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        param = ".".join(str(part) for part in first["loc"]) or None
        raise OpenAIError(400, f"{param or 'body'}: {first['msg']}", code="invalid", param=param) from None
    _refuse_what_is_not_done(body)
    *before, last = body.messages
    if last.role != "user":
        raise OpenAIError(400, "The last message must be the user's.", code="invalid", param="messages")
    text = _text(last)
    if not text.strip():
        raise OpenAIError(400, "The last message is empty.", code="invalid", param="messages")
    if len(text) > MESSAGE_MAX_CHARS:
        said = f"The last message has more than {MESSAGE_MAX_CHARS:,} characters."
        raise OpenAIError(400, said, code="string_above_max_length", param="messages")
    return Asked(
        model=body.model.strip(),
        system="\n\n".join(_text(m) for m in before if m.role in {"system", "developer"}),
        earlier=tuple((m.role, _text(m)) for m in before if m.role in {"user", "assistant"} and _text(m)),
        text=text,
        stream=bool(body.stream),
        include_usage=bool(body.stream_options and body.stream_options.include_usage),
        options=_options(body),
    )


def _refuse_what_is_not_done(body: _Body) -> None:
    """What a client would wait for in vain is refused, not passed over."""
    if body.n not in {None, 1}:
        raise OpenAIError(400, "One answer at a time: n must be 1.", code="unsupported_value", param="n")
    if body.tools or body.functions:
        said = "Tools run on this server and are its own; a client's tools cannot be called from here."
        raise OpenAIError(400, said, code="unsupported_parameter", param="tools")
    if body.response_format and body.response_format.get("type") != "text":
        said = "Answers are text; this response_format is not supported."
        raise OpenAIError(400, said, code="unsupported_value", param="response_format")


def _text(message: _Message) -> str:
    if not isinstance(message.content, list):
        return clean(message.content or "")
    other = next((part.type for part in message.content if part.type != "text"), None)
    if other is not None:
        said = f"Only text can be sent, not {other[:40]}."
        raise OpenAIError(400, said, code="unsupported_value", param="messages")
    return clean("".join(part.text for part in message.content))


def _options(body: _Body) -> dict[str, Any]:
    """The settings of the model call, under the names of pydantic-ai."""
    stops = [body.stop] if isinstance(body.stop, str) else body.stop
    found = {
        "temperature": body.temperature,
        "top_p": body.top_p,
        "max_tokens": body.max_completion_tokens or body.max_tokens,
        "seed": body.seed,
        "stop_sequences": stops[:STOPS_MAX] if stops else None,
        "presence_penalty": body.presence_penalty,
        "frequency_penalty": body.frequency_penalty,
    }
    return {name: value for name, value in found.items() if value is not None}
