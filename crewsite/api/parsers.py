"""Bodies of requests: JSON, however a client sends it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO


class BoundedJSONParser(JSONParser):
    """JSON nested deeper than Python's parser follows is a bad body, not a failure of the site."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        try:
            parsed: dict[str, Any] = super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise ParseError("JSON parse error - nested too deeply") from None
        return parsed
