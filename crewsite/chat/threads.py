"""Where chat's blocking work runs: rows, packets and tools, each on threads of their own, never on the event
loop."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from channels.db import database_sync_to_async
from django.db import connection

from crewsite.chat.constants import CONNECTION_AGE_S, DATABASE_THREADS, PACKET_THREADS, TOOL_THREADS
from crewsite.chat.giving_way import loop_watch

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
_packets = ThreadPoolExecutor(PACKET_THREADS[connection.vendor], "chat-packets", initializer=keep_connection)
_tools = ThreadPoolExecutor(TOOL_THREADS, "chat-tools", initializer=keep_connection)


async def in_database(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a service or selector on a database thread."""
    return await _giving_way(_database, partial(function, *args, **kwargs))


async def in_packet_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run what takes a turn's worth of statements, so that it keeps no socket waiting that asks for one."""
    return await _giving_way(_packets, partial(function, *args, **kwargs))


async def _giving_way(threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    watch = loop_watch()

    def give_way() -> T:
        with connection.execute_wrapper(watch.give_way):
            return work()

    call: Any = database_sync_to_async(give_way, thread_sensitive=False, executor=threads)
    with watch.working():
        result: T = await call()
    return result


async def in_tool_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run something that may take its time, such as a tool."""
    call: Any = database_sync_to_async(function, thread_sensitive=False, executor=_tools)
    result: T = await call(*args, **kwargs)
    return result
