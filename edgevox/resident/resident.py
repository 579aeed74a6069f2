"""The assistant's life: one session after the other, each with the settings of its time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeAlias

from edgevox.audio.duplex import Duplex
from edgevox.control.protocol import Request
from edgevox.control.server import Dialogue
from edgevox.daemon import Daemon
from edgevox.errors import ControlError, EdgevoxError
from edgevox.events import Event, TurnEnded
from edgevox.memory import give_back_freed, keep_for_life
from edgevox.metrics import TurnRecord
from edgevox.resident.board import StatusBoard
from edgevox.resident.requests import answer
from edgevox.settings import Settings
from edgevox.types import JsonObject
from edgevox.voice import Ear, Loudspeaker, VoiceLoop

log = logging.getLogger(__name__)

Publish: TypeAlias = Callable[[Event], None]

# A turn that is under way may end first; one that does not is cut off.
_TURN_ENDS_WITHIN_S = 15.0


class Sound(Ear, Loudspeaker, Protocol):
    """A microphone that can be muted, and a loudspeaker."""

    @property
    def duplex(self) -> Duplex:
        """How the two go along now."""

    @property
    def level_dbfs(self) -> float:
        """How loud the last block was."""

    def mute(self) -> None: ...
    def unmute(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Session:
    """What is there between two readings of the settings."""

    daemon: Daemon
    sound: Sound
    loop: VoiceLoop


class Trade(Protocol):
    """How the parts of a session are made. Each may raise EdgevoxError."""

    def settings(self) -> Settings:
        """The settings as they are now."""

    def daemon(self, settings: Settings) -> Daemon:
        """A daemon that is not started yet, with its models there."""

    def sound(self, settings: Settings, publish: Publish) -> AbstractAsyncContextManager[Sound]: ...

    def around(self, session: Session) -> AbstractAsyncContextManager[None]:
        """What a person sees of a session, and what else is there as long as it is."""


class Resident:
    """Runs sessions until it is cancelled, and answers what is asked over the socket meanwhile."""

    def __init__(
        self, trade: Trade, settings: Settings, *, on_ready: Callable[[], None] = lambda: None
    ) -> None:
        self.board = StatusBoard()
        self.settings = settings
        self.is_muted = False
        self.session: Session | None = None
        """None while one ends and the next begins."""
        self.last_record: TurnRecord | None = None
        """The last turn of the sessions before this one."""
        self._trade = trade
        self._on_ready = on_ready
        self._wanted: tuple[Daemon, Settings] | None = None
        self._reload = asyncio.Event()
        self._began: asyncio.Future[None] | None = None

    async def run(self, daemon: Daemon) -> None:
        """Live with `daemon` first. Raises EdgevoxError when the first session cannot begin, or one ends."""
        keep_for_life()
        await self._live(daemon)
        while self._wanted is not None:
            give_back_freed()
            before, (daemon, settings) = self.settings, self._wanted
            self._wanted, self.settings = None, settings
            try:
                await self._live(daemon)
            except EdgevoxError as error:
                if self._began is None or self._began.done():
                    raise
                log.error("the new settings cannot be used: %s", error)
                self._began.set_exception(error)
                self.settings = before
                await self._live(self._trade.daemon(before))

    async def handle(self, request: Request, dialogue: Dialogue) -> JsonObject:
        """What is asked over the socket. Raises EdgevoxError."""
        return await answer(self, request, dialogue)

    def mute(self, *, is_muted: bool) -> None:
        self.is_muted = is_muted
        if self.session is not None:
            _mute(self.session, is_muted=is_muted)

    async def reload(self) -> tuple[str, ...]:
        """Live by the settings as they are now; the names of those that changed. Raises EdgevoxError.

        Where they cannot be used the old ones hold on.
        """
        if self._began is not None and not self._began.done():
            raise ControlError("the settings are being read already", hint="wait until that is done")
        settings = self._trade.settings()
        changed = changed_names(self.settings, settings)
        if changed:
            log.info("new settings: %s", ", ".join(changed))
            self._wanted = (self._trade.daemon(settings), settings)
            self._began = asyncio.get_running_loop().create_future()
            self._reload.set()
            await asyncio.shield(self._began)
        return changed

    async def _live(self, daemon: Daemon) -> None:
        """One session: until it is cancelled, or other settings are wanted."""
        self._reload.clear()
        self.board.doing = "starting"
        async with AsyncExitStack() as running:
            running.enter_context(daemon.bus.listening(self.board))
            await running.enter_async_context(daemon)
            sound = await running.enter_async_context(self._trade.sound(daemon.settings, daemon.bus.publish))
            speaks = daemon.settings.tts.enabled
            loop = daemon.voice_loop(sound, sound if speaks else None, partial(_duplex, sound))
            session = Session(daemon, sound, loop)
            await running.enter_async_context(self._trade.around(session))
            _mute(session, is_muted=self.is_muted)
            self.session = session
            self.board.rest()
            self._on_ready()
            if self._began is not None and not self._began.done():
                self._began.set_result(None)
            try:
                await self._until_other_settings(session)
                if self._wanted is not None:
                    self._wanted[0].take_over(daemon)
            finally:
                self.session = None
                self.last_record = daemon.records.last or self.last_record

    async def _until_other_settings(self, session: Session) -> None:
        listening = asyncio.create_task(session.loop.run())
        reloading = asyncio.create_task(self._reload.wait())
        try:
            await asyncio.wait((listening, reloading), return_when=asyncio.FIRST_COMPLETED)
            if not listening.done():
                await _turn_over(session)
        finally:
            reloading.cancel()
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
        if not listening.cancelled():
            listening.result()


def changed_names(before: Settings, after: Settings) -> tuple[str, ...]:
    """The dotted names of the settings that are not what they were."""
    old, new = _flat(before.model_dump()), _flat(after.model_dump())
    return tuple(sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name)))


def _flat(values: JsonObject, prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in values.items():
        if isinstance(value, dict) and not prefix:
            flat |= _flat(value, f"{name}.")
        else:
            flat[prefix + name] = value
    return flat


def _duplex(sound: Sound) -> Duplex:
    return sound.duplex


def _mute(session: Session, *, is_muted: bool) -> None:
    if is_muted:
        session.loop.wakefulness.mute()
        session.sound.mute()
    else:
        session.sound.unmute()
        session.loop.wakefulness.unmute()


async def _turn_over(session: Session) -> None:
    if not session.loop.pipeline.is_in_turn:
        return
    try:
        async with asyncio.timeout(_TURN_ENDS_WITHIN_S):
            with session.daemon.bus.subscription() as events:
                async for event in events:
                    if isinstance(event, TurnEnded):
                        return
    except TimeoutError:
        log.warning("a turn is cut off for the new settings")
