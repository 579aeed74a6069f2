"""Reads requests for modes: of thermostats, alarm panels and selectors, named fan speeds, and warm or cold white."""

from __future__ import annotations

from edgevox.home.entities import House
from edgevox.home.grammar import Calls, found, pattern, tool_call, without_article
from edgevox.home.intents.handlers import option_called
from edgevox.home.intents.quantities import STEP
from edgevox.home.intents.resolution import mode_called

_SET = r"(?:set|switch|put|turn|change|make|move|place)"
_MODE = (
    r"(?P<mode>heat(?:ing)?|cool(?:ing)?|auto(?:matic)?|dry|fan only|fan|off|eco|economy|away|home|sleep|comfort|boost|"
    r"energy sav(?:ing|er)|heat cool|night|vacation|activity)"
)
_CLIMATE = (
    pattern(rf"^{_SET} (?P<target>.+?)(?: mode)? (?:to|on|onto|in|into) {_MODE}(?: mode)?$"),
    pattern(rf"^(?:switch|change|go|turn)(?: over)? (?:to|into|on) {_MODE} mode$"),
    pattern(rf"^(?:set|turn on|activate|enable|use) {_MODE} mode(?: (?:on|for|in) (?P<target>.+))?$"),
    pattern(
        r"^(?P<target>(?:the )?(?:thermostat|heating|heater|air ?con(?:ditioner|ditioning)?|ac|climate)) (?:to"
        rf"|on) {_MODE}(?: mode)?$"
    ),
)
_SELECT = pattern(rf"^(?:{_SET} )(?P<target>.+?) (?:to|on|as) (?P<option>.+?)(?: mode)?$")
_FAN_SPEEDS = {
    "lowest": 10, "minimum": 10, "min": 10, "low": 33, "slow": 33, "medium": 67, "mid": 67, "middle": 67, "half": 50,
    "high": 100, "fast": 100, "highest": 100, "max": 100, "maximum": 100, "full": 100,
}  # fmt: skip
_FAN = (
    pattern(
        rf"^(?:{_SET} |run )?(?P<target>(?:the |my )?(?:[\w' -]+ )?(?:fans?|ventilator))(?: speed)?(?: (?:to|on|at"
        r"|on to))+ "
        rf"(?:the )?(?P<speed>{'|'.join(_FAN_SPEEDS)})(?: speed| setting)?(?P<place> (?:in|on) .+)?$"
    ),
)
_WHITES = {
    "candle ?light": "candlelight", "warm(?: white)?": "warm white", "cool(?: white)?": "cool white",
    "cold(?: white)?": "cold white", "neutral(?: white)?": "neutral white", "day ?light": "daylight",
    "soft white": "soft white",
}  # fmt: skip
_WHITE = rf"(?P<white>{'|'.join(_WHITES)})"
_LIGHTS = r"(?P<target>(?:the |my |all the |all )?(?:[\w' -]+ )?(?:lights?|lamps?|bulbs?|lighting))"
_LIGHT = (
    pattern(rf"^(?:{_SET} )?{_LIGHTS} (?:to )?(?:a )?{_WHITE}(?: light)?(?P<place> in .+)?$"),
    pattern(
        r"^(?:i want |give me |put on |turn on )?(?:some |a )?(?P<white>candle ?light|warm white|cool white|cold"
        r" white|neutral white|daylight)(?: light)?(?P<place> in .+)$"
    ),
)
_TONE = (
    r"(?P<amount>(?:a (?:little|bit|little bit|touch)|slightly|much|a lot) )?(?P<tone>warmer|cooler|colder|less"
    r" cold|less warm|more yellow|more blue|bluer)"
)
_LIGHT_TONE = (
    pattern(rf"^(?:{_SET} )?{_LIGHTS} {_TONE}(?P<place> in .+)?$"),
    pattern(rf"^(?:i want |give me |i need )?(?:a )?{_TONE} light(?:ing)?(?P<place> in .+)?$"),
    pattern(rf"^(?:{_SET} )?(?:the )?colou?r temperature(?: of (?P<target>.+?))? {_TONE}(?P<place> in .+)?$"),
)
_COLDER = ("cooler", "colder", "less warm", "more blue", "bluer")
_STEPS_KELVIN = {"small": 300, "": 700, "large": 1500}
_PANEL = (
    r"(?:the |my |our )?(?:(?:burglar|house|home|security|intruder) )?(?:alarm(?: (?:system|panel))?|security(?:"
    r" system)?|house)"
)
_WAY = r"(?P<mode>away|home|stay|night|sleep|vacation|holiday)"
_CODE = r"(?:,? (?:with |using )?(?:the )?(?:code|pin)(?: is)? (?P<code>[\d -]{3,15}))?"
_ARM = (
    pattern(rf"^arm (?P<panel>{_PANEL})(?: (?:to|in|for|as|on)(?: the)? {_WAY}(?: mode)?)?{_CODE}$"),
    pattern(rf"^arm {_WAY}(?: mode)?{_CODE}$"),
    pattern(rf"^(?:set|switch|put|turn) {_PANEL} (?:to|in|into|on) (?:armed )?{_WAY}(?: mode)?{_CODE}$"),
)
_DISARM = pattern(rf"^(?:disarm|turn off|switch off|deactivate) {_PANEL}{_CODE}$")


