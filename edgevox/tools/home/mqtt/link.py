"""The connection to the broker: made again when it is lost, and kept to its time."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Iterable

import aiomqtt

from edgevox.tools.home.home import HomeError
from edgevox.tools.home.mqtt.broker import Broker, NotAllowed, client_of, explained
from edgevox.tools.home.mqtt.component import Publication
from edgevox.tools.home.mqtt.things import Things

log = logging.getLogger(__name__)

_FIRST_RETRY_S = 1.0
_LAST_RETRY_S = 15.0
_SUBSCRIBED_AT_ONCE = 100
_REFUSED = 128
_GOODBYE_S = 1.0
_GOODBYES = 3


class Link:
    """Has the messages of the broker read by the things, and carries ours to it."""

    def __init__(self, broker: Broker, things: Things, timeout_s: float) -> None:
        self.problem = _not_connected(broker)
        self.is_known = False
        self._broker = broker
        self._things = things
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
        """What there is to say when the broker does not answer."""
        return explained(self._broker, TimeoutError())

    async def start(self) -> None:
        """Returns when the house is known, or when `problem` says why not."""
        if self._task is None:
            self._has_failed = False
            self._task = asyncio.create_task(self._stay_connected(), name="mqtt")
        try:
            async with asyncio.timeout(self._timeout_s):
                await self.until(lambda: (self.is_up and self.is_known) or self._has_failed)
        except TimeoutError:
            if self.is_up:
                self._know()
            else:
                self.problem = self.silence

    async def close(self) -> None:
        if (task := self._task) is None:
            return
        self._task = None
        # wait_for, which aiomqtt uses, loses a cancellation that comes together with its result.
        for _ in range(_GOODBYES):
            task.cancel()
            if (await asyncio.wait((task,), timeout=_GOODBYE_S))[0]:
                break
        self.problem = _not_connected(self._broker)

    async def send(self, messages: Iterable[Publication]) -> None:
        """Returns when the broker has them. Raises HomeError."""
        if (client := self._client) is None:
            raise HomeError(self.problem)
        try:
            for message in messages:
                await client.publish(message.topic, message.payload, qos=1, retain=message.retain)
        except (aiomqtt.MqttError, ValueError):
            raise HomeError(self.silence) from None

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Waits for it, looking at each message."""
        async with self._news:
            await self._news.wait_for(is_so)

    async def _stay_connected(self) -> None:
        retry_s = _FIRST_RETRY_S
        while True:
            try:
                async with await client_of(self._broker, self._timeout_s) as client:
                    await self._follow(client)
            except (aiomqtt.MqttError, NotAllowed, OSError, ValueError) as error:
                if self.is_up:
                    retry_s = _FIRST_RETRY_S
                    at = self._broker.host
                    self.problem = f"The connection to the MQTT broker at {at} is lost. I keep trying."
                else:
                    self.problem = explained(self._broker, error)
            finally:
                self._client = None
            log.warning("%s", self.problem)
            self._has_failed = True
            await self._tell()
            await asyncio.sleep(retry_s)
            retry_s = min(2 * retry_s, _LAST_RETRY_S)

    async def _follow(self, client: aiomqtt.Client) -> None:
        """Returns never: the connection is lost with an MqttError. Raises NotAllowed."""
        prefix = self._broker.discovery_prefix
        # What we send to ourselves comes back after all that the broker had kept for us.
        echo = f"edgevox/{uuid.uuid4().hex}"
        granted = await client.subscribe(
            [(topic, 0) for topic in (f"{prefix}/+/+/config", f"{prefix}/+/+/+/config", echo)]
        )
        if any(getattr(code, "value", code) >= _REFUSED for code in granted[:2]):
            raise NotAllowed
        self._client = client
        self.problem = "" if self.is_known else "I am still asking the MQTT broker what there is."
        await client.publish(echo, "things")
        # Not every broker lets us hear ourselves.
        waiting = asyncio.get_running_loop().call_later(self._timeout_s, self._know)
        try:
            await self._read(client, echo)
        finally:
            waiting.cancel()

    async def _read(self, client: aiomqtt.Client, echo: str) -> None:
        """Raises MqttError when the connection is lost."""
        followed: set[str] = set()
        revision = -1
        async for message in client.messages:
            if message.topic.value != echo:
                self._things.take(message.topic.value, message.payload)
            elif message.payload == b"things":
                await self._subscribe(client, followed)
                # Bridges then say again what there is and how it is: not all of it is kept by the broker.
                await client.publish(f"{self._broker.discovery_prefix}/status", "online")
                await client.publish(echo, "states")
            else:
                self._know()
            if not len(client.messages):
                if revision != self._things.revision:
                    revision = self._things.revision
                    await self._subscribe(client, followed)
                await self._tell()

    def _know(self) -> None:
        self.is_known = True
        self.problem = ""

    async def _subscribe(self, client: aiomqtt.Client, followed: set[str]) -> None:
        """Follow the topics that the things have now."""
        wanted = self._things.topics
        new, old = sorted(wanted - followed), sorted(followed - wanted)
        for start in range(0, len(new), _SUBSCRIBED_AT_ONCE):
            await client.subscribe([(topic, 0) for topic in new[start : start + _SUBSCRIBED_AT_ONCE]])
        for start in range(0, len(old), _SUBSCRIBED_AT_ONCE):
            await client.unsubscribe(old[start : start + _SUBSCRIBED_AT_ONCE])
        followed.update(new)
        followed.difference_update(old)

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()


def _not_connected(broker: Broker) -> str:
    return f"I am not connected to the MQTT broker at {broker.host}."
