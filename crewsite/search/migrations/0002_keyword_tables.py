"""The FTS5 tables of SQLite. Other databases need none yet."""

from django.db import migrations

from crewsite.search.keyword import schema


def create(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        with schema_editor.connection.cursor() as cursor:
            schema.tables_create(cursor)


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        with schema_editor.connection.cursor() as cursor:
            schema.tables_drop(cursor)


class Migration(migrations.Migration):
    dependencies = [("search", "0001_initial")]

    operations = [migrations.RunPython(create, drop)]
