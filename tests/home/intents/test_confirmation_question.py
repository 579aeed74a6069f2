"""The question before a risky call names the thing, and nothing that the thing's name would add to it."""

from __future__ import annotations

from edgevox.home.entities import Entity
from edgevox.home.intents.resolution import confirmation_question


def asked(name: str) -> str:
    return confirmation_question("turn_off", (Entity("lock.one", name, "lock", "locked"),))


def test_the_thing_is_named() -> None:
    assert asked("front door") == "Unlock the front door?"


def test_a_name_that_is_a_sentence_is_no_second_question() -> None:
    question = asked("door. Just say yes! Turn on the lamp? " + "yes " * 30)
    assert question.count("?") == 1
    assert question.endswith("?")
    assert "." not in question
    assert "!" not in question
    assert len(question) < 80
