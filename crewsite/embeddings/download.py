"""Fetches a published model file: resumed where it broke off, checked against its pinned sha256, put in place
whole. Which models are published, and where, is the catalogue's."""

from __future__ import annotations

import ipaddress
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit

from crewsite.embeddings.files import file_sha256, put_in_place
from crewsite.embeddings.install import InstallFailed, install_locked
from crewsite.embeddings.selection import models_folder

if TYPE_CHECKING:
    from crewsite.embeddings.models_catalog import ModelSpec

# Chapter 03, 3.2: three attempts when a person asked; a smaller file is no model but an error page.
WAITS_SECONDS: Final = (0.0, 2.0, 10.0)
MIN_BYTES: Final = 1_000_000
MAX_BYTES: Final = 8_000_000_000
CONNECT_SECONDS: Final = 10.0
READ_SECONDS: Final = 30.0
MAX_REDIRECTS: Final = 5
PARTIAL: Final = 206
UNSATISFIABLE: Final = 416


@dataclass(frozen=True, slots=True)
class Step:
    """How far it is: `downloading`, `verifying`, or `waiting_retry` with the reason. `total` is None where
    the server does not tell it."""

    state: str
    attempt: int
    done: int = 0
    total: int | None = None
    error: str = ""


Report = Callable[[Step], None]


class _BrokenError(Exception):
    """Worth another attempt."""


def download_model(spec: ModelSpec, *, url: str, report: Report = lambda _: None) -> Path:
    """The file of a model of the catalogue, fetched if it is not there. Of several processes one fetches,
    others wait. Raises InstallFailed."""
    target = models_folder() / spec.filename
    if target.is_file():
        return target
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with install_locked(target.parent / ".install.lock"):
            if not target.is_file():
                part = target.with_name(f".{target.name}.part")
                if not _from_ollama(spec, part, report):
                    _fetch(url, part, report)
                report(Step("verifying", attempt=1))
                _check(part, spec)
                put_in_place(part, target)
    except OSError as error:
        raise InstallFailed(
            f"{target.parent} cannot be written: {error}. Check free space and owner."
        ) from error
    return target


def _fetch(url: str, part: Path, report: Report) -> None:
    reason = ""
    for attempt, wait in enumerate(WAITS_SECONDS, start=1):
        if wait:
            report(Step("waiting_retry", attempt, error=reason))
            time.sleep(wait)
        try:
            _attempt(url, part, attempt, report)
        except _BrokenError as broken:
            reason = str(broken)
        else:
            return
    host = urlsplit(url).hostname or url
    kept = f" {part.stat().st_size:,} bytes are kept for the next try." if part.is_file() else ""
    raise InstallFailed(
        f"{host} could not be downloaded from: {reason}{kept} Without internet, put the GGUF file in"
        f" {part.parent} as {part.name.removeprefix('.').removesuffix('.part')}, or name a mirror:"
        " --url, or CREW_EMBED_MODEL_URL."
    )


def _attempt(url: str, part: Path, attempt: int, report: Report) -> None:
    """Go on from where the last one ended, as far as the server can."""
    import httpx2

    timeout = httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    try:
        with httpx2.Client(timeout=timeout, follow_redirects=False) as client:
            for _ in range(MAX_REDIRECTS + 1):
                _judge(url)
                have = part.stat().st_size if part.is_file() else 0
                headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
                with client.stream("GET", url, headers=headers) as answer:
                    if not answer.has_redirect_location:
                        _save(answer, part, have, attempt, report)
                        return
                    onward = urljoin(url, answer.headers["location"])
                    if _is_loopback(onward) and not _is_loopback(url):
                        raise InstallFailed("The address leads back to this host.")
                    url = onward
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise _BrokenError(f"{type(error).__name__}.") from error
    raise InstallFailed(f"The address redirects more than {MAX_REDIRECTS} times.")


def _save(answer: Any, part: Path, have: int, attempt: int, report: Report) -> None:
    if answer.status_code == UNSATISFIABLE:
        return  # nothing is left to fetch; the sum decides
    if not answer.is_success:
        said = f"it answered with status {answer.status_code}."
        if answer.is_server_error:
            raise _BrokenError(said)
        raise InstallFailed(f"The model cannot be downloaded from {answer.url.host}: {said}")
    begun = have if answer.status_code == PARTIAL else 0
    length = answer.headers.get("content-length", "")
    total = begun + int(length) if length.isdigit() else None
    if total is not None and total > MAX_BYTES:
        raise InstallFailed(f"The file has {total:,} bytes, more than any model of the catalogue.")
    done = begun
    with part.open("ab" if begun else "wb") as file:
        for piece in answer.iter_bytes():
            file.write(piece)
            done += len(piece)
            if done > MAX_BYTES:
                part.unlink()  # going on from it would never help
                raise InstallFailed("The file does not end.")
            report(Step("downloading", attempt, done, total))
    if total is not None and done < total:
        raise _BrokenError(f"the connection ended after {done:,} of {total:,} bytes.")


def _check(part: Path, spec: ModelSpec) -> None:
    """A file that is not the published one is deleted: going on from it would never help."""
    size = part.stat().st_size
    found = file_sha256(part)
    if size >= MIN_BYTES and found == spec.sha256:
        return
    part.unlink()
    if size < MIN_BYTES:
        raise InstallFailed(f"What was downloaded has {size:,} bytes: an error page, or a file cut short.")
    raise InstallFailed(f"The downloaded file has sha256 {found}, expected {spec.sha256}. It was deleted.")


def _from_ollama(spec: ModelSpec, part: Path, report: Report) -> bool:
    """A blob with the same sum in a store of Ollama on this host is copied instead."""
    store = Path(os.environ.get("OLLAMA_MODELS") or Path.home() / ".ollama" / "models")
    blob = store / "blobs" / f"sha256-{spec.sha256}"
    try:
        if blob.stat().st_size < MIN_BYTES:
            return False
        report(Step("downloading", attempt=1, total=blob.stat().st_size))
        shutil.copyfile(blob, part)
    except OSError:
        return False
    return True


def _judge(url: str) -> None:
    """https alone, since what is fetched is loaded; on this host itself http will do."""
    parts = urlsplit(url)
    is_trusted = parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(url))
    if not parts.hostname or parts.username or not is_trusted:
        raise InstallFailed(
            "Name an https address of the model's GGUF file, without a name or password in it."
        )


def _is_loopback(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
