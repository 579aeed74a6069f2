"""Timers: start, change, query and delayed commands; and durations that a recogniser wrote as other words."""

from __future__ import annotations

from collections.abc import Callable

from training.home.commands import set_values, switching
from training.home.lexicon import vocabulary
from training.home.lexicon.values import article, duration
from training.home.lexicon.vocabulary import TIMER_NAMES, in_area
from training.home.phrasing import is_plain_order
from training.home.speaker import Request, Slots, Speaker, make_request
from training.home.templates import Grammar, home_call

_START = Grammar(
    """
6! (set|start|create|make|put|begin) a timer for {d}
4! (set|start|create) {a} {dt} timer
2! (set|start) a timer (of|to|with) {d}
2! time {d}
! give me {a} {dt} timer
! give me {d} on the timer
! count down {d}
! count down from {d}
! set the timer (to|for) {d}
! (start|run) a countdown of {d}
2. timer [for] {d}
2. {dt} timer
. {d} on the clock please
. I (need|want|would like) a timer for {d}
. I (need|want) {a} {dt} timer
. I'd like {a} {dt} timer
! (wake|alert|ping|notify|tell|remind|call) me in {d}
2! let me know (in|after|when) {d}
2! (wake|get|rouse|shake) me [up] (in|after) {d}
2! (wake me up|get me up|get me out of bed|call me|shout|beep|ring|buzz me|poke me|nudge me|warn me) in {d}
2! give me a (shout|ring|call|beep|nudge|buzz|heads up|poke|yell|reminder) (in|after) {d}
2! (tell|let|warn|remind) me (when {d} are up|when {d} have passed|when {d} is up|once {d} are over|after {d})
! (ring|sound|beep|make a noise|go off) (in|after) {d}
! (start|set) the (clock|countdown) (for|to|at) {d}
! (put|set|stick) (a|the) timer on for {d}
! (clock|count) {d} for me
. {d} (timer|on the timer|on the clock|countdown) (please|now)
. {d} from now (wake me|call me|beep|tell me|give me a shout)
. (wake-up call|alarm) in {d}
! (set|start) an alarm (for|in) {d}
. I (have|need|want) to (get up|be woken|be up) in {d}
. don't let me (sleep|nap) (longer than|more than|for more than) {d}
. (starting now|from now), {d} please
? (can|could|would) you (wake me|get me up|give me a shout|give me a nudge|remind me|call me) in {d}
? (can|could) (I|we) (get|have) {a} {dt} timer
? (can|could) you time {d} [for me]
"""
)
_START_NAMED = Grammar(
    """
4! (set|start|create|make) a timer for {d} (called|named) {n}
4! (set|start|create) {a} {dt} timer (called|named|for) {n}
4! (set|start|create|make) {an} {n} timer for {d}
3! (set|start) {an} {n} timer (of|to|with) {d}
2! (set|start) the {n} timer (for|to) {d}
2! (start|set) a timer for {n} for {d}
2! (set|start) {a} {dt} {n} timer
2! name a timer {n} and set it (for|to) {d}
! (set|start|make) a timer (called|named) {n} for {d}
! time the {n} for {d}
2. {n} timer [for] {d}
2. {n} timer, {d}
. {d} for the {n}
. {dt} {n} timer
. timer for {n} {d}
. I need {an} {n} timer for {d}
. I (need|want) {a} {dt} timer for [the] {n}
. I'd like {an} {n} timer for {d}
"""
)
_LATER = Grammar(
    """
6. {c} in {d}
6. in {d} {c}
3. {c} after {d}
2. after {d} {c}
2. {c} {d} from now
2. in {d}, {c}
. (set|start) a timer for {d} to {c}
. (set|start) a timer to {c} in {d}
. {d} from now {c}
. wait {d} and then {c}
. wait {d}, then {c}
2. in {d} please {c}
2. please {c} in {d}
. (can|could) you {c} in {d}
. I want you to {c} in {d}
"""
)
# {r} is a reference to a running timer: "the pizza timer", "my 5 minute timer".
_ADD = Grammar(
    """
6! add {d} to {r}
3! (increase|extend|lengthen|prolong) {r} by {d}
3! put {d} (more on|on) {r}
2! give {r} {d} more
2! add (another|an additional) {d} (to|on) {r}
2! (make|let) {r} (run|last|go) {d} longer
! make {r} {d} longer
! add {d} more to {r}
! (put|tack) (another|an additional) {d} on {r}
. {d} more (on|for) {r}
. plus {d} on {r}
. {r} needs {d} more
. {r} plus {d}
? (can|could) {r} have {d} more
? (can|could) I (get|have) {d} more on {r}
"""
)
_TAKE = Grammar("""
5! (take|remove) {d} (off|from|off of) {r}
5! (subtract|deduct) {d} from {r}
3! (decrease|reduce|shorten|cut) {r} by {d}
2! make {r} {d} shorter
2! (cut|shave|knock|trim) {d} (off|from) {r}
! (let|make) {r} (finish|end|ring) {d} (earlier|sooner)
! bring {r} forward by {d}
! take {d} away from {r}
! drop {d} from {r}
. {d} less on {r}
. minus {d} on {r}
. {r} minus {d}
. {r} {d} less
. {r} should be {d} shorter
""")
_CANCEL = Grammar(
    """
6! cancel {r}
3! (stop|delete|remove|end|kill|clear|abort|quit) {r}
2! turn off {r}
2! (get rid of|discard|drop|scrap|dismiss|forget) {r}
! turn {r} off
! (switch|shut) off {r}
. {r} off
. I don't need {r} (any more|anymore)
. I no longer need {r}
. {r} can go
"""
)
_PAUSE = Grammar(
    """
7! pause {r}
2! (stop|hold|halt|leave) {r} (for now|for a moment|for a second|for a bit) but (hang on to it|don't delete \
    it|don't cancel it)
2! (stop|hold|halt) {r} (for now|for a moment|for a second|briefly|a moment)
! (stop|hold) the clock on {r}
! (put|keep) {r} (on hold|on pause|waiting) [for now]
! let {r} wait [a moment|for now]
. (hold on|wait|one moment|hang on), (pause|hold|freeze) {r}
. {r} (on hold|paused|on pause) please
! don't let {r} run (for now|for a moment)
3! (hold|freeze|halt|suspend|interrupt) {r}
2! put {r} on (hold|pause)
! pause {r} for (now|a moment|a second|a bit)
. {r} pause
! pause the countdown of {r}
"""
)
_GO_ON = Grammar(
    """
4! (unpause|resume) {r}
4! continue {r}
2! let {r} (go on|continue|run again|run on|resume)
2! (go on|carry on|continue) with {r}
! get {r} (going|running) again
! take {r} off (hold|pause)
. {r} (resume|continue)
. {r} can (go on|continue|run again)
! un-pause {r}
"""
)
_STATUS = Grammar(
    """
5? how much (time|time) is left on {r}
4? how (much time is left|long is left|many minutes are left|much time remains|much is left) on {r}
3? how (much time|much longer|long) (does {r} have|has {r} got) [left]
3? (what's|what is) the (status|state) of {r}
3? how (long|much longer) until {r} (is done|ends|goes off|is up|finishes|rings|is over)
2? when (does {r} end|does {r} go off|will {r} go off|will {r} end|does {r} finish|is {r} done)
2? (what's|what is) left on {r}
2? (how is {r} doing|how far along is {r})
! (check|show) [me] {r}
! check the (status|time) (of|on) {r}
! tell me (how much time is left on|how long is left on|the status of) {r}
2. (time left|time remaining|remaining time) on {r}
2. status of {r}
? is {r} (almost|nearly) (done|finished|up|over)
? is {r} still going
? has {r} (finished|ended|gone off) yet
? how many (minutes|seconds) are left on {r}
"""
)
_STATUS_PLAIN = Grammar(
    """
4? how much time is left
3? how much longer
3? how (long|much time) (do I have left|do we have left|is left|is remaining)
2? (how many minutes are left|how many seconds are left|how long is left)
2? what timers (do I have|are running|are set|are active)
2? are there any timers [running]
! (check|list|show) [me] my timers
? do I have any timers [running|set|on]
"""
)
_CANCEL_ALL = Grammar(
    """
5! (cancel|stop|delete|clear|remove|end|kill) all [my|the|of my|of the] timers {p}
3! (cancel|stop|delete|clear|remove|end|kill) every timer {p}
2! turn off (all [the|my] timers|every timer) {p}
2! get rid of (all the timers|all my timers|every timer) {p}
! (cancel|stop|clear) each timer {p}
2. all timers off {p}
. no more timers {p}
. I don't need any timers (any more|anymore) {p}
! (reset|wipe) all timers {p}
"""
)


