"""Scenes, scripts, automations and groups are judged by what they do, and asked about if that cannot be read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from edgevox.config.secrets import Secret
from edgevox.home import Entity
from edgevox.home.backends.home_assistant import HomeAssistantHome
from edgevox.home.backends.home_assistant.programs import program_targets
from edgevox.home.intents.resolution import resolve_intent
from edgevox.tools.policy import LOCKS, ConfirmationPolicy
from edgevox.tools.tool import Target, Tool
from tests.home.backends.home_assistant.fake import TOKEN, FakeHomeAssistant, running
from tests.home.backends.home_assistant.program_configs import ATTRIBUTES, CONFIGS, DANGEROUS, HARMLESS

SWITCH = Tool(name="turn_on", description="Turn on.", side_effects=True, confirm="never")


def describe(entity_id: str) -> tuple[Target, dict[str, Any]]:
    attributes = ATTRIBUTES.get(entity_id, {})
    domain, _, name = entity_id.partition(".")
    return Target(domain, attributes.get("device_class", ""), name.replace("_", " "), entity_id), attributes


def needs_yes(config: object) -> bool:
    targets = program_targets("script.tried", {**CONFIGS, "script.tried": config}, describe)  # type: ignore[dict-item]
    policy = ConfirmationPolicy()
    level = policy.level(SWITCH, targets)
    assert (level == "voice") == (LOCKS in policy.needed_scopes(SWITCH, targets))
    return level != "never"


@pytest.mark.parametrize("name", DANGEROUS)
def test_a_program_that_may_open_something_needs_a_yes(name: str) -> None:
    assert needs_yes(DANGEROUS[name])


@pytest.mark.parametrize("name", HARMLESS)
def test_a_program_that_opens_nothing_needs_none(name: str) -> None:
    assert not needs_yes(HARMLESS[name])


# --- read from Home Assistant


def scripted(**states: dict[str, Any]) -> FakeHomeAssistant:
    fake = FakeHomeAssistant()
    fake.states |= {key.replace("__", "."): {"s": "off", "a": attributes} for key, attributes in states.items()}
    return fake


async def read(home: HomeAssistantHome, entity_id: str, *, until_known: bool = True) -> Entity:
    async with asyncio.timeout(5):
        while True:
            entity = home.house().entity(entity_id)
            if entity is not None and (entity.acts_on is not None) == until_known:
                return entity
            await asyncio.sleep(0.01)


def asks(entity: Entity, home: HomeAssistantHome) -> bool:
    intent = resolve_intent("turn_on", {"name": entity.name}, home.house())
    return ConfirmationPolicy().level(SWITCH, intent.targets) != "never"


async def test_the_steps_of_a_script_are_read_and_read_again_after_it_was_changed() -> None:
    fake = scripted(script__evening={"friendly_name": "Evening"}, lock__door={"friendly_name": "Door"})
    fake.answers["script/config"] = {"config": {"sequence": [{"action": "light.turn_on"}]}}
    async with running(fake) as url:
        home = HomeAssistantHome(url, Secret(TOKEN), timeout_s=2)
        await home.start()
        try:
            assert not asks(await read(home, "script.evening"), home)
            fake.answers["script/config"] = {
                "config": {"sequence": [{"action": "lock.unlock", "target": {"entity_id": "lock.door"}}]}
            }
            await fake.tell(c={"script.evening": {"+": {"s": "unavailable"}}})
            await fake.tell(c={"script.evening": {"+": {"s": "off"}}})
            assert asks(await read(home, "script.evening", until_known=False), home), "not read yet"
            entity = await read(home, "script.evening")
            assert asks(entity, home)
            assert entity.acts_on is not None
            assert [target.id for target in entity.acts_on] == ["lock.door"]
        finally:
            await home.close()


async def test_a_scene_is_judged_by_its_members_where_its_states_cannot_be_read() -> None:
    fake = scripted(
        scene__lamps={"friendly_name": "Lamps", "id": "1", "entity_id": ["light.attic"]},
        scene__leave={"friendly_name": "Leave", "id": "2", "entity_id": ["light.attic", "lock.door"]},
        scene__other={"friendly_name": "Other"},
        lock__door={"friendly_name": "Door"},
    )
    async with running(fake) as url:
        home = HomeAssistantHome(url, Secret(TOKEN), timeout_s=2)
        await home.start()
        try:
            assert not asks(await read(home, "scene.lamps"), home)
            assert asks(await read(home, "scene.leave"), home)
            assert asks(await read(home, "scene.other", until_known=False), home)
        finally:
            await home.close()


async def test_the_states_of_a_scene_decide_where_they_can_be_read() -> None:
    fake = scripted(
        scene__night={"friendly_name": "Night", "id": "7", "entity_id": ["lock.door"]},
        lock__door={"friendly_name": "Door"},
    )
    fake.scenes["7"] = {"id": "7", "name": "Night", "entities": {"lock.door": {"state": "locked"}}}
    async with running(fake) as url:
        home = HomeAssistantHome(url, Secret(TOKEN), timeout_s=2)
        await home.start()
        try:
            assert not asks(await read(home, "scene.night"), home)
        finally:
            await home.close()


async def test_no_turn_waits_for_a_script_that_is_read_slowly() -> None:
    fake = scripted(script__evening={"friendly_name": "Evening"})
    fake.silent.add("script/config")
    async with running(fake) as url:
        home = HomeAssistantHome(url, Secret(TOKEN), timeout_s=2)
        await home.start()
        try:
            assert asks(await read(home, "script.evening", until_known=False), home)
        finally:
            await home.close()


async def test_a_group_is_judged_by_its_members() -> None:
    fake = scripted(
        switch__yard={"friendly_name": "Yard", "entity_id": ["switch.opener"]},
        switch__opener={"friendly_name": "Gate Opener"},
        switch__pumps={"friendly_name": "Pumps", "entity_id": ["switch.pump"]},
        switch__pump={"friendly_name": "Pump"},
    )
    async with running(fake) as url:
        home = HomeAssistantHome(url, Secret(TOKEN), timeout_s=2)
        await home.start()
        try:
            assert asks(await read(home, "switch.yard"), home)
            assert not asks(await read(home, "switch.pumps"), home)
        finally:
            await home.close()