def parse(text: str, house: House) -> Calls:
    """The calls of a request, or none."""
    return (
        _alarm(text, house) or _fan(text, house) or _light(text, house) or _select(text, house) or _climate(text, house)
    )


def _climate(text: str, house: House) -> Calls:
    for form in _CLIMATE:
        if not (said := form.match(text)):
            continue
        target, mode = said.groupdict().get("target"), said["mode"]
        slots = {"name": without_article(target)} if target else {}
        thermostats = found("climate_set_mode", house, **slots)
        if not thermostats or (target and not all(_has_name(house, target, entity.id) for entity in thermostats)):
            continue
        has_mode = any(
            mode_called(mode, (*one.attributes.get("modes", ()), *one.attributes.get("presets", ())))
            for one in thermostats
        )
        # With a name, a mode that it does not have is answered; without one, the request may mean something else.
        if has_mode or target:
            return (tool_call("climate_set_mode", **slots, mode=mode),)
    return ()


def _has_name(house: House, said: str, entity_id: str) -> bool:
    """Whether a name means this thermostat and nothing else that can be switched."""
    return {entity.id for entity in found("turn_on", house, name=without_article(said))} <= {entity_id}


def _select(text: str, house: House) -> Calls:
    if not any(entity.domain in ("select", "input_select") for entity in house.entities):
        return ()
    if said := _SELECT.match(text):
        name = without_article(said["target"])
        selectors = found("select_option", house, name=name)
        if len(selectors) == 1:
            options = [str(option) for option in selectors[0].attributes.get("options", ())]
            for option in (said["option"], f"{said['option']} mode"):
                if option_called(option, options):
                    return (tool_call("select_option", name=name, option=option),)
    return ()


def _fan(text: str, house: House) -> Calls:
    for form in _FAN:
        if said := form.match(text):
            name = f"{without_article(said['target'])}{said['place'] or ''}"
            if found("fan_set_speed", house, name=name):
                return (tool_call("fan_set_speed", name=name, percentage=_FAN_SPEEDS[said["speed"].casefold()]),)
    return ()


def _light(text: str, house: House) -> Calls:
    for form in _LIGHT_TONE:
        if said := form.match(text):
            slots = _lights(said.groupdict(), house)
            if slots is None:
                return ()
            amount = (said["amount"] or "").strip()
            size = "" if not amount else "large" if amount in ("much", "a lot") else "small"
            step = _STEPS_KELVIN[size] * (1 if said["tone"].casefold() in _COLDER else -1)
            return (tool_call("light_set_temperature", **slots, **{STEP: step}),)
    for form in _LIGHT:
        if said := form.match(text):
            slots = _lights(said.groupdict(), house)
            words = said["white"].casefold()
            white = next(name for spoken, name in _WHITES.items() if pattern(spoken).fullmatch(words))
            return () if slots is None else (tool_call("light_set", **slots, color=white),)
    return ()


def _lights(parts: dict[str, str | None], house: House) -> dict[str, str] | None:
    """The slots for the lights that are meant; without a name those that are on. None if the home has none."""
    name = without_article(f"{without_article(parts.get('target') or 'lights')}{parts.get('place') or ''}")
    lights = found("light_set", house, name=name)
    if not lights:
        return None
    lit = [light for light in lights if light.state == "on"]
    if name.casefold() in ("light", "lights") and len(lit) == 1:
        return {"name": lit[0].name}
    return {"name": name}


def _alarm(text: str, house: House) -> Calls:
    if not any(entity.domain == "alarm_control_panel" for entity in house.entities):
        return ()
    for form in _ARM:
        if said := form.match(text):
            parts = said.groupdict()
            if parts.get("mode") is None and parts.get("code") is None:
                return ()  # the model turns it on
            mode = mode_called(parts.get("mode") or "away", ("away", "home", "night", "vacation")) or "away"
            return (tool_call("alarm_set_mode", mode=mode, **_code(parts.get("code"))),)
    if (said := _DISARM.match(text)) and said["code"]:
        return (tool_call("alarm_set_mode", mode="disarmed", **_code(said["code"])),)
    return ()


def _code(said: str | None) -> dict[str, str]:
    digits = "".join(letter for letter in said or "" if letter.isdigit())
    return {"code": digits} if digits else {}
