"""Shortens texts where people would: at a paragraph, at a line, at a word; always with a mark that
something is gone. Pure.
"""

from __future__ import annotations

from memory.context.constants import CUT_MARKER, ELLIPSIS


def cut_at_line(text: str, cap: int) -> str:
    """At most `cap` characters: whole lines and a line saying so; nothing when not even the mark fits.

    A line that would costs is cut at a word: a heading alone says nothing.
    """
    return _cut(text, cap, "\n")


def cut_at_paragraph(text: str, cap: int) -> str:
    """At most `cap` characters: whole paragraphs where they fill a quarter of the room, else whole lines."""
    shorter = _cut(text, cap, "\n\n")
    return shorter or cut_at_line(text, cap)


def cut_words(text: str, cap: int) -> str:
    """At most `cap` characters of one line, ending with an ellipsis when something is gone."""
    if len(text) <= cap:
        return text
    if cap <= len(ELLIPSIS):
        return ELLIPSIS[:cap]
    head = text[: cap - len(ELLIPSIS)]
    at = head.rfind(" ")
    # A cut back to the last blank reads better, unless the text has none near (one long word, or no blanks
    # at all).
    return (head[:at] if at > len(head) // 2 else head).rstrip() + ELLIPSIS


def _cut(text: str, cap: int, separator: str) -> str:
    if len(text) <= cap:
        return text
    # The mark is formatted with the largest numbers it can show, so its room is an upper bound.
    room = cap - len(CUT_MARKER.format(shown=len(text), total=len(text))) - 1
    at = text.rfind(separator, 0, max(0, room) + 1)
    if at > max(0, room // 4):
        head = text[:at].rstrip()
    elif separator == "\n" and room > 0:
        head = cut_words(text[: room + 1], room)
    else:
        return ""
    return f"{head}\n{CUT_MARKER.format(shown=len(head), total=len(text))}"
