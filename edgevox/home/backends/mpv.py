"""Runs mpv and talks to it over its JSON IPC, to play files and internet radio.

mpv gets one end of a socket pair: no socket file can be reached by others, and mpv ends with this process, however that
ends.
"""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import socket
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

from edgevox.home.entities import HomeError

NOT_INSTALLED = "To play music I need the program mpv, which is not installed here: sudo apt install mpv."

_log = logging.getLogger(__name__)

# Without the user's scripts and key bindings, and without programs that mpv would start for web pages.
_OPTIONS = (
    "--no-config", "--idle=yes", "--no-video", "--no-terminal", "--ytdl=no", "--load-scripts=no",
    "--input-default-bindings=no", "--audio-display=no",
)  # fmt: skip
_OBSERVED = ("pause", "media-title", "metadata", "idle-active", "mute")
_ANSWERS_WITHIN_S = 5.0
_STARTS_WITHIN_S = 15.0
_ENDS_WITHIN_S = 2.0
_MAX_LINE_BYTES = 4 * 1024 * 1024


class CommandRefused(HomeError):
    """mpv could not run a command; `reason` is its own text."""

    code = "mpv_refused"

    def __init__(self, reason: str) -> None:
        super().__init__("The music player could not do that.")
        self.reason = reason


class MpvEnded(HomeError):
    """mpv ended before it answered."""

    code = "mpv_ended"

    def __init__(self) -> None:
        super().__init__("The music player has ended; say it again to start it.")


class Mpv:
    """One mpv, started by the first command and again after it ended. It belongs to one event loop.

    `properties` has the last known values of some properties. All methods raise HomeError.
    """

    def __init__(self, options: Sequence[str] = ()) -> None:
        self.properties: dict[str, Any] = {}
        self._options = tuple(options)
        self._process: subprocess.Popen[bytes] | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._last_id = 0
        self._results: dict[int, asyncio.Future[Any]] = {}
        self._listeners: list[Callable[[dict[str, Any]], None]] = []

    @property
    def is_running(self) -> bool:
        return self._reading is not None and not self._reading.done()

    async def command(self, *parts: object) -> Any:  # noqa: ANN401 - each command's own result
        """Run a command, and return its result."""
        await self._ensure_running()
        try:
            return await self._send(*parts)
        except MpvEnded:  # that is noticed only now
            await self._ensure_running()
            return await self._send(*parts)

    async def opened_by(self, *parts: object, within_s: float) -> bool:
        """Run a command that opens a file or a stream, and return whether it plays. Raises TimeoutError, too."""
        found: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def take(event: dict[str, Any]) -> None:
            # What played before ends with another reason.
            is_failure = event["event"] == "end-file" and event.get("reason") == "error"
            if (is_failure or event["event"] == "file-loaded") and not found.done():
                found.set_result(not is_failure)

        self._listeners.append(take)
        try:
            await self.command(*parts)
            async with asyncio.timeout(within_s):
                return await found
        finally:
            self._listeners.remove(take)

    async def close(self) -> None:
        """End mpv; raises nothing."""
        process, self._process = self._process, None
        if self._writer is not None:
            self._writer.close()  # mpv quits
            self._writer = None
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait((self._reading,), timeout=_ENDS_WITHIN_S)
        if process is not None:
            await asyncio.to_thread(_reap, process)

    async def _ensure_running(self) -> None:
        async with self._starting:
            if not self.is_running:
                await self._start()

    async def _start(self) -> None:
        await self.close()
        program = shutil.which("mpv")
        if program is None:
            raise HomeError(NOT_INSTALLED)
        ours, theirs = socket.socketpair()
        with theirs:
            command = [program, *_OPTIONS, *self._options, f"--input-ipc-client=fd://{theirs.fileno()}"]
            try:
                self._process = await asyncio.to_thread(_launch, command, theirs.fileno())
            except OSError as error:
                ours.close()
                raise HomeError(f"I cannot start mpv: {error.strerror or error}.") from None
        reader, self._writer = await asyncio.open_connection(sock=ours, limit=_MAX_LINE_BYTES)
        self._reading = asyncio.create_task(self._read(reader))
        try:
            for number, name in enumerate(_OBSERVED, 1):
                await self._send("observe_property", number, name, within_s=_STARTS_WITHIN_S)
        except HomeError:
            await self.close()
            raise

    async def _send(self, *parts: object, within_s: float = _ANSWERS_WITHIN_S) -> Any:  # noqa: ANN401 - as above
        self._last_id = number = self._last_id + 1
        result = self._results[number] = asyncio.get_running_loop().create_future()
        try:
            if self._writer is None or not self.is_running:
                raise MpvEnded
            self._writer.write(json.dumps({"command": parts, "request_id": number}).encode() + b"\n")
            async with asyncio.timeout(within_s):
                await self._writer.drain()
                return await result
        except TimeoutError:
            raise HomeError("The music player does not answer.") from None
        except OSError:
            raise MpvEnded from None
        finally:
            self._results.pop(number, None)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while line := await reader.readline():
                self._take(json.loads(line))
        except ConnectionError:
            return  # mpv has ended
        except (OSError, ValueError) as error:
            _log.warning("mpv sent something unexpected: %s", error)
        finally:
            self.properties.clear()
            for result in self._results.values():
                if not result.done():
                    result.set_exception(MpvEnded())

    def _take(self, message: Any) -> None:  # noqa: ANN401 - it is looked at here
        match message:
            case {"request_id": int(number), "error": str(error)} if number in self._results:
                result = self._results[number]
                if result.done():
                    return
                if error == "success":
                    result.set_result(message.get("data"))
                else:
                    result.set_exception(CommandRefused(error))
            case {"event": "property-change", "name": str(name)}:
                self.properties[name] = message.get("data")
            case {"event": str()}:
                for listener in tuple(self._listeners):
                    listener(message)
            case _:
                pass


def _launch(command: list[str], fd: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command, pass_fds=(fd,), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def _reap(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
