"""A site that commands reach over its REST API: requests, and what its refusals mean to a person. What is
asked for belongs to each command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.core.management.base import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

# A sleeping laptop or a wrong address is told soon; an answer may take its time.
CONNECT_S: Final = 5.0
READ_S: Final = 60.0
PAGE_ROWS: Final = 200  # the API's largest page
API: Final = "/api/v1"
# Sent with a token: a person asked for this very write, so it counts as that person's word.
EXPLICIT_HEADER: Final = "X-Crew-Explicit"
HOW_TO_ENTER: Final = (
    "Make one there with: crew token create --name NAME, and give it by --token or CREW_TOKEN."
)


@dataclass(frozen=True, slots=True)
class Server:
    """Where the site is, as whom, and which workspace; empty: the token's."""

    url: str
    token: str
    workspace: str = ""

    @property
    def headers(self) -> dict[str, str]:
        """Whoever types a command is a person, there as here."""
        entry = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return {**entry, EXPLICIT_HEADER: "true"}


class Refusal(Exception):
    """The site's answer is a problem: `code` for programs, the text for people."""

    def __init__(self, message: str, *, status: int, code: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


def api_call(server: Server, method: str, path: str, *, body: Any = None, **query: Any) -> Any:
    """The JSON of an answer. Raises Refusal, and CommandError for a site that cannot be used at all."""
    import httpx

    asked = {name: value for name, value in query.items() if value not in (None, "")}
    if server.workspace:
        asked["workspace"] = server.workspace
    try:
        answer = httpx.request(
            method,
            f"{server.url}{API}{path}",
            params=asked,
            json=body,
            headers=server.headers,
            timeout=httpx.Timeout(READ_S, connect=CONNECT_S),
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise unreachable(server, error) from error
    refuse_problem(server, answer)
    return answer.json() if answer.content else None


def pages(server: Server, path: str, *, limit: int, **query: Any) -> Iterator[dict[str, Any]]:
    """At most so many rows of a list, page by page."""
    cursor = ""
    while limit > 0:
        page = api_call(server, "GET", path, limit=min(limit, PAGE_ROWS), cursor=cursor, **query)
        yield from page["results"][:limit]
        limit -= len(page["results"])
        cursor = _cursor(page["next"])
        if not cursor:
            return


def unreachable(server: Server, error: Exception) -> CommandError:
    reason = str(error) or type(error).__name__
    return CommandError(
        f"{server.url} does not answer: {reason}. Is the site running, and the address right?"
    )


def refuse_problem(server: Server, answer: httpx.Response) -> None:
    """Raises Refusal for an answer that is a problem, CommandError for one that no site of ours gives."""
    if answer.is_success:
        if not answer.content or "json" in answer.headers.get("content-type", ""):
            return
        raise CommandError(f"{server.url} is no Crewsite: its answer is not JSON.")
    try:
        problem = answer.json()
        code, detail, errors = problem["code"], problem["detail"], problem["errors"]
    except (ValueError, KeyError, TypeError) as error:
        told = f"{server.url} answered {answer.status_code} {answer.reason_phrase}."
        raise CommandError(f"{told} Is it a Crewsite?") from error
    if answer.status_code == 401:  # noqa: PLR2004 - the status itself
        known = "The token is unknown, expired or revoked." if server.token else "The site wants a token."
        raise CommandError(f"{known} {HOW_TO_ENTER}")
    fields = "; ".join(f"{name}: {' '.join(texts)}" for name, texts in errors.items())
    raise Refusal(fields or detail, status=answer.status_code, code=code)


def _cursor(address: str | None) -> str:
    from urllib.parse import parse_qs, urlsplit

    return parse_qs(urlsplit(address or "").query).get("cursor", [""])[0]
