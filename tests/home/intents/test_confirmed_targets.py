"""A confirmed call acts on the entities that were confirmed, and on no others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from jsonschema import ValidationError

from edgevox.core.types import ToolCall
from edgevox.home import DemoHome
from edgevox.home.entities import Action, Area, Entity, House
from edgevox.tools import Caller, ConfirmationPolicy, Tool, ToolExecutor, ToolRegistry, ToolResult
from edgevox.tools.tool import Target
from tests.home.conftest import Bench

CHANGED = "That has changed since I asked; please say it again."
PERSON = Caller("person", frozenset({"*"}))
SIDE = Entity("lock.side", "side door", "lock", "locked")
FRONT = Entity("lock.front", "door", "lock", "locked")
SHUTTER = Entity("cover.garage", "garage", "cover", "open", device_class="garage", attributes={"position": 80})


class ChangingHome(DemoHome):
    """A home whose entities a test replaces, and which records every action."""

    def __init__(self, *entities: Entity, areas: tuple[Area, ...] = ()) -> None:
        super().__init__()
        self.entities = entities
        self.areas = areas
        self.applied: list[tuple[str, tuple[str, ...]]] = []
        self.values: list[dict[str, Any]] = []

    def house(self) -> House:
        return House(self.entities, self.areas, ())

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        self.applied.append((action.verb, tuple(target.id for target in action.targets)))
        self.values.append(dict(action.values))
        return action.targets


class AppearingHome(ChangingHome):
    """A home that is empty at the first read."""

    reads = 0

    def house(self) -> House:
        self.reads += 1
        return super().house() if self.reads > 1 else House((), (), ())


def call(tool: str, **arguments: object) -> ToolCall:
    return ToolCall("1", tool, json.dumps(arguments))


async def confirm(executor: ToolExecutor, asked: ToolResult) -> ToolResult:
    assert asked.confirmation is not None, asked
    return await executor.dispatch_confirmed(asked.confirmation.call, asked.confirmation.token, by=PERSON)


async def test_confirmed_call_acts_only_on_the_targets_that_were_confirmed() -> None:
    home = ChangingHome(SIDE)
    executor = Bench(home).executor
    asked = await executor.dispatch(call("turn_off", name="door"))
    assert asked.confirmation is not None
    assert asked.confirmation.question == "Unlock the side door?"
    home.entities = (SIDE, FRONT)  # announced while the question was open
    await confirm(executor, asked)
    assert home.applied == [("turn_off", ("lock.side",))]


async def test_confirmed_target_that_is_gone_is_not_replaced_by_another() -> None:
    home = ChangingHome(SIDE)
    executor = Bench(home).executor
    asked = await executor.dispatch(call("turn_off", name="door"))
    home.entities = (FRONT,)
    result = await confirm(executor, asked)
    assert home.applied == []
    assert (result.code, result.speech) == ("tool_denied", CHANGED)


async def test_call_judged_to_touch_nothing_touches_nothing() -> None:
    home = AppearingHome(SIDE)
    result = await Bench(home).executor.dispatch(call("turn_off", name="side door"))
    assert home.applied == []
    assert result.speech is not None
    assert result.speech.startswith("I know nothing called side door")


async def test_stricter_level_after_the_yes_is_refused() -> None:
    gate = Entity("cover.drive", "gate", "cover", "closed", device_class="gate")
    home = ChangingHome(gate)
    rule = ConfirmationPolicy(domains={"cover.garage": "screen"})
    executor = ToolExecutor(Bench(home).registry, rule=rule)
    asked = await executor.dispatch(call("turn_on", name="gate"))
    home.entities = (Entity("cover.drive", "gate", "cover", "closed", device_class="garage"),)
    result = await confirm(executor, asked)
    assert home.applied == []
    assert (result.code, result.speech) == ("tool_denied", CHANGED)


async def test_resolved_call_that_has_become_risky_is_not_run_unasked() -> None:
    home = ChangingHome(SHUTTER)
    executor = Bench(home).executor
    resolved = executor.resolve(call("set_position", name="garage", position=50))  # lowers it: no question needed
    home.entities = (Entity("cover.garage", "garage", "cover", "closed", device_class="garage"),)
    result = await executor.dispatch(resolved)
    assert home.applied == []
    assert result.code == "tool_denied"


async def test_yes_to_misheard_words_is_no_yes_to_a_call_that_has_become_risky() -> None:
    home = ChangingHome(SHUTTER)
    executor = Bench(home).executor
    lower = call("set_position", name="garage", position=50)
    asked = await executor.dispatch(lower, low_confidence_text="garage to fifty")
    home.entities = (Entity("cover.garage", "garage", "cover", "closed", device_class="garage"),)
    assert (await confirm(executor, asked)).code == "tool_denied"
    assert home.applied == []


async def test_area_to_clean_is_the_one_that_was_resolved() -> None:
    robot = Entity("vacuum.robot", "robot", "vacuum", "docked")
    home = ChangingHome(robot, areas=(Area("hall", "hall"),))
    executor = Bench(home).executor
    clean = call("vacuum_clean_area", area="hall")
    asked = await executor.dispatch(clean, low_confidence_text="clean the hall")
    home.areas = (Area("attic", "hall"), Area("hall", "old hall"))
    await confirm(executor, asked)
    assert home.values == [{"area": "hall"}]


async def test_confirmed_action_uses_the_current_state() -> None:
    quiet = Entity("media_player.radio", "radio", "media_player", "playing", attributes={"volume_level": 20})
    home = ChangingHome(quiet)
    executor = Bench(home).executor
    louder = call("set_volume_relative", name="radio", volume_step="up")
    asked = await executor.dispatch(louder, low_confidence_text="louder")
    home.entities = (Entity("media_player.radio", "radio", "media_player", "playing", attributes={"volume_level": 60}),)
    await confirm(executor, asked)
    assert home.values == [{"volume_level": 70}]


async def test_question_that_resolution_answers_needs_no_yes() -> None:
    home = ChangingHome()
    executor = ToolExecutor(Bench(home).registry, rule=ConfirmationPolicy(otherwise="voice"))
    result = await executor.dispatch(call("turn_off", name="side door"))
    assert result.confirmation is None
    assert result.speech is not None


class CountingValidator:
    """Records what is validated."""

    def __init__(self, tool: Tool) -> None:
        self._validator = tool.validator
        self.validated: list[object] = []

    def iter_errors(self, arguments: object) -> Iterator[ValidationError]:
        self.validated.append(arguments)
        return self._validator.iter_errors(arguments)


async def test_arguments_are_validated_once_per_call() -> None:
    tool = Tool(name="ring", description="Rings.", run=lambda: "rang", side_effects=True, confirm="voice")
    counting = tool.__dict__["validator"] = CountingValidator(tool)
    executor = ToolExecutor(ToolRegistry([tool]))
    result = await confirm(executor, await executor.dispatch(executor.resolve(call("ring"))))
    assert not result.is_error
    assert counting.validated == [{}]


async def test_a_scene_that_unlocks_more_than_was_asked_about_is_not_run() -> None:
    def scene(*targets: Target) -> Entity:
        return Entity("scene.leave", "Leave", "scene", "never", acts_on=targets)

    garage, lock = Target("cover", "garage", "Garage"), Target("lock", "", "Side Door", "lock.side")
    home = ChangingHome(scene(garage))
    executor = Bench(home).executor
    asked = await executor.dispatch(call("turn_on", name="leave"))
    assert asked.confirmation is not None
    assert asked.confirmation.question == "Turn on the leave, which changes the garage?"
    home.entities = (scene(garage, lock),)
    assert (await confirm(executor, asked)).speech == CHANGED
    assert home.applied == []


async def test_a_scene_that_was_changed_after_a_watch_was_set_up_is_asked_about() -> None:
    lamp = Entity("light.desk", "desk lamp", "light", "off")
    home = ChangingHome(lamp, Entity("scene.calm", "Calm", "scene", "never", acts_on=()))
    bench = Bench(home)
    condition = {"entity_ids": ["light.desk"], "phrase": "the lamp is on", "fact": "it is on", "state": "on"}
    acts = {"name": "turn_on", "arguments": {"name": "calm"}}
    watch = {"kind": "run", "condition": condition, "call": acts}
    result = await bench.executor.dispatch(call("set_reminder", task="turn on calm", watch=watch))
    assert result.confirmation is None
    assert [one.agreed for one in bench.watches.all()] == [""], "nothing was asked, so nothing was agreed to"
