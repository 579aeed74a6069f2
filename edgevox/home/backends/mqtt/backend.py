"""The MQTT backend: publishes commands and waits for the states that confirm them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

import aiomqtt

from edgevox.core.languages import listed
from edgevox.core.turn import background_task
from edgevox.home.backends.mqtt.component import Command, OutgoingMessage
from edgevox.home.backends.mqtt.connection import Broker, NotAuthorized, describe_error, open_client
from edgevox.home.backends.mqtt.discovery import InvalidDiscovery
from edgevox.home.backends.mqtt.entities import MqttEntities, MqttEntity
from edgevox.home.backends.reconnecting import ReconnectingHome
from edgevox.home.entities import (
    Action,
    Calendar,
    Entity,
    Forecast,
    ForecastKind,
    HomeError,
    House,
    ListItem,
    StateChange,
)
from edgevox.home.phrasing import is_are, sentence, state_phrase, the

_MOST_NAMED = 3
_SUBSCRIBED_AT_ONCE = 100
_REFUSED = 128
_NO_LOUDSPEAKERS = "This home has no loudspeakers that I could speak through."
_ASKED_AT_ONCE = 40  # a Zigbee radio answers few at once
_ANSWERS_WITHIN_S = 1.0


@dataclass(frozen=True, slots=True)
class _Job:
    """One target and its command."""

    thing: MqttEntity
    command: Command

    @property
    def is_done(self) -> bool:
        check = self.command.is_done
        return check is None or check(self.thing.entity(), frozenset(self.thing.news))

    @property
    def entity(self) -> Entity:
        """The entity for the answer."""
        now, underway = self.thing.entity(), self.command.underway
        return replace(now, state=underway(now)) if underway else now


class MqttHome(ReconnectingHome):
    """The home of one broker: a ConnectedHome."""

    def __init__(self, broker: Broker, *, timeout_s: float) -> None:
        super().__init__(
            not_connected=f"I am not connected to the MQTT broker at {broker.host}.", start_within_s=timeout_s
        )
        self._broker = broker
        self._timeout_s = timeout_s
        self._entities = MqttEntities(broker.discovery_prefix)
        self._is_known = False
        self._client: aiomqtt.Client | None = None
        self._news = asyncio.Condition()

    def house(self) -> House:
        """Raises HomeError until the broker was first reached."""
        if not self._is_known:
            raise HomeError(self.problem)
        return self._entities.house()

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        """Raises HomeError."""
        if self._client is None:
            raise HomeError(self.problem)
        jobs = self._jobs(action)
        begun: list[_Job] = []
        try:
            async with asyncio.timeout(self._timeout_s):
                for job in jobs:
                    await self._begin(job)
                    begun.append(job)
                async with self._news:
                    await self._news.wait_for(lambda: self._client is None or all(job.is_done for job in jobs))
        except TimeoutError:
            if not begun:
                raise HomeError(self._silence) from None
        done = tuple(job.entity for job in begun if job.is_done)
        if not done:
            raise HomeError(self.problem or _failure(begun))
        return done

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        """Raises HomeError: MQTT has no lists."""
        raise HomeError("This home keeps no lists.")

    async def announce(self, message: str) -> None:
        """Raises HomeError: MQTT has no loudspeakers."""
        raise HomeError(_NO_LOUDSPEAKERS)

    async def announce_problem(self) -> str:
        return _NO_LOUDSPEAKERS

    async def forecast(self, weather_id: str, kind: ForecastKind) -> tuple[Forecast, ...]:
        """None: MQTT has no weather."""
        return ()

    async def changes(self, entity_id: str, since: datetime) -> tuple[StateChange, ...]:
        """None: MQTT keeps no record."""
        return ()

    def calendars(self) -> tuple[Calendar, ...]:
        """None: MQTT has no calendars."""
        return ()

    def _jobs(self, action: Action) -> list[_Job]:
        """The command of each target. Raises HomeError if none supports the action."""
        jobs: list[_Job] = []
        refusals: list[HomeError] = []
        for target in action.targets:
            if (thing := self._entities.find(target.id)) is None:
                refusals.append(HomeError(sentence(f"{the(target)} {is_are(target.name)} no longer there")))
                continue
            try:
                jobs.append(_Job(thing, thing.component.command(thing.entity(), action)))
            except InvalidDiscovery:
                refusals.append(HomeError(sentence(f"{the(target)} cannot do that")))
            except HomeError as error:
                refusals.append(error)
        if not jobs:
            raise refusals[0] if refusals else HomeError("There is nothing to do that with.")
        return jobs

    async def _begin(self, job: _Job) -> None:
        job.thing.news.clear()
        await self._send(job.command.messages)
        reports = job.thing.component.reports if job.command.is_done else ()
        job.thing.assume({name: value for name, value in job.command.assumed.items() if name not in reports})

    # --- the connection

    @property
    def _silence(self) -> str:
        """The sentence for a broker that does not answer."""
        return describe_error(self._broker, TimeoutError())

    async def _send(self, messages: Iterable[OutgoingMessage]) -> None:
        """Returns when the broker has acknowledged them. Raises HomeError."""
        if (client := self._client) is None:
            raise HomeError(self.problem)
        try:
            for message in messages:
                await client.publish(message.topic, message.payload, qos=1, retain=message.retain)
        except (aiomqtt.MqttError, ValueError):
            raise HomeError(self._silence) from None

    def on_slow_start(self) -> None:
        if self._client is not None:
            self._set_known()
        else:
            self.report(self._silence)

    async def run_once(self) -> HomeError:
        problem = ""
        try:
            async with await open_client(self._broker, self._timeout_s) as client:
                await self._follow(client)
        except (aiomqtt.MqttError, NotAuthorized, OSError, ValueError) as error:
            problem = describe_error(self._broker, error)
        finally:
            was_up, self._client = self._client is not None, None
        await self._notify()
        lost = f"The connection to the MQTT broker at {self._broker.host} is lost. I keep trying."
        return HomeError(lost if was_up else problem)

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
        self.problem = "" if self._is_known else "I am still asking the MQTT broker what there is."
        await client.publish(echo, "things")
        # Not every broker lets us receive our own messages.
        timer = asyncio.get_running_loop().call_later(self._timeout_s, self._set_known)
        are_told = asyncio.Event()
        try:
            async with background_task(self._ask_for_states(are_told)):
                await self._read(client, echo, are_told)
        finally:
            timer.cancel()

    async def _ask_for_states(self, are_told: asyncio.Event) -> None:
        """Ask for the states that are neither known nor retained, a few at a time; a silent device costs a second."""
        await are_told.wait()
        asked: set[OutgoingMessage] = set()
        while not self._is_known and (left := [one for one in self._entities.questions() if one not in asked]):
            batch = left[:_ASKED_AT_ONCE]
            asked.update(batch)
            with suppress(TimeoutError):
                async with asyncio.timeout(_ANSWERS_WITHIN_S):
                    await self._send(batch)
                    async with self._news:
                        await self._news.wait_for(lambda: asked.isdisjoint(self._entities.questions()))
        self._set_known()

    async def _read(self, client: aiomqtt.Client, echo: str, are_told: asyncio.Event) -> None:
        """Sets `are_told` after all retained messages. Raises MqttError if the connection is lost."""
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
                are_told.set()
            if not len(client.messages):
                if revision != self._entities.revision:
                    revision = self._entities.revision
                    await self._subscribe(client, followed)
                await self._notify()

    def _set_known(self) -> None:
        self._is_known = True
        self.set_ready()

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


def _failure(jobs: list[_Job]) -> str:
    """The reason why all of them failed."""
    silent = [job.thing.entity() for job in jobs if not job.thing.news]
    if silent:
        names = [the(entity) for entity in silent[:_MOST_NAMED]]
        return sentence(f"{listed(names, 'and')} did not answer")
    refused = jobs[0].thing.entity()
    return sentence(f"{the(refused)} did not do that and {is_are(refused.name)} {state_phrase(refused)}")
