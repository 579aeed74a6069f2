"""Says what was asked and done before: "I turned on the desk lamp and added eggs to the shopping list." """

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from edgevox.core.languages import counted, listed
from edgevox.core.types import Message
from edgevox.core.words import past_tense
from edgevox.home.alarms.time_phrasing import moment_phrase
from edgevox.home.intents.call_phrases import call_phrase
from edgevox.home.phrasing import brief, sentence, the
from edgevox.home.references.effects import Effect, TurnEffects

_MAX_NAMED = 3
_MAX_ACTIONS = 4


def what_was_asked(past: Sequence[Message]) -> str:
    """The answer to "what did I just ask?"."""
    asked = next((message.content for message in reversed(past) if message.role == "user"), "")
    return f"You said: “{brief(asked)}”." if asked else "You have not asked me anything yet."


def what_was_said(past: Sequence[Message]) -> str:
    """The answer to "say that again"."""
    said = (message.content for message in reversed(past) if message.role == "assistant" and message.content)
    return next(said, "") or "I have not said anything yet."


def what_was_done_last(turns: Sequence[TurnEffects], verb: str) -> str:
    """The last action with this verb in the past tense ("turned off"); "" if there was none."""
    for turn in reversed(turns):
        if found := [effect for effect in turn.done if _action(effect).startswith(verb)]:
            return _actions(found)
    return ""


def what_was_done(turns: Sequence[TurnEffects]) -> str:
    """The answer to "what did you just do?"."""
    with_calls = [turn for turn in turns if turn.effects]
    if not with_calls:
        return "I have not done anything yet."
    last = with_calls[-1]
    sentences = [_actions(last.done)] if last.done else []
    sentences += [f"One thing did not work: {effect.sentence}" for effect in last.effects if _has_failed(effect)]
    if sentences:
        return " ".join(sentences)
    earlier = next((turn for turn in reversed(with_calls) if turn.done), None)
    answered = "I only answered a question."
    return f"{answered} Before that, {_actions(earlier.done)}" if earlier else answered


def what_was_done_today(turns: Sequence[TurnEffects], now: datetime, started: datetime) -> str:
    """The answer to "what have you done today?"."""
    midnight_s = now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    today = [turn for turn in turns if turn.at_s >= midnight_s]
    actions = [effect for turn in today for effect in turn.done]
    failed = sum(_has_failed(effect) for turn in today for effect in turn.effects)
    since = "" if started.timestamp() < midnight_s else f" since I was started at {moment_phrase(started, now)}"
    if not actions:
        sentences = [f"I have done nothing yet today{since}."]
    elif len(actions) <= _MAX_ACTIONS:
        sentences = [_actions(actions)]
    else:
        last = _actions(actions[-_MAX_NAMED:])
        sentences = [f"I have done {len(actions)} things today{since}. Most recently {last}"]
    if failed:
        sentences.append(sentence(f"{counted(failed, 'request')} did not work"))
    return " ".join(sentences)


def _has_failed(effect: Effect) -> bool:
    return effect.is_action and not effect.is_done


def _actions(effects: Sequence[Effect]) -> str:
    return f"I {listed(list(dict.fromkeys(map(_action, effects))), 'and')}."


_TIMER_ACTIONS = {
    "increase_timer": "added time to a timer",
    "decrease_timer": "took time off a timer",
    "cancel_timer": "cancelled a timer",
    "cancel_all_timers": "cancelled all timers",
    "pause_timer": "paused a timer",
    "unpause_timer": "resumed a timer",
    "cancel_alarm": "cancelled an alarm or reminder",
    "nevermind": "left it",
}


def _action(effect: Effect) -> str:
    """The action in the past tense: "turned on the desk lamp"."""
    tool = effect.call.name
    phrase = past_tense(call_phrase(tool, effect.arguments, effect.entities, name=the)) or tool.replace("_", " ")
    return _TIMER_ACTIONS.get(tool) or phrase[:1].lower() + phrase[1:]
