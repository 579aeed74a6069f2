"""A server that people speak with over a socket: scripted engines, the demo home, a client that plays."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import aiohttp
import numpy as np
from numpy.typing import NDArray

from edgevox.agents.conversation import Conversation
from edgevox.agents.model_profile import ModelProfile
from edgevox.agents.speaker_recognition import SpeakerRecognizer
from edgevox.app.engines import Engines
from edgevox.app.home_context import HomeContext
from edgevox.app.toolbox import Toolbox
from edgevox.app.voice_sessions import VoiceSessionManager
from edgevox.config import ServerSettings, Settings
from edgevox.config.sections import AUTO, PeopleSettings
from edgevox.core.errors import EdgevoxError
from edgevox.core.events import Bus
from edgevox.core.files import Folders
from edgevox.core.languages import ENGLISH
from edgevox.core.metrics import TurnMetrics
from edgevox.core.turn import LOCAL, CancelFlag
from edgevox.core.types import ChatDone, ChatReply, ChatRequest, SpeakerService, TranscribeRequest, Transcript, to_pcm16
from edgevox.dialogue import ReplyLanguages, SpeakerTranscriber, Synthesizer, Transcriber
from edgevox.llm.presets import resolve_preset
from edgevox.satellites.hub import SatelliteHub
from edgevox.server.app import create_app
from edgevox.server.assistant import Assistant, DashboardData
from edgevox.server.http.listener import http_listener
from edgevox.server.http.tokens import Tokens
from edgevox.speakers.people import People
from edgevox.testing import ScriptedModel, ToneSynthesizer
from edgevox.tools.executor import current_call
from edgevox.tools.policy import Caller
from tests.dialogue.sounds import silent, voiced
from tests.speakers.voices import FakeVoices

BOUND_S = 20.0
OWNER, GUEST, TALKER = "owner-token-for-tests", "guest-token-for-tests", "talker-token-for-tests"
READER = "reader-token-for-tests"
TOKENS = Tokens(
    {
        OWNER: Caller("owner", frozenset({"*"})),
        GUEST: Caller("guest", frozenset({"voice", "read", "act", "home.*"})),
        TALKER: Caller("talker", frozenset({"chat", "read"})),
        READER: Caller("reader", frozenset({"voice", "read"})),
    }
)
LIGHT_ON = '<tool_call>\n{"name": "turn_on", "arguments": {"name": "kitchen light"}}\n</tool_call>'
UNLOCK = '<tool_call>\n{"name": "turn_off", "arguments": {"name": "front door"}}\n</tool_call>'


class RestingModel(ScriptedModel):
    """Says its lines to those who ask; what is only prepared for later costs none."""

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        if request.prompt_only:
            yield ChatDone("stop", 0, 0, 0)
            return
        async for reply in super().stream(request, cancel):
            yield reply


class Stenographer:
    """A recogniser that hears its lines, one behind the other, and the last one again and again."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = list(lines)

    async def stream(self, request: TranscribeRequest, _cancel: CancelFlag) -> AsyncGenerator[Transcript, None]:
        line = self._lines.pop(0) if len(self._lines) > 1 else self._lines[0]
        yield Transcript(line, "en", request.audio.duration_s)


class ScriptedEngines:
    """What voice sessions need of the engines."""

    def __init__(self, model: ScriptedModel, names: frozenset[str], language: str = ENGLISH) -> None:
        self.llm = model
        self.languages = ReplyLanguages(voices=(language,), expected=language)
        self.languages_with_pitch: tuple[str, ...] = ()
        self._names = names

    def __contains__(self, name: object) -> bool:
        return name in self._names


@dataclass
class VoiceServer:
    """A server with the parts behind it, for a test to look at."""

    url: str
    lines: VoiceSessionManager
    bus: Bus
    toolbox: Toolbox | None
    model: ScriptedModel
    records: list[TurnMetrics]
    assistant: Assistant
    home_context: HomeContext

    @property
    def hub(self) -> SatelliteHub:
        return self.assistant.satellites

    def state(self, entity_id: str) -> str:
        assert self.toolbox is not None
        entity = self.toolbox.home.house().entity(entity_id)
        assert entity is not None
        return entity.state


async def _sample(voice_id: str) -> list[Any]:
    return [sound async for sound in Synthesizer(ToneSynthesizer()).speak_text(voice_id, CancelFlag(), "en")]


