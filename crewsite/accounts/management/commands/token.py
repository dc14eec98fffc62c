"""`crew token`: create, list and revoke API tokens. Whoever runs it on this machine acts as the operator."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from crewsite.accounts.constants import SCOPES, TOKEN_DAYS_DEFAULT, TOKEN_DAYS_MAX
from crewsite.accounts.errors import AccountsError
from crewsite.accounts.models import ApiToken, User, Workspace
from crewsite.accounts.services import owner_ensure, token_create, token_revoke


class Command(BaseCommand):
    help = "Creates, lists and revokes API tokens."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="create|list|revoke")
        create = verbs.add_parser("create", help="make a token and print it, once")
        create.add_argument("--name", required=True, help="what the token is for")
        create.add_argument("--user", metavar="NAME", help="whom it stands for (default: the owner)")
        create.add_argument("--workspace", metavar="SLUG", help="the one workspace it reaches")
        create.add_argument("--scope", action="append", choices=SCOPES, help="default: read and write")
        create.add_argument(
            "--days", type=_days, default=TOKEN_DAYS_DEFAULT, help=f"life time, at most {TOKEN_DAYS_MAX}"
        )
        listing = verbs.add_parser("list", help="show tokens, not their text")
        revoke = verbs.add_parser("revoke", help="end a token")
        revoke.add_argument("name")
        revoke.add_argument("--user", metavar="NAME", help="whose token, where two share its name")
        for verb in (create, listing, revoke):
            verb.add_argument("--json", action="store_true", help="machine-readable output")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, options["verb"])(options)
        except AccountsError as error:
            raise CommandError(str(error)) from error

    def create(self, options: dict[str, Any]) -> None:
        token, plaintext = token_create(
            user=_user(options["user"]) if options["user"] else owner_ensure(),
            name=options["name"],
            workspace=_workspace(options["workspace"]) if options["workspace"] else None,
            scopes=options["scope"] or ("read", "write"),
            days=options["days"],
        )
        if options["json"]:
            self.stdout.write(json.dumps({"token": plaintext, **_described(token)}))
            return
        self.stdout.write(plaintext)
        self.stderr.write(f"Valid until {token.expiry:%Y-%m-%d}. It is not shown again.")

    def list(self, options: dict[str, Any]) -> None:
        rows = [
            _described(token)
            for token in ApiToken.objects.select_related("user", "workspace").order_by("created")
        ]
        if options["json"]:
            self.stdout.write(json.dumps(rows))
            return
        for row in rows:
            used = row["last_used_at"] or "never used"
            where = row["workspace"] or "all workspaces"
            self.stdout.write(
                f"{row['key']}...  {row['name']}  {row['user']}  {where}  {' '.join(row['scopes'])}  "
                f"until {row['expires_at']}  {used}"
            )
        if not rows:
            self.stderr.write("No tokens. Make one with: crew token create --name NAME")

    def revoke(self, options: dict[str, Any]) -> None:
        found = ApiToken.objects.select_related("user").filter(name=options["name"])
        if options["user"]:
            found = found.filter(user__username=options["user"])
        tokens = list(found)
        if not tokens:
            raise CommandError(f"There is no token named {options['name']!r}.")
        if len(tokens) > 1:
            owners = ", ".join(token.user.get_username() for token in tokens)
            raise CommandError(
                f"Several people have a token named {options['name']!r}: {owners}. Say --user NAME.",
                returncode=2,
            )
        token_revoke(tokens[0])
        if options["json"]:
            self.stdout.write(json.dumps({"revoked": options["name"]}))
        else:
            self.stderr.write(f"Revoked {options['name']}.")


def _days(text: str) -> int:
    days = int(text)
    if not 1 <= days <= TOKEN_DAYS_MAX:
        raise ArgumentTypeError(f"a token lives 1 to {TOKEN_DAYS_MAX} days")
    return days


def _user(name: str) -> User:
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise CommandError(f"There is no active person named {name!r}.")
    return user


def _workspace(slug: str) -> Workspace:
    workspace = Workspace.objects.filter(slug=slug).first()
    if workspace is None:
        raise CommandError(f"There is no workspace {slug!r}.")
    return workspace


def _described(token: ApiToken) -> dict[str, Any]:
    """All but the text, which only its holder has."""
    return {
        "key": token.token_key,
        "name": token.name,
        "user": token.user.get_username(),
        "workspace": token.workspace.slug if token.workspace else None,
        "scopes": token.scopes,
        "created_at": token.created.isoformat(timespec="seconds"),
        "expires_at": token.expiry.isoformat(timespec="seconds") if token.expiry else None,
        "last_used_at": token.last_used_at.isoformat(timespec="seconds") if token.last_used_at else None,
    }
