"""Values that cross layers, and the protocols of the engines.

The system consists of three streams: a transcriber, a chat model and a synthesizer. Each answers one request
with a stream of replies, runs in a child process of its own (or in this process, for library use), and can
be cancelled between two replies, or within one where the engine allows it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from edgevox.core.languages import ENGLISH
from edgevox.core.turn import CancelFlag

JsonObject: TypeAlias = Mapping[str, Any]
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
FinishReason: TypeAlias = Literal["stop", "length", "tool_calls", "cancelled"]

SAMPLE_RATE_HZ = 16_000
# Soft clipping: samples above this are compressed so that they never reach 1.
_KNEE = 0.7
# -50 dBFS, and the margin before it that keeps the first consonant whole.
_AUDIBLE = 0.003
_BEFORE_AUDIBLE_S = 0.01


@dataclass(frozen=True, slots=True)
class Audio:
    """Mono sound: float32 samples between -1 and 1."""

    samples: NDArray[np.float32]
    rate_hz: int

    @classmethod
    def joined(cls, pieces: Sequence[Audio]) -> Audio:
        """One or more pieces of the same rate as one."""
        return cls(np.concatenate([piece.samples for piece in pieces]), pieces[0].rate_hz)

    @property
    def duration_s(self) -> float:
        return len(self.samples) / self.rate_hz

    def amplified(self, gain: float) -> Audio:
        """The sound with a gain, soft-clipped."""
        samples = self.samples * np.float32(gain)
        size = np.abs(samples)
        compressed = _KNEE + (1 - _KNEE) * np.tanh((size - _KNEE) / (1 - _KNEE))
        samples = np.where(size > _KNEE, np.copysign(compressed, samples), samples)
        return Audio(samples.astype(np.float32), self.rate_hz)

    def without_leading_silence(self) -> Audio:
        audible = np.flatnonzero(np.abs(self.samples) > _AUDIBLE)
        begin = int(audible[0]) - round(_BEFORE_AUDIBLE_S * self.rate_hz) if len(audible) else 0
        return Audio(self.samples[begin:], self.rate_hz) if begin > 0 else self

    def with_trailing_silence(self, most_s: float) -> Audio:
        """The sound with at most that much silence at its end."""
        audible = np.flatnonzero(np.abs(self.samples) > _AUDIBLE)
        end = (int(audible[-1]) if len(audible) else 0) + round(most_s * self.rate_hz)
        return Audio(self.samples[:end], self.rate_hz) if end < len(self.samples) else self


def to_pcm16(samples: NDArray[np.float32]) -> bytes:
    """Samples as 16-bit little-endian integers."""
    return np.rint(np.clip(samples, -1.0, 1.0) * 32_767).astype("<i2").tobytes()


# --- speech to text

GUEST = "guest"
"""The speaker whose voice is none of the enrolled ones."""


@dataclass(frozen=True, slots=True)
class TranscribeRequest:
    """One utterance. `names` (of devices, areas) are expected words that prime the recogniser."""

    audio: Audio
    language: str | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Transcript:
    """The recognised words; `text` is empty if there was no speech, and `dropped` then says why."""

    text: str
    language: str
    duration_s: float
    mean_logprob: float = 0.0
    window_s: float = 0.0
    attempts: int = 1
    dropped: str | None = None
    confidence: float = 1.0
    """The recogniser's estimate of the probability that every word is right."""
    alternatives: tuple[str, ...] = ()
    """The other hypotheses where the recogniser was unsure, the most probable first."""
    speaker: str = ""
    """The enrolled person who spoke, GUEST for another voice, "" if that is not known."""
    voice: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    """The embedding of the voice, empty for too little speech; None if voices are not recognised."""


# --- language model


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model made; `arguments` is JSON text, `summary` what it does in words ("Unlock front door")."""

    id: str
    name: str
    arguments: str
    summary: str = field(default="", compare=False)

    def with_arguments(self, arguments: Mapping[str, object]) -> ToolCall:
        return replace(self, arguments=json.dumps(arguments, ensure_ascii=False))


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters."""

    temperature: float = 0.7
    top_p: float = 0.95
    top_k: int = 40
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    max_tokens: int = 256
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class NamedTool:
    """Forces a call of this tool."""

    name: str


