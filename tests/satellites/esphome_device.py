"""The device side of ESPHome's native API, from the protobuf messages and packets of aioesphomeapi."""

from __future__ import annotations

import asyncio
import socket
import struct
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aioesphomeapi import api_pb2 as _api_pb2
from aioesphomeapi._frame_helper.packets import make_plain_text_packets
from aioesphomeapi.core import MESSAGE_TYPE_TO_PROTO
from aioesphomeapi.model import VoiceAssistantEventType, VoiceAssistantFeature
from cryptography.exceptions import InvalidTag
from google.protobuf.message import Message
from noise.connection import NoiseConnection  # type: ignore[import-untyped]

# Its classes are made when it is imported.
api_pb2: Any = _api_pb2
_NUMBERS = {kind: number for number, kind in MESSAGE_TYPE_TO_PROTO.items()}
MEDIA_PLAYER = (
    VoiceAssistantFeature.VOICE_ASSISTANT
    | VoiceAssistantFeature.API_AUDIO
    | VoiceAssistantFeature.ANNOUNCE
    | VoiceAssistantFeature.START_CONVERSATION
)
WITHOUT_API_AUDIO = MEDIA_PLAYER & ~VoiceAssistantFeature.API_AUDIO
"""Its audio comes by UDP."""
SPEAKER = VoiceAssistantFeature.VOICE_ASSISTANT | VoiceAssistantFeature.API_AUDIO | VoiceAssistantFeature.SPEAKER
_PIECE_BYTES = 1_024


def plain_packet(message: Message) -> bytes:
    """One message without encryption."""
    return b"".join(make_plain_text_packets([(_NUMBERS[type(message)], message.SerializeToString())]))


def read_packets(received: bytes) -> tuple[list[Message], bytes]:
    """The messages of packets without encryption, and what is left: the beginning of the next one."""
    messages: list[Message] = []
    while (head := _packet_head(received)) is not None:
        begin, length, kind = head
        if len(received) < begin + length:
            break
        messages.append(MESSAGE_TYPE_TO_PROTO[kind].FromString(received[begin : begin + length]))
        received = received[begin + length :]
    return messages, received


def _packet_head(received: bytes) -> tuple[int, int, int] | None:
    """Where the content of the first packet begins, its length, and the number of its message; None before all came."""
    numbers: list[int] = []
    number = shift = 0
    for position, byte in enumerate(received):
        number |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            numbers.append(number)
            number = shift = 0
        if len(numbers) == 3:
            return position + 1, numbers[1], numbers[2]
    return None


