"""The knowledge tools: arithmetic, units, the time elsewhere, dates, chance and spelling.

They need no model and no network. A rule (hook.py) calls them for every model; larger models may call them too.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Literal, ParamSpec

from pydantic import Field

from edgevox.core.errors import ToolError
from edgevox.core.languages import capitalized
from edgevox.tools.builtin.knowledge import calendar_questions, clock, games
from edgevox.tools.builtin.knowledge.arithmetic import spoken_result
from edgevox.tools.builtin.knowledge.question import NoAnswer
from edgevox.tools.builtin.knowledge.terms import NotArithmetic
from edgevox.tools.builtin.knowledge.units import spoken_conversion
from edgevox.tools.tool import Speech, Tool, tool

_P = ParamSpec("_P")
_Text = Annotated[str, Field(min_length=1, max_length=1000)]
_Place = Annotated[str, Field(min_length=1, max_length=60)]


def knowledge_tools(now: Callable[[], datetime], chance: random.Random | None = None) -> tuple[Tool, ...]:
    """The tools; `now` returns the local time with its time zone."""
    source = chance or random.SystemRandom()

    @tool(examples=["what is 15 times 12", "20 percent of 85"])
    def calculate(expression: _Text) -> Speech:
        """Do arithmetic: + - * / ^, percentages, fractions, roots.

        Args:
            expression: such as "15 * 12", "20% of 85", "sqrt(2)"
        """
        try:
            return Speech(spoken_result(expression))
        except NotArithmetic as error:
            raise ToolError("that is no arithmetic; write it as in 15 * 12 or 20% of 85") from error

    @tool(examples=["how many grams are in a pound", "convert 5 miles to kilometers"])
    def convert_units(amount: _Text, to: Annotated[str, Field(min_length=1, max_length=40)]) -> Speech:
        """Convert a quantity to another unit.

        Args:
            amount: number and unit, such as "5 miles" or "5 feet 10 inches"
            to: the unit wanted, such as "kilometers"
        """
        return _speech(spoken_conversion, amount, to)

    @tool(examples=["what time is it in London", "when it is 3 pm here what time is it in New York"])
    def time_in_place(
        place: _Place, ask: Literal["time", "date"] = "time", at: str | None = None, at_place: str = clock.HERE
    ) -> Speech:
        """Tell the time or date in another city, country or time zone.

        Args:
            place: city, country or time zone
            ask: whether the time or the date is asked for
            at: a time of day in at_place to convert, such as "3 pm"; without it, now
            at_place: where that time is meant
        """
        if at:
            return _speech(clock.spoken_same_time, at, at_place, place, now())
        return _speech(clock.spoken_time, place, now(), asks_date=ask == "date")

    @tool(examples=["how many hours ahead is Tokyo"])
    def time_difference(place: _Place, other: _Place = clock.HERE) -> Speech:
        """Tell the hours between the clocks of two places."""
        return _speech(clock.spoken_difference, place, other, now())

    @tool(examples=["what's the date next Friday", "what day is July 4 2027", "when is Easter"])
    def find_date(
        when: _Text, ask: Literal["date", "past date", "week", "leap year", "days in month", "age"] = "date"
    ) -> Speech:
        """Tell date and weekday of a day, its week, whether a year is a leap year, or the age of someone born then.

        Args:
            when: such as "next Friday", "in three weeks", "July 4 2027", "Easter", "2028"
            ask: what to tell about it
        """
        today = now().date()
        if ask == "age":
            return _speech(calendar_questions.spoken_age, when.casefold(), today)
        return _speech(calendar_questions.spoken_date, when.casefold(), today, ask=ask)

    @tool(examples=["how many days until Christmas", "how many days are between March 1 and April 15"])
    def time_between(
        end: _Text,
        start: _Text = "today",
        unit: Literal["any", "days", "weeks", "months", "years"] = "any",
        is_past: bool = False,
    ) -> Speech:
        """Tell the time until a day, since a day, or between two days.

        Args:
            end: such as "Christmas", "July 4 2027", "next Friday"
            start: the first day
            unit: what to count in
            is_past: whether the last one is meant, not the next
        """
        days = end.casefold(), start.casefold()
        return _speech(calendar_questions.spoken_span, *days, unit, now().date(), is_past=is_past)

    @tool(examples=["flip a coin"])
    def flip_coin() -> Speech:
        """Flip a coin."""
        return Speech(f"It's {source.choice(('heads', 'tails'))}.")

    @tool(examples=["roll two dice"])
    def roll_dice(
        count: Annotated[int, Field(ge=1, le=games.MAX_DICE)] = 1,
        sides: Annotated[int, Field(ge=2, le=games.MAX_SIDES)] = 6,
    ) -> Speech:
        """Roll dice."""
        return Speech(games.spoken_roll(count, sides, source))

    @tool(examples=["pick a number between 1 and 10", "choose between pizza and pasta"])
    def pick_random(
        low: Annotated[int, Field(ge=-games.MAX_RANDOM, le=games.MAX_RANDOM)] = 1,
        high: Annotated[int, Field(ge=-games.MAX_RANDOM, le=games.MAX_RANDOM)] = 10,
        options: Annotated[list[str], Field(max_length=games.MAX_OPTIONS)] | None = None,
    ) -> Speech:
        """Pick a random number between low and high, or one of the options."""
        if options:
            return Speech(f"I pick {source.choice(options)[:100]}.")
        return Speech(f"{source.randint(min(low, high), max(low, high)):,}.")

    @tool(examples=["spell necessary", "how many letters are in banana"])
    def spell_word(
        word: Annotated[str, Field(min_length=1, max_length=games.MAX_WORD_CHARS)],
        ask: Literal["spelling", "count"] = "spelling",
        letter: Annotated[str, Field(max_length=1)] = "",
    ) -> Speech:
        """Spell a word letter by letter, or count its letters.

        Args:
            word: the word
            ask: whether to spell it or to count
            letter: the letter to count; without it, all of them
        """
        return Speech(games.spoken_word(word, counts=ask == "count", letter=letter))

    tools = (
        calculate,
        convert_units,
        time_in_place,
        time_difference,
        find_date,
        time_between,
        flip_coin,
        roll_dice,
        pick_random,
        spell_word,
    )
    return tuple(replace(each, called_by_rule=True) for each in tools)


def _speech(answer: Callable[_P, str], *args: _P.args, **kwargs: _P.kwargs) -> Speech:
    try:
        return Speech(answer(*args, **kwargs))
    except NoAnswer as error:
        return Speech(capitalized(str(error)))
