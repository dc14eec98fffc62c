"""Who may open a conversation, and what a socket refuses (05.7 item 7, and the limits of 5.2)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from uuid import uuid4

import openai
import pytest
import websockets

from crewsite.chat.constants import TURNS_PER_MINUTE
from tests.chat.client import ChatClient, close_code
from tests.site import Seat, Site, make_seats

if TYPE_CHECKING:
    from tests.llm_server import LlmServer

pytestmark = pytest.mark.sqlite_only


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def cookie(session: str) -> dict[str, str]:
    return {"Cookie": f"sessionid={session}"}


async def test_another_members_conversation_is_not_found(site: Site, seat: Seat, seats: list[Seat]) -> None:
    other = next(seats)  # type: ignore[call-overload]
    assert (
        await close_code(site.socket_url(seat.conversation), additional_headers=bearer(other.token)) == 4404
    )


async def test_a_conversation_that_does_not_exist_looks_the_same(site: Site, seat: Seat) -> None:
    assert await close_code(site.socket_url(str(uuid4())), additional_headers=bearer(seat.token)) == 4404


async def test_nobody_in_particular_is_not_let_in(site: Site, seat: Seat) -> None:
    url = site.socket_url(seat.conversation)
    assert await close_code(url) == 4401
    assert await close_code(url, additional_headers=bearer("crew_nonsense")) == 4401
    assert await close_code(url, origin=site.url, additional_headers=cookie("nonsense")) == 4401


async def test_a_session_needs_an_origin_of_ours(site: Site, seat: Seat) -> None:
    url = site.socket_url(seat.conversation)
    headers = cookie(seat.session)
    assert await close_code(url, additional_headers=headers) == 4401
    assert await close_code(url, additional_headers=headers, origin="https://evil.example") == 4401
    assert await close_code(url, additional_headers=headers, origin="http://127.0.0.1:1") == 4401
    async with websockets.connect(url, additional_headers=headers, origin=site.url) as socket:
        assert json.loads(await socket.recv())["type"] == "hello"


async def test_a_token_may_come_as_a_subprotocol(site: Site, seat: Seat) -> None:
    offered = ["crew.v1", f"token.{seat.token}"]
    async with websockets.connect(site.socket_url(seat.conversation), subprotocols=offered) as socket:
        assert socket.subprotocol == "crew.v1"
        assert json.loads(await socket.recv())["type"] == "hello"


async def test_a_member_who_is_removed_is_shut_out_at_the_next_message(site: Site) -> None:
    leaver = make_seats(site, 1, start=1000)[0]
    async with ChatClient(site, leaver) as chat:
        site.run(
            "from crewsite.accounts.models import Membership\n"
            f"Membership.objects.filter(user__username={leaver.user!r}).delete()"
        )
        await chat.say("send", client_key="k", text="still here?")
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await chat.receive("message")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4404
    said = site.query(
        "SELECT count(*) FROM conversations_message WHERE conversation_id = ?",
        leaver.conversation.replace("-", ""),
    )
    assert said == [(0,)]


async def test_a_viewer_may_listen_and_not_speak(site: Site) -> None:
    viewer = make_seats(site, 1, start=1001)[0]
    site.run(
        "from crewsite.accounts.models import Membership, Role\n"
        f"Membership.objects.filter(user__username={viewer.user!r}).update(role=Role.VIEWER)"
    )
    async with ChatClient(site, viewer) as chat:
        assert (await chat.send("hello"))["code"] == "forbidden"
        await chat.say("command", text="/learn never do this")
        assert (await chat.receive("error"))["code"] == "forbidden"


async def test_a_message_over_100_000_characters_is_refused_and_the_socket_stays(
    site: Site, seat: Seat, llm: LlmServer
) -> None:
    async with ChatClient(site, seat) as chat:
        refused = await chat.send("x" * 100_001, client_key="long")
        assert (refused["code"], refused["client_key"]) == ("too_long", "long")
        assert (await chat.ask("[script:stream n=1]"))["type"] == "turn.done"


async def test_a_frame_over_a_megabyte_closes_the_socket(site: Site, seat: Seat) -> None:
    async with ChatClient(site, seat) as chat:
        await chat.socket.send("x" * 1_000_001)
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await chat.receive("error")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4413


async def test_nonsense_is_answered_by_name(site: Site, seat: Seat) -> None:
    async with ChatClient(site, seat) as chat:
        for sent, code in (("not json", "bad_json"), ("[]", "bad_frame"), ('{"type":"x"}', "unknown_type")):
            await chat.socket.send(sent)
            assert (await chat.receive("error"))["code"] == code


async def test_a_turn_of_another_conversation_cannot_be_stopped_or_retried(
    site: Site, seat: Seat, seats: list[Seat], llm: LlmServer
) -> None:
    other = next(seats)  # type: ignore[call-overload]
    async with ChatClient(site, other) as chat:
        turn = (await chat.ask("[script:stream n=1]"))["turn"]
    async with ChatClient(site, seat) as chat:
        for kind in ("stop", "retry"):
            await chat.say(kind, turn=turn)
            assert (await chat.receive("error"))["code"] == "not_found"


async def test_the_61st_message_of_a_minute_is_refused(site: Site, seat: Seat) -> None:
    async with ChatClient(site, seat) as chat:
        for _ in range(61):
            await chat.say("pong")
        assert (await chat.receive("error"))["code"] == "rate_limited"


async def test_answers_asked_for_again_count_and_so_do_those_of_every_door(site: Site, seat: Seat) -> None:
    async with ChatClient(site, seat) as chat:
        turn = (await chat.ask("hello"))["turn"]
        for _ in range(TURNS_PER_MINUTE - 1):
            await chat.say("retry", turn=turn)
            assert (await chat.receive("error"))["code"] == "not_retryable"
        await chat.say("retry", turn=turn)
        assert (await chat.receive("error"))["code"] == "rate_limited"
        await chat.say("send", client_key="k", text="hello again")
        assert (await chat.receive("error"))["client_key"] == "k"
    client = openai.AsyncOpenAI(base_url=f"{site.url}/v1", api_key=seat.token, max_retries=0)
    with pytest.raises(openai.RateLimitError):
        await client.chat.completions.create(model="default", messages=[{"role": "user", "content": "hi"}])


async def test_an_address_that_is_no_socket_of_ours_closes_and_leaves_no_trace(site: Site) -> None:
    assert await close_code(f"{site.url.replace('http', 'ws')}/ws/chat/not-a-uuid/") == 4404
    assert "No route found" not in site.log


@pytest.mark.parametrize(
    "end",
    [
        "User.objects.filter(username={user!r}).update(is_active=False)",
        "ApiToken.objects.filter(user__username={user!r}).delete()",
    ],
)
async def test_somebody_whose_access_ended_is_not_heard_again(site: Site, end: str) -> None:
    [seat] = make_seats(site, 1, start=900 + len(end))
    async with ChatClient(site, seat) as chat:
        site.run(f"from crewsite.accounts.models import ApiToken, User\n{end.format(user=seat.user)}")
        await chat.say("command", text="/learn Never heard of it")
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await chat.receive()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4401


async def test_a_conversation_deleted_while_it_answers_ends_quietly(site: Site, llm: LlmServer) -> None:
    [seat] = make_seats(site, 1, start=990)
    async with ChatClient(site, seat) as chat:
        await chat.send("[script:stream n=40 delay=0.05]")
        await chat.receive("delta")
        site.run(
            "from crewsite.conversations.models import Conversation\n"
            f"Conversation.objects.filter(pk={seat.conversation!r}).delete()"
        )
        await chat.say("pong")
        with pytest.raises(websockets.ConnectionClosed):
            while True:
                await chat.receive()
    [other] = make_seats(site, 1, start=991)
    async with ChatClient(site, other) as chat:
        await chat.ask("[script:stream n=2]")
    assert "Turn matching query does not exist" not in site.log
