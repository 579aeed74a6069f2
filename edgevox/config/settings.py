"""The settings model: type, range, default and description of every key. CLI flags derive from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import ConfigDict, Field, PrivateAttr

from edgevox.config.sections import (
    AUTO,
    HomeSettings,
    HttpUrl,
    JsonText,
    Language,
    LanguageOrAuto,
    McpSettings,
    MqttSettings,
    RingSettings,
    Seconds,
    Section,
    ServerSettings,
    SoundSettings,
    TcpAddress,
    Text,
    UserPath,
    WakeSettings,
)
from edgevox.core.languages import ENGLISH
from edgevox.core.types import Sampling

Layer: TypeAlias = Literal["default", "preset", "file", "environment", "flag"]
LAYERS: tuple[Layer, ...] = get_args(Layer)
"""Weakest first."""

DEFAULT_PRESET = "home"
GENERIC_PRESET = "generic"
REMOTE_PRESET = "remote"

_INSTRUCTIONS = (
    "You are a voice assistant, and your replies are read aloud. Answer in one or two short, plain "
    "sentences, with no lists, no Markdown, no links and no emoji. If you do not know something, say so."
)

_Threads: TypeAlias = Annotated[int, Field(ge=1, le=256)] | Literal["auto"]
RemoteKind: TypeAlias = Literal["openai", "anthropic"]
EchoCancellation: TypeAlias = Literal["auto", "on", "off"]
_ConfirmLevel: TypeAlias = Literal["never", "voice", "screen"]


@dataclass(frozen=True, slots=True)
class Source:
    """The layer of a value, and within it the preset, file or variable."""

    layer: Layer
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.layer} {self.detail}".rstrip()


class LlmSettings(Section):
    """The language model."""

    model: UserPath | None = Field(
        default=None,
        description="your own GGUF file, instead of the preset's model",
        examples=["~/models/my-model.gguf"],
    )
    remote_url: HttpUrl | None = Field(
        default=None,
        description="the URL of a remote model: llama.cpp, vLLM, Ollama, Anthropic, another EdgeVox",
        examples=["http://localhost:8080/v1"],
    )
    remote_kind: RemoteKind = Field(default="openai", description="the API of that server")
    remote_model: Text | None = Field(
        default=None, description="the model's name there; not needed if there is only one", examples=["qwen3:8b"]
    )
    remote_key_file: UserPath | None = Field(
        default=None,
        description="a file with the API key, readable only by you (chmod 600)",
        examples=["~/.config/edgevox/remote_key"],
    )
    remote_key_variable: Text = Field(
        default="EDGEVOX_REMOTE_KEY", description="the environment variable with the API key, if there is no file"
    )
    remote_extra: JsonText = Field(default="{}", description='extra fields for every request, as JSON: {"top_k": 20}')
    context_tokens: int = Field(
        default=4096, ge=256, le=1_048_576, description="the context window; more takes more memory"
    )
    threads: _Threads = Field(default="auto", description="CPU threads")
    temperature: float = Field(
        default=0.7, ge=0, le=5, description="sampling temperature; 0 always takes the likeliest token"
    )
    top_p: float = Field(default=0.95, gt=0, le=1, description="sample from the tokens with this total probability")
    top_k: int = Field(default=40, ge=0, description="sample from this many tokens at most; 0: no limit")
    min_p: float = Field(
        default=0.05, ge=0, le=1, description="drop tokens less likely than this share of the likeliest"
    )
    repeat_penalty: float = Field(default=1.0, gt=0, le=2, description="above 1 discourages repetition")
    max_tokens: int = Field(default=256, ge=1, description="the longest reply, in tokens")
    seed: int | None = Field(
        default=None, ge=0, le=2**32 - 2, description="a fixed seed gives reproducible replies", examples=[1]
    )
    thinking: bool = Field(default=False, description="let a reasoning model think before it answers (slower)")
    optimize: bool = Field(
        default=True, description="make and use a copy of the model in the fastest format for this CPU"
    )
    kv_type: Literal["f16", "q8_0"] = Field(
        default="f16", description="the type of the KV cache; q8_0 takes half the memory"
    )
    constraint_engine: Literal["llguidance", "llama.cpp"] = Field(
        default="llguidance", description="the grammar engine for tool calls"
    )
    keep_prompts: bool = Field(
        default=True, description="cache the evaluated system prompt on disk, for a faster start"
    )
    instructions: str = Field(default=_INSTRUCTIONS, description="the system prompt")

    @property
    def sampling(self) -> Sampling:
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            min_p=self.min_p,
            repeat_penalty=self.repeat_penalty,
            max_tokens=self.max_tokens,
            seed=self.seed,
        )


class SttSettings(Section):
    """Speech recognition."""

    engine: Text = Field(
        default=AUTO,
        description='"whisper", "wyoming" or the engine of a package; "auto" goes by stt.remote and stt.model',
        examples=["whisper"],
    )
    model: Text = Field(default="whisper-base", description="the recogniser; whisper-tiny.en for small machines")
    language: LanguageOrAuto = Field(
        default="en", description='the language spoken, such as "de", or "auto" to detect it'
    )
    adapted: bool = Field(default=True, description="use the adapter for home commands (whisper-base in English)")
    rescoring: bool = Field(default=True, description="if unsure, prefer common home commands (English)")
    ask_below: float = Field(
        default=0.4,
        ge=0,
        le=1,
        description='below this confidence it asks "Did you say …?" before it acts; 0 never asks',
    )
    threads: _Threads = Field(default="auto", description="CPU threads")
    names: tuple[str, ...] = Field(default=(), description="names to recognise, spelled like this")
    remote: TcpAddress | None = Field(
        default=None,
        description="a Wyoming server for speech recognition, instead of the local Whisper",
        examples=["tcp://localhost:10300"],
    )
    remote_model: Text | None = Field(default=None, description="its model, if it has several", examples=["small-int8"])


class TtsSettings(Section):
    """The voice."""

    enabled: bool = Field(default=True, description="speak the replies of edgevox run")
    engine: Text = Field(
        default=AUTO,
        description='"piper", "wyoming" or the engine of a package; "auto" goes by tts.remote and tts.voice',
        examples=["piper"],
    )
    voice: Text = Field(default="piper-en_US-joe-medium", description="the voice")
    voices: Mapping[Language, Text] = Field(
        default={}, description='voices for other languages: de = "piper-de_DE-thorsten-medium"'
    )
    speed: float = Field(default=1.0, ge=0.25, le=4, description="above 1 speaks faster")
    threads: _Threads = Field(default="auto", description="CPU threads")
    remote: TcpAddress | None = Field(
        default=None,
        description="a Wyoming server for speech synthesis, instead of the local Piper",
        examples=["tcp://localhost:10200"],
    )
    remote_voice: Text | None = Field(
        default=None, description="its voice, for the first of its languages", examples=["en_GB-alba-medium"]
    )
    remote_languages: tuple[Language, ...] = Field(
        default=(ENGLISH,), min_length=1, description="its languages, the default first"
    )


class AudioSettings(Section):
    """Microphone and loudspeaker."""

    microphone: Text | None = Field(
        default=None, description="name of the microphone, or part of it; default: the system's", examples=["USB"]
    )
    speaker: Text | None = Field(
        default=None, description="name of the loudspeaker, or part of it; default: the system's", examples=["HDMI"]
    )
    lead_in_ms: int = Field(
        default=200,
        ge=0,
        le=2000,
        description="silence before a reply, for loudspeakers that cut off the first syllable",
    )
    echo_cancellation: EchoCancellation = Field(
        default="auto",
        description="remove the assistant's own voice from the recording; auto: unless the device does it",
    )
    vad_aggressiveness: int = Field(default=2, ge=0, le=3, description="0 accepts most sounds as speech, 3 the fewest")
    pre_roll_ms: int = Field(default=300, ge=0, le=2000, description="audio kept from before speech is detected")
    hangover_ms: int = Field(
        default=500,
        ge=100,
        le=3000,
        description="the silence that ends an utterance: shorter after a stop, longer after a sentence",
    )
    min_speech_ms: int = Field(default=200, ge=0, le=2000, description="shorter sounds are noise, not speech")
    max_utterance_s: float = Field(default=30.0, ge=1, le=300, description="a longer utterance is answered in parts")


class EngineSettings(Section):
    """How long an engine may take before it counts as hung and is restarted."""

    start_timeout_s: Seconds = Field(default=120.0, description="loading a model")
    stt_timeout_s: Seconds = Field(default=45.0, description="transcribing an utterance")
    first_token_timeout_s: Seconds = Field(default=60.0, description="evaluating the prompt, up to the first token")
    token_timeout_s: Seconds = Field(default=15.0, description="each further token")
    tts_timeout_s: Seconds = Field(default=30.0, description="synthesising a sentence")
    in_process: bool = Field(
        default=False, description="run the engines inside this process, where a crash ends everything (for debugging)"
    )


class RecordSettings(Section):
    """The log of turns in the state folder."""

    max_bytes: int = Field(default=5_000_000, ge=10_000, description="the maximum size of the log")
    keep_text: bool = Field(default=True, description="record what was said, not only the timings")


class MemorySettings(Section):
    """The memory of conversations in the state folder."""

    enabled: bool = Field(default=True, description="keep conversations across restarts")
    retention_days: int = Field(default=30, ge=1, le=3650, description="conversations are deleted after this many days")
    continue_minutes: float = Field(
        default=10.0, ge=0, le=10_080, description="a silence this long ends the conversation"
    )
    max_turns: int = Field(default=20, ge=1, le=1000, description="how many earlier turns the prompt contains at most")


class ToolSettings(Section):
    """What the assistant may do."""

    enabled: bool = Field(default=True, description="false: it only talks")
    disabled: tuple[str, ...] = Field(default=(), description="tools that are not offered to the model")
    timeout_s: Seconds = Field(default=30.0, description="a tool that takes longer is abandoned")
    timeouts_s: Mapping[str, Seconds] = Field(default={}, description="timeouts of single tools: search_corpus = 60")
    confirm_within_s: Seconds = Field(default=30.0, description="no answer within this time counts as no")
    confirm_tools: Mapping[str, _ConfirmLevel] = Field(
        default={}, description='the confirmation that a tool needs, overriding all others: broadcast = "voice"'
    )
    confirm_domains: Mapping[str, _ConfirmLevel] = Field(
        default={}, description='the same by domain or entity: lock = "screen" (not by voice), "cover.garage" = "never"'
    )
    confirm_otherwise: _ConfirmLevel = Field(
        default="never", description="the same for every other call with side effects"
    )
    documents: UserPath | None = Field(
        default=None,
        description="a folder of your own documents to search; each sub-folder is a corpus",
        examples=["~/Documents/house"],
    )
    sound_folders: tuple[UserPath, ...] = Field(default=(), description="folders whose audio files may be transcribed")
    plugin_timeout_s: Seconds = Field(default=10.0, description="a plugin that takes longer to start is disabled")


class PluginTables(Section):
    """The tables [plugins.NAME]; their contents, except `enabled`, belong to the plugins."""

    model_config = ConfigDict(extra="allow")

    def names(self) -> tuple[str, ...]:
        return tuple(self.model_extra or {})

    def is_enabled(self, name: str) -> bool:
        return self.table(name).get("enabled") is not False

    def table(self, name: str) -> Mapping[str, Any]:
        """The settings of one plugin; empty without a table."""
        return MappingProxyType((self.model_extra or {}).get(name, {}))


class Settings(Section):
    """Every setting; `sources` gives the origin of each value by its dotted name."""

    preset: Text = Field(default=DEFAULT_PRESET, description="the language model; edgevox presets list shows all")
    llm: LlmSettings = LlmSettings()
    stt: SttSettings = SttSettings()
    tts: TtsSettings = TtsSettings()
    audio: AudioSettings = AudioSettings()
    sounds: SoundSettings = SoundSettings()
    wake: WakeSettings = WakeSettings()
    engines: EngineSettings = EngineSettings()
    records: RecordSettings = RecordSettings()
    memory: MemorySettings = MemorySettings()
    home: HomeSettings = HomeSettings()
    mqtt: MqttSettings = MqttSettings()
    ring: RingSettings = RingSettings()
    tools: ToolSettings = ToolSettings()
    mcp: McpSettings = McpSettings()
    server: ServerSettings = ServerSettings()
    plugins: PluginTables = PluginTables()

    _sources: Mapping[str, Source] = PrivateAttr(default_factory=lambda: MappingProxyType({}))

    @property
    def sources(self) -> Mapping[str, Source]:
        return self._sources

    def from_sources(self, sources: Mapping[str, Source]) -> Settings:
        """The same settings with their sources."""
        settings = self.model_copy()
        settings._sources = MappingProxyType(dict(sources))
        return settings
