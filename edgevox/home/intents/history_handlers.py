"""Answers when an entity was last in a state, and for how long it has been in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from edgevox.core.languages import duration
from edgevox.home.alarms.time_phrasing import clock_time, day_phrase
from edgevox.home.entities import Entity, Home, HomeError, StateChange
from edgevox.home.intents.resolution import ResolvedIntent
from edgevox.home.phrasing import has_have, is_in_state, knows_state, sentence, state_phrase, the, was_were

_LOOKED_BACK = timedelta(days=10)  # Home Assistant keeps as many by default
_AWAY = frozenset({"unavailable", "unknown"})


async def answer_history(home: Home, intent: ResolvedIntent, now: datetime) -> str:
    """Raises HomeError if the home cannot be reached, or several entities are meant."""
    asked = str(intent.arguments["state"])
    possible = [entity for entity in intent.entities if knows_state(entity, asked)] or list(intent.entities)
    if len(possible) > 1:
        raise HomeError(f"Which one: {' or '.join(the(entity) for entity in possible[:3])}?")
    entity = possible[0]
    if intent.arguments["since"] == "how_long":
        return await _how_long(home, entity, asked, now)
    began = _last_began(await _record(home, entity, now), entity, asked)
    state = _participle(asked)
    if began is None:
        days = f"in the last {_LOOKED_BACK.days} days"
        return sentence(f"I do not know of any time {days} when {the(entity)} {was_were(entity.name)} {state}")
    return sentence(f"{the(entity)} {was_were(entity.name)} last {state} {_when(began.astimezone(now.tzinfo), now)}")


async def _how_long(home: Home, entity: Entity, asked: str, now: datetime) -> str:
    if not is_in_state(entity, asked):
        return sentence(f"{the(entity)} {'are' if was_were(entity.name) == 'were' else 'is'} {state_phrase(entity)}")
    record = await _record(home, entity, now)
    began = _last_began(record, entity, asked)
    if began is None and not record:
        return sentence(f"I do not know since when {the(entity)} {has_have(entity.name)} been {state_phrase(entity)}")
    seconds = (now - (began or record[0].at)).total_seconds()
    # Nobody wants the seconds of an hour.
    length = duration(seconds if seconds < 60 else seconds // 60 * 60)
    at_least = "" if began else "at least "
    return sentence(f"{the(entity)} {has_have(entity.name)} been {state_phrase(entity)} for {at_least}{length}")


async def _record(home: Home, entity: Entity, now: datetime) -> list[StateChange]:
    """The recorded states of the entity without the times at which it was away, earliest first.

    A device that comes back, or a home that was restarted, did not change the state that it comes back with.
    """
    return [change for change in await home.changes(entity.id, now - _LOOKED_BACK) if change.state not in _AWAY]


def _last_began(record: Sequence[StateChange], entity: Entity, asked: str) -> datetime | None:
    """When the entity last got into a state; None if neither the record nor the entity has it."""
    if not record:
        return entity.changed_at if is_in_state(entity, asked) else None
    # The last change may not be recorded yet.
    now_so = StateChange(entity.changed_at or record[-1].at, entity.state)
    states = [*record, now_so] if entity.state not in _AWAY else record
    was_so = [is_in_state(replace(entity, state=change.state), asked) for change in states]
    begun = [states[at].at for at in range(1, len(states)) if was_so[at] and not was_so[at - 1]]
    if not begun and all(was_so) and entity.changed_at and entity.changed_at <= record[0].at:
        return entity.changed_at  # it has been so since before the record
    return begun[-1] if begun else None


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
