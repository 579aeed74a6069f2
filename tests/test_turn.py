from __future__ import annotations

import ctypes

from edgevox.turn import CancelFlag, Turn


def test_a_flag_stays_set() -> None:
    flag = CancelFlag()
    assert not flag.is_set()
    flag.set()
    flag.set()
    assert flag.is_set()


def test_native_code_sees_the_flag_as_a_c_string() -> None:
    flag = CancelFlag()
    strlen = ctypes.CDLL(None).strlen
    strlen.argtypes = [ctypes.c_void_p]
    assert strlen(flag.address) == 0
    flag.set()
    assert strlen(flag.address) == 1


def test_listeners_hear_of_it_once_and_not_after_they_left() -> None:
    flag = CancelFlag()
    heard: list[str] = []

    def stays() -> None:
        heard.append("stays")

    def leaves() -> None:
        heard.append("leaves")

    flag.add_listener(stays)
    flag.add_listener(leaves)
    flag.remove_listener(leaves)
    flag.set()
    assert heard == ["stays"]


def test_a_late_listener_hears_of_it_at_once() -> None:
    flag = CancelFlag()
    flag.set()
    heard: list[bool] = []
    flag.add_listener(lambda: heard.append(True))
    assert heard == [True]


def test_turns_have_different_ids() -> None:
    assert len({Turn().id for _ in range(1000)}) == 1000
