"""Evaluates arithmetic as it is spoken or written: "15 times 12", "20% of 85", "(3 + 4) * 5", "split 90 by 4".

A recursive-descent parser over words; exact fractions, with bounded size and time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from edgevox.core.languages import capitalized, listed, plural
from edgevox.core.words import NUMBER_WORDS, ORDINAL_WORDS
from edgevox.tools.builtin.knowledge.numbers import NumberTooLong, Tokens, number_text, ordinal_value, take_number
from edgevox.tools.builtin.knowledge.question import (
    MAX_QUESTION_CHARS,
    NoAnswer,
    Reading,
    first_match,
    pattern,
    plain_question,
)
from edgevox.tools.builtin.knowledge.terms import (
    PERCENT,
    TOO_LARGE,
    NotArithmetic,
    Term,
    added,
    divided,
    factorial,
    multiplied,
    raised,
    remainder,
    root,
    share,
)
from edgevox.tools.builtin.knowledge.word_problems import expressions

_MAX_TOKENS = 80
_MAX_SPOKEN_CHARS = 60
_NOUNS = {
    "$": "dollar", "dollars": "dollar", "dollar": "dollar", "bucks": "dollar", "€": "euro", "euros": "euro",
    "euro": "euro", "£": "pound", "pounds": "pound", "pound": "pound", "cents": "cent", "minutes": "minute",
    "hours": "hour", "days": "day", "weeks": "week", "months": "month", "years": "year", "miles": "mile",
    "kilometers": "kilometer", "kilometres": "kilometre", "meters": "meter", "metres": "metre", "grams": "gram",
    "kilos": "kilo", "kilograms": "kilogram", "liters": "liter", "litres": "litre", "degrees": "degree",
}  # fmt: skip
_PART_NAMES = {2: "half", 4: "quarter"} | {below: ORDINAL_WORDS[below - 1] for below in (3, *range(5, 21))}
_MONEY = {"dollar": "$", "euro": "€"}


def evaluate(expression: str) -> Term:
    """The value of an expression. Raises NotArithmetic, and NoAnswer with a sentence to say."""
    if len(expression) > MAX_QUESTION_CHARS * 5:
        raise NoAnswer(TOO_LARGE)
    tokens = Tokens.of(expression)
    if len(tokens.words) > _MAX_TOKENS:
        raise NoAnswer(TOO_LARGE)
    try:
        term = _Parser(tokens).whole()
    except (NumberTooLong, OverflowError) as error:
        raise NoAnswer(TOO_LARGE) from error
    except RecursionError as error:
        raise NotArithmetic from error
    return term


def spoken_result(expression: str) -> str:
    """The sentence that answers an expression. Raises NotArithmetic."""
    try:
        term = evaluate(expression)
    except NoAnswer as error:
        return str(error)
    is_money = term.noun in _MONEY and term.value.denominator != 1 and abs(term.value) < 10**9
    value = round(term.value, 2) if is_money else term.value
    text, is_exact = number_text(value)
    if is_money:
        sign = "minus " if value < 0 else ""
        text = f"{sign}{_MONEY[term.noun]}{float(abs(value)):,.2f}"  # the voice says dollars and cents
    elif term.noun:
        text = f"{text} {term.noun if text == '1' or term.noun == PERCENT else plural(term.noun)}"
    if not (is_exact and term.is_exact and value == term.value):
        text = f"about {text}"
    subject = term.text if len(term.text) <= _MAX_SPOKEN_CHARS and "(" not in term.text else "that"
    return capitalized(f"{subject} is {text}.") if not term.is_sentence else capitalized(term.text)


def read_arithmetic(text: str) -> Reading | None:
    """The call that answers a question of arithmetic; None for any other text."""
    question = plain_question(text)
    for form, expression in _WORD_PROBLEMS:
        if (found := first_match((form,), question)) and (reading := _asked(expression.format_map(found))):
            return reading
    rest = pattern(_FRAME).sub("", pattern(_IF_I).sub("", question), count=1)
    is_asked = rest != question
    rest = pattern(_FRAME_END).sub("", pattern(_WHAT_IS_IT).sub("", rest))
    if not rest or (pattern(r"\d+ ?[/-] ?\d+").fullmatch(rest) and (not is_asked or " " not in rest)):
        return None  # "24/7", "10-4"
    if not is_asked and pattern(r"[\w ]+ over [\w ]+").fullmatch(rest):
        return None  # a blood pressure
    return _asked(rest)


def read_word_problem(text: str) -> Reading | None:
    """The call for a question whose numbers and words of operations make an expression, in whatever order."""
    return next(filter(None, map(_asked, expressions(plain_question(text)))), None)


def _asked(expression: str) -> Reading | None:
    try:
        term = evaluate(expression)
    except NotArithmetic:
        return None
    except NoAnswer:
        return Reading("calculate", {"expression": expression})
    return Reading("calculate", {"expression": expression}) if term.operations else None


_FRAME = (
    r"^(?:(?:what(?:'s| is| are| do| does| would be| will be)?|whats|how much(?: is| are| does| would be| do)?|"
    r"how many (?:is|are)|calculate|compute|work out|figure out|solve|evaluate|answer|find(?: out)?|"
    r"add(?: up)?(?= .+ plus )|"
    r"do(?: the math(?: on| for)?)?|(?:what )?(?:do|would|will) (?:you|i|we) get (?:if|when) (?:you|i|we)|"
    r"(?:the )?(?:answer|result|value|solution|outcome) (?:of|to|for)|"
    r"(?:the |this )(?:math |maths )?(?:problem|equation|calculation))[,: ]+)+"
)
_FRAME_END = (
    r"(?:(?: (?:equals?|equal to|is equal to|makes?|comes? to|is what|is how (?:much|many)|is|are|be|again)|[ =?])+)$"
)
_IF_I = r"^(?:if|when|suppose|say) (?:i|we|you) (?=(?:split|share|divide|add|subtract|multiply|take)\b)"
_WHAT_IS_IT = (
    r",? (?:so |then )?(?:what|how much)(?:'s| is| are| does| do| would| will| should)? "
    r"(?:each|everyone|everybody|that|it|i|we|you|one)\b.*$"
)
_RISES = r"(?:goes up|went up|rises?|rose|increases?|increased|is raised|gets raised|grows|grew)"
_FALLS = r"(?:goes down|went down|falls?|fell|drops?|dropped|decreases?|decreased|is reduced|shrinks)"
_THAT_IS = r",? (?:and )?(?:what|how much)\b.*"
# Problems in words, and the expression of each.
_WORD_PROBLEMS = (
    (r"(?:add|sum|total)(?: up)?(?: together)? (?P<list>.+(?:,| and ).+?)(?: together| up)?", "sum of {list}"),
    (
        r"(?:if )?(?:i|we|you|he|she|they|there)(?:'ve|'s| have| has| had| are| is| got| buy| bought| need| use)+ "
        r"(?P<count>\S+(?: \S+)??) \w+ (?:of|with|at|holding|containing) (?P<each>\S+(?: \S+)??)(?: "
        r"[^\W\d]+)?(?: each| in each)?,? "
        r"(?:so |then )?how (?:many|much)\b.*",
        "{count} times {each}",
    ),
    (rf"(?:if )?(?:[a-z']+ ){{1,3}}(?:is|was|costs?) (?P<whole>.+?) (?:and|but)(?: it| then)* {_RISES}(?: by)? "
     rf"(?P<share>.+?(?: percent|%)){_THAT_IS}", "{whole} plus {share}"),
    (rf"(?:if )?(?:[a-z']+ ){{1,3}}(?:is|was|costs?) (?P<whole>.+?) (?:and|but)(?: it| then)* {_FALLS}(?: by)? "
     rf"(?P<share>.+?(?: percent|%)){_THAT_IS}", "{whole} minus {share}"),
    (r"(?:what|which) (?:percentage|percent) (?:is|are) (?P<part>.+?) (?:out )?of (?P<whole>.+)",
     "{part} as a percentage of {whole}"),
    (r"(?:what(?:'s| is) |whats )?(?P<part>.+?) out of (?P<whole>.+?) (?:as a|in|is what) (?:percentage|percent)",
     "{part} as a percentage of {whole}"),
    (r"(?:what(?:'s| is) |whats |how much is )?half (?:the )?price (?:of|for|on) (?P<whole>.+?)(?: is (?:how "
     r"much|what))?",
     "half of {whole}"),
    (r"how (?:many|much) (?:is|are|makes?) (?P<count>.+?) dozens?(?: [a-z]+)?", "{count} times 12"),
)  # fmt: skip


class _Parser:
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def whole(self) -> Term:
        for form in (self._command, self._split, self._share, self._into, self._tip, self._remainder, self._sum):
            self._tokens.at = 0
            if (term := self._tried(form)) is not None and not self._tokens:
                return term
        raise NotArithmetic

    def _tried(self, form: Callable[[], Term | None]) -> Term | None:
        start = self._tokens.at
        try:
            term = form()
        except NotArithmetic:
            term = None
        if term is None:
            self._tokens.at = start
        return term

    # --- whole sentences

    def _command(self) -> Term | None:
        """ "add 5 to 7", "subtract 3 from 10", "multiply 6 by 7", "divide 90 by 4"."""
        tokens = self._tokens
        verb = tokens.take("add", "subtract", "take away", "take", "deduct", "multiply", "divide")
        if not verb:
            return None
        first = self._sum()
        if first.is_percent:
            tokens.take("sales tax", "tax", "vat", "tip", "service", "interest")
        match verb, tokens.take("to", "and", "from", "by", "with"):
            case "add", "to" | "and":
                second = self._sum()
                return added(second, first) if first.is_percent else added(first, second)
            case "subtract" | "take away" | "take" | "deduct", "from":
                return added(self._sum(), first, -1)
            case "multiply", "by" | "with" | "and":
                return multiplied(first, self._sum())
            case "divide", "by":
                return divided(first, self._sum())
        return None

    def _split(self) -> Term | None:
        """ "split 90 by 4", "90 dollars split between 3 people", "divide 90 among 4"."""
        tokens = self._tokens
        leads = tokens.take("split", "share", "divide")
        tokens.take("a bill of", "the bill of", "a total of")
        amount = self._sum()
        if not (leads or tokens.take("split", "shared", "divided")):
            return None
        between = tokens.take("by", "between", "among", "amongst", "into", "in")
        count = self._sum()
        people = tokens.take("people", "persons", "friends", "of us", "ways", "way", "parts", "equal parts", "pieces")
        if not (between or people in ("ways", "way")):
            return None
        return replace(divided(amount, count), text=f"{amount.text} split {count.text} ways")

    def _share(self) -> Term | None:
        """ "what percentage of 80 is 20" and "20 is what percent of 80"."""
        tokens = self._tokens
        if tokens.take("what percentage", "what percent", "what %", "percentage", "percent", "%"):
            if not tokens.take("of"):  # "what percentage 30 is of 163"
                part = self._sum()
                if not tokens.take("is of"):
                    return None
                return share(part, self._sum())
            whole = self._sum()
            if not tokens.take("is"):
                return None
            part = self._sum()
        else:
            part = self._sum()
            if not tokens.take("is what percent of", "is what percentage of", "is what % of", "as a percentage of"):
                return None
            whole = self._sum()
        return share(part, whole)

    def _into(self) -> Term | None:
        """ "how many times does 7 go into 100"."""
        tokens = self._tokens
        if not tokens.take("how many times does", "how many times can", "how often does"):
            return None
        part = self._sum()
        if not tokens.take("go into", "fit into", "fit in", "go in"):
            return None
        whole = self._sum()
        term = divided(whole, part)
        times, left = divmod(whole.value, part.value)
        if whole.value.denominator != 1 or part.value.denominator != 1 or times < 1:
            return term
        rest = f", with {number_text(left)[0]} left over" if left else ""
        count = f"{number_text(Fraction(times))[0]} time{'s' if times != 1 else ''}"
        return replace(term, text=f"{part.text} goes into {whole.text} {count}{rest}.", is_sentence=True)

    def _tip(self) -> Term | None:
        """ "a 20 percent tip on 60 dollars"."""
        tokens = self._tokens
        tokens.take("a", "an", "the")
        rate = self._number()
        if not rate.is_percent or not tokens.take("tip on", "tip for", "tip of", "gratuity on", "tax on", "vat on"):
            return None
        noun = tokens.peek(-2)
        tokens.take("a bill of", "the bill of", "a")
        bill = self._sum()
        tokens.take("bill", "meal", "check")
        tip = multiplied(rate, bill)
        amounts = [number_text(round(value, 2))[0] for value in (tip.value, bill.value + tip.value)]
        money = f" {plural(bill.noun)}" if bill.noun else ""
        text = f"{rate.text} of {bill.text} is {amounts[0]}{money}, so {amounts[1]} with the {noun}."
        return replace(tip, text=text, is_sentence=True)

    def _remainder(self) -> Term | None:
        tokens = self._tokens
        tokens.take("the")
        if not tokens.take("remainder of", "remainder when", "remainder if"):
            return None
        first = self._power()
        if not tokens.take("divided by", "is divided by", "over", "/"):
            return None
        return remainder(first, self._power())

    # --- expressions

    def _sum(self) -> Term:
        term = self._product()
        while sign := self._tokens.take(
            "+", "plus", "added to", "and then add", "-", "minus", "less", "take away", "subtracted from"
        ):
            other = self._product()
            if sign == "subtracted from":
                term, other = other, term
            is_plus = sign in ("+", "plus", "added to", "and then add")
            term = added(term, other, 1 if is_plus else -1)
        return term

    def _product(self) -> Term:
        tokens, term = self._tokens, self._power()
        while sign := tokens.take(
            "*", "x", "×", "·", "times", "time", "multiplied by", "multiplied with", "/", "÷", "divided by", "over",
            "mod", "modulo",
        ):  # fmt: skip
            other = self._power()
            if sign in ("mod", "modulo"):
                term = remainder(term, other)
            else:
                is_division = sign in ("/", "÷", "divided by", "over")
                term = divided(term, other) if is_division else multiplied(term, other)
        return term

    def _power(self) -> Term:
        tokens, term = self._tokens, self._unary()
        while True:
            if tokens.take("squared"):
                term = raised(term, Term(Fraction(2), "2"), f"{term.text} squared")
            elif tokens.take("cubed"):
                term = raised(term, Term(Fraction(3), "3"), f"{term.text} cubed")
            elif tokens.take("factorial", "!"):
                term = factorial(term)
            elif tokens.take("^", "**", "to the power of", "to the power", "raised to the power of", "raised to"):
                exponent = self._power()  # binds to the right, as on paper
                term = raised(term, exponent, f"{term.text} to the power of {exponent.text}")
            elif tokens.peek() == "to" and tokens.peek(1) == "the" and (nth := ordinal_value(tokens.peek(2))):
                tokens.at += 3
                tokens.take("power")
                term = raised(term, Term(Fraction(nth), str(nth)), f"{term.text} to the power of {nth}")
            else:
                return term

    def _unary(self) -> Term:
        if self._tokens.take("-", "minus", "negative"):
            term = self._unary()
            return replace(term, value=-term.value, text=f"minus {term.text}")
        self._tokens.take("+")
        return self._primary()

    def _primary(self) -> Term:
        tokens = self._tokens
        if tokens.take("("):
            term = self._sum()
            if not tokens.take(")"):
                raise NotArithmetic
            return replace(term, text=f"({term.text})" if term.operations else term.text)
        start = tokens.at
        tokens.take("the", "a")
        if name := tokens.take(
            "square root of", "sqrt of", "sqrt", "cube root of", "third root of", "root of", "square of"
        ):
            term = self._power()
            if name == "square of":
                return raised(term, Term(Fraction(2), "2"), f"{term.text} squared")
            return root(term, 3 if name in ("cube root of", "third root of") else 2)
        if name := tokens.take(
            "sum of", "total of", "product of", "difference between", "difference of", "average of", "mean of",
            "quotient of",
        ):  # fmt: skip
            return self._listed(name)
        tokens.at = start
        if factor := tokens.take("double", "twice", "triple"):
            times = Term(Fraction(3 if factor == "triple" else 2), factor)
            term = self._power()
            return replace(multiplied(times, term), text=f"{factor} {term.text}")
        return self._number()

    def _listed(self, name: str) -> Term:
        tokens, terms = self._tokens, [self._product()]
        while tokens.take(", and", ",", "and"):
            terms.append(self._product())
        if len(terms) < 2 or (len(terms) > 2 and name.startswith(("difference", "quotient"))):
            raise NotArithmetic
        text = f"the {name} {listed([term.text for term in terms], 'and')}"
        total = terms[0]
        for term in terms[1:]:
            if name == "product of":
                total = multiplied(total, term)
            elif name == "quotient of":
                total = divided(total, term)
            else:
                total = added(total, term, -1 if name.startswith("difference") else 1)
        if name in ("average of", "mean of"):
            total = replace(total, value=total.value / len(terms))
        if name == "difference between":
            total = replace(total, value=abs(total.value))
        return replace(total, text=text)

    def _number(self) -> Term:
        """A number with its percent sign or noun, and what it is a part of."""
        tokens = self._tokens
        noun = _NOUNS.get(tokens.take("$", "€", "£"), "")
        start = tokens.at
        value = take_number(tokens)
        if value is None:
            raise NotArithmetic
        written = tokens.words[start : tokens.at]
        is_part = value.denominator != 1 and not any("." in word or word == "point" for word in written)
        text = _part_text(written, value) if is_part else number_text(value)[0]
        if value.denominator != 1 and not is_part and not number_text(value)[1]:
            text = "".join(written)
        if tokens.take("%", "percent", "per cent", "percents"):
            share = Term(value / 100, f"{text} percent", is_percent=True)
            if tokens.take("off of", "off"):
                whole = self._power()
                rest = multiplied(Term(1 - share.value, ""), whole)
                return replace(rest, text=f"{whole.text} with {share.text} off")
            if not tokens.take("of"):
                return share
            whole = self._power()
            return replace(multiplied(share, whole), text=f"{share.text} of {whole.text}")
        if is_part and tokens.take("of"):
            whole = self._power()
            return replace(multiplied(Term(value, text), whole), text=f"{text} of {whole.text}")
        if not noun and tokens.peek() in _NOUNS and tokens.peek() not in ("$", "€", "£"):
            noun = _NOUNS[tokens.peek()]
            tokens.at += 1
        is_one_division = written[1:2] == ("/",) and len(written) == 3
        return Term(value, text if not noun else f"{text} {noun if text == '1' else plural(noun)}",
                    operations=int(is_one_division), noun=noun)  # fmt: skip


def _part_text(written: tuple[str, ...], value: Fraction) -> str:
    if "/" not in written:
        return " ".join(written)
    below = value.denominator
    if value > 1 or below not in _PART_NAMES or int(written[-1]) != below:
        return f"{written[0]} over {written[2]}" if len(written) == 3 else number_text(value)[0]
    name = _PART_NAMES[below]
    above = value.numerator
    return f"{NUMBER_WORDS[above]} {name if above == 1 else 'halves' if below == 2 else plural(name)}"