@asynccontextmanager
async def voice_server(
    folders: Folders,
    lines: Sequence[str | EdgevoxError] = (),
    *,
    heard: Sequence[str] = ("turn on the kitchen light",),
    engines: frozenset[str] = frozenset({"stt", "tts"}),
    model: ScriptedModel | None = None,
    has_tools: bool = True,
    settings: Settings | None = None,
    reload: Callable[[], None] | None = None,
    port: int = 0,
    voices: SpeakerService | None = None,
    **server: Any,
) -> AsyncIterator[VoiceServer]:
    """A server whose model says `lines` and whose recogniser hears `heard`.

    A test without calls is quicker without tools.
    """
    settings = settings or Settings()
    spoken = ENGLISH if settings.stt.language == AUTO else settings.stt.language
    preset = resolve_preset("home").model_copy(update={"tool_call_parsers": ("hermes",), "tool_choice_policy": "auto"})
    hub = SatelliteHub(chime_volume=0.15)

    def announce(message: str) -> int:
        call = current_call()
        return hub.announce(message, call.caller if call else LOCAL)

    toolbox = await asyncio.to_thread(Toolbox, settings, folders, announce_there=announce) if has_tools else None
    if toolbox:
        await toolbox.start()
    home_context = HomeContext(settings, preset, toolbox)
    model, bus, records = model or RestingModel(lines), Bus(), list[TurnMetrics]()
    conversations: dict[str, Conversation] = {}
    speakers = SpeakerRecognizer(voices or FakeVoices(), People(), PeopleSettings())
    opened = VoiceSessionManager(
        settings,
        preset,
        cast("Engines", ScriptedEngines(model, engines, spoken)),
        lambda: home_context,
        conversation=lambda name: conversations.setdefault(name, Conversation(name)),
        transcriber=lambda: SpeakerTranscriber(Transcriber(Stenographer(heard)), speakers),
        voice=lambda: Synthesizer(ToneSynthesizer()),
        speakers=speakers,
    )
    assistant = Assistant(
        preset.name,
        ModelProfile(model, ("hermes",)),
        executor=toolbox.executor if toolbox else None,
        keep=records.append,
        confirmation=opened.confirmation,
        session_factory=opened.session_factory(bus),
        satellites=hub,
        speakers=speakers,
        dashboard=DashboardData(
            settings,
            folders,
            toolbox,
            engines=lambda: {"llm": {"state": "ready", "detail": "", "restarts": 0}},
            turns=lambda _from_s, _until_s: records,
            voice_sample=_sample,
        ),
    )
    app = create_app(assistant, ServerSettings(**server), TOKENS, reload=reload)
    try:
        async with http_listener(app, "127.0.0.1", port) as url:
            yield VoiceServer(url, opened, bus, toolbox, model, records, assistant, home_context)
    finally:
        if toolbox:
            await toolbox.stop()


@dataclass
class Client:
    """A client that plays what it gets at once, if it `plays`; all frames are kept."""

    socket: aiohttp.ClientWebSocketResponse
    plays: bool = True
    frames: list[dict[str, Any]] = field(default_factory=list)
    samples: dict[int, int] = field(default_factory=dict)
    _passage: int = 0
    _code: int | None = None

    async def send(self, kind: str, **facts: object) -> None:
        await self.socket.send_json({"type": kind, **facts})

    async def say(self, seconds: float = 0.8, *, silence_s: float = 2.0, rate_hz: int = 16_000) -> None:
        """Speak, and then be silent."""
        await self.sound(np.concatenate((voiced(seconds, rate_hz), silent(silence_s, rate_hz))), rate_hz)

    async def sound(self, samples: NDArray[np.float32], rate_hz: int = 16_000) -> None:
        for start in range(0, len(samples), rate_hz // 10):
            await self.socket.send_bytes(to_pcm16(samples[start : start + rate_hz // 10]))

    async def until(self, kind: str, *, within_s: float = BOUND_S, **facts: object) -> dict[str, Any]:
        """The next frame of that kind that holds these facts."""
        async with asyncio.timeout(within_s):
            while True:
                frame = await self.next()
                if frame["type"] == kind and facts.items() <= frame.items():
                    return frame

    async def next(self) -> dict[str, Any]:
        """The next frame of text; sound is counted."""
        while True:
            message = await self.socket.receive()
            match message.type:
                case aiohttp.WSMsgType.TEXT:
                    frame = json.loads(message.data)
                    self.frames.append(frame)
                    await self._play(frame)
                    return cast("dict[str, Any]", frame)
                case aiohttp.WSMsgType.BINARY:
                    self.samples[self._passage] += len(message.data) // 2
                    if self.plays:
                        await self._played(self._passage)
                case other:
                    # aiohttp has another code of its own, where its answer to the close comes too late.
                    self._code = message.data if other == aiohttp.WSMsgType.CLOSE else self.socket.close_code
                    raise ConnectionError(f"{other}: {self._code}")

    async def closed(self) -> int:
        """How it was closed by the server."""
        async with asyncio.timeout(BOUND_S):
            try:
                while True:
                    await self.next()
            except ConnectionError:
                assert self._code is not None
                return self._code

    async def _play(self, frame: dict[str, Any]) -> None:
        match frame["type"]:
            case "audio_begin":
                self._passage = frame["passage"]
                self.samples[self._passage] = 0
            case "audio_end":
                assert self.samples[frame["passage"]] == frame["samples"]

    async def _played(self, passage: int) -> None:
        await self.send("played", passage=passage, samples=self.samples[passage])

    def kinds(self) -> list[str]:
        return [frame["type"] for frame in self.frames]


async def until(is_so: Callable[[], bool]) -> None:
    """Polls until it is so: for states without an event."""
    async with asyncio.timeout(BOUND_S):
        while not is_so():  # noqa: ASYNC110  (see above)
            await asyncio.sleep(0.01)


@asynccontextmanager
async def connected(url: str, *, token: str = OWNER, plays: bool = True, **hello: Any) -> AsyncIterator[Client]:
    """A client that has said hello; the answer is its first frame."""
    async with unknown(url, plays=plays) as client:
        await client.send("hello", **{"version": 1, "token": token, **hello})
        await client.until("hello")
        yield client


@asynccontextmanager
async def unknown(url: str, *, plays: bool = True, **more: Any) -> AsyncIterator[Client]:
    """One that has not."""
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(BOUND_S)) as session,
        session.ws_connect(f"{url}/v1/voice", **more) as socket,
    ):
        yield Client(socket, plays)
