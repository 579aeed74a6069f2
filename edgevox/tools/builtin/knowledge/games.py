"""Chance and letters: dice, coins, random numbers and choices; spelling words and counting their letters."""

from __future__ import annotations

import random
import re

from edgevox.core.languages import capitalized, counted, listed
from edgevox.core.words import word_set
from edgevox.tools.builtin.knowledge.numbers import whole_number
from edgevox.tools.builtin.knowledge.question import Reading, first_match, pattern, plain_question

MAX_DICE = 20
MAX_SIDES = 1000
MAX_OPTIONS = 20
MAX_WORD_CHARS = 40
MAX_RANDOM = 10**12


def spoken_roll(count: int, sides: int, chance: random.Random) -> str:
    rolled = [chance.randint(1, sides) for _ in range(count)]
    if count == 1:
        return f"You rolled a {rolled[0]}." if rolled[0] not in (8, 11, 18) else f"You rolled an {rolled[0]}."
    return f"You rolled {listed([str(each) for each in rolled], 'and')}, {sum(rolled)} in total."


def spoken_word(word: str, *, counts: bool = False, letter: str = "") -> str:
    """ "N, E, C, E, S, S, A, R, Y.", or how many letters there are, or how many times one of them."""
    letters = [each for each in word if each.isalnum()]
    if letter:
        return (
            f"{capitalized(word)} has {counted(word.casefold().count(letter.casefold()), f'letter {letter.upper()}')}."
        )
    if counts:
        return f"{capitalized(word)} has {counted(len(letters), 'letter')}."
    return f"{', '.join(each.upper() for each in letters)}."


_WHY = r"(?:,? (?:and (?:tell|show|say|see|let)|because|since|so|as|to (?:decide|see|settle)|we|i|they|if|heads)\b.*)?"
_COIN_FORMS = (
    rf"(?:flip|toss|throw)(?: me)? (?:a|the|my) coin(?: for (?:me|us))?{_WHY}",
    rf"heads or tails(?:,? (?:you|your turn|go on)\b.*|{_WHY})",
    r"(?:do |i need |we need |make |another |one more )?(?:a )?coin (?:flip|toss)",
    r"(?:flip|toss|throw|spin|chuck|do)(?: me| us)? (?:a|the|my|us a|another) coin\b.*",
    r"(?:let's |we'll )?(?:flip|toss) for it",
)
_DICE_FORMS = (
    r"(?:roll|throw|toss)(?: me)? (?P<count>.+?) ?(?:(?P<sides>[\w-]+)[ -]sided )?(?:die|dice|dices)(?: for (?:me|"
    r"us))?",
    r"(?:roll|throw)(?: me)? (?P<count>.*?) ?d ?(?P<sides>\d+)",
    r"(?:roll|throw)(?: me)? (?P<count>.+?) (?:die|dice) with (?P<sides>[\w ]+?) sides",
)
_DICE_ROLL = r"(?:give (?:the|a|those|us a|me a) )?(?:dice|die)(?: a)? (?:roll|throw)|(?:do )?a (?:dice|die) roll"
_UP_TO = (
    r"(?:pick|choose|generate|give me|tell me|think of|select|say|name|draw|get me)? ?(?:a |any |another |one )?"
    r"(?:random )?number (?:up to|below|under|no higher than) (?P<high>.+)"
)
_NUMBER_FORMS = (
    r"(?:pick|choose|generate|give me|tell me|think of|select|say|i need|name|draw|what's|get me)? ?(?:a |any |"
    r"another |one )?"
    r"(?:random )?number (?:between|from|of) (?P<low>.+?) (?:and|to|through|till) (?P<high>.+)",
)
_CHOICE_FORMS = (
    r"(?:should (?:i|we) (?:\w+ )?)?(?P<options>[^,]+ or [^,]+)[,:?.] *(?:you (?:decide|choose|pick)|pick one|"
    r"choose one|(?:pick|choose|decide) for (?:me|us)|which one|just pick|help me (?:decide|choose))",
    r"(?:pick|choose|decide)(?: one)?(?: for (?:me|us))?,? (?P<options>[^,]+ or [^,]+)",
    r"(?:pick|choose|decide|select)(?: one)? between (?P<options>.+ (?:and|or) .+)",
    r"(?:pick|choose)(?: one)?(?: for (?:me|us))?[:,] (?P<options>.+ or .+)",
    r"help (?:me|us) (?:pick|choose|decide)(?: between)?[:,]? (?P<options>.+ or .+)",
    r"(?:pick|choose|decide|select)(?: one)?(?: for (?:me|us))? (?P<options>\S+(?: \S+)? or \S+(?: \S+)?)",
)
_SPELL_FORMS = (
    r"(?:how (?:do|would|should|can|does) (?:you|i|we|one) spell|how to spell|spell(?: out)?(?: for me)?)(?: the "
    r"(?:word|name))? (?P<word>.+?)(?: out)?(?: for (?:me|us|him|her|them|(?:my|the|a|our) [\w ]+))?",
    r"how (?:do|would|should|can|does) (?:you|i|we|one) write (?:the (?:word|name) )?(?P<word>.+?),? letter "
    r"(?:by|for) letter",
    r"(?:the (?:word|name) )?(?P<word>[\w'-]+),? how(?:'s| is| do you| do i| do we| would you) (?:that |it |this )?"
    r"(?:spelt|spelled|written|spell)(?: that| it| this)?",
    r"how(?:'s| is| are) (?:the (?:word|name) )?(?P<word>.+?) (?:spelled|spelt|written)",
    r"(?:what(?:'s| is) |whats )?the (?:correct |right )?spelling (?:of|for) (?:the (?:word|name) )?(?P<word>.+)",
)
_LETTERS = r"(?:how many|count|number of|what|which|total|amount of) .*\bletters?\b|\bletters? count\b"
_LETTER_FRAMES = word_set(
    "how many much letter letters count number of what which are is there in the word name does do have has had got "
    "contain contains make up spell spelling to a it for me us you tell altogether total does amount need called with "
    "many's exactly write written takes take long"
)
_COUNT_FORMS = (
    r"how many letters (?:are |is )?(?:there )?in the (?:word|name) (?P<word>\w+)",
    r"how many letters are (?:there )?in (?P<word>\w+)",
    r"how many letters does (?:the (?:word|name) )?(?P<word>\w+) have",
)
_LETTER_FORMS = (
    r"how many (?P<letter>[a-z])(?:'?s)? (?:are |is )?(?:there )?in (?:the (?:word|name) )?(?P<word>[^\W\d_]+)",
    r"how many (?P<letter>[a-z])(?:'?s)? does (?:the (?:word|name) )?(?P<word>[^\W\d_]+) have",
    r"how (?:often|many times) (?:is|does|do) (?:the letter )?(?P<letter>[a-z])(?:'?s)? (?:appear |occur |come "
    r"up |used )?in "
    r"(?:the (?:word|name) )?(?P<word>[^\W\d_]+)",
)
_NOT_A_WORD = frozenset(
    {"it", "that", "this", "them", "something", "words", "my", "mailbox", "me", "a", "the", "your", "his", "her"}
)


