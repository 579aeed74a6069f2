"""The mix that the home model is trained on: scenes without end, a system prompt and dialogues in each.

Shares among the dialogues (`python -m training.scenes --count 250 --shares --seed 3` counts them): single home
commands 32 %, several commands in one breath 10 %, the phrasebook's commands 14 % and remarks 6 %, other tools 15 %,
half sentences and talk of others 7 % (more with the public corpora), refusals 5 %, questions back 1 %, ordinary talk
2 %, asides about tools 2 %, follow-ups and histories 3 %, results in words 3 %, failures, mentions and times elsewhere
1 % each. A sixth of the home commands is said with fillers, repeated words or lost articles (`disfluency.py`).

Tools: all of the home's in their order in 58 % of the scenes, shuffled or fewer in 28 %, only others in 14 %.
Homes: random ones of 0 to 45 things in 68 %, the demo home in 10 %, none in 22 % (12 % where the home's tools
are offered).

A dialogue with a sentence that the model is judged by is dropped (`held_out.py`).
"""

from __future__ import annotations

import argparse
import functools
import itertools
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from training import no_call
from training.asr_noise import simulate_asr
from training.held_out import is_held_out
from training.home.commands import phrasebook
from training.home.commands.everyday import addressed, elsewhere
from training.home.dialogues import (
    clarification,
    failed_call_dialogue,
    follow_up,
    past_turn,
    result_dialogue,
    single_turn,
    tool_results_line,
)
from training.home.phrasing import phrase_request, sounds_like_a_question, with_reason_before
from training.home.sampling import (
    ALARM_TOOLS,
    HOME_NAMES,
    RIVALS,
    SceneContext,
    home_context,
    other_tools_context,
    request,
    several_requests,
    themes,
)
from training.home.speaker import Request
from training.no_call import SmallTalk, load_small_talk, make_remark
from training.overheard import half_sentence, overheard, talk_of_others
from training.types import Call, Dialogue, Line, Scene, write_calls

_ONLY_OTHERS_SHARE = 0.15


_SCENE_CHARS = 2_000 * 3.6


_MOST_DIALOGUES = 24
_FOR_TWO_SHARE = 0.06
_OTHER_REASON_SHARE = 0.1
_ADDRESSED_SHARE = 0.05


# Categories and their odds in a scene with the home's tools and others, and in one with others alone.
_MIX = {
    "home": 104.0, "several": 32.0, "other": 28.5, "others": 2.0, "refusal": 15.0,
    "question": 4.5, "talk": 6.5, "history": 13.0,
    "result": 4.0, "repair": 1.6, "mention": 3.0, "aside": 6.5,
    "half": 12.0, "overheard": 10.5, "others_talk": 7.5,
    "elsewhere": 2.5,
    "phrasebook": 45.0, "phrasebook_remark": 19.0,
}  # fmt: skip


_OTHER_MIX = {
    "other": 58.0,
    "others": 6.0,
    "refusal": 12.0,
    "talk": 6.0,
    "result": 11.0,
    "repair": 3.0,
    "history": 4.0,
    "aside": 14.0,
    "overheard": 3.0,
    "others_talk": 3.0,
}


# Themes that nobody could take for the home's business: refused where the home's tools are offered.
_WORLDLY = frozenset(
    {"calendar", "finance", "learning", "life_admin", "navigation", "restaurants", "rides_events", "sports", "travel"}
)


def scenes(seed: int) -> Iterator[Scene]:
    """Scenes without end; the same for the same seed."""
    rng = random.Random(seed)  # noqa: S311 - examples, no secrets
    while True:
        yield _scene(rng)


def _scene(rng: random.Random) -> Scene:
    if rng.random() < _ONLY_OTHERS_SHARE:
        stage, system = other_tools_context(rng)
        mix = _OTHER_MIX
    else:
        stage, system = home_context(rng)
        mix = _MIX
    kinds, odds = list(mix), list(itertools.accumulate(mix.values()))
    dialogues: list[Dialogue] = []
    chars = len(system)
    while len(dialogues) < _MOST_DIALOGUES and (chars < _SCENE_CHARS or len(dialogues) < 6):
        dialogue = _dialogue(rng.choices(kinds, cum_weights=odds)[0], stage)
        if dialogue is not None and not _is_judged_by(dialogue):
            dialogues.append(dialogue)
            chars += sum(len(line.text) + 20 for line in dialogue.lines)
    return Scene(system, tuple(dialogues))


def _is_judged_by(dialogue: Dialogue) -> bool:
    return any(line.role == "user" and is_held_out(line.text) for line in dialogue.lines)


