"""The log filter: no credential, no forged line, no escape code, and never an exception of its own."""

from __future__ import annotations

import io
import logging

import pytest

from crewsite.security import logs
from crewsite.security.logs import RedactingFilter

TOKEN = f"ghp_{'y' * 36}"


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def logger(stream: io.StringIO) -> logging.Logger:
    logger = logging.getLogger("tests.security.logs")
    logger.propagate = False
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    handler.addFilter(RedactingFilter())
    logger.handlers = [handler]
    return logger


def test_a_credential_in_message_or_arguments_is_redacted(
    logger: logging.Logger, stream: io.StringIO
) -> None:
    logger.warning("token %s of %s", TOKEN, {"password": "hunter2hunter2"})
    assert TOKEN not in stream.getvalue()
    assert "hunter2" not in stream.getvalue()
    assert "token [REDACTED:github] of" in stream.getvalue()


def test_a_credential_in_an_exception_is_redacted(logger: logging.Logger, stream: io.StringIO) -> None:
    try:
        raise ValueError(f"refused {TOKEN}\nERROR forged line")
    except ValueError:
        logger.exception("It failed")
    written = stream.getvalue()
    assert TOKEN not in written
    assert "ValueError: refused [REDACTED:github]" in written
    assert [line for line in written.splitlines() if not line.startswith("    ")] == ["ERROR It failed"]


def test_a_text_cannot_start_a_line_or_send_escape_codes(logger: logging.Logger, stream: io.StringIO) -> None:
    logger.warning("user %s", "eve\nERROR all is lost\r\x1b[2J\u2028x")
    assert stream.getvalue() == "WARNING user eve\\nERROR all is lost\\r\\x1b[2J\\u2028x\n"


def test_a_message_that_cannot_be_formatted_is_withheld(logger: logging.Logger, stream: io.StringIO) -> None:
    logger.warning("%d things", TOKEN)
    assert TOKEN not in stream.getvalue()
    assert "withheld" in stream.getvalue()


def test_a_failing_redaction_withholds_the_line(
    logger: logging.Logger, stream: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "redact", lambda text: 1 / 0)
    logger.error("token %s", TOKEN)
    assert stream.getvalue() == "ERROR A log line was withheld because it could not be redacted.\n"


def test_filtering_one_record_twice_changes_nothing_more() -> None:
    record = logging.LogRecord("n", logging.INFO, "p", 1, "a %s", ("b\nc",), None)
    RedactingFilter().filter(record)
    first = record.getMessage()
    RedactingFilter().filter(record)
    assert record.getMessage() == first == "a b\\nc"


def test_an_ordinary_line_passes_unchanged(logger: logging.Logger, stream: io.StringIO) -> None:
    logger.warning("Indexed %d rows in %.1f ms: %s", 3, 1.5, "semantic:1")
    assert stream.getvalue() == "WARNING Indexed 3 rows in 1.5 ms: semantic:1\n"
