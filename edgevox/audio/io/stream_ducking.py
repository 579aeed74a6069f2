"""Lowers the sound of other programs on PulseAudio or PipeWire while the assistant listens or speaks.

`pactl` changes the volume of their streams. A small process waits with the commands that undo it, and runs them when
this program ends in whatever way.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from edgevox.core.turn import cancel_tasks

_log = logging.getLogger(__name__)

# About 18 dB less, since the scale of PulseAudio is cubic.
DUCKED = 0.5
_ANSWERS_WITHIN_S = 5.0
# Reads a line, and undoes the change at the end of its input instead. A service manager ends all processes at once.
_GUARD = "trap '' TERM INT HUP; read -r line || {{ {undo}; }}"


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of another program, and the volume of each of its channels."""

    number: int
    volumes: tuple[int, ...]

    @property
    def ducked(self) -> tuple[int, ...]:
        return tuple(round(DUCKED * volume) for volume in self.volumes)


class StreamDucker:
    """Lowers other programs' streams from `duck(True)` to `duck(False)`; a volume that changed meanwhile stays.

    Used in one event loop. Without `pactl`, or without a sound server, it does nothing.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = environment
        self._pactl = shutil.which("pactl")
        self._is_wanted = False
        self._changed = asyncio.Event()
        self._work: asyncio.Task[None] | None = None
        self._ducked: list[Stream] = []
        self._guard: asyncio.subprocess.Process | None = None

    def duck(self, is_ducked: bool) -> None:
        if is_ducked != self._is_wanted and self._pactl is not None:
            self._is_wanted = is_ducked
            self._changed.set()
            self._work = self._work or asyncio.create_task(self._run())

    async def close(self) -> None:
        """Give the streams their volumes back."""
        await cancel_tasks(self._work)
        await self._set(is_ducked=False)

    async def _run(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self._set(is_ducked=self._is_wanted)

    async def _set(self, *, is_ducked: bool) -> None:
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN_S):
                await (self._lower() if is_ducked else self._restore())
        except (OSError, TimeoutError, ValueError, KeyError) as error:
            _log.warning("the sound of other programs keeps its volume: %s", str(error) or "no answer of pactl")

    async def _lower(self) -> None:
        streams = [] if self._ducked else [one for one in await self._streams() if any(one.volumes)]
        if not streams:
            return
        self._ducked = streams
        undo = "; ".join(shlex.join(self._command(one.number, one.volumes)) for one in streams)
        self._guard = await asyncio.create_subprocess_exec(
            *("sh", "-c", _GUARD.format(undo=undo)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=self._environment,
            start_new_session=True,
        )
        for one in streams:
            await self._pactl_output(*self._command(one.number, one.ducked)[1:])

    async def _restore(self) -> None:
        ducked, self._ducked = self._ducked, []
        guard, self._guard = self._guard, None
        is_restored = False
        try:
            now = {one.number: one.volumes for one in await self._streams()} if ducked else {}
            for one in ducked:
                if now.get(one.number) == one.ducked:
                    await self._pactl_output(*self._command(one.number, one.volumes)[1:])
            is_restored = True
        finally:
            if guard is not None:
                await guard.communicate(b"done\n" if is_restored else b"")

    def _command(self, number: int, volumes: tuple[int, ...]) -> tuple[str, ...]:
        assert self._pactl is not None
        return (self._pactl, "set-sink-input-volume", str(number), *map(str, volumes))

    async def _streams(self) -> list[Stream]:
        """The streams of other programs. Raises OSError and ValueError."""
        listed = json.loads(await self._pactl_output("--format=json", "list", "sink-inputs") or "[]")
        return [
            Stream(int(one["index"]), tuple(int(channel["value"]) for channel in one["volume"].values()))
            for one in listed
            if not _is_own(one["properties"].get("application.process.id", ""))
        ]

    async def _pactl_output(self, *words: str) -> bytes:
        """Raises OSError without a sound server."""
        assert self._pactl is not None
        process = await asyncio.create_subprocess_exec(
            *(self._pactl, *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment,
        )
        try:
            output, problem = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
        if process.returncode and words[0] != "set-sink-input-volume":  # else the stream has ended
            raise OSError(problem.decode(errors="replace").strip())
        return output


def _is_own(pid: str) -> bool:
    """Whether a stream is of this process or of one that it started: they have their own ducking."""
    while pid not in ("", "0", "1"):
        if pid == str(os.getpid()):
            return True
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return False
        pid = stat.rpartition(")")[2].split()[1]
    return False
