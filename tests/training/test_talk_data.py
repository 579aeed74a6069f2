from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from training.talk_data import TalkPair, load_talk
from training.tool_data import TOOLS_FOLDER

TALK = load_talk()
ANSWERS = [(pair.category, answer) for pair in TALK for answer in pair.answers]

# A spoken answer never says that something was done: nothing was.
_CLAIMS = re.compile(
    r"\b(I have|I've|I just|I already) (turned|switched|set|added|opened|closed|started|done)\b"
)


def test_a_line_holds_questions_and_answers(tmp_path: Path) -> None:
    (tmp_path / "greetings.txt").write_text("# comment\n\nhello | hi there => Hello! | Hi.\n")
    assert load_talk(tmp_path) == [TalkPair("greetings", ("hello", "hi there"), ("Hello!", "Hi."))]


@pytest.mark.parametrize(
    "line", ["no answer", "hello => Hi. => Bye.", "hello | => Hi.", "hello =>", "=> Hi."]
)
def test_a_line_that_is_no_pair_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "greetings.txt").write_text(f"# comment\n{line}\n")
    with pytest.raises(ValueError, match=r"greetings\.txt:2"):
        load_talk(tmp_path)


def test_there_is_enough_talk_of_every_kind() -> None:
    pairs = Counter(pair.category for pair in TALK)
    assert set(pairs) == {
        "greetings", "about_itself", "feelings", "thanks", "small_talk", "facts", "cannot",
        "mentions", "unclear",
    }  # fmt: skip
    assert pairs["facts"] >= 250
    assert pairs["cannot"] >= 150
    assert pairs["mentions"] >= 80
    assert pairs["unclear"] >= 120
    assert pairs.total() >= 900
    assert sum(len(pair.questions) for pair in TALK) >= 2500


def test_every_theme_that_is_named_has_tools() -> None:
    named = {theme for pair in TALK for theme in pair.served_by}
    assert named - {file.stem for file in TOOLS_FOLDER.glob("*.txt")} == set()


def test_no_question_stands_twice() -> None:
    heard = Counter(re.sub(r"[^a-z0-9 ]", "", q.lower()) for pair in TALK for q in pair.questions)
    assert [question for question, times in heard.items() if times > 1] == []


def test_answers_are_one_short_spoken_sentence() -> None:
    assert [answer for _, answer in ANSWERS if len(answer.split()) >= 20] == []
    assert [answer for _, answer in ANSWERS if re.search(r'[\[\](){}<>"*_|]', answer)] == []
    assert [answer for _, answer in ANSWERS if not re.match(r"[A-Za-z].*[.!?]$", answer)] == []


def test_no_answer_claims_that_something_was_done() -> None:
    assert [answer for _, answer in ANSWERS if _CLAIMS.search(answer)] == []


def test_unclear_requests_are_asked_back() -> None:
    unclear = [pair for pair in TALK if pair.category == "unclear"]
    assert [pair.questions[0] for pair in unclear if not any("?" in answer for answer in pair.answers)] == []
