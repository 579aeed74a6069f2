"""The confirmation policy, pending confirmations, and scopes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from edgevox.core.errors import ToolDenied
from edgevox.core.types import JsonObject, ToolCall
from edgevox.tools import (
    LOCAL,
    Caller,
    ConfirmationPolicy,
    ConfirmLevel,
    PendingConfirmations,
    Resolution,
    Target,
    Tool,
)
from edgevox.tools.calls import resolve_call
from edgevox.tools.policy import confirmation_question_for


@pytest.mark.parametrize(
    ("scopes", "scope", "may"),
    [
        ({"read"}, "read", True),
        ({"read"}, "act", False),
        ({"*"}, "home.locks", True),
        ({"home.*"}, "home.locks", True),
        ({"home.*"}, "home.locks.front", True),
        ({"home.*"}, "home", False),
        ({"home.locks"}, "home.lights", False),
        ({"home"}, "home.locks", False),
        ({"home*"}, "homely", False),
        (set(), "read", False),
    ],
)
def test_a_scope_covers_what_it_names(scopes: set[str], scope: str, may: bool) -> None:
    assert Caller("a", frozenset(scopes)).may(scope) == may


def test_the_local_speaker_has_all_scopes() -> None:
    assert LOCAL.may("act")
    assert LOCAL.may("confirm")


ANY = {"type": "object", "additionalProperties": True}


def level_of(rule: ConfirmationPolicy, tool: Tool, arguments: JsonObject) -> ConfirmLevel:
    resolution = resolve_call(ToolCall("1", tool.name, json.dumps(arguments)), tool).resolution
    assert isinstance(resolution, Resolution)
    return rule.level(tool, resolution.targets)


def made(name: str = "turn_on", **options: Any) -> Tool:
    return Tool(**{"name": name, "description": "Acts.", "parameters": ANY, "side_effects": True, **options})


@pytest.mark.parametrize(
    ("target", "level"),
    [
        (Target("lock"), "voice"),
        (Target("alarm_control_panel"), "voice"),
        (Target("cover", "garage"), "voice"),
        (Target("cover", "door"), "voice"),
        (Target("cover", "gate"), "voice"),
        (Target("cover", "blind"), "never"),
        (Target("cover"), "never"),
        (Target("light"), "never"),
        (Target("switch", "outlet"), "never"),
        (Target("media_player"), "never"),
        (Target("switch", name="Garage door"), "voice"),
        (Target("switch", name="garage door light"), "never"),
        (Target("light", name="front door"), "never"),
        (Target("script", name="Unlock everything"), "voice"),
        (Target("scene", name="open the gate and the blinds"), "voice"),
        (Target("scene", name="movie night"), "never"),
    ],
)
def test_the_thing_that_is_touched_decides(target: Target, level: ConfirmLevel) -> None:
    tool = made(targets=lambda _arguments: [Target("light"), target])
    assert level_of(ConfirmationPolicy(), tool, {}) == level


@pytest.mark.parametrize(
    ("arguments", "level"),
    [
        ({"domain": "lock"}, "voice"),
        ({"domain": ["light", "lock"]}, "voice"),
        ({"domain": "cover", "device_class": "garage"}, "voice"),
        ({"device_class": ["gate"]}, "voice"),
        ({"name": "the front door"}, "voice"),
        ({"name": "Garage"}, "voice"),
        ({"name": "front door light"}, "never"),
        ({"name": "kitchen"}, "never"),
        ({"domain": "light"}, "never"),
        ({"domain": 3, "name": None}, "never"),
        ({}, "never"),
    ],
)
def test_without_targets_the_arguments_decide(arguments: dict[str, Any], level: ConfirmLevel) -> None:
    assert level_of(ConfirmationPolicy(), made(), arguments) == level


@pytest.mark.parametrize(
    "name",
    ["buy_tickets", "delete_file", "send_message", "post_update", "unlock_car", "disarm_alarm", "pay", "unlockDoor"],
)
def test_buying_deleting_telling_others_and_opening_need_a_yes(name: str) -> None:
    assert level_of(ConfirmationPolicy(), made(name), {}) == "voice"
    assert level_of(ConfirmationPolicy(), made(name, side_effects=False), {}) == "never"
    assert level_of(ConfirmationPolicy(), made(name, confirm="never"), {}) == "never"


def test_market_post_requires_confirmation() -> None:
    assert level_of(ConfirmationPolicy(), made("market_post"), {"text": "one bicycle, hardly used"}) == "voice"


def test_the_author_can_ask_for_more_but_not_for_less_than_safety() -> None:
    rule = ConfirmationPolicy()
    assert level_of(rule, made(confirm="screen"), {}) == "screen"
    assert level_of(rule, made(side_effects=False, confirm="voice"), {}) == "voice"
    assert level_of(rule, made(confirm="never"), {"domain": "lock"}) == "voice"


def test_settings_go_before_everything() -> None:
    locks = made(targets=lambda _arguments: [Target("lock")])
    garage = made(targets=lambda _arguments: [Target("cover", "garage")])
    assert level_of(ConfirmationPolicy(tools={"turn_on": "never"}), locks, {}) == "never"
    assert level_of(ConfirmationPolicy(domains={"lock": "never"}), locks, {}) == "never"
    assert level_of(ConfirmationPolicy(domains={"lock": "screen"}), locks, {}) == "screen"
    assert level_of(ConfirmationPolicy(domains={"cover": "never"}), garage, {}) == "voice"
    assert level_of(ConfirmationPolicy(domains={"cover": "screen"}), garage, {}) == "screen"
    assert level_of(ConfirmationPolicy(domains={"cover.garage": "never"}), garage, {}) == "never"


def test_settings_can_ask_for_a_yes_to_every_side_effect() -> None:
    rule = ConfirmationPolicy(otherwise="voice")
    assert level_of(rule, made(), {"domain": "light"}) == "voice"
    assert level_of(rule, made(side_effects=False), {}) == "never"


def test_the_question_is_the_tools_own_or_made_of_the_call() -> None:
    asks = made(question=lambda arguments: f"Unlock the {arguments['name']} door?")
    assert confirmation_question_for(asks, Resolution({"name": "front"})) == "Unlock the front door?"
    assert confirmation_question_for(made(), Resolution({"name": "lamp", "on": True, "level": 3, "rest": None})) == (
        "Shall I turn on: lamp, on, level 3?"
    )
    assert confirmation_question_for(made(), Resolution({})) == "Shall I turn on?"


def test_a_value_cannot_put_words_into_the_question() -> None:
    asked = confirmation_question_for(made(), Resolution({"name": "lamp? It is safe. Just say yes! " + "x" * 500}))
    assert asked.startswith("Shall I turn on: lamp It is safe Just say yes xxx")
    assert asked.count("?") == 1
    assert len(asked) < 100


class Waiting:
    """Pending confirmations of one call, with a clock of the test's own."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.all = PendingConfirmations(within_s=30, clock=lambda: self.now_s)

    def ask(self, level: ConfirmLevel = "voice", origin: Caller = LOCAL, **arguments: Any) -> str:
        resolved = resolve_call(call(**arguments), made())
        return self.all.ask(resolved, question="?", level=level, origin=origin).token


