"""The mix: what every scene promises to the training."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema
import pytest

from edgevox.home.intents.catalogue import catalogue
from edgevox.llm.tool_parsers import parse_reply
from training.home.dialogues import FIXED
from training.scenes import main, scenes
from training.types import Dialogue, Scene

_SCENES = 200
_HOME = {tool.name: jsonschema.Draft202012Validator(tool.parameters) for tool in catalogue().values()}
_SLOTS = {tool.name: list(tool.parameters["properties"]) for tool in catalogue().values()}
_TOOL_LINE = re.compile(r"(\w+)\((.*)\): ")
_RESULT = "(The tools have run: "


@cache
def _sample() -> tuple[Scene, ...]:
    return tuple(itertools.islice(scenes(11), _SCENES))


def _learnt() -> Iterator[tuple[Scene, Dialogue, str, str]]:
    """Every learnt line of the sample, with the last thing the person said before it."""
    for scene in _sample():
        for dialogue in scene.dialogues:
            request = ""
            for line in dialogue.lines:
                if line.role == "user" and not line.text.startswith(_RESULT):
                    request = line.text
                if line.learnt:
                    yield scene, dialogue, request, line.text


def _calls(written: str, scene: Scene) -> list[tuple[str, dict[str, Any]]]:
    tools = [{"type": "function", "function": {"name": name}} for name in _offered(scene)]
    reply = parse_reply(written, preset_parsers=("python_list",), tools=tools)
    assert not reply.text.strip(), written
    return [(call.name, json.loads(call.arguments)) for call in reply.calls]


def _learnt_calls() -> Iterator[tuple[Scene, Dialogue, str, str, dict[str, Any]]]:
    for scene, dialogue, request, written in _learnt():
        if written.startswith("["):
            for name, arguments in _calls(written, scene):
                yield scene, dialogue, request, name, arguments


def _offered(scene: Scene) -> dict[str, str]:
    lines = scene.system.split("\n\n")[0].splitlines()[1:]
    matches = [_TOOL_LINE.match(line) for line in lines]
    return {match[1]: match[2] for match in matches if match}


def _home_calls() -> Iterator[tuple[Dialogue, str, str, dict[str, Any]]]:
    """The calls of home tools; another tool may have the name of one, with slots of its own."""
    for scene, dialogue, request, name, arguments in _learnt_calls():
        slots = re.findall(r"(\w+)\??(?:: [^,]*)?(?:, |$)", _offered(scene)[name])
        if name in _HOME and set(slots) <= set(_SLOTS[name]):
            yield dialogue, request, name, arguments


def test_the_same_seed_gives_the_same_scenes() -> None:
    first, second = (list(itertools.islice(scenes(5), 6)) for _ in range(2))
    assert first == second
    assert first != list(itertools.islice(scenes(6), 6))


def test_every_call_is_of_an_offered_tool() -> None:
    for scene, _, request, name, _ in _learnt_calls():
        assert name in _offered(scene), (request, name)


def test_every_home_call_fits_the_schema_and_keeps_its_order() -> None:
    for _, request, name, arguments in _home_calls():
        errors = [error.message for error in _HOME[name].iter_errors(arguments)]
        assert not errors, (request, name, arguments)
        assert list(arguments) == [slot for slot in _SLOTS[name] if slot in arguments], (request, arguments)


def test_every_list_of_calls_reads_back() -> None:
    for scene, _, _, written in _learnt():
        if written.startswith("["):
            assert _calls(written, scene), written
            assert written.endswith(")]")


def test_words_in_arguments_were_said() -> None:
    for dialogue, request, name, arguments in _home_calls():
        if name == "respond" or dialogue.category == "follow-up":
            continue
        for slot, value in arguments.items():
            if slot not in FIXED and isinstance(value, str):
                assert value.lower() in request.lower(), (request, name, arguments)


def test_answers_are_one_short_sentence() -> None:
    for scene, dialogue, request, text in _learnt():
        sentences = [text]
        if text.startswith("["):
            calls = _calls(text, scene)
            sentences = [str(value) for name, slots in calls if name == "respond" for value in slots.values()]
            assert len(calls) == 1 or not sentences, (request, text)
        for sentence in sentences:
            assert len(sentence.split()) <= 25, (dialogue.category, request, text)
            assert "{" not in sentence, (request, text)


def test_a_scene_holds_between_6_and_24_dialogues() -> None:
    assert all(6 <= len(scene.dialogues) <= 24 for scene in _sample())


def test_every_dialogue_ends_in_a_learnt_line() -> None:
    assert all(dialogue.lines[-1].learnt for scene in _sample() for dialogue in scene.dialogues)


def test_home_commands_are_the_larger_part() -> None:
    counted = Counter(dialogue.category for scene in _sample() for dialogue in scene.dialogues)
    share = {category: count / counted.total() for category, count in counted.items()}
    home = ("home", "several", "phrasebook", "follow-up", "history")
    assert sum(share[category] for category in home) > 0.5
    assert 0.17 < share["other"] + share["result"] < 0.35
    assert 0.04 < share["refusal"] < 0.1
    assert all(share.get(category, 0) > 0.004 for category in ("question", "talk", "repair", "mention", "follow-up"))


def test_every_home_tool_is_called() -> None:
    called = Counter(name for _, _, _, name, _ in _learnt_calls() if name in _HOME)
    assert set(_HOME) <= set(called)


def test_the_deployed_list_of_tools_is_the_usual_one() -> None:
    names = [tool.name for tool in catalogue().values()]
    whole = sum(list(_offered(scene))[: len(names)] == names for scene in _sample())
    assert 0.4 < whole / len(_sample()) < 0.7


def test_samples_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--seed", "1", "--count", "3"])
    assert capsys.readouterr().out.count("<") >= 3
