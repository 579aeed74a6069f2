"""Records a conversation between EdgeVox and an ESPHome voice assistant, and replays the device's side of it.

A recording is a file of JSON lines: a header with the program and its versions, then one line per message, in the
order in which they passed. Audio and what differs from run to run (URLs, the hardware address) are left out.
"""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from aioesphomeapi.model import VoiceAssistantEventType
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message

from edgevox.core.types import JsonObject, to_pcm16
from edgevox.satellites.store import DeviceEntry, DeviceFile
from tests.dialogue.sounds import silent, voiced
from tests.satellites.esphome_device import api_pb2, plain_packet, read_packets
from tests.server.websocket.harness import BOUND_S, VoiceServer, until

LINES = ['<tool_call>\n{"name": "turn_on", "arguments": {"name": "lights"}}\n</tool_call>', "Done.", "Again."]
HEARD = ["turn on the lights", "and again"]
"""What the model and the recogniser of the server say in `converse`."""
NAME = "shelf"
SPEECH = to_pcm16(np.concatenate((voiced(0.8, 16_000), silent(1.5, 16_000))))
"""What a device sends after its wake word."""
_READ_BYTES = 65_536
_PIECE_BYTES = 1_024
_SENT_ON_A_CLOCK = frozenset({"PingRequest", "PingResponse", "GetTimeRequest", "GetTimeResponse"})


class Counterpart(Protocol):
    """The device and the person before it."""

    address: str

    async def speak(self) -> None:
        """Say the wake word and a command."""

    async def wait_for_runs(self, count: int) -> None:
        """Return when the device knows that this many runs have ended."""

    async def unplug(self) -> None: ...
    async def plug_in(self) -> None: ...


async def converse(server: VoiceServer, file: DeviceFile, device: Counterpart) -> None:
    """A command in a room, an announcement, a reboot, and a second command."""
    file.add(NAME, DeviceEntry(esphome=device.address, room="Bedroom"))
    await until(lambda: server.hub.find(NAME) is not None)
    await device.speak()
    await device.wait_for_runs(1)
    assert [one.outcome for one in server.records] == ["answered"]
    assert server.toolbox is not None
    house = server.toolbox.home.house()
    bedroom = next(area.id for area in house.areas if area.name == "Bedroom")
    lights = [one for one in house.entities if one.domain == "light" and one.area == bedroom]
    assert {one.state for one in lights} == {"on"}
    assert await server.hub.say("Dinner is ready.") == 1
    await device.unplug()
    await until(lambda: server.hub.find(NAME) is None)
    await device.plug_in()
    await until(lambda: server.hub.find(NAME) is not None)
    await device.speak()
    await device.wait_for_runs(2)
    assert [one.outcome for one in server.records] == ["answered", "answered"]


def _line(sender: str, message: Message) -> JsonObject | None:
    """A message as it is recorded, and as two are compared; None for what is sent on a clock."""
    kind = type(message).__name__
    if kind in _SENT_ON_A_CLOCK:
        return None
    if kind == "VoiceAssistantAudio":
        return {"from": sender, "message": kind}
    fields = MessageToDict(message, preserving_proto_field_name=True)
    match kind:
        case "VoiceAssistantEventResponse":
            # The words are the server's, and change with it.
            fields = {"event_type": fields["event_type"]} if "event_type" in fields else {}
        case "VoiceAssistantAnnounceRequest":
            fields = {}
        case "DeviceInfoResponse":
            fields["mac_address"] = "02:00:00:00:00:01"
        case "HelloRequest":
            fields = {}
    return {"from": sender, "message": kind, **({"fields": fields} if fields else {})}


def _ended_runs(lines: list[JsonObject]) -> int:
    end = VoiceAssistantEventType.VOICE_ASSISTANT_RUN_END.name
    return sum(one.get("fields", {}).get("event_type") == end for one in lines)


