"""One error for everything a model call can do wrong, with a reason a person can read and whether a retry
may help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crewsite.security.text import clean

if TYPE_CHECKING:
    from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError

MAX_REASON_CHARS = 300
SERVER_ERROR = 500


class LlmError(Exception):
    """A failed model call. `counts` says whether the endpoint itself is to blame, which the circuit breaker
    watches; `deferred` that it is busy or away, so that waiting helps, for `retry_after_s` if it said so.
    `status` is that of a refused request."""

    def __init__(
        self,
        reason: str,
        *,
        retryable: bool,
        counts: bool = False,
        deferred: bool | None = None,
        retry_after_s: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = clean(reason)[:MAX_REASON_CHARS]
        self.retryable = retryable
        self.counts = counts
        self.deferred = counts if deferred is None else deferred
        self.retry_after_s = retry_after_s
        self.status = status

    def again(self, reason: str = "") -> LlmError:
        """The same error anew, perhaps in other words: raised from whatever it was found in, it would be its
        own cause, and whoever follows causes would never come to an end."""
        return LlmError(
            reason or self.reason,
            retryable=self.retryable,
            counts=self.counts,
            deferred=self.deferred,
            retry_after_s=self.retry_after_s,
            status=self.status,
        )


_OF_A_ROW = {
    "CREW_LLM_API_KEY": "the key",
    "CREW_LLM_BASE_URL": "the address",
    "CREW_LLM_MODEL": "the model's name",
}


def reworded(error: LlmError, *, connection: str) -> LlmError:
    """The same error for a connection that stands in a row, not in the environment."""
    reason = error.reason
    named = [variable for variable in _OF_A_ROW if variable in reason]
    if not named:
        return error
    last = max(named, key=reason.index)
    for variable in named:
        words = _OF_A_ROW[variable]
        whose = f" of the connection {connection}" if variable == last else ""
        reason = reason.replace(variable, f"{words}{whose}")
    return error.again(reason)


def html_answer() -> LlmError:
    return LlmError(
        "The model endpoint answered with a web page instead of a model's answer. Check CREW_LLM_BASE_URL: "
        "it usually ends in /v1.",
        retryable=False,
    )


def redirected() -> LlmError:
    return LlmError(
        "The model endpoint redirects to another address, and a key is not sent after it. Set "
        "CREW_LLM_BASE_URL to where the endpoint is.",
        retryable=False,
    )


def empty_answer() -> LlmError:
    return LlmError("The model answered with nothing.", retryable=True)


def unreadable_answer() -> LlmError:
    return LlmError(
        "The model endpoint sent something that is no model's answer. Check CREW_LLM_BASE_URL.",
        retryable=True,
        counts=True,
    )


def endless_answer(limit: int) -> LlmError:
    return LlmError(f"The answer grew beyond {limit:,} characters; it was stopped.", retryable=True)


def explain(error: BaseException) -> LlmError:
    """The readable form of any exception a model call raised, as an exception of its own; the first one of
    the chain that says something wins."""
    from pydantic_ai import exceptions as ai

    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, LlmError):
            return seen.again()
        seen = seen.__cause__
    if isinstance(error, ai.ModelAPIError):
        return _explain_endpoint(error)
    if isinstance(error, ai.UsageLimitExceeded):
        return LlmError("The model called tools again and again; it was stopped.", retryable=True)
    if isinstance(error, ai.ContentFilterError):
        return LlmError("The model's provider refused this content.", retryable=False)
    if isinstance(error, ai.OutputTokenLimitExceeded | ai.IncompleteToolCall):
        return LlmError("The model ran out of room before it answered.", retryable=True)
    if isinstance(error, TimeoutError):
        return LlmError("The model took too long; it was stopped.", retryable=True, counts=True)
    if isinstance(error, ai.UnexpectedModelBehavior):
        return _explain_behaviour(error)
    if isinstance(error, AttributeError | KeyError | TypeError | ValueError):
        return unreadable_answer()
    return LlmError(f"The model call failed: {type(error).__name__}.", retryable=True)


def _explain_endpoint(error: ModelAPIError) -> LlmError:
    from pydantic_ai import exceptions as ai

    match error:
        case ai.ModelContextWindowExceededError():
            return LlmError("The conversation is too long for the model. Start a new one.", retryable=False)
        case ai.ModelAuthenticationError():
            return LlmError(
                "The model endpoint refused the API key. Check CREW_LLM_API_KEY.", retryable=False
            )
        case ai.ModelNotFoundError():
            return LlmError(
                f"The model endpoint does not know the model {error.model_name}. Check CREW_LLM_MODEL and "
                "CREW_LLM_BASE_URL.",
                retryable=False,
            )
        case ai.ModelQuotaExceededError():
            return LlmError("The model account's quota or credit is used up.", retryable=False)
        case ai.ModelRateLimitError():
            wait = f" It asks to wait {error.retry_after:.0f} s." if error.retry_after else ""
            return LlmError(
                f"The model endpoint is busy (too many requests).{wait}",
                retryable=True,
                deferred=True,
                retry_after_s=error.retry_after,
            )
        case ai.ModelRequestTimeout():
            if error.setting == "first_event_timeout":
                return LlmError(
                    f"The model sent nothing for {error.timeout:.0f} s.", retryable=True, counts=True
                )
            return LlmError(f"The model took longer than {error.timeout:.0f} s.", retryable=True, counts=True)
        case ai.ModelConnectionError():
            return _explain_connection(error)
        case ai.ModelHTTPError():
            return _explain_status(error)
    if "finish_reason" in error.message:
        return LlmError("The model's answer broke off before its end.", retryable=True)
    if "decode" in error.message:
        return LlmError("The model endpoint sent something that is not JSON.", retryable=True, counts=True)
    return LlmError(f"The model endpoint reported an error: {error.message}", retryable=True, counts=True)


def _explain_connection(error: object) -> LlmError:
    phase = getattr(error, "phase", None)
    if phase in {"connect", "pool"}:
        return LlmError("The model endpoint cannot be reached. Is it running?", retryable=True, counts=True)
    return LlmError("The connection to the model broke off.", retryable=True, counts=True)


def _explain_status(error: ModelHTTPError) -> LlmError:
    if error.status_code >= SERVER_ERROR:
        return LlmError(
            f"The model endpoint failed with status {error.status_code}.", retryable=True, counts=True
        )
    return LlmError(
        f"The model endpoint refused the request with status {error.status_code}: {_detail(error.body)}",
        retryable=False,
        status=error.status_code,
    )


def _detail(body: object) -> str:
    """The endpoint's own message out of an error body, if it has one in the usual place."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        message = inner.get("message") if isinstance(inner, dict) else inner
        if isinstance(message, str):
            return message
    return "no reason given"


def _explain_behaviour(error: Exception) -> LlmError:
    message = str(error)
    if "without content" in message or "empty" in message.lower() or "output retries" in message:
        return empty_answer()
    if "tool" in message.lower():
        return LlmError("The model kept calling a tool wrongly; it was stopped.", retryable=True)
    return LlmError("The model answered in a way that could not be read.", retryable=True)
