"""Reads requests for numbers, humidifiers, water heaters and buttons, and questions about the history of a state."""

from __future__ import annotations

from edgevox.core.words import number_value
from edgevox.home.entities import Entities, House
from edgevox.home.grammar import NUMBER, Calls, found, pattern, tool_call, without_article
from edgevox.home.phrasing import knows_state
from edgevox.home.resolve.labels import name_with_state

_VALUE_DOMAINS = frozenset({"number", "input_number", "humidifier", "water_heater"})
_SET = pattern(
    rf"^(?:set|put|turn|change|make|raise|lower) (?P<target>.+?) (?:to|at) (?P<value>{NUMBER})"
    r"(?: ?(?P<unit>%|percent|°|degrees?|degrees? (?:celsius|fahrenheit)|[a-zµ°/%]{1,10}))?$"
)
_PRESS = pattern(r"^(?:press|push|hit|trigger) (?P<target>.+?)$")
_BUTTONS = frozenset({"button", "input_button"})


def parse(text: str, house: House) -> Calls:
    """The calls of a request, or none."""
    return _pressed(text, house) or _number(text, house) or _history(text, house)


def _pressed(text: str, house: House) -> Calls:
    if said := _PRESS.match(text):
        whole = without_article(said["target"])
        for name in (whole, whole.removesuffix(" button")):
            buttons = found("turn_on", house, name=name)
            if buttons and all(entity.domain in _BUTTONS for entity in buttons):
                return (tool_call("turn_on", name=name),)
    return ()


def _number(text: str, house: House) -> Calls:
    if not any(entity.domain in _VALUE_DOMAINS for entity in house.entities) or not (said := _SET.match(text)):
        return ()
    value = number_value(said["value"])
    name = without_article(said["target"])
    if value is None:
        return ()
    plain: float = int(value) if value.is_integer() else value
    if len(found("set_number", house, name=name)) == 1:
        return (tool_call("set_number", name=name, value=plain),)
    bare = name.removesuffix(" humidity")
    heaters = found("climate_set_temperature", house, name=name)
    # "The living room to 22 degrees" is for its heating, whatever else is there.
    is_warmth = bool(said["unit"]) and said["unit"].casefold().startswith(("degree", "°"))
    is_humid = not is_warmth and (bool(said["unit"]) or bare != name or not heaters)
    if is_humid and plain <= 100 and found("humidifier_set_humidity", house, name=bare):
        return (tool_call("humidifier_set_humidity", name=bare, humidity=round(plain)),)
    if heaters and all(entity.domain == "water_heater" for entity in heaters):
        return (tool_call("climate_set_temperature", name=name, temperature=plain),)
    return ()


# --- "when was the front door last opened?", "how long has the window been open?"

_TURNED = r"(?:(?:turned|switched|put|set) )?"
_STATE = rf"{_TURNED}(?P<state>[\w-]+)"
_DID = {"open": "open", "close": "closed", "lock": "locked", "unlock": "unlocked", "go on": "on", "go off": "off"}
_LAST = (
    pattern(rf"^when (?:was|were) (?P<target>.+?) (?:last|most recently) {_STATE}$"),
    pattern(rf"^when (?:was|were) (?P<target>.+?) {_STATE}(?: last| the last time| most recently)?$"),
    pattern(rf"^when was the last time (?:that )?(?P<target>.+?) (?:was|were|got) {_STATE}$"),
    pattern(r"^when did (?:somebody|someone|anybody|anyone|we|i) last (?P<did>open|close|lock|unlock) (?P<target>.+)$"),
    pattern(rf"^when did (?P<target>.+?) last (?P<did>{'|'.join(_DID)})$"),
)
_HOW_LONG = (
    pattern(rf"^how long (?:has|have) (?P<target>.+?) been {_STATE}(?: for| now| already)?$"),
    pattern(rf"^(?:since when|for how long) (?:is|are|has|have) (?P<target>.+?) (?:been )?{_STATE}$"),
)


def _history(text: str, house: House) -> Calls:
    for forms, since in ((_LAST, "last"), (_HOW_LONG, "how_long")):
        for form in forms:
            if not (said := form.match(text)):
                continue
            parts = said.groupdict()
            did = (parts.get("did") or "").casefold()
            state, name = parts.get("state") or _DID[did], without_article(said["target"])
            name = name_with_state(house, name, state)
            if any(knows_state(entity, state) for entity in _targets(name, house)):
                return (tool_call("get_history", name=name, state=state.casefold(), since=since),)
    return ()


def _targets(name: str, house: House) -> Entities:
    return found("get_history", house, name=name)
