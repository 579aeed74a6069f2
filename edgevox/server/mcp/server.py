"""The assistant as an MCP server, over stdio and over streamable HTTP at /mcp.

A call that needs a confirmation waits for a person: the client's own user, where the client may ask and can
(elicitation.py), else the room over stdio and another token over HTTP. Over HTTP every request needs a token,
whose scopes select the tools; a session of the older protocol versions belongs to the caller that opened it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.session import ServerSession
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)
from starlette.requests import HTTPConnection, Request
from starlette.types import Receive, Scope, Send

from edgevox import __version__
from edgevox.agents.tool_loop import Confirm
from edgevox.core.errors import EdgevoxError
from edgevox.core.turn import background_task
from edgevox.core.types import JsonObject
from edgevox.home.entities import Entity, House
from edgevox.home.prompt_text import sanitize_name
from edgevox.server.http.auth import Access
from edgevox.server.mcp.elicitation import (
    ask_during_call,
    may_elicit,
    question_result,
    returned_answer,
    returns_questions,
)
from edgevox.server.mcp.tools import PROGRAM, ServedTools
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.policy import Caller

_INSTRUCTIONS = (
    "The voice assistant of a home. Its home tools act in the real house. A call that needs a person's yes "
    "waits for it for up to half a minute; a no, or silence, is an error."
)


_PROGRESS_EVERY_S = 1.0


class _Progress:
    """Reports how many seconds a call has taken: a client with a time limit then knows that it still runs."""

    def __init__(self, session: ServerSession) -> None:
        self._session = session
        self._begun_s = time.monotonic()

    async def report(self, message: str | None = None) -> None:
        await self._session.report_progress(time.monotonic() - self._begun_s, message=message)

    @asynccontextmanager
    async def reported(self) -> AsyncIterator[_Progress]:
        """Report when the block begins, every second, and when it ends."""
        await self.report()
        async with background_task(self._repeat()):
            yield self
        await self.report()

    async def _repeat(self) -> None:
        while True:
            await asyncio.sleep(_PROGRESS_EVERY_S)
            await self.report()


def create_mcp_server(
    tools: ServedTools,
    caller_of: Callable[[object], Caller] = lambda _request: PROGRAM,
    house: Callable[[], House] | None = None,
) -> Server[Any]:
    """Build the server for any transport of the SDK. `caller_of` authenticates an HTTP request.

    With a `house`, its state is offered as resources.
    """

    async def on_list_tools(_context: object, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=tools.listed())

    async def on_call_tool(
        context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        session, caller, arguments = context.session, caller_of(context.request), params.arguments or {}
        async with _Progress(session).reported() as progress:
            if params.request_state is not None:
                pending = tools.pending(params.request_state, params.name, arguments, caller)
                if pending is None or not may_elicit(session, caller):
                    raise MCPError(INVALID_PARAMS, "nothing waits under this requestState")
                result = await tools.answered(pending, returned_answer(params, caller))
            else:
                result = await tools.dispatch(params.name, arguments, caller)
                if (pending := result.confirmation) is not None:
                    asks_client = may_elicit(session, caller)
                    if asks_client and returns_questions(session):
                        return question_result(pending)
                    await progress.report(f"waiting for a yes: {pending.question}")
                    confirm = ask_during_call(context, caller) if asks_client else None
                    result = await tools.confirmed(pending, confirm)
        # The spoken text ("All right.") has too little detail about an error.
        text = result.content if result.is_error else result.speech or result.content
        return CallToolResult(
            content=[TextContent(type="text", text=text)],
            structured_content=None if result.is_error else {"result": _value(result.content)},
            is_error=result.is_error,
        )

    def known_house() -> House | None:
        """Raises MCPError, with the words of the home: other errors reach no client, and are logged as bugs."""
        try:
            return house() if house else None
        except EdgevoxError as error:
            raise MCPError(INTERNAL_ERROR, error.message) from None

    async def on_list_resources(context: ServerRequestContext[Any], _params: object) -> ListResourcesResult:
        caller_of(context.request)
        found = known_house()
        areas = found.areas if found else ()
        rooms = [
            _resource(f"{_HOME}/{area.id}", sanitize_name(area.name), "Its things and their states") for area in areas
        ]
        home = _resource(_HOME, "home", "All things of the home and their states, by room")
        return ListResourcesResult(resources=[home, *rooms] if house else [])

    async def on_list_templates(_context: object, _params: object) -> ListResourceTemplatesResult:
        room = ResourceTemplate(
            name="room", uri_template=f"{_HOME}/{{area}}", description="One room, by its id", mime_type=_JSON
        )
        return ListResourceTemplatesResult(resource_templates=[room] if house else [])

    async def on_read_resource(
        context: ServerRequestContext[Any], params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        caller_of(context.request)
        found = known_house()
        content = _home_content(found, str(params.uri)) if found else None
        if content is None:
            raise MCPError(INVALID_PARAMS, "Resource not found", data={"uri": str(params.uri)})
        text = json.dumps(content, ensure_ascii=False)
        return ReadResourceResult(contents=[TextResourceContents(uri=str(params.uri), mime_type=_JSON, text=text)])

    async def on_list_prompts(_context: object, _params: object) -> ListPromptsResult:
        return ListPromptsResult(prompts=[_PROMPT])

    async def on_get_prompt(_context: object, params: GetPromptRequestParams) -> GetPromptResult:
        request = (params.arguments or {}).get("request")
        if params.name != _PROMPT.name or not request:
            raise MCPError(INVALID_PARAMS, f"the prompt is {_PROMPT.name}, with the argument request")
        text = f"{_PROMPT_TEXT}\n\n{request}"
        message = PromptMessage(role="user", content=TextContent(type="text", text=text))
        return GetPromptResult(description=_PROMPT.description, messages=[message])

    return Server(
        "edgevox",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=on_list_tools,
        on_call_tool=on_call_tool,
        on_list_resources=on_list_resources,
        on_list_resource_templates=on_list_templates,
        on_read_resource=on_read_resource,
        on_list_prompts=on_list_prompts,
        on_get_prompt=on_get_prompt,
    )


_HOME = "edgevox://home"
_JSON = "application/json"
_PROMPT = Prompt(
    name="home",
    description="Something that the home should do or tell",
    arguments=[PromptArgument(name="request", description="what, as a person would say it", required=True)],
)
_PROMPT_TEXT = (
    "Use the tools of this home for the request below. Use the names of things and rooms as they are said. "
    f"The resource {_HOME} lists all of them with their states. Answer in one short sentence."
)


def _resource(uri: str, name: str, description: str) -> Resource:
    return Resource(uri=uri, name=name, description=description, mime_type=_JSON)


def _home_content(house: House, uri: str) -> JsonObject | None:
    """Return the home or one of its rooms; None if there is no such room."""
    rooms = {
        f"{_HOME}/{area.id}": {
            "name": sanitize_name(area.name),
            "things": [_thing(one) for one in house.entities if one.area == area.id],
        }
        for area in house.areas
    }
    if uri != _HOME:
        return rooms.get(uri)
    elsewhere = [_thing(one) for one in house.entities if house.area(one.area) is None]
    return {"rooms": list(rooms.values()), "elsewhere": elsewhere}


def _thing(entity: Entity) -> JsonObject:
    name, state = sanitize_name(entity.name), sanitize_name(entity.state)
    return {"id": entity.id, "name": name, "domain": entity.domain, "state": state}


def _value(content: str) -> object:
    """Return the value of a result, which is JSON unless a tool returned text."""
    try:
        return json.loads(content)
    except ValueError:
        return content


_SCOPE = "read"
_MAX_SESSIONS = 256
_SESSION_IDLE_S = 600.0


class McpRoute:
    """ASGI application for /mcp; serves while `running()` is active."""

    def __init__(
        self, executor: ToolExecutor | None, confirm: Confirm, access: Access, house: Callable[[], House] | None = None
    ) -> None:
        self._access = access
        server = create_mcp_server(ServedTools(executor, (), confirm), self._caller, house)
        # Host and Origin are checked by the middleware (http/middleware.py).
        self._manager = StreamableHTTPSessionManager(
            server, max_sessions=_MAX_SESSIONS, session_idle_timeout=_SESSION_IDLE_S
        )

    def running(self, _app: object) -> AbstractAsyncContextManager[None]:
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises ApiError without a valid token."""
        caller = self._access.require_token(HTTPConnection(scope), _SCOPE)
        # By this the manager recognises the caller that opened a session; for others it does not exist.
        owner = AuthenticatedUser(AccessToken(token="", client_id=caller.name, scopes=[]))
        await self._manager.handle_request({**scope, "user": owner}, receive, send)

    def _caller(self, request: object) -> Caller:
        assert isinstance(request, Request)
        return self._access.require_token(request, _SCOPE)