ToolChoice: TypeAlias = Literal["auto", "none", "required"] | NamedTool

ToolsAs: TypeAlias = Literal["template", "lines"]
"""How a prompt describes the tools: with the chat template, or in one line each."""


API_CLIENT = "api:"
"""Prefix of client names that are programs; they have their own share of the prompt cache."""
API_CONVERSATION = f"{API_CLIENT}conversation:"
"""Prefix of client names that are conversations of several requests; other requests of programs stand alone."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One generation: the conversation so far and how to continue it.

    `tools` are in OpenAI's format. `wire_format` names the detector whose call syntax the grammar enforces;
    without one there is no grammar. `client` names the owner of the conversation; each has its own cached prefix.
    With `tools_as` lines, tools, calls and results are written as plain text, not by the chat template. With
    `prompt_only` nothing is generated: the prompt is evaluated up to the next user message, to warm the cache.
    Where system prompt or tools are chosen for this utterance, `default_system` and `default_tools` are the common
    ones, which are worth caching. `reply_prefix` is the interrupted reply so far, which is continued; `prefill` is the
    part of it that the model did not write, and that does not count. With `max_tokens` 0 the prompt is only counted.
    Nobody waits for one that `is_idle`: work between turns.
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
    prefill: str = ""
    is_idle: bool = False


@dataclass(frozen=True, slots=True)
class ChatDelta:
    """A piece of raw model output, reasoning and call markers included.

    `prompt_tokens` and `cached_tokens` are those of ChatDone, where the model knows them by now; else 0.
    """

    text: str
    prompt_tokens: int = 0
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ChatDone:
    """The end of one generation; `dropped_turns` old turns were dropped to make the prompt fit.

    `warnings` name the tools whose schemas have no grammar. `stopped_at` is the stop string that ended the
    text, if one did.
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
    """One sentence, spoken by the voice of its language if there is one.

    `pitch_semitones` is None for that of the settings; voices that have no pitch ignore it.
    """

    text: str
    speed: float = 1.0
    language: str = ENGLISH
    pitch_semitones: float | None = None


# --- embeddings


@dataclass(frozen=True, slots=True)
class EmbedRequest:
    """Texts to embed; with `truncate`, one that is too long is cut instead of refused."""

    texts: tuple[str, ...]
    truncate: bool = False


@dataclass(frozen=True, slots=True)
class Embedding:
    """The vector of one text, of length 1, and how many tokens were read."""

    vector: NDArray[np.float32]
    tokens: int


@dataclass(frozen=True, slots=True)
class VoiceEmbedding:
    """The vector of a voice, of length 1; empty if there was too little speech."""

    vector: NDArray[np.float32]


# --- engines

RequestT = TypeVar("RequestT")
ReplyT = TypeVar("ReplyT")
RequestT_contra = TypeVar("RequestT_contra", contravariant=True)
ReplyT_co = TypeVar("ReplyT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Busy:
    """A keep-alive, sent by an engine whose first reply takes long."""


class Engine(Protocol[RequestT_contra, ReplyT_co]):
    """A native engine: blocking, one request at a time. Its constructor is cheap, and it can be pickled."""

    def load(self) -> None:
        """Load the model. Raises ModelError if it cannot be used."""

    def run(self, request: RequestT_contra, cancel: CancelFlag) -> Iterator[ReplyT_co | Busy]:
        """Answer one request; return early, without an error, once `cancel` is set."""


class Stage(Protocol[RequestT_contra, ReplyT_co]):
    """The asynchronous interface of an engine, in a child process, this process or on another machine."""

    def stream(self, request: RequestT_contra, cancel: CancelFlag) -> AsyncGenerator[ReplyT_co, None]:
        """Answer one request. Raises EngineFailed if the engine died or hung."""


SpeakerService: TypeAlias = Stage[Audio, VoiceEmbedding]
SttService: TypeAlias = Stage[TranscribeRequest, Transcript]
ChatModel: TypeAlias = Stage[ChatRequest, ChatReply]
TtsService: TypeAlias = Stage[SynthesisRequest, Audio]