@functools.cache
def _talk() -> dict[str, list[SmallTalk]]:
    files: dict[str, list[SmallTalk]] = {}
    for pair in load_small_talk():
        files.setdefault(pair.category, []).append(pair)
    return files


def _dialogue(kind: str, stage: SceneContext) -> Dialogue | None:
    match kind:
        case "home":
            made = request(stage.rng, stage.speaker, stage.home_tools)
            if made is not None and stage.rng.random() < _ADDRESSED_SHARE:
                made = replace(made, text=addressed(stage.speaker(), made.text))
            return None if made is None else single_turn(stage.rng, made, "home")
        case "several":
            made = several_requests(stage.speaker, stage.home_tools, has_others=bool(stage.others))
            return None if made is None else single_turn(stage.rng, made, "several")
        case "other":
            return _other(stage)
        case "others":
            return _other(stage, times=2)
        case "refusal":
            return _refusal(stage)
        case "question":
            return _question(stage)
        case "talk":
            return _small_talk(stage)
        case "aside":
            return _aside(stage)
        case "history":
            return _history(stage)
        case "result":
            return _result(stage)
        case "repair":
            made = request(stage.rng, stage.speaker, stage.home_tools) if stage.home_tools else _other_said(stage)
            return None if made is None else failed_call_dialogue(stage.rng, made)
        case "mention":
            if stage.rng.random() < 0.5:
                return _small_talk(stage, "mention")
            text, answer = no_call.mention(stage.speaker())
            return _spoken(stage, "mention", text, ".", answer)
        case "half":
            made = request(stage.rng, stage.speaker, stage.home_tools)
            return _not_for_it(stage, kind, half_sentence(stage.speaker(), made) if made else None)
        case "elsewhere":
            text, form, answer = elsewhere(stage.speaker())
            return (
                None
                if RIVALS & {tool.theme for tool in stage.other_tools}
                else _spoken(stage, kind, text, form, answer)
            )
        case "overheard":
            return _not_for_it(stage, kind, overheard(stage.speaker()))
        case "phrasebook":
            made = phrasebook.phrase(stage.speaker, stage.home_tools)
            return None if made is None else single_turn(stage.rng, made, kind)
        case "phrasebook_remark":
            spoken = phrasebook.remark(stage.speaker(), has_others=bool(stage.others), offers_all=stage.offers_all)
            return _not_for_it(stage, kind, spoken)
        case "others_talk":
            return _not_for_it(stage, kind, talk_of_others(stage.speaker(), other_tools=bool(stage.others)))
        case _:
            raise AssertionError(kind)


def _not_for_it(stage: SceneContext, category: str, spoken: tuple[str, str] | None) -> Dialogue | None:
    return None if spoken is None else _spoken(stage, category, spoken[0], ".", spoken[1])


def _spoken(stage: SceneContext, category: str, text: str, form: str, answer: str) -> Dialogue:
    """Something that is answered in words."""
    said = simulate_asr(stage.rng, text, is_question=form == "?" or sounds_like_a_question(text))
    return Dialogue(category, (Line("user", said.text), Line("assistant", stage.respond(answer), learnt=True)))


def _other_said(stage: SceneContext) -> Request | None:
    if not stage.others:
        return None
    tool = stage.rng.choice(stage.others)
    if stage.rng.random() < _FOR_TWO_SHARE and (two := tool.request_for_two(stage.rng)) is not None:
        text, both = two
        return Request("?" if sounds_like_a_question(text) else ".", text, tuple(Call(tool.name, one) for one in both))
    text, arguments = tool.request(stage.rng)
    return Request("?" if sounds_like_a_question(text) else ".", text, (Call(tool.name, arguments),))


def _other_heard(stage: SceneContext, made: Request) -> tuple[str, tuple[Call, ...]]:
    rng = stage.rng
    text = made.text
    if rng.random() < 0.07:
        text = rng.choice(("hey, ", "um, ", "okay, ", "so, ", "well, ", "hi, ")) + text
    elif rng.random() < 0.06 and not text.endswith("please") and made.form == ".":
        text = f"{text} please"
    if rng.random() < _OTHER_REASON_SHARE:
        text = with_reason_before(text, rng)
    said = simulate_asr(
        rng, text, made.calls, is_question=made.form == "?", fixed=_enums(stage, made), may_mishear=False
    )
    return said.text, said.calls


