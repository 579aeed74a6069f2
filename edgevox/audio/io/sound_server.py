"""Queries and watches the sound server (PulseAudio or PipeWire) through `pactl`.

PortAudio shows one device named after the server, whatever is behind it; only the server's own tool
knows.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import shutil
import subprocess
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from edgevox.core.platform import kill_child
from edgevox.core.turn import background_task

log = logging.getLogger(__name__)

_ANSWERS_WITHIN_S = 2.0
_TRY_AGAIN_S = 1.0
# One change produces several lines.
_SETTLES_WITHIN_S = 0.1
_CHANGE = re.compile(rb"^Event '(?:\w+' on server|(?:new|remove)' on (?:source|sink) )")


@dataclass(frozen=True, slots=True)
class Defaults:
    """The server's names of the default devices; "" if there is none."""

    source: str
    sink: str

    @property
    def has_microphone(self) -> bool:
        # Without a microphone the server's default is a loudspeaker's monitor: the assistant would record itself.
        # It can still be selected by name.
        return bool(os.environ.get("PULSE_SOURCE")) or bool(self.source and not self.source.endswith(".monitor"))


class SoundServer:
    """The sound server as seen by `pactl`; without `pactl` there is none."""

    async def defaults(self) -> Defaults | None:
        """The current defaults; None if no server answers."""
        source = await asyncio.to_thread(ask_server, "get-default-source")
        sink = await asyncio.to_thread(ask_server, "get-default-sink")
        return None if source is None or sink is None else Defaults(source, sink)

    @asynccontextmanager
    async def watched(self, on_change: Callable[[], None]) -> AsyncIterator[None]:
        """Call `on_change` when the server starts, stops or changes its defaults, while the block runs."""
        if (pactl := shutil.which("pactl")) is None:
            yield
            return
        async with background_task(self._watch(pactl, on_change)):
            yield

    async def _watch(self, pactl: str, on_change: Callable[[], None]) -> None:
        known = await self.defaults()
        while True:
            process = await asyncio.create_subprocess_exec(
                pactl, "subscribe", stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, env=_plain()
            )
            assert process.stdout is not None
            try:
                # Query once before the first line, for changes since the last connection.
                is_due = True
                while True:
                    if is_due and (now := await self.defaults()) != known:
                        log.info("the sound server's devices: %s, before: %s", now, known)
                        known = now
                        on_change()
                    line = await process.stdout.readline()
                    if not line:
                        break
                    if is_due := bool(_CHANGE.match(line)):
                        await asyncio.sleep(_SETTLES_WITHIN_S)
            finally:
                kill_child(process)
                await process.wait()
            await asyncio.sleep(_TRY_AGAIN_S)


def ask_server(question: str) -> str | None:
    """The server's answer to a `pactl` command; None if there is none in time."""
    if (pactl := shutil.which("pactl")) is None:
        return None
    try:
        asked = subprocess.run(
            [pactl, question], stdin=DEVNULL, capture_output=True, check=True, timeout=_ANSWERS_WITHIN_S, env=_plain()
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return asked.stdout.decode(errors="replace").strip()


def sound_server_source() -> str:
    """The name of the sound server's default source; "" without a server."""
    return os.environ.get("PULSE_SOURCE") or ask_server("get-default-source") or ""


def _plain() -> dict[str, str]:
    """The environment with English output."""
    return dict(os.environ) | {"LC_ALL": "C"}
