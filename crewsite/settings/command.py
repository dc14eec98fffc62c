"""Settings of the commands people wait for: the same site without what only pages and the API need. Every app
of ours stays, so that a deletion reaches all rows that hang on it; people, to whom rows of others' apps hang,
are not deleted by these commands."""

from __future__ import annotations

from crewsite.settings import *  # noqa: F403
from crewsite.settings import INSTALLED_APPS as ALL_APPS

PAGES_ONLY = (
    "unfold",
    "django.contrib.admin",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "channels",
    "django_htmx",
    "axes",
    "csp",
)

INSTALLED_APPS = [name for name in ALL_APPS if not name.startswith(PAGES_ONLY)]
