"""What a streaming reply is cut into, and that the cutting of the stream has no say in it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevox.tts.sentences import MAX_CHARS, MIN_CLAUSE_CHARS, SentenceSplitter


def split(text: str) -> list[str]:
    splitter = SentenceSplitter()
    return [*splitter.feed(text), *splitter.finish()]


WHOLE = [
    # decimals, thousands, times, versions
    "It is 3.5 degrees.",
    "There are 1,000 of them and 2,500.75 more.",
    "Set it for 3:30 in the morning.",
    "The meeting is at 5 p.m. tomorrow.",
    "Breakfast is at 7 a.m. sharp.",
    "Version 1.2.3 is out.",
    # abbreviations and initials
    "Dr. Smith and Mrs. Jones met Prof. Lee.",
    "St. Mary lives near Mt. Everest.",
    "Some fruit, e.g. apples, i.e. the red ones.",
    "The U.S. Government and the U.K. Parliament.",
    "J. R. R. Tolkien wrote it.",
    "She has a Ph.D. in physics.",
    "Germany vs. Brazil was approx. two hours long.",
    "See No. 5 and Fig. 3 on p. 12.",
    "Milk, bread, eggs, etc. are on the list.",
    # addresses
    "Look at https://example.com/a.b?c=d!e for it.",
    "Write to jo.doe@example.com or visit example.com.",
    # quotes, brackets, ellipses
    'She said "Stop. Go home." and left.',
    "She said “Stop. Go home.” and left.",
    "It works (most days. Not always.) quite well.",
    "Wait... what is that?",
    "Well … maybe.",
    '"Stop!" he said.',
    'The pipe is 5" wide.',
    # list markers
    "1. Preheat the oven.",
    "a. First of all.",
    # other marks
    "Yahoo! is old.",
    "What?!",
    "state-of-the-art things",
]


@pytest.mark.parametrize("text", WHOLE)
def test_one_sentence_stays_whole(text: str) -> None:
    assert SentenceSplitter(min_clause_chars=MAX_CHARS).feed(text + " ") == ()
    splitter = SentenceSplitter(min_clause_chars=MAX_CHARS)
    assert [*splitter.feed(text), *splitter.finish()] == [text]


SPLIT = [
    ["Hello.", "How are you?", "Fine!", "Good."],
    ["The light is on.", "It is 21.5 degrees."],
    ["It starts at 5 p.m.", "Then we eat."],
    ["So do I.", "Good."],
    ["Wait...", "What?"],
    ['She said "Stop."', "Then she left."],
    ["“Stop.”", "“Why?”"],
    ["(It works.)", "Next."],
    ["**Done.**", "Next."],
    ["Milk, eggs, etc.", "That is all."],
    ["1. Preheat the oven.", "2. Mix the flour."],
    ["Look at https://example.com.", "It is there."],
    ["It costs 3.", "5 were sold."],
]


@pytest.mark.parametrize("sentences", SPLIT)
def test_sentences_are_told_apart(sentences: list[str]) -> None:
    assert split(" ".join(sentences)) == sentences


def test_lines_and_list_items_are_sentences() -> None:
    text = "Here is the list:\n- milk\n- two eggs, boiled\n\n1. one\r\n2. two\n"
    assert split(text) == ["Here is the list:", "- milk", "- two eggs, boiled", "1. one", "2. two"]


def test_scripts_without_spaces_are_split() -> None:
    assert split("你好。你是谁？「好。」再见") == ["你好。", "你是谁？", "「好。", "」再见"]


def test_a_sentence_comes_out_with_the_first_character_of_the_next() -> None:
    splitter = SentenceSplitter()
    assert splitter.feed("The light is on.") == ()
    assert splitter.feed(" ") == ()
    assert splitter.feed("A") == ("The light is on.",)


@pytest.mark.parametrize("mark", [",", ";", ":", " –", " —", " -", "—"])
def test_only_the_first_piece_may_end_at_a_clause(mark: str) -> None:
    clause = "x" * MIN_CLAUSE_CHARS + mark
    assert split(f"{clause} then this one is{mark} as we know{mark} whole") == [
        clause,
        f"then this one is{mark} as we know{mark} whole",
    ]


def test_a_short_first_clause_waits_for_more() -> None:
    assert split("Sure, I can do that for you, and more.") == ["Sure, I can do that for you,", "and more."]


def test_a_clause_does_not_end_inside_a_date_or_in_brackets() -> None:
    assert split("We meet on Sunday, November 15, 2026 at noon") == ["We meet on Sunday, November 15, 2026 at noon"]
    assert split("These five rooms (the hall, the kitchen, the bath) are lit") == [
        "These five rooms (the hall, the kitchen, the bath) are lit"
    ]


def test_a_run_on_is_cut_at_the_best_place() -> None:
    words = "so and so on and on "
    at_space = split(words * 100)
    assert all(len(piece) <= MAX_CHARS for piece in at_space)
    assert " ".join(at_space).split() == (words * 100).split()
    at_clause = split("first. Then " + (words * 10).strip() + ", " + words * 10)
    assert at_clause[1].endswith("on,")
    in_quotes = split('"' + words * 10 + "End. So " + words * 10 + '"')
    assert in_quotes[0].endswith("End.")


def test_a_word_without_end_is_cut() -> None:
    pieces = split("x" * 1000)
    assert "".join(pieces) == "x" * 1000
    assert max(map(len, pieces)) <= MAX_CHARS


def test_a_quote_that_is_never_closed_ends_with_its_line() -> None:
    assert split('He said "no.\nThat is all. Really.') == ['He said "no.', "That is all.", "Really."]


def test_a_splitter_can_be_used_again() -> None:
    splitter = SentenceSplitter()
    text = "This is a long first clause, and a second one. Then more"
    first = [*splitter.feed(text), *splitter.finish()]
    assert [*splitter.feed(text), *splitter.finish()] == first
    assert first[0] == "This is a long first clause,"


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\t \r\n"])
def test_no_text_gives_no_sentence(text: str) -> None:
    assert split(text) == []


tricky = st.text(alphabet=st.sampled_from("aBI1 .,!?…—-–:;\"'“”()[]*\n。\u00a0\r"), max_size=400)
text_and_cuts = st.one_of(tricky, st.text(max_size=200)).flatmap(
    lambda text: st.tuples(st.just(text), st.lists(st.integers(0, len(text)), max_size=20).map(sorted))
)


@given(text_and_cuts)
def test_any_cutting_of_the_stream_gives_the_same_sentences(text_and_cuts: tuple[str, list[int]]) -> None:
    text, cuts = text_and_cuts
    splitter = SentenceSplitter(min_clause_chars=5, max_chars=40)
    whole = [*splitter.feed(text), *splitter.finish()]
    pieces: list[str] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        pieces.extend(splitter.feed(text[start:end]))
    pieces.extend(splitter.finish())
    assert pieces == whole


@given(st.one_of(tricky, st.text(max_size=200)))
def test_no_character_is_lost_or_added(text: str) -> None:
    splitter = SentenceSplitter(min_clause_chars=5, max_chars=40)
    pieces = [*splitter.feed(text), *splitter.finish()]
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(piece == piece.strip() and 0 < len(piece) <= 40 for piece in pieces)


@given(st.lists(st.text(alphabet="abcXYZ.,!?'\"", min_size=1, max_size=12)))
def test_words_stay_whole(words: list[str]) -> None:
    assert " ".join(split(" ".join(words))).split() == words


@pytest.mark.parametrize("unit", ["a", " ", ".", "(", '"', ". ", ", ", "a. ", "A! ", "—", "\n", '." '])
def test_a_hundred_kilobytes_take_no_time(unit: str) -> None:
    started_s = time.process_time()
    split(unit * (100_000 // len(unit)))
    assert time.process_time() - started_s < 4.0


# --- other languages


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Am 3. Mai um 7. Dann um 21 Uhr, z. B. bei Dr. Meyer bzw. Frau Abel."),
        ("de", "Das kostet ca. 3 Mio. Euro inkl. Versand, vgl. Nr. 5."),
        ("de", "Er sagte: „Halt. Bleib stehen.“ und ging."),
        ("de", "Er sagte: »Halt. Bleib stehen.« und ging."),
        ("es", "El Sr. López y la Sra. Ruiz viven en la avda. Goya, p. ej. en la pág. 7."),
        ("es", "¿Sr. López?"),
        ("fr", "M. Dupont et Mlle. Martin, p. ex. au n. 7."),
        ("fr", "Il a dit « Arrête. Rentre. » puis il est parti."),
        ("it", "Il sig. Rossi e la dott. Bianchi."),
        ("nl", "Dhr. Jansen en mevr. De Vries, bijv. morgen."),
        ("pl", "Np. Jan i tzw. Anna."),
        ("pt", "O Sr. Silva e a Dra. Costa."),
    ],
)
def test_a_sentence_of_another_language_stays_whole(language: str, text: str) -> None:
    splitter = SentenceSplitter(language, min_clause_chars=MAX_CHARS)
    assert splitter.feed(f"{text} ") == ()


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("de", ["Das Licht ist an.", "Möchtest du noch etwas?", "Gern!"]),
        ("de", ["„Gut.“", "Er ging.", "»Gut.«", "Sie kam."]),
        ("de", ["Das war 1999.", "Danach kam nichts."]),
        ("es", ["¿Qué hora es?", "¡Son las tres!", "¿y ahora?"]),
        ("fr", ["Il a dit « oui ».", "Puis rien.", "Voilà !", "Merci."]),
        ("it", ["È acceso.", "Ecco."]),
    ],
)
def test_sentences_of_another_language_are_told_apart(language: str, sentences: list[str]) -> None:
    splitter = SentenceSplitter(language, min_clause_chars=MAX_CHARS)
    assert [*splitter.feed(" ".join(sentences)), *splitter.finish()] == sentences


def test_an_ordinal_of_german_is_the_end_of_an_english_sentence() -> None:
    text = "He came 3. Then he left."
    assert split(text) == ["He came 3.", "Then he left."]
