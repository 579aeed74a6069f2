"""Resolves references to earlier turns: pronouns, "too", corrections, undo, answers to which-questions.

Where the sentence and the last effects determine the calls, they are made without the model. Otherwise the model
reads the sentence with names in place of the pronouns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar, assert_never

from edgevox.core.errors import StateError
from edgevox.core.hooks import Answer, Calls, Hook, Run, ToolOutcome
from edgevox.core.languages import ENGLISH, listed, say
from edgevox.core.types import ChatRequest, Message, ToolCall
from edgevox.home.alarms.alarms import Alarms
from edgevox.home.alarms.timers import Timers
from edgevox.home.entities import Entities, HomeError, House
from edgevox.home.intents.catalogue import catalogue
from edgevox.home.intents.resolution import ResolvedIntent
from edgevox.home.phrasing import is_are, is_in_state, sentence, the
from edgevox.home.references import forms
from edgevox.home.references.calls import call_on, corrected_clock, further, scaled_call, value_call, values_of
from edgevox.home.references.effects import REFERENCES, Effect, EffectLog, ReferenceNote, TurnEffects
from edgevox.home.references.form_parser import is_relative, parse_form, with_name
from edgevox.home.references.past import (
    what_was_asked,
    what_was_done,
    what_was_done_last,
    what_was_done_today,
    what_was_said,
)
from edgevox.home.references.targets import (
    Choice,
    choose,
    entities_of,
    is_other,
    mentioned,
    names_something,
    others_than,
    parse_choice,
    removed_item,
    retarget,
    toggled,
    with_item,
)
from edgevox.home.references.undo import reverse
from edgevox.home.resolve.fuzzy import is_plural
from edgevox.tools.executor import ToolExecutor

_REFERS_WITHIN_S = 15 * 60.0
_UNDO_WITHIN_S = 60 * 60.0
_MAX_TURNS_BACK = 4
_MAX_NAMED = 4

_ALL_RIGHT = "All right."

# The tool of a verb, and the domains that it can mean. "Turn it off" must not unlock a door.
_PLAIN = frozenset({"light", "switch", "fan", "media_player", "climate", "humidifier", "siren", "input_boolean"})
_COVERS = frozenset({"cover", "valve"})
_PLAYERS = frozenset({"media_player"})
_VERBS: dict[forms.Verb, tuple[str, frozenset[str]]] = {
    "on": ("turn_on", _PLAIN),
    "off": ("turn_off", _PLAIN),
    "open": ("turn_on", _COVERS),
    "close": ("turn_off", _COVERS),
    "lock": ("turn_on", frozenset({"lock"})),
    "unlock": ("turn_off", frozenset({"lock"})),
    "mute": ("media_player_mute", _PLAYERS),
    "unmute": ("media_player_unmute", _PLAYERS),
    "pause": ("media_pause", _PLAYERS),
    "resume": ("media_unpause", _PLAYERS),
    "dock": ("vacuum_return_to_base", frozenset({"vacuum", "lawn_mower"})),
    "toggle": ("turn_on", _PLAIN),
}
_STATES: dict[forms.Verb, str] = {
    "on": "on", "off": "off", "open": "open", "close": "closed", "lock": "locked", "unlock": "unlocked",
    "pause": "paused", "resume": "playing",
}  # fmt: skip
_ACTED_ON = _PLAIN | _COVERS | {"lock", "vacuum", "lawn_mower"}
# What can be brighter, warmer and so on.
_COMPARED = {
    "light": ("brighter", "dimmer", "darker", "up", "down"),
    "climate": ("warmer", "cooler", "hotter", "colder", "up", "down"),
    "fan": ("faster", "slower", "up", "down"),
    "media_player": ("louder", "quieter", "up", "down"),
    "cover": ("up", "down"),
}
_COMPARATIVES = frozenset(word for words in _COMPARED.values() for word in words)


class References(Hook):
    """Reads sentences that refer to earlier ones. It runs before the other hooks, which read the resolved text."""

    name: ClassVar[str] = REFERENCES
    priority: ClassVar[int] = 100

    def __init__(
        self, log: EffectLog, executor: ToolExecutor, house: Callable[[], House], timers: Timers, alarms: Alarms
    ) -> None:
        self._log = log
        self._executor = executor
        self._house = house
        self._timers = timers
        self._alarms = alarms

    async def on_run_start(self, run: Run) -> Answer | Calls | None:
        note = run.notes[self.name] = ReferenceNote(first_call=len(run.calls))
        of_turn = run.turn_notes.setdefault(self.name, [])  # one of each part, for the log of effects
        assert isinstance(of_turn, list)
        of_turn.append(note)
        try:
            return self._resolved(run, note)
        except (HomeError, StateError):
            return None  # the call of the model will say it

    async def before_llm(self, run: Run, request: ChatRequest) -> ChatRequest | None:
        note = self._note(run)
        if not note.heard:
            return None
        messages = tuple(
            replace(message, content=run.text) if message.role == "user" and message.content == note.heard else message
            for message in request.messages
        )
        return replace(request, messages=messages)

    async def before_tool(self, run: Run, call: ToolCall) -> ToolCall | None:
        """Name what a command for later is about: "it" would mean something else then."""
        if call.name != "start_timer" or "conversation_command" not in call.arguments:
            return None
        arguments = json.loads(call.arguments)
        command = str(arguments.get("conversation_command") or "")
        meant = mentioned(self._turns(run), _ACTED_ON, "them")
        if not meant or len(meant) > _MAX_NAMED:
            return None
        arguments["conversation_command"] = with_name(command, listed([the(one) for one in meant], "and"))
        return call.with_arguments(arguments)

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> Answer | None:
        note = self._note(run)
        if not note.addendum:
            return None
        addendum, note.addendum = note.addendum, ""
        return Answer(f"{outcome.sentence} {addendum}")

    # --- forms

    def _resolved(self, run: Run, note: ReferenceNote) -> Answer | Calls | None:
        form, choice = parse_form(run.text), parse_choice(run.text)
        turns = self._turns(run)
        if turns and (clock := corrected_clock(run.text, turns[-1], self._alarms)):
            return self._instead(turns[-1], [clock], note)
        if turns and (removal := removed_item(turns, run.text, self._house())):
            return Calls((removal,))
        if form is None and choice is None:
            return None
        if turns and turns[-1].choices and choice and (answer := self._chosen(turns[-1], choice)):
            return answer
        match form:
            case None:
                return None
            case forms.Undo():
                return self._undo(run, note)
            case forms.AskPast(about):
                return self._past(run, about)
            case forms.AskAction(verb):
                done = what_was_done_last(self._log.turns(run.client, within_s=_UNDO_WITHIN_S), verb)
                return Answer(done) if done else None
            case forms.Toggle(target):
                return _calls(toggled(target, self._house()))
            case forms.Switch() | forms.SetValue() | forms.Scale() if names_something(run.text, self._house()):
                return None  # "Somebody left the desk lamp on, turn it off"
            case form:
                return self._referring(form, run, turns, note) if turns else None

    def _referring(
        self, form: forms.Form, run: Run, turns: Sequence[TurnEffects], note: ReferenceNote
    ) -> Answer | Calls | None:
        match form:
            case forms.Repeat():
                return self._again(turns[-1], run.past())
            case forms.More(count, is_less):
                house = self._house()
                steps = [further(effect, house, count=count, is_less=is_less) for effect in turns[-1].actions]
                return _calls(filter(None, steps))
            case forms.Keep(verb, pronoun):
                return self._keep(turns, verb, pronoun, note)
            case forms.Refrain(verb, pronoun, is_again):
                return self._refrain(turns, verb, pronoun, note, is_again=is_again)
            case forms.Switch(verb, pronoun):
                tool, domains = _VERBS[verb]
                return self._switch(verb, tool, mentioned(turns, domains, pronoun))
            case forms.SetValue(value, pronoun):
                meant = mentioned(turns, _ACTED_ON, pronoun)
                call = value_call(value, meant, self._house()) if meant else None
                return Calls((call,)) if call else None
            case forms.Scale(factor, pronoun):
                meant = mentioned(turns, _ACTED_ON, pronoun)
                call = scaled_call(factor, meant, self._house()) if meant else None
                return Calls((call,)) if call else None
            case forms.Substitute():
                self._substitute(form, run, turns, note)
                return None
            case forms.Also(target) if is_other(target):
                return self._other(turns, None, note)
            case forms.Also(target):
                note.continues = True
                return _calls(self._retargeted(turns, target))
            case forms.Other(verb):
                return self._other(turns, verb, note)
            case forms.Correct(right):
                return self._correct(turns, right, note)
            case forms.Undo() | forms.AskPast() | forms.AskAction() | forms.Toggle():
                raise AssertionError(form)
            case _:
                assert_never(form)

    def _chosen(self, turn: TurnEffects, choice: Choice) -> Answer | Calls | None:
        if choice.is_none:
            return Answer(_ALL_RIGHT)
        house = self._house()
        chosen = choose(choice, turn.choices, house)
        asked = next((effect for effect in reversed(turn.effects) if effect.choices), None)
        if not chosen or asked is None:
            return None
        values = values_of(asked.arguments)
        if asked.call.name in _SINGLE_PLAYER and len(chosen) > 1:
            return Calls(tuple(call_on(asked.call.name, (one,), values, house) for one in chosen))
        return Calls((call_on(asked.call.name, chosen, values, house),))

    def _undo(self, run: Run, note: ReferenceNote) -> Answer | Calls:
        turns = self._log.turns(run.client, within_s=_UNDO_WITHIN_S)
        last = next((turn for turn in reversed(turns) if turn.actions), None)
        if last is None:
            return Answer(say("nothing_to_undo", run.reply_language))
        note.undone = (last,)
        reversal = reverse(last, self._house(), self._timers, self._alarms)
        problems = " ".join(reversal.problems)
        if problems and run.reply_language not in ("", ENGLISH):
            problems = say("not_all_undone", run.reply_language)
        if not reversal.calls:
            return Answer(problems or say("nothing_changed", run.reply_language))
        note.addendum, note.reversals = problems, len(reversal.calls)
        return Calls(reversal.calls)

    def _past(self, run: Run, about: forms.PastQuestion) -> Answer:
        match about:
            case "asked":
                return Answer(what_was_asked(run.past()))
            case "said":
                return Answer(what_was_said(run.past()))
            case "done":
                return Answer(what_was_done(self._log.turns(run.client, within_s=_UNDO_WITHIN_S) or self._turns(run)))
            case "today":
                now = self._alarms.now()
                started = now.fromtimestamp(self._log.started_s, now.tzinfo)
                return Answer(what_was_done_today(self._log.all_turns(), now, started))

    def _again(self, last: TurnEffects, past: Sequence[Message]) -> Calls | None:
        repeated = [effect for effect in last.meant if effect.is_action and effect.entities and not _writes(effect)]
        house = self._house()
        asked = next((message.content for message in reversed(past) if message.role == "user"), "")
        is_step = is_relative(asked)
        return _calls((further(effect, house) if is_step else None) or effect.call for effect in repeated)

    def _keep(
        self, turns: Sequence[TurnEffects], verb: forms.Verb | None, pronoun: forms.Pronoun, note: ReferenceNote
    ) -> Answer | Calls | None:
        """ "Keep it on": undoes the last turn if that turned it off; otherwise nothing is done."""
        if verb is None:
            return Answer(_ALL_RIGHT)
        meant = mentioned(turns, _VERBS[verb][1], pronoun)
        house, state = self._house(), _STATES.get(verb, "")
        now = tuple(filter(None, (house.entity(entity.id) for entity in meant)))
        if not now or not state:
            return None
        if all(is_in_state(entity, state) for entity in now):
            stays = "stay" if len(now) > 1 or is_plural(now[0].name) else "stays"
            return Answer(f"All right, {listed([the(one) for one in now[:_MAX_NAMED]], 'and')} {stays} {state}.")
        changed = {entity.id for effect in turns[-1].actions for entity in effect.entities}
        if changed >= {entity.id for entity in now} and all(is_in_state(entity, state) for entity in meant):
            return self._instead(turns[-1], [], note)
        return Answer(sentence(f"{the(now[0])} {is_are(now[0].name)} not {state}"))

    def _refrain(
        self,
        turns: Sequence[TurnEffects],
        verb: forms.Verb | None,
        pronoun: forms.Pronoun,
        note: ReferenceNote,
        *,
        is_again: bool,
    ) -> Answer | Calls | None:
        """ "Don't turn it off": undoes the last turn if that did it; otherwise nothing is done."""
        last = turns[-1]
        if any(_is_scheduling(effect) for effect in last.effects):
            return None  # the rule of scheduled commands may cancel it
        tools = {effect.call.name for effect in last.actions}
        is_meant = _VERBS[verb][0] in tools if verb else bool(tools)
        if is_meant and not is_again and (verb is None or mentioned((last,), _VERBS[verb][1], pronoun)):
            return self._instead(last, [], note)
        return Answer(_ALL_RIGHT)

    def _switch(self, verb: forms.Verb, tool: str, entities: Entities) -> Calls | None:
        if not entities:
            return None
        house = self._house()
        now = tuple(filter(None, (house.entity(entity.id) for entity in entities)))
        match verb:
            case "toggle":
                is_on = [entity for entity in now if entity.state != "off"]
                return _calls(
                    call_on(name, tuple(part), {}, house)
                    for name, part in (("turn_off", is_on), ("turn_on", [e for e in now if e not in is_on]))
                    if part
                )
            case "dock" if all(entity.domain == "lawn_mower" for entity in now):
                tool = "lawn_mower_dock"
        if tool in _SINGLE_PLAYER:
            return _calls(call_on(tool, (entity,), {}, house) for entity in now)
        return Calls((call_on(tool, now, {}, house),)) if now else None

    def _substitute(self, form: forms.Substitute, run: Run, turns: Sequence[TurnEffects], note: ReferenceNote) -> None:
        compared = _COMPARATIVES.intersection(form.after.split())
        domains = frozenset(domain for domain in _ACTED_ON if compared <= {*_COMPARED.get(domain, ())})
        # "Turn it up" some turns later is about the music.
        recent = turns[-1:] if form.is_bare or compared & {"up", "down"} else turns
        meant = mentioned(recent, domains, form.meant)
        if not meant or len(meant) > _MAX_NAMED:
            return
        note.heard = run.text
        named = listed([the(entity) for entity in meant], "and")
        be = form.before
        if be == "turn" and all(entity.domain in _COVERS for entity in meant) and compared & {"up", "down"}:
            be, form = "raise" if "up" in compared else "lower", replace(form, after=" a bit")
        if be in ("is", "are", "was", "were"):
            be = "are" if len(meant) > 1 or is_plural(meant[0].name) else "is"
        run.text = f"{be} {named}{form.after}"

    def _retargeted(self, turns: Sequence[TurnEffects], target: str) -> list[ToolCall]:
        house, calls = self._house(), dict[ToolCall, None]()
        last = next((turn for turn in reversed(turns) if turn.effects), None)
        for effect in last.meant if last else ():
            if (effect.entities or effect.choices) and (call := retarget(effect, target, house)):
                calls[call] = None
        return list(calls)

    def _other(self, turns: Sequence[TurnEffects], verb: forms.Verb | None, note: ReferenceNote) -> Calls | None:
        recent = [turn for turn in turns if turn.effects]
        last = next((effect for effect in reversed(recent[-1].meant) if effect.entities), None) if recent else None
        if last is None:
            return None
        house = self._house()
        mentioned = [entity for turn in reversed(recent[:-1]) for entity in entities_of(turn)]
        meant = others_than(last, mentioned, house)
        if len(meant) != 1:
            return None
        note.continues = True
        if verb is not None:
            tool, domains = _VERBS[verb]
            return self._switch(verb, tool, meant) if meant[0].domain in domains else None
        return Calls((call_on(last.call.name, meant, values_of(last.arguments), house),))

    def _correct(self, turns: Sequence[TurnEffects], right: str, note: ReferenceNote) -> Answer | Calls | None:
        last = turns[-1]
        actions = [effect for effect in last.meant if effect.is_action]
        if not any(effect.entities or not effect.is_done for effect in actions):
            return None
        house = self._house()
        if right.casefold() in ("on", "off"):
            verb: forms.Verb = "on" if right.casefold() == "on" else "off"
            return self._switch(verb, _VERBS[verb][0], tuple(one for one in entities_of(last) if one.domain in _PLAIN))
        if right and (value := _with_value(actions, right, house)):
            return Calls((value,))
        if right and is_other(right):
            others = [others_than(effect, (), house) for effect in actions]
            new = [
                call_on(effect.call.name, meant, values_of(effect.arguments), house)
                for effect, meant in zip(actions, others, strict=True)
                if len(meant) == 1
            ]
        else:
            new = [call for effect in actions if (call := retarget(effect, right, house))] if right else []
        new = new or ([call for effect in actions if (call := with_item(effect, right))] if right else [])
        return self._instead(last, new, note) if new or not right else None

    def _instead(self, last: TurnEffects, new: Sequence[ToolCall], note: ReferenceNote) -> Answer | Calls:
        """Undo a turn, and make other calls in its place."""
        reversal = reverse(last, self._house(), self._timers, self._alarms)
        note.undone = (last,) if last.actions else ()
        note.addendum, note.reversals = " ".join(reversal.problems), len(reversal.calls)
        calls = (*reversal.calls, *dict.fromkeys(new))
        return Calls(calls) if calls else Answer(note.addendum or say("nothing_changed", ENGLISH))

    # --- the turns before

    def _turns(self, run: Run) -> Sequence[TurnEffects]:
        """The last turns; those of a conversation that was begun elsewhere from its messages."""
        logged = self._log.turns(run.client, within_s=_REFERS_WITHIN_S)
        return (logged or tuple(self._turns_of(run.past())))[-_MAX_TURNS_BACK:]

    def _turns_of(self, messages: Iterable[Message]) -> Iterable[TurnEffects]:
        turn: TurnEffects | None = None
        for message in messages:
            if message.role == "user":
                if turn is not None:
                    yield turn
                turn = TurnEffects(self._log.clock())
            elif turn is not None and message.tool_calls:
                turn = replace(turn, effects=(*turn.effects, *self._effects_of(message.tool_calls)))
        if turn is not None:
            yield turn

    def _effects_of(self, calls: Iterable[ToolCall]) -> Iterable[Effect]:
        for call in calls:
            if call.name in catalogue():
                intent = self._executor.resolve(call).resolution
                found = (intent.entities, intent.choices) if isinstance(intent, ResolvedIntent) else ((), ())
                yield Effect(call, *found, sentence="", is_done=not found[1])

    def _note(self, run: Run) -> ReferenceNote:
        note = run.notes.get(self.name)
        return note if isinstance(note, ReferenceNote) else ReferenceNote()


# Tools that act on one player at a time.
_SINGLE_PLAYER = frozenset({"media_pause", "media_unpause", "media_player_mute", "media_player_unmute"})


def _calls(calls: Iterable[ToolCall]) -> Calls | None:
    found = tuple(calls)
    return Calls(found) if found else None


def _is_scheduling(effect: Effect) -> bool:
    return "timer" in effect.call.name or effect.call.name in ("set_alarm", "set_reminder")


def _writes(effect: Effect) -> bool:
    """Whether a call writes an item, which would be there twice."""
    return any(entity.domain == "todo" for entity in effect.entities)


def _with_value(actions: Sequence[Effect], said: str, house: House) -> ToolCall | None:
    """The last call with another value: "no, blue"."""
    entities = actions[-1].entities
    call = value_call(said, entities, house) if entities else None
    return call if call and call.name == actions[-1].call.name else None
