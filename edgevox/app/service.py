"""AssistantService: runs sessions, restarts them with changed settings, and tracks the status."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import os
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from edgevox import __version__
from edgevox.app.engines import EngineHealth
from edgevox.app.runtime import AssistantRuntime
from edgevox.audio.io.duplex import Duplex
from edgevox.config import Settings
from edgevox.config.loader import user_presets
from edgevox.core import events
from edgevox.core.errors import ControlError, EdgevoxError
from edgevox.core.events import Event, Publish, SoundDevice, TurnEnded
from edgevox.core.files import Folders
from edgevox.core.metrics import TurnMetrics
from edgevox.core.platform import freeze_gc, release_free_memory
from edgevox.core.turn import background_task
from edgevox.core.types import JsonObject
from edgevox.dialogue import AudioSource, Loudspeaker, VoiceLoop
from edgevox.home.backends.factory import password_file, token_file
from edgevox.tools.mcp.config import config_file
from edgevox.tools.plugins.sources import plugins_folder

Doing: TypeAlias = Literal[
    "starting", "listening", "hearing", "understanding", "thinking", "speaking", "asking", "ringing"
]


@dataclass
class StatusTracker:
    """Tracks the status from events; counts persist across sessions, states do not."""

    doing: Doing = "starting"
    turns: int = 0
    failed_turns: int = 0
    _started_s: float = field(default_factory=time.monotonic)
    _health: EngineHealth = field(default_factory=EngineHealth)
    _devices: dict[SoundDevice, JsonObject] = field(default_factory=dict)
    _last_trouble: JsonObject | None = None
    _ringing: set[str] = field(default_factory=set)

    def __call__(self, event: Event) -> None:
        self._health(event)
        match event:
            case events.SpeechStarted():
                self.doing = "hearing"
            case events.TranscriptionStarted(early=False):
                self.doing = "understanding"
            case events.ModelStarted():
                self.doing = "thinking"
            case events.PlaybackStarted():
                self.doing = "speaking"
            case events.ConfirmationRequired():
                self.doing = "asking"
            case events.RingStarted(ring_id=ring_id):
                self._ringing.add(ring_id)
                self.set_idle()
            case events.RingEnded(ring_id=ring_id):
                self._ringing.discard(ring_id)
                self.set_idle()
            case TurnEnded(outcome=outcome):
                self.turns += outcome != "dropped"
                self.failed_turns += outcome == "failed"
                self.set_idle()
            case events.SpeechDropped() | events.PlaybackFinished():
                self.set_idle()
            case events.StateChanged(detail=detail) if detail:
                now = dt.datetime.now().astimezone().isoformat(timespec="seconds")
                self._last_trouble = {"at": now, "message": detail}
            case events.SoundChanged(device=kind, is_there=is_there, name=name, detail=detail):
                self._devices[kind] = {"is_there": is_there, "name": name, "detail": detail}
            case _:
                pass

    def set_idle(self) -> None:
        """Set the state to listening, or ringing if an alarm rings."""
        self.doing = "ringing" if self._ringing else "listening"

    def facts(self) -> JsonObject:
        return {
            "pid": os.getpid(),
            "version": __version__,
            "up_s": round(time.monotonic() - self._started_s),
            "state": self.doing,
            "devices": dict(self._devices),
            "engines": self._health.report(),
            "turns": self.turns,
            "failed_turns": self.failed_turns,
            "last_trouble": self._last_trouble,
        }


log = logging.getLogger(__name__)


# A reload waits this long for the current turn, then cancels it.
_TURN_ENDS_WITHIN_S = 15.0


class AudioDevices(AudioSource, Loudspeaker, Protocol):
    """A microphone that can be muted, and a loudspeaker."""

    @property
    def duplex(self) -> Duplex:
        """The current echo handling."""

    @property
    def level_dbfs(self) -> float:
        """Level of the last block."""

    def mute(self) -> None: ...
    def unmute(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ServiceSession:
    """The runtime, devices and voice loop for one version of the settings."""

    runtime: AssistantRuntime
    sound: AudioDevices
    loop: VoiceLoop


class SessionFactory(Protocol):
    """Builds the parts of a session; every method may raise EdgevoxError."""

    folders: Folders

    def settings(self) -> Settings: ...

    def runtime(self, settings: Settings) -> AssistantRuntime:
        """Build a runtime, not started yet, whose models are downloaded."""

    def sound(self, settings: Settings, publish: Publish) -> AbstractAsyncContextManager[AudioDevices]: ...

    def session_context(self, session: ServiceSession) -> AbstractAsyncContextManager[None]:
        """Context of a session: its view and its servers."""


class AssistantService:
    """Runs sessions until it is cancelled; control requests act on the current session."""

    def __init__(
        self, factory: SessionFactory, settings: Settings, *, on_ready: Callable[[], None] = lambda: None
    ) -> None:
        self.status = StatusTracker()
        self.settings = settings
        self.is_muted = False
        self.session: ServiceSession | None = None
        """None between two sessions."""
        self.last_record: TurnMetrics | None = None
        """The last turn of earlier sessions."""
        self._factory = factory
        self._on_ready = on_ready
        self._wanted: AssistantRuntime | None = None
        """The runtime of the next session."""
        self._files = _files_beside(settings, factory.folders)
        self._reload = asyncio.Event()
        self._began: asyncio.Future[None] | None = None

    async def run(self, runtime: AssistantRuntime) -> None:
        """Run, starting with `runtime`. Raises EdgevoxError if the first session cannot start or one fails."""
        freeze_gc()
        await self._run_session(runtime)
        while self._wanted is not None:
            release_free_memory()
            before, runtime, self._wanted = self.settings, self._wanted, None
            self.settings = runtime.settings
            try:
                await self._run_session(runtime)
            except EdgevoxError as error:
                if self._began is None or self._began.done():
                    raise
                log.error("cannot apply the new settings: %s", error)
                self._began.set_exception(error)
                self.settings = before
                await self._run_session(self._factory.runtime(before))

    def mute(self, *, is_muted: bool) -> None:
        self.is_muted = is_muted
        if self.session is not None:
            _mute(self.session, is_muted=is_muted)

    async def reload(self) -> tuple[str, ...]:
        """Reload the settings and return the names of those, and of other files, that changed. Raises EdgevoxError.

        If the new settings are invalid, the old ones stay in use.
        """
        if self._began is not None and not self._began.done():
            raise ControlError("a reload is already in progress", hint="wait until it is done")
        settings = self._factory.settings()
        files = _files_beside(settings, self._factory.folders)
        changed = (*changed_names(self.settings, settings), *_differing(self._files, files))
        if changed:
            log.info("new settings: %s", ", ".join(changed))
            self._wanted = self._factory.runtime(settings)
            self._files = files
            self._began = asyncio.get_running_loop().create_future()
            self._reload.set()
            await asyncio.shield(self._began)
        return changed

    async def _run_session(self, runtime: AssistantRuntime) -> None:
        """Run one session until it is cancelled or the settings are reloaded."""
        self._reload.clear()
        self.status.doing = "starting"
        async with AsyncExitStack() as running:
            running.enter_context(runtime.bus.listening(self.status))
            await running.enter_async_context(runtime)
            sound = await running.enter_async_context(self._factory.sound(runtime.settings, runtime.bus.publish))
            speaks = runtime.settings.tts.enabled
            loop = runtime.voice_loop(sound, sound if speaks else None, lambda: sound.duplex)
            session = ServiceSession(runtime, sound, loop)
            await running.enter_async_context(self._factory.session_context(session))
            _mute(session, is_muted=self.is_muted)
            self.session = session
            self.status.set_idle()
            self._on_ready()
            # Without one that was asked for while this one started.
            if self._wanted is None and self._began is not None and not self._began.done():
                self._began.set_result(None)
            try:
                await self._run_until_reload(session)
                if self._wanted is not None:
                    self._wanted.engines.take_over(runtime.engines)
            finally:
                self.session = None
                self.last_record = runtime.records.last or self.last_record

    async def _run_until_reload(self, session: ServiceSession) -> None:
        async with background_task(session.loop.run()) as listening, background_task(self._reload.wait()) as reloading:
            await asyncio.wait((listening, reloading), return_when=asyncio.FIRST_COMPLETED)
            if not listening.done():
                await _wait_for_turn_end(session)
        if not listening.cancelled():
            listening.result()


def changed_names(before: Settings, after: Settings) -> tuple[str, ...]:
    return _differing(_by_dotted_name(before), _by_dotted_name(after))


def _differing(old: Mapping[str, object], new: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name)))


def _files_beside(settings: Settings, folders: Folders) -> dict[str, object]:
    """The other files that a session is made from, by their names, with what a change of them changes."""
    own = (
        *user_presets(folders).glob("*.toml"),
        *plugins_folder(folders).rglob("*.py"),
        folders.config / "models.toml",
    )
    secrets = (token_file(folders), password_file(folders))
    stamps: dict[str, object] = {}
    for path in (config_file(settings.mcp, folders), *own, *secrets):
        with suppress(OSError):
            found = path.stat()
            stamps[path.name] = (found.st_mtime_ns, found.st_size)
    return stamps


def _by_dotted_name(settings: Settings) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, value in settings.model_dump().items():
        values |= {f"{name}.{key}": inner for key, inner in value.items()} if isinstance(value, dict) else {name: value}
    return values


def _mute(session: ServiceSession, *, is_muted: bool) -> None:
    if is_muted:
        session.loop.wake_state.mute()
        session.sound.mute()
    else:
        session.sound.unmute()
        session.loop.wake_state.unmute()


async def _wait_for_turn_end(session: ServiceSession) -> None:
    if not session.loop.pipeline.is_in_turn:
        return
    try:
        async with asyncio.timeout(_TURN_ENDS_WITHIN_S):
            with session.runtime.bus.subscription() as subscription:
                async for event in subscription:
                    if isinstance(event, TurnEnded):
                        return
    except TimeoutError:
        log.warning("cancelled a turn to apply the new settings")
