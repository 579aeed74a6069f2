"""`edgevox home test`: whether the home answers, and what in it could be taken for something else."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from rich.text import Text

from edgevox.cli.context import Context
from edgevox.cli.loop import run_until_done
from edgevox.tools.home import ConnectedHome, Entity, HomeError, House
from edgevox.tools.home.homes import open_home
from edgevox.tools.home.names import Words, words

STATELESS = ("scene",)
"""What has no state until it is turned on for the first time, and none that is worth telling after it."""

_MOST_NAMED = 8
_NO_STATE = ("unavailable", "unknown")
_TELL_OF_THEMSELVES = (
    "edgevox.tools.home.homes",
    "edgevox.tools.home.home_assistant",
    "edgevox.tools.home.mqtt",
)


def run(context: Context) -> int:
    house, seconds = run_until_done(reached(open_home(context.settings, context.folders)))
    found = f"{len(house.areas)} areas and {len(house.entities)} things"
    context.out.print(Text.assemble(("ok ", "green"), f"the home answered in {seconds:.1f} s: {found}"))
    for remark in remarks(house):
        context.out.print(Text.assemble(("note ", "yellow"), remark))
    return 0


async def reached(home: ConnectedHome) -> tuple[House, float]:
    """The house, and how long it took to know it. Raises HomeError with what to do."""
    began_s = time.monotonic()
    async with connected(home) as house:
        return house, time.monotonic() - began_s


@asynccontextmanager
async def connected(home: ConnectedHome) -> AsyncIterator[House]:
    """The house, for as long as the home is connected. Raises HomeError with what to do, and StateError."""
    with _not_logged():
        await home.start()
        try:
            if home.problem:
                raise HomeError(home.problem)
            yield home.house()
        finally:
            await home.close()


@contextmanager
def _not_logged() -> Iterator[None]:
    """A connection logs what is wrong with it: here it is told already, and once is enough."""
    loggers = [logging.getLogger(name) for name in _TELL_OF_THEMSELVES]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def remarks(house: House) -> Iterator[str]:
    """What a person may want to change in the home, so that it understands better."""
    named = Counter(_identity(entity) for entity in house.entities)
    same = [entity.name for entity in house.entities if named[_identity(entity)] > 1]
    if same:
        yield f"several things of one area have the same name, and it will ask which: {_some(same)}"
    silent = [
        entity.name
        for entity in house.entities
        if entity.state in _NO_STATE and entity.domain not in STATELESS
    ]
    if silent:
        yield f"these give no state now: {_some(silent)}"
    nowhere = [entity.name for entity in house.entities if entity.area is None and entity.domain == "light"]
    if nowhere and house.areas:
        yield f"these lights are in no area, so no room's lights include them: {_some(nowhere)}"


def _identity(entity: Entity) -> tuple[Words, str, str | None]:
    """What a person can tell it by."""
    return words(entity.name), entity.domain, entity.area


def _some(names: list[str]) -> str:
    once = list(dict.fromkeys(names))
    more = len(once) - _MOST_NAMED
    return ", ".join(once[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
