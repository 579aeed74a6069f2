"""Answers questions about the weather of a day from the home's forecast, or says that there is none."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from edgevox.core.languages import listed
from edgevox.core.words import WEEKDAYS, number_value
from edgevox.home.entities import Entity, Forecast, Home, HomeError
from edgevox.home.phrasing import number, sentence, state_phrase

_WET = ("rainy", "pouring", "lightning-rainy", "snowy-rainy", "hail")
_SNOWY = ("snowy", "snowy-rainy")
_SUNNY = ("sunny", "clear-night")
_LIKELY_PERCENT, _POSSIBLE_PERCENT = 50, 25
_EVENING_HOUR, _MORNING_HOUR = 18, 7
_NO_FORECAST = "I have no forecast, only the weather right now."


@dataclass(frozen=True, slots=True)
class Period:
    """The days that are asked about, in words and as dates; `is_night` for an evening and the night after it."""

    words: str
    days: tuple[date, ...]
    is_night: bool = False


_IN_DAYS = re.compile(r"in (\w+) days")


def parse_period(said: str, today: date) -> Period | None:
    """The period of "tomorrow", "tonight", "on Friday", "this weekend"; None for words that it does not know."""
    words = " ".join(said.casefold().replace("'s", "").split())
    words = re.sub(r"^(?:(?:for|on|during|over|this coming|coming|the) )+", "", words)
    is_night = re.search(r"\b(?:night|tonight|evening)\b", words) is not None
    words = re.sub(r" ?\b(?:early|in the|morning|afternoon|evening|night|later)\b ?", " ", words).strip()
    words = {"to": "tonight"}.get(words, words)
    if words in ("", "today", "now", "this", "rest of the day", "the day", "day", "tonight"):
        return Period("tonight" if is_night else "today", (today,), is_night)
    if words in ("tomorrow", "tomorow"):
        return Period("tomorrow night" if is_night else "tomorrow", (today + timedelta(days=1),), is_night)
    if words in ("day after tomorrow", "the day after tomorrow"):
        return Period("the day after tomorrow", (today + timedelta(days=2),), is_night)
    if found := _IN_DAYS.fullmatch(words):
        count = number_value(found[1])
        return Period(f"in {found[1]} days", (today + timedelta(days=count),)) if count else None
    if words in ("weekend", "this weekend", "the weekend"):
        saturday = today + timedelta(days=(5 - today.weekday()) % 7)
        is_sunday = today.weekday() == 6
        return Period("this weekend", (today,) if is_sunday else (saturday, saturday + timedelta(days=1)))
    if words in ("week", "this week", "next few days", "next days", "coming days", "next seven days", "next 7 days"):
        return Period("this week", tuple(today + timedelta(days=ahead) for ahead in range(7)))
    if words == "next week":
        monday = today + timedelta(days=7 - today.weekday())
        return Period("next week", tuple(monday + timedelta(days=ahead) for ahead in range(7)))
    name = words.removeprefix("this ").removeprefix("next ").capitalize()
    if name in WEEKDAYS:
        ahead = (WEEKDAYS.index(name) - today.weekday()) % 7 or 7
        return Period(f"on {name}", (today + timedelta(days=ahead),), is_night)
    return None


async def answer_forecast(home: Home, weather: Entity, arguments: Mapping[str, Any], now: datetime) -> str:
    """The answer to a question about the weather of a day. Raises HomeError."""
    about, said = str(arguments.get("about") or "weather"), str(arguments.get("day") or "today")
    period = parse_period(said, now.date())
    if period is None:
        raise HomeError("For which day: today, tomorrow, or a day of the week?")
    found = await _entries(home, weather, period, now)
    if not found and period.days == (now.date(),) and not period.is_night:
        return f"{await now_and_today(home, weather, now)} I have no forecast."
    if not found:
        any_known = await home.forecast(weather.id, "daily")
        if not any_known:
            return _NO_FORECAST
        return f"My forecast only reaches to {WEEKDAYS[any_known[-1].at.weekday()]}."
    match about:
        case "rain" | "snow" | "sun":
            return _yes_or_no(about, found, period)
        case "temperature":
            return sentence(f"{period.words} it will be {_range(found)}") if _range(found) else _NO_FORECAST
        case "wind":
            speeds = [entry.wind_speed for entry in found if entry.wind_speed is not None]
            unit = weather.attributes.get("wind_speed_unit") or "km/h"
            return (
                sentence(f"{period.words} there will be wind of up to {number(max(speeds))} {unit}")
                if speeds
                else _NO_FORECAST
            )
        case _:
            return _summary(found, period)


async def now_and_today(home: Home, weather: Entity, now: datetime) -> str:
    """The weather at this moment, and how the day will be where that is known."""
    temperature = weather.attributes.get("temperature")
    warmth = f" and {number(temperature)} degrees" if temperature is not None else ""
    current = sentence(f"it is {state_phrase(weather)}{warmth}")
    try:
        days = [day for day in await home.forecast(weather.id, "daily") if day.at.date() == now.date()]
    except HomeError:
        days = []
    if not days or not _range(days):
        return current
    chance = max(map(_rain_percent, days))
    rain = f", and the chance of rain is {number(chance)} percent" if chance >= _POSSIBLE_PERCENT else ""
    return f"{current} Today it will be {_range(days)}{rain}."


async def _entries(home: Home, weather: Entity, period: Period, now: datetime) -> tuple[Forecast, ...]:
    """The entries of the period: days, or the hours of an evening and its night."""
    if period.is_night:
        start = datetime.combine(period.days[0], datetime.min.time(), now.tzinfo)
        hours = await home.forecast(weather.id, "hourly")
        begin, end = start + timedelta(hours=_EVENING_HOUR), start + timedelta(days=1, hours=_MORNING_HOUR)
        if night := tuple(hour for hour in hours if begin <= hour.at < end):
            return night
    return tuple(day for day in await home.forecast(weather.id, "daily") if day.at.date() in period.days)


def _condition(entry: Forecast) -> str:
    return state_phrase(Entity("", "", "weather", entry.condition))


def _range(entries: Sequence[Forecast]) -> str:
    """ "between 7 and 13 degrees", "about 13 degrees", or "" where no temperature is known."""
    known = [value for entry in entries for value in (entry.temperature, entry.low) if value is not None]
    if not known:
        return ""
    low, high = round(min(known)), round(max(known))
    return f"about {high} degrees" if high - low < 1 else f"between {low} and {high} degrees"


def _rain_percent(entry: Forecast) -> float:
    if entry.rain_percent is not None:
        return entry.rain_percent
    return 100 if entry.condition in (*_WET, *_SNOWY) else 0


def _summary(found: Sequence[Forecast], period: Period) -> str:
    if len(period.days) == 1:
        warmth = f", {_range(found)}" if _range(found) else ""
        worst = max(found, key=_rain_percent)
        chance = _rain_percent(worst)
        rain = f". The chance of rain is {number(chance)} percent" if chance >= _POSSIBLE_PERCENT else ""
        condition = _condition(worst if period.is_night else found[0])
        return sentence(f"{period.words} it will be {condition}{warmth}{rain}")
    by_condition = defaultdict[str, list[str]](list)
    for entry in found:
        by_condition[_condition(entry)].append(WEEKDAYS[entry.at.weekday()])
    parts = [f"{condition} on {listed(days, 'and')}" for condition, days in by_condition.items()]
    return sentence(f"{period.words} it will be {listed(parts, 'and')}{f', {_range(found)}' if _range(found) else ''}")


def _yes_or_no(about: str, found: Sequence[Forecast], period: Period) -> str:
    when = {entry.at.date(): WEEKDAYS[entry.at.weekday()] for entry in found}
    if about == "rain":
        worst = max(found, key=_rain_percent)
        chance = _rain_percent(worst)
        day = f" on {when[worst.at.date()]}" if len(period.days) > 1 else f" {period.words}"
        if chance >= _LIKELY_PERCENT:
            return f"Yes, rain is likely{day}: {number(chance)} percent."
        if chance >= _POSSIBLE_PERCENT:
            return f"Perhaps: there is a {number(chance)} percent chance of rain{day}."
        return f"No, it will probably stay dry {period.words}."
    states = _SNOWY if about == "snow" else _SUNNY
    days = list(dict.fromkeys(when[entry.at.date()] for entry in found if entry.condition in states))
    thing = "snow" if about == "snow" else "be sunny"
    if not days:
        return f"No, it will probably not {thing} {period.words}."
    on = f"on {listed(days, 'and')}" if len(period.days) > 1 else period.words
    return f"Yes, it will probably {thing} {on}."
