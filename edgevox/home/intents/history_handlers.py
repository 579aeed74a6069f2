"""Answers when an entity was last in a state, and for how long it has been in it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from edgevox.core.languages import duration
from edgevox.home.alarms.time_phrasing import clock_time, day_phrase
from edgevox.home.entities import Entity, Home, HomeError
from edgevox.home.intents.resolution import ResolvedIntent
from edgevox.home.phrasing import has_have, is_in_state, knows_state, sentence, state_phrase, the, was_were

_LOOKED_BACK = timedelta(days=10)  # Home Assistant keeps as many by default


async def answer_history(home: Home, intent: ResolvedIntent, now: datetime) -> str:
    """Raises HomeError if the home cannot be reached, or several entities are meant."""
    asked = str(intent.arguments["state"])
    possible = [entity for entity in intent.entities if knows_state(entity, asked)] or list(intent.entities)
    if len(possible) > 1:
        raise HomeError(f"Which one: {' or '.join(the(entity) for entity in possible[:3])}?")
    entity = possible[0]
    if intent.arguments["since"] == "how_long":
        return await _how_long(home, entity, asked, now)
    began = await _last_began(home, entity, asked, now)
    state = _participle(asked)
    if began is None:
        days = f"in the last {_LOOKED_BACK.days} days"
        return sentence(f"I do not know of any time {days} when {the(entity)} {was_were(entity.name)} {state}")
    return sentence(f"{the(entity)} {was_were(entity.name)} last {state} {_when(began, now)}")


async def _how_long(home: Home, entity: Entity, asked: str, now: datetime) -> str:
    if not is_in_state(entity, asked):
        return sentence(f"{the(entity)} {'are' if was_were(entity.name) == 'were' else 'is'} {state_phrase(entity)}")
    began = await _last_began(home, entity, asked, now)
    if began is None:
        return sentence(f"I do not know since when {the(entity)} {has_have(entity.name)} been {state_phrase(entity)}")
    seconds = (now - began).total_seconds()
    # Nobody wants the seconds of an hour.
    length = duration(seconds if seconds < 60 else seconds // 60 * 60)
    return sentence(f"{the(entity)} {has_have(entity.name)} been {state_phrase(entity)} for {length}")


async def _last_began(home: Home, entity: Entity, asked: str, now: datetime) -> datetime | None:
    """When the entity last got into a state; from its own last change, or else from the record."""
    if is_in_state(entity, asked) and entity.changed_at is not None:
        return entity.changed_at.astimezone(now.tzinfo)
    began, was_so = None, True  # the first recorded state began before the record
    for change in await home.changes(entity.id, now - _LOOKED_BACK):
        is_so = is_in_state(replace(entity, state=change.state), asked)
        if is_so and not was_so:
            began = change.at
        was_so = is_so
    return began.astimezone(now.tzinfo) if began else None


def _when(moment: datetime, now: datetime) -> str:
    days = (now.date() - moment.date()).days
    clock = f"at {clock_time(moment)}"
    part = "" if clock in ("at noon", "at midnight") else " in the morning" if moment.hour < 12 else (
        " in the afternoon" if moment.hour < 18 else " in the evening"
    )  # fmt: skip
    if days == 0:
        return f"today {clock}{part}"
    return f"{'yesterday' if days == 1 else day_phrase(moment.date(), now)} {clock}{part}"


def _participle(asked: str) -> str:
    """The state as something that happens: "opened" for open."""
    state = asked.casefold().replace("_", " ")
    return {"open": "opened", "on": "turned on", "off": "turned off"}.get(state, state)