def _timer_name(speaker: Speaker) -> str:
    if speaker.chance(0.82):
        return speaker.pick(TIMER_NAMES)
    return (
        vocabulary.rare_word(speaker.rng)
        if speaker.chance(0.6)
        else f"{vocabulary.rare_word(speaker.rng)} {vocabulary.rare_word(speaker.rng)}"
    )


def _place_or_none(speaker: Speaker) -> tuple[str, Slots]:
    if speaker.chance(0.3):
        place = speaker.in_area()
        return place.text, dict(place.slots)
    return "", {}


_CALLED = (
    "the {n} timer", "the {n} timer", "my {n} timer", "{n} timer", "the timer for {n}", "my timer for {n}",
    "the timer called {n}", "the timer named {n}", "our {n} timer", "the timer for the {n}",
)  # fmt: skip
_STARTED = (
    "the {dt} timer", "the {dt} timer", "my {dt} timer", "my {dt} timer", "the timer for {d}", "{dt} timer",
    "the timer I set for {d}", "my timer for {d}",
)  # fmt: skip


def _timer(speaker: Speaker, *, plain: float = 0.3) -> tuple[str, Slots]:
    """Words for a running timer, and its slots."""
    way = speaker.rng.random()
    if way < plain:
        return speaker.pick(
            ("the timer", "the timer", "my timer", "my timer", "timer", "the current timer", "this timer")
        ), {}
    rest = (way - plain) / (1 - plain)
    if rest < 0.45:
        name = _timer_name(speaker)
        return speaker.pick(_CALLED).replace("{n}", name), {"name": name}
    if rest < 0.84:
        for _ in range(9):
            words, slots, adjective = duration(speaker.rng, speaker.numbers)
            if adjective:
                break
        started = {f"start_{unit}": count for unit, count in slots.items()}
        text = speaker.pick(_STARTED).replace("{dt}", adjective).replace("{d}", words)
        return text, started
    area = speaker.area()
    if area.startswith(("second", "bedroom 2", "small", "big")) or "'" in area:
        area = "kitchen"
    text = speaker.pick(
        (
            f"the {area} timer",
            f"the timer {in_area(area)}",
            f"my {area} timer",
            f"the timer {in_area(area)}",
            f"{area} timer",
        )
    )
    return text, {"area": area}


