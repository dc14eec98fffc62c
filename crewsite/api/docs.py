"""The schema and its page, for anybody; both count whom they know, and else addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.authentication import SessionAuthentication

from crewsite.api import throttling

if TYPE_CHECKING:
    from rest_framework.request import Request


class _Counted:
    authentication_classes: Any = ()
    permission_classes: Any = ()
    metadata_class: Any = None

    def perform_authentication(self, request: Request) -> None:
        throttling.count(request)


class Schema(_Counted, SpectacularAPIView):
    """The OpenAPI schema, as YAML or JSON."""


class Docs(_Counted, SpectacularSwaggerSplitView):
    """Swagger UI, served from here, under the bar of whoever is signed in."""

    authentication_classes = (SessionAuthentication,)
