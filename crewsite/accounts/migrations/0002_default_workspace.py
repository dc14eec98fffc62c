"""The workspace that always exists."""

from django.db import migrations


def make_default(apps, schema_editor):
    apps.get_model("accounts", "Workspace").objects.get_or_create(slug="default", defaults={"name": "Default"})


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]
    operations = [migrations.RunPython(make_default, migrations.RunPython.noop)]