def _changed(speaker: Speaker, tool: str, grammar: Grammar) -> Request:
    words, slots, _ = duration(speaker.rng, speaker.numbers)
    other, _, _ = duration(speaker.rng, speaker.numbers)
    words = _thought_over(speaker, speaker.slip(other, words))
    reference, started = _timer(speaker)
    made = make_request(speaker, grammar, (home_call(tool, **slots, **started),), d=words, r=reference)
    return Request(
        made.form,
        made.text.replace("another a ", "another ")
        .replace("another an ", "another ")
        .replace("additional a ", "additional ")
        .replace("additional an ", "additional "),
        made.calls,
    )


def start(speaker: Speaker) -> Request:
    words, length, adjective = duration(speaker.rng, speaker.numbers)
    other, _, _ = duration(speaker.rng, speaker.numbers)
    words = speaker.slip(other, words)
    words = _thought_over(speaker, words)
    slots: Slots = dict(length)
    grammar = _START
    fill = {"d": words, "dt": adjective, "a": article(adjective)}
    if speaker.chance(0.34):
        grammar = _START_NAMED
        name = _timer_name(speaker)
        slots["name"] = name
        fill |= {"n": name, "an": article(name)}
    pattern = grammar.draw(speaker.rng)
    while not adjective and "dt" in pattern.places:
        pattern = grammar.draw(speaker.rng)
    return Request(pattern.form, pattern.say(speaker.rng, fill), (home_call("start_timer", **slots),))


_FILLERS = (
    "let me think,", "let me see,", "um,", "uh", "er", "hmm", "say,", "I'd say", "what was it,",
    "like", "let's say",
    "I don't know,", "maybe", "oh", "well,", "you know,", "about", "around", "roughly", "uh let me think",
)  # fmt: skip
_TAKEN_BACK = (
    " er ",
    " uh ",
    " no ",
    " sorry ",
    ", no wait, ",
    " I mean ",
    ", hold on, ",
    " or rather ",
    " um ",
    " oh no ",
)


# What begins with no whole number: "two um 1/2 hours" would be two and a half.
_NO_NUMBERS = (
    "a ", "an ", "half", "quarter", "three quarters", "1/", "3/", "½", "¼", "¾", ".5", "0.5",
)  # fmt: skip


