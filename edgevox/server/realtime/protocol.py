"""Client events, session settings and the list of server events of the Realtime API, in OpenAI's GA shapes."""

from __future__ import annotations

import base64
import binascii
import secrets
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, LiteralString, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import from_json

from edgevox.core.types import JsonObject, NamedTool, ToolChoice
from edgevox.server.chat import input as chat
from edgevox.server.http.errors import ApiError, invalid
from edgevox.server.http.wire import Ignored, StrictBody, only, unsupported, validated

RATE_HZ: Final = 24_000
SAMPLE_BYTES: Final = 2

SERVER_EVENTS: Final = frozenset(
    {
        "conversation.created",
        "conversation.item.added",
        "conversation.item.deleted",
        "conversation.item.done",
        "conversation.item.input_audio_transcription.completed",
        "conversation.item.input_audio_transcription.failed",
        "conversation.item.retrieved",
        "conversation.item.truncated",
        "error",
        "input_audio_buffer.cleared",
        "input_audio_buffer.committed",
        "input_audio_buffer.speech_started",
        "input_audio_buffer.speech_stopped",
        "response.content_part.added",
        "response.content_part.done",
        "response.created",
        "response.done",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_audio.delta",
        "response.output_audio.done",
        "response.output_audio_transcript.delta",
        "response.output_audio_transcript.done",
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.output_text.done",
        "session.created",
        "session.updated",
    }
)
"""The events that are sent; docs/guide/realtime.md says of the others why not."""


def new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(12)}"


# --- the session


def _refused(*values: str, why: LiteralString) -> BeforeValidator:
    def check(value: object) -> object:
        if value in values:
            raise unsupported(why)
        return value

    return BeforeValidator(check)


class AudioFormat(StrictBody):
    """PCM of 16 bits at 24 kHz, the only one."""

    type: Annotated[
        Literal["audio/pcm"],
        _refused("audio/pcmu", "audio/pcma", why="G.711 is not supported: use audio/pcm with 24000 Hz"),
    ] = "audio/pcm"
    rate: Literal[24_000] = 24_000


# OpenAI's default, which stands for the hangover of the settings.
_USUAL_SILENCE_MS = 500
# OpenAI waits at most 8, 4 and 2 s; here the words decide, and this scales how long they let the silence be.
_EAGERNESS = {"low": 2.0, "medium": 1.0, "auto": 1.0, "high": 0.5}


class TurnDetection(StrictBody):
    """The endpointer of the assistant, behind both names; it needs no threshold and no padding of the client."""

    type: Literal["server_vad", "semantic_vad"] = "server_vad"
    create_response: bool = True
    interrupt_response: bool = True
    threshold: Ignored = None
    prefix_padding_ms: Ignored = None
    silence_duration_ms: Annotated[int, Field(ge=100, le=5000)] | None = None
    eagerness: Literal["low", "medium", "high", "auto"] | None = None
    idle_timeout_ms: Annotated[Any, only()] = None

    @property
    def hangover_scale(self) -> float:
        """How long the silence is that ends an utterance, over that of the assistant's settings."""
        if self.silence_duration_ms is not None:
            return self.silence_duration_ms / _USUAL_SILENCE_MS
        return _EAGERNESS[self.eagerness or "auto"]


class Transcription(StrictBody):
    """Asks for the transcript of what is said; the recogniser is the assistant's, whatever `model` names."""

    model: str | None = None
    language: str | None = None
    prompt: Ignored = None
    delay: Annotated[Any, only()] = None


class AudioInput(StrictBody):
    """How the client is heard."""

    format: AudioFormat = AudioFormat()
    turn_detection: TurnDetection | None = TurnDetection()
    transcription: Transcription | None = None
    noise_reduction: Ignored = None


class AudioOutput(StrictBody):
    """How it is answered; `voice` is the assistant's own, or one of OpenAI's names for it."""

    format: AudioFormat = AudioFormat()
    voice: str | dict[str, str] = "default"
    speed: Annotated[float, only(1, 1.0)] = 1.0


class AudioSettings(StrictBody):
    """Both directions."""

    input: AudioInput = AudioInput()
    output: AudioOutput = AudioOutput()


class FunctionTool(StrictBody):
    """A function of the client."""

    type: Annotated[Literal["function"], _refused("mcp", why="MCP servers of a session are not supported")] = "function"
    name: chat.ToolName
    description: str | None = None
    parameters: dict[str, Any] | None = None


class _NamedFunction(StrictBody):
    type: Annotated[Literal["function"], _refused("mcp", why="MCP servers of a session are not supported")] = "function"
    name: chat.ToolName


