"""EdgeVox as a thin satellite: wake word, VAD and echo cancellation here, everything else on the server.

No engine is loaded. The microphone is always open; audio leaves the machine only after the wake word, during a turn and
for the follow-up to a reply (without a wake word: while somebody speaks).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from edgevox.audio import tones
from edgevox.audio.io.duplex import Duplex
from edgevox.audio.io.microphone import AudioSource
from edgevox.audio.io.speaker import Loudspeaker
from edgevox.audio.vad import BLOCK_MS, VadResult, VoiceActivityDetector
from edgevox.audio.wake_gate import WakeState, WakeWordSpotter
from edgevox.core.errors import EdgevoxError
from edgevox.core.turn import CancelFlag, background_task, cancel_tasks
from edgevox.core.types import Audio, JsonObject, to_pcm16
from edgevox.satellites.connection import Backoff, Connection, ConnectionLost, ServerAddress
from edgevox.satellites.playback import PassagePlayer

_log = logging.getLogger(__name__)

_FIRST_RETRY_S = 0.5
_LONGEST_RETRY_S = 30.0
_GOOD_AFTER_S = 10.0
# Without a wake word, audio is sent from before the first voiced block until long after the last one.
_PRE_ROLL = 500 // BLOCK_MS
_HANGOVER = 3_000 // BLOCK_MS
# Blocks over which the level of the wake word is taken.
_WORD = 1_000 // BLOCK_MS
_TONE_WITHIN_S = 3.0

Doing: TypeAlias = Literal["connecting", "asleep", "listening", "busy", "muted"]


class SatelliteAudio(AudioSource, Loudspeaker, Protocol):
    """Microphone and loudspeaker of the satellite."""

    @property
    def duplex(self) -> Duplex: ...
    def mute(self) -> None: ...
    def unmute(self) -> None: ...


class ScoredSpotter(WakeWordSpotter, Protocol):
    """A wake-word detector that says how sure it is."""

    @property
    def confidence(self) -> float: ...


class WakeLevel:
    """The level of the wake word above the noise of the room, which says how near the speaker is.

    Both are taken from the same microphone, so that its gain does not count.
    """

    def __init__(self) -> None:
        self._levels_db: deque[float] = deque(maxlen=_WORD)
        self._room_db = 0.0

    def feed(self, heard: VadResult) -> None:
        self._levels_db.append(heard.level_db)
        self._room_db = heard.room_db

    @property
    def level_db(self) -> float:
        return max(self._levels_db) - self._room_db


@dataclass(frozen=True, slots=True)
class SatelliteOptions:
    """`chime_volume` is the peak of the earcons; 0 for none. With a `player` of Home Assistant, replies sound there."""

    address: ServerAddress
    token: str
    name: str
    room: str = ""
    follow_up_s: float = 0.0
    chime_volume: float = 0.0
    player: str = ""


class Satellite:
    """Connects the devices to the server until it is cancelled; `on_change` gets what it does, and why.

    Raises ConfigError if the server refuses the token or the version; a server that cannot be reached is tried again.
    """

    def __init__(
        self,
        options: SatelliteOptions,
        sound: SatelliteAudio,
        detector: ScoredSpotter | None,
        on_change: Callable[[Doing, str], None] = lambda _doing, _detail: None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._options = options
        self._sound = sound
        self._detector = detector
        self._on_change = on_change
        self._sleep = sleep
        self._wake_state = WakeState("word" if detector else "off", detector, follow_up_s=options.follow_up_s)
        self._vad = VoiceActivityDetector()
        self._wake_level = WakeLevel()
        self._before: deque[Audio] = deque(maxlen=_PRE_ROLL)
        self._unvoiced = _HANGOVER
        self._is_sending = False
        self._is_in_turn = False
        self._ringing: set[str] = set()
        self._connection: Connection | None = None
        self._player: PassagePlayer | None = None
        self._told: tuple[Doing, str] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        try:
            async with background_task(self._listen()) as listening, background_task(self._stay_connected()) as staying:
                done, _ = await asyncio.wait((listening, staying), return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        finally:
            await cancel_tasks(*self._tasks)

    # --- the connection

    async def _stay_connected(self) -> None:
        backoff = Backoff(_FIRST_RETRY_S, _LONGEST_RETRY_S, good_after_s=_GOOD_AFTER_S, sleep=self._sleep)
        lost_s: float | None = None  # set once a connection has existed and is lost
        self._tell("connecting", "")
        while True:
            problem, is_connected = "", False
            backoff.begin()
            try:
                away_s = 0.0 if lost_s is None else time.monotonic() - lost_s
                async with self._options.address.connected(self._hello(away_s)) as connection:
                    is_connected = True
                    await self._converse(connection)
            except ConnectionLost as error:
                problem = str(error)
            if is_connected:
                lost_s = time.monotonic()
            _log.info("no connection: %s", problem)
            self._tell("connecting", problem)
            await backoff.wait()

    def _hello(self, away_s: float) -> JsonObject:
        hello: JsonObject = {
            "token": self._options.token,
            "rate_hz": 16_000,
            "play_rate_hz": 24_000,
            "room": self._options.room,
            "satellite": self._options.name,
            "away_s": round(away_s, 1),
        }
        # A server of an earlier version refuses what it does not know.
        return {**hello, "player": self._options.player} if self._options.player else hello

    async def _converse(self, connection: Connection) -> None:
        """Raises ConnectionLost at its end."""
        player = PassagePlayer(self._sound, connection.send)
        self._connection, self._player = connection, player
        self._is_sending = self._is_in_turn = False
        self._ringing.clear()
        self._tell_attention()
        _log.info("connected to %s as %s", self._options.address.url, self._options.name)
        try:
            async for frame in connection.frames():
                if isinstance(frame, bytes):
                    player.add(frame)
                else:
                    self._handle(frame, player)
        finally:
            self._connection = self._player = None
            was_in_turn, self._is_in_turn = self._is_in_turn, False
            await player.close()
            if was_in_turn:
                self._spawn(self._play_tone(tones.error_tone))

    def _handle(self, frame: JsonObject, player: PassagePlayer) -> None:
        match frame:
            case {"type": "audio_begin", "passage": int(passage), "rate_hz": int(rate_hz)}:
                player.begin(passage, rate_hz)
            case {"type": "audio_end"}:
                player.end()
            case {"type": "audio_stop"}:
                player.stop()
            case {"type": "audio_duck", "is_ducked": bool(is_ducked)}:
                self._sound.duck(is_ducked)
            case {"type": "state", "state": str(state)}:
                self._note_state(state)
            case {"type": "wake", "granted": bool(is_granted)}:
                self._note_granted(is_granted=is_granted)
            case {"type": "mute", "is_muted": bool(is_muted)}:
                self._mute(is_muted=is_muted)
            case {"type": "ring", "ring_id": str(ring_id), "is_ringing": True, "satellites": list(names)}:
                if self._options.name in names:
                    self._ringing.add(ring_id)
            case {"type": "ring", "ring_id": str(ring_id)}:
                self._ringing.discard(ring_id)
            case {"type": "error", "message": str(message)}:
                _log.warning("the server reports: %s", message)
            case _:
                pass

    def _note_state(self, state: str) -> None:
        was_in_turn, self._is_in_turn = self._is_in_turn, state not in ("listening", "hearing")
        if was_in_turn and not self._is_in_turn:
            self._wake_state.note_reply_ended()
        self._tell_attention()

    def _note_granted(self, *, is_granted: bool) -> None:
        if is_granted:
            self._spawn(self._play_tone(tones.wake_tone))
            return
        _log.info("another satellite has heard the wake word better")
        self._is_sending = False
        self._wake_state.sleep()
        self._tell_attention()

    def _mute(self, *, is_muted: bool) -> None:
        if is_muted:
            self._wake_state.mute()
            self._sound.mute()
        else:
            self._sound.unmute()
            self._wake_state.unmute()
        self._tell_attention()

    # --- the microphone

    async def _listen(self) -> None:
        async with aclosing(self._sound.frames()) as blocks:
            async for block in blocks:
                self._process(block)

    def _process(self, block: Audio) -> None:
        heard = self._vad.judge(block)
        self._wake_level.feed(heard)
        self._unvoiced = 0 if heard.is_voice else self._unvoiced + 1
        is_engaged = self._is_in_turn or bool(self._ringing)
        called = self._wake_state.feed(block, is_engaged=is_engaged, is_in_speech=self._unvoiced < _HANGOVER // 3)
        if called:
            self._called(called)
        elif self._is_wanted(block):
            self._send_audio(block)
        elif self._is_sending:
            self._is_sending = False
            self._send({"type": "audio_end"})
            self._tell_attention()

    def _called(self, after: tuple[Audio, ...]) -> None:
        if self._connection is None:
            self._spawn(self._play_tone(tones.error_tone))
            return
        score = self._detector.confidence if self._detector else 0.0
        level_db = round(self._wake_level.level_db, 1)
        at_s = self._connection.server_clock.at(time.monotonic())
        # A server that tells no time does not know the field.
        when = {} if at_s is None else {"at_s": at_s}
        self._send({"type": "wake", "score": round(min(1.0, score), 4), "level_db": level_db, **when})
        for block in after:
            self._send_audio(block)
        self._tell_attention()

    def _is_wanted(self, block: Audio) -> bool:
        """Whether the block is sent now."""
        if self._connection is None or not self._wake_state.is_awake:
            self._before.clear()
            return False
        if self._sound.duplex == "half" and self._player is not None and self._player.is_playing:
            return False  # it would hear itself
        if self._detector is not None or self._is_in_turn or self._unvoiced < _HANGOVER:
            while self._before:
                self._send_audio(self._before.popleft())
            return True
        self._before.append(block)
        return False

    def _send_audio(self, block: Audio) -> None:
        self._is_sending = True
        if self._connection is not None:
            self._connection.send_bytes(to_pcm16(block.samples))

    def _send(self, frame: JsonObject) -> None:
        if self._connection is not None:
            self._connection.send(frame)

    # --- what it shows and plays

    async def _play_tone(self, tone: Callable[[float], Audio]) -> None:
        player = self._player
        # Without echo cancellation the tone would be heard as speech; and a reply is not interrupted.
        is_heard_by_itself = tone is tones.wake_tone and self._sound.duplex == "half"
        if not self._options.chime_volume or is_heard_by_itself or (player is not None and player.is_playing):
            return

        async def sounds() -> AsyncGenerator[Audio, None]:
            yield tone(self._options.chime_volume)

        try:
            async with asyncio.timeout(_TONE_WITHIN_S):
                await self._sound.play(sounds(), CancelFlag(), lambda: None)
        except (EdgevoxError, TimeoutError) as error:
            _log.warning("the earcon was not played: %s", error)

    def _tell_attention(self) -> None:
        if self._connection is None:
            return
        if self._wake_state.attention == "muted":
            self._tell("muted", "")
        elif self._is_in_turn:
            self._tell("busy", "")
        else:
            self._tell("listening" if self._wake_state.is_awake else "asleep", "")

    def _tell(self, doing: Doing, detail: str) -> None:
        if self._told != (doing, detail):
            self._told = doing, detail
            self._on_change(doing, detail)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