def _thought_over(speaker: Speaker, words: str) -> str:
    """A length of time that somebody has to think about, or begins wrongly: "fifty er fifteen minutes"."""
    way = speaker.rng.random()
    if way < 0.05:
        return f"{speaker.pick(_FILLERS)} {words}"
    if way < 0.1 and not words.startswith(_NO_NUMBERS):
        wrong = speaker.pick((2, 3, 5, 6, 8, 10, 13, 15, 20, 30, 40, 50, 60, 80, 90))
        if not words.startswith(said_wrong := speaker.numbers.say(wrong)):
            return f"{said_wrong}{speaker.pick(_TAKEN_BACK)}{words}"
    return words


_LATER_ORDERS: tuple[Callable[[Speaker], Request], ...] = (
    switching.turn_on, switching.turn_off, switching.turn_off, switching.open_cover, switching.close_cover,
    switching.lock,
    switching.scene, set_values.brightness, set_values.warmth, switching.turn_on, switching.unlock,
)  # fmt: skip


def later(speaker: Speaker) -> Request:
    """A command that is to run when a timer ends."""
    order = speaker.pick(_LATER_ORDERS)(speaker)
    while not is_plain_order(order) or speaker.slipped:
        if speaker.slipped:
            speaker = Speaker(speaker.rng, speaker.known)
        order = speaker.pick(_LATER_ORDERS)(speaker)
    words, slots, _ = duration(speaker.rng, speaker.numbers)
    command = order.text
    if " in " in command and speaker.chance(0.5):  # "in the kitchen in five minutes" is rarer
        return later(speaker)
    return make_request(
        speaker, _LATER, (home_call("start_timer", **slots, conversation_command=command),), d=words, c=command
    )


def add(speaker: Speaker) -> Request:
    return _changed(speaker, "increase_timer", _ADD)


def take(speaker: Speaker) -> Request:
    return _changed(speaker, "decrease_timer", _TAKE)


def _referring(tool: str, grammar: Grammar) -> Callable[[Speaker], Request]:
    def build(speaker: Speaker) -> Request:
        reference, slots = _timer(speaker, plain=0.26)
        return make_request(speaker, grammar, (home_call(tool, **slots),), r=reference)

    return build


def status(speaker: Speaker) -> Request:
    if speaker.chance(0.12):
        return make_request(speaker, _STATUS_PLAIN, (home_call("timer_status"),))
    return _referring("timer_status", _STATUS)(speaker)


def cancel_all(speaker: Speaker) -> Request:
    text, slots = _place_or_none(speaker)
    return make_request(speaker, _CANCEL_ALL, (home_call("cancel_all_timers", **slots),), p=text)


BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = (
    (5, start),
    (2.6, later),
    (3, add),
    (3, take),
    (2.6, _referring("cancel_timer", _CANCEL)),
    (1.6, cancel_all),
    (2.4, _referring("pause_timer", _PAUSE)),
    (2.6, _referring("unpause_timer", _GO_ON)),
    (2.8, status),
)


