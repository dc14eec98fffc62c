"""Settings of the test run: a throw-away home, fast hashing, no cached static manifest."""

from __future__ import annotations

import importlib
import os
import tempfile

os.environ.setdefault("CREW_HOME", tempfile.mkdtemp(prefix="crewsite-test-"))
os.environ.setdefault("CREW_SKIP_MODEL_DOWNLOAD", "1")
# Python has imported the package before this module, with the variables as they were.
importlib.reload(importlib.import_module("crewsite.settings"))

from crewsite.settings import *  # noqa: E402, F403
from crewsite.settings import STORAGES  # noqa: E402

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
WHITENOISE_AUTOREFRESH = True
WHITENOISE_USE_FINDERS = True
# A thread that writes on its own would meet the open transaction of a test.
CREW_BACKGROUND_WRITES = False
