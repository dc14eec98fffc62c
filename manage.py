#!/usr/bin/env python
"""Django's command line. `crew` is the same with friendlier names."""

from __future__ import annotations

import os
import sys


def main() -> None:
    from crewsite.cli import settings_for

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", settings_for(sys.argv[1:]))
    from django.core.management import execute_from_command_line

    from crewsite.jobs.errors import MaintenanceInProgress

    try:
        execute_from_command_line(sys.argv)
    except MaintenanceInProgress as refusal:
        sys.exit(str(refusal))


if __name__ == "__main__":
    main()
