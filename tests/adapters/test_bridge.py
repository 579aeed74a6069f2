"""EdgeVox tools for code without a loop."""

from __future__ import annotations

import asyncio

import pytest
from pydantic import ValidationError

from edgevox.adapters.bridge import Bridge, arguments_model, foreign_tool
from edgevox.agents.tool_loop import Agreement
from edgevox.core.turn import Turn
from edgevox.tools.policy import PendingConfirmation
from tests.adapters.home import bridged


def test_a_tool_is_called_without_a_loop_and_mistakes_are_words() -> None:
    log: list[str] = []
    with bridged(log) as bridge:
        assert bridge.call("get_temperature", {"room": "hall", "unit": None}) == '"21 degrees in the hall"'
        assert "invalid_arguments" in bridge.call("get_temperature", {})
        assert "there is no tool" in bridge.call("nothing", {})
    assert log == ["read hall"]


async def test_calls_come_from_any_loop_and_side_by_side() -> None:
    log: list[str] = []
    with bridged(log) as bridge:
        rooms = [f"room {number}" for number in range(20)]
        answers = await asyncio.gather(*(bridge.acall("get_temperature", {"room": room}) for room in rooms))
    assert answers == [f'"21 degrees in the {room}"' for room in rooms]


@pytest.mark.parametrize("granted", [True, False])
def test_what_needs_a_yes_is_asked_and_without_somebody_refused(granted: bool) -> None:
    log: list[str] = []

    async def confirm(_pending: PendingConfirmation, _turn: Turn) -> Agreement:
        return Agreement(granted=granted)

    with bridged(log) as nobody:
        assert "nobody could be asked" in nobody.call("unlock_door", {})
        with Bridge(nobody.registry, confirm=confirm) as bridge:
            bridge.call("unlock_door", {})
    assert log == (["unlocked"] if granted else [])


def test_arguments_have_a_class() -> None:
    with bridged([]) as bridge:
        model = arguments_model(bridge.registry.get("get_temperature"))
    assert model(room="hall").model_dump() == {"room": "hall", "unit": None}
    with pytest.raises(ValidationError):
        model(unit="C")


async def nothing(_name: str, _arguments: object) -> object:
    return None


@pytest.mark.parametrize(("only_reads", "confirm"), [(True, "never"), (False, "voice")])
def test_a_foreign_tool_asks_unless_it_only_reads(only_reads: bool, confirm: str) -> None:
    tool = foreign_tool("Get it!", "Get it.", {}, nothing, only_reads=only_reads, framework="X")
    assert (tool.name, tool.confirm, tool.side_effects) == ("Get_it_", confirm, not only_reads)
