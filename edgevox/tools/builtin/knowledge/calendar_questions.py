"""Questions about dates: "how many days until Christmas", "what day is July 4, 2027", "is 2028 a leap year"."""

from __future__ import annotations

import calendar
import re
from datetime import date

from edgevox.core.languages import capitalized, counted, listed
from edgevox.core.words import MONTHS, WEEKDAYS
from edgevox.tools.builtin.knowledge.dates import Day, read_day, shift, spoken_year
from edgevox.tools.builtin.knowledge.question import NoAnswer, Reading, first_match, pattern, plain_question

UNITS = ("any", "days", "weeks", "months", "years")
_MANY_DAYS = 60


def date_text(day: date, today: date) -> str:
    """ "Friday, November 27", with the year where it is another one."""
    year = f", {day.year}" if day.year != today.year else ""
    return f"{WEEKDAYS[day.weekday()]}, {MONTHS[day.month - 1]} {day.day}{year}"


def _known(text: str, today: date, *, is_past: bool = False) -> Day:
    day = read_day(text, today, is_past=is_past)
    if day is None:
        raise NoAnswer(f"I do not know which day “{text[:40]}” is.")
    return day


def spoken_date(when: str, today: date, *, ask: str = "date") -> str:
    """The sentence for the date of a day, its week, or a leap year. Raises NoAnswer."""
    match ask:
        case "leap year":
            return _leap_year(when, today)
        case "week":
            of_week = _known(when, today)
            week = of_week.date.isocalendar().week
            return (
                f"This is week {week}." if of_week.date == today else f"{capitalized(of_week.name)} is in week {week}."
            )
        case "days in month":
            return _month_length(when, today)
    is_past = ask == "past date"
    day = _known(when, today, is_past=is_past)
    verb = "was" if day.date < today else "is"
    name = capitalized(day.name)
    if day.date == today and not day.name.startswith("today"):
        return f"{name} is today, {date_text(day.date, today)}."
    text = date_text(day.date, today)
    for part in (WEEKDAYS[day.date.weekday()], f"{MONTHS[day.date.month - 1]} {day.date.day}"):
        # "Friday is November 20": what was said is not repeated.
        if part in day.name and f"{part}, " in f"{text}, ":
            shorter = re.sub(rf"^{part}, |, {part}(?=,|$)", "", text)
            text = f"on a {shorter}" if shorter in WEEKDAYS else shorter
    if re.search(r"\d{4}$", day.name):
        text = text.removesuffix(f", {day.date.year}")
    if re.fullmatch(rf"(?:on a )?(?:{'|'.join(WEEKDAYS)})(?:, \d+)?", text):
        weekday, _, year = text.removeprefix("on a ").partition(", ")
        return f"{name}{f', {year},' if year else ''} {verb} a {weekday}."
    it = " it" if re.search(r"^in | (?:ago|from|after|before|later) ?", day.name) else ""
    return f"{name}{it} {verb} {text}."


def _leap_year(when: str, today: date) -> str:
    year = _year(when, today)
    if year is None:
        raise NoAnswer(f"I do not know which year “{when[:40]}” is.")
    if when == "next leap year":
        return f"The next leap year is {year}."
    verb = "was" if year < today.year else "is"
    return f"Yes, {year} {verb} a leap year." if calendar.isleap(year) else f"No, {year} {verb} not a leap year."


def _year(when: str, today: date) -> int | None:
    near = {"this year": 0, "it": 0, "next year": 1, "last year": -1, "this": 0}
    if when in near:
        return today.year + near[when]
    if when == "next leap year":
        return next(year for year in range(today.year + 1, today.year + 10) if calendar.isleap(year))
    return spoken_year(when)


