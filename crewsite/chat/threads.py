"""Where chat's blocking work runs: rows and packets on a few threads, tools on others, never on the event
loop."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from channels.db import database_sync_to_async

from crewsite.chat.constants import DATABASE_THREADS, TOOL_THREADS

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")

_database = ThreadPoolExecutor(DATABASE_THREADS, thread_name_prefix="chat-rows")
_tools = ThreadPoolExecutor(TOOL_THREADS, thread_name_prefix="chat-tools")


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
