"""A published model is fetched from a real HTTP server that misbehaves in every way one does."""

from __future__ import annotations

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from constance import config
from django.core.management import CommandError, call_command

from crewsite.embeddings import download
from crewsite.embeddings.download import Step, download_model
from crewsite.embeddings.install import InstallFailed
from crewsite.embeddings.models_catalog import QWEN3, ModelSpec
from crewsite.jobs.models import Job

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BODY = bytes(range(256)) * 6_000
SPEC = ModelSpec("t", "t.gguf", sha256=hashlib.sha256(BODY).hexdigest())


class Server:
    """Serves BODY; `cuts` are how many bytes each of the next answers gets before its connection ends."""

    def __init__(self) -> None:
        self.body, self.cuts, self.ranges = BODY, [], []  # type: ignore[var-annotated]
        self.tells_length = self.takes_ranges = True
        self.status, self.location = 200, ""
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"site": self}))
        self.url = f"http://127.0.0.1:{self.server.server_port}/model.gguf"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    site: Server

    def do_GET(self) -> None:
        site = self.site
        asked = self.headers.get("Range", "")
        site.ranges.append(asked)
        if site.location:
            self.send_response(302)
            self.send_header("Location", site.location)
            self.end_headers()
            return
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and site.takes_ranges else 0
        body = site.body[start:]
        self.send_response(206 if start else site.status)
        if site.tells_length:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: site.cuts.pop(0)] if site.cuts else body)
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture
def site(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    settings.CREW_HOME, settings.CREW_SKIP_MODEL_DOWNLOAD, settings.CREW_EMBED_MODEL_URL = tmp_path, False, ""
    monkeypatch.setattr(download, "WAITS_SECONDS", (0.0, 0.01, 0.01))
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path_factory.mktemp("ollama")))
    server = Server()
    yield server
    server.server.shutdown()


def test_a_transfer_that_breaks_twice_goes_on_where_it_was(site: Server, tmp_path: Path) -> None:
    site.cuts = [400_000, 500_000]
    steps: list[Step] = []
    path = download_model(SPEC, url=site.url, report=steps.append)
    assert path == tmp_path / "models" / "t.gguf"
    assert path.read_bytes() == BODY
    assert site.ranges == ["", "bytes=400000-", "bytes=900000-"]
    assert {step.state for step in steps} == {"downloading", "waiting_retry", "verifying"}
    assert max(step.done for step in steps) == len(BODY) == steps[0].total
    assert download_model(SPEC, url=site.url) == path  # it is there
    assert len(site.ranges) == 3


def test_a_transfer_that_never_ends_well_is_told_and_kept_for_the_next_try(
    site: Server, tmp_path: Path
) -> None:
    site.cuts = [300_000, 10, 10]
    with pytest.raises(InstallFailed, match="300,020 bytes are kept"):
        download_model(SPEC, url=site.url)
    assert not (tmp_path / "models" / "t.gguf").exists()
    assert download_model(SPEC, url=site.url).read_bytes() == BODY


def test_a_server_without_ranges_and_lengths_is_read_from_the_start(site: Server) -> None:
    site.cuts = [400_000]
    with pytest.raises(InstallFailed):
        site.status = 404
        download_model(SPEC, url=site.url)
    site.status, site.tells_length, site.takes_ranges = 200, False, False
    site.cuts = []
    assert download_model(SPEC, url=site.url).read_bytes() == BODY


def test_a_changed_byte_fails_with_both_sums_and_leaves_nothing(site: Server, tmp_path: Path) -> None:
    site.body = b"x" + BODY[1:]
    found = hashlib.sha256(site.body).hexdigest()
    with pytest.raises(InstallFailed, match=f"sha256 {found}, expected {SPEC.sha256}"):
        download_model(SPEC, url=site.url)
    assert [path.name for path in (tmp_path / "models").iterdir()] == [".install.lock"]


def test_an_error_page_is_no_model(site: Server) -> None:
    site.body = b"<html>sign in</html>"
    with pytest.raises(InstallFailed, match="20 bytes: an error page"):
        download_model(SPEC, url=site.url)


@pytest.mark.parametrize(
    "url", ["http://example.org/m.gguf", "ftp://example.org/m", "https://a:b@c.org/m", "m"]
)
def test_only_https_is_fetched_and_no_redirect_leads_out_of_it(site: Server, url: str) -> None:
    with pytest.raises(InstallFailed, match="https address"):
        download_model(SPEC, url=url)
    site.location = "http://example.org/elsewhere.gguf"
    with pytest.raises(InstallFailed, match="https address"):
        download_model(SPEC, url=site.url)


def test_two_that_ask_at_once_share_one_transfer(site: Server) -> None:
    threads = [threading.Thread(target=download_model, args=(SPEC,), kwargs={"url": site.url}) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(site.ranges) == 1


def test_a_file_without_an_end_leaves_the_disk_and_the_next_try_alone(
    site: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "MAX_BYTES", len(BODY) + 10)
    site.tells_length, site.body = False, BODY * 2
    with pytest.raises(InstallFailed, match="does not end"):
        download_model(SPEC, url=site.url)
    assert not (tmp_path / "models" / ".t.gguf.part").exists()
    site.body = BODY
    assert download_model(SPEC, url=site.url).read_bytes() == BODY


def test_a_blob_of_ollama_is_copied_instead(
    site: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = tmp_path / "ollama" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"sha256-{SPEC.sha256}").write_bytes(BODY)
    monkeypatch.setenv("OLLAMA_MODELS", str(blobs.parent))
    assert download_model(SPEC, url=site.url).read_bytes() == BODY
    assert site.ranges == []


@pytest.mark.django_db
def test_the_command_tells_what_to_do_without_internet_and_keeps_the_reason_in_its_job(
    site: Server, settings: Any, tmp_path: Path
) -> None:
    config.EMBED_MODEL_URL = "http://127.0.0.1:9/model.gguf"
    with pytest.raises(CommandError, match="Without internet, put the GGUF file in") as raised:
        call_command("embeddings", "install", QWEN3.model_id, stdout=StringIO())
    assert str(tmp_path / "models") in str(raised.value)
    assert "qwen3-embedding-0.6b.gguf" in str(raised.value)
    with pytest.raises(CommandError, match=f"expected {QWEN3.sha256}"):
        call_command("embeddings", "install", QWEN3.model_id, "--url", site.url, stdout=StringIO())
    job = Job.objects.of_kind("model_install").first()
    assert job is not None
    assert (job.state, job.args, job.total) == ("failed", [QWEN3.model_id, site.url], len(BODY))
    settings.CREW_SKIP_MODEL_DOWNLOAD = True
    with pytest.raises(CommandError, match="forbids downloads"):
        call_command("embeddings", "install", QWEN3.model_id)
