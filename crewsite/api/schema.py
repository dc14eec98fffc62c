"""What the OpenAPI schema says of every operation beside its own parameters: how to authenticate, the headers
of keys and versions.
"""

from __future__ import annotations

import inspect
from typing import Any, Final

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter

from crewsite.accounts.server import EXPLICIT_HEADER
from crewsite.api.constants import IDEMPOTENCY_KEY_MAX_CHARS

WRITES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class CrewTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "crewsite.accounts.tokens.CrewTokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "description": "From `crew token create --name NAME`."}


class CrewSchema(AutoSchema):
    """`DEFAULT_SCHEMA_CLASS`: adds the headers that `CrewView` reads; what an operation does is its handler's
    to say.
    """

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular has it
        handler = getattr(self.view, self.method.lower(), None)
        return (inspect.getdoc(handler) or "") if handler else ""

    def get_override_parameters(self) -> list[Any]:
        parameters: list[Any] = list(super().get_override_parameters())
        if self.method == "POST" and getattr(self.view, "takes_key", True):
            parameters.append(_IDEMPOTENCY_KEY)
        if self.method in WRITES and ("/memory/" in self.path or "/lessons/" in self.path):
            parameters.append(_EXPLICIT)
        if self.method in getattr(self.view, "has_versions", ()):
            parameters += [_IF_NONE_MATCH] if self.method == "GET" else [_IF_MATCH]
        return parameters


def _header(name: str, text: str, **schema: Any) -> OpenApiParameter:
    return OpenApiParameter(
        name, {"type": "string", **schema}, OpenApiParameter.HEADER, description=text, required=False
    )


_IDEMPOTENCY_KEY = _header(
    "Idempotency-Key",
    "The same request again under this key changes nothing and gets the same answer, for a day.",
    minLength=1,
    maxLength=IDEMPOTENCY_KEY_MAX_CHARS,
    pattern=rf"^[!-~]{{1,{IDEMPOTENCY_KEY_MAX_CHARS}}}$",
)
_EXPLICIT = _header(
    EXPLICIT_HEADER,
    "A person asked for this very write: it counts as their word, as at a page, and not as a program's.",
    enum=["true", "false"],
)
_TAG = r'^(\*|"[0-9a-f]{32}")$'
_IF_MATCH = _header("If-Match", "The ETag of what is being changed; 412 when it has changed.", pattern=_TAG)
_IF_NONE_MATCH = _header("If-None-Match", "The ETag of what is known already; 304 when equal.", pattern=_TAG)