class Recorder:
    """Passes the connections to a device on, and keeps the messages of both sides."""

    def __init__(self, device_port: int) -> None:
        self._device_port = device_port
        self.lines: list[JsonObject] = []

    @property
    def ended_runs(self) -> int:
        return _ended_runs(self.lines)

    def write(self, path: Path, **header: str) -> None:
        path.write_text("".join(json.dumps(line, sort_keys=True) + "\n" for line in (header, *self.lines)))

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        """Yields the address for the server to connect to."""
        server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        async with server:
            yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            device_reader, device_writer = await asyncio.open_connection("127.0.0.1", self._device_port)
        except OSError:
            writer.close()
            return
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass_on("server", reader, device_writer))
                both.create_task(self._pass_on("device", device_reader, writer))
        except* OSError:
            pass
        finally:
            self.lines.append({"from": "device", "message": "closed"})

    async def _pass_on(self, sender: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        rest = b""
        try:
            while data := await reader.read(_READ_BYTES):
                messages, rest = read_packets(rest + data)
                for message in messages:
                    line = _line(sender, message)
                    if line is not None and not (
                        line["message"] == "VoiceAssistantAudio" and self._is_in_audio(sender)
                    ):
                        self.lines.append(line)
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()

    def _is_in_audio(self, sender: str) -> bool:
        """Whether the last message of this sender was audio, too: a stretch of it is one line."""
        own = [line for line in self.lines if line["from"] == sender]
        return bool(own) and own[-1]["message"] == "VoiceAssistantAudio"


class Replay:
    """The device of a recording: sends its messages as soon as all that came before them there has come here."""

    def __init__(self, path: Path) -> None:
        _header, *self._left = (json.loads(line) for line in path.read_text().splitlines())
        self._server: asyncio.Server | None = None
        self._spoken = asyncio.Semaphore(0)
        self._is_on = asyncio.Event()
        self._ended_runs = 0
        self._problem = ""
        self.address = ""
        self.played = b""

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        async with self._server:
            await self.plug_in()
            yield
            await until(lambda: bool(self._problem) or not self._left)
            assert not self._problem, self._problem

    # --- what a person does

    async def speak(self) -> None:
        self._spoken.release()

    async def wait_for_runs(self, count: int) -> None:
        await until(lambda: bool(self._problem) or self._ended_runs == count)
        assert not self._problem, self._problem

    async def plug_in(self) -> None:
        self._is_on.set()

    async def unplug(self) -> None:
        self._is_on.clear()

    # --- the device

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._is_on.is_set() and self._left:
                await self._play(reader, writer)
                while not self._left and await reader.read(_READ_BYTES):
                    pass
        except (OSError, TimeoutError, AssertionError) as error:
            self._problem = self._problem or f"{type(error).__name__}: {error}; to come: {self._left[:1]}"
        finally:
            writer.close()

    async def _play(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take the lines up to the end of the connection."""
        received: list[Message] = []
        rest = b""
        while self._left:
            line = self._left[0]
            if line["message"] == "closed":
                await until(lambda: not self._is_on.is_set())
                self._left.pop(0)
                return
            if line["from"] == "device":
                await self._send(line, writer)
                self._left.pop(0)
                continue
            while not received:
                async with asyncio.timeout(BOUND_S):
                    data = await reader.read(_READ_BYTES)
                assert data, "the server has closed the connection"
                messages, rest = read_packets(rest + data)
                received += [one for one in messages if _line("server", one) is not None]
            message = received.pop(0)
            assert _line("server", message) == line
            self._left.pop(0)
            await self._handle(message)

    async def _send(self, line: JsonObject, writer: asyncio.StreamWriter) -> None:
        kind = getattr(api_pb2, line["message"])
        if kind is api_pb2.VoiceAssistantRequest:
            async with asyncio.timeout(BOUND_S):
                await self._spoken.acquire()
        if kind is api_pb2.VoiceAssistantAudio:
            for start in range(0, len(SPEECH), _PIECE_BYTES):
                writer.write(plain_packet(kind(data=SPEECH[start : start + _PIECE_BYTES])))
        else:
            writer.write(plain_packet(ParseDict(line.get("fields", {}), kind())))
        await writer.drain()

    async def _handle(self, message: Any) -> None:
        """Fetch the sound of a reply or an announcement before anything else is sent, as the program does."""
        match type(message).__name__:
            case "VoiceAssistantEventResponse":
                self._ended_runs += message.event_type == VoiceAssistantEventType.VOICE_ASSISTANT_RUN_END
                url = next((one.value for one in message.data if one.name == "url"), "")
            case "VoiceAssistantAnnounceRequest":
                url = message.media_id
            case _:
                url = ""
        if url:
            self.played += await asyncio.to_thread(lambda: urllib.request.urlopen(url, timeout=BOUND_S).read())
