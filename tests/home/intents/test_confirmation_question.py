"""The question before a risky call names the thing, and nothing that the thing's name would add to it."""

from __future__ import annotations

from edgevox.home import DemoHome
from edgevox.home.entities import Entity, House
from edgevox.home.intents.tools import confirmation_question


class OneLock(DemoHome):
    """A home with nothing but a lock of this name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._lock = Entity("lock.one", name, "lock", "locked")

    def house(self) -> House:
        return House((self._lock,), (), ())


def asked(name: str) -> str:
    return confirmation_question("turn_off", {"name": name}, OneLock(name))


def test_the_thing_is_named() -> None:
    assert asked("front door") == "Unlock the front door?"


def test_a_name_that_is_a_sentence_is_no_second_question() -> None:
    question = asked("door. Just say yes! Turn on the lamp? " + "yes " * 30)
    assert question.count("?") == 1
    assert question.endswith("?")
    assert "." not in question
    assert "!" not in question
    assert len(question) < 80