def _other(stage: SceneContext, times: int = 1) -> Dialogue | None:
    made = [one for one in (_other_said(stage) for _ in range(times)) if one is not None]
    if len(made) < times:
        return None
    if times == 1:
        text, calls = _other_heard(stage, made[0])
        return Dialogue("other", (Line("user", text), Line("assistant", write_calls(calls), learnt=True)))
    if made[0].calls[0].tool == made[1].calls[0].tool or made[0].form == "?":
        return None
    link = stage.rng.choice((" and ", " and then ", ", then ", ", and also "))
    text = made[0].text.rstrip(".?!") + link + made[1].text
    fixed = _enums(stage, made[0]) | _enums(stage, made[1])
    calls = (*made[0].calls, *made[1].calls)
    both = simulate_asr(stage.rng, text, calls, is_question=made[1].form == "?", fixed=fixed, may_mishear=False)
    return Dialogue("other", (Line("user", both.text), Line("assistant", write_calls(both.calls), learnt=True)))


def _enums(stage: SceneContext, made: Request) -> frozenset[str]:
    """The slots whose values are not the person's words."""
    tool = next(tool for tool in stage.others if tool.name == made.calls[0].tool)
    return frozenset(name for name, slot in tool.slots if slot.kind == "enum")


def _refusal(stage: SceneContext) -> Dialogue | None:
    rng = stage.rng
    way = rng.random()
    if way < 0.3:
        return _small_talk(stage, "refusal")
    if way < 0.6:
        return _unoffered(stage)
    if way < 0.75 and not stage.offers_all:
        made = request(rng, stage.speaker, _unserved(stage.home_tools))
        return None if made is None else _refused(stage, phrase_request(rng, made))
    text, form, answer = no_call.out_of_scope(stage.speaker(), other_tools=bool(stage.others))
    plain = Request("!" if form == "!" else "?", text, ())
    return _spoken(stage, "refusal", phrase_request(rng, plain), form, answer)


def _unoffered(stage: SceneContext) -> Dialogue | None:
    """A request for a tool that is not offered; half of them for one that is much like those that are."""
    rng = stage.rng
    if stage.other_tools and rng.random() < 0.5:
        tool = rng.choice(themes()[rng.choice(stage.other_tools).theme])
        is_known = tool in stage.other_tools or tool.theme in RIVALS
    else:
        tool = rng.choice(rng.choice(list(themes().values())))
        is_known = any(tool.theme == other.theme for other in stage.other_tools)
        is_known = is_known or (bool(stage.home_tools) and tool.theme not in _WORLDLY)
    if is_known or not all(tool.goes_with(other) for other in stage.other_tools):
        return None
    text = tool.draw(rng).request(rng)[0]
    return None if _is_served_by_alarms(stage, text) else _refused(stage, text)


def _is_served_by_alarms(stage: SceneContext, text: str) -> bool:
    """True for a reminder or a time to wake up where alarms are offered."""
    return bool(_REMINDING.search(text)) and not ALARM_TOOLS.isdisjoint(stage.home_tools)


_REMINDING = re.compile(r"remind|alarm|wake|don't let me forget", re.IGNORECASE)


def _refused(stage: SceneContext, text: str) -> Dialogue:
    is_question = sounds_like_a_question(text)
    answer = no_call.refusal(stage.speaker(), is_question=is_question, runs_home=bool(stage.home_tools))
    return _spoken(stage, "refusal", text, "?" if is_question else ".", answer)


# Tools that do one kind of thing: without any of them, nothing else that is offered does it.
_FAMILIES = (
    frozenset(name for name in HOME_NAMES if "timer" in name),
    frozenset(name for name in HOME_NAMES if "list_" in name),
    ALARM_TOOLS | {"start_timer"},
    frozenset({"get_current_time"}),
    frozenset({"get_current_date"}),
    frozenset({"broadcast"}),
    frozenset({"get_weather", "get_state"}),
    frozenset(name for name in HOME_NAMES if name.startswith(("media_", "set_volume"))),
)


def _unserved(offered: frozenset[str]) -> frozenset[str]:
    """Home tools whose requests cannot be served by any that is offered."""
    if not offered:
        return _CLEAR_HOME_TOOLS
    return frozenset().union(*(family for family in _FAMILIES if family.isdisjoint(offered)))


_CLEAR_HOME_TOOLS = frozenset(
    {"turn_on", "turn_off", "light_set", "set_position", "climate_set_temperature", "fan_set_speed",
    "vacuum_start",
     "vacuum_clean_area", "lawn_mower_start_mowing", "media_next", "media_pause"}
)  # fmt: skip


