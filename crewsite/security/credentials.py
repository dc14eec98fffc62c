"""The shapes of credentials, detect-secrets' and our own, and where a text shows one. Replacing is `redaction`'s.

Every expression is linear: its repeats are bounded, or start only where the run of the same characters starts.
"""

# ruff: noqa: E501, ISC004 - an expression broken over more lines is harder to check, not easier

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import Final, NamedTuple

from crewsite.security.constants import PEM_BLOCK_CHARS


class Found(NamedTuple):
    start: int
    end: int
    family: str


# Family, module and class of the detect-secrets plugins whose `denylist` is used, always with the whole match.
# Left out: the OpenAI, JWT and npm expressions, which are quadratic on one hostile megabyte (own ones below).
_PLUGINS: Final = (
    ("aws", "aws", "AWSKeyDetector"),
    ("azure_storage", "azure_storage_key", "AzureStorageKeyDetector"),
    ("basic_auth", "basic_auth", "BasicAuthDetector"),
    ("discord", "discord", "DiscordBotTokenDetector"),
    ("github", "github_token", "GitHubTokenDetector"),
    ("gitlab", "gitlab_token", "GitLabTokenDetector"),
    ("mailchimp", "mailchimp", "MailchimpDetector"),
    ("pypi", "pypi_token", "PypiTokenDetector"),
    ("sendgrid", "sendgrid", "SendGridDetector"),
    ("slack", "slack", "SlackDetector"),
    ("square", "square_oauth", "SquareOAuthDetector"),
    ("stripe", "stripe", "StripeDetector"),
    ("telegram", "telegram_token", "TelegramBotTokenDetector"),
    ("twilio", "twilio", "TwilioKeyDetector"),
)
# A text none of these is found in cannot match a plugin. The plugins import `requests` (150 ms), so processes that see
# plain text only never load them. A test holds each family's samples against it.
_HINTS: Final = re.compile(
    r"A3T|ABIA|ACCA|AKIA|ASIA|(?i:aws)|AccountKey=|://|[MNO][\w-]{23,25}\.|gh[pousr]_|gl\w{2,6}-|GR1348941|[0-9a-z]{32}-us|pypi-Ag|SG\.|"
    r"(?i:xox)|sq0csp-|[rs]k_live_|\d{8}:|AC[a-z0-9]{32}|SK[a-z0-9]{32}"
)
_TOKEN_TAIL: Final = re.compile(r"[A-Za-z0-9_]*")

# `password = value` is found in steps, on text whose ASCII letters are lower case: a keyword with its sign, then the value.
_ASSIGNED: Final = re.compile(
    r"(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key(?:[_-]?id)?|private[_-]?key|secret[_-]?key)[\"'`]?\s{0,3}(?::=|=>?|:)\s{0,3}"
)
_VALUE: Final = re.compile(r"[\"'](?P<v>[^\s\"'`\[\]]{8,512})|`?(?P<w>[^\s\"'`,;<>\[\]{}()|]{8,512})")
# Not a value: a placeholder, a reference to where the value lives, code that fetches it, or a path.
_PLACEHOLDER: Final = re.compile(
    r"[\"'`]?(?:\[redacted|<[^<>\n]{0,60}>|\$[{(a-z]|\{\{|%[({s]|[x*.•_-]{3,}|(?:your|my|the|some|an?)[-_ ]|changeme|change[-_]me|example|"
    r"placeholder|redacted|hidden|secret(?:s?\b|[-_](?:key|here|value|name))|"
    r"(?:password|required|optional|string|undefined|unknown|default|disabled|enabled|missing|expired|invalid|rotated|provided|"
    r"generated|incorrect)\b|(?:os|process|settings|config|self|this|request|env|secrets|vault|op|arn|https?|file|ref|data|args|"
    r"options|props)[.:(\[]|~/|(?:\.{1,2})?/[\w.][\w.-]*(?:/[\w.-]+)+|[a-z_][\w.]{0,80}[(\[]|(?:[a-z_]{1,40}\.){1,5}[a-z_]+(?:[\s,;)\"'`]|\Z))"
)
# "my password is hunter2", "PIN: 1234", "password hunter2", to the end of a line; within a sentence what has letters and
# digits, or four digits alone ("my password is hunter2, keep it"). Not "the password policy asks for 12 characters", "the
# password is in the vault", "the secret key is base64 encoded".
_SPOKEN: Final = re.compile(
    r"(?:(?<![^\W_])(?:pass\s?(?:word|phrase|code)|pin(?:\s(?:code|number))?|(?:api|secret|access)[\s_-]?key|(?:access|api)[\s_-]?token|"
    r"passwor[dt]|kennwort|mot\sde\spasse|contrase[ñn]a|senha|пароль)|密码|密碼|パスワード|비밀번호(?:는|가)?)"
    r"(?:\s{0,3}(?:\b(?:is|ist|est|es)\b|é|[=:：是は]|—)\s{0,3}(?:(?P<v>\S{1,512})\s{0,3}$|[\"'“‘`]?(?P<x>"
    r"(?!(?:base64|sha-?\d|md5|utf-?8|oauth|argon2|bcrypt|pbkdf2))(?=[^\s,;]{0,64}[^\W\d_])(?=[^\s,;]{0,64}\d)[^\s,;\"'”’`]{6,512}"
    r"|\d{4,12}(?![\w-]|[.,:/]\d|\s(?:char|letter|digit|bit|byte|day|hour|minute|second|times?\b|zeichen|caract))))"
    r"|\s{1,3}(?P<w>(?=\S{0,512}\d)\S{4,512})\s{0,3}$)",
    re.IGNORECASE | re.MULTILINE,
)
# Letters alone are prose or a type if a sentence or code goes on ("the secret: patience and time", `token: ApiToken,`).
_PROSE: Final = re.compile(r"[a-z'’-]+(?:[,.;:]?[ \t]+[a-z(]|[ \t]?[|)=,])")
_ASCII_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}

