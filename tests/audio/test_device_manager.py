"""Devices that vanish and come back, made up by the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager

import numpy as np
import pytest

from edgevox.audio.io.device_manager import AudioDeviceManager
from edgevox.audio.io.devices import Device
from edgevox.audio.io.duplex import ResolvedDevices
from edgevox.audio.io.sound_server import Defaults, SoundServer
from edgevox.core.errors import DeviceUnavailable, SoundStuck
from edgevox.core.events import Event, SoundChanged
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio

BOUND_S = 20.0
SOUND = Audio(np.full(320, 0.5, dtype=np.float32), 16_000)


def device(name: str) -> Device:
    return Device(0, name, "made up", 1, 1, 16_000, is_default_input=True, is_default_output=True)


class MadeUpMicrophone:
    """Gives a block whenever the loop is free, until it is `broken`."""

    live = True
    delay_s = 0.0
    level_dbfs = -20.0
    dropped_samples = 1

    def __init__(self, name: str) -> None:
        self.device = device(name)
        self.broken: asyncio.Event = asyncio.Event()
        self.is_open = False
        self.refuses = False

    async def __aenter__(self) -> None:
        if self.refuses:
            raise DeviceUnavailable("refused")
        self.is_open = True

    async def close(self) -> None:
        self.is_open = False

    async def frames(self) -> AsyncGenerator[Audio, None]:
        while not self.broken.is_set():
            await asyncio.sleep(0)
            yield SOUND
        raise DeviceUnavailable("unplugged")


class MadeUpSpeaker:
    """Keeps how many chunks it played; `broken` before, or after so many."""

    def __init__(self, name: str, *, fails_after: int | None = None) -> None:
        self.device = device(name)
        self.played = 0
        self.heard_s = 0.0
        self.is_ducked = False
        self._fails_after = fails_after

    def duck(self, is_ducked: bool) -> None:
        self.is_ducked = is_ducked

    def hold(self, is_held: bool) -> None: ...

    async def play(self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]) -> None:
        if self._fails_after == 0:
            raise DeviceUnavailable("no such device")
        async for _ in chunks:
            self.played += 1
            self.heard_s += 0.02
            if self.played == self._fails_after:
                raise DeviceUnavailable("pulled out")


class MadeUpServer(SoundServer):
    """A sound server whose defaults the test sets; None where there is none."""

    def __init__(self, now: Defaults | None = None) -> None:
        self.now = now
        self.tell: Callable[[], None] = lambda: None

    async def defaults(self) -> Defaults | None:
        return self.now

    @asynccontextmanager
    async def watched(self, on_change: Callable[[], None]) -> AsyncIterator[None]:
        self.tell = on_change
        yield


class Room:
    """What is plugged in, which PortAudio sees when it looks again."""

    def __init__(self, server: MadeUpServer | None = None) -> None:
        self.microphone: MadeUpMicrophone | None = MadeUpMicrophone("desk")
        self.speaker: MadeUpSpeaker | None = MadeUpSpeaker("shelf")
        self.server = server or MadeUpServer()
        self.events: list[Event] = []
        self.looks = 0
        self.sound = AudioDeviceManager(self._find, self.events.append, server=self.server, look=self._look)

    def _look(self) -> None:
        assert self.microphone is None or not self.microphone.is_open, "PortAudio is read anew under a stream"
        self.looks += 1

    def _find(self) -> ResolvedDevices:
        return ResolvedDevices(
            self.microphone,
            self.speaker,
            microphone_problem="" if self.microphone else "no microphone",
            speaker_problem="" if self.speaker else "no loudspeaker",
        )

    def plug_in(self, name: str = "desk") -> MadeUpMicrophone:
        self.microphone = MadeUpMicrophone(name)
        self.server.tell()
        return self.microphone

    def told(self, which: str) -> list[tuple[bool, str]]:
        return [
            (event.is_there, event.name or event.detail)
            for event in self.events
            if isinstance(event, SoundChanged) and event.device == which
        ]


@asynccontextmanager
async def listening(room: Room) -> AsyncIterator[AsyncGenerator[Audio, None]]:
    async with asyncio.timeout(BOUND_S), room.sound, aclosing(room.sound.frames()) as frames:
        yield frames


async def until(frames: AsyncGenerator[Audio, None], *, sound: bool) -> None:
    """Read until something is heard, or nothing."""
    async for block in frames:
        if bool(block.samples.any()) is sound:
            return


async def chunks(count: int) -> AsyncIterator[Audio]:
    for _ in range(count):
        yield SOUND


async def test_a_microphone_that_is_unplugged_is_silence_until_it_is_back() -> None:
    room = Room()
    async with listening(room) as frames:
        await until(frames, sound=True)
        assert room.microphone is not None
        room.microphone.broken.set()
        room.microphone = None
        await until(frames, sound=False)
        room.plug_in()
        await until(frames, sound=True)
    assert room.told("microphone") == [(True, "desk"), (False, "unplugged"), (True, "desk")]


async def test_a_microphone_comes_back_without_a_server_that_tells() -> None:
    room = Room()
    room.microphone = None
    async with listening(room) as frames:
        await until(frames, sound=False)
        room.microphone = MadeUpMicrophone("desk")
        await until(frames, sound=True)
    assert room.told("microphone") == [(False, "no microphone"), (True, "desk")]


async def test_a_microphone_that_gives_nothing_any_more_is_opened_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edgevox.audio.io.device_manager._GONE_AFTER_S", 0.05)
    room = Room()

    class Hanging(MadeUpMicrophone):
        async def frames(self) -> AsyncGenerator[Audio, None]:
            yield SOUND
            await asyncio.Event().wait()

    room.microphone = Hanging("desk")
    async with listening(room) as frames:
        await until(frames, sound=True)
        room.microphone = MadeUpMicrophone("desk")
        await until(frames, sound=True)
    assert [is_there for is_there, _ in room.told("microphone")] == [True, False, True]


async def test_another_default_is_taken() -> None:
    room = Room(MadeUpServer(Defaults("built-in", "shelf")))
    room.microphone = MadeUpMicrophone("default")
    async with listening(room) as frames:
        await until(frames, sound=True)
        before, room.server.now = room.microphone, Defaults("headset", "shelf")
        before.broken.clear()
        room.plug_in("default")
        await anext(frames)
        await until(frames, sound=True)
        assert not before.is_open
    assert room.told("microphone") == [(True, "built-in"), (True, "headset")]


async def test_what_the_server_does_beside_its_defaults_disturbs_nobody() -> None:
    room = Room(MadeUpServer(Defaults("built-in", "shelf")))
    async with listening(room) as frames:
        await until(frames, sound=True)
        looks = room.looks
        room.server.tell()
        await until(frames, sound=True)
        assert room.looks == looks


async def test_what_the_loudspeaker_plays_is_no_microphone() -> None:
    room = Room(MadeUpServer(Defaults("shelf.monitor", "shelf")))
    room.microphone = MadeUpMicrophone("default")
    async with listening(room) as frames:
        await until(frames, sound=False)
        assert not room.microphone.is_open
        room.server.now = Defaults("headset", "shelf")
        room.server.tell()
        await until(frames, sound=True)


async def test_mute_lets_the_device_go_and_unmute_takes_it_again() -> None:
    room = Room()
    async with listening(room) as frames:
        await until(frames, sound=True)
        muted = room.microphone
        assert muted is not None
        room.sound.mute()
        await until(frames, sound=False)
        assert not muted.is_open
        room.microphone = MadeUpMicrophone("desk")
        room.sound.unmute()
        await until(frames, sound=True)
    assert room.sound.dropped_samples >= 1


async def test_a_reply_that_was_not_begun_is_played_on_the_next_loudspeaker() -> None:
    room = Room()
    room.speaker = MadeUpSpeaker("gone", fails_after=0)
    async with listening(room) as frames:
        await until(frames, sound=True)
        room.speaker = MadeUpSpeaker("shelf")
        playing = asyncio.create_task(room.sound.play(chunks(3), CancelFlag()))
        while not playing.done():
            await anext(frames)
        await playing
        assert room.speaker.played == 3
    assert room.told("loudspeaker") == [(True, "gone"), (False, "no such device"), (True, "shelf")]


async def test_a_reply_that_was_begun_is_lost_with_its_loudspeaker_and_the_next_is_not() -> None:
    room = Room()
    room.speaker = MadeUpSpeaker("cable", fails_after=1)
    async with listening(room) as frames:
        await until(frames, sound=True)
        with pytest.raises(DeviceUnavailable, match="pulled out"):
            await room.sound.play(chunks(3), CancelFlag())
        room.speaker = MadeUpSpeaker("shelf")
        playing = asyncio.create_task(room.sound.play(chunks(3), CancelFlag()))
        while not playing.done():
            await anext(frames)
        await playing
        assert room.speaker.played == 3


async def test_without_a_loudspeaker_a_reply_fails_and_listening_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edgevox.audio.io.device_manager._SPEAKER_WITHIN_S", 0.05)
    room = Room()
    room.speaker = None
    async with listening(room) as frames:
        await until(frames, sound=True)
        with pytest.raises(DeviceUnavailable, match="no loudspeaker"):
            await room.sound.play(chunks(1), CancelFlag())
        await until(frames, sound=True)


async def test_portaudio_is_not_read_anew_under_a_reply() -> None:
    room = Room(MadeUpServer(Defaults("built-in", "shelf")))
    is_over = asyncio.Event()

    class Slow(MadeUpSpeaker):
        async def play(self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]) -> None:
            await is_over.wait()

    room.speaker = Slow("shelf")
    async with listening(room) as frames:
        await until(frames, sound=True)
        playing = asyncio.create_task(room.sound.play(chunks(1), CancelFlag()))
        await anext(frames)
        looks = room.looks
        room.server.now = Defaults("built-in", "headphones")
        room.server.tell()
        for _ in range(5):
            await until(frames, sound=True)
        assert room.looks == looks
        is_over.set()
        await playing
        while room.looks == looks:
            room.server.tell()
            await anext(frames)


async def test_a_microphone_that_cannot_be_closed_is_told_as_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edgevox.audio.io.device_manager._CLOSES_WITHIN_S", 0.05)
    room = Room()

    class Stuck(MadeUpMicrophone):
        async def close(self) -> None:
            await asyncio.Event().wait()

    room.microphone = stuck = Stuck("desk")
    async with listening(room) as frames:
        await until(frames, sound=True)
        stuck.broken.set()
        with pytest.raises(SoundStuck):
            await until(frames, sound=False)


async def test_a_loudspeaker_that_hangs_is_an_error_of_the_reply_and_ends_the_listening() -> None:
    room = Room()

    class Stuck(MadeUpSpeaker):
        async def play(self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]) -> None:
            raise SoundStuck("PortAudio hangs")

    room.speaker = Stuck("default")
    async with listening(room) as frames:
        await until(frames, sound=True)
        with pytest.raises(DeviceUnavailable, match="hangs"):
            await room.sound.play(chunks(1), CancelFlag())
        with pytest.raises(SoundStuck, match="hangs"):
            async for _ in frames:
                pass


async def test_what_plays_is_ducked_and_says_how_much_of_it_was_heard() -> None:
    room = Room()
    speaker = room.speaker
    assert speaker is not None
    async with listening(room) as frames:
        await until(frames, sound=True)
        await room.sound.play(chunks(3), CancelFlag())
        room.sound.duck(True)
        assert speaker.is_ducked
        assert room.sound.heard_s == pytest.approx(0.06)
