"""Calls of the home's tools with their arguments in the order of the catalogue."""

from __future__ import annotations

from typing import Any

from edgevox.tools.home.catalogue import CATALOGUE
from training.calls import Call

SLOT_ORDER: dict[str, tuple[str, ...]] = {
    tool.name: tuple(tool.parameters["properties"]) for tool in CATALOGUE
}


def home_call(tool: str, **slots: Any) -> Call:  # noqa: ANN401 - a slot's value is of its schema's type
    """A call of a home tool, arguments in the schema's order."""
    order = SLOT_ORDER[tool]
    assert slots.keys() <= set(order), (tool, slots)
    return Call(tool, {name: slots[name] for name in order if name in slots})
