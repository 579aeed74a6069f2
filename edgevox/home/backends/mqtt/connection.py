"""The connection to the MQTT broker: credentials, subscriptions, and reconnecting with backoff."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import aiomqtt
from aiomqtt.exceptions import MqttConnectError

from edgevox.config.secrets import Secret
from edgevox.home.backends.mqtt.component import OutgoingMessage
from edgevox.home.backends.mqtt.entities import MqttEntities
from edgevox.home.entities import HomeError

log = logging.getLogger(__name__)

MAX_MESSAGE_BYTES = 65_536
_MAX_WAITING_BYTES = 32 * 1024 * 1024
_MAX_WAITING = 20_000
# A dead broker is detected after at most twice this.
_KEEPALIVE_S = 15

_BAD_PASSWORD = frozenset({4, 5, 134, 135})
_SET_UP = "Run edgevox home setup."


@dataclass(frozen=True, slots=True)
class Broker:
    """Address and credentials of the broker; without a port the default one."""

    host: str
    port: int | None = None
    username: str | None = None
    password: Secret | None = None
    tls: bool = False
    ca_file: Path | None = None
    discovery_prefix: str = "homeassistant"

    @property
    def tcp_port(self) -> int:
        return self.port or (8883 if self.tls else 1883)


async def open_client(broker: Broker, timeout_s: float) -> aiomqtt.Client:
    """An unconnected client. Raises OSError if the CA certificate cannot be read."""
    trusted = await asyncio.to_thread(_trusted, broker) if broker.tls else None
    return aiomqtt.Client(
        broker.host,
        broker.tcp_port,
        username=broker.username,
        password=broker.password.reveal() if broker.password else None,
        tls_context=trusted,
        timeout=timeout_s,
        keepalive=_KEEPALIVE_S,
        queue_type=_Inbox,
        socket_options=((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),),
        max_queued_incoming_messages=_MAX_WAITING,
    )


def _trusted(broker: Broker) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=broker.ca_file)


class _Inbox(asyncio.Queue[aiomqtt.Message]):
    """Received messages; oversized ones, and those beyond the capacity, are dropped."""

    _bytes = 0

    def put_nowait(self, item: aiomqtt.Message) -> None:
        size = len(item.payload)
        if size > MAX_MESSAGE_BYTES or self._bytes + size > _MAX_WAITING_BYTES:
            log.debug("dropped a message of %d bytes", size)
            return
        super().put_nowait(item)
        self._bytes += size

    def get_nowait(self) -> aiomqtt.Message:
        item = super().get_nowait()
        self._bytes -= len(item.payload)
        return item


class NotAuthorized(Exception):
    """The broker accepts us, but not the subscription to discovery messages."""


def describe_error(broker: Broker, error: Exception) -> str:
    """An error message with instructions for a failed connection.

    A TimeoutError means that the broker does not answer; any other OSError comes from `open_client`.
    """
    at = f"the MQTT broker at {broker.host}"
    if isinstance(error, MqttConnectError):
        code = getattr(error.rc, "value", error.rc)
        if code in _BAD_PASSWORD:
            return f"{_capital(at)} does not accept our user name and password. {_SET_UP}"
        return f"{_capital(at)} refuses us. Look at its log."
    if isinstance(error, NotAuthorized):
        return f"{_capital(at)} does not let us read {broker.discovery_prefix}. Allow it to our user."
    if isinstance(error, OSError) and not isinstance(error, TimeoutError):
        return f"{broker.ca_file} is no certificate that I can read. Set ca_file in the settings of mqtt."
    # aiomqtt converts the cause to text, and keeps it only as the context of its error.
    match error.__context__:
        case ssl.SSLCertVerificationError():
            return f"The certificate of {at} is not trusted. Set ca_file in the settings of mqtt."
        case ssl.SSLError():
            return f"There is no TLS at port {broker.tcp_port} of {broker.host}. {_SET_UP}"
        case socket.gaierror():
            return f"There is no {broker.host} in this network. {_SET_UP}"
        case ConnectionRefusedError():
            where = f"port {broker.tcp_port} of {broker.host}"
            return f"There is no MQTT broker at {where}. Start it, or run edgevox home setup."
        case _:
            return f"{_capital(at)} does not answer. See whether it is running."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_FIRST_RETRY_S = 1.0
_LAST_RETRY_S = 15.0
_SUBSCRIBED_AT_ONCE = 100
_REFUSED = 128
_GOODBYE_S = 1.0
_GOODBYES = 3


class MqttConnection:
    """Passes received messages to the entities, and publishes commands."""

    def __init__(self, broker: Broker, entities: MqttEntities, timeout_s: float) -> None:
        self.problem = _not_connected(broker)
        self.is_known = False
        self._broker = broker
        self._entities = entities
        self._timeout_s = timeout_s
        self._client: aiomqtt.Client | None = None
        self._has_failed = False
        self._news = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    @property
    def is_up(self) -> bool:
        return self._client is not None

    @property
    def silence(self) -> str:
        """The sentence for a broker that does not answer."""
        return describe_error(self._broker, TimeoutError())

    async def start(self) -> None:
        """Returns when the home is known, or `problem` is set."""
        if self._task is None:
            self._has_failed = False
            self._task = asyncio.create_task(self._stay_connected(), name="mqtt")
        try:
            async with asyncio.timeout(self._timeout_s):
                await self.wait_until(lambda: (self.is_up and self.is_known) or self._has_failed)
        except TimeoutError:
            if self.is_up:
                self._set_known()
            else:
                self.problem = self.silence

    async def close(self) -> None:
        if (task := self._task) is None:
            return
        self._task = None
        # wait_for, which aiomqtt uses, loses a cancellation that coincides with its result.
        for _ in range(_GOODBYES):
            task.cancel()
            if (await asyncio.wait((task,), timeout=_GOODBYE_S))[0]:
                break
        self.problem = _not_connected(self._broker)

    async def send(self, messages: Iterable[OutgoingMessage]) -> None:
        """Returns when the broker has acknowledged them. Raises HomeError."""
        if (client := self._client) is None:
            raise HomeError(self.problem)
        try:
            for message in messages:
                await client.publish(message.topic, message.payload, qos=1, retain=message.retain)
        except (aiomqtt.MqttError, ValueError):
            raise HomeError(self.silence) from None

    async def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Wait until the condition holds, checked after each message."""
        async with self._news:
            await self._news.wait_for(is_so)

    async def _stay_connected(self) -> None:
        retry_s = _FIRST_RETRY_S
        while True:
            try:
                async with await open_client(self._broker, self._timeout_s) as client:
                    await self._follow(client)
            except (aiomqtt.MqttError, NotAuthorized, OSError, ValueError) as error:
                if self.is_up:
                    retry_s = _FIRST_RETRY_S
                    at = self._broker.host
                    self.problem = f"The connection to the MQTT broker at {at} is lost. I keep trying."
                else:
                    self.problem = describe_error(self._broker, error)
            finally:
                self._client = None
            log.warning("%s", self.problem)
            self._has_failed = True
            await self._notify()
            await asyncio.sleep(retry_s)
            retry_s = min(2 * retry_s, _LAST_RETRY_S)

    async def _follow(self, client: aiomqtt.Client) -> None:
        """Run until the connection is lost, which raises MqttError. Raises NotAuthorized."""
        prefix = self._broker.discovery_prefix
        # A message to ourselves arrives after all retained messages.
        echo = f"edgevox/{uuid.uuid4().hex}"
        granted = await client.subscribe(
            [(topic, 0) for topic in (f"{prefix}/+/+/config", f"{prefix}/+/+/+/config", echo)]
        )
        if any(getattr(code, "value", code) >= _REFUSED for code in granted[:2]):
            raise NotAuthorized
        self._client = client
        self.problem = "" if self.is_known else "I am still asking the MQTT broker what there is."
        await client.publish(echo, "things")
        # Not every broker lets us receive our own messages.
        waiting = asyncio.get_running_loop().call_later(self._timeout_s, self._set_known)
        try:
            await self._read(client, echo)
        finally:
            waiting.cancel()

    async def _read(self, client: aiomqtt.Client, echo: str) -> None:
        """Raises MqttError if the connection is lost."""
        followed: set[str] = set()
        revision = -1
        async for message in client.messages:
            if message.topic.value != echo:
                self._entities.take(message.topic.value, message.payload)
            elif message.payload == b"things":
                await self._subscribe(client, followed)
                # Bridges then repeat discovery and states, because not all of them are retained.
                await client.publish(f"{self._broker.discovery_prefix}/status", "online")
                await client.publish(echo, "states")
            else:
                self._set_known()
            if not len(client.messages):
                if revision != self._entities.revision:
                    revision = self._entities.revision
                    await self._subscribe(client, followed)
                await self._notify()

    def _set_known(self) -> None:
        self.is_known = True
        self.problem = ""

    async def _subscribe(self, client: aiomqtt.Client, followed: set[str]) -> None:
        """Update the subscriptions to the topics of the current entities."""
        wanted = self._entities.topics
        new, old = sorted(wanted - followed), sorted(followed - wanted)
        for start in range(0, len(new), _SUBSCRIBED_AT_ONCE):
            await client.subscribe([(topic, 0) for topic in new[start : start + _SUBSCRIBED_AT_ONCE]])
        for start in range(0, len(old), _SUBSCRIBED_AT_ONCE):
            await client.unsubscribe(old[start : start + _SUBSCRIBED_AT_ONCE])
        followed.update(new)
        followed.difference_update(old)

    async def _notify(self) -> None:
        async with self._news:
            self._news.notify_all()


def _not_connected(broker: Broker) -> str:
    return f"I am not connected to the MQTT broker at {broker.host}."
