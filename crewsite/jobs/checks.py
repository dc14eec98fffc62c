"""System checks of the queue. They carry the tag that web and worker look at before they serve."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register


@register(Tags.security)
def retry_exceeds_timeout(**_: Any) -> list[CheckMessage]:
    """E006: a task still running would be handed out a second time."""
    queue: dict[str, Any] = settings.Q_CLUSTER
    retry, timeout = queue.get("retry"), queue.get("timeout")
    if retry and timeout and retry > timeout:
        return []
    return [
        Error(
            f"Q_CLUSTER has retry {retry} and timeout {timeout}: a task that still runs would be run twice.",
            hint="Set a timeout, and a retry that is longer.",
            id="crewsite.E006",
        )
    ]


@register(Tags.security)
def one_cluster(**_: Any) -> list[CheckMessage]:
    """E007: django-q2 lets a variable of its own rename the queue; then nobody runs the site's schedules."""
    from django_q.conf import Conf

    if settings.Q_CLUSTER["name"] == Conf.CLUSTER_NAME and not settings.Q_CLUSTER.get("ALT_CLUSTERS"):
        return []
    return [
        Error(
            f"The worker's queue is {Conf.CLUSTER_NAME!r}, the site's is {settings.Q_CLUSTER['name']!r}.",
            hint="Unset Q_CLUSTER_NAME: a site has one queue.",
            id="crewsite.E007",
        )
    ]