def _month_length(when: str, today: date) -> str:
    names = {name.casefold(): number for number, name in enumerate(MONTHS, start=1)}
    words = when.casefold().split(" ")
    month = {"this month": today.month, "next month": today.month % 12 + 1}.get(when) or names.get(words[0])
    if month is None:
        raise NoAnswer(f"I do not know the month “{when[:40]}”.")
    year = (
        spoken_year(" ".join(words[1:]).removeprefix("in ").removeprefix("of "))
        if len(words) > 1 and words[0] in names
        else None
    )
    if when == "next month" and month == 1:
        year = today.year + 1
    days = calendar.monthrange(year or today.year, month)[1]
    if month == 2 and year is None and words[0] in names:
        return (
            f"February has 28 days, and 29 in leap years. This year it {'has' if today.month <= 2 else 'had'} {days}."
        )
    return f"{MONTHS[month - 1]}{f' {year}' if year else ''} has {days} days."


def spoken_span(end: str, start: str, unit: str, today: date, *, is_past: bool = False) -> str:
    """The sentence for the time between two days, in days, weeks, months or years. Raises NoAnswer."""
    first = _known(start, today)
    last = _known(end, today, is_past=is_past)
    if start == "today" and last.date < today:
        amount = _span_text(last.date, today, unit)
        return f"{capitalized(last.name)} was {amount} ago." if amount else f"{capitalized(last.name)} is today."
    if first.date > last.date and not last.is_yearly:
        first, last = last, first
    if last.is_yearly and last.date < first.date:  # "from November to Easter"
        last = _known(end, first.date)
    amount = _span_text(first.date, last.date, unit)
    if start == "today":
        if not amount or last.date == today:
            return f"{capitalized(last.name)} is today."
        return f"It is {amount} until {last.name}." if last.date != today else f"{capitalized(last.name)} is today."
    return f"It is {amount or 'no time'} from {first.name} to {last.name}."


def _span_text(first: date, last: date, unit: str) -> str:
    days = (last - first).days
    match unit:
        case "weeks":
            weeks, rest = divmod(days, 7)
            parts = [counted(count, noun) for count, noun in ((weeks, "week"), (rest, "day")) if count]
            return listed(parts, "and") if parts else ""
        case "months" | "years" | "any" if unit != "any" or days > _MANY_DAYS:
            months = (last.year - first.year) * 12 + last.month - first.month - (last.day < first.day)
            start = shift(first, f"{months} months") or first
            years, months = divmod(months, 12) if unit != "months" else (0, months)
            counts = ((years, "year"), (months, "month"), ((last - start).days, "day"))
            parts = [counted(count, noun) for count, noun in counts if count]
            return listed(parts, "and") if parts else ""
        case _:
            return f"{days:,} day{'' if days == 1 else 's'}" if days else ""


def spoken_age(born: str, today: date) -> str:
    """The sentence for the age of a person born in a year or on a day. Raises NoAnswer."""
    year = spoken_year(born)
    if year is not None and year <= today.year:
        age = today.year - year
        return f"Someone born in {year} turns {age} this year." if age else "Someone born this year is not one yet."
    day = _known(born, today, is_past=True)
    age = today.year - day.date.year - ((today.month, today.day) < (day.date.month, day.date.day))
    if day.is_yearly or age < 0:
        raise NoAnswer("Please say the year of birth too.")
    return f"Someone born on {day.name} is {counted(age, 'year')} old."


# --- reading

