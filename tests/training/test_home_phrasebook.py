"""The phrasebook: every line can be said, in every kind of home, and its calls fit the tools."""

from __future__ import annotations

import functools
import random
import re
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

from edgevox.home.intents.catalogue import catalogue
from training.home.commands.phrasebook import Entry, load_phrasebook, phrase, remark, say
from training.home.dialogues import FIXED
from training.home.houses import DEMO, KnownHome
from training.home.speaker import Speaker

_SCHEMAS = {tool.name: jsonschema.Draft202012Validator(tool.parameters) for tool in catalogue().values()}


def _speaker(seed: str, *, has_home: bool) -> Speaker:
    return Speaker(random.Random(seed), KnownHome(DEMO if has_home else None))


@pytest.mark.parametrize("has_home", [False, True])
def test_every_line_is_said_and_its_calls_are_valid_and_repeat_its_words(has_home: bool) -> None:
    for entry in load_phrasebook():
        made = say(_speaker(entry.source, has_home=has_home), entry)
        assert made is not None, entry.source
        assert not re.search(r"[{}<>]|  ", made.text), (entry.source, made.text)
        assert len(made.calls) == len(entry.calls), entry.source
        for call in made.calls:
            assert not [*_SCHEMAS[call.tool].iter_errors(dict(call.arguments))], (entry.source, made)
            for slot, value in call.arguments.items():
                assert slot in FIXED or not isinstance(value, str) or value in made.text, (entry.source, made)


def test_nothing_is_switched_by_its_place_alone() -> None:
    entries = [entry for entry in load_phrasebook() if "turn_o" in str(entry.calls)]
    for entry in entries:
        made = say(_speaker(f"{entry.source} placed", has_home=True), entry)
        for call in made.calls if made else ():
            assert call.tool not in ("turn_on", "turn_off") or {"name", "domain"} & call.arguments.keys(), made


def test_no_line_stands_there_twice() -> None:
    written = Counter(str(entry.pattern.parts) for entry in load_phrasebook())
    assert [text for text, times in written.items() if times > 1] == []


def test_a_good_share_asks_for_nothing_and_another_for_several_things() -> None:
    entries = load_phrasebook()
    assert sum(not entry.calls for entry in entries) > 0.15 * len(entries)
    assert sum(len(entry.calls) > 1 for entry in entries) > 200


def test_only_what_the_offered_tools_serve_is_said() -> None:
    for seed in range(50):
        made = phrase(functools.partial(_speaker, str(seed), has_home=True), {"turn_on"})
        assert made is None or {call.tool for call in made.calls} == {"turn_on"}


def test_what_other_tools_may_serve_is_not_refused_beside_them() -> None:
    drawn = {remark(_speaker(str(seed), has_home=True), has_others=True, offers_all=True)[1] for seed in range(400)}
    assert not any("can't" in answer or "don't know" in answer for answer in drawn)


def test_a_line_without_calls_before_it_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "lost.txt").write_text("turn it on\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"lost\.txt:1"):
        load_phrasebook(tmp_path)


def test_the_words_in_angle_brackets_are_the_later_command() -> None:
    later: list[Entry] = [entry for entry in load_phrasebook() if "conversation_command" in str(entry.calls)]
    made = say(_speaker("1", has_home=True), later[0])
    assert made is not None
    command = made.calls[0].arguments["conversation_command"]
    assert made.text.endswith(f"then {command}")
