"""The model wrapper that stands between every caller and the endpoint: it asks the circuit breaker first and
turns whatever goes wrong into an `LlmError` in the words of its connection. Importing it loads
pydantic-ai."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from pydantic_ai.models.wrapper import WrapperModel

from crewsite.llm.ahead import reading_ahead
from crewsite.llm.constants import ENVIRONMENT
from crewsite.llm.errors import LlmError, explain, reworded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings

    from crewsite.llm.ahead import TextAhead
    from crewsite.llm.breaker import Breaker
    from crewsite.llm.targets import Target


class GuardedModel(WrapperModel):
    """`ahead` is told the text of streams while they are read."""

    def __init__(
        self, wrapped: Model, breaker: Breaker, target: Target, ahead: TextAhead | None = None
    ) -> None:
        super().__init__(wrapped)
        self.breaker = breaker
        self.target = target
        self.ahead = ahead

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        self.breaker.check()
        try:
            response = await super().request(messages, model_settings, model_request_parameters)
        except Exception as error:
            raise self._judged(error) from error
        self.breaker.succeeded()
        return response

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: Any = None,
    ) -> AsyncIterator[StreamedResponse]:
        self.breaker.check()
        try:
            async with AsyncExitStack() as opened:
                stream = super().request_stream(
                    messages, model_settings, model_request_parameters, run_context
                )
                with reading_ahead(self.ahead):
                    response = await opened.enter_async_context(stream)
                yield response
        except Exception as error:
            raise self._judged(error) from error
        self.breaker.succeeded()

    def _judged(self, error: Exception) -> LlmError:
        explained = explain(error)
        if explained.counts:
            self.breaker.failed()
        if self.target.connection == ENVIRONMENT:
            return explained
        return reworded(explained, connection=self.target.connection)