_UNTIL = (
    r"(?:until|till|til|'til|to|before|away is|away from|before it is|before it's|until it is|until it's|"
    r"away are we from)"
)
_ARE = (
    r"(?:are there |is it |is there |are left |is left |have we |do we have |do i have |are |left |to go |more |"
    r"remain |remaining |there are |it is )*"
)
_COUNT = r"how (?:many|much|many more) (?:more )?(?P<unit>days?|weeks?|months?|years?|nights?|sleeps?)"
_UNTIL_FORMS = (
    rf"{_COUNT} {_ARE}{_UNTIL} (?P<end>.+)",
    rf"how (?:long|much longer|much time|far away|soon|far) {_ARE}{_UNTIL} (?P<end>.+)",
    r"how (?:many|much) (?P<unit>days?|weeks?|months?|years?) away is (?P<end>.+)",
    r"how (?:far|long) away is (?P<end>.+)",
    r"(?:number of |what's the number of |what is the number of |the number of )?(?P<unit>days|weeks|months) "
    r"(?:left )?(?:until|till|til) (?P<end>.+)",
)
_LEFT_FORMS = (
    rf"{_COUNT} (?:are |is |do we have |have we got )?(?:there )?(?:left|remain|remaining|to go|still left)(?: "
    rf"in| of)? "
    r"(?:the |this )(?P<period>year|month)",
    rf"{_COUNT} (?:does )?(?:the|this) (?P<period>year|month) (?:still )?(?:have|has)(?: left)?",
)
_SINCE_FORMS = (
    rf"{_COUNT} {_ARE}(?:has it been |have passed |is it |has passed |have gone by )?since (?P<end>.+)",
    r"how (?:many (?P<unit>days|weeks|months|years)|long) ago (?:was|is) (?P<end>.+)",
    r"how long (?:has it been |is it )?since (?P<end>.+)",
)
_BETWEEN_FORMS = (
    rf"{_COUNT} {_ARE}(?:between|from) (?P<start>.+?) (?:and|to|until|till|through) (?P<end>.+)",
    r"how long (?:is it |is )?(?:between|from) (?P<start>.+?) (?:and|to|until|till|through) (?P<end>.+)",
)
_DATE_OF = (
    r"(?:what|which)(?:'s| is)? ?(?:the )?(?P<kind>day(?: of the (?:week|month))?|date|weekday|day of week)(?: and "
    r"date| and month)?"
    r"(?: (?:is|was|will|does|did|would|falls?|it is|it will be|be|it be))*(?: on| of| for)? (?P<when>.+?)(?: "
    r"(?:fall on|falls on|fall|on|be|falling on|this time))?",
    r"(?:what(?:'s| is)|whats|what was|tell me|when(?:'s| is| was)) (?:the )?(?P<when>.+?)(?:'s|s) date",
    r"(?:what(?:'s| is)|whats|what was|what will be|what will) (?:the )?(?P<kind>date|day)(?: be| going to be| is "
    r"it)? (?P<when>.+)",
    r"(?P<when>.+?) (?:is|was|falls?|will be|will fall|lands?|comes?)(?: on)? (?:what|which) (?P<kind>day|date|"
    r"weekday)(?: of the week)?",
    r"on (?:what|which) (?P<kind>day|date|weekday)(?: of the week)? (?:does|is|did|was|will) (?P<when>.+?)(?: fall| "
    r"be)?(?: on)?",
    r"(?:what(?:'s| is| was)|whats) (?P<when>.+ ago|.+ (?:from|after|before) .+)",
    r"(?:(?:tell|give) me )?(?:the )?(?P<kind>date|day) (?P<when>next .+|in .+|.+ from now|.+ ago)",
)
_WHEN_FORMS = (r"when(?:'s| is| was| does| will)(?: be)? (?:the )?(?P<when>.+?)(?: be| fall| fall on| start)?",)
_WEEK_FORMS = (
    r"(?:what|which) (?:calendar )?week(?: number| of the year)?(?: is it| are we in| is this| is it now| of the "
    r"year is it| number is it)+(?: in)?",
    r"(?:what|which) (?:calendar )?week (?:is|was|does) (?P<when>.+?)(?: in| fall in| on)?",
    r"(?:what(?:'s| is)) the (?:current |calendar )?week number(?: (?:of|for) (?P<when>.+))?",
)
_LEAP_FORMS = (
    r"(?:is|was|will) (?:the year )?(?P<when>.+?)(?: be)? a leap year",
    r"when(?:'s| is| will be) (?P<when>the next leap year)(?: be)?",
    r"what(?:'s| is) (?P<when>the next leap year)",
)
_MONTH_FORMS = (r"how many days (?:are |is )?(?:there )?in (?P<when>.+)", r"how many days does (?P<when>.+?) have")
_AGE_FORMS = (
    r"(?:if (?:i|someone|somebody|a person|he|she) (?:was|were|is|am) born (?:in|on) (?P<born>.+?),? )?how old (?:am|"
    r"is|would|are|will) (?:i|someone|somebody|a person|they|you|he|she|anyone)(?: be)?(?: now)?",
    r"how old (?:am i|is someone|is somebody|is a person|would i be|would someone be|would a person be|are you)(?: "
    r"now)? (?:if (?:i|i'm|someone|they|you) )?(?:was |were |am |is )?(?:who was )?born (?:in|on) (?P<born>.+)",
)
_NOT_DATES = r".*\b(?:meeting|appointment|alarm|timer|reminder|event|schedule|birthday|anniversary)\b.*"


