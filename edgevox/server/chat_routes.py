"""The routes on which programs talk with the model."""

from __future__ import annotations

from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from edgevox.agents.confirm import Confirm
from edgevox.server.access import Access, seeker_of
from edgevox.server.answering import Answering
from edgevox.server.anthropic.messages_body import MessagesBody
from edgevox.server.anthropic.reply import MessageReply
from edgevox.server.assistant import Assistant
from edgevox.server.event_stream import streamed
from edgevox.server.gone import unless_gone
from edgevox.server.model_queue import ModelQueue
from edgevox.server.models import check_chat_model
from edgevox.server.openai.chat_body import ChatCompletionBody
from edgevox.server.openai.completion import Completion
from edgevox.server.question import Question
from edgevox.server.wire import read_body
from edgevox.settings import ServerSettings
from edgevox.tools.scopes import Caller

_INSTEAD = (
    ": there are no tools in the request, so the assistant would use its own. "
    'With "tool_choice": "none" it only talks, and on its own machine it then needs none'
)


class ChatRoutes:
    """Questions to one assistant."""

    def __init__(
        self,
        assistant: Assistant,
        queue: ModelQueue,
        access: Access,
        settings: ServerSettings,
        confirm: Confirm,
    ) -> None:
        self._assistant = assistant
        self._queue = queue
        self._answering = Answering(assistant, queue, confirm)
        self._access = access
        self._settings = settings

    async def completions(self, request: Request) -> Response:
        """POST /v1/chat/completions."""
        seeker = seeker_of(request, self._access.talker(request, "chat"))
        self._queue.check_room(seeker)
        body = await read_body(request, ChatCompletionBody)
        check_chat_model(self._assistant, body.model)
        question = body.question(self._assistant.asked.sampling, self._settings)
        parts = self._answering.parts(question, self._caller(request, question), seeker)
        completion = Completion(
            self._assistant.name, as_functions=body.uses_functions, with_usage=body.wants_usage
        )
        if body.stream:
            return await streamed(request, completion.chunks(parts), completion.tell)
        async with aclosing(parts):
            return JSONResponse(await unless_gone(request.receive, completion.whole(parts)))

    async def messages(self, request: Request) -> Response:
        """POST /v1/messages."""
        seeker = seeker_of(request, self._access.talker(request, "chat"))
        self._queue.check_room(seeker)
        body = await read_body(request, MessagesBody)
        check_chat_model(self._assistant, body.model)
        question = body.question(self._assistant.asked.sampling, self._settings)
        parts = self._answering.parts(question, self._caller(request, question), seeker)
        reply = MessageReply(self._assistant.name)
        if body.stream:
            return await streamed(request, reply.events(parts), reply.tell)
        async with aclosing(parts):
            return JSONResponse(await unless_gone(request.receive, reply.whole(parts)))

    def _caller(self, request: Request, question: Question) -> Caller:
        has_own_tools = self._assistant.make_agent is not None
        if question.mode(has_own_tools=has_own_tools) == "own_tools":
            return self._access.actor(request, "read", instead=_INSTEAD)
        return self._access.talker(request, "chat")
