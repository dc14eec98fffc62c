"""Settings of the commands people wait for: the same site without what only pages and the API need. Every app
with tables stays, so that a deletion reaches all rows that hang on it."""

from __future__ import annotations

from crewsite.settings import *  # noqa: F403
from crewsite.settings import INSTALLED_APPS as ALL_APPS

PAGES_ONLY = (
    "unfold",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "channels",
    "django_htmx",
    "csp",
)
# Without the look for admin modules, which brings half the site in.
_INSTEAD = {"django.contrib.admin": "django.contrib.admin.apps.SimpleAdminConfig"}

INSTALLED_APPS = [_INSTEAD.get(name, name) for name in ALL_APPS if not name.startswith(PAGES_ONLY)]