class EspHomeDevice(asyncio.Protocol):
    """A voice assistant that fetches the URL of a reply and says that it was played."""

    def __init__(self, features: VoiceAssistantFeature, key: bytes | None = None) -> None:
        self._features = features
        self._noise: Any = None
        self._frames = 0
        if key is not None:
            self._noise = NoiseConnection.from_name(b"Noise_NNpsk0_25519_ChaChaPoly_SHA256")
            self._noise.set_as_responder()
            self._noise.set_psks(key)
            self._noise.set_prologue(b"NoiseAPIInit\x00\x00")
            self._noise.start_handshake()
        self._transport: asyncio.Transport | None = None
        self._buffer = b""
        self.events: list[tuple[VoiceAssistantEventType, dict[str, str]]] = []
        self.is_subscribed = False
        self.udp_port = 0
        self.played = b""
        self._tasks: set[asyncio.Task[None]] = set()

    def kinds(self) -> list[str]:
        return [kind.name.removeprefix("VOICE_ASSISTANT_") for kind, _ in self.events]

    # --- what a person does

    def wake(self) -> None:
        self._send(api_pb2.VoiceAssistantRequest(start=True, conversation_id="", flags=0, wake_word_phrase="okay nabu"))

    def speak(self, pcm: bytes) -> None:
        for start in range(0, len(pcm), _PIECE_BYTES):
            self._send(api_pb2.VoiceAssistantAudio(data=pcm[start : start + _PIECE_BYTES]))

    async def speak_by_udp(self, pcm: bytes, host: str = "127.0.0.1") -> None:
        """Only what comes from the address of the device is its audio."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            udp.bind((host, 0))
            for start in range(0, len(pcm), _PIECE_BYTES):
                udp.sendto(pcm[start : start + _PIECE_BYTES], ("127.0.0.1", self.udp_port))
                await asyncio.sleep(0)

    def unplug(self) -> None:
        assert self._transport is not None
        self._transport.abort()

    # --- the protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.is_subscribed = False

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_subscribed = False

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._noise is not None:
            self._read_frames()
            return
        messages, self._buffer = read_packets(self._buffer)
        for message in messages:
            self._handle(message)

    # --- encryption

    def _read_frames(self) -> None:
        while len(self._buffer) >= 3 and len(self._buffer) >= 3 + (length := self._buffer[1] << 8 | self._buffer[2]):
            assert self._buffer[0] == 1
            frame, self._buffer = self._buffer[3 : 3 + length], self._buffer[3 + length :]
            self._frames += 1
            if self._frames == 1:  # the hello
                self._write_frame(b"\x01device\x00")
            elif self._frames == 2:
                self._shake_hands(frame)
            else:
                content = self._noise.decrypt(frame)
                self._handle(MESSAGE_TYPE_TO_PROTO[content[0] << 8 | content[1]].FromString(content[4:]))

    def _shake_hands(self, frame: bytes) -> None:
        try:
            self._noise.read_message(frame[1:])
        except InvalidTag:
            self._write_frame(b"\x01Handshake MAC failure")
            return
        self._write_frame(b"\x00" + bytes(self._noise.write_message()))

    def _write_frame(self, frame: bytes) -> None:
        assert self._transport is not None
        self._transport.write(bytes((1, len(frame) >> 8, len(frame) & 0xFF)) + frame)

    def _handle(self, message: Any) -> None:
        match type(message).__name__:
            case "HelloRequest":
                self._send(api_pb2.HelloResponse(api_version_major=1, api_version_minor=10, name="device"))
            case "AuthenticationRequest":
                self._send(api_pb2.AuthenticationResponse())
            case "PingRequest":
                self._send(api_pb2.PingResponse())
            case "DisconnectRequest":
                self._send(api_pb2.DisconnectResponse())
            case "DeviceInfoRequest":
                self._send(api_pb2.DeviceInfoResponse(name="device", voice_assistant_feature_flags=self._features))
            case "SubscribeVoiceAssistantRequest":
                self.is_subscribed = message.subscribe
            case "VoiceAssistantResponse":
                self.udp_port = message.port
            case "VoiceAssistantEventResponse":
                data = {one.name: one.value for one in message.data}
                self.events.append((VoiceAssistantEventType(message.event_type), data))
                if url := data.get("url"):
                    self._spawn_fetch(url)
            case "VoiceAssistantAnnounceRequest":
                self._spawn_fetch(message.media_id)
            case "VoiceAssistantAudio":
                self.played += message.data

    def _spawn_fetch(self, url: str) -> None:
        task = asyncio.create_task(self._fetch(url))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _fetch(self, url: str) -> None:
        self.played += await asyncio.to_thread(lambda: urllib.request.urlopen(url, timeout=20).read())
        self._send(api_pb2.VoiceAssistantAnnounceFinished(success=True))

    def _send(self, message: Message) -> None:
        assert self._transport is not None
        if self._noise is not None:
            number, content = _NUMBERS[type(message)], message.SerializeToString()
            self._write_frame(self._noise.encrypt(struct.pack(">HH", number, len(content)) + content))
            return
        self._transport.write(plain_packet(message))


@asynccontextmanager
async def esphome_device(
    features: VoiceAssistantFeature = MEDIA_PLAYER, key: bytes | None = None
) -> AsyncIterator[tuple[str, Callable[[], EspHomeDevice]]]:
    """The address of a device, and its last connection."""
    connections: list[EspHomeDevice] = []

    def connection() -> EspHomeDevice:
        connections.append(EspHomeDevice(features, key))
        return connections[-1]

    server = await asyncio.get_running_loop().create_server(connection, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", lambda: connections[-1]
        for device in connections:
            device.unplug()
