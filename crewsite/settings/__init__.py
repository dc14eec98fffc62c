"""All settings, read from the environment. What operators change at run time lives in `live.py` instead."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from crewsite.settings.admin_look import UNFOLD as UNFOLD
from crewsite.settings.env import (
    env_bool,
    env_choice,
    env_database,
    env_int,
    env_list,
    env_networks,
    env_path,
    env_str,
    env_time_zone,
    env_urls,
)
from crewsite.settings.keys import secret_key
from crewsite.settings.live import CONSTANCE_CONFIG as CONSTANCE_CONFIG

BASE_DIR = Path(__file__).resolve().parents[2]
try:
    CREW_VERSION = metadata.version("crewsite")
except metadata.PackageNotFoundError:
    CREW_VERSION = "0.1.0"

# Where this installation keeps its state, and where it listens.
CREW_HOME = env_path("CREW_HOME", "~/.crewsite")
CREW_HOST = env_str("CREW_HOST", "127.0.0.1")
CREW_PORT = env_int("CREW_PORT", 8000, low=1, high=65535)
CREW_ENV = env_choice("CREW_ENV", "development", ("development", "production"))
_shown_host = "127.0.0.1" if CREW_HOST in {"0.0.0.0", "::"} else CREW_HOST  # noqa: S104 - compared, not bound
_own_url = f"http://{f'[{_shown_host}]' if ':' in _shown_host else _shown_host}:{CREW_PORT}"
CREW_PUBLIC_URL = env_urls("CREW_PUBLIC_URL", _own_url)[0]
CREW_ALLOW_HTTP = env_bool("CREW_ALLOW_HTTP")
CREW_ALLOWED_ORIGINS = env_urls("CREW_ALLOWED_ORIGINS")
# Whose word about a request's client and scheme is believed: `crewsite.proxies`.
CREW_TRUSTED_PROXIES = env_networks("CREW_TRUSTED_PROXIES")
CREW_SKIP_MODEL_DOWNLOAD = env_bool("CREW_SKIP_MODEL_DOWNLOAD")
CREW_EMBED_MODEL_PATH = env_str("CREW_EMBED_MODEL_PATH")
CREW_EMBED_BASE_URL = env_str("CREW_EMBED_BASE_URL")
CREW_EMBED_API_KEY = env_str("CREW_EMBED_API_KEY")
CREW_EMBED_MODEL = env_str("CREW_EMBED_MODEL")
CREW_EMBED_MODEL_URL = env_str("CREW_EMBED_MODEL_URL")
# Another site that commands work on instead of this one.
CREW_SERVER = env_str("CREW_SERVER").rstrip("/")
CREW_TOKEN = env_str("CREW_TOKEN")
CREW_LLM_BASE_URL = env_str("CREW_LLM_BASE_URL")
CREW_LLM_API_KEY = env_str("CREW_LLM_API_KEY")
CREW_LLM_MODEL = env_str("CREW_LLM_MODEL")
# The first encrypts what is stored secret, all decrypt. Unset: a key of this home, made at first use.
CREW_ENCRYPTION_KEYS = env_list("CREW_ENCRYPTION_KEYS")
# Whether operators may have this machine run commands, such as a coding agent as a model.
CREW_LOCAL_COMMANDS = env_bool("CREW_LOCAL_COMMANDS", default=CREW_HOST in {"127.0.0.1", "::1", "localhost"})

PRODUCTION = CREW_ENV == "production"
DEBUG = env_bool("CREW_DEBUG")
SECRET_KEY = secret_key(CREW_HOME, required=PRODUCTION)
ALLOWED_HOSTS = env_list("CREW_ALLOWED_HOSTS") or ["localhost", "127.0.0.1", "[::1]"]
CSRF_TRUSTED_ORIGINS = [CREW_PUBLIC_URL, *CREW_ALLOWED_ORIGINS]

INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "unfold.contrib.constance",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "knox",
    "constance",
    "channels",
    "django_htmx",
    "axes",
    "csp",
    "crewsite.apps.CrewsiteConfig",
    "crewsite.security",
    "crewsite.jobs",
    "django_q",  # behind crewsite.jobs, whose qcluster command checks the site before it serves
    "crewsite.embeddings",
    "crewsite.search",
    "crewsite.llm",
    "crewsite.accounts",
    "crewsite.conversations",
    "memory",
    "lessons",
    "crewsite.chat",
    "crewsite.mcp",
    "crewsite.api",
    "crewsite.dashboard",
]

MIDDLEWARE = [
    "crewsite.api.middleware.request_id_middleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "crewsite.dashboard.middleware.PageHeadersMiddleware",
    "crewsite.dashboard.middleware.StoreMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "crewsite.urls"
ASGI_APPLICATION = "crewsite.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "crewsite.dashboard.context_processors.site",
            ]
        },
    }
]

DATABASES = {
    "default": env_database(
        "DATABASE_URL",
        CREW_HOME / "crewsite.sqlite3",
        synchronous=env_choice("CREW_SQLITE_SYNCHRONOUS", "NORMAL", ("NORMAL", "FULL")),
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env_str("REDIS_URL")
CHANNEL_LAYERS = {
    "default": (
        {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [REDIS_URL]}}
        if REDIS_URL
        else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    )
}

# Counters of limits are in it: one for all web processes where there is Redis.
CACHES = {
    "default": (
        {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
        if REDIS_URL
        else {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            # Django's 300 would be full after some clients, and what does not fit is forgotten, limits too.
            "OPTIONS": {"MAX_ENTRIES": 100_000},
        }
    )
}

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "crewsite.accounts.login_limit.LoginLimitBackend",
    "django.contrib.auth.backends.ModelBackend",
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = CREW_PUBLIC_URL.startswith("https://")

# Five failures of one name from one address lock that pair for a quarter of an hour, in the database,
# for all processes.
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = 0.25
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_ENABLE_ADMIN = True
AXES_ENABLE_ACCESS_FAILURE_LOG = True  # what an address is judged by: accounts.login_limit
AXES_VERBOSE = False
AXES_LOCKOUT_TEMPLATE = "429.html"

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31_536_000 if PRODUCTION and SESSION_COOKIE_SECURE else 0
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "crewsite.accounts.tokens.CrewTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "crewsite.accounts.tokens.TokenScope",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["crewsite.api.parsers.BoundedJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "crewsite.api.schema.CrewSchema",
    "EXCEPTION_HANDLER": "crewsite.api.errors.problem_handler",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Crewsite API",
    "VERSION": CREW_VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {
        "WorkState": [(name, name.title()) for name in ("queued", "running", "done", "failed", "cancelled")],
        "BlockState": ["admitted", "trimmed", "omitted"],
        "EmbedderState": ["absent", "loading", "ready", "failed"],
    },
}
KNOX_TOKEN_MODEL = "accounts.ApiToken"  # noqa: S105 - a model, no secret
# Its migrations make a table of its own even so, which nothing uses and which stops PostgreSQL from
# flushing users.
MIGRATION_MODULES = {"knox": None}
REST_KNOX = {
    "TOKEN_PREFIX": "crew_",
    "AUTH_HEADER_PREFIX": "Bearer",
    "TOKEN_TTL": None,
    "TOKEN_LIMIT_PER_USER": None,
    "AUTO_REFRESH": False,
}

CONSTANCE_BACKEND = "constance.backends.database.DatabaseBackend"
CONSTANCE_DATABASE_CACHE_BACKEND = None

# `retry` must exceed `timeout`, or a slow task would be handed out a second time while it still runs.
Q_CLUSTER = {
    "name": "crewsite",
    "orm": "default",
    "broker_class": "crewsite.jobs.broker.Broker",
    "workers": env_int("CREW_WORKERS", 2, low=1, high=64),
    "timeout": 1800,
    "retry": 2400,
    "max_attempts": 3,
    "poll": 1,
    "catch_up": False,
    "save_limit": 500,
    "label": "Background tasks",
    "ALT_CLUSTERS": {},
}
CREW_SCHEDULES = [
    "crewsite.jobs.schedules.SCHEDULES",
    "crewsite.accounts.schedules.SCHEDULES",
    "crewsite.search.schedules.SCHEDULES",
    "memory.schedules.SCHEDULES",
    "crewsite.mcp.schedules.SCHEDULES",
    "crewsite.api.schedules.SCHEDULES",
]
# Functions without arguments: each minute after the heartbeat, and once in every worker process as it starts.
CREW_HEARTBEAT_TASKS = ["crewsite.chat.interruption.turns_reap", "memory.consolidation.triggers.heartbeat"]
CREW_WORKER_START = ["crewsite.embeddings.service.start_loading", "crewsite.search.tasks.worker_started"]

# Functions that count what runs, waited for before maintenance, and that drop what a process keeps of rows.
CREW_RUNNING_WORK = ["crewsite.jobs.selectors.jobs_running", "crewsite.chat.selectors.turns_running"]
CREW_CACHES = [
    "crewsite.security.events.counts_forget",
    "crewsite.embeddings.service.cache_clear",
    "crewsite.search.counts.forget_all",
    "crewsite.search.vector_index.registry.forget_all",
    "crewsite.live.forget",
    "memory.services.room.counts_forget",
]

# Inversions: what stands to the right in the import order registers here by dotted path
# (docs/architecture.md).
# What is embedded: a space -> the rows (collection, object_id, text, text_hash) that have no vector in it.
EMBEDDING_TEXTS = "crewsite.search.backfill.documents_without_vector"
SEARCH_KINDS = [
    "memory.search_kinds.SemanticKind",
    "memory.search_kinds.EpisodicKind",
    "memory.transcripts.TranscriptKind",
    "lessons.search_kinds.LessonKind",
]
# What can be explained, restored and looked back at, and where the injections of a row are read.
MEMORY_LAYERS = [
    "memory.own_layers.PreferencesLayer",
    "memory.own_layers.ProjectsLayer",
    "memory.own_layers.HistoryLayer",
    "memory.own_layers.SemanticLayer",
    "memory.own_layers.EpisodicLayer",
    "lessons.memory_layer.LessonLayer",
]
INJECTION_LOG = "crewsite.chat.injection_log.last_injections"
INJECTED_ROWS = "crewsite.chat.injection_log.injected_rows"
CONTEXT_SOURCES = [
    "memory.context.sources.thread.ThreadSource",
    "memory.context.sources.preamble.PreambleSource",
    "memory.context.sources.steering.AgentPromptSource",
    "memory.context.sources.steering.SteeringSource",
    "memory.context.sources.reply_options.ReplyOptionsSource",
    "lessons.context.LessonsSource",
    "memory.context.sources.semantic.SemanticSource",
    "memory.context.sources.documents.DocumentsSource",
    "memory.context.sources.episodic.EpisodicSource",
    "memory.context.sources.history.HistorySource",
    "memory.context.sources.channel.ChannelSource",
]
CONSOLIDATION_EXTENSIONS = ["lessons.consolidation.LessonsExtension"]
# Statistics such as when an episode was read last are collected and written by a thread of the process.
CREW_BACKGROUND_WRITES = True
CHAT_TOOLS = [
    "lessons.tools.learn_add",
    "lessons.tools.learn_list",
    "lessons.tools.learn_remove",
    "memory.tools.memory_recall",
    "memory.tools.memory_remember",
]
# Through MCP the same functions are offered, and those that only a program of its own needs.
MCP_TOOLS = [
    *CHAT_TOOLS,
    "memory.context.tools.memory_context",
    "crewsite.conversations.tools.conversation_log",
]

LANGUAGE_CODE = "en"
TIME_ZONE = env_time_zone("CREW_TIME_ZONE", "UTC")
USE_I18N = False
USE_TZ = True
FORMAT_MODULE_PATH = "crewsite.settings.formats"

STATIC_URL = "static/"
STATIC_ROOT = CREW_HOME / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "filters": {"redact": {"()": "crewsite.security.logs.RedactingFilter"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["redact"]},
    },
    "root": {
        "handlers": ["stderr"],
        "level": env_choice("CREW_LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR")),
    },
    "loggers": {
        "axes": {"level": "WARNING"},
        "gguf": {"level": "WARNING"},
        "daphne": {"level": "WARNING"},
        "faiss": {"level": "WARNING"},  # which of its builds fit this processor
        "httpx": {"level": "WARNING"},
        "mcp": {"level": "WARNING"},
        "constance": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "django_q": {"level": "WARNING"},
        "django-q": {"level": "WARNING"},
    },
}
