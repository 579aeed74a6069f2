"""Reads questions about the weather to come."""

from __future__ import annotations

from datetime import date

from edgevox.core.words import WEEKDAYS
from edgevox.home.entities import House
from edgevox.home.grammar import Calls, found, pattern, tool_call
from edgevox.home.intents.weather_handlers import parse_period
from edgevox.home.resolve.labels import find_place

_DAY = (
    rf"(?:(?:on |for |this |next |over |during |later |the )*(?:(?:{'|'.join(WEEKDAYS)})|tomorrow|tonight|today"
    r"|weekend|week|"
    r"evening|afternoon|morning|night|day after tomorrow|next few days|coming days|rest of the day)"
    r"(?:'s)?(?: (?:morning|afternoon|evening|night))?|in (?:\w+) days)"
)
_DAYS = pattern(rf"\b{_DAY}\b")
_IS_QUESTION = pattern(
    r"^(?:what|what's|whats|how|how's|is|are|will|do|does|should|tell(?: me)?|give me|show me|read me|can|could|any"
    r"|when)\b|^(?:weather|forecast)\b|\bforecast$"
)
_WHEN = pattern(r"^(?:when|how soon)\b")
_LATER = pattern(r"\b(?:will|going to|gonna|expected|forecast|chance|later|likely|supposed to)\b")
_WEATHER = pattern(r"\b(?:weather|forecast)\b")
_ABOUT = (
    ("rain", pattern(r"\b(?:rain(?:ing|y|s|coat)?|umbrella|drizzle|pour|wet outside|stay dry)\b")),
    ("snow", pattern(r"\bsnow(?:ing|y|s)?\b")),
    ("wind", pattern(r"\bwind(?:y)?\b")),
    ("sun", pattern(r"\b(?:sunny|sunshine|sun shine|sun be out|sun ?glass(?:es)?|sunscreen|sun ?cream|sun ?hat)\b")),
    (
        "temperature",
        pattern(
            r"\b(?:temperatures?|how (?:warm|hot|cold|cool|chilly)|(?:be|get|is it) (?:\w+ )?(?:warm|hot|cold"
            r"|cool|chilly|freezing|freeze|frost)\w*|"
            r"degrees|(?:need|wear|take|bring) (?:a |my )?(?:jacket|coat|sweater|jumper))\b"
        ),
    ),
    ("weather", _WEATHER),
)
_NEEDS = pattern(
    r"^(?:do|should|will) (?:i|we) (?:need|take|bring|wear|pack) (?:to (?:take|bring|wear|pack) )?(?:an? |my |the"
    r" )?(?:umbrella|raincoat|rain coat|coat|jacket|sunscreen|sunglasses)\b"
)
_GLASSES = pattern(r"\b(?:sun ?glass(?:es)?|sunscreen|sun ?cream|sun ?hat|parasol|shades)\b")
_OTHER_SUBJECT = pattern(
    r"\b(?:remind|alarm|timer|list|thermostat|heating|oven|fridge|freezer|water|lights?|room|bedroom|kitchen"
    r"|inside|indoors|"
    r"fan|ac|window|news|email|calendar|meeting|event|pool|set|turn|switch|forget|why|yesterday|last|was|were"
    r"|cook|bake|roast|boil|tell me to|because)\b"
)
# A place after "in" or "for", unless it is a time or this home.
_PLACE = pattern(
    r"\b(?:in|at|for) (?!(?:the|an?|my|our|this|that|next|coming|here|me|us|our|today|tomorrow|tonight|\w+ "
    r"(?:days?|hours?|minutes?))\b)"
    r"(?P<place>[a-z][a-z' ]+?)(?= (?:today|tomorrow|tonight|this|on|next|right|now|currently|at|for|in|look|like"
    r"|be|is)\b|$)"
)
_NO_PLACE = pattern(
    rf"\b(?:{_DAY}|home|house|outside|outdoors|area|town|city|noon|midnight|midday|hours?|month|evening)\b"
)

NOT_HERE = "I only have the weather for this home."


def parse(text: str, house: House, today: date) -> Calls:
    """The calls of a question, or none: the weather of this moment is left to the model."""
    if not any(entity.domain == "weather" for entity in house.entities) or not _IS_QUESTION.search(text):
        return ()
    if _OTHER_SUBJECT.search(text):
        return ()
    about = next((name for name, words in _ABOUT if words.search(text)), None)
    if about is None:
        return ()
    day = _DAYS.search(text)
    said = day[0] if day else "this week" if _WHEN.match(text) else "today"
    period = parse_period(said, today)
    if period is None:
        return ()
    if about == "sun" and period.words == "today" and _GLASSES.search(text):
        return (tool_call("get_weather"),)
    # The model asks for the weather, which tells of today too.
    is_later = _LATER.search(text) is not None and about != "weather"
    if period.words == "today" and not (is_later or (about == "rain" and _NEEDS.match(text))):
        return ()
    return (tool_call("get_forecast", day=said, about=about),)


def asks_about_elsewhere(text: str, house: House, today: date) -> bool:
    """Whether a question is about the weather of another place."""
    is_weather = _WEATHER.search(text) is not None and _IS_QUESTION.search(text) and not _OTHER_SUBJECT.search(text)
    if not (is_weather or parse(text, house, today)):
        return False
    return any(
        not (_NO_PLACE.search(place) or find_place(house, place) or found("get_weather", house, name=place))
        for place in (said["place"] for said in _PLACE.finditer(text))
    )