def read_calendar_question(text: str, today: date) -> Reading | None:
    """The call that answers a question about dates; None for any other text, also for today's date."""
    question = pattern(r" (?:falls?|lands?|comes?)(?: on)?(?= this year| next year| in \d{4}| this month)").sub(
        "", plain_question(text).replace("in the year ", "in ")
    )
    question = pattern(r"\ba (week|fortnight) (?:on|come) (?=\w+day\b)").sub(r"a \1 after ", question)
    question = question.removesuffix(" this month") if "fall" in text else question
    if pattern(_NOT_DATES).fullmatch(question):
        return None
    return (
        _read_span(question, today)
        or _read_leap_or_week(question, today)
        or _read_age(question, today)
        or _read_date(question, today)
        or _by_content(question, today)
    )


def _read_span(question: str, today: date) -> Reading | None:
    in_unit = pattern(r",? (?:counted |measured )?in (?P<unit>days|weeks|months|years)$").search(question)
    reading = _read_named_span(question[: in_unit.start()] if in_unit else question, today)
    if reading and in_unit:
        return Reading(reading.tool, {**reading.arguments, "unit": in_unit["unit"]})
    return reading


def _read_named_span(question: str, today: date) -> Reading | None:
    if found := first_match(_LEFT_FORMS, question):
        month = 12 if found["period"] == "year" else today.month
        end = f"{MONTHS[month - 1]} {calendar.monthrange(today.year, month)[1]}"
        return Reading("time_between", {"end": end.casefold(), "unit": _unit(found)})
    if found := first_match(_BETWEEN_FORMS, question):
        days = (read_day(found["start"], today), read_day(found["end"], today))
        if None not in days:
            return Reading("time_between", {"start": found["start"], "end": found["end"], "unit": _unit(found)})
    if (found := first_match(_SINCE_FORMS, question)) and read_day(found["end"], today, is_past=True):
        return Reading("time_between", {"end": found["end"], "unit": _unit(found), "is_past": True})
    for form in _UNTIL_FORMS:
        if found := first_match((form,), question):
            end = f"{found['end']} 1" if found["end"].title() in MONTHS else found["end"]
            if read_day(end, today):
                return Reading("time_between", {"end": end, "unit": _unit(found)})
    return None


def _unit(found: dict[str, str]) -> str:
    said = found.get("unit", "").rstrip("s")
    return f"{said}s" if f"{said}s" in UNITS else "days" if said else "any"


def _read_leap_or_week(question: str, today: date) -> Reading | None:
    if found := first_match(_LEAP_FORMS, question):
        when = found["when"].removeprefix("the ")
        if _year(when, today) is not None:
            return Reading("find_date", {"when": when, "ask": "leap year"})
    if (found := first_match(_WEEK_FORMS, question)) is not None:
        when = found.get("when") or "today"
        if read_day(when, today):
            return Reading("find_date", {"when": when, "ask": "week"})
    if found := first_match(_MONTH_FORMS, question):
        when = found["when"].removeprefix("the month of ")
        try:
            _month_length(when, today)
        except NoAnswer:
            return None
        return Reading("find_date", {"when": when, "ask": "days in month"})
    return None


def _read_age(question: str, today: date) -> Reading | None:
    found = first_match(_AGE_FORMS, question)
    born = found["born"] if found else ""
    if not born or (spoken_year(born) is None and read_day(born, today, is_past=True) is None):
        return None
    return Reading("find_date", {"when": born, "ask": "age"})


