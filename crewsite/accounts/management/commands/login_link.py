"""`crew login-link`: print a one-time login link on this terminal, for the owner or a named person."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from crewsite.accounts.constants import LOGIN_LINK_MINUTES
from crewsite.accounts.models import User
from crewsite.accounts.services import login_link_create, owner_ensure


def login_url(user: User) -> str:
    """By the routes of this app alone: those of the whole site take a command a second to load."""
    path = reverse("login_link", urlconf="crewsite.accounts.urls", args=[login_link_create(user)])
    return settings.CREW_PUBLIC_URL + path


class Command(BaseCommand):
    help = f"Prints a login link that works once, within {LOGIN_LINK_MINUTES} minutes."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", metavar="NAME", help="whose link (default: the owner)")
        parser.add_argument("--json", action="store_true", help="for programs")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["user"]
        user = User.objects.filter(username=name, is_active=True).first() if name else owner_ensure()
        if user is None:
            raise CommandError(f"There is no active person named {name!r}.")
        url = login_url(user)
        told = {"url": url, "user": user.get_username(), "minutes": LOGIN_LINK_MINUTES}
        self.stdout.write(json.dumps(told) if options["json"] else url)