def read_game(text: str) -> Reading | None:
    """The call for a coin, dice, a random number, a choice or a spelling; None for any other text."""
    question = plain_question(text)
    if first_match(_COIN_FORMS, question) is not None:
        return Reading("flip_coin")
    for form in _DICE_FORMS:
        if found := first_match((form,), question):
            count, sides = _whole(found["count"] or "a"), _whole(found.get("sides") or "6")
            if count and sides and 1 <= count <= MAX_DICE and 2 <= sides <= MAX_SIDES:
                return Reading("roll_dice", {"count": count, "sides": sides})
    if first_match((_DICE_ROLL,), question) is not None:
        return Reading("roll_dice", {"count": 1, "sides": 6})
    if (found := first_match((_UP_TO,), question)) and (high := _whole(found["high"])) and high > 1:
        return Reading("pick_random", {"low": 1, "high": min(high, MAX_RANDOM)})
    if found := first_match(_NUMBER_FORMS, question):
        low, high = _whole(found["low"]), _whole(found["high"])
        if low is not None and high is not None and low < high <= MAX_RANDOM:
            return Reading("pick_random", {"low": low, "high": high})
    if found := first_match(_CHOICE_FORMS, question):
        options = [each.strip() for each in re.split(r", (?:and |or )?| or | and ", found["options"]) if each.strip()]
        if 2 <= len(options) <= MAX_OPTIONS:
            return Reading("pick_random", {"options": options})
    return _read_word(text, question)


def _read_word(text: str, question: str) -> Reading | None:
    if (letter := first_match(_LETTER_FORMS, question)) and not _NOT_A_WORD & {letter["word"]}:
        return Reading("spell_word", {"word": letter["word"], "ask": "count", "letter": letter["letter"]})
    found = first_match(_SPELL_FORMS, question)
    counted_word = (first_match(_COUNT_FORMS, question) or _lettered_word(question)) if found is None else None
    word = (found or counted_word or {}).get("word", "")
    words = word.strip("'\" ").split()
    if not words or len(words) > 3 or len(word) > MAX_WORD_CHARS or _NOT_A_WORD & set(words):
        return None
    if not all(re.fullmatch(r"[^\W\d_]+(?:['-][^\W\d_]+)*", each) for each in words):
        return None
    arguments = {"word": " ".join(words)}
    return Reading("spell_word", arguments if found else {**arguments, "ask": "count"})


def _lettered_word(question: str) -> dict[str, str] | None:
    """The one word beside those that ask for its letters: "how many letters has banana got"."""
    if not pattern(_LETTERS).search(question):
        return None
    others = [word for word in re.findall(r"[\w'-]+", question) if word not in _LETTER_FRAMES]
    return {"word": others[0]} if len(others) == 1 else None


def _whole(said: str) -> int | None:
    if said in ("a", "an", "the", "one", "a single", "some", "my"):
        return 1
    if said in ("a pair of", "a couple of", "both", "a couple"):
        return 2
    positive = said.removeprefix("minus ").removeprefix("-")
    number = whole_number(positive)
    return number if number is None or positive == said else -number
