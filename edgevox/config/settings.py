"""The settings model: type, range, default and description of every key. CLI flags derive from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import ConfigDict, Field, PrivateAttr

from edgevox.config.sections import (
    AUTO,
    CalendarSettings,
    HomeSettings,
    HttpUrl,
    JsonText,
    Language,
    LanguageOrAuto,
    McpSettings,
    MediaSettings,
    MqttSettings,
    PeopleSettings,
    RingSettings,
    Seconds,
    Section,
    ServerSettings,
    SoundSettings,
    TcpAddress,
    Text,
    UserPath,
    WakeSettings,
    key,
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

    model: UserPath | None = key(
        None, "your own GGUF file, instead of the preset's model", example="~/models/my-model.gguf"
    )
    remote_url: HttpUrl | None = key(
        None,
        "the URL of a remote model: llama.cpp, vLLM, Ollama, Anthropic, another EdgeVox",
        example="http://localhost:8080/v1",
    )
    remote_kind: RemoteKind = key("openai", "the API of that server")
    remote_model: Text | None = key(None, "the model's name there; not needed if there is only one", example="qwen3:8b")
    remote_key_file: UserPath | None = key(
        None, "a file with the API key, readable only by you (chmod 600)", example="~/.config/edgevox/remote_key"
    )
    remote_key_variable: Text = key(
        "EDGEVOX_REMOTE_KEY", "the environment variable with the API key, if there is no file"
    )
    remote_extra: JsonText = key("{}", 'extra fields for every request, as JSON: {"top_k": 20}')
    context_tokens: int = key(4096, "the context window; more takes more memory", ge=256, le=1_048_576)
    threads: _Threads = key("auto", "CPU threads")
    temperature: float = key(0.7, "sampling temperature; 0 always takes the likeliest token", ge=0, le=5)
    top_p: float = key(0.95, "sample from the tokens with this total probability", gt=0, le=1)
    top_k: int = key(40, "sample from this many tokens at most; 0: no limit", ge=0)
    min_p: float = key(0.05, "drop tokens less likely than this share of the likeliest", ge=0, le=1)
    repeat_penalty: float = key(1.0, "above 1 discourages repetition", gt=0, le=2)
    max_tokens: int = key(256, "the longest reply, in tokens", ge=1)
    seed: int | None = key(None, "a fixed seed gives reproducible replies", ge=0, le=2**32 - 2, example=1)
    thinking: bool = key(False, "let a reasoning model think before it answers (slower)")
    optimize: bool = key(True, "make and use a copy of the model in the fastest format for this CPU")
    kv_type: Literal["f16", "q8_0"] = key("f16", "the type of the KV cache; q8_0 takes half the memory")
    constraint_engine: Literal["llguidance", "llama.cpp"] = key("llguidance", "the grammar engine for tool calls")
    keep_prompts: bool = key(True, "cache the evaluated system prompt on disk, for a faster start")
    instructions: str = key(_INSTRUCTIONS, "the system prompt")

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

    engine: Text = key(
        AUTO,
        '"whisper", "wyoming" or the engine of a package; "auto" goes by stt.remote and stt.model',
        example="whisper",
    )
    model: Text = key("whisper-base", "the recogniser; whisper-tiny.en for small machines")
    language: LanguageOrAuto = key("en", 'the language spoken, such as "de", or "auto" to detect it')
    languages: tuple[Language, ...] = key(
        (), 'with "auto", the languages spoken at home; default: those that have a voice', example=("en", "de")
    )
    adapted: bool = key(True, "use the adapter for home commands (whisper-base in English)")
    rescoring: bool = key(True, "if unsure, prefer common home commands (English)")
    ask_below: float = key(
        0.4, 'below this confidence it asks "Did you say …?" before it acts; 0 never asks', ge=0, le=1
    )
    threads: _Threads = key("auto", "CPU threads")
    names: tuple[str, ...] = key((), "names to recognise, spelled like this")
    remote: TcpAddress | None = key(
        None, "a Wyoming server for speech recognition, instead of the local Whisper", example="tcp://localhost:10300"
    )
    remote_model: Text | None = key(None, "its model, if it has several", example="small-int8")


class TtsSettings(Section):
    """The voice."""

    enabled: bool = key(True, "speak the replies of edgevox run")
    engine: Text = key(
        AUTO,
        '"hibari", "kokoro", "piper", "sano", "wyoming", or that of a package; "auto" goes by tts.remote and tts.voice',
        example="piper",
    )
    voice: Text = key("hibari-en_US-heart", "the voice; edgevox voices list shows all")
    voices: Mapping[Language, Text] = key({}, 'voices for other languages: de = "sano-de_DE"')
    speed: float = key(1.0, 'above 1 speaks faster; "speak slower" and "speak faster" change it', ge=0.25, le=4)
    pitch_semitones: float = key(
        0.0, 'above 0 is higher; "a lower voice" and "a higher voice" change it; for hibari\'s voices', ge=-4, le=4
    )
    volume_db: float = key(0.0, 'the volume, in decibels; "louder" and "quieter" change it', ge=-25, le=10)
    threads: _Threads = key("auto", "CPU threads")
    remote: TcpAddress | None = key(
        None, "a Wyoming server for speech synthesis, instead of a local voice", example="tcp://localhost:10200"
    )
    remote_voice: Text | None = key(None, "its voice, for the first of its languages", example="en_GB-alba-medium")
    remote_languages: tuple[Language, ...] = key((ENGLISH,), "its languages, the default first", min_length=1)


class AudioSettings(Section):
    """Microphone and loudspeaker."""

    microphone: Text | None = key(None, "name of the microphone, or part of it; default: the system's", example="USB")
    speaker: Text | None = key(None, "name of the loudspeaker, or part of it; default: the system's", example="HDMI")
    lead_in_ms: int = key(
        200, "silence before a reply, for loudspeakers that cut off the first syllable", ge=0, le=2000
    )
    echo_cancellation: EchoCancellation = key(
        "auto", "remove the assistant's own voice from the recording; auto: unless the device does it"
    )
    duck: bool = key(
        False, "lower the sound of other programs while the assistant listens and speaks (PulseAudio, PipeWire)"
    )
    vad_aggressiveness: int = key(2, "0 accepts most sounds as speech, 3 the fewest", ge=0, le=3)
    pre_roll_ms: int = key(300, "audio kept from before speech is detected", ge=0, le=2000)
    hangover_ms: int = key(
        500, "the silence that ends an utterance: shorter after a stop, longer after a sentence", ge=100, le=3000
    )
    min_speech_ms: int = key(200, "shorter sounds are noise, not speech", ge=0, le=2000)
    max_utterance_s: float = key(30.0, "a longer utterance is answered in parts", ge=1, le=300)


class EngineSettings(Section):
    """How long an engine may take before it counts as hung and is restarted."""

    start_timeout_s: Seconds = key(120.0, "loading a model")
    stt_timeout_s: Seconds = key(45.0, "transcribing an utterance")
    first_token_timeout_s: Seconds = key(60.0, "evaluating the prompt, up to the first token")
    token_timeout_s: Seconds = key(15.0, "each further token")
    tts_timeout_s: Seconds = key(30.0, "synthesising a sentence")
    in_process: bool = key(False, "run the engines inside this process, where a crash ends everything (for debugging)")


class RecordSettings(Section):
    """The log of turns in the state folder."""

    max_bytes: int = key(5_000_000, "the maximum size of the log", ge=10_000)
    keep_text: bool = key(True, "record what was said, not only the timings")


class MemorySettings(Section):
    """The memory of conversations in the state folder."""

    enabled: bool = key(True, "keep conversations across restarts")
    retention_days: int = key(30, "conversations are deleted after this many days", ge=1, le=3650)
    continue_minutes: float = key(10.0, "a silence this long ends the conversation", ge=0, le=10_080)
    max_turns: int = key(20, "how many earlier turns the prompt contains at most", ge=1, le=1000)


class ToolSettings(Section):
    """What the assistant may do."""

    enabled: bool = key(True, "false: it only talks")
    disabled: tuple[str, ...] = key((), "tools that are not offered to the model")
    timeout_s: Seconds = key(30.0, "a tool that takes longer is abandoned")
    timeouts_s: Mapping[str, Seconds] = key({}, "timeouts of single tools: search_corpus = 60")
    confirm_within_s: Seconds = key(30.0, "no answer within this time counts as no")
    confirm_tools: Mapping[str, _ConfirmLevel] = key(
        {}, 'the confirmation that a tool needs, overriding all others: broadcast = "voice"'
    )
    confirm_domains: Mapping[str, _ConfirmLevel] = key(
        {}, 'the same by domain or entity: lock = "screen" (not by voice), "cover.garage" = "never"'
    )
    confirm_otherwise: _ConfirmLevel = key("never", "the same for every other call with side effects")
    documents: UserPath | None = key(
        None, "a folder of your own documents to search; each sub-folder is a corpus", example="~/Documents/house"
    )
    sound_folders: tuple[UserPath, ...] = key((), "folders whose audio files may be transcribed")
    plugin_timeout_s: Seconds = key(10.0, "a plugin that takes longer to start is disabled")


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

    preset: Text = key(DEFAULT_PRESET, "the language model; edgevox presets list shows all")
    llm: LlmSettings = LlmSettings()
    stt: SttSettings = SttSettings()
    tts: TtsSettings = TtsSettings()
    audio: AudioSettings = AudioSettings()
    sounds: SoundSettings = SoundSettings()
    wake: WakeSettings = WakeSettings()
    people: PeopleSettings = PeopleSettings()
    engines: EngineSettings = EngineSettings()
    records: RecordSettings = RecordSettings()
    memory: MemorySettings = MemorySettings()
    home: HomeSettings = HomeSettings()
    mqtt: MqttSettings = MqttSettings()
    calendar: CalendarSettings = CalendarSettings()
    media: MediaSettings = MediaSettings()
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
