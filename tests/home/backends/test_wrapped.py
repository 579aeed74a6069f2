"""The code of the alarm panel is kept once a panel has accepted it, and never shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edgevox.core.types import ToolCall
from edgevox.home import Action, DemoHome, HomeError
from edgevox.home.backends.wrapped import CODE_FILE, HomeWithAlarmCode
from edgevox.home.entities import Entity
from tests.home.conftest import Bench

CODE = "4711"


class GuardedHome(DemoHome):
    """A demo home whose alarm panel wants its code."""

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        if action.values.get("code") != CODE:
            raise HomeError("That is not the code.")
        return await super().apply(action)


def panel(home: DemoHome) -> tuple[Entity, ...]:
    return tuple(entity for entity in home.house().entities if entity.domain == "alarm_control_panel")


async def test_an_accepted_code_is_used_from_then_on(tmp_path: Path) -> None:
    inner = GuardedHome()
    home, path = HomeWithAlarmCode(inner, tmp_path / CODE_FILE), tmp_path / CODE_FILE
    with pytest.raises(HomeError):
        await home.apply(Action("arm", panel(inner), {"mode": "night", "code": "1234"}))
    assert not path.exists()
    await home.apply(Action("arm", panel(inner), {"mode": "night", "code": CODE}))
    (disarmed,) = await home.apply(Action("turn_off", panel(inner)))
    assert (disarmed.state, path.stat().st_mode & 0o777) == ("disarmed", 0o600)


def test_a_code_is_in_no_argument_that_is_logged(bench: Bench) -> None:
    call = ToolCall("1", "alarm_set_mode", json.dumps({"mode": "night", "code": CODE}))
    resolved = bench.executor.resolve(call)
    assert CODE not in f"{resolved.call} {resolved.resolution}"
