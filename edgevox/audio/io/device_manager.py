"""Keeps microphone and loudspeaker open, and reopens them after unplugging or a server restart."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Self

import numpy as np

from edgevox.audio.dsp import SILENCE_DBFS
from edgevox.audio.io.devices import Device, rescan_devices
from edgevox.audio.io.duplex import Duplex, OpenableMicrophone, OpenableSpeaker, ResolvedDevices
from edgevox.audio.io.sound_server import Defaults, SoundServer
from edgevox.audio.io.speaker import OnStart
from edgevox.core.errors import DeviceUnavailable, SoundStuck
from edgevox.core.events import Publish, SoundChanged, SoundDevice
from edgevox.core.turn import CancelFlag, cancel_tasks, next_item
from edgevox.core.types import SAMPLE_RATE_HZ, Audio

log = logging.getLogger(__name__)


_BLOCK_S = 0.02
# A device delivers a block every 20 ms. A busy machine may be late; after this long the device is lost.
_GONE_AFTER_S = 1.0
_TRY_AGAIN_S = 1.0
# PortAudio's thread can spin for ever when the sound server dies at the wrong moment (ADR 29).
_CLOSES_WITHIN_S = 2.0
# How long a reply waits for a lost loudspeaker to come back.
_SPEAKER_WITHIN_S = 3.0
_LIST_THEM = "edgevox devices lists what is there"


class AudioDeviceManager:
    """An audio source and a loudspeaker. Use it with `async with`; recovery needs a reader of `frames`.

    `find` resolves both devices, in a thread. Without a microphone, or while muted, `frames` yields silence, so
    that utterances end and questions time out.
    """

    live = True

    def __init__(
        self,
        find: Callable[[], ResolvedDevices],
        publish: Publish,
        *,
        server: SoundServer | None = None,
        look: Callable[[], None] = rescan_devices,
    ) -> None:
        self._find = find
        self._publish = publish
        self._server = server or SoundServer()
        self._look = look
        self._found: ResolvedDevices | None = None
        self._defaults: Defaults | None = None
        self._microphone: OpenableMicrophone | None = None
        """The open microphone."""
        self._blocks: AsyncGenerator[Audio, None] | None = None
        self._next: asyncio.Task[Audio | None] | None = None
        self._dropped_before = 0
        self._is_muted = False
        self._is_stale = True
        self._is_closed = False
        self._try_at_s = 0.0
        self._silent_until_s = 0.0
        self._published: dict[SoundDevice, tuple[bool, str]] = {}
        self._playing = 0
        self._sounding: OpenableSpeaker | None = None
        """The loudspeaker of the current or last playback."""
        self._stuck: SoundStuck | None = None
        """Why the loudspeaker cannot work again in this process."""
        self._changing = asyncio.Lock()
        self._speaker_is_there = asyncio.Event()
        self._running = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._running.enter_async_context(self._server.watched(self.look_for_changes))
        await self._renew()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._is_closed = True
        await self._let_go()
        await self._running.aclose()

    # --- microphone

    @property
    def dropped_samples(self) -> int:
        now = self._microphone.dropped_samples if self._microphone else 0
        return self._dropped_before + now

    @property
    def delay_s(self) -> float:
        return self._microphone.delay_s if self._microphone else 0.0

    @property
    def level_dbfs(self) -> float:
        return self._microphone.level_dbfs if self._microphone else SILENCE_DBFS

    @property
    def duplex(self) -> Duplex:
        return self._found.duplex if self._found else "half"

    @property
    def is_muted(self) -> bool:
        return self._is_muted

    def mute(self) -> None:
        """Close the microphone, so that the system shows it as unused."""
        self._is_muted = True

    def unmute(self) -> None:
        self._is_muted = False
        self._try_at_s = 0.0

    def look_for_changes(self) -> None:
        """Resolve the devices again after a change."""
        self._is_stale = True
        self._try_at_s = 0.0

    async def frames(self) -> AsyncGenerator[Audio, None]:
        """Blocks without interruption, whatever happens to the devices, until the end of `async with`.

        Raises SoundStuck when no device can work again in this process.
        """
        while not self._is_closed:
            if self._stuck is not None:
                raise self._stuck
            if self._is_stale and time.monotonic() >= self._try_at_s:
                await self._renew()
            if self._is_muted:
                await self._let_go()
            elif self._microphone is None and time.monotonic() >= self._try_at_s:
                await self._open()
            if self._microphone is None:
                yield await self._silence()
            elif (block := await self._block(self._microphone)) is not None:
                yield block

    async def _block(self, microphone: OpenableMicrophone) -> Audio | None:
        """The next block; None when the microphone is gone."""
        assert self._blocks is not None
        if self._next is None:
            self._next = next_item(self._blocks)
        await asyncio.wait((self._next,), timeout=_GONE_AFTER_S)
        problem = f"the microphone {microphone.device.name!r} does not answer any more"
        # A delayed event loop sees the timeout before the block that has arrived.
        await asyncio.sleep(0)
        if self._next.done():
            following, self._next = self._next, None
            try:
                if (block := following.result()) is not None:
                    return block
            except DeviceUnavailable as error:
                problem = str(error)
        await self._let_go()
        self._publish_change("microphone", is_there=False, detail=problem)
        self.look_for_changes()
        return None

    async def _silence(self) -> Audio:
        now_s = time.monotonic()
        self._silent_until_s = max(self._silent_until_s, now_s - _BLOCK_S) + _BLOCK_S
        await asyncio.sleep(max(0.0, self._silent_until_s - now_s))
        return _SILENCE

    # --- finding and opening

    async def _renew(self) -> None:
        """Resolve the devices; an open one stays open if it is still the right one."""
        self._is_stale = False
        defaults = await self._server.defaults()
        if defaults == self._defaults and self._microphone is not None and self._has_speaker:
            return
        async with self._changing:
            if not self._playing:
                await self._let_go()
                try:
                    await asyncio.to_thread(self._look)
                except DeviceUnavailable as error:  # PortAudio is busy: with what it knew, or later
                    log.warning("%s", error)
            elif self._microphone is not None:
                # PortAudio's list must not be refreshed while a stream is open: wait for its end.
                self._is_stale = True
                self._try_at_s = time.monotonic() + _TRY_AGAIN_S
                return
            self._found = await asyncio.to_thread(self._find)
            self._is_stale = False
            self._defaults = defaults
        if self._found.speaker is not None:
            self._speaker_is_there.set()
            self._publish_change("loudspeaker", is_there=True, name=self._name(self._found.speaker.device, "sink"))
        elif self._found.speaker_problem:
            self._speaker_is_there.clear()
            self._publish_change("loudspeaker", is_there=False, detail=self._found.speaker_problem)

    async def _open(self) -> None:
        """Open the resolved microphone, or try again later."""
        found = self._found
        problem = found.microphone_problem if found else ""
        if found and found.microphone and self._is_monitor(found.microphone.device):
            problem = "there is no microphone, only what the loudspeaker plays"
        elif found and found.microphone:
            microphone = found.microphone
            try:
                await microphone.__aenter__()
            except DeviceUnavailable as error:
                problem = str(error)
            else:
                self._microphone, self._blocks = microphone, microphone.frames()
                self._publish_change("microphone", is_there=True, name=self._name(microphone.device, "source"))
                return
        self._publish_change("microphone", is_there=False, detail=problem)
        self._is_stale = True
        self._try_at_s = time.monotonic() + _TRY_AGAIN_S

    async def _let_go(self) -> None:
        """Close the microphone. A Microphone is opened once; the next time gets a new one."""
        microphone, self._microphone = self._microphone, None
        if microphone is None:
            return
        self._dropped_before += microphone.dropped_samples
        following, self._next = self._next, None
        await cancel_tasks(following)
        if self._blocks is not None:
            await self._blocks.aclose()
        closing = asyncio.ensure_future(microphone.close())
        if closing not in (await asyncio.wait((closing,), timeout=_CLOSES_WITHIN_S))[0]:
            raise SoundStuck(
                "the recorder does not let go of a microphone whose sound server has died", hint="restart the assistant"
            )
        self._is_stale = True

    def _is_monitor(self, device: Device) -> bool:
        defaults = self._defaults
        return device.is_server and defaults is not None and not defaults.has_microphone

    def _name(self, device: Device, kind: str) -> str:
        """The device's own name, also if PortAudio knows only the server's."""
        if self._defaults is None or not device.is_server:
            return device.name
        return (self._defaults.source if kind == "source" else self._defaults.sink) or device.name

    # --- the loudspeaker

    @property
    def heard_s(self) -> float:
        return self._sounding.heard_s if self._sounding else 0.0

    def duck(self, is_ducked: bool) -> None:
        if self._sounding is not None:
            self._sounding.duck(is_ducked)

    def hold(self, is_held: bool) -> None:
        if self._sounding is not None:
            self._sounding.hold(is_held)

    async def play(self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: OnStart = lambda: None) -> None:
        """Play on the current loudspeaker. Raises DeviceUnavailable if none comes back in time."""
        is_begun = False

        async def sounds() -> AsyncIterator[Audio]:
            nonlocal is_begun
            async for chunk in chunks:
                is_begun = True
                yield chunk

        lost = await self._play(sounds(), cancel, on_start)
        if lost is not None:
            self._publish_change("loudspeaker", is_there=False, detail=str(lost))
            self._speaker_is_there.clear()
            self._found = None
            if is_begun:
                self.look_for_changes()
            else:  # another loudspeaker can play it from the start
                lost = await self._play(sounds(), cancel, on_start)
        if lost is not None:
            raise lost

    async def _play(
        self, sounds: AsyncIterator[Audio], cancel: CancelFlag, on_start: OnStart
    ) -> DeviceUnavailable | None:
        """Return the error if the loudspeaker is lost. Raises DeviceUnavailable if there is none at the start."""
        await self._until_speaker()
        async with self._changing:
            speaker = self._found.speaker if self._found else None
            if speaker is None:
                raise DeviceUnavailable("there is no loudspeaker any more", hint=_LIST_THEM)
            self._playing += 1
            self._sounding = speaker
        try:
            await speaker.play(sounds, cancel, on_start)
        except DeviceUnavailable as error:
            return error
        except SoundStuck as error:
            self._stuck = error
            raise DeviceUnavailable(error.message, hint=error.hint) from error
        finally:
            self._playing -= 1
        return None

    async def _until_speaker(self) -> None:
        if self._speaker_is_there.is_set():
            return
        self.look_for_changes()
        try:
            async with asyncio.timeout(_SPEAKER_WITHIN_S):
                await self._speaker_is_there.wait()
        except TimeoutError as error:
            problem = self._found.speaker_problem if self._found else ""
            raise DeviceUnavailable(problem or "there is no loudspeaker", hint=_LIST_THEM) from error

    @property
    def _has_speaker(self) -> bool:
        return self._found is not None and (self._found.speaker is not None or not self._found.speaker_problem)

    def _publish_change(self, device: SoundDevice, *, is_there: bool, name: str = "", detail: str = "") -> None:
        """Log and publish a change once."""
        if self._published.get(device) == (is_there, name):
            return
        self._published[device] = (is_there, name)
        if is_there:
            log.info("the %s is %s", device, name)
        else:
            log.warning("%s", detail)
        self._publish(SoundChanged(device=device, is_there=is_there, name=name, detail=detail))


_SILENCE = Audio(np.zeros(round(SAMPLE_RATE_HZ * _BLOCK_S), dtype=np.float32), SAMPLE_RATE_HZ)