# The AWS plugin's second expression takes 2 s on a megabyte of `aws`; from the quoted value backwards it does not.
_AWS_SECRET: Final = re.compile(r"[\"']([0-9A-Za-z/+]{40})[\"']")
_AWS_CONTEXT: Final = re.compile(r"aws.{0,20}?(?:key|pwd|pw|pass|token).{0,20}?\Z")
_AWS_CONTEXT_CHARS: Final = 60

# Family, expression (flags inside), and the substrings of which one must be present; a group `v` narrows what is replaced.
_OWN_SOURCES: Final = (
    ("anthropic", r"sk-ant-[A-Za-z0-9_-]{20,}", ("sk-ant-",)),
    ("openai", r"(?<![A-Za-z0-9])sk-(?:(?:proj|svcacct|admin|or|None)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{20,}[A-Za-z0-9_-]*)", ("sk-",)),
    ("github", r"github_pat_[A-Za-z0-9_]{22,}", ("github_pat_",)),
    ("slack", r"xapp-[A-Za-z0-9-]{20,}|xoxe[.-][A-Za-z0-9.-]{20,}", ("xapp-", "xoxe")),
    ("google", r"AIza[A-Za-z0-9_-]{35,}", ("AIza",)),
    ("huggingface", r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}", ("hf_",)),
    ("npm", r"npm_[A-Za-z0-9]{36,}|_authToken\s?=\s?(?P<v>[^\s\[\]$]{8,})", ("npm_", "_authToken")),
    ("crew", r"crew_[A-Za-z0-9]{24,}", ("crew_",)),
    # Only where a run of token characters starts: from every `eyJ` inside one run the scan would be quadratic.
    ("jwt", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?", ("eyJ",)),
    (
        "bearer",
        r"(?i:\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token)\s{1,3})(?P<v>[^\s\"'`,;<>\[\]${}]{8,})"
        r"|(?i:\bbearer\s{1,3})(?P<w>(?=[A-Za-z._~+/-]{0,64}[0-9])[A-Za-z0-9._~+/-]{20,}=*)",
        ("earer", "EARER", "uthorization", "UTHORIZATION"),
    ),
    (
        "connection_string",
        r"://[^\s/:@\[\]]{0,64}:(?P<v>(?!\[REDACTED)[^\s/@]{1,128}+)@",
        ("://",),
    ),
    ("signed_link", r"(?i:[?&](?:X-Amz-Signature|X-Goog-Signature|Signature|sig)=)(?P<v>[A-Za-z0-9%/+_-]{16,}=*)", ("ignature=", "sig=")),
)  # fmt: skip

_PEM_BEGIN: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d:"
)
_PEM_END: Final = re.compile(
    r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|Private-MAC: ?[0-9a-fA-F]{0,64}"
)
# What follows a header whose footer is missing: header lines and lines of base64, with real or escaped line ends.
_PEM_BODY: Final = re.compile(
    r"(?:(?:\\[nr]|\s)*+(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Encryption|Public-Lines|Private-Lines): [^\n]{0,200}"
    r"|[A-Za-z0-9+/=]{16,}+|(?:(?<=\n)|(?<=\\n))[A-Za-z0-9+/=]{1,15}+(?=[ \t]?(?:\r?\n|\\[nr]|\Z))))*+"
)


