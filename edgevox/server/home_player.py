"""Plays replies on a media player of Home Assistant instead of the satellite's own loudspeaker."""

from __future__ import annotations

import asyncio
from typing import Protocol
from urllib.parse import urlsplit

from edgevox.home.backends.wrapped import home_part
from edgevox.home.entities import HomeError
from edgevox.server.assistant import Assistant
from edgevox.server.http.middleware import is_loopback_name
from edgevox.server.wav_stream import WavStream, own_address

# Reserved for documentation: the way there is the way to everywhere.
_ELSEWHERE = "192.0.2.1"


def address_for_players(home_url: str, server_host: str) -> str:
    """The address of this machine for media players: as Home Assistant sees it, in the local network.

    With Home Assistant on this machine, it is the one of the server, if that listens for other machines.
    Raises OSError.
    """
    own = own_address(urlsplit(home_url).hostname or "")
    if not is_loopback_name(own) or is_loopback_name(server_host):
        return own
    return own_address(_ELSEWHERE) if server_host in ("0.0.0.0", "::") else server_host  # noqa: S104  (not bound)


class PcmSink(Protocol):
    """Gets one passage of PCM at `play_rate_hz`; all raise OSError."""

    play_rate_hz: int

    async def begin(self) -> None: ...
    async def send(self, pcm: bytes) -> None: ...
    async def end(self) -> None: ...


class HomePlayer:
    """A media player, by its entity id, which fetches each passage."""

    play_rate_hz = 22_050

    def __init__(self, assistant: Assistant, player_id: str) -> None:
        self._assistant = assistant
        self._player_id = player_id
        self._stream: WavStream | None = None

    async def begin(self) -> None:
        """Raises OSError if it cannot play it."""
        await self.close()
        try:
            self._stream = await self._open()
        except HomeError as error:
            raise ConnectionError(f"{self._player_id} plays no reply: {error}") from None

    async def send(self, pcm: bytes) -> None:
        if self._stream is not None:
            self._stream.add(pcm)

    async def end(self) -> None:
        if self._stream is not None:
            self._stream.end()

    async def close(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.close()

    async def _open(self) -> WavStream:
        """Raises HomeError and OSError."""
        dashboard = self._assistant.dashboard
        if dashboard is None or dashboard.toolbox is None or dashboard.settings.home.url is None:
            raise HomeError("there is no Home Assistant")
        from edgevox.home.backends.home_assistant import HomeAssistantHome  # slow to import

        home = home_part(dashboard.toolbox.home, HomeAssistantHome)
        if home is None:
            raise HomeError("there is no Home Assistant")
        url, host = dashboard.settings.home.url, dashboard.settings.server.host
        own = await asyncio.to_thread(address_for_players, url, host)
        stream = WavStream(own, None, self.play_rate_hz)
        try:
            await home.play_announcement(self._player_id, await stream.open())
        except BaseException:
            await stream.close()
            raise
        return stream
