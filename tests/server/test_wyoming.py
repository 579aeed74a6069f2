"""The Wyoming package's own client against our server, and our clients against it: sound, words and tools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.event import Event
from wyoming.handle import Handled, HandledChunk, HandledStart, HandledStop, NotHandled
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.tts import Synthesize, SynthesizeChunk, SynthesizeStart, SynthesizeStop, SynthesizeStopped
from wyoming.wake import Detect, Detection, NotDetected

from edgevox.agents import LLMAgent
from edgevox.agents.model_profile import ModelProfile
from edgevox.audio.dsp import Resampler
from edgevox.config import ServerSettings
from edgevox.config.sections import WakeSettings
from edgevox.core.errors import ConfigError, EngineFailed
from edgevox.core.events import RingStarted
from edgevox.core.files import Folders
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, SynthesisRequest, TranscribeRequest, to_pcm16
from edgevox.core.types import Transcript as Heard
from edgevox.home import Alarms, DemoHome, Entity, Timers
from edgevox.home.alarms.scheduled_commands import ScheduledCommands
from edgevox.home.alarms.watches import Watches
from edgevox.server.assistant import Assistant
from edgevox.server.engine_queues import EngineQueues
from edgevox.server.wyoming import WyomingService, may_connect, wyoming_listener
from edgevox.server.wyoming_announcement import announced_addresses, service_info
from edgevox.server.wyoming_conversations import WyomingRings
from edgevox.stt.wyoming import WyomingStt
from edgevox.testing import ToneSynthesizer
from edgevox.tools import ToolExecutor, ToolRegistry, tool
from edgevox.tts.wyoming import WyomingTts
from tests.audio.sounds import espeak
from tests.dialogue.sounds import silent
from tests.server.harness import PARSERS, Lamp, acting, model, talking, written
from tests.server.test_audio import Stenographer, sounding, with_sound
from tests.server.websocket.harness import voice_server

BOUND_S = 20.0
RATE_HZ = 16_000


@asynccontextmanager
async def served(assistant: Assistant, *, wake: WakeSettings | None = None, **settings: Any) -> AsyncIterator[str]:
    chosen = ServerSettings(**settings)
    offer = WyomingService(assistant, EngineQueues(assistant, chosen), chosen, wake or WakeSettings())
    async with asyncio.timeout(BOUND_S), wyoming_listener(offer, "127.0.0.1", 0, chosen.wyoming_peers) as address:
        yield address


@asynccontextmanager
async def client(assistant: Assistant, **settings: Any) -> AsyncIterator[AsyncTcpClient]:
    async with served(assistant, **settings) as address:
        made = AsyncTcpClient.from_uri(address)
        assert isinstance(made, AsyncTcpClient)
        await made.connect()
        try:
            yield made
        finally:
            await made.disconnect()


async def heard(chat: AsyncTcpClient) -> Event:
    event = await chat.read_event()
    assert event is not None, "it has gone"
    return event


async def heard_until(chat: AsyncTcpClient, kind: str) -> list[Event]:
    events = [await heard(chat)]
    while events[-1].type != kind:
        events.append(await heard(chat))
    return events


def chunk(seconds: float, rate_hz: int = RATE_HZ, width: int = 2, channels: int = 1) -> AudioChunk:
    return AudioChunk(rate_hz, width, channels, bytes(int(seconds * rate_hz) * width * channels))


async def send_sound(chat: AsyncTcpClient, *chunks: AudioChunk, language: str | None = None) -> None:
    await chat.write_event(Transcribe(language=language).event())
    first = chunks[0]
    await chat.write_event(AudioStart(first.rate, first.width, first.channels).event())
    for one in chunks:
        await chat.write_event(one.event())
    await chat.write_event(AudioStop().event())


def everything(*lines: str) -> tuple[Assistant, Lamp]:
    lamp = Lamp()
    return with_sound(acting(model(lines), lamp), Stenographer(), ToneSynthesizer()), lamp


# --- what there is


async def test_info_lists_the_services_on_offer() -> None:
    assistant, _lamp = everything()
    async with client(assistant, wyoming_scopes=("read", "act")) as chat:
        await chat.write_event(Describe().event())
        info = Info.from_event(await heard(chat))
    assert [one.name for one in info.asr[0].models] == ["test-stt"]
    assert "de" in info.asr[0].models[0].languages
    assert [one.name for one in info.tts[0].voices] == ["test-voice"]
    assert info.tts[0].supports_synthesize_streaming
    assert info.handle[0].models[0].languages == ["en"]
    assert (info.handle[0].supports_handled_streaming, info.handle[0].supports_home_control) == (True, True)


async def test_services_that_are_missing_or_not_allowed_are_not_offered() -> None:
    lamp = Lamp()
    async with client(acting(model([]), lamp)) as chat:
        await chat.write_event(Describe().event())
        info = Info.from_event(await heard(chat))
    assert (info.asr, info.tts, info.handle) == ([], [], [])


async def test_a_ping_is_answered_and_unknown_events_are_ignored() -> None:
    async with client(talking(model([]))) as chat:
        await chat.write_event(Event("an-event-of-next-year"))
        await chat.write_event(Ping("are you there").event())
        assert Pong.from_event(await heard(chat)).text == "are you there"


# --- speech to text


async def test_speech_becomes_text_twice_over_one_connection() -> None:
    stt = Stenographer()
    async with client(sounding(stt, ToneSynthesizer())) as chat:
        for seconds in (3, 5):
            await send_sound(chat, *[chunk(1.0)] * seconds, language="en-US")
            transcript = Transcript.from_event(await heard(chat))
            assert (transcript.text, transcript.language) == (f"{seconds} s", "en")
    assert [request.language for request in stt.requests] == ["en", "en"]


@pytest.mark.parametrize(("rate_hz", "width", "channels"), [(48_000, 4, 2), (8_000, 1, 1), (22_050, 2, 1)])
async def test_sound_of_other_forms_is_made_fit(rate_hz: int, width: int, channels: int) -> None:
    stt = Stenographer()
    async with client(sounding(stt, ToneSynthesizer())) as chat:
        whole = chunk(2.0, rate_hz, width, channels)
        halves = [AudioChunk(rate_hz, width, channels, part) for part in (whole.audio[:1001], whole.audio[1001:])]
        await send_sound(chat, *halves)
        assert Transcript.from_event(await heard(chat)).text == "2 s"
    assert stt.requests[0].audio.rate_hz == RATE_HZ
    assert abs(stt.requests[0].audio.duration_s - 2.0) < 0.05


# --- wake words


async def test_a_wake_word_is_detected_with_its_time_and_other_speech_is_not(tmp_path: Path) -> None:
    spoken = np.concatenate((silent(1.5), espeak("okay nabu", tmp_path), silent(0.5)))
    at_48_khz = Resampler(RATE_HZ, 48_000)
    samples = np.concatenate((at_48_khz.feed(spoken), at_48_khz.finish()))
    pieces = [
        AudioChunk(48_000, 2, 1, to_pcm16(one), at * 20)
        for at, one in enumerate(np.split(samples, range(960, len(samples), 960)))
    ]
    async with client(sounding(Stenographer(), ToneSynthesizer())) as chat:
        await chat.write_event(Describe().event())
        (program,) = Info.from_event(await heard(chat)).wake
        offered = {one.name: one.phrase for one in program.models}
        assert next(iter(offered.items())) == ("okay_nabu", "okay nabu")
        assert "hey_jarvis" in offered
        await chat.write_event(Detect(["hey_jarvis", "okay_nabu"]).event())
        for part in (pieces, pieces[:50]):
            await chat.write_event(AudioStart(48_000, 2, 1).event())
            for one in part:
                await chat.write_event(one.event())
            await chat.write_event(AudioStop().event())
        detection = Detection.from_event(await heard(chat))
        assert detection.name == "okay_nabu"
        assert detection.timestamp is not None
        assert 1_500 < detection.timestamp < len(pieces) * 20
        assert NotDetected.is_type((await heard(chat)).type)
        await send_sound(chat, chunk(1.0))
        assert Transcript.from_event(await heard(chat)).text == "1 s"
        await chat.write_event(Detect(["no_such_word"]).event())
        await chat.write_event(chunk(0.1).event())
        assert Error.from_event(await heard(chat)).code == "wake_word_unknown"


# --- text to speech


def sound_of(events: list[Event]) -> bytes:
    return b"".join(event.payload or b"" for event in events if AudioChunk.is_type(event.type))


async def test_text_becomes_speech() -> None:
    async with client(sounding(Stenographer(), ToneSynthesizer())) as chat:
        await chat.write_event(Synthesize("The light is on. The door is shut.").event())
        events = await heard_until(chat, "audio-stop")
    start = AudioStart.from_event(events[0])
    assert (start.width, start.channels) == (2, 1)
    assert np.abs(np.frombuffer(sound_of(events), "<i2")).max() > 1000


async def test_text_in_pieces_is_spoken_sentence_by_sentence_and_not_twice() -> None:
    text = "The light is on. The door is shut. Good night"
    async with client(sounding(Stenographer(), ToneSynthesizer())) as chat:
        await chat.write_event(SynthesizeStart().event())
        await chat.write_event(SynthesizeChunk(text[:20]).event())
        first = await heard_until(chat, "audio-stop")  # before the rest was sent
        assert sound_of(first)
        await chat.write_event(SynthesizeChunk(text[20:]).event())
        await chat.write_event(Synthesize(text).event())
        await chat.write_event(SynthesizeStop().event())
        rest = await heard_until(chat, "synthesize-stopped")
    assert [event.type for event in first + rest if event.type != "audio-chunk"] == [
        *(["audio-start", "audio-stop"] * 3),
        "synthesize-stopped",
    ]
    assert SynthesizeStopped.is_type(rest[-1].type)


# --- tools


async def test_commands_within_the_scopes_are_carried_out() -> None:
    assistant, lamp = everything(written("switch_lamp", '{"on": true}'), "The lamp is on.")
    async with client(assistant, wyoming_scopes=("act",)) as chat:
        await chat.write_event(Transcript("Lamp on.").event())
        events = await heard_until(chat, "handled-stop")
    assert lamp.log == ["lamp on"]
    assert HandledStart.is_type(events[0].type)
    pieces = [HandledChunk.from_event(one).text for one in events if HandledChunk.is_type(one.type)]
    (whole,) = [Handled.from_event(one).text for one in events if Handled.is_type(one.type)]
    assert "".join(pieces) == whole
    assert whole
    assert HandledStop.is_type(events[-1].type)


async def test_commands_outside_the_scopes_are_refused() -> None:
    assistant, lamp = everything(written("switch_lamp", '{"on": true}'), "I may not.")
    async with client(assistant, wyoming_scopes=("read",)) as chat:
        await chat.write_event(Transcript("Lamp on.").event())
        await heard_until(chat, "handled-stop")
    assert lamp.log == []


async def test_without_scopes_there_is_no_agent() -> None:
    assistant, lamp = everything(written("switch_lamp", '{"on": true}'))
    async with client(assistant) as chat:
        await chat.write_event(Transcript("Lamp on.").event())
        assert Error.from_event(await heard(chat)).code == "not_allowed"
        assert await chat.read_event() is None
    assert lamp.log == []


async def test_a_model_that_fails_is_told_as_not_handled() -> None:
    failing = acting(model([EngineFailed("the model died")]), Lamp())
    async with client(failing, wyoming_scopes=("act",)) as chat:
        await chat.write_event(Transcript("Lamp on.").event())
        assert NotHandled.from_event(await heard(chat)).text == "the model died"


async def _say(address: str, text: str, **context: str) -> str:
    """One sentence on a connection of its own, as Home Assistant sends it; returns the whole answer."""
    chat = AsyncTcpClient("127.0.0.1", int(address.rpartition(":")[2]))
    await chat.connect()
    try:
        await chat.write_event(Transcript(text, context=context).event())
        events = await heard_until(chat, "handled")
    finally:
        await chat.disconnect()
    return Handled.from_event(events[-1]).text or ""


async def test_sentences_of_one_conversation_share_their_context_and_others_do_not() -> None:
    scripted = model(["Hello Mara.", "You are Mara.", "I do not know.", "Still Mara."])
    async with served(acting(scripted, Lamp()), wyoming_scopes=("read",)) as address:
        await _say(address, "I am Mara.", conversation_id="one")
        await _say(address, "Who am I?", conversation_id="one")
        await _say(address, "Who am I?", conversation_id="two")
        await _say(address, "And now?", conversation_id="three", satellite_id="assist_satellite.hall")
    said = [[one.content for one in request.messages if one.role != "system"] for request in scripted.requests]
    assert said[1] == ["I am Mara.", "Hello Mara.", "Who am I?"]
    assert said[2] == ["Who am I?"]
    assert said[3] == ["And now?"]


async def test_a_sentence_from_a_satellite_means_its_room(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = {"assist_satellite.shelf": "Bedroom", "": "Kitchen"}
    monkeypatch.setattr(DemoHome, "room_of", lambda _home, origin: rooms.get(origin, ""))
    lights_on = written("turn_on", '{"name": "lights"}')
    async with voice_server(folders, [lights_on] * 2) as server:
        assert server.toolbox is not None
        home = server.toolbox.home
        assistant = replace(server.assistant, make_agent=server.home_context.agent)
        async with served(assistant, wyoming_scopes=("act",)) as address:
            at_first = home.house().entities
            await _say(address, "turn on the lights", satellite_id="assist_satellite.shelf", conversation_id="one")
            then = home.house().entities
            await _say(address, "turn on the lights", conversation_id="two")
            at_last = home.house().entities
    assert [_areas_changed(at_first, then), _areas_changed(then, at_last)] == [{"bedroom"}, {"kitchen"}]


def _areas_changed(before: Iterable[Entity], after: Iterable[Entity]) -> set[str | None]:
    return {now.area for was, now in zip(before, after, strict=True) if now != was}


async def test_where_this_machine_rings_only_what_was_set_over_wyoming_is_announced() -> None:
    home, timers = DemoHome(), Timers(lambda: 0.0)
    rings = WyomingRings(home, ScheduledCommands(timers, Alarms(lambda: 0.0), Watches(lambda: 0.0)), rings_here=True)
    set_here = timers.start(60)
    before = await rings.ids()
    set_there = timers.start(60)
    assert await rings.note_new(before) == ""
    for timer in (set_here, set_there):
        rings.on_event(RingStarted(ring_id=timer.id, kind="timer", text=timer.id))
    for _ in range(5):  # the announcement is a task
        await asyncio.sleep(0)
    assert home.announcements == [set_there.id]


def _vault(*lines: str) -> tuple[Assistant, list[str]]:
    opened: list[str] = []

    @tool(side_effects=True, confirm="voice")
    def open_vault() -> str:
        """Open the vault."""
        opened.append("open")
        return "open"

    executor = ToolExecutor(ToolRegistry((open_vault,)))
    profile = ModelProfile(model(lines), PARSERS)

    def make_agent(room: str = "", **given: Any) -> LLMAgent:
        return LLMAgent("edgevox", tools=executor, parsers=PARSERS, **given)

    return Assistant("scripted", profile, make_agent, executor), opened


@pytest.mark.parametrize(
    ("answer", "times"), [("yes", 1), ("no", 0), ("what is the time?", 0)], ids=["yes", "no", "something else"]
)
async def test_a_yes_is_asked_for_in_one_sentence_and_given_in_the_next(answer: str, times: int) -> None:
    assistant, opened = _vault(written("open_vault"), "Done.", "Fine.")
    async with served(assistant, wyoming_scopes=("act", "confirm")) as address:
        question = await _say(address, "Open the vault.", conversation_id="one")
        assert question.endswith("?")
        assert opened == []
        assert await _say(address, answer, conversation_id="one")
    assert len(opened) == times


async def test_a_yes_of_another_conversation_or_without_the_scope_does_not_count() -> None:
    assistant, opened = _vault(written("open_vault"), "Hello.")
    async with served(assistant, wyoming_scopes=("act", "confirm")) as address:
        await _say(address, "Open the vault.", conversation_id="one")
        await _say(address, "yes", conversation_id="two")
    assistant, also_opened = _vault(written("open_vault"), "Hello.")
    async with served(assistant, wyoming_scopes=("act",)) as address:
        assert "confirm" in await _say(address, "Open the vault.", conversation_id="one")
        await _say(address, "yes", conversation_id="one")
    assert opened == also_opened == []


# --- what goes wrong


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (Synthesize("…").event(), "invalid_value"),
        (Synthesize("a" * 20_001).event(), "invalid_value"),
        (Event("synthesize"), "invalid_event"),
        (Event("audio-chunk", {"rate": "fast", "width": 2, "channels": 1}), "audio_error"),
        (Event("audio-chunk", {"rate": 16_000, "width": 3, "channels": 1}), "audio_error"),
        (Event("transcribe", {"language": 7}), "invalid_event"),
    ],
)
async def test_what_cannot_be_done_is_told_and_the_connection_ends(event: Event, code: str) -> None:
    async with client(sounding(Stenographer(), ToneSynthesizer())) as chat:
        await chat.write_event(event)
        assert Error.from_event(await heard(chat)).code == code
        assert await chat.read_event() is None


async def test_a_sound_that_is_too_long_is_refused_while_it_comes() -> None:
    async with client(sounding(Stenographer(), ToneSynthesizer()), max_audio_s=2) as chat:
        for _second in range(3):
            await chat.write_event(chunk(1.0).event())
        assert "longer" in Error.from_event(await heard(chat)).text


async def test_missing_stt_returns_an_error() -> None:
    async with client(talking(model([]))) as chat:
        await send_sound(chat, chunk(1.0))
        assert Error.from_event(await heard(chat)).code == "audio_not_served"


@pytest.mark.parametrize(
    "nonsense",
    [
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"[]\n",
        b'{"type": 1}\n',
        b'{"type": "ping", "data_length": "x"}\n',
        b'{"type": "ping", "data_length": -1}\n',
        b'{"type": "ping", "payload_length": 99999999999}\n',
        b'{"type": "ping", "data_length": 2}\n[]',
        b"[" * 70_000 + b"\n",
        b"\xff\xfe\n",
    ],
)
async def test_an_invalid_protocol_closes_the_connection(nonsense: bytes) -> None:
    async with served(talking(model([]))) as address:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))
        writer.write(nonsense)
        assert await _rest(reader) == b""
        writer.close()


async def _rest(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""


async def test_a_client_that_disconnects_frees_the_engine() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    class Deaf(Stenographer):
        async def stream(self, request: TranscribeRequest, cancel: CancelFlag) -> AsyncGenerator[Heard, None]:
            begun.set()
            try:
                await asyncio.Event().wait()
                yield Heard("never", "en", 0.0)
            finally:
                ended.set()

    async with served(sounding(Deaf(), ToneSynthesizer())) as address:
        chat = AsyncTcpClient("127.0.0.1", int(address.rpartition(":")[2]))
        await chat.connect()
        await send_sound(chat, chunk(1.0))
        await begun.wait()
        await chat.disconnect()
        await ended.wait()


@pytest.mark.parametrize(
    ("address", "peers", "may"),
    [
        ("127.0.0.1", (), True),
        ("::1", (), True),
        ("192.168.7.5", (), False),
        ("192.168.7.5", ("10.0.0.0/8", "fd00::/8"), False),
        ("192.168.7.5", ("192.168.7.0/24",), True),
        ("::ffff:192.168.7.5", ("192.168.7.5",), True),
        ("fe80::1%eth0", ("fe80::/64",), True),
    ],
)
def test_other_machines_must_be_named(address: str, peers: tuple[str, ...], may: bool) -> None:
    assert may_connect(address, peers) == may


def test_only_a_server_that_others_can_reach_is_announced() -> None:
    assert announced_addresses("127.0.0.1") == []
    assert announced_addresses("192.168.7.5") == ["192.168.7.5"]
    assert "127.0.0.1" not in announced_addresses("0.0.0.0")
    info = service_info("EdgeVox", ["192.168.7.5"], 10300)
    assert (info.type, info.port, info.parsed_addresses()) == ("_wyoming._tcp.local.", 10300, ["192.168.7.5"])


async def test_a_port_that_is_taken_is_named() -> None:
    async with served(talking(model([]))) as address:
        chosen = ServerSettings()
        assistant = talking(model([]))
        offer = WyomingService(assistant, EngineQueues(assistant, chosen), chosen, WakeSettings())
        with pytest.raises(ConfigError, match="cannot listen"):
            async with wyoming_listener(offer, "127.0.0.1", int(address.rpartition(":")[2])):
                pass


# --- our own clients


async def test_our_wyoming_stt_client_works_with_our_server() -> None:
    async with served(sounding(Stenographer(), ToneSynthesizer())) as address:
        stt = WyomingStt(address)
        await stt.start()
        audio = Audio(np.zeros(4 * RATE_HZ, dtype=np.float32), RATE_HZ)
        request = TranscribeRequest(audio, "de", ("Mara",))
        (transcript,) = [one async for one in stt.stream(request, CancelFlag())]
    assert (transcript.text, transcript.language, transcript.duration_s) == ("4 s", "de", 4.0)


async def test_our_wyoming_tts_client_works_with_our_server() -> None:
    async with served(sounding(Stenographer(), ToneSynthesizer())) as address:
        synthesizer = WyomingTts(address, voice="test-voice")
        await synthesizer.start()
        pieces = [piece async for piece in synthesizer.stream(SynthesisRequest("It is noon."), CancelFlag())]
        assert [one async for one in synthesizer.stream(SynthesisRequest(""), CancelFlag())] == []
    straight = [piece async for piece in ToneSynthesizer().stream(SynthesisRequest("It is noon."), CancelFlag())]
    samples, wanted = (np.concatenate([one.samples for one in many]) for many in (pieces, straight))
    assert pieces[0].rate_hz == straight[0].rate_hz
    assert np.allclose(samples, wanted, atol=1e-4)