@cache
def _own() -> tuple[tuple[str, re.Pattern[str], tuple[str, ...]], ...]:
    return tuple((family, re.compile(source), needs) for family, source, needs in _OWN_SOURCES)


@cache
def _denylists() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (family, expression)
        for family, module, name in _PLUGINS
        for expression in getattr(import_module(f"detect_secrets.plugins.{module}"), name).denylist
        if not expression.pattern.startswith("aws")
    )


def credentials_in(text: str) -> Iterator[Found]:
    """Every credential in a plain shadow, possibly overlapping, in no order."""
    yield from _private_keys(text)
    for family, expression, needs in _own():
        if any(need in text for need in needs):
            for match in expression.finditer(text):
                yield Found(*_narrowed(match), family)
    yield from _assigned(text)
    if _HINTS.search(text):
        yield from _aws_secrets(text)
        yield from _listed(text)


def _assigned(text: str) -> Iterator[Found]:
    lower = text.translate(_ASCII_LOWER) if not text.isascii() else text.lower()
    done = 0
    for assignment in _ASSIGNED.finditer(lower):
        at = assignment.end()
        if assignment.start() < done:
            continue
        if _PLACEHOLDER.match(lower, at) or (":" in assignment[0] and _PROSE.match(lower, at)):
            continue
        value = _VALUE.match(text, at)
        if value:
            done = value.end()
            yield Found(*_narrowed(value), "password")


def spoken_passwords(text: str) -> Iterator[Found]:
    """Passwords told in plain words. Not among `credentials_in`: a talk about passwords would be full of holes."""
    for match in _SPOKEN.finditer(text):
        if not _PLACEHOLDER.match(text[slice(*_narrowed(match))].lower()):
            yield Found(*_narrowed(match), "password")


def _aws_secrets(text: str) -> Iterator[Found]:
    for value in _AWS_SECRET.finditer(text):
        if _AWS_CONTEXT.search(text[max(0, value.start() - _AWS_CONTEXT_CHARS) : value.start()].lower()):
            yield Found(*value.span(1), "aws")


def _listed(text: str) -> Iterator[Found]:
    for family, expression in _denylists():
        done = 0
        for match in expression.finditer(text):
            if match.end() <= done:
                continue
            if family == "basic_auth":
                # Scheme and host stay readable; `://` and `@` are no secret.
                start, done = match.start() + len("://"), match.end() - 1
            else:
                # Newer tokens of a family are longer than its expression; no tail of one may stay.
                tail = _TOKEN_TAIL.match(text, match.end())
                start, done = match.start(), tail.end() if tail else match.end()
            yield Found(start, done, family)


def _narrowed(match: re.Match[str]) -> tuple[int, int]:
    for group in ("v", "w", "x"):
        if match.re.groupindex.get(group) and match[group]:
            return match.span(group)
    return match.span()


def _private_keys(text: str) -> Iterator[Found]:
    if "-----BEGIN" not in text and "PuTTY-User-Key" not in text:
        return
    ends = iter(_PEM_END.finditer(text))
    footer = next(ends, None)
    done = 0
    for header in _PEM_BEGIN.finditer(text):
        if header.start() < done:
            continue
        while footer and footer.end() <= header.end():
            footer = next(ends, None)
        if footer and footer.end() - header.start() <= PEM_BLOCK_CHARS:
            done = footer.end()
        else:
            body = _PEM_BODY.match(text, header.end())
            done = body.end() if body else header.end()
        yield Found(header.start(), done, "private_key")


def merged(found: Iterable[Found]) -> list[Found]:
    """Overlapping finds joined under the family of the first and longest, ordered by place."""
    result: list[Found] = []
    for item in sorted(found, key=lambda f: (f.start, -f.end)):
        if result and item.start < result[-1].end:
            last = result[-1]
            result[-1] = Found(last.start, max(last.end, item.end), last.family)
        else:
            result.append(item)
    return result
