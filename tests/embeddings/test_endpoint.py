from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from crewsite.embeddings.constants import ENDPOINT_BATCH
from crewsite.embeddings.endpoint import EndpointEmbedder, _embeddings_url


class Served(ThreadingHTTPServer):
    """A loopback `/v1/embeddings`: vector (length of the text, 1, 0), answered in reverse order."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[dict[str, Any]] = []
        self.status = 200
        self.dim = 3

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Served

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append({"path": self.path, "auth": self.headers.get("Authorization"), **body})
        rows = [
            {"index": index, "embedding": [float(len(text)), 1.0, *[0.0] * (self.server.dim - 2)]}
            for index, text in enumerate(body["input"])
        ]
        data = json.dumps({"data": rows[::-1]}).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        return None


@pytest.fixture
def served() -> Iterator[Served]:
    server = Served()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def client(served: Served, **extra: Any) -> EndpointEmbedder:
    return EndpointEmbedder(base_url=served.url, api_key="secret", model="served-model", **extra)


def test_a_probe_finds_the_dimension_and_makes_it_ready(served: Served) -> None:
    embedder = client(served)
    assert embedder.embed("text") is None
    assert embedder.wait_ready(10)
    assert (embedder.dim, embedder.model_id) == (3, "served-model")
    assert embedder.signature.startswith("served-model:")
    assert served.requests[0]["path"] == "/v1/embeddings"
    assert served.requests[0]["auth"] == "Bearer secret"
    assert served.requests[0]["model"] == "served-model"


def test_vectors_come_back_normalised_and_in_the_order_of_the_texts(served: Served) -> None:
    embedder = client(served)
    embedder.wait_ready(10)
    vectors = embedder.embed_batch(["aaa", "", "aaaa"])
    assert vectors[1] is None
    for text, vector in (("aaa", vectors[0]), ("aaaa", vectors[2])):
        expected = np.array([len(text), 1, 0], dtype=np.float32)
        np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-6)


def test_large_batches_are_sent_in_parts(served: Served) -> None:
    embedder = client(served)
    embedder.wait_ready(10)
    served.requests.clear()
    vectors = embedder.embed_batch(["text"] * (ENDPOINT_BATCH + 1))
    assert [len(request["input"]) for request in served.requests] == [ENDPOINT_BATCH, 1]
    assert all(vector is not None for vector in vectors)


def test_a_known_model_gets_its_query_prompt(served: Served) -> None:
    embedder = EndpointEmbedder(base_url=served.url, api_key="", model="Qwen/Qwen3-Embedding-0.6B")
    embedder.wait_ready(10)
    embedder.embed("where", kind="query")
    assert served.requests[-1]["input"][0].startswith("Instruct:")
    assert served.requests[-1]["auth"] is None


@pytest.mark.parametrize("status", [401, 500, 302])
def test_a_refusing_endpoint_fails_with_its_status_and_is_asked_again_after_the_pause(
    served: Served, status: int
) -> None:
    served.status = status
    embedder = client(served)
    assert not embedder.wait_ready(10)
    assert str(status) in embedder.error
    asked = len(served.requests)
    assert not embedder.wait_ready(10)
    assert len(served.requests) == asked
    served.status = 200
    patient = client(served, retry_seconds=0.0)
    assert patient.wait_ready(10)


def test_an_outage_gives_none_and_the_next_text_works_again(served: Served) -> None:
    embedder = client(served)
    embedder.wait_ready(10)
    served.status = 503
    assert embedder.embed("text") is None
    served.status = 200
    assert embedder.embed("text") is not None


def test_a_changed_dimension_is_not_stored_as_a_vector(served: Served) -> None:
    embedder = client(served)
    embedder.wait_ready(10)
    served.dim = 5
    assert embedder.embed("text") is None


def test_nobody_listening_is_a_failure_not_an_exception() -> None:
    embedder = EndpointEmbedder(base_url="http://127.0.0.1:9", api_key="", model="m")
    assert not embedder.wait_ready(10)
    assert embedder.error
    assert embedder.embed_batch(["a"]) == [None]


@pytest.mark.parametrize(
    "base", ["http://h", "http://h/", "http://h/v1", "http://h/v1/", "http://h/v1/embeddings"]
)
def test_every_way_to_write_the_address_names_the_same_place(base: str) -> None:
    assert _embeddings_url(base) == "http://h/v1/embeddings"
