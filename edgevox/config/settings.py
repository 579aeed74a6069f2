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
    """Where a value came from: the layer, and in it the preset, the file or the variable."""

    layer: Layer
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.layer} {self.detail}".rstrip()


class LlmSettings(Section):
    """The language model."""

    model: UserPath | None = Field(
        default=None,
        description="a GGUF file of your own, instead of the preset's",
        examples=["~/models/my-model.gguf"],
    )
    remote_url: HttpUrl | None = Field(
        default=None,
        description="a server that has the model: llama.cpp's, vLLM, Ollama, Anthropic, another EdgeVox",
        examples=["http://localhost:8080/v1"],
    )
    remote_kind: RemoteKind = Field(default="openai", description="how that server is spoken to")
    remote_model: Text | None = Field(
        default=None,
        description="the model's name there; not needed where there is one only",
        examples=["qwen3:8b"],
    )
    remote_key_file: UserPath | None = Field(
        default=None,
        description="a file with the key for that server, which only you can read (chmod 600)",
        examples=["~/.config/edgevox/remote_key"],
    )
    remote_key_variable: Text = Field(
        default="EDGEVOX_REMOTE_KEY", description="the environment variable with the key, without a file"
    )
    remote_extra: JsonText = Field(
        default="{}", description='more fields for every request there, as JSON: {"top_k": 20}'
    )
    context_tokens: int = Field(
        default=4096, ge=256, le=1_048_576, description="room for the conversation; more takes more memory"
    )
    threads: _Threads = Field(default="auto", description="processor threads")
    temperature: float = Field(
        default=0.7, ge=0, le=5, description="0 always takes the likeliest word, more is livelier"
    )
    top_p: float = Field(default=0.95, gt=0, le=1, description="choose among the words that make up this share")
    top_k: int = Field(default=40, ge=0, description="choose among this many words at most; 0: no limit")
    min_p: float = Field(
        default=0.05, ge=0, le=1, description="drop words less likely than this share of the likeliest"
    )
    repeat_penalty: float = Field(default=1.0, gt=0, le=2, description="above 1 discourages repetition")
    max_tokens: int = Field(default=256, ge=1, description="the longest reply")
    seed: int | None = Field(
        default=None, ge=0, le=2**32 - 2, description="the same number gives the same replies", examples=[1]
    )
    thinking: bool = Field(default=False, description="let a model that can do so think before it answers (slower)")
    optimize: bool = Field(
        default=True,
        description="make and use a copy of the model that this processor works faster with",
    )
    kv_type: Literal["f16", "q8_0"] = Field(
        default="f16", description="how the model remembers the conversation; q8_0 takes half the memory"
    )
    constraint_engine: Literal["llguidance", "llama.cpp"] = Field(
        default="llguidance", description="what holds tool calls to their form"
    )
    keep_prompts: bool = Field(
        default=True,
        description="keep the evaluated system prompt on disk, so that the next start answers sooner",
    )
    instructions: str = Field(default=_INSTRUCTIONS, description="what the model is told before every conversation")

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
        default="en", description='the language spoken, such as "de", or "auto" to find out'
    )
    adapted: bool = Field(default=True, description="with what it has learnt of homes: whisper-base in English")
    rescoring: bool = Field(default=True, description="where it is unsure in English, prefer what is said to homes")
    ask_below: float = Field(
        default=0.4,
        ge=0,
        le=1,
        description='below this confidence it asks "Did you say …?" before it does something; 0 never asks',
    )
    threads: _Threads = Field(default="auto", description="processor threads")
    names: tuple[str, ...] = Field(default=(), description="names it may hear and should spell like this")
    remote: TcpAddress | None = Field(
        default=None,
        description="a Wyoming server that writes down what is said, instead of Whisper here",
        examples=["tcp://localhost:10300"],
    )
    remote_model: Text | None = Field(
        default=None, description="its model, where it has several", examples=["small-int8"]
    )


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
    threads: _Threads = Field(default="auto", description="processor threads")
    remote: TcpAddress | None = Field(
        default=None,
        description="a Wyoming server that speaks, instead of Piper here",
        examples=["tcp://localhost:10200"],
    )
    remote_voice: Text | None = Field(
        default=None, description="its voice, for the first of its languages", examples=["en_GB-alba-medium"]
    )
    remote_languages: tuple[Language, ...] = Field(
        default=(ENGLISH,), min_length=1, description="what it speaks, the usual one first"
    )


