"""Schemathesis against a running site: requests made from the site's own schema, good and bad, each answer
held against it. `python -m tests.api.fuzzing --examples 100` runs it for longer than the suite does.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.site import Site, make_token, running_site

if TYPE_CHECKING:
    from collections.abc import Iterator

CALLERS: Final = ("owner", "member", "viewer", "stranger", "anonymous")
CHECKS: Final[list[CheckFunction]] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# Every kind of row, so that ids can be met; and no limits, which would answer before anything else does.
ROWS: Final = """
from constance import config
from crewsite.accounts.models import Membership, Role, User, Workspace
from crewsite.chat.services import turn_start
from crewsite.conversations.services import conversation_create
from crewsite.jobs.models import Job
from crewsite.security.origin import Origin, Source
from lessons.services import lesson_write
from memory.services import document_replace, episodic_write, history_append, semantic_write
from memory.models import PreferencesDocument
from django.utils import timezone
for name in ("API_READS_PER_MINUTE", "API_WRITES_PER_MINUTE", "API_ANONYMOUS_PER_MINUTE"):
    setattr(config, name, 10_000_000)
home = Workspace.objects.get(slug="default")
vera = User.objects.create_user(username="vera", password="unused")
Membership.objects.create(user=vera, workspace=home, role=Role.VIEWER)
alice, explicit = User.objects.get(username="alice"), Origin(source=Source.USER_EXPLICIT)
semantic_write(home=home, key="pref.editor", value="vim", origin=explicit, author=alice)
document_replace(model=PreferencesDocument, workspace=home, text="- tea", origin=explicit, author=alice)
history_append(workspace=home, title="Harbour", text="Closed.", at=timezone.now(), origin=explicit)
for number in range(5):
    episodic_write(home=home, text=f"Alice saw harbour number {number}.", origin=explicit, author=alice)
    lesson_write(home=home, rule=f"Name harbour {number} in full", origin=explicit, author=alice)
    Job.objects.create(kind="consolidate", task="a.b", workspace_id=home.pk)
conversation = conversation_create(owner=alice, workspace=home)
turn, _ = turn_start(conversation=conversation, user=alice, text="hello", client_key="k")
print(conversation.pk, turn.pk)
"""


class Fuzzed:
    """A site with rows, its schema, and a token for every kind of caller."""

    def __init__(self, site: Site) -> None:
        self.site = site
        conversation, turn = site.run(ROWS).split()
        names = {"owner": "alice", "member": "bob", "viewer": "vera", "stranger": "charlie"}
        self.tokens = {
            who: make_token(site, name, scopes=["read", "write", "admin"]) for who, name in names.items()
        }
        self.schema = schemathesis.openapi.from_url(f"{site.url}/api/v1/schema/?format=json")
        self.known = {
            "row_id": [1, 2, 3, 4, 5],
            "job_id": [1, 2, 3, 4, 5],
            "key": ["pref.editor"],
            "kind": ["semantic", "episodic", "lesson", "history", "preferences"],
            "conversation_id": [conversation],
            "turn_id": [turn],
        }

    def operations(self) -> Iterator[Any]:
        for found in self.schema.get_all_operations():
            yield found.ok()

    def fuzz(self, operation: Any, who: str, *, examples: int, repeatable: bool = True) -> list[str]:
        """What of the answers breaks the schema, each with a command that sends it again. `repeatable`: the
        same requests in every run.
        """
        token = self.tokens.get(who)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        dice, broken = random.Random(3 if repeatable else None), []

        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=repeatable,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def run(case: Any) -> None:
            if dice.random() < 0.7:
                self._meet(case, dice)
            response = case.call(headers=headers)
            try:
                case.validate_response(response, checks=CHECKS)
            except FailureGroup as failures:
                broken.extend(
                    f"{who} {operation.label}: {failure}\n{case.as_curl_command()}"
                    for failure in failures.exceptions
                )

        run()
        return broken

    def _meet(self, case: Any, dice: random.Random) -> None:
        """Ids of rows that exist: generated ones hardly ever do."""
        for name in case.path_parameters or {}:
            if name in self.known:
                case.path_parameters[name] = dice.choice(self.known[name])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=50)
    parser.add_argument("--only", default="", help="part of an operation's name")
    options = parser.parse_args()
    worst, calls = 0, 0
    with running_site(Path(tempfile.mkdtemp(prefix="crewsite-fuzz-"))) as site:
        fuzzed = Fuzzed(site)
        for operation in fuzzed.operations():
            if options.only not in operation.label:
                continue
            for who in CALLERS:
                found = fuzzed.fuzz(operation, who, examples=options.examples, repeatable=False)
                calls += options.examples
                worst += len(found)
                for text in found[:3]:
                    print(text, "\n", flush=True)
    print(f"{calls} requests, {worst} broken answers")
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())
