"""The values that cross layers, and the protocols of the engines. Nothing here acts.

The whole system is three streams: a transcriber, a chat model and a synthesizer. Each answers one request
with a stream of replies, runs in a child process of its own (or in this process, for library use), and can
be cancelled between, and where the engine allows it inside, two replies.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from edgevox.core.languages import ENGLISH
from edgevox.core.turn import CancelFlag

JsonObject: TypeAlias = Mapping[str, Any]
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
FinishReason: TypeAlias = Literal["stop", "length", "tool_calls", "cancelled"]

SAMPLE_RATE_HZ = 16_000


@dataclass(frozen=True, slots=True)
class Audio:
    """Mono sound: float32 samples between -1 and 1."""

    samples: NDArray[np.float32]
    rate_hz: int

    @property
    def duration_s(self) -> float:
        return len(self.samples) / self.rate_hz


# --- speech to text


@dataclass(frozen=True, slots=True)
class TranscribeRequest:
    """One utterance. `names` are words it may contain (devices, rooms): they prime the recogniser."""

    audio: Audio
    language: str | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was heard; `text` is empty when nobody spoke, and `dropped` then says why."""

    text: str
    language: str
    duration_s: float
    mean_logprob: float = 0.0
    window_s: float = 0.0
    attempts: int = 1
    dropped: str | None = None
    confidence: float = 1.0
    """How probable it is that every word is right, as far as the recogniser can say."""


# --- language model


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model made; `arguments` is JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is picked."""

    temperature: float = 0.7
    top_p: float = 0.95
    top_k: int = 40
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    max_tokens: int = 256
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class NamedTool:
    """The choice of one tool: the reply must be a call of it."""

    name: str


ToolChoice: TypeAlias = Literal["auto", "none", "required"] | NamedTool

ToolsAs: TypeAlias = Literal["template", "lines"]
"""How a prompt tells of the tools: as the chat template does, or in one line each."""


API_CLIENT = "api:"
"""With this the names of clients begin that are programs: they have their own share of a model's memory."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One generation: the conversation so far and how to continue it.

    `tools` are in OpenAI's form. `wire_format` names the detector in whose form calls are written; without
    one they are not held to a grammar. `client` says whose conversation it is: its prefix is kept apart.
    With `tools_as` lines, no chat template writes tools, calls or results: they are said in words. With
    `prompt_only` nothing is generated: the prompt up to the next question is evaluated, for later. Where the
    system prompt or the tools are chosen for this question, `default_system` and `default_tools` are those that
    others have: they are worth keeping.
    `reply_prefix` is the text of an interrupted reply, which is continued.
    """

    messages: tuple[Message, ...]
    tools: tuple[JsonObject, ...] = ()
    sampling: Sampling = field(default_factory=Sampling)
    stop: tuple[str, ...] = ()
    thinking: bool = False
    tool_choice: ToolChoice = "auto"
    wire_format: str | None = None
    tools_as: ToolsAs = "template"
    parallel_calls: bool = False
    json_schema: JsonObject | None = None
    client: str = ""
    prompt_only: bool = False
    default_system: str | None = None
    default_tools: tuple[JsonObject, ...] | None = None
    reply_prefix: str = ""


@dataclass(frozen=True, slots=True)
class ChatDelta:
    """A piece of raw model output, reasoning and call markers included."""

    text: str


@dataclass(frozen=True, slots=True)
class ChatDone:
    """The end of one generation; `dropped_turns` old turns had to go to make the prompt fit.

    `warnings` name the tools whose schemas could not be held to a grammar. `stopped_at` is the string of
    `stop` that ended the text, where one did.
    """

    finish_reason: FinishReason
    prompt_tokens: int
    cached_tokens: int
    generated_tokens: int
    dropped_turns: int = 0
    warnings: tuple[str, ...] = ()
    stopped_at: str | None = None


ChatReply: TypeAlias = ChatDelta | ChatDone


# --- text to speech


@dataclass(frozen=True, slots=True)
class SynthesisRequest:
    """One sentence to be spoken, by the voice for its language where there is one."""

    text: str
    speed: float = 1.0
    language: str = ENGLISH


# --- engines

RequestT = TypeVar("RequestT")
ReplyT = TypeVar("ReplyT")
RequestT_contra = TypeVar("RequestT_contra", contravariant=True)
ReplyT_co = TypeVar("ReplyT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Busy:
    """Not a reply: an engine says with it that it is still at work, where the first reply takes long."""


class Engine(Protocol[RequestT_contra, ReplyT_co]):
    """A native engine: blocking, one request at a time. Its constructor is cheap, and it can be pickled."""

    def load(self) -> None:
        """Read the model. Raises ModelError when it cannot be used."""

    def run(self, request: RequestT_contra, cancel: CancelFlag) -> Iterator[ReplyT_co | Busy]:
        """Answer one request; return early, without an error, once `cancel` is set."""


class Stage(Protocol[RequestT_contra, ReplyT_co]):
    """An engine as the rest of the program sees it: asynchronous, wherever it runs."""

    def stream(self, request: RequestT_contra, cancel: CancelFlag) -> AsyncGenerator[ReplyT_co, None]:
        """Answer one request. Raises EngineFailed when the engine died or hung."""


SttService: TypeAlias = Stage[TranscribeRequest, Transcript]
ChatModel: TypeAlias = Stage[ChatRequest, ChatReply]
TtsService: TypeAlias = Stage[SynthesisRequest, Audio]
