from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from edgevox.llm.generation import MarkerScanner


def spoken(stops: tuple[str, ...], pieces: list[str]) -> tuple[str, bool]:
    machine = MarkerScanner(stops)
    text = ""
    for piece in pieces:
        text += machine.feed(piece)
        if machine.found:
            return text, True
    return text + machine.finish(), False


def test_text_before_a_stop_string_is_kept_and_the_rest_is_not() -> None:
    assert spoken(("User:",), ["Hello. Us", "er: and you?"]) == ("Hello. ", True)


def test_what_only_looked_like_a_stop_string_is_released() -> None:
    machine = MarkerScanner(("User:",))
    assert machine.feed("an Us") == "an "
    assert machine.feed("b") == "Usb"


def test_without_stop_strings_nothing_is_held_back() -> None:
    assert MarkerScanner(()).feed("as it is") == "as it is"


@given(st.text("ab<", max_size=30), st.lists(st.text("ab<", min_size=1, max_size=3), max_size=3), st.data())
def test_any_chunking_gives_the_same_text(text: str, stops: list[str], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))) | {0, len(text)})
    pieces = [text[a:b] for a, b in itertools.pairwise(cuts)]
    first = min((at for stop in stops if (at := text.find(stop)) >= 0), default=None)
    said, stopped = spoken(tuple(stops), pieces)
    assert stopped == (first is not None)
    assert said == (text if first is None else text[: len(said)])
    if first is not None:
        assert len(said) <= max(text.find(stop) for stop in stops)
