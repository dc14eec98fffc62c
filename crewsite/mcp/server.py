"""The MCP server object of both transports: the SDK's handlers around the tool list, the prompts and the
context resource. Importing it loads the SDK but no Django app, so that stdio answers before Django is up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from crewsite.mcp.constants import INSTRUCTIONS, SERVER_NAME

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from crewsite.mcp.callers import Caller
    from crewsite.mcp.catalogue import ToolSpec

    Context = ServerRequestContext[Any, Any]

RESOURCE_NOT_FOUND: Final = -32002


class Door(Protocol):
    """A transport: it knows whom a request is from. Raises MCPError when they may no longer come in."""

    async def caller(self, context: Context) -> Caller: ...


def build_server(door: Door, *, version: str) -> Server[Any]:
    handlers = Handlers(door)
    return Server(
        SERVER_NAME,
        version=version,
        title="Crewsite",
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


@dataclass(frozen=True, slots=True)
class Handlers:
    """What the server answers, for the clients of one door."""

    door: Door

    async def list_tools(self, context: Context, params: Any) -> types.ListToolsResult:
        caller = await self.door.caller(context)
        from crewsite.mcp.catalogue import tools_for

        return types.ListToolsResult(tools=[_tool(spec) for spec in tools_for(caller).values()])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        caller = await self.door.caller(context)
        from crewsite.mcp.calls import tool_call

        answer = await tool_call(caller, params.name, params.arguments or {})
        return types.CallToolResult(
            content=[types.TextContent(text=answer.text)],
            structured_content=answer.structured,
            is_error=answer.is_error,
        )

    async def list_resources(self, context: Context, params: Any) -> types.ListResourcesResult:
        from crewsite.mcp.prompts import CONTEXT_URI

        resource = types.Resource(
            name="context",
            title="Memory context",
            uri=CONTEXT_URI,
            description="The briefing of a new conversation, whole. memory_context gives a shorter one.",
            mime_type="text/markdown",
        )
        return types.ListResourcesResult(resources=[resource])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        caller = await self._reading(context)
        from crewsite.chat.threads import in_tool_thread
        from crewsite.mcp.prompts import CONTEXT_URI, context_text

        if str(params.uri) != CONTEXT_URI:
            raise MCPError(RESOURCE_NOT_FOUND, f"There is no resource {params.uri}. Known: {CONTEXT_URI}.")
        text = await in_tool_thread(context_text, caller)
        content = types.TextResourceContents(uri=CONTEXT_URI, mime_type="text/markdown", text=text)
        return types.ReadResourceResult(contents=[content])

    async def list_prompts(self, context: Context, params: Any) -> types.ListPromptsResult:
        from crewsite.mcp.prompts import PROMPTS

        prompts = [
            types.Prompt(
                name=spec.name,
                description=spec.description,
                arguments=[
                    types.PromptArgument(
                        name=spec.argument, description=spec.argument_description, required=True
                    )
                ],
            )
            for spec in PROMPTS
        ]
        return types.ListPromptsResult(prompts=prompts)

    async def get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        caller = await self._reading(context)
        text = await _prompt_text(caller, params.name, params.arguments or {})
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(messages=[message])

    async def _reading(self, context: Context) -> Caller:
        caller = await self.door.caller(context)
        from crewsite.mcp.catalogue import denied

        if why := denied(caller, reads_only=True):
            raise MCPError(types.INVALID_REQUEST, why)
        return caller


def client_name(context: Context) -> str:
    """What the client called itself in its handshake or in the request; empty where it did not."""
    params = context.session.client_params
    return f"{params.client_info.name} {params.client_info.version}".strip() if params else ""


async def _prompt_text(caller: Caller, name: str, arguments: dict[str, str]) -> str:
    from crewsite.chat.threads import in_tool_thread
    from crewsite.mcp.prompts import PROMPTS, prompt_text

    spec = next((spec for spec in PROMPTS if spec.name == name), None)
    if spec is None:
        known = ", ".join(spec.name for spec in PROMPTS)
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {name[:100]!r}. Known: {known}.")
    argument = arguments.get(spec.argument, "").strip()
    if not argument:
        raise MCPError(types.INVALID_PARAMS, f"The prompt {name} needs the argument {spec.argument}.")
    return await in_tool_thread(prompt_text, caller, name, argument)


def _tool(spec: ToolSpec) -> types.Tool:
    return types.Tool(
        name=spec.name,
        title=spec.title,
        description=spec.parameters.description,
        input_schema=spec.parameters.schema,
        annotations=types.ToolAnnotations(
            read_only_hint=spec.reads_only, destructive_hint=spec.deletes, open_world_hint=False
        ),
    )
