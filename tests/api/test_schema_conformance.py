"""Every operation answers as its schema says, whoever asks and however bad the request is. A bounded run of
`tests.api.fuzzing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.api.fuzzing import CALLERS, Fuzzed
from tests.site import running_site

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.sqlite_only, pytest.mark.slow]

EXAMPLES = 4  # of each operation for each caller: some 1,000 requests


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    with running_site(tmp_path_factory.mktemp("fuzzed")) as site:
        yield Fuzzed(site)


@pytest.mark.parametrize("who", CALLERS)
def test_no_answer_is_a_server_error_or_breaks_the_schema(fuzzed: Fuzzed, who: str) -> None:
    broken = [
        text for operation in fuzzed.operations() for text in fuzzed.fuzz(operation, who, examples=EXAMPLES)
    ]
    assert not broken, "\n\n".join(broken[:5])
    assert "Traceback" not in fuzzed.site.log
