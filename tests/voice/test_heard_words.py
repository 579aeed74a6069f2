from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevox.tts.sentences import SentenceSplitter
from edgevox.voice.heard_words import SpokenSentence, heard_words

ONE, TWO = "It is five degrees.", "Tomorrow it will rain."


def made(text: str, heard: float) -> SpokenSentence:
    """A sentence of a tenth of a second per character, of which so much, from 0 to 1, was heard."""
    made_s = len(text) / 10
    return SpokenSentence(text, made_s=made_s, is_made=True, heard_s=heard * made_s)


def test_what_was_heard_to_its_end_is_all_of_it() -> None:
    assert heard_words(f"{ONE} {TWO}", [made(ONE, 1), made(TWO, 1)]) == f"{ONE} {TWO}"


@pytest.mark.parametrize(
    ("heard", "words"),
    [(0.0, ""), (0.05, ""), (0.2, "It"), (0.3, "It is"), (0.6, "It is five"), (0.97, ONE)],
)
def test_of_a_sentence_that_was_cut_the_whole_words_were_heard(heard: float, words: str) -> None:
    assert heard_words(f"{ONE} {TWO}", [made(ONE, heard), made(TWO, 0)]) == words


def test_nothing_behind_the_cut_was_heard() -> None:
    smile = SpokenSentence("🙂", is_made=True)
    assert heard_words(f"🙂 {ONE} 🙂", [smile, made(ONE, 0.5), smile]) == "🙂 It is"


def test_a_short_sentence_that_was_not_begun_was_not_heard() -> None:
    assert heard_words("No.", [SpokenSentence("No.", made_s=0.05, is_made=True)]) == ""


def test_the_text_is_as_it_was_written() -> None:
    written = "  *It is*\n five degrees. \n\nTomorrow it will rain."
    assert heard_words(written, [made("*It is*", 1), made("five degrees.", 1), made(TWO, 0.5)]) == (
        "*It is*\n five degrees. \n\nTomorrow it"
    )


def test_a_sentence_of_which_not_all_was_made_is_judged_by_the_others() -> None:
    begun = SpokenSentence(TWO, made_s=1.1, heard_s=1.1)
    assert heard_words(f"{ONE} {TWO}", [made(ONE, 1), begun]) == f"{ONE} Tomorrow it"


def test_and_if_there_is_no_other_by_how_fast_people_speak() -> None:
    begun = SpokenSentence("one two three four five six seven eight nine ten", made_s=1.5, heard_s=1.0)
    assert 2 <= len(heard_words(begun.text, [begun]).split()) <= 4


@given(st.text(alphabet='ab. ,!\n"-…', max_size=80), st.integers(0, 10), st.floats(0, 1))
def test_it_is_always_a_beginning_of_what_was_written(written: str, whole: int, part: float) -> None:
    splitter = SentenceSplitter()
    texts = [*splitter.feed(written), *splitter.finish()]
    sentences = [
        made(text, 1 if place < whole else part if place == whole else 0) for place, text in enumerate(texts)
    ]
    heard = heard_words(written, sentences)
    assert written.strip().startswith(heard)
    if whole >= len(texts):
        assert heard == written.strip()
