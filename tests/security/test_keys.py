"""The keys of an installation: made once, for its own account alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crewsite.security.encryption import decrypt, encrypt, encryption_keys
from crewsite.settings.keys import secret_key

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_keys_are_made_once_and_only_their_account_reads_them(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CREW_SECRET_KEY", raising=False)
    settings.CREW_HOME, settings.CREW_ENCRYPTION_KEYS = tmp_path, []
    secret, stored = secret_key(tmp_path, required=False), encrypt("hello")
    assert (secret_key(tmp_path, required=False), decrypt(stored)) == (secret, "hello")
    kept = sorted((tmp_path / "keys").iterdir())
    assert [path.name for path in kept] == ["encryption.keys", "secret.key"]
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}


def test_a_key_that_stands_below_the_first_still_decrypts(tmp_path: Path, settings: Any) -> None:
    settings.CREW_HOME, settings.CREW_ENCRYPTION_KEYS = tmp_path, []
    stored = encrypt("hello")
    file, old = tmp_path / "keys" / "encryption.keys", encryption_keys()[0]
    file.unlink()
    newer = encryption_keys()[0]
    file.write_text(f"{newer}\n{old}\n")
    assert (newer != old, decrypt(stored)) == (True, "hello")
