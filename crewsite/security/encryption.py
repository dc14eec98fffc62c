"""Encryption of stored secrets: the keys of this installation, and a text column that holds ciphertext only.
Which values are secret is each table's own matter."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import models

from crewsite.settings.keys import key_kept

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

VERSION: Final = "f1"  # chapter 13.11: `f1:<key id>:<token>`
KEY_ID_CHARS: Final = 8


class SecretLocked(Exception):
    """A stored secret whose key is not here. Never ciphertext, never an empty text instead."""

    def __init__(self, key_id: str) -> None:
        super().__init__(
            f"A stored secret needs the encryption key {key_id}, which is neither among CREW_ENCRYPTION_KEYS "
            "nor in CREW_HOME/keys/encryption.keys."
        )
        self.key_id = key_id


def encrypt(text: str) -> str:
    keys = encryption_keys()
    return f"{VERSION}:{key_id_of(keys[0])}:{_fernet(keys).encrypt(text.encode()).decode()}"


def decrypt(stored: str) -> str:
    """Raises SecretLocked."""
    from cryptography.fernet import InvalidToken

    version, _, rest = stored.partition(":")
    key_id, _, token = rest.partition(":")
    if version != VERSION or not token:
        raise SecretLocked("unknown")
    try:
        return _fernet(encryption_keys()).decrypt(token.encode()).decode()
    except InvalidToken:
        raise SecretLocked(key_id) from None


def key_id_of(key: str) -> str:
    """Names a key without telling it."""
    return hashlib.sha256(key.encode()).hexdigest()[:KEY_ID_CHARS]


def encryption_keys() -> tuple[str, ...]:
    """The first encrypts, all decrypt: of the environment, else of this home's key file, made at first
    use."""
    configured = tuple(settings.CREW_ENCRYPTION_KEYS)
    return configured or tuple(key_kept(settings.CREW_HOME / "keys" / "encryption.keys", _new_key).split())


def _new_key() -> str:
    from cryptography.fernet import Fernet

    return Fernet.generate_key().decode()


@lru_cache(maxsize=4)
def _fernet(keys: tuple[str, ...]) -> MultiFernet:
    from cryptography.fernet import Fernet, MultiFernet

    try:
        return MultiFernet([Fernet(key) for key in keys])
    except ValueError:
        raise ImproperlyConfigured(
            "CREW_ENCRYPTION_KEYS, or CREW_HOME/keys/encryption.keys, holds something that is no Fernet key."
        ) from None


class EncryptedTextField(models.TextField):  # type: ignore[type-arg]
    """A text that the database only sees encrypted. An empty text is stored as such. Loading a row whose key
    is missing raises SecretLocked, so lists defer this column."""

    def get_prep_value(self, value: Any) -> Any:
        text = super().get_prep_value(value)
        return encrypt(text) if text else text

    def from_db_value(self, value: str | None, *_: Any) -> str | None:
        return decrypt(value) if value else value
