"""The demo home after some calls: made by the real tools, with every confirmation given."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from edgevox.eval.comparing import same_value
from edgevox.eval.offer import bound_home_tools
from edgevox.eval.suite import Call
from edgevox.tools import ToolExecutor, ToolRegistry
from edgevox.tools.home import DemoHome
from edgevox.types import ToolCall

STATE, ITEMS = "state", "items"


async def demo_state_is(wanted: Mapping[str, Mapping[str, Any]], calls: Sequence[Call]) -> bool:
    """Whether a new demo home is as wanted once the calls are made, one after the other.

    `wanted` is by entity: `state`, attributes such as `brightness`, and `items` for what a list still holds.
    """
    home = DemoHome()
    executor = ToolExecutor(ToolRegistry(bound_home_tools(home)))
    for number, call in enumerate(calls):
        result = await executor.dispatch(ToolCall(str(number), call.name, json.dumps(call.arguments)))
        if (pending := result.confirmation) is not None:
            await executor.dispatch_confirmed(pending.call, pending.token, channel="keyboard")
    house = home.house()
    for entity_id, facts in wanted.items():
        entity = house.entity(entity_id)
        assert entity is not None, "the suite was checked"
        found: dict[str, Any] = {**entity.attributes, STATE: entity.state}
        if ITEMS in facts:
            found[ITEMS] = [item.text for item in await home.items(entity_id) if not item.is_done]
        if not all(same_value(value, found.get(fact)) for fact, value in facts.items()):
            return False
    return True