def _question(stage: SceneContext) -> Dialogue | None:
    if not stage.offers_all:
        return None
    if stage.rng.random() < 0.35:
        return _small_talk(stage, "question")
    text, form, answer = no_call.incomplete_request(stage.speaker())
    plain = Request("!" if form == "!" else ".", text, ())
    return _spoken(stage, "question", phrase_request(stage.rng, plain), form, answer)


# Which files of talk stand for which category; the rest is ordinary talk.
_TALK_FILES = {"refusal": "cannot", "mention": "mentions", "question": "unclear"}


def _small_talk(stage: SceneContext, category: str = "talk") -> Dialogue | None:
    rng = stage.rng
    file = _TALK_FILES.get(category) or rng.choice([file for file in _talk() if file not in _TALK_FILES.values()])
    pair = rng.choice(_talk()[file])
    offered = {tool.theme for tool in stage.other_tools}
    if not offered.isdisjoint(pair.served_by):
        return None
    text = rng.choice(pair.questions)
    if category != "mention" and _is_served_by_alarms(stage, text):
        return None
    return _spoken(stage, category, text, ".", rng.choice(pair.answers))


def _aside(stage: SceneContext) -> Dialogue | None:
    """Something about a tool that is offered, and nothing that it could do."""
    spoken = make_remark(stage.other_tools, stage.others, stage.rng)
    if spoken is None or _is_served_by_alarms(stage, spoken.text):
        return None
    return _spoken(stage, "aside", spoken.text, ".", spoken.answer)


def _history(stage: SceneContext) -> Dialogue | None:
    rng = stage.rng
    if not stage.home_tools:
        return _history_of_others(stage)
    if stage.offers_all and rng.random() < 0.18:
        return clarification(rng, stage.speaker(), stage.respond_slot)
    first = request(rng, stage.speaker, stage.home_tools)
    second = request(rng, stage.speaker, stage.home_tools)
    if first is None or second is None:
        return None
    if rng.random() < 0.5:
        return follow_up(rng, stage.speaker(), first, stage.home_tools)
    before, _ = past_turn(rng, first)
    if rng.random() < 0.3 and (more := request(rng, stage.speaker, stage.home_tools)):
        before += past_turn(rng, more)[0]
    return single_turn(rng, second, "history", before)


def _history_of_others(stage: SceneContext) -> Dialogue | None:
    first, second = _other_said(stage), _other(stage)
    if first is None or second is None:
        return None
    text, calls = _other_heard(stage, first)
    done = (tool_results_line([(calls[0].tool, "ok")]), Line("assistant", "Done."))
    return Dialogue("history", (Line("user", text), Line("assistant", write_calls(calls)), *done, *second.lines))


def _result(stage: SceneContext) -> Dialogue | None:
    rng = stage.rng
    if stage.home_tools and (not stage.others or rng.random() < 0.35):
        made = request(rng, stage.speaker, stage.home_tools & _TELLING)
        return None if made is None else result_dialogue(rng, made)
    tool = rng.choice(stage.others)
    result = tool.result(rng)
    if result is None:
        return None
    text, arguments = tool.request(rng)
    made = Request("?" if sounds_like_a_question(text) else ".", text, (Call(tool.name, arguments),))
    words, calls = _other_heard(stage, made)
    lines = (
        Line("user", words),
        Line("assistant", write_calls(calls), learnt=True),
        tool_results_line([(tool.name, result[0])]),
    )
    return Dialogue("result", (*lines, Line("assistant", result[1], learnt=True)))


_TELLING = frozenset(
    {
        "get_state",
        "climate_get_temperature",
        "get_weather",
        "get_current_time",
        "get_current_date",
        "timer_status",
        "alarm_status",
    }
)


def main(arguments: list[str]) -> None:
    """Print samples, or count the categories."""
    parser = argparse.ArgumentParser(prog="python -m training.scenes", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20, help="dialogues to print, or scenes to count")
    parser.add_argument("--shares", action="store_true", help="count categories instead of printing dialogues")
    options = parser.parse_args(arguments)
    out = sys.stdout
    if options.shares:
        counted = Counter(
            dialogue.category
            for scene in itertools.islice(scenes(options.seed), options.count)
            for dialogue in scene.dialogues
        )
        for category, count in counted.most_common():
            out.write(f"{category:10} {count / counted.total():6.1%}\n")
        return
    shown = 0
    for scene in scenes(options.seed):
        for dialogue in scene.dialogues:
            if shown >= options.count:
                return
            shown += 1
            out.write(f"{dialogue.category}\n")
            for line in dialogue.lines:
                out.write(f"  {'>' if line.role == 'user' else '<'} {line.text}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
