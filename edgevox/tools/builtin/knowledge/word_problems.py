"""Finds the expression in a question of arithmetic by its content: its numbers and the words for operations.

The order and the words between them are free: "four of us share 132 pounds, how much each" is "132 pounds / 4".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from edgevox.core.languages import plural
from edgevox.core.words import NUMBER_WORDS, word_set
from edgevox.tools.builtin.knowledge.numbers import NumberTooLong, Tokens, take_number
from edgevox.tools.builtin.knowledge.question import pattern, plain_question

CANNOT_WORK_OUT = "I cannot work that out."

_MIN_WORD_CHARS = 3
_MONEY = {
    "$": "dollars", "dollar": "dollars", "dollars": "dollars", "bucks": "dollars", "€": "euros", "euro": "euros",
    "euros": "euros", "£": "pounds", "pounds": "pounds", "quid": "pounds", "pound": "pounds",
}  # fmt: skip
_PLURAL_NUMBERS = {plural(word): word for word in NUMBER_WORDS[2:21]} | {"sixes": "six"}
_PEOPLE = word_set(
    "people persons person friends kids children guests colleagues ways way parts piles pieces groups teams bags boxes "
    "adults us portions shares students housemates players"
)
_OFF = word_set("off discount discounted reduction reduced reduce cheaper sale knock knocked minus deduct decrease "
                "decreased drop drops dropped falls fell less lower taken")  # fmt: skip
_MORE = word_set("plus add added adding vat tax up rise rises rose increase increased increases raise raised more "
                 "interest markup top grows grew extra")  # fmt: skip
_TIPS = word_set("tip tips gratuity")
_SAVED = word_set("save saves saved saving savings")
_DIVIDES = word_set("divide divided dividing split splitting share shared sharing among amongst equally evenly")
_MULTIPLIES = word_set("times multiply multiplied multiplying product lots apiece")
_SUBTRACTS = word_set("minus subtract subtracted subtracting deduct less away difference knock")
_LEFT = word_set("left remain remains remaining remainder change spare")
_ADDS = word_set("plus add added adding sum total altogether together combined")
_COSTS = word_set("cost costs is are weigh weighs take takes pay buy buys makes make need needs serve serves")
_OPERATIONS = (
    _DIVIDES
    | _MULTIPLIES
    | _SUBTRACTS
    | _ADDS
    | word_set("percent % squared cubed root halve double triple tip sqrt power")
)
# A sentence without a question is a sum only if it has no other words.
_FILLERS = word_set(
    "a an the of and by to into in on for from with at me us i you we it that this is are be what's please each give "
    "gives get take equal so then just now out up down all need want bill meal per would come comes between bill's"
)
_ASKS = (
    r"\b(?:what(?:'s|s)?|how (?:much|many)|calculate|compute|work (?:it |that |this )?out|figure (?:it |that )?out|"
    r"how do (?:i|we|you) (?:split|divide|share)|which)\b"
)
_MATHS_VERB = (
    r"^(?:divide|multiply|subtract|split|share|halve|double|triple|add|sum|total|tip|take|knock|deduct|(?:the )?square|"
    r"root)\b"
)
# Words of an expression before its first number.
_LEADS = word_set("square root cube of double twice triple the sum difference average mean product between total minus "
                  "negative divide multiply subtract $ £ € (")  # fmt: skip
# Other subjects with numbers.
_OTHER_SUBJECT = (
    r"\b(?:timers?|alarms?|remind\w*|wake|list|lists|volume|brightness|temperature|thermostat|lights?|lamps?|blinds?|"
    r"degrees?|o'?clock|a\.?m|p\.?m|channel|station|song|playlist|forecast|weather|humid\w*|calendar|meetings?|"
    r"appointments?|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|april|june|july|august|"
    r"september|october|november|december|battery|message|email|news|tomorrow|yesterday|tonight|stock|shares of|"
    r"exchange|morning|afternoon|evening|night|past)\b"
)


@dataclass(frozen=True, slots=True)
class _Number:
    """A number of the question, with its place among the words; `text` is how an expression says it."""

    text: str
    value: float
    start: int
    end: int
    is_percent: bool = False
    is_part: bool = False
    money: str = ""
    is_plural: bool = False

    @property
    def amount(self) -> str:
        return f"{self.text} {self.money}".strip()


@dataclass(frozen=True, slots=True)
class _Problem:
    words: tuple[str, ...]
    numbers: tuple[_Number, ...]

    @property
    def others(self) -> frozenset[str]:
        """The words that are no part of a number."""
        taken = {place for number in self.numbers for place in range(number.start, number.end)}
        return frozenset(word for place, word in enumerate(self.words) if place not in taken)

    def after(self, number: _Number, count: int = 2) -> tuple[str, ...]:
        return self.words[number.end : number.end + count]

    def before(self, number: _Number, count: int = 2) -> tuple[str, ...]:
        return self.words[max(0, number.start - count) : number.start]

    def between(self, first: _Number, second: _Number) -> tuple[str, ...]:
        return self.words[first.end : second.start]


def expressions(question: str) -> Iterator[str]:
    """The expressions that the question may ask for, the most probable first; none if it is about something else."""
    if pattern(_OTHER_SUBJECT).search(question):
        return
    problem = _problem(question)
    if problem is None or not _is_asked(question, problem):
        return
    if not problem.others & _SAVED and (span := _span(problem)):
        yield span
    if sum(bool(problem.others & words) for words in (_DIVIDES, _MULTIPLIES, _SUBTRACTS, _ADDS - {"total"})) > 1:
        return  # which operation comes first?
    for reader in _READERS:
        if expression := reader(problem):
            yield expression


def is_unsolved(text: str) -> bool:
    """Whether a sentence certainly asks for a sum: two numbers and a word for an operation."""
    question = plain_question(text)
    problem = None if pattern(_OTHER_SUBJECT).search(question) else _problem(question)
    if problem is None or not _is_asked(question, problem):
        return False
    words = problem.others & _OPERATIONS - {
        "less",
        "add",
        "added",
        "total",
        "together",
        "share",
        "away",
        "times",
        "double",
    }
    return len(problem.numbers) > 1 and bool(words)


_PER = (
    r"\b(?:an?|per|every|each) (?:hour|day|night|week|month|year|person|piece|head|kilo|litre|liter|metre|meter|"
    r"pack|box|bag|bottle|ticket|unit)\b"
)
_FIGURE_QUESTION = (
    r"\b(?:how (?:many|much|old|far|long|tall|high|deep|big|heavy|fast|wide|hot|cold)|what(?:'s|s)?|"
    r"which (?:year|number)|when|calculate|divide|multiply|split|convert)\b"
)


def asks_figure(text: str) -> bool:
    """Whether a figure may be the answer to a sentence."""
    return pattern(_FIGURE_QUESTION).search(text) is not None


def figures(text: str) -> frozenset[float]:
    """The numbers from 2 in a text: "one" is often none."""
    problem = _problem(text.casefold())
    return frozenset(number.value for number in problem.numbers if number.value > 1) if problem else frozenset()


def _is_asked(question: str, problem: _Problem) -> bool:
    if pattern(_ASKS).search(question):
        return True
    others = {word for word in problem.others if word.isalpha()}
    if others & _TIPS and any(number.is_percent for number in problem.numbers):
        return True
    if {"at", "each"} <= others and len(problem.numbers) == 2:  # "6 tickets at 14 each"
        return True
    known = _OPERATIONS | _FILLERS | _PEOPLE | _OFF | _MORE | _MONEY.keys()
    is_sum = len(problem.numbers) > 1 or pattern(_MATHS_VERB).search(question) is not None
    return is_sum and others <= known


def _problem(question: str) -> _Problem | None:
    tokens = Tokens.of(question)
    numbers: list[_Number] = []
    try:
        while tokens:
            if (number := _number(tokens)) is None:
                tokens.at += 1
            elif tokens.peek() != "numbers":  # "the sum of the two numbers"
                numbers.append(number)
    except NumberTooLong:
        return None
    return _Problem(tokens.words, tuple(numbers)) if numbers else None


def _number(tokens: Tokens) -> _Number | None:
    start = tokens.at
    if tokens.peek() in _PLURAL_NUMBERS:
        tokens.at += 1
        one = _PLURAL_NUMBERS[tokens.words[start]]
        return _Number(one, NUMBER_WORDS.index(one), start, tokens.at, is_plural=True)
    money = _MONEY[tokens.words[start - 1]] if start and tokens.words[start - 1] in "$€£" else ""
    value = take_number(tokens)
    if value is None:
        return None
    text = " ".join(tokens.words[start : tokens.at]).replace(" / ", "/")
    is_part = value.denominator != 1 and not any(
        "." in word or word == "point" for word in tokens.words[start : tokens.at]
    )
    if tokens.take("%", "percent", "per cent"):
        return _Number(f"{text} percent", float(value) / 100, start, tokens.at, is_percent=True)
    if tokens.peek() in _MONEY and tokens.peek() not in "$€£":
        money = _MONEY[tokens.peek()]
        tokens.at += 1
    is_plural = bool(tokens.take("s", "' s"))
    return _Number(text, float(value), start, tokens.at, is_part=is_part, money=money, is_plural=is_plural)


def _span(problem: _Problem) -> str:
    """The words from the first number to the last, with the words of operations at their ends."""
    first, last = problem.numbers[0].start, problem.numbers[-1].end
    while first and problem.words[first - 1] in _LEADS:
        first -= 1
    while last < len(problem.words) and problem.words[last] in ("squared", "cubed", "factorial", ")"):
        last += 1
    words = problem.words[first:last]
    text = " ".join(words)
    if set(words) & {"/", "-", "over"} and len(words) <= _MIN_WORD_CHARS:
        return ""  # "9/11", a blood pressure
    return text


def _percentage(problem: _Problem) -> str:
    """ "What's left of 200 after 15 percent off", "a 10% tip if the bill was 72"."""
    rates = [number for number in problem.numbers if number.is_percent]
    amounts = [number for number in problem.numbers if not number.is_percent]
    if len(rates) != 1 or len(amounts) != 1:
        return ""
    rate, amount, words = rates[0].text, amounts[0].amount, problem.others
    if words & _SAVED:
        return f"{rate} of {amount}"
    if words & _TIPS:
        return f"{rate} tip on {amount}"
    if words & _OFF:
        return f"{amount} minus {rate}"
    if words & _MORE:
        return f"{amount} plus {rate}"
    return f"{rate} of {amount}" if words & {"of", "from", "on"} else ""


def _portion(problem: _Problem) -> str:
    """ "A third of the 90 eggs", "halve 90", "45 doubled", "root 144"."""
    numbers, words = problem.numbers, problem.others
    if len(numbers) == 2 and numbers[0].is_part and not numbers[1].is_part and not words & (_OPERATIONS | _LEFT):
        return f"{numbers[0].text} of {numbers[1].amount}"
    if len(numbers) != 1:
        return ""
    amount = numbers[0].amount
    if amount.endswith(" dozen"):
        return f"{amount.removesuffix(' dozen')} times 12"
    for said, expression in (
        ({"halve", "halved", "halves"}, "half of {}"), ({"double", "doubled"}, "double {}"),
        ({"triple", "tripled"}, "triple {}"), ({"root", "sqrt"}, "square root of {}"), ({"squared"}, "{} squared"),
    ):  # fmt: skip
        if words & said and not words & {"cube", "light", "volume"}:
            return expression.format(amount)
    return ""


def _times_table(problem: _Problem) -> str:
    """ "Nine sevens", "how many 7s in 63"."""
    if len(problem.numbers) != 2:
        return ""
    first, second = problem.numbers
    if first.is_plural and not second.is_plural and {"in", "into"} & set(problem.between(first, second)):
        return f"{second.text} divided by {first.text}"
    return f"{first.text} times {second.text}" if second.is_plural and not problem.between(first, second) else ""


def _division(problem: _Problem) -> str:
    """ "Four of us sharing 132 pounds", "144 into 12 equal piles", "how often does 8 go into 100"."""
    words = problem.others
    if len(problem.numbers) != 2:
        return ""
    first, second = problem.numbers
    joined = set(problem.between(first, second))
    if {"go", "goes", "fit", "fits"} & joined and {"into", "in"} & joined:
        return f"{second.amount} divided by {first.text}"
    has_share = bool(
        words & {"each", "everyone", "everybody", "per", "apiece"} and words & (_PEOPLE | {"bill", "pay", "we're"})
    )
    if not (words & _DIVIDES or has_share or "into" in joined or "ways" in words) or words & {"difference", "hours"}:
        return ""
    for number, other in ((first, second), (second, first)):
        if _PEOPLE & set(problem.after(number)):
            return f"{other.amount} divided by {number.text}"
    if has_share and not words & _DIVIDES:
        return ""
    return f"{first.amount} divided by {second.text}"


def _multiplication(problem: _Problem) -> str:
    words = problem.others
    is_each = bool(words & {"each", "apiece"} or ({"at", "of"} & words and words & {"altogether", "total", "all"}))
    is_each = is_each or pattern(_PER).search(" ".join(problem.words)) is not None
    if len(problem.numbers) != 2 or not (words & _MULTIPLIES or is_each) or words & _DIVIDES:
        return ""
    return f"{problem.numbers[0].amount} times {problem.numbers[1].amount}"


def _subtraction(problem: _Problem) -> str:
    """ "Take 18 off 100", "5 less than 30", "I had 50 and spent 18, how much is left"."""
    words = problem.others
    if len(problem.numbers) != 2:
        return ""
    first, second = problem.numbers
    joined = set(problem.between(first, second))
    if "than" in joined:
        if joined & {"less", "fewer", "smaller"}:
            return f"{second.amount} minus {first.amount}"
        return f"{second.amount} plus {first.amount}" if joined & {"more", "greater", "larger"} else ""
    if words & {"take", "subtract", "knock", "deduct", "remove", "taking"} and joined & {"from", "off"}:
        is_reversed = problem.before(first, 1) and not joined & {"take", "subtract", "taking"}
        high, low = (second, first) if is_reversed else (first, second)
        return f"{high.amount} minus {low.amount}"
    if words & _LEFT or (words & {"difference", "gap"} and "between" in words):
        high, low = (first, second) if first.value >= second.value else (second, first)
        return f"{high.amount} minus {low.amount}"
    return f"{first.amount} minus {second.amount}" if joined & _SUBTRACTS else ""


def _rate(problem: _Problem) -> str:
    """ "If 3 pens cost 12 dollars, what does one cost", "one ticket is 14, how much are 6"."""
    if len(problem.numbers) != 3 or not problem.others & _COSTS or problem.others & (_OPERATIONS | _LEFT):
        return ""
    count, price, wanted = problem.numbers
    is_whole = not any(number.is_percent or number.is_part for number in problem.numbers)
    if not is_whole or not {"how", "what", "what's"} & set(problem.words[price.end :]):
        return ""
    return f"{price.amount} divided by {count.text} times {wanted.text}"


def _addition(problem: _Problem) -> str:
    if len(problem.numbers) < 2 or not problem.others & _ADDS or any(number.is_percent for number in problem.numbers):
        return ""
    return " plus ".join(number.amount for number in problem.numbers)


_READERS: tuple[Callable[[_Problem], str], ...] = (
    _percentage, _portion, _times_table, _subtraction, _division, _multiplication, _rate, _addition,
)  # fmt: skip
