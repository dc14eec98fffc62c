"""The rules of the code base, as tests. The import order is a contract of its own (`lint-imports`)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("crewsite", "memory", "lessons")
SOURCES = sorted(
    path for name in PACKAGES for path in (ROOT / name).rglob("*.py") if "migrations" not in path.parts
)
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 60
HEAVY = ("llama_cpp", "faiss", "slack_sdk", "mcp", "pydantic_ai", "markitdown", "openai", "playwright")
TRANSPORT = ("rest_framework", "channels", "django.http", "slack_sdk", "mcp")
DOMAIN_MODULES = {"models", "services", "selectors", "ranking", "constants", "results"}
GRAB_BAGS = {"utils", "helpers", "common", "manager", "handler", "misc"}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return found


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_modules_stay_readable(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MAX_MODULE_LINES
    assert path.stem not in GRAB_BAGS


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_functions_fit_a_screen(path: Path) -> None:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < MAX_FUNCTION_LINES, f"{node.name} is too long"


@pytest.mark.parametrize("path", [path for path in SOURCES if path.read_text().strip()], ids=name_of)
def test_every_module_says_what_it_owns(path: Path) -> None:
    trivial = {"apps.py", "urls.py", "routing.py", "__init__.py", "asgi.py"}
    assert path.name in trivial or ast.get_docstring(tree(path)), "module docstring missing"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_domain_code_knows_no_transport(path: Path) -> None:
    parts = {part.removesuffix(".py") for part in path.relative_to(ROOT).parts}
    if parts & DOMAIN_MODULES and "accounts" not in parts:
        leaks = {m for m in imported(path) if m.startswith(TRANSPORT)}
        assert not leaks


def test_setting_up_django_loads_nothing_heavy() -> None:
    code = f"import django, sys; django.setup(); print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip().splitlines()[-1] == "[]"


def test_every_environment_variable_is_documented() -> None:
    source = "".join(path.read_text() for path in (ROOT / "crewsite/settings").glob("*.py"))
    names = set(re.findall(r'env_\w+\(\s*"([A-Z_]+)"', source)) | set(
        re.findall(r'environ\.get\("([A-Z_]+)"', source)
    )
    documented = (ROOT / "docs/settings.md").read_text()
    assert not {name for name in names if f"`{name}`" not in documented}


def test_every_live_setting_is_documented_and_explained() -> None:
    from crewsite.settings.live import CONSTANCE_CONFIG

    documented = (ROOT / "docs/settings.md").read_text()
    assert not {name for name in CONSTANCE_CONFIG if f"`{name}`" not in documented}
    assert all(entry[1].endswith(".") for entry in CONSTANCE_CONFIG.values())


def test_every_command_is_documented() -> None:
    commands = {
        path.stem
        for name in PACKAGES
        for path in (ROOT / name).rglob("management/commands/*.py")
        if path.stem != "__init__"
    }
    documented = (ROOT / "docs/commands.md").read_text()
    assert not {
        name
        for name in commands
        if f"`{name.replace('_', '-')}" not in documented and f"`{name}" not in documented
    }


def test_only_one_module_vouches_for_html() -> None:
    vouching = {
        name_of(path)
        for path in SOURCES
        if "mark_safe" in path.read_text() or "SafeString(" in path.read_text()
    }
    assert vouching <= {"crewsite/conversations/rendering.py"}


def test_every_app_has_a_readme() -> None:
    apps = [path.parent for path in SOURCES if path.name == "apps.py" and path.parent.name != "crewsite"]
    assert not [str(app) for app in apps if not (app / "README.md").exists()]
