"""The MQTT broker: its address and credentials, a client with limits, and messages for failed connections."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

import aiomqtt
from aiomqtt.exceptions import MqttConnectError

from edgevox.config.secrets import Secret

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
