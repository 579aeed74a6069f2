"""The MQTT backend: publishes commands and waits for the states that confirm them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from edgevox.core.languages import listed
from edgevox.home.backends.mqtt.component import Command
from edgevox.home.backends.mqtt.connection import Broker, MqttConnection
from edgevox.home.backends.mqtt.discovery import InvalidDiscovery
from edgevox.home.backends.mqtt.entities import MqttEntities, MqttEntity
from edgevox.home.entities import Action, Entity, HomeError, House, ListItem
from edgevox.home.phrasing import is_are, sentence, state_phrase, the

_MOST_NAMED = 3


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


class MqttHome:
    """The home of one broker."""

    def __init__(self, broker: Broker, *, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._entities = MqttEntities(broker.discovery_prefix)
        self._connection = MqttConnection(broker, self._entities, timeout_s)

    @property
    def problem(self) -> str:
        return self._connection.problem

    async def start(self) -> None:
        await self._connection.start()

    async def close(self) -> None:
        await self._connection.close()

    def house(self) -> House:
        """Raises HomeError until the broker was first reached."""
        if not self._connection.is_known:
            raise HomeError(self.problem)
        return self._entities.house()

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        """Raises HomeError."""
        if not self._connection.is_up:
            raise HomeError(self.problem)
        jobs = self._jobs(action)
        begun: list[_Job] = []
        try:
            async with asyncio.timeout(self._timeout_s):
                for job in jobs:
                    await self._begin(job)
                    begun.append(job)
                await self._connection.wait_until(
                    lambda: not self._connection.is_up or all(job.is_done for job in jobs)
                )
        except TimeoutError:
            if not begun:
                raise HomeError(self._connection.silence) from None
        done = tuple(job.entity for job in begun if job.is_done)
        if not done:
            raise HomeError(self.problem or _failure(begun))
        return done

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        """Raises HomeError: MQTT has no lists."""
        raise HomeError("This home keeps no lists.")

    async def announce(self, message: str) -> None:
        """Raises HomeError: MQTT has no loudspeakers."""
        raise HomeError("This home has no loudspeakers that I could speak through.")

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
        await self._connection.send(job.command.messages)
        reports = job.thing.component.reports if job.command.is_done else ()
        job.thing.assume({name: value for name, value in job.command.assumed.items() if name not in reports})


def _failure(jobs: list[_Job]) -> str:
    """The reason why all of them failed."""
    silent = [job.thing.entity() for job in jobs if not job.thing.news]
    if silent:
        names = [the(entity) for entity in silent[:_MOST_NAMED]]
        return sentence(f"{listed(names, 'and')} did not answer")
    refused = jobs[0].thing.entity()
    return sentence(f"{the(refused)} did not do that and {is_are(refused.name)} {state_phrase(refused)}")
