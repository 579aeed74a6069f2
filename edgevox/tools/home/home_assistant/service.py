"""One call of a service of Home Assistant's, and by what an entity shows that it was done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from edgevox.tools.home.home import HomeError
from edgevox.tools.home.house import Entity
from edgevox.tools.home.wording import sentence, the

IsDone: TypeAlias = Callable[[Entity], bool]


@dataclass(frozen=True, slots=True)
class Service:
    """A service of the entity's own domain."""

    name: str
    data: dict[str, Any] = field(default_factory=dict)
    is_done: IsDone | None = None
    """None where no state tells"""
    value: str | None = None
    """the attribute that it sets: one that changes is on its way, however long that takes"""


def in_state(*states: str) -> IsDone:
    return lambda entity: entity.state in states


def set_to(key: str, wanted: float, *, within: float) -> IsDone:
    """The attribute is what it should be; things round in their own ways."""

    def is_set(entity: Entity) -> bool:
        now = entity.attributes.get(key)
        return isinstance(now, int | float) and abs(now - wanted) <= within

    return is_set


def can(entity: Entity, feature: int) -> bool:
    """Whether a bit of its `supported_features` is set."""
    features = entity.attributes.get("supported_features", 0)
    return isinstance(features, int) and bool(features & feature)


def refusal(entity: Entity, cannot: str) -> HomeError:
    """ "The kitchen light cannot be dimmed." """
    return HomeError(sentence(f"{the(entity)} {cannot}"))
