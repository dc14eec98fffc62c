"""`manage.py setup_owner`: make sure that somebody owns the site, and hand them their first login link."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from crewsite.accounts.management.commands.login_link import login_url
from crewsite.accounts.services import owner_ensure


class Command(BaseCommand):
    help = "Makes the owner's account if needed; prints a login link until they have logged in once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--link", action="store_true", help="print a login link in any case")

    def handle(self, *args: Any, **options: Any) -> None:
        owner = owner_ensure()
        # Not only when this call made the account: a first link that expired unused is replaced.
        if options["link"] or owner.last_login is None:
            self.stdout.write(login_url(owner))
        else:
            self.stderr.write(f"The owner is {owner.get_username()}. For a login link: crew login-link")
