"""Every admin list asks as many queries for many rows as for few, whatever its columns read."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib import admin
from django.db import connection, models
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.factories import make_user

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.django_db
# The page of live settings is no table.
LISTS = [page for page in admin.site._registry.values() if hasattr(page.model, "_base_manager")]
FEW, MANY = 2, 30

BY_FIELD: list[tuple[type[models.Field[Any, Any]], Callable[[Any, int], Any]]] = [
    (models.CharField, lambda field, n: f"{field.name[:8]}.{n}"[: field.max_length]),
    (models.JSONField, lambda _, n: {"number": n}),
    (models.TextField, lambda field, n: f"{field.name} {n}"),
    (models.DateTimeField, lambda _, n: timezone.now() - dt.timedelta(minutes=n)),
    (models.DateField, lambda _, n: timezone.now().date() - dt.timedelta(days=n)),
    (models.TimeField, lambda _, n: dt.time(n % 24)),
    (models.GenericIPAddressField, lambda _, n: f"10.0.0.{n}"),
    (models.BinaryField, lambda _, n: bytes([n % 256]) * 8),
    (models.FloatField, lambda _, n: 0.5),
    (models.IntegerField, lambda _, n: n),
]


class Rows:
    """Rows whose every relation leads to a row of its own, so that a list which follows one asks for each."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, int], models.Model] = {}

    def make(self, model: type[models.Model], number: int) -> models.Model:
        known = (model._meta.label, number)
        if known not in self._made:
            values = {field.name: self._value(field, number) for field in model._meta.concrete_fields}
            row = model(**{name: value for name, value in values.items() if value is not None})
            model._base_manager.bulk_create([row])
            self._made[known] = row
        return self._made[known]

    def _value(self, field: Any, number: int) -> Any:
        """None: the field's own default."""
        if field.is_relation:
            return None if field.related_model is field.model else self.make(field.related_model, number)
        if field.choices or isinstance(field, models.BooleanField):
            return field.choices[0][0] if field.choices and not field.has_default() else None
        if field.has_default() and not (field.unique or field.name in {"version", "rank"}):
            return None
        if isinstance(field, models.AutoField | models.UUIDField):
            return None
        return next((make(field, number) for kind, make in BY_FIELD if isinstance(field, kind)), None)


@pytest.mark.parametrize("page", LISTS, ids=lambda page: page.model._meta.label)
def test_an_admin_list_asks_the_same_queries_for_many_rows(page: admin.ModelAdmin[Any]) -> None:
    client = Client()
    client.force_login(make_user("operator", is_staff=True, is_superuser=True))
    meta = page.model._meta
    rows = Rows()

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client.get(f"/admin/{meta.app_label}/{meta.model_name}/").status_code == 200
        return len(captured)

    for number in range(FEW):
        rows.make(page.model, number)
    queries()  # what is read once and kept
    few = queries()
    for number in range(FEW, MANY):
        rows.make(page.model, number)
    assert page.model._base_manager.count() >= MANY
    assert queries() == few
