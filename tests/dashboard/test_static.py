"""Assets: short modules that stand on their own, no outside addresses, and colours that can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

STATIC = Path(settings.BASE_DIR) / "static"
MODULES = sorted(STATIC.rglob("*.js"))
STYLES = sorted(STATIC.rglob("*.css"))
MAX_MODULE_LINES = 200
AA_TEXT = 4.5
AA_PARTS = 3.0
TEXT_PAIRS = [
    (ink, ground) for ink in ("ink", "ink-2", "ink-3", "accent") for ground in ("bg", "surface")
] + [
    ("ink-2", "sunken"),
    ("ink-3", "sunken"),
    ("accent", "accent-soft"),
    ("accent-strong", "accent-soft"),
    ("on-accent", "accent"),
    ("on-accent", "accent-strong"),
    ("warn", "warn-soft"),
    ("ink", "warn-soft"),
    ("bad", "bad-soft"),
    ("bad", "surface"),
    ("ink-2", "hover"),
    ("ink-2", "accent-soft"),
    ("ink-3", "accent-soft"),
    ("warn", "sunken"),
    ("bad", "sunken"),
    ("good", "sunken"),
]


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(STATIC)) for path in paths]


@pytest.mark.parametrize("path", MODULES, ids=names(MODULES))
def test_a_module_is_short_and_says_what_it_is_for(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert len(lines) < MAX_MODULE_LINES
    assert lines[0].startswith("//")


@pytest.mark.parametrize("path", MODULES, ids=names(MODULES))
def test_every_import_of_a_module_exists_and_is_ours(path: Path) -> None:
    for target in re.findall(r'from "([^"]+)"', path.read_text()):
        assert target.startswith(("./", "../"))
        module = (path.parent / target).resolve()
        assert module.is_file()
        assert module.is_relative_to(STATIC)


@pytest.mark.parametrize("path", MODULES, ids=names(MODULES))
def test_a_module_needs_no_exception_from_the_content_policy(path: Path) -> None:
    assert not re.search(
        r"\beval\(|new Function|document\.write|insertAdjacentHTML|setAttribute\(\"style", path.read_text()
    )


@pytest.mark.parametrize("path", [*MODULES, *STYLES], ids=names([*MODULES, *STYLES]))
def test_no_asset_names_another_host(path: Path) -> None:
    assert not re.search(r"https?://|@import", path.read_text())


def theme(name: str) -> dict[str, str]:
    css = (STATIC / "css" / "tokens.css").read_text()
    pattern = {
        "light": r":root \{(.*?)\n\}",
        "dark": r'\[data-theme="dark"\] \{(.*?)\n\}',
        "system dark": r":root:not\(\[data-theme\]\) \{(.*?)\n  \}",
    }[name]
    found = re.search(pattern, css, re.DOTALL)
    assert found is not None
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", found.group(1)))


def luminance(colour: str) -> float:
    parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), TEXT_PAIRS)
def test_text_meets_the_contrast_of_wcag_aa(name: str, ink: str, ground: str) -> None:
    colours = theme(name)
    assert contrast(colours[ink], colours[ground]) >= AA_TEXT


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("ground", ["bg", "surface"])
def test_field_borders_and_focus_can_be_seen(name: str, ground: str) -> None:
    colours = theme(name)
    assert contrast(colours["line-strong"], colours[ground]) >= AA_PARTS
    assert contrast(colours["accent"], colours[ground]) >= AA_PARTS


def test_dark_is_the_same_by_choice_and_by_system() -> None:
    assert theme("dark") == theme("system dark")
