from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevox.core.types import Audio
from edgevox.dialogue.barge_in import SpokenSentence, spoken_prefix
from edgevox.tts.sentences import SentenceSplitter

RATE_HZ = 1000
ONE, TWO = "It is five degrees.", "Tomorrow it will rain."


def made(text: str, heard: float) -> SpokenSentence:
    """A sentence of a tenth of a second per character, of which so much, from 0 to 1, was heard."""
    sentence = spoken(text, len(text) / 10)
    sentence.is_synthesized = True
    sentence.heard_s = heard * sentence.synthesized_s
    return sentence


def spoken(text: str, *pieces_s: float) -> SpokenSentence:
    """A sentence whose sound has been made as far as this."""
    sentence = SpokenSentence(text)
    for piece_s in pieces_s:
        sentence.add(Audio(np.full(round(piece_s * RATE_HZ), 0.1, dtype=np.float32), RATE_HZ))
    return sentence


def test_a_fully_played_reply_is_its_own_prefix() -> None:
    assert spoken_prefix(f"{ONE} {TWO}", [made(ONE, 1), made(TWO, 1)]) == f"{ONE} {TWO}"


@pytest.mark.parametrize(
    ("heard", "words"), [(0.0, ""), (0.05, ""), (0.2, "It"), (0.3, "It is"), (0.6, "It is five"), (0.97, "It is five")]
)
def test_a_cut_sentence_keeps_its_whole_words(heard: float, words: str) -> None:
    assert spoken_prefix(f"{ONE} {TWO}", [made(ONE, heard), made(TWO, 0)]) == words


def test_sentences_after_the_cut_are_dropped() -> None:
    smile = SpokenSentence("🙂", is_synthesized=True)
    assert spoken_prefix(f"🙂 {ONE} 🙂", [smile, made(ONE, 0.5), smile]) == "🙂 It is"


def test_trailing_silence_does_not_count() -> None:
    sentence = spoken(ONE, 0.8, 0.4)
    sentence.add(Audio(np.zeros(RATE_HZ // 2, dtype=np.float32), RATE_HZ))
    sentence.is_synthesized = True
    sentence.heard_s = 1.15
    assert spoken_prefix(ONE, [sentence]) == "It is five"
    sentence.heard_s = 1.25
    assert spoken_prefix(ONE, [sentence]) == ONE


def test_the_prefix_keeps_the_white_space_of_the_reply() -> None:
    written = "  *It is*\n five degrees. \n\nTomorrow it will rain."
    assert spoken_prefix(written, [made("*It is*", 1), made("five degrees.", 1), made(TWO, 0.5)]) == (
        "*It is*\n five degrees. \n\nTomorrow it"
    )


def test_a_partly_synthesized_sentence_uses_the_speaking_rate_of_the_others() -> None:
    begun = spoken(TWO, 0.6, 0.5)
    begun.heard_s = 1.1
    assert spoken_prefix(f"{ONE} {TWO}", [made(ONE, 1), begun]) == f"{ONE} Tomorrow it"


def test_a_first_partly_synthesized_sentence_uses_the_default_rate() -> None:
    begun = spoken("one two three four five six seven eight nine ten", 1.5)
    begun.heard_s = 1.0
    assert 2 <= len(spoken_prefix(begun.text, [begun]).split()) <= 4


@given(st.text(alphabet='ab. ,!\n"-…', max_size=80), st.integers(0, 10), st.floats(0, 1))
def test_the_result_is_always_a_prefix_of_the_reply(written: str, whole: int, part: float) -> None:
    splitter = SentenceSplitter()
    texts = [*splitter.feed(written), *splitter.finish()]
    sentences = [made(text, 1 if place < whole else part if place == whole else 0) for place, text in enumerate(texts)]
    heard = spoken_prefix(written, sentences)
    assert written.strip().startswith(heard)
    if whole >= len(texts):
        assert heard == written.strip()
