"""The jobs socket over a real server: what is told, to whom, and that a slow reader costs nobody anything."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
import websockets

from crewsite.dashboard.job_socket import UNACKED_MAX, ack_of
from tests.chat.client import close_code
from tests.site import Seat, Site, make_seats, make_token, running_site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from websockets.asyncio.client import ClientConnection

pytestmark = pytest.mark.sqlite_only
WAIT_S = 20

MAKE = (
    "from crewsite.jobs.models import Job\n"
    "from crewsite.accounts.models import Workspace\n"
    "home = Workspace.objects.get(slug='default').pk\n"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("jobs")) as running:
        yield running


@pytest.fixture(scope="module")
def seat(site: Site) -> Seat:
    return make_seats(site, 1)[0]


@pytest.fixture(scope="module")
def operator(site: Site) -> str:
    site.run("from crewsite.accounts.models import User; User.objects.create_superuser('root')")
    return make_token(site, "root")


def url(site: Site) -> str:
    return f"ws://127.0.0.1:{site.port}/ws/jobs/"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def frame(socket: ClientConnection, *kinds: str) -> dict[str, Any]:
    """The next frame of these kinds, acknowledged."""
    async with asyncio.timeout(WAIT_S):
        while True:
            got: dict[str, Any] = json.loads(await socket.recv())
            if "seq" in got:
                await socket.send(json.dumps({"v": 1, "type": "ack", "seq": got["seq"]}))
            if got["type"] in kinds:
                return got


async def numbered(socket: ClientConnection) -> dict[str, Any]:
    """The next numbered frame, not acknowledged."""
    while True:
        got: dict[str, Any] = json.loads(await socket.recv())
        if "seq" in got:
            return got


async def change(site: Site, code: str) -> str:
    return await asyncio.to_thread(site.run, MAKE + code)


async def test_changes_made_by_another_process_are_told_with_what_the_page_shows(
    site: Site, seat: Seat
) -> None:
    async with websockets.connect(url(site), additional_headers=bearer(seat.token)) as socket:
        hello = await frame(socket, "hello")
        assert (hello["v"], hello["seq"]) == (1, 1)
        job = int(
            await change(
                site, "print(Job.objects.create(kind='c', state='running', total=4, workspace_id=home).pk)"
            )
        )
        made = await frame(socket, "jobs")
        assert made["order"][0] == job
        await change(site, f"Job.objects.filter(pk={job}).update(done=3)")
        moved = await frame(socket, "jobs")
        assert [(row["id"], row["done"]) for row in moved["jobs"]] == [(job, 3)]
        assert "3 of 4" in moved["jobs"][0]["html"]
        await change(site, f"Job.objects.filter(pk={job}).delete()")
        gone = await frame(socket, "jobs")
        assert (gone["jobs"], job in gone["order"]) == ([], False)


async def test_an_operator_hears_of_all_jobs_and_a_member_of_theirs(
    site: Site, seat: Seat, operator: str
) -> None:
    async with (
        websockets.connect(url(site), additional_headers=bearer(seat.token)) as member,
        websockets.connect(url(site), additional_headers=bearer(operator)) as root,
    ):
        await frame(member, "hello")
        await frame(root, "hello")
        await change(
            site,
            "other = Workspace.objects.create(name='Other', slug='other', is_isolated=True).pk\n"
            "Job.objects.create(kind='of_the_site')\n"
            "Job.objects.create(kind='of_another', workspace_id=other)\n"
            "Job.objects.create(kind='of_ours', workspace_id=home)",
        )
        seen: set[str] = set()
        while len(seen) < 3:
            seen |= {row["kind"] for row in (await frame(root, "jobs"))["jobs"]}
        assert seen == {"of_the_site", "of_another", "of_ours"}
        told = await frame(member, "jobs")
        assert [row["kind"] for row in told["jobs"]] == ["of_ours"]


async def test_who_is_not_let_in(site: Site, seat: Seat) -> None:
    assert await close_code(url(site)) == 4401
    assert await close_code(url(site), additional_headers=bearer("crew_nonsense")) == 4401
    session = {"Cookie": f"sessionid={seat.session}"}
    assert await close_code(url(site), additional_headers=session, origin="https://evil.example") == 4401
    stranger = make_token(site, "charlie")
    assert await close_code(url(site), additional_headers=bearer(stranger)) == 4404
    writer = make_token(site, "alice", scopes=["write"])
    assert await close_code(url(site), additional_headers=bearer(writer)) == 4404
    async with websockets.connect(url(site), additional_headers=session, origin=site.url) as socket:
        await frame(socket, "hello")


async def test_a_member_who_is_removed_is_shut_out_before_the_next_change(site: Site) -> None:
    leaver = make_seats(site, 1, start=500)[0]
    async with websockets.connect(url(site), additional_headers=bearer(leaver.token)) as socket:
        await frame(socket, "hello")
        await change(
            site,
            "from crewsite.accounts.models import Membership\n"
            f"Membership.objects.filter(user__username={leaver.user!r}).delete()",
        )
        with pytest.raises(websockets.ConnectionClosed) as closed:
            await frame(socket, "never")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4404


async def test_a_client_that_does_not_answer_gets_no_more_until_it_does_and_then_the_newest(
    site: Site, seat: Seat
) -> None:
    async with websockets.connect(url(site), additional_headers=bearer(seat.token)) as slow:
        job = int(await change(site, "print(Job.objects.create(kind='s', total=99, workspace_id=home).pk)"))
        beating = (
            "import threading\n"
            "for done in range(1, 41):\n"
            f"    Job.objects.filter(pk={job}).update(done=done)\n"
            "    threading.Event().wait(0.2)"
        )
        await change(site, beating)
        frames = [await numbered(slow) for _ in range(UNACKED_MAX)]
        assert [got["seq"] for got in frames] == list(range(1, UNACKED_MAX + 1))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.5):
                await numbered(slow)
        await slow.send(json.dumps({"v": 1, "type": "ack", "seq": UNACKED_MAX}))
        newest = await frame(slow, "jobs")
        assert [row["done"] for row in newest["jobs"] if row["id"] == job] == [40]


async def test_other_frames_are_refused_by_name(site: Site, seat: Seat) -> None:
    async with websockets.connect(url(site), additional_headers=bearer(seat.token)) as socket:
        await frame(socket, "hello")
        await socket.send('{"v": 1, "type": "cancel", "job": 1}')
        assert (await frame(socket, "error"))["code"] == "bad_frame"
        await socket.send("x" * 5_000)
        with pytest.raises(websockets.ConnectionClosed):
            await frame(socket, "never")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "[" * 900,
        '{"v":2,"type":"ack","seq":1}',
        '{"v":1,"type":"ack","seq":true}',
        '{"v":1,"type":"ack"}',
        '{"v":1,"type":"ack","seq":-1}',
        '{"v":1,"type":"ack","seq":1.5}',
    ],
)
def test_a_frame_that_is_no_acknowledgement_is_seen_as_such(text: str) -> None:
    assert ack_of(text) is None


def test_an_acknowledgement_is_read() -> None:
    assert ack_of('{"v": 1, "type": "ack", "seq": 7}') == 7
