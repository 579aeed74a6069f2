"""The house as it changes: what is told is known, and thousands of changes cost little."""

from __future__ import annotations

import asyncio
import time

from edgevox.tools.home.home_assistant.exposure import Exposure
from edgevox.tools.home.home_assistant.live_house import LiveHouse
from edgevox.tools.home.home_assistant.registries import Registries


def live_house(**states: str) -> LiveHouse:
    live = LiveHouse()
    live.register(Registries())
    live.begin({"a": {f"light.{name}": {"s": state, "a": {}} for name, state in states.items()}})
    return live


def states(live: LiveHouse) -> dict[str, str]:
    return {entity.id: entity.state for entity in live.house().entities}


def test_what_is_added_changed_and_removed_is_known() -> None:
    live = live_house(a="off", b="off")
    live.take({"a": {"light.c": {"s": "on", "a": {"brightness": 255}}}})
    live.take({"c": {"light.a": {"+": {"s": "on"}}, "light.c": {"+": {"a": {"brightness": 51}}}}})
    live.take({"r": ["light.b", "light.unknown"]})
    assert states(live) == {"light.a": "on", "light.c": "on"}
    light = live.entity("light.c")
    assert light is not None
    assert light.attributes == {"brightness": 20}
    live.take({"c": {"light.c": {"-": {"a": ["brightness"]}}}})
    light = live.entity("light.c")
    assert light is not None
    assert light.attributes == {}


def test_a_new_subscription_forgets_what_is_gone() -> None:
    live = live_house(a="off", b="off")
    live.begin({"a": {"light.b": {"s": "on", "a": {}}}})
    assert states(live) == {"light.b": "on"}


def test_a_house_that_did_not_change_is_the_same_house() -> None:
    live = live_house(a="off")
    before = live.house()
    live.take({"a": {"camera.not_exposed": {"s": "idle"}}})
    live.take({"c": {"light.a": {"+": {"c": "context only"}}}})
    assert live.house() is before


def test_new_registries_are_the_house_from_then_on() -> None:
    live = live_house(a="off", b="off")
    live.register(Registries(exposure=Exposure(frozenset({"light.b"}))))
    assert states(live) == {"light.b": "off"}


async def test_who_waits_for_a_state_is_told_when_it_is_there() -> None:
    live = live_house(a="off")
    waiting = asyncio.create_task(live.until("light.a", lambda light: light.state == "on"))
    for state in ("unavailable", "off", "on"):
        await asyncio.sleep(0)
        assert not waiting.done()
        live.take({"c": {"light.a": {"+": {"s": state}}}})
    async with asyncio.timeout(5):
        await waiting


def test_ten_thousand_changes_cost_little() -> None:
    live = LiveHouse()
    live.register(Registries())
    live.begin({"a": {f"sensor.s{n}": {"s": "0", "a": {"device_class": "temperature"}} for n in range(1000)}})
    began_s = time.process_time()
    for n in range(10_000):
        live.take({"c": {f"sensor.s{n % 1000}": {"+": {"s": str(n), "lc": n, "c": "x"}}}})
    assert len(live.house().entities) == 1000
    # About 0.02 s; a house that translated each change would take more than a second.
    assert time.process_time() - began_s < 0.5