def _read_date(question: str, today: date) -> Reading | None:
    for form in (*_DATE_OF, *_WHEN_FORMS):
        if (found := first_match((form,), question)) is None:
            continue
        when = found["when"].removesuffix("'s date").removeprefix("it ").removesuffix(" on")
        is_past = bool(re.search(r"\b(?:was|did)\b", question)) and "last" not in when
        day = read_day(when, today, is_past=is_past)
        if day is None or when in ("today", "now"):
            continue
        if form in _WHEN_FORMS and not day.is_yearly and not re.search(r"\d{4}$", day.name):
            continue  # "when is tomorrow"
        return Reading("find_date", {"when": when, **({"ask": "past date"} if is_past else {})})
    return None


# --- any wording: a word for what is asked, and a day

_COUNTS = (
    r"\bhow (?:long|far|soon|much (?:time|longer)|(?:many|much)(?: more)? (?:days|weeks|months|years|nights|sleeps))\b|"
    r"\b(?:countdown|number of|days|weeks|sleeps|months) (?:left |to go )?(?:un|'?)til+\b"
)
_AHEAD = r"\b(?:until|till?|'til|to|before|away|off|left|from (?:now|today)|to go)\b"
_BACK = r"\b(?:since|ago|been|passed|past|gone by)\b"
_ASKS_DAY = r"\b(?:what|which|tell|know)\b.*\b(?:day|date|weekday)\b|\b(?:fall|falls|land|lands) on (?:what|which)\b"
_UNIT = r"\b(?P<unit>days?|weeks?|months?|years?|nights?|sleeps?)\b"
_OTHER_SUBJECT = (
    r"\b(?:timers?|alarms?|remind\w*|weather|rain\w*|forecast|temperature|hours?|minutes?|play|movie|song|drive|get to|"
    r"open|close|email|call|set|add|plans?|happen\w*|game|match|flight|train|bus|list|book|ticket|trip|holiday on)\b"
)
_MAX_DAY_WORDS = 8


def _by_content(question: str, today: date) -> Reading | None:
    if pattern(_OTHER_SUBJECT).search(question):
        return None
    if (month := _asked_month(question)) and pattern(r"\bhow many days\b").search(question):
        return Reading("find_date", {"when": month, "ask": "days in month"})
    is_count = pattern(_COUNTS).search(question) is not None
    is_back = is_count and pattern(_BACK).search(question) is not None
    if is_count and (is_back or pattern(_AHEAD).search(question)):
        if days := _days_in(question, today, is_past=is_back):
            found = pattern(_UNIT).search(question.replace(days, ""))
            unit = _unit(found.groupdict()) if found else "any"
            return Reading("time_between", {"end": days, "unit": unit, **({"is_past": True} if is_back else {})})
        return None
    if pattern(_ASKS_DAY).search(question) and (day := _days_in(question, today)):
        is_past = bool(re.search(r"\b(?:was|did)\b", question)) and "last" not in day
        return Reading("find_date", {"when": day, **({"ask": "past date"} if is_past else {})})
    return None


def _asked_month(question: str) -> str:
    """The month in a question with no other day: "february", "february 2028"."""
    months = "|".join(MONTHS).casefold()
    found = pattern(rf"\b(?P<month>(?:{months})(?: \d{{4}})?)\b").search(question)
    is_length = pattern(r"\b(?:in|has|have|got|does)\b").search(question) and not pattern(_AHEAD).search(question)
    return found["month"] if found and is_length else ""


def _days_in(question: str, today: date, *, is_past: bool = False) -> str:
    """The longest part of the question that names a day; "" if none does."""
    words = question.split()
    for count in range(min(_MAX_DAY_WORDS, len(words)), 0, -1):
        for start in range(len(words) - count + 1):
            part = " ".join(words[start : start + count]).strip(" ,")
            if start and words[start - 1] in ("week", "weeks", "fortnight", "month", "after", "before"):
                continue  # "a week on Saturday"
            if part not in ("today", "now", "day", "this day") and read_day(part, today, is_past=is_past):
                return part
    return ""
