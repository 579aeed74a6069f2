"""What the home's tools say after a call."""

from __future__ import annotations

import random

from edgevox.tools.home.wording import number
from training.calls import Call
from training.home.places import in_area, with_article
from training.home.things import READINGS

_NOUNS = {
    "light": "lights", "switch": "switches", "fan": "fans", "lock": "locks", "climate": "thermostats",
    "media_player": "players",
    "vacuum": "vacuum cleaners", "lawn_mower": "mowers", "valve": "valves", "humidifier": "humidifiers",
    "siren": "sirens",
    "cover": "covers", "person": "people", "sensor": "sensors", "binary_sensor": "sensors",
    "garage": "garage doors",
    "garage_door": "garage doors", "outlet": "outlets", "tv": "TVs", "battery": "batteries",
    **{name: f"{name}s" for name in ("door", "window", "blind", "curtain", "shutter", "shade", "awning",
    "gate", "damper")},
}  # fmt: skip


_OPENING = frozenset({"door", "window", "garage_door", "opening"})


_OPPOSITES = {
    "on": "off", "open": "closed", "locked": "unlocked", "home": "away", "playing": "paused",
    "cleaning": "docked",
    "mowing": "docked", "armed": "disarmed",
}  # fmt: skip


_OPPOSITES |= {there: here for here, there in _OPPOSITES.items() if there != "docked"} | {
    "docked": "cleaning"
}


def _noun(call: Call) -> str:
    slots = call.arguments
    return _NOUNS.get(str(slots.get("device_class")), "") or _NOUNS.get(str(slots.get("domain")), "things")


def _things(call: Call) -> str:
    slots = call.arguments
    if name := slots.get("name"):
        return str(name) if slots.get("domain") == "person" else with_article(str(name))
    where = f" {in_area(str(slots['area']))}" if "area" in slots else ""
    return f"the {_noun(call)}{where}"


def _said_state(call: Call, state: str) -> str:
    """A state as it is said: a window's sensor that is on means open."""
    if call.arguments.get("device_class") in _OPENING and state in ("on", "off"):
        return "open" if state == "on" else "closed"
    return "away" if state == "not_home" else state


def _done_words(call: Call) -> str:
    on = call.tool == "turn_on"
    match call.arguments.get("domain"):
        case "cover" | "valve":
            return "open" if on else "closed"
        case "lock":
            return "locked" if on else "unlocked"
        case _:
            return "on" if on else "off"


def outcome(rng: random.Random, call: Call) -> str:
    """A sentence as the home says it after a call."""
    things = _things(call)
    are = "is" if "name" in call.arguments else "are"
    match call.tool:
        case "turn_on" | "turn_off":
            return f"{things[0].upper()}{things[1:]} {are} {_done_words(call)}."
        case "light_set" if "brightness" in call.arguments:
            return f"Set to {call.arguments['brightness']} percent."
        case "climate_set_temperature":
            return f"Set to {number(float(call.arguments['temperature']))} degrees."
        case (
            "get_state"
            | "climate_get_temperature"
            | "get_weather"
            | "get_current_time"
            | "get_current_date"
            | "timer_status"
            | "alarm_status"
        ):
            return told(rng, call)
        case "set_alarm":
            return rng.choice(("The alarm is set for {t}.", "I will wake you at {t}.", "Alarm set.")).replace(
                "{t}", str(call.arguments["time"])
            )
        case "set_reminder":
            return rng.choice(("I will remind you.", "All right, I will remind you.", "The reminder is set."))
        case _:
            return rng.choice(_DONE)