def call(name: str = "turn_on", /, **arguments: Any) -> ToolCall:
    return ToolCall("c1", name, json.dumps(arguments))


def test_a_yes_fits_the_call_as_given_and_as_normalised() -> None:
    tool = made(resolve=lambda arguments: Resolution({"name": arguments["name"].strip()}))
    for confirmed in (call(name=" front "), call(name="front")):
        waiting = Waiting()
        pending = waiting.all.ask(resolve_call(call(name=" front "), tool), question="?", level="voice", origin=LOCAL)
        assert waiting.all.take(pending.token, confirmed, by=LOCAL, channel="voice") is pending


@pytest.mark.parametrize(
    "other", [call(name="back"), call(), call("turn_off", name="front"), call(name=1)], ids=lambda call: str(call)
)
def test_a_yes_for_another_call_is_used_up_and_does_nothing(other: ToolCall) -> None:
    waiting = Waiting()
    token = waiting.ask(name="front")
    with pytest.raises(ToolDenied, match="not the one"):
        waiting.all.take(token, other, by=LOCAL, channel="voice")
    with pytest.raises(ToolDenied, match="nothing is waiting"):
        waiting.all.take(token, call(name="front"), by=LOCAL, channel="voice")


def test_who_may_not_confirm_does_not_use_it_up() -> None:
    waiting = Waiting()
    phone = Caller("api:phone", frozenset({"*"}))
    token = waiting.ask(level="screen", origin=phone)
    for by, channel, words in (
        (phone, "api", "cannot confirm its own call"),
        (Caller("api:guest"), "api", "may not confirm"),
        (LOCAL, "voice", "more than a spoken yes"),
    ):
        with pytest.raises(ToolDenied, match=words):
            waiting.all.take(token, call(), by=by, channel=channel)  # type: ignore[arg-type]
    waiting.all.take(token, call(), by=LOCAL, channel="keyboard")


def test_what_waits_is_bounded_and_forgotten() -> None:
    waiting = Waiting()
    tokens = [waiting.ask(name=str(n)) for n in range(100)]
    assert len(waiting.all) == 32
    with pytest.raises(ToolDenied, match="nothing is waiting"):
        waiting.all.take(tokens[0], call(name="0"), by=LOCAL, channel="voice")
    waiting.now_s = 31.0
    waiting.ask(name="new")
    assert len(waiting.all) == 1


def test_tokens_cannot_be_guessed() -> None:
    waiting = Waiting()
    tokens = {waiting.ask(name="front") for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) >= 20 for token in tokens)
