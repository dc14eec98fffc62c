"""How the admin looks: names, colours and menu of the unfold theme. Palette: `static/css/tokens.css`."""

from __future__ import annotations

from typing import Any, Final

from django.templatetags.static import static


def _asset(path: str) -> Any:
    """Static addresses are known only once the site runs."""
    return lambda _request: static(path)


UNFOLD: Final[dict[str, Any]] = {
    "SITE_TITLE": "Crewsite admin",
    "SITE_HEADER": "Crewsite",
    "SITE_SUBHEADER": "Admin",
    "SITE_URL": "/",
    "SITE_ICON": {"light": _asset("icons/logo.svg"), "dark": _asset("icons/logo-dark.svg")},
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": _asset("icons/favicon.svg")}],
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "BORDER_RADIUS": "8px",
    "DASHBOARD_CALLBACK": "crewsite.dashboard.admin_cards.admin_index",
    "STYLES": [_asset("css/admin.css")],
    "SIDEBAR": {
        "show_search": False,
        "command_search": False,
        "show_all_applications": False,
        "navigation": "crewsite.dashboard.admin_menu.navigation",
    },
    "COMMAND": {"search_models": False, "show_history": False},
    # Warm neutrals and the pine accent, as in the pages; 50 is lightest.
    "COLORS": {
        "base": {
            "50": "#faf8f4",
            "100": "#f3f0ea",
            "200": "#e6e1d7",
            "300": "#d3ccbf",
            "400": "#a39a8b",
            "500": "#786f62",
            "600": "#575046",
            "700": "#453f37",
            "800": "#2f2a24",
            "900": "#201d19",
            "950": "#171512",
        },
        "primary": {
            "50": "#eef6f4",
            "100": "#dcedea",
            "200": "#bbdcd5",
            "300": "#9adccd",
            "400": "#78c9b8",
            "500": "#3f9b8b",
            "600": "#17665c",
            "700": "#0f5148",
            "800": "#0d413a",
            "900": "#0c332e",
            "950": "#071f1c",
        },
        "font": {
            "subtle-light": "var(--color-base-500)",
            "subtle-dark": "var(--color-base-400)",
            "default-light": "var(--color-base-600)",
            "default-dark": "var(--color-base-300)",
            "important-light": "var(--color-base-900)",
            "important-dark": "var(--color-base-100)",
        },
    },
}
