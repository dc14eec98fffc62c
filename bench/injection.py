"""How well the injection screen tells attacks from harmless texts, on labelled ones, and what it costs."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Final

from bench.report import Report, percentiles, time_each

TEXTS: Final = Path(__file__).parent / "injection_texts.csv"


def run(options: argparse.Namespace) -> Report:
    import django

    django.setup()
    from crewsite.security.screening import screen

    with TEXTS.open(newline="", encoding="utf-8") as file:
        rows = [(row["label"], row["text"].replace("\\u200b", "\u200b")) for row in csv.DictReader(file)]
    attacks = [text for label, text in rows if label == "attack"]
    harmless = [text for label, text in rows if label == "harmless"]
    missed = [text for text in attacks if screen(text).clean]
    flagged = [text for text in harmless if not screen(text).clean]
    for text in missed:
        print(f"  missed   {text}")
    for text in flagged:
        print(f"  flagged  {text}")
    figures = {
        "attacks": float(len(attacks)),
        "harmless": float(len(harmless)),
        "recall": 1 - len(missed) / len(attacks),
        "false_positives": len(flagged) / len(harmless),
        **percentiles("screen", time_each(screen, [text for _, text in rows] * 5)),
    }
    return Report("injection", figures, {"recall": (">=", 0.9), "false_positives": ("<=", 0.02)})
