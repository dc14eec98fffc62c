"""Chat over HTTP against a real server and a scripted model: whole, as a stream, once for a key."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.llm_server import LlmServer
from tests.site import Seat, Site, make_seats, running_site

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.sqlite_only


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with (
        LlmServer() as server,
        running_site(tmp_path_factory.mktemp("turns"), **server.environment()) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def seats(site: Site) -> Iterator[Seat]:
    return iter(make_seats(site, 13))


@pytest.fixture
def seat(seats: Iterator[Seat]) -> Seat:
    return next(seats)


def client(site: Site, seat: Seat) -> httpx.Client:
    headers = {"Authorization": f"Bearer {seat.token}"}
    base = f"{site.url}/api/v1/conversations/{seat.conversation}"
    return httpx.Client(base_url=base, headers=headers, timeout=60)


def events(response: httpx.Response) -> list[tuple[str, dict[str, Any]]]:
    told = []
    for block in "".join(response.iter_text()).strip().split("\n\n"):
        name, data = block.split("\n")
        told.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return told


def test_an_answer_comes_whole(site: Site, seat: Seat) -> None:
    with client(site, seat) as http:
        answer = http.post("/turns", json={"text": "Good morning"})
        assert answer.status_code == 200, answer.text
        turn = answer.json()
        assert (turn["state"], turn["message"]["content"]) == ("done", "Good morning")
        assert turn["answer"]["content"] == "You said: Good morning"
        assert http.get(f"/turns/{turn['id']}").json() == turn
        listed = http.get("/messages/").json()["results"]
        assert [row["role"] for row in listed] == ["user", "assistant"]


def test_an_answer_streams_in_order_and_ends(site: Site, seat: Seat) -> None:
    with (
        client(site, seat) as http,
        http.stream(
            "POST",
            "/turns",
            json={"text": "[script:stream n=30 delay=0.01]"},
            headers={"Accept": "text/event-stream"},
        ) as response,
    ):
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        told = events(response)
    names = [name for name, _ in told]
    assert names[0] == "turn"
    assert names[-1] == "turn.done"
    assert names.count("delta") > 1
    text = ""
    for name, data in told:
        if name == "delta":
            assert data["offset"] == len(text)
            text += data["text"]
    assert text.split() == [f"word{number}" for number in range(30)]
    assert told[-1][1]["message"]["content"].split() == text.split()


def test_a_key_sends_a_message_once(site: Site, seat: Seat) -> None:
    with client(site, seat) as http:
        key = {"Idempotency-Key": "k1"}
        one = http.post("/turns", json={"text": "Good morning"}, headers=key)
        two = http.post("/turns", json={"text": "Good morning"}, headers=key)
        assert one.json() == two.json()
        other = http.post("/turns", json={"text": "Good night"}, headers=key)
        assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")
        assert len(http.get("/messages/").json()["results"]) == 2
        stream = http.post(
            "/turns", json={"text": "Good morning"}, headers={**key, "Accept": "text/event-stream"}
        )
        assert [name for name, _ in events(stream)] == ["turn", "turn.done"]


def test_while_a_message_is_answered_its_key_waits(site: Site, seat: Seat) -> None:
    told: list[httpx.Response] = []

    def send() -> None:
        with client(site, seat) as http:
            told.append(
                http.post(
                    "/turns", json={"text": "[script:slow delay=0.5]"}, headers={"Idempotency-Key": "k2"}
                )
            )

    threads = [threading.Thread(target=send) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.status_code for answer in told) == [200, 409, 409]
    done = next(answer for answer in told if answer.status_code == 200)
    assert done.json()["answer"]["content"] == "finally here"


def test_a_failed_answer_says_why_and_keeps_the_message(site: Site, seat: Seat) -> None:
    with client(site, seat) as http:
        turn = http.post("/turns", json={"text": "[script:key]"}).json()
        assert (turn["state"], turn["retryable"]) == ("failed", False)
        assert turn["error"]
        assert "sk-abc" not in json.dumps(turn)


def test_a_client_that_leaves_loses_nothing(site: Site, seat: Seat) -> None:
    with client(site, seat) as http:
        with http.stream(
            "POST",
            "/turns",
            json={"text": "[script:stream n=20 delay=0.02]"},
            headers={"Accept": "text/event-stream", "Idempotency-Key": "k3"},
        ) as response:
            next(response.iter_lines())
        again = http.post(
            "/turns",
            json={"text": "[script:stream n=20 delay=0.02]"},
            headers={"Accept": "text/event-stream", "Idempotency-Key": "k3"},
        )
        name, closing = events(again)[-1]
        assert name == "turn.done"
        assert closing["message"]["content"].split() == [f"word{number}" for number in range(20)]


def test_what_is_no_message_is_refused(site: Site, seat: Seat) -> None:
    with client(site, seat) as http:
        for text in ("", "  ", "/help", None, "x" * 100_001):
            answer = http.post("/turns", json={"text": text})
            assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
            assert list(answer.json()["errors"]) == ["text"]
        assert http.get("/messages/").json()["results"] == []


def test_a_refusal_of_a_stream_is_problem_json(site: Site, seat: Seat) -> None:
    with client(site, seat) as http:
        answer = http.post("/turns", json={}, headers={"Accept": "text/event-stream"})
        assert answer.status_code == 400
        assert answer.headers["content-type"].startswith("application/problem+json")
        assert "text" in answer.json()["errors"]


def begun(http: httpx.Client, text: str, key: str) -> str:
    """The id of a turn whose answer is being written; its stream is left."""
    headers = {"Accept": "text/event-stream", "Idempotency-Key": key}
    with http.stream("POST", "/turns", json={"text": text}, headers=headers) as response:
        for line in response.iter_lines():
            if line.startswith("data: ") and "conversation" in line:
                found: str = json.loads(line.removeprefix("data: "))["turn"]
            if line == "event: delta":
                return found
    raise AssertionError("Nothing was streamed.")


def test_a_stopped_answer_keeps_what_was_written_and_can_be_tried_again(site: Site, seat: Seat) -> None:
    with client(site, seat) as http:
        turn = begun(http, "[script:stream n=200 delay=0.03]", "stop")
        stopped = http.post(f"/turns/{turn}/stop").json()
        assert (stopped["state"], stopped["retryable"]) == ("cancelled", True)
        assert stopped["answer"]["finish_reason"] == "stopped"
        assert stopped["answer"]["content"].startswith("word0")
        late = http.post(f"/turns/{turn}/stop")
        assert (late.status_code, late.json()["code"]) == (409, "turn_ended")

        once = {"Idempotency-Key": "again"}
        again = http.post(f"/turns/{turn}/retry", headers=once, timeout=60)
        assert again.status_code == 200, again.text
        assert again.json()["state"] == "done"
        assert again.json()["answer"]["seq"] == stopped["answer"]["seq"]
        assert again.json()["answer"]["content"].split()[-1] == "word199"
        assert http.post(f"/turns/{turn}/retry", headers=once).json() == again.json()
        late = http.post(f"/turns/{turn}/retry")
        assert (late.status_code, late.json()["code"]) == (409, "not_retryable")
        assert len(http.get("/messages/").json()["results"]) == 2


def test_a_retried_answer_streams_too(site: Site, seat: Seat) -> None:
    with client(site, seat) as http:
        turn = http.post("/turns", json={"text": "[script:key]"}).json()["id"]
        headers = {"Accept": "text/event-stream", "Idempotency-Key": "stream"}
        told = events(http.post(f"/turns/{turn}/retry", headers=headers))
        assert [name for name, _ in told] == ["turn", "turn.started", "turn.failed"]


def test_a_conversation_deleted_while_it_is_answered_is_gone_with_its_turn(site: Site, seat: Seat) -> None:
    with client(site, seat) as http:
        begun(http, "[script:stream n=200 delay=0.02] the vermilion buoy", "gone")
        itself = str(http.base_url).rstrip("/")
        tag = http.get(itself).headers["etag"]
        assert http.delete(itself, headers={"If-Match": '"of another"'}).status_code == 412
        assert http.delete(itself, headers={"If-Match": tag}).status_code == 204
        assert http.get(itself).status_code == 404
        assert http.get("/messages/").status_code == 404
    assert site.query(
        "SELECT COUNT(*) FROM chat_turn WHERE conversation_id = ?", seat.conversation.replace("-", "")
    ) == [(0,)]
    assert site.query("SELECT COUNT(*) FROM search_document WHERE text LIKE '%vermilion buoy%'") == [(0,)]
    assert "Traceback" not in site.log


def test_a_tool_call_that_asks_is_answered(site: Site, seat: Seat) -> None:
    site.run("from constance import config\nconfig.CHAT_TOOLS_APPROVED = 'memory_*'")
    text = '[script:learn rule="Rinse the decks at dawn"]'
    headers = {"Accept": "text/event-stream"}
    with client(site, seat) as http, client(site, seat) as other:
        for choice, state in (("deny", "denied"), ("allow", "running")):
            with http.stream("POST", "/turns", json={"text": text}, headers=headers) as response:
                lines = (line for line in response.iter_lines() if line.startswith("data: "))
                told = (json.loads(line.removeprefix("data: ")) for line in lines)
                asking = next(item for item in told if item.get("state") == "asking")
                path = f"/turns/{asking['turn']}/answers"
                unknown = other.post(path, json={"call": asking["id"], "choice": "perhaps"})
                assert (unknown.status_code, unknown.json()["code"]) == (409, "not_asked")
                given = other.post(path, json={"call": asking["id"], "choice": choice})
                assert (given.status_code, given.json()["state"]) == (200, "running")
                assert next(item for item in told if item.get("name") == "learn_add")["state"] == state
                assert list(told)[-1]["finish_reason"] == "stop"
    found = site.query("SELECT rule FROM lessons_lesson WHERE rule LIKE 'Rinse%'")
    assert found == [("Rinse the decks at dawn",)]


def test_a_slash_command_is_run_in_its_conversation(site: Site, seat: Seat) -> None:
    with client(site, seat) as http:
        kept = http.post("/commands", json={"text": "/learn Splice the mainbrace twice"}).json()
        assert (kept["ok"], kept["data"]["outcome"]) == (True, "inserted")
        gone = http.post("/commands", json={"text": "/forget mainbrace --all"}).json()
        assert gone["data"]["forgotten"] == [f"les:{kept['data']['id']}"]
        assert not http.post("/commands", json={"text": "hello"}).json()["ok"]
        assert http.get("/messages/").json()["results"] == []
