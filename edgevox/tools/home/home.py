"""What the home tools ask of a home: its things as they are now, and one action at a time.

A backend (the demo home; Home Assistant and MQTT) is a class with these methods. The tools match names,
choose the targets and word the answers, so a backend only carries out what it is told.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from edgevox.errors import ToolError
from edgevox.tools.home.house import Attributes, Entity, House, ListItem

Verb: TypeAlias = Literal[
    "turn_on",
    "turn_off",
    "set_light",
    "set_position",
    "set_temperature",
    "set_speed",
    "set_volume",
    "pause",
    "unpause",
    "next",
    "previous",
    "mute",
    "unmute",
    "play",
    "start",
    "clean_area",
    "dock",
    "add_item",
    "complete_item",
    "remove_item",
]


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to be done to some entities, all of which can do it.

    `turn_on` opens covers and valves, locks locks and arms alarms; `turn_off` does the opposite. The values:

    set_light        brightness (0 to 100), color (a colour's name), or both
    set_position     position (0 closed, 100 open)
    set_temperature  temperature
    set_speed        percentage
    set_volume       volume_level (0 to 100)
    play             search_query, and media_class where it is known
    clean_area       area (an area's id)
    *_item           item
    """

    verb: Verb
    targets: tuple[Entity, ...]
    values: Attributes = field(default_factory=dict, hash=False)


class Home(Protocol):
    """A home. Whoever acts on it or reads it may get a HomeError, whose message can be spoken."""

    def house(self) -> House:
        """Everything in the home, as far as it is known now; it never waits for the home.

        While the home cannot be reached, this is how it was; a home that was never known raises HomeError.
        """

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        """Do it, and return those that did it, as they are afterwards and in the same order."""

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        """What is on a list, in the list's order."""

    async def announce(self, message: str) -> None:
        """Say something to everybody in the home."""


class ConnectedHome(Home, Protocol):
    """A home that has to be reached."""

    async def start(self) -> None:
        """Connect. Returns when the house is known, or when `problem` says why it is not; raises nothing.

        A connection that is lost later is made again in the background, for as long as it takes.
        """

    async def close(self) -> None:
        """Disconnect; raises nothing."""

    @property
    def problem(self) -> str:
        """Why the home cannot be reached now, in a sentence that says what to do; "" while all is well."""


class HomeError(ToolError):
    """The home did not do what was asked; the message is a sentence for the user."""

    code = "home_error"
