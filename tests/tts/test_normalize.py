"""Raw text and what a person would read aloud of it."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevox.tts.normalize import normalize_text

MARKDOWN = {
    "The light is **on**.": "The light is on.",
    "This is *very* important": "This is very important",
    "This is __very__ _important_": "This is very important",
    "***Wow***": "Wow",
    "It was ~~red~~ green.": "It was red green.",
    "Run `edgevox run` now.": "Run edgevox run now.",
    "```python\nprint\n```": "print",
    "```Just a sentence.```": "Just a sentence.",
    "# Weather": "Weather",
    "## Weather ##": "Weather",
    "# Using C# well": "Using C sharp well",
    "# Weather\nIt rains.": "Weather. It rains.",
    "- milk": "milk",
    "* milk\n* eggs": "milk. eggs",
    "- [x] buy milk": "buy milk",
    "1. Preheat the oven.": "1. Preheat the oven.",
    "2) Mix it.": "2. Mix it.",
    "> He said so.": "He said so.",
    "First line\ncontinues here.": "First line continues here.",
    "One paragraph\n\nAnother one": "One paragraph. Another one",
    "Above\n\n---\n\nBelow": "Above. Below",
    "| Room | Light |\n|------|:-----:|\n| Hall | on |": "Room, Light. Hall, on",
    "See [the manual](https://example.com/a_b).": "See the manual.",
    "See [the manual](https://example.com/a_(b) 'title').": "See the manual.",
    "![A cat](cat.png) sleeps": "A cat sleeps",
    "As [they][1] say[^2].": "As they say.",
    r"Not \*bold\* at all": "Not bold at all",
    "Stray ** stars and ` ticks": "Stray stars and ticks",
    "the living_room lamp": "the living room lamp",
}
HTML = {
    "<b>Hot</b> and <i class='x'>cold</i>": "Hot and cold",
    "One<br>two": "One two",
    "H<sub>2</sub>O, <b>cold</b>, now": "H 2 O, cold, now",
    "Tom &amp; Jerry": "Tom and Jerry",
    "5 &lt; 6": "5 less than 6",
    "caf&eacute;&nbsp;au lait": "café au lait",
    "Now <!-- not this --> this": "Now this",
}
PICTURES = {
    "Done! 🎉": "Done!",
    "👨‍👩‍👧‍👦 family 👍🏽": "family",
    "☀️ Sunny ✨": "Sunny",
    "🇩🇪 Germany": "Germany",
    "1️⃣ first": "1 first",
    "Hello :) there": "Hello there",
    "★★★ stars": "stars",
    "Acme™ ©": "Acme",
}
ADDRESSES = {
    "Look at https://www.example.com/a/b?c=d.": "Look at a link to example.com.",
    "http://localhost:8080/x": "a link to localhost",
    "www.example.org, or so": "a link to example.org, or so",
    "<https://example.com/>": "a link to example.com",
    "Write to jo@example.com.": "Write to jo@example.com.",
}
NUMBERS = {
    "There are 1,234.5 of them": "There are 1,234.5 of them",
    "It is -5 outside": "It is minus 5 outside",
    "It is −5 outside": "It is minus 5 outside",
    "the 1st and the 22nd": "the 1st and the 22nd",
    "½": "one half",
    "2½ cups": "2 and a half cups",
    "¾ of it": "three quarters of it",
    "2 1/2 cups": "2 and a half cups",
    "1/2 cup": "one half cup",
    "2/3 of it": "two thirds of it",
    "1/2 tsp salt": "one half of a teaspoon salt",
    "1 3/4 lb": "1 and three quarters pounds",
    "about 3/4": "about 3/4",
    "5-10 people": "5 to 10 people",
    "1,000–2,000 people": "1,000 to 2,000 people",
    "won 3-2": "won 3 to 2",
    "a 747-400": "a 747 400",
    "5 - 3": "5 minus 3",
    "COVID-19 and B-52": "COVID-19 and B-52",
    ".5 of it": "0.5 of it",
    "Call 555-1234.": "Call 5 5 5, 1 2 3 4.",
    "Call (555) 123-4567": "Call 5 5 5, 1 2 3, 4 5 6 7",
    "Call +1 555 123 4567": "Call plus 1, 5 5 5, 1 2 3, 4 5 6 7",
    "Call 9-1-1": "Call 9 1 1",
    "Order 12345678901": "Order 1 2 3 4 5 6 7 8 9 0 1",
    "Version 1.2.3 at 192.168.1.1": "Version 1.2.3 at 192.168.1.1",
}
MONEY = {
    "$5": "5 dollars",
    "$1": "1 dollar",
    "$5.50": "5 dollars and 50 cents",
    "$0.99": "99 cents",
    "$1,234.01": "1,234 dollars and 1 cent",
    "$20.00": "20 dollars",
    "€3": "3 euros",
    "3 €": "3 euros",
    "£1.2m": "1.2 million pounds",
    "$3 billion": "3 billion dollars",
    "$5k": "5 thousand dollars",
    "$5-10": "5 to 10 dollars",
    "US$7": "7 US dollars",
    "-$5": "minus 5 dollars",
    "¥500": "500 yen",
    "99¢": "99 cents",
    "10 USD": "10 US dollars",
}
MEASURES = {
    "50%": "50 percent",
    "10-20 %": "10 to 20 percent",
    "5 km/h": "5 kilometers per hour",
    "21.5°C": "21.5 degrees Celsius",
    "-1 °C": "minus 1 degree Celsius",
    "72℉": "72 degrees Fahrenheit",
    "turn it by 45°": "turn it by 45 degrees",
    "3 kg": "3 kilograms",
    "1 kg": "1 kilogram",
    "1.0 kg": "1.0 kilograms",
    "½ kg": "one half of a kilogram",
    "½ h": "one half of an hour",
    "1½ kg": "1 and a half kilograms",
    "a 60-W bulb": "a 60 watt bulb",
    "230 V, 16 mA": "230 volts, 16 milliamperes",
    "2.4 GHz": "2.4 gigahertz",
    "15 min": "15 minutes",
    "15 min. later": "15 minutes later",
    "1 h": "1 hour",
    "30 s": "30 seconds",
    "10 m": "10 meters",
    "25 m²": "25 square meters",
    "512 MB": "512 megabytes",
    "0.3 kWh": "0.3 kilowatt hours",
    "9.8 m/s": "9.8 meters per second",
    "5 W/K": "5 watts per kelvin",
    "20 µg/m³": "20 micrograms per cubic meter",
    "100 Mbps": "100 megabits per second",
    "60 mph": "60 miles per hour",
    "2-3 tbsp": "2 to 3 tablespoons",
    "a 5G phone in room 16A": "a 5G phone in room 16A",
    "10 in the morning": "10 in the morning",
}
TIMES = {
    "at 3:30 pm": "at 3:30 pm",
    "at 3:30pm": "at 3:30 pm",
    "at 3pm": "at 3 pm",
    "at 3:00 p.m. today": "at 3 p.m. today",
    "at 15:45": "at 15:45",
    "at 07:05": "at 7 oh 5",
    "at 10:00": "at 10 o'clock",
    "at 15:00": "at 15 hundred",
    "at 00:00": "at midnight",
    "9:00-17:30": "9 o'clock to 17:30",
    "9am-5pm": "9 am to 5 pm",
    "7 o'clock": "7 o'clock",
    "in 16:9": "in 16:9",
}
DATES = {
    "2026-11-15": "November 15th, twenty twenty-six",
    "2026-11-15T10:00:00Z": "November 15th, twenty twenty-six at 10 o'clock",
    "11/15/2026": "November 15th, twenty twenty-six",
    "25/12/2026": "December 25th, twenty twenty-six",
    "3/4/2026": "3/4/2026",
    "on 3/4": "on 3/4",
    "Nov. 3": "November 3rd",
    "Sat, Nov 15, 2026": "Saturday, November 15th, twenty twenty-six",
    "Weds, Nov 18": "Wednesday, November 18th",
    "in 1984": "in nineteen eighty-four",
    "since 1905": "since nineteen oh five",
    "in 2005": "in 2005",
    "1939-1945": "nineteen thirty-nine to nineteen forty-five",
    "the 1990s": "the nineteen nineties",
    "the '80s": "the eighties",
    "1984 watts": "1984 watts",
    "I may 5 times": "I may 5 times",
    "The Sun. It sat.": "The Sun. It sat.",
}
ABBREVIATIONS = {
    "Dr. Smith met Mrs. Jones": "Doctor Smith met Missus Jones",
    "St. Mary": "Saint Mary",
    "on Main St.": "on Main Street.",
    "on Main St. in town": "on Main Street in town",
    "on Main St. The house": "on Main Street. The house",
    "5th Ave. It is": "5th Avenue. It is",
    "Acme Inc. sells": "Acme Incorporated sells",
    "E.g. Apples": "For example Apples",
    "fruit, e.g. apples": "fruit, for example apples",
    "i.e., the red ones": "that is, the red ones",
    "milk, eggs, etc.": "milk, eggs, et cetera.",
    "milk etc. are here": "milk et cetera are here",
    "milk, etc. Then go.": "milk, et cetera. Then go.",
    "Spain vs. Italy": "Spain versus Italy",
    "approx. 5": "approximately 5",
    "No. 5 on p. 12": "number 5 on page 12",
    "I said no. It is": "I said no. It is",
    "tea w/o sugar": "tea without sugar",
    "NASA and the U.S. army": "NASA and the U.S. army",
}
SYMBOLS = {
    "me & you": "me and you",
    "AT&T": "AT&T",
    "2 + 2 = 4": "2 plus 2 equals 4",
    "3 < 4 > 2": "3 less than 4 greater than 2",
    "3 × 4 and 3*4": "3 times 4 and 3 times 4",
    "1920x1080": "1920 by 1080",
    "10 ÷ 2": "10 divided by 2",
    "x ≥ 5": "x greater than or equal to 5",
    "5 ± 1": "5 plus or minus 1",
    "~5 people": "about 5 people",
    "#1": "number 1",
    "#sunny": "hashtag sunny",
    "C# and C++": "C sharp and C++",
    "@bob": "at bob",
    "x² and 10^6": "x squared and 10 to the power of 6",
    "Berlin -> Paris": "Berlin to Paris",
    "he/she and/or TCP/IP": "he or she and or TCP IP",
    "Well… maybe?!": "Well... maybe?",
    "18+": "18 plus",
}
TABLE = {
    **(MARKDOWN | HTML | PICTURES | ADDRESSES | NUMBERS | MONEY),
    **(MEASURES | TIMES | DATES | ABBREVIATIONS | SYMBOLS),
}

PROSE = [
    "Hello there!",
    "The kitchen light is on, and the hall is dark.",
    "It's 3:30, isn't it?",
    'She said: "I don\'t know"; then she left.',
    "Well, that's it — or is it?",
    "I have 12 apples (all red) and 3.5 pears.",
    "Mother-in-law, state-of-the-art, Wi-Fi.",
    "Turn left at the corner; then go on for a while.",
    "NASA and the BBC agree.",
    "“Curly quotes” aren’t a problem.",
    "Der Herd ist aus, schöne Grüße.",
]


@pytest.mark.parametrize(("raw", "spoken"), TABLE.items())
def test_raw_text_is_spoken_like_this(raw: str, spoken: str) -> None:
    assert normalize_text(raw) == spoken


@pytest.mark.parametrize(("raw", "spoken"), (MONEY | MEASURES | TIMES | SYMBOLS).items())
def test_it_is_spoken_the_same_inside_a_sentence(raw: str, spoken: str) -> None:
    assert normalize_text(f"So (as I said) {raw} or more.") == f"So (as I said) {spoken} or more."


@pytest.mark.parametrize("raw", TABLE)
def test_what_is_speakable_stays_as_it_is(raw: str) -> None:
    assert normalize_text(normalize_text(raw)) == normalize_text(raw)


@pytest.mark.parametrize("prose", PROSE)
def test_plain_prose_is_left_alone(prose: str) -> None:
    assert normalize_text(prose) == prose
    assert normalize_text(prose, language="sv") == prose


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "...", "***", "🎉", "\0\x01", "---", "```\n```", "[]()", "<br>", "->", "="]
)
def test_nothing_to_say_is_empty(text: str) -> None:
    assert normalize_text(text) == ""


def test_control_characters_disappear() -> None:
    assert normalize_text("one\x00\x1b two\u200b\ufeff three\tfour\x07\ud800") == "one two three four"


def test_other_languages_get_no_english_words() -> None:
    assert (
        normalize_text("**5 km** & $3 kl. 10:00 🎉 https://example.se/x", language="sv")
        == "5 km & $3 kl. 10:00 example.se"
    )
    assert normalize_text("*3 kg*", language="en-GB") == "3 kilograms"


def test_letters_that_are_joined_stay_joined() -> None:
    assert normalize_text("می\u200cخواهم", language="fa") == "می\u200cخواهم"


anything = st.one_of(
    st.text(max_size=200),
    st.text(alphabet=st.sampled_from("aA1 0.,:;-–/$€%°#*_`~[]()<>|&@=+^!?'\"\n½²🎉\u200d\\"), max_size=120),
    st.lists(st.sampled_from([*TABLE, " ", "\n", "-", "."]), max_size=6).map("".join),
)


@given(anything)
def test_any_text_comes_out_without_markup_and_pictures(text: str) -> None:
    for language in ("en", "fr"):
        spoken = normalize_text(text, language)
        assert not set(spoken) & set("*_`#|~<>{}[]\\^\n\0")
        assert all(unicodedata.category(char) not in {"So", "Cc", "Cs"} or char in "°℃℉№" for char in spoken)
        assert spoken == spoken.strip()
        assert not spoken or any(char.isalnum() for char in spoken)


@given(st.lists(st.text(alphabet="abcdefghijklmnopqrstuvwyz", min_size=2, max_size=9), min_size=1, max_size=12))
def test_words_are_never_lost(words: list[str]) -> None:
    assert normalize_text(" ".join(words)).split() == words


HOSTILE = [
    *(
        "a",
        "9",
        " ",
        ".",
        "-",
        "[",
        "]",
        "(",
        "*",
        "_",
        "<",
        "&",
        "$",
        "#",
        "/",
        "~",
        "=",
        "+",
        "^",
        "`",
        "|",
        "\n",
        "!",
    ),
    *(
        "1,",
        "1.",
        "1-",
        "1/",
        "9:",
        "a/",
        "a_",
        "e.",
        "$1",
        "&#",
        "<a",
        "[a](",
        "?!",
        ". ",
        "<!--",
        "https://",
        "5 km ",
    ),
    *("😀", "\u200d", "\0", "½", "10:00-", "2026-", "(555) ", "+1 ", "Dr.", "e.g.", "in 1984 ", "> ", "# ", "|-", ":)"),
]


def processor_s(unit: str, length: int) -> float:
    many = unit * (length // len(unit))
    started_s = time.thread_time()
    normalize_text(f"1 a{many}b km\n{many}b")
    return time.thread_time() - started_s


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_long_text_of_anything_takes_linear_time(unit: str) -> None:
    # Four times the text: four times the time, or sixteen times if a pattern starts over at each character.
    # Garbage of other tests may be collected meanwhile, so that one of three measurements is enough.
    assert any(processor_s(unit, 16_000) < 7 * processor_s(unit, 4_000) + 0.1 for _ in range(3))