class AudioSettings(Section):
    """Microphone and loudspeaker."""

    microphone: Text | None = Field(
        default=None,
        description="name of the microphone, or part of it, instead of the default",
        examples=["USB"],
    )
    speaker: Text | None = Field(
        default=None,
        description="name of the loudspeaker, or part of it, instead of the default",
        examples=["HDMI"],
    )
    lead_in_ms: int = Field(
        default=200,
        ge=0,
        le=2000,
        description="silence before a reply, for loudspeakers that swallow its first syllable",
    )
    echo_cancellation: EchoCancellation = Field(
        default="auto",
        description="take the assistant's own voice out of what is heard; auto: unless the device does it",
    )
    vad_aggressiveness: int = Field(default=2, ge=0, le=3, description="0 takes most sounds for a voice, 3 the fewest")
    pre_roll_ms: int = Field(
        default=300, ge=0, le=2000, description="sound kept from before somebody is heard to speak"
    )
    hangover_ms: int = Field(
        default=500,
        ge=100,
        le=3000,
        description="how long a pause ends what is said: less than this after a stop, more after a sentence",
    )
    min_speech_ms: int = Field(default=200, ge=0, le=2000, description="what is shorter is a noise, not a word")
    max_utterance_s: float = Field(
        default=30.0, ge=1, le=300, description="what goes on for longer is answered in parts"
    )


class EngineSettings(Section):
    """How long an engine may take before it counts as hung and is restarted."""

    start_timeout_s: Seconds = Field(default=120.0, description="loading a model")
    stt_timeout_s: Seconds = Field(default=45.0, description="writing down what was said")
    first_token_timeout_s: Seconds = Field(default=60.0, description="reading the conversation, up to the first word")
    token_timeout_s: Seconds = Field(default=15.0, description="each further word")
    tts_timeout_s: Seconds = Field(default=30.0, description="speaking a sentence")
    in_process: bool = Field(
        default=False,
        description="run the engines inside this process, where a crash ends everything (for debugging)",
    )


class RecordSettings(Section):
    """The log of turns in the state folder."""

    max_bytes: int = Field(default=5_000_000, ge=10_000, description="the log never grows beyond this")
    keep_text: bool = Field(default=True, description="keep what was said, not only how long it took")


class MemorySettings(Section):
    """The memory of conversations in the state folder."""

    enabled: bool = Field(default=True, description="remember conversations beyond a restart")
    retention_days: int = Field(default=30, ge=1, le=3650, description="what was said is deleted after this many days")
    continue_minutes: float = Field(
        default=10.0, ge=0, le=10_080, description="a silence this long ends a conversation"
    )
    max_turns: int = Field(
        default=20, ge=1, le=1000, description="the model is told of this many earlier turns at most"
    )


class ToolSettings(Section):
    """What the assistant may do."""

    enabled: bool = Field(default=True, description="false: it only talks")
    disabled: tuple[str, ...] = Field(default=(), description="tools that are not offered")
    timeout_s: Seconds = Field(default=30.0, description="a tool that takes longer is given up")
    timeouts_s: Mapping[str, Seconds] = Field(default={}, description="the same for single tools: search_corpus = 60")
    confirm_within_s: Seconds = Field(default=30.0, description="no answer in this time is a no")
    confirm_tools: Mapping[str, _ConfirmLevel] = Field(
        default={}, description='what a tool needs before it runs, whatever else holds: broadcast = "voice"'
    )
    confirm_domains: Mapping[str, _ConfirmLevel] = Field(
        default={},
        description='the same for what is touched: lock = "screen" (not by voice), "cover.garage" = "never"',
    )
    confirm_otherwise: _ConfirmLevel = Field(
        default="never", description="the same for everything else that changes something"
    )
    documents: UserPath | None = Field(
        default=None,
        description="a folder of your own documents that can be searched; each folder in it is a corpus",
        examples=["~/Documents/house"],
    )
    sound_folders: tuple[UserPath, ...] = Field(default=(), description="folders whose sound files may be written down")
    plugin_timeout_s: Seconds = Field(default=10.0, description="a plugin that takes longer to start is switched off")


class PluginTables(Section):
    """The tables [plugins.NAME]: what is in one is the plugin's affair, but for `enabled`."""

    model_config = ConfigDict(extra="allow")

    def names(self) -> tuple[str, ...]:
        return tuple(self.model_extra or {})

    def is_enabled(self, name: str) -> bool:
        return self.table(name).get("enabled") is not False

    def table(self, name: str) -> Mapping[str, Any]:
        """What is set for one plugin; nothing where there is no table of its name."""
        return MappingProxyType((self.model_extra or {}).get(name, {}))


class Settings(Section):
    """Every setting; `sources` says where each value came from, by its dotted name."""

    preset: Text = Field(default=DEFAULT_PRESET, description="the language model: edgevox presets list")
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
        """The same settings, knowing where they came from."""
        settings = self.model_copy()
        settings._sources = MappingProxyType(dict(sources))
        return settings