def _one_modality(value: list[str]) -> list[str]:
    if len(value) != 1:
        raise unsupported("either text or audio")
    return value


Modality: TypeAlias = Literal["text", "audio"]
Modalities: TypeAlias = Annotated[list[Modality], AfterValidator(_one_modality)]


def _spoken() -> list[Modality]:
    return ["audio"]


MaxTokens: TypeAlias = Annotated[int, Field(ge=1, le=4096)] | Literal["inf"]
Choice: TypeAlias = Literal["auto", "none", "required"] | _NamedFunction


class _Options(StrictBody):
    """What session and response have in common."""

    output_modalities: Modalities = Field(default_factory=_spoken)
    instructions: Annotated[str, Field(max_length=50_000)] = ""
    tools: list[FunctionTool] = Field(default_factory=list)
    tool_choice: Choice = "auto"
    parallel_tool_calls: bool = True
    max_output_tokens: MaxTokens = "inf"
    reasoning: dict[str, Any] | None = None
    prompt: Annotated[Any, only()] = None

    @property
    def speaks(self) -> bool:
        return self.output_modalities == ["audio"]

    @property
    def runs_client_functions(self) -> bool:
        """Whether the assistant's own tools are not used: the client has functions, or wants none."""
        return bool(self.tools) or self.tool_choice == "none"

    @property
    def tool_schemas(self) -> tuple[JsonObject, ...]:
        return tuple(
            chat.tool_schema(one.name, one.description, one.parameters or chat.NO_PARAMETERS) for one in self.tools
        )

    @property
    def choice(self) -> ToolChoice:
        return NamedTool(self.tool_choice.name) if isinstance(self.tool_choice, _NamedFunction) else self.tool_choice


class SessionSettings(_Options):
    """The settings of a session; a client sends the ones that it changes."""

    type: Annotated[
        Literal["realtime"],
        _refused("transcription", why="transcription sessions are not supported: use /v1/audio/transcriptions"),
    ] = "realtime"
    model: str | None = None
    audio: AudioSettings = AudioSettings()
    include: Annotated[Any, only([])] = None
    tracing: dict[str, Any] | str | None = None
    truncation: Annotated[Any, only("auto")] = "auto"

    def updated(self, given: JsonObject) -> SessionSettings:
        """Return the settings with the given fields, of `audio` only the given ones. Raises ApiError."""
        return validated(SessionSettings, _merged(self.model_dump(), _without_nulls(given)), "session")

    def as_json(self, session_id: str) -> JsonObject:
        shown = {"id": session_id, "object": "realtime.session", **self.model_dump()}
        detection = self.audio.input.turn_detection
        if detection is not None:
            shown["audio"]["input"]["turn_detection"] = detection.model_dump(exclude_none=True)
        if (transcription := self.audio.input.transcription) is not None:  # Pipecat rejects fields that it did not send
            shown["audio"]["input"]["transcription"] = transcription.model_dump(exclude_none=True)
        shown["tools"] = [tool.model_dump(exclude_none=True) for tool in self.tools]
        return shown


