"""Small talk and remarks about tools: file format, answers, and no claim that something was done."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from training.no_call import SmallTalk, load_small_talk, make_remark
from training.sampled_tools import MENTION, ToolTemplate
from training.tool_files import TOOLS_FOLDER, ToolDataError, load_tools, read_tools

TALK = load_small_talk()
ANSWERS = [(pair.category, answer) for pair in TALK for answer in pair.answers]

# A spoken answer never says that something was done: nothing was.
_CLAIMS = re.compile(r"\b(I have|I've|I just|I already) (turned|switched|set|added|opened|closed|started|done)\b")


def test_a_line_holds_questions_and_answers(tmp_path: Path) -> None:
    (tmp_path / "greetings.txt").write_text("# comment\n\nhello | hi there => Hello! | Hi.\n")
    assert load_small_talk(tmp_path) == [SmallTalk("greetings", ("hello", "hi there"), ("Hello!", "Hi."))]


@pytest.mark.parametrize("line", ["no answer", "hello => Hi. => Bye.", "hello | => Hi.", "hello =>", "=> Hi."])
def test_a_line_that_is_no_pair_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "greetings.txt").write_text(f"# comment\n{line}\n")
    with pytest.raises(ValueError, match=r"greetings\.txt:2"):
        load_small_talk(tmp_path)


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


TOOLS = load_tools()
BLOCK = """
tool bake_loaf
about Bake a loaf
slot loaf text: rye loaf | milk loaf
ask bake a {loaf}
ask a {loaf} please
ask we need a {loaf} for breakfast
topic bread
miss slice the {loaf} -> I can't slice it, I can only bake.
tell my neighbour bakes the best {loaf}
wonder how did people bake before ovens
"""
# Nothing was done, so no answer may say so.
_REMARK_CLAIMS = re.compile(
    r"\bI(?: have|'ve| just| already)? (?:turned|switched|set|added|opened|booked|noted|sent)\b"
)


@pytest.fixture
def bakery(tmp_path: Path) -> ToolTemplate:
    (tmp_path / "bakery.txt").write_text(BLOCK)
    (tool,) = load_tools(tmp_path)
    return tool


def _words(text: str) -> str:
    return re.sub(r"[^a-z{} ]", "", MENTION.sub("{}", text.lower()))


def test_asides_are_of_all_kinds_and_have_no_open_marks(bakery: ToolTemplate) -> None:
    rng = random.Random(1)
    offered = [bakery.draw(rng)]
    texts = [said.text for _ in range(600) if (said := make_remark([bakery], offered, rng))]
    assert len(texts) > 500
    assert not [text for text in texts if "{" in text]
    for words in ("slice the rye loaf", "my neighbour bakes the best milk loaf", "about bread", "bake a loaf"):
        assert any(words in text for text in texts), words


def test_an_answer_that_is_written_is_given(bakery: ToolTemplate) -> None:
    rng = random.Random(2)
    offered = [bakery.draw(rng)]
    said = [one for _ in range(600) if (one := make_remark([bakery], offered, rng))]
    answers = {one.answer for one in said if "slice" in one.text}
    assert answers == {"I can't slice it, I can only bake."}


def test_nothing_is_said_that_another_tool_takes(tmp_path: Path, bakery: ToolTemplate) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("tool take_note\nabout Write\nask write that down\ntakes tell | wonder | miss\n")
    (note,) = read_tools(file)
    rng = random.Random(3)
    offered = [bakery.draw(rng), note.draw(rng)]
    assert not any(make_remark([bakery, note], offered, rng) for _ in range(300))


def test_without_tools_nothing_is_said() -> None:
    assert make_remark([], [], random.Random(4)) is None


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("tell I like {cake}", "no slot cake"),
        ("miss slice it ->", "no answer"),
        ("takes everything", "are no asides"),
        ("topic rolls", "a second line of 'topic'"),
        ("brief bread: quickly", "not a brief"),
        ("brief bread:", "loaf not said"),
    ],
)
def test_an_error_names_the_line(tmp_path: Path, line: str, complaint: str) -> None:
    (tmp_path / "bakery.txt").write_text(f"{BLOCK.rstrip()}\n{line}\n")
    with pytest.raises(ToolDataError, match=rf"bakery\.txt:\d+: .*{complaint}"):
        load_tools(tmp_path)


def test_what_is_only_told_before_a_request_leaves_the_call_alone(tmp_path: Path) -> None:
    (tmp_path / "bakery.txt").write_text(BLOCK.replace("best {loaf}", "best rolls"))
    (tool,) = load_tools(tmp_path)
    rng = random.Random(5)
    requests = [tool.draw(rng).request(rng) for _ in range(1000)]
    told = [(text, loaf) for text, loaf in requests if text.startswith("my neighbour")]
    assert 20 < len(told) < 90
    assert all(str(loaf["loaf"]) in text and "rolls" not in loaf.values() for text, loaf in told)


# --- what is shipped


def test_most_shipped_tools_have_asides_topics_and_headlines() -> None:
    assert sum(bool(tool.asides) for tool in TOOLS) >= 500
    assert sum(bool(tool.topics) for tool in TOOLS) >= 250
    assert sum(tool.brief is not None for tool in TOOLS) >= 500
    kinds = Counter(kind.kind for tool in TOOLS for kind in tool.asides)
    assert min(kinds["miss"], kinds["tell"], kinds["wonder"]) >= 150


def test_no_aside_has_the_words_of_a_request() -> None:
    asked = {_words(ask.text) for tool in TOOLS for ask in tool.asks}
    asides = [(tool.where, one.text) for tool in TOOLS for one in tool.asides]
    assert [(where, text) for where, text in asides if _words(text) in asked] == []


def test_answers_are_one_short_honest_sentence() -> None:
    rng = random.Random(6)
    answers = {answer for tool in TOOLS for one in tool.asides for answer in one.answers}
    for tool in TOOLS:
        offered = [tool.draw(rng)]
        answers |= {said.answer for _ in range(4) if (said := make_remark([tool], offered, rng))}
    assert [answer for answer in answers if len(answer.split()) >= 20] == []
    assert [answer for answer in answers if not re.fullmatch(r"[A-Z][^{}|\[\]\"]*[.!?]", answer)] == []
    assert [answer for answer in answers if _REMARK_CLAIMS.search(answer)] == []
