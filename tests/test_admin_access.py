"""Who may see what in admin: a page is for operators only, or filters by membership."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.db import models
from django.test import Client

from crewsite.rows_admin import OperatorOnlyMixin
from memory.admin.base import OwnWorkspacesMixin
from tests.factories import make_user

OURS = ("crewsite.", "memory.", "lessons.")
PAGES = [page for page in admin.site._registry.values() if type(page).__module__.startswith(OURS)]


@pytest.fixture
def staff(db: None) -> Client:
    """Every permission Django knows, but no operator and no member."""
    user = make_user("staff", is_staff=True)
    user.user_permissions.set(Permission.objects.all())
    client = Client()
    client.force_login(user)
    return client


def test_a_member_who_is_no_staff_is_told_so_and_an_anonymous_one_logs_in_where_everybody_does(
    db: None,
) -> None:
    member = Client()
    member.force_login(make_user("bob"))
    refused = member.get("/admin/jobs/job/", follow=True)
    assert refused.status_code == 403
    assert b'type="password"' not in refused.content
    assert Client().get("/admin/jobs/job/", follow=True).redirect_chain[-1][0] == (
        "/login/?next=/admin/jobs/job/"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.model._meta.label)
def test_every_page_is_filtered_or_for_operators_only(page: admin.ModelAdmin) -> None:  # type: ignore[type-arg]
    assert isinstance(page, OperatorOnlyMixin | OwnWorkspacesMixin)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if isinstance(page, OperatorOnlyMixin)],
    ids=lambda page: page.model._meta.label,
)
def test_staff_cannot_open_an_operator_page(page: admin.ModelAdmin, staff: Client) -> None:  # type: ignore[type-arg]
    meta = page.model._meta
    assert staff.get(f"/admin/{meta.app_label}/{meta.model_name}/").status_code == 403


@pytest.mark.parametrize("page", admin.site._registry.values(), ids=lambda page: page.model._meta.label)
def test_a_list_survives_any_date_in_its_address(page: admin.ModelAdmin, db: None) -> None:  # type: ignore[type-arg]
    client = Client()
    client.force_login(make_user("operator", is_staff=True, is_superuser=True))
    meta = page.model._meta
    dates = [field.name for field in getattr(meta, "fields", ()) if isinstance(field, models.DateField)]
    for name in dates:
        for year in ("99999", "9999", "0", "-1", "1e9", f"2026&{name}__month=99", "%00"):
            url = f"/admin/{meta.app_label}/{meta.model_name}/?{name}__year={year}"
            assert client.get(url).status_code in {200, 302, 400}, url