def _without_nulls(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options without those that are null: LiveKit sends all that it has none for."""
    return {name: value for name, value in given.items() if value is not None or name not in _Options.model_fields}


def _merged(current: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return `current` with the given values; objects that hold settings keep their other fields."""
    merged = dict(current)
    for name, value in given.items():
        before = merged.get(name)
        is_nested = name in ("audio", "input", "output") and isinstance(before, dict) and isinstance(value, dict)
        merged[name] = _merged(before, value) if is_nested and before is not None else value
    return merged


class ResponseOptions(_Options):
    """The options of one response, with those of the session where it has none of its own."""

    audio: dict[str, Any] | None = None
    metadata: dict[str, str] | None = None
    conversation: Annotated[Any, only("auto")] = None
    input: Annotated[Any, only()] = None

    @classmethod
    def of(cls, session: SessionSettings, given: JsonObject | None = None) -> ResponseOptions:
        """Raises ApiError."""
        common = session.model_dump(include=set(_Options.model_fields))
        return validated(cls, {**common, **_without_nulls(given or {})}, "response")


# --- conversation items


class Content(StrictBody):
    """A part of a message of the client."""

    type: Annotated[
        Literal["input_text", "input_audio", "output_text", "output_audio", "text", "audio"],
        _refused("input_image", why="images are not supported: the model reads text only"),
    ]
    text: str | None = None
    audio: str | None = None
    transcript: str | None = None


class ClientItem(StrictBody):
    """An item that the client creates."""

    id: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    object: Literal["realtime.item"] | None = None
    type: Annotated[
        Literal["message", "function_call", "function_call_output"],
        _refused(
            "mcp_call", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response", why="MCP is not supported"
        ),
    ]
    status: Literal["completed", "incomplete", "in_progress"] | None = None
    role: Literal["user", "assistant", "system"] | None = None
    content: list[Content] | None = None
    call_id: str | None = Field(None, min_length=1, max_length=64)
    name: chat.ToolName | None = None
    arguments: str | None = None
    output: str | None = None


# --- client events


class _Event(StrictBody):
    event_id: Annotated[str, Field(max_length=512)] | None = None


class SessionUpdate(_Event):
    """Changes settings."""

    type: Literal["session.update"]
    session: dict[str, Any]


class AppendAudio(_Event):
    """Adds sound to the input buffer."""

    type: Literal["input_audio_buffer.append"]
    audio: str


class CommitAudio(_Event):
    """Makes an item of the input buffer."""

    type: Literal["input_audio_buffer.commit"]


class ClearAudio(_Event):
    """Drops the input buffer."""

    type: Literal["input_audio_buffer.clear"]


class CreateItem(_Event):
    """Adds an item to the conversation."""

    type: Literal["conversation.item.create"]
    item: ClientItem
    previous_item_id: str | None = None


class RetrieveItem(_Event):
    """Asks for an item."""

    type: Literal["conversation.item.retrieve"]
    item_id: str


class DeleteItem(_Event):
    """Removes an item."""

    type: Literal["conversation.item.delete"]
    item_id: str


class TruncateItem(_Event):
    """Says how much of a spoken reply was played."""

    type: Literal["conversation.item.truncate"]
    item_id: str
    content_index: Literal[0] = 0
    audio_end_ms: int = Field(ge=0)


class CreateResponse(_Event):
    """Asks for a response."""

    type: Literal["response.create"]
    response: dict[str, Any] | None = None


class CancelResponse(_Event):
    """Stops the response."""

    type: Literal["response.cancel"]
    response_id: str | None = None


ClientEvent: TypeAlias = (
    SessionUpdate
    | AppendAudio
    | CommitAudio
    | ClearAudio
    | CreateItem
    | RetrieveItem
    | DeleteItem
    | TruncateItem
    | CreateResponse
    | CancelResponse
)
CLIENT_EVENTS: Final[Mapping[str, type[ClientEvent]]] = {
    "session.update": SessionUpdate,
    "input_audio_buffer.append": AppendAudio,
    "input_audio_buffer.commit": CommitAudio,
    "input_audio_buffer.clear": ClearAudio,
    "conversation.item.create": CreateItem,
    "conversation.item.retrieve": RetrieveItem,
    "conversation.item.delete": DeleteItem,
    "conversation.item.truncate": TruncateItem,
    "response.create": CreateResponse,
    "response.cancel": CancelResponse,
}
REFUSED_EVENTS: Final = {"output_audio_buffer.clear": "it is for WebRTC only: use conversation.item.truncate"}


def read_event(text: str) -> tuple[ClientEvent | ApiError, str | None]:
    """Parse a client event, or return its error; and its `event_id`, if it has one."""
    try:
        content = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        return ApiError(400, "invalid_json", f"the event is not JSON: {error}"), None
    if not isinstance(content, dict):
        return ApiError(400, "invalid_event", "an event is a JSON object"), None
    event_id = content.get("event_id")
    event_id = event_id if isinstance(event_id, str) else None
    kind = content.get("type")
    if kind is None:
        return ApiError(400, "missing_required_parameter", "type is missing", param="type"), event_id
    if isinstance(kind, str) and kind in REFUSED_EVENTS:
        return invalid(f"{kind} is not supported: {REFUSED_EVENTS[kind]}", "type"), event_id
    model = CLIENT_EVENTS.get(kind) if isinstance(kind, str) else None
    if model is None:
        return invalid(f"unknown event {str(kind)[:64]}; known: {', '.join(CLIENT_EVENTS)}", "type"), event_id
    try:
        return validated(model, content), event_id
    except ApiError as error:
        return error, event_id


def decoded(audio: str, param: str) -> bytes:
    """Return the samples of base64 text. Raises ApiError."""
    try:
        pcm = base64.b64decode(audio, validate=True)
    except (binascii.Error, ValueError):
        raise invalid("the audio is not base64", param) from None
    if len(pcm) % SAMPLE_BYTES:
        raise invalid("sound of 16 bits has an even number of bytes", param)
    return pcm
