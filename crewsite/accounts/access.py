"""The right that each operation of the API takes (chapter 13, 13.9), and the role behind a right. The door
decides by them before a handler runs; AUTHOR and PRIVATE are about a row, so whoever finds it decides.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from crewsite.accounts.models import Role


class Right(StrEnum):
    """What an operation takes."""

    PUBLIC = "public"  # nothing
    PERSON = "person"  # somebody signed in, who gets what is theirs
    PRIVATE = "private"  # the person the row belongs to
    READ = "read"  # a viewer of the workspace
    WRITE = "write"  # a member of it
    AUTHOR = "author"  # a member for rows of their own, an owner for all
    OWN = "own"  # an owner
    OPERATE = "operate"  # an operator of the site


# The role in the workspace that a right takes.
ROLES: Final[dict[Right, Role]] = {
    Right.READ: Role.VIEWER,
    Right.WRITE: Role.MEMBER,
    Right.AUTHOR: Role.MEMBER,
    Right.OWN: Role.OWNER,
}

# An operation that is not listed is refused to everybody.
OPERATIONS: Final[dict[str, Right]] = {
    "GET /health/live": Right.PUBLIC,
    "GET /health/ready": Right.PUBLIC,
    "GET /schema/": Right.PUBLIC,
    "GET /docs/": Right.PUBLIC,
    "GET /embeddings/status": Right.READ,
    "POST /embeddings/install": Right.OPERATE,
    "POST /embeddings/model": Right.OPERATE,
    "GET /memory/semantic/": Right.READ,
    "PUT /memory/semantic/": Right.WRITE,
    "GET /memory/semantic/{key}": Right.READ,
    "DELETE /memory/semantic/{key}": Right.AUTHOR,
    "GET /memory/episodic/": Right.READ,
    "POST /memory/episodic/": Right.WRITE,
    "GET /memory/episodic/search": Right.READ,
    "GET /memory/episodic/{row_id}": Right.READ,
    "DELETE /memory/episodic/{row_id}": Right.AUTHOR,
    "GET /memory/preferences": Right.READ,
    "PUT /memory/preferences": Right.WRITE,
    "GET /memory/projects": Right.READ,
    "PUT /memory/projects": Right.WRITE,
    "GET /memory/history": Right.READ,
    "GET /memory/search": Right.READ,
    "GET /memory/as-of": Right.READ,
    "GET /memory/events": Right.READ,
    "GET /memory/events/export": Right.OWN,
    "GET /memory/stats": Right.READ,
    "GET /memory/context-preview": Right.READ,
    "GET /memory/settings": Right.OPERATE,
    "PUT /memory/settings": Right.OPERATE,
    "GET /memory/{kind}/{row_id}/explain": Right.READ,
    "POST /memory/{kind}/{row_id}/restore": Right.WRITE,
    "GET /lessons/": Right.READ,
    "POST /lessons/": Right.WRITE,
    "POST /lessons/remove": Right.AUTHOR,
    "GET /lessons/{row_id}": Right.READ,
    "PATCH /lessons/{row_id}": Right.WRITE,
    "DELETE /lessons/{row_id}": Right.AUTHOR,
    "GET /conversations/": Right.PERSON,
    "POST /conversations/": Right.WRITE,
    "GET /conversations/{conversation_id}": Right.PRIVATE,
    "PATCH /conversations/{conversation_id}": Right.PRIVATE,
    "DELETE /conversations/{conversation_id}": Right.PRIVATE,
    "GET /conversations/{conversation_id}/messages/": Right.PRIVATE,
    "POST /conversations/{conversation_id}/commands": Right.PRIVATE,
    "POST /conversations/{conversation_id}/turns": Right.PRIVATE,
    "GET /conversations/{conversation_id}/turns/{turn_id}": Right.PRIVATE,
    "POST /conversations/{conversation_id}/turns/{turn_id}/answers": Right.PRIVATE,
    "POST /conversations/{conversation_id}/turns/{turn_id}/stop": Right.PRIVATE,
    "POST /conversations/{conversation_id}/turns/{turn_id}/retry": Right.PRIVATE,
    "GET /jobs/": Right.PERSON,
    "GET /jobs/{job_id}/": Right.READ,
    "POST /jobs/{job_id}/cancel": Right.OWN,
    "POST /jobs/{job_id}/retry": Right.OWN,
    "GET /security/tokens/": Right.PERSON,
    "POST /security/tokens/": Right.PERSON,
    "DELETE /security/tokens/{token_key}": Right.PRIVATE,
}
