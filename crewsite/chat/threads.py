"""Where chat's blocking work runs: rows and packets on a few threads, tools on others, never on the event
loop."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from channels.db import database_sync_to_async
from django.db import connection

from crewsite.chat.constants import CONNECTION_AGE_S, DATABASE_THREADS, TOOL_THREADS

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


def keep_connection() -> None:
    """Opening the file and preparing its statements anew would cost a busy thread as much as its queries. A
    server would be left with a session for each idle thread."""
    if connection.vendor == "sqlite":
        connection.settings_dict = {**connection.settings_dict, "CONN_MAX_AGE": CONNECTION_AGE_S}


_database = ThreadPoolExecutor(DATABASE_THREADS, "chat-rows", initializer=keep_connection)
_tools = ThreadPoolExecutor(TOOL_THREADS, "chat-tools", initializer=keep_connection)


async def in_database(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a service or selector on a database thread."""
    call: Any = database_sync_to_async(function, thread_sensitive=False, executor=_database)
    result: T = await call(*args, **kwargs)
    return result


async def in_tool_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run something that may take its time, such as a tool."""
    call: Any = database_sync_to_async(function, thread_sensitive=False, executor=_tools)
    result: T = await call(*args, **kwargs)
    return result
