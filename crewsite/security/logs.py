"""The filter every log handler uses: no credential and no forged line leaves the process."""

from __future__ import annotations

import logging
import traceback

from crewsite.security.redaction import redact

_WITHHELD = "A log line was withheld because it could not be redacted."
_ESCAPES = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"
} | {ord("\n"): "\\n", ord("\r"): "\\r", 0x2028: "\\u2028", 0x2029: "\\u2029"}
_TRACE_ESCAPES = {code: text for code, text in _ESCAPES.items() if code != ord("\n")}


class RedactingFilter(logging.Filter):
    """Redacts a record's message, exception and stack, and escapes the message's line ends and controls.

    Lines of a traceback are indented: a text inside an exception cannot look like a line of the log. It never
    raises: what cannot be redacted is withheld.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        try:
            message = redact(record.getMessage()).text.translate(_ESCAPES)
            trace, stack = _traceback_text(record), record.stack_info
            if trace:
                record.exc_text = _block(trace)
            if stack:
                record.stack_info = _block(stack)
        except Exception:
            message = _WITHHELD
            record.exc_info = record.exc_text = record.stack_info = None
        record.msg = message
        record.args = ()
        return True


def _traceback_text(record: logging.LogRecord) -> str:
    if record.exc_text:
        return record.exc_text
    if record.exc_info and record.exc_info[0] is not None:
        return "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
    return ""


def _block(text: str) -> str:
    redacted = redact(text).text.translate(_TRACE_ESCAPES)
    return "\n".join(line if line.startswith("    ") else f"    {line}" for line in redacted.split("\n"))