def told(rng: random.Random, call: Call) -> str:
    """What a tool that only looks tells."""
    slots = call.arguments
    match call.tool:
        case "climate_get_temperature":
            where = f" {in_area(str(slots['area']))}" if "area" in slots else ""
            return f"It is {number(rng.randint(30, 52) / 2)} degrees{where}."
        case "get_weather":
            sky = rng.choice(
                ("sunny", "cloudy", "partly cloudy", "rainy", "clear", "windy", "snowy", "foggy")
            )
            return f"It is {sky} and {number(rng.randint(-10, 60) / 2)} degrees."
        case "get_current_time":
            return f"It is {rng.randint(1, 12)}:{rng.randint(0, 59):02d} {rng.choice(('am', 'pm'))}."
        case "get_current_date":
            day = f"{rng.choice(_DAYS)}, {rng.choice(_MONTHS)} {rng.randint(1, 28)}"
            return f"It is {day}, {rng.randint(2024, 2029)}."
        case "timer_status":
            return f"{rng.randint(2, 50)} minutes and {rng.randint(2, 59)} seconds are left."
        case "alarm_status":
            return _alarms_told(rng, call)
        case _:
            return _state_told(rng, call)


def _alarms_told(rng: random.Random, call: Call) -> str:
    at = f"{rng.randint(5, 11)}:{rng.choice((0, 15, 30, 45)):02d} {rng.choice(('am', 'pm'))}"
    if "name" in call.arguments:
        return f"The one for {call.arguments['name']} is set for {at}."
    return rng.choice(("No alarm is set.", f"Your alarm is set for {at}.", f"There is one alarm, at {at}."))


def _any_state(rng: random.Random, call: Call) -> str:
    if call.arguments.get("domain") == "person":
        return rng.choice(("home", "away"))
    if call.arguments.get("domain") == "sensor" or call.arguments.get("name") in READINGS:
        return str(rng.randint(1, 90))
    return rng.choice(("on", "off"))


def _state_told(rng: random.Random, call: Call) -> str:
    slots = call.arguments
    state = _said_state(call, str(slots.get("state") or _any_state(rng, call)))
    things = _things(call)
    if "name" in slots:
        if "state" not in slots:
            return f"{things[0].upper()}{things[1:]} is {state}."
        other = _OPPOSITES.get(state, f"not {state}")
        return rng.choice((f"Yes, {things} is {state}.", f"No, {things} is {other}."))
    count, noun = rng.randint(2, 6), _noun(call)
    if "state" not in slots:
        return f"Of {count} {noun}, 1 is {state}."
    return rng.choice(
        (
            f"All {count} {noun} are {state}.",
            f"No, none of the {count} {noun} is {state}.",
            f"1 of {count} {noun} is {state}.",
        )
    )


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


_MONTHS = ("January", "March", "April", "June", "July", "September", "October", "December")


def told_as_data(rng: random.Random, call: Call) -> tuple[str, str]:
    slots = call.arguments
    if call.tool == "climate_get_temperature" or call.tool == "get_weather":
        warmth = number(rng.randint(20, 56) / 2)
        return f'{{"temperature": {warmth}}}', f"It is {warmth} degrees."
    if call.tool == "get_current_time":
        hour, minute = rng.randint(0, 23), rng.randint(10, 59)
        return (
            f'{{"time": "{hour:02d}:{minute}"}}',
            f"It is {hour % 12 or 12}:{minute} {'am' if hour < 12 else 'pm'}.",
        )
    if call.tool == "alarm_status":
        hour = rng.randint(5, 11)
        return f'{{"alarms": ["{hour:02d}:30"]}}', f"There is one alarm, at {hour}:30."
    if call.tool == "timer_status":
        minutes = rng.randint(2, 50)
        return f'{{"minutes_left": {minutes}}}', f"{minutes} minutes are left."
    if "name" in slots:
        state = _said_state(call, str(slots.get("state") or _any_state(rng, call)))
        thing = _things(call)
        return f'{{"state": "{state}"}}', f"{thing[0].upper()}{thing[1:]} is {state}."
    count = rng.randint(2, 9)
    return f'{{"count": {count}}}', f"There are {count}."


_DONE = ("Done.", "OK.", "All right.", "Okay, done.", "It is done.")