_ONES = {
    1: ("won", "won", "wan"), 2: ("to", "to", "too", "too", "tu"), 3: ("tree", "free", "thee"),
    4: ("for", "for", "for", "fore", "foar"), 5: ("fife", "hive", "fyve"), 6: ("sicks", "sicks", "sics"),
    7: ("sevin", "heaven", "sevens"), 8: ("ate", "ate", "ate", "eat"), 9: ("nein", "mine", "nein"),
}  # fmt: skip
_OTHERS = {
    10: ("tin", "tin", "tenn", "then"), 11: ("elevan", "a leaven", "eleventh"), 12: ("twelf", "twelfth"),
    13: ("thirst teen", "thirdteen"), 14: ("for teen", "fore teen"), 15: ("fife teen", "fif teen"),
    16: ("sicks teen", "sick steen"), 17: ("seven teen", "heaven teen"), 18: ("ate teen", "ate een"),
    19: ("nein teen", "nine teen"), 20: ("twenny", "twin tea"), 30: ("thirsty", "thirsty", "dirty"),
    40: ("for tea", "for tea", "fourty", "four tea"), 45: ("fourty fife", "forty hive"),
    50: ("fifth tea", "fif tea"), 60: ("sick tea", "sixtie"), 80: ("ate tea", "ate e"),
    90: ("nine tea", "ninetie"),
}  # fmt: skip
_TENS = {20: ("twenty", "twenny"), 30: ("thirty", "thirsty"), 40: ("forty", "fourty"), 50: ("fifty",)}
_MISHEARD_START = Grammar("""
5! (set|start|create|make|put on|begin|run) a timer for {d}
3! (set|start|run|create) a timer (of|to|with|on) {d}
3! (set|start|make|give me|create|run) {a} {dt} timer
2! (set|put|start) the timer (to|for|on|at) {d}
2! (set|start|run) a countdown (of|for) {d}
2! (count down|time|clock) {d}
2! (count down from|give me|start timing) {d}
2! (ring|beep|buzz|shout|ping me|let me know|wake me|alert me|tell me) (in|after) {d}
4. timer {d}
3. timer for {d}
3. {dt} timer
2. {d} timer
2. {d} on the (timer|clock) [please]
. {d} countdown
. timer please, {d}
. (I|we) (need|want) (a timer for {d}|{a} {dt} timer)
. {d}, (set a timer|start a timer|timer please)
. (from now on|starting now), {d}, timer please
? (can|could|would) you (set|start) a timer for {d}
? (can|could) I (get|have) {a} {dt} timer
""")
_MISHEARD_START_NAMED = Grammar("""
5. {n} timer {d}
3. {n} timer for {d}
2. {d} {n} timer
2. {dt} {n} timer
2. {d} for the {n}, timer please
2. {n}, timer, {d}
4! (set|start|make|create|run) {an} {n} timer for {d}
3! (set|start|run) {an} {n} timer (of|to|with|on) {d}
3! (set|start|put) the {n} timer (to|for|on|at) {d}
2! (set|start|make) {a} {dt} {n} timer
2! (set|start|make) a timer for {d} (called|named) {n}
2! (set|start|make) {a} {dt} timer (called|named|for) {n}
2! (set|start) a timer (called|named) {n} for {d}
2! time the {n} for {d}
. (I|we) need {an} {n} timer for {d}
. the {n} needs {d}, set {an} {n} timer
? (can|could|would) you (set|start) {an} {n} timer for {d}
""")
_UNITS = ("minute", "minute", "minute", "minute", "minute", "second", "hour", "hour")


def _number(speaker: Speaker, unit: str) -> tuple[str, int]:
    """A number as it was heard, and the number."""
    if unit == "hour" or speaker.chance(0.6):
        value = speaker.pick(tuple(_ONES))
        return speaker.pick(_ONES[value]), value
    if speaker.chance(0.75):
        value = speaker.pick(tuple(_OTHERS))
        return speaker.pick(_OTHERS[value]), value
    tens, ones = speaker.pick(tuple(_TENS)), speaker.pick(tuple(_ONES))
    return f"{speaker.pick(_TENS[tens])} {speaker.pick(_ONES[ones])}", tens + ones


def _length(speaker: Speaker) -> tuple[str, Slots, str]:
    unit = speaker.pick(_UNITS)
    heard, value = _number(speaker, unit)
    shown = f"{heard} {unit}{'' if value == 1 else 's'}"
    slots: Slots = {f"{unit}s": value}
    if unit != "second" and speaker.chance(0.2):
        smaller = "minute" if unit == "hour" else "second"
        if speaker.chance(0.5):
            second, count = _number(speaker, smaller)
        else:
            count = speaker.pick((5, 10, 15, 20, 30, 45))
            second = speaker.numbers.say(count)
        shown += f"{speaker.pick((' and ', ' and ', ' '))}{second} {smaller}{'' if count == 1 else 's'}"
        return shown, slots | {f"{smaller}s": count}, f"{heard} {unit} {second} {smaller}"
    if speaker.chance(0.08) and unit == "hour":
        return f"{heard} and a half hours", slots | {"minutes": 30}, f"{heard} and a half hour"
    return shown, slots, f"{heard} {unit}"


def misheard_start(speaker: Speaker) -> Request:
    """ "Pasta timer ate minutes", "set a timer for for minutes"."""
    speaker.slips = False
    words, slots, adjective = _length(speaker)
    fill = {"d": words, "dt": adjective, "a": article(adjective)}
    if not speaker.chance(0.5):
        return make_request(speaker, _MISHEARD_START, (home_call("start_timer", **slots),), **fill)
    name = speaker.pick(TIMER_NAMES) if speaker.chance(0.85) else vocabulary.rare_word(speaker.rng)
    calls = (home_call("start_timer", **slots, name=name),)
    return make_request(speaker, _MISHEARD_START_NAMED, calls, n=name, an=article(name), **fill)


MISHEARD_BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = ((1, misheard_start),)
