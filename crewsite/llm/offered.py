"""Which models an endpoint offers: its own list, asked for and kept a few minutes, and whether a name stands
in it. Calls no model."""

from __future__ import annotations

import difflib
import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from crewsite.llm.constants import ANTHROPIC_VERSION, ENVIRONMENT
from crewsite.security.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crewsite.llm.targets import Target

KEPT_S: Final = 300.0
FAILURE_KEPT_S: Final = 30.0
# A name is refused by a list that is at most this old: a model may have been pulled a moment ago.
REFUSAL_AGE_S: Final = 3.0
FRESH_AGE_S: Final = 0.5  # however often Refresh is pressed, an endpoint is asked twice a second at most
CONNECT_S: Final = 3.0
ASK_S: Final = 8.0  # of a person who waits; a list is a few kilobytes
LIST_MAX_BYTES: Final = 8_000_000
MODELS_MAX: Final = 2_000  # the largest gateways list several hundred
NAME_MAX_CHARS: Final = 200
SUGGESTED: Final = 5
# What endpoints list beside models that chat. Such a name is left out of pickers, and may be typed.
OTHER_TRADES: Final = ("embed", "whisper", "tts", "dall-e", "moderation", "transcribe", "rerank", "sora")


@dataclass(frozen=True, slots=True)
class Offer:
    """What one endpoint answered. `problem` says why its list is not known; then `models` is empty."""

    models: tuple[str, ...]
    problem: str
    asked_at: float

    @property
    def is_known(self) -> bool:
        return not self.problem

    @property
    def for_chat(self) -> tuple[str, ...]:
        return tuple(name for name in self.models if not any(word in name.lower() for word in OTHER_TRADES))

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() - self.asked_at < (KEPT_S if self.is_known else FAILURE_KEPT_S)


_kept: dict[tuple[str, str, str], Offer] = {}


def offer_kept(target: Target) -> Offer | None:
    """What is known without asking, however old; for pages, which wait for nobody."""
    return _kept.get(_key(target))


def offers(asked: Iterable[Target], *, fresh: bool = False) -> dict[str, Offer]:
    """By connection, all asked at once; a list that was asked for lately is taken as it is, unless a fresh
    one is wanted. Blocks for seconds at most; files and agents have no list."""
    remote = [target for target in asked if target.is_remote]
    if not remote:
        return {}
    with ThreadPoolExecutor(max_workers=len(remote)) as pool:
        answers = pool.map(lambda target: offer_of(target, max_age_s=FRESH_AGE_S if fresh else None), remote)
        return {target.connection: offer for target, offer in zip(remote, answers, strict=True)}


def offer_of(target: Target, *, max_age_s: float | None = None) -> Offer:
    """The list of one endpoint, not older than that. Never raises."""
    kept = offer_kept(target)
    if kept is not None and kept.is_fresh:
        age_s = time.monotonic() - kept.asked_at
        if max_age_s is None or age_s < max_age_s:
            return kept
    models, problem = _ask(target)
    offer = _kept[_key(target)] = Offer(models, problem, time.monotonic())
    return offer


def name_check(target: Target) -> tuple[str, str]:
    """Whether the endpoint has the model a target names: a refusal, or else a warning that nobody can tell.
    Both are empty where all is well."""
    offer = offer_of(target)
    if offer.is_known and not is_offered(target.model, offer.models):
        offer = offer_of(target, max_age_s=REFUSAL_AGE_S)
    if not offer.is_known:
        return "", f"Whether {_who(target)} has it is not known: {offer.problem}"
    if is_offered(target.model, offer.models):
        return "", ""
    said = f"{_who(target)} offers no model “{target.model[:100]}”. {_instead(target.model, offer)}"
    return said[0].upper() + said[1:], ""


def _who(target: Target) -> str:
    return (
        "the site's endpoint" if target.connection == ENVIRONMENT else f"the endpoint of {target.connection}"
    )


def is_offered(name: str, models: Sequence[str]) -> bool:
    """As listed; without the tag that Ollama adds; or by the alias of a dated name, as at Anthropic."""
    if name in models or f"{name}:latest" in models:
        return True
    stem = f"{name.removesuffix('-latest')}-"
    return any(one.startswith(stem) and one.removeprefix(stem).isdigit() for one in models)


def _instead(name: str, offer: Offer) -> str:
    near = difflib.get_close_matches(name, offer.models, n=SUGGESTED, cutoff=0.5)
    listed = near or list((offer.for_chat or offer.models)[:SUGGESTED])
    more = len(offer.models) - len(listed)
    tail = f", and {more} more" if more and not near else ""
    return f"{'Did you mean' if near else 'It has'} {', '.join(listed)}{tail}{'?' if near else '.'}"


def _key(target: Target) -> tuple[str, str, str]:
    """With the API key, because it decides what is listed."""
    return target.provider, target.base_url, target.api_key


def _ask(target: Target) -> tuple[tuple[str, ...], str]:
    import httpx2

    try:
        with httpx2.Client(
            timeout=httpx2.Timeout(ASK_S, connect=CONNECT_S), follow_redirects=False
        ) as client:
            names = _names(_read(client, *_request(target)))
    except httpx2.ConnectError:
        return (), "it cannot be reached."
    except httpx2.TimeoutException:
        return (), "it did not answer in time."
    except _NoListError as error:
        return (), str(error)
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError):  # such as a key that is no header
        return (), "asking it for its models failed."
    return (names, "") if names else ((), "it lists no models.")


class _NoListError(Exception):
    pass


def _request(target: Target) -> tuple[str, dict[str, str]]:
    if target.provider == "anthropic":
        headers = {"x-api-key": target.api_key, "anthropic-version": ANTHROPIC_VERSION}
        return f"{target.base_url.removesuffix('/v1')}/v1/models?limit=1000", headers
    return f"{target.base_url}/models", (
        {"Authorization": f"Bearer {target.api_key}"} if target.api_key else {}
    )


def _read(client: Any, url: str, headers: dict[str, str]) -> Any:
    started = time.monotonic()
    body = bytearray()
    with client.stream("GET", url, headers=headers) as answer:
        if not answer.is_success:
            raise _NoListError(f"asked for its models, it answered with status {answer.status_code}.")
        for piece in answer.iter_bytes():
            body += piece
            if len(body) > LIST_MAX_BYTES or time.monotonic() - started > ASK_S:
                raise _NoListError("its list of models is too long or too slow to read.")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise _NoListError("what it sent is no list of models.") from None


def _names(listed: Any) -> tuple[str, ...]:
    """OpenAI's and Anthropic's lists have the same shape."""
    rows = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(rows, list):
        raise _NoListError("what it sent is no list of models.")
    ids = [row.get("id") for row in rows[:MODELS_MAX] if isinstance(row, dict)]
    names = [clean(one) for one in ids if isinstance(one, str) and 0 < len(one) <= NAME_MAX_CHARS]
    return tuple(dict.fromkeys(names))
