"""Numbers of the API: how long an answer is kept for its key, and how long a client is made to wait."""

from __future__ import annotations

from typing import Final

# A client that has not tried again after a day will not; payment APIs keep keys as long.
IDEMPOTENCY_KEEP_HOURS: Final = 24
# A process that died while it answered holds its key no longer than this.
IDEMPOTENCY_STALE_MINUTES: Final = 15
IDEMPOTENCY_KEY_MAX_CHARS: Final = 100  # as long as the `client_key` of a message

# Proxies give up on silent connections after a minute; an answer that takes longer is polled or streamed.
TURN_WAIT_S: Final = 50.0
STREAM_PING_S: Final = 15.0
